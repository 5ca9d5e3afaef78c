"""
Naive Bayes, cooled
===================

Thirty measurements of a cell nucleus repeat one another; naive Bayes multiplies them as if
they did not, and is far too sure.  ``calibrate="temperature"`` divides the log-odds by one
number, chosen on out-of-fold scores.  Here every row is scored by a model that has not seen it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict

import likely as lk

X, y = load_breast_cancer(return_X_y=True)
edges = np.linspace(0, 1, 9)

figure, (top, bottom) = plt.subplots(
    2, 1, sharex=True, figsize=(6, 6.5), height_ratios=[3, 1], layout="constrained"
)
top.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, label="honest")
for calibrate, name in [(None, "naive Bayes"), ("temperature", 'calibrate="temperature"')]:
    model = lk.NaiveBayes(calibrate=calibrate)
    said = cross_val_predict(model, X, y, cv=10, method="predict_proba")
    cell = np.clip(np.digitize(said[:, 1], edges) - 1, 0, len(edges) - 2)
    rows = np.bincount(cell, minlength=len(edges) - 1)
    filled = rows > 0
    mean_said = np.bincount(cell, said[:, 1], minlength=len(rows))[filled] / rows[filled]
    happened = np.bincount(cell, y, minlength=len(rows))[filled] / rows[filled]
    label = f"{name}: log loss {log_loss(y, said):.2f}"
    (line,) = top.plot(mean_said, happened, "o-", label=label)
    bottom.stairs(rows, edges, color=line.get_color(), linewidth=1.5)
top.set_ylabel("share that is benign")
top.legend(loc="upper left")
bottom.set_yscale("log")
bottom.set_ylabel("rows")
bottom.set_xlabel("p(benign), as the model says")

plt.show()
