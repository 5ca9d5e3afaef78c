"""
A lasso path, and two rules to choose the penalty
=================================================

Ten measurements of 442 patients, each scaled to variance 1, and the progression of their
diabetes a year later. Left: the coefficients of the lasso as the penalty decreases; columns
enter one after another. Right: the squared error on held-out rows, averaged over ten folds, with
a band of one standard error. The model with the smallest error has nine columns; by the
one-standard-error rule, five are enough.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

import likely as lk

data = load_diabetes(scaled=False)
X = StandardScaler().fit_transform(data.data)
path = lk.PenaltyPath(lk.LinearRegression(), cv=10).fit(X, data.target)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
chosen = path.model_.coef_ != 0
for name, coef, kept in zip(data.feature_names, path.coefs_.T, chosen, strict=True):
    (line,) = left.plot(path.penalties_, coef, linewidth=1.6 if kept else 0.8)
    left.annotate(
        name,
        (path.penalties_[-1], coef[-1]),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        color=line.get_color(),
        fontsize=8,
    )
left.axhline(0, color="0.6", linewidth=0.8)
left.set_ylabel("coefficient")

mean, error = path.mean_deviance_, path.standard_error_
right.fill_between(path.penalties_, mean - error, mean + error, alpha=0.25, linewidth=0)
right.plot(path.penalties_, mean)
right.axhline(mean[path.best_index_] + error[path.best_index_], color="0.6", linewidth=0.8)
right.set_ylabel("squared error of held-out rows")

choices = {"minimum": path.best_index_, "one standard error": path.index_}
for style, (name, index) in zip(("--", "-"), choices.items(), strict=True):
    label = f"{name}: {path.n_nonzero_[index]} columns"
    for axis in (left, right):
        axis.axvline(path.penalties_[index], color="0.2", linestyle=style, label=label)
right.legend(loc="upper right")
for axis in (left, right):
    axis.set_xscale("log")
    axis.invert_xaxis()
    axis.set_xlim(right=0.6 * path.penalties_[-1])  # room for the names
    axis.set_xlabel("penalty λ, from large to small")

plt.show()
