"""
Naive Bayes, calibrated by a temperature
========================================

Thirty measurements of a cell nucleus are strongly correlated. Naive Bayes multiplies their
likelihoods as if they were independent, and is very overconfident.  ``calibrate="temperature"``
divides the log-odds by one number, chosen on out-of-fold scores.  Here every row is scored by a
model that was fitted without it; bars are 90 % intervals, and bins with fewer than five rows are
left out.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import beta
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict

import likely as lk

X, y = load_breast_cancer(return_X_y=True)
edges = np.array([0.0, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1.0])

figure, axis = plt.subplots(figsize=(6, 5), layout="constrained")
axis.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, label="perfect calibration")
for calibrate, name in [(None, "naive Bayes"), ("temperature", 'calibrate="temperature"')]:
    model = lk.NaiveBayes(calibrate=calibrate)
    said = cross_val_predict(model, X, y, cv=10, method="predict_proba")
    cell = np.clip(np.digitize(said[:, 1], edges) - 1, 0, len(edges) - 2)
    rows, benign, total = (
        np.bincount(cell, weight, minlength=len(edges) - 1)
        for weight in (np.ones(len(y)), y, said[:, 1])
    )
    enough = rows >= 5
    rows, benign, total = rows[enough], benign[enough], total[enough]
    low, high = beta.ppf([[0.05], [0.95]], benign + 0.5, rows - benign + 0.5)
    share = benign / rows
    bars = np.maximum(0, [share - low, high - share])
    label = f"{name}: log loss {log_loss(y, said):.2f}"
    axis.errorbar(total / rows, share, bars, fmt="o-", capsize=3, label=label)
axis.set_xlabel("predicted p(benign)")
axis.set_ylabel("observed share of benign")
axis.legend(loc="lower right")

plt.show()
