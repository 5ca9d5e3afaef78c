"""
More rows, or a stronger penalty?
=================================

Thirty measurements of 569 cell nuclei, benign or not; bands are 95 % intervals of the mean over
five folds.  Left: the training and validation curves of naive Bayes have converged, so more rows
will not improve it, but another model does. Right: the penalty of logistic regression. With too
small a penalty the model overfits, with too large a penalty it underfits; the best value lies in
between.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import likely as lk

cells = load_breast_cancer(as_frame=True).frame
shares = [0.05, 0.1, 0.2, 0.4, 0.7, 1.0]
curves = {
    "logistic regression": lk.learning_curve(cells, "target", "logistic", values=shares),
    "naive Bayes": lk.learning_curve(cells, "target", "naive-bayes", values=shares),
}
penalties = [1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1e3]
by_penalty = lk.learning_curve(cells, "target", "logistic", of="l2", values=penalties)


def draw(axis, curve, colour, name=""):
    points = curve.to_frame()
    x = points[curve.of]
    axis.plot(x, points["train"], "--", color=colour, linewidth=1)
    axis.plot(x, points["validation"], "o-", color=colour, label=name)
    axis.fill_between(x, points["low"], points["high"], color=colour, alpha=0.15, linewidth=0)


figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained", sharey=True)
left.set_xscale("log")
right.set_xscale("log")
for colour, (name, curve) in zip(("C0", "C1"), curves.items(), strict=True):
    draw(left, curve, colour, name)
left.plot([], [], "--", color="0.4", linewidth=1, label="on the training rows")
left.set_xticks(ticks := [25, 50, 100, 200, 400], [str(tick) for tick in ticks])
left.minorticks_off()
left.set_xlabel("number of training rows")
left.set_ylabel("log loss")
left.legend()
draw(right, by_penalty, "C0")
right.axvline(by_penalty.best.x, color="0.6", linewidth=0.8)
right.set_xlabel("penalty l2")
right.set_ylim(0, 0.6)

plt.show()
