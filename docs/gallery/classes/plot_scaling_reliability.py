"""
Three maps from score to probability
====================================

Ten columns are combinations of two others, and naive Bayes counts the evidence of all of them.
Each model is trained on 2,000 rows; the calibrations use out-of-fold scores of the same rows.
Left: 20,000 other rows in fifteen groups, sorted by their predicted probability; a point is the
mean prediction of a group and its observed share. Right: the maps from the log-odds of naive
Bayes to a probability.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss

import likely as lk

X, y = make_classification(
    22_000, 20, n_informative=2, n_redundant=10, class_sep=0.8, flip_y=0.05, random_state=7
)
train = np.arange(len(y)) < 2_000
models = {
    "naive Bayes": lk.NaiveBayes(),
    "Platt": lk.PlattScaling(lk.NaiveBayes()),
    "temperature": lk.TemperatureScaling(lk.NaiveBayes()),
    "isotonic": lk.IsotonicScaling(lk.NaiveBayes()),
}

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
left.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, label="perfect calibration")
for name, model in models.items():
    model.fit(X[train], y[train])
    said = model.predict_proba(X[~train])[:, 1]
    loss = log_loss(y[~train], np.clip(said, 1e-15, 1 - 1e-15))
    parts = np.array_split(np.argsort(said, kind="stable"), 15)
    mean = [said[rows].mean() for rows in parts]
    share = [y[~train][rows].mean() for rows in parts]
    left.plot(mean, share, "o-", markersize=4, label=f"{name}: log loss {loss:.2f}")
left.set_xlabel("predicted probability")
left.set_ylabel("observed share of the class")
left.legend(loc="lower right")

log_odds = np.linspace(-25, 25, 500)
platt, isotonic = models["Platt"], models["isotonic"]
curves = [
    expit(log_odds),
    expit(-(platt.a_[0] * log_odds + platt.b_[0])),
    expit(log_odds / models["temperature"].temperature_),
    np.interp(log_odds, isotonic.thresholds_[0], isotonic.levels_[0]),
]
for curve in curves:
    right.plot(log_odds, curve)
right.set_xlabel("log-odds of naive Bayes")
right.set_ylabel("probability")

plt.show()
