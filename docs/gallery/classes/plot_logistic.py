"""
A linear boundary, the probabilities, and other links
=====================================================

Two measurements of 569 tumours. Left: the boundary is a straight line, and the probability
increases across it. Right: one of the measurements alone. The logit and the probit nearly agree,
the complementary log-log approaches 1 faster than it leaves 0, and the cauchit stays away from 0
and 1. Dots are observed shares in bins with equal counts; the interval is that of the logit.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

import likely as lk

data = load_breast_cancer()
X, malignant = data.data[:, [0, 1]], data.target == 0
model = lk.LogisticRegression(l2=0.0).fit(X, malignant)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
radius, texture = np.meshgrid(np.linspace(6, 26, 200), np.linspace(9, 35, 200))
rows = np.column_stack([radius.ravel(), texture.ravel()])
p = model.predict_proba(rows)[:, 1].reshape(radius.shape)
shade = left.contourf(radius, texture, p, levels=np.linspace(0, 1, 11), cmap="RdYlBu_r", alpha=0.6)
left.contour(radius, texture, p, levels=[0.5], colors="black")
for value, marker, label in ((True, "s", "malignant"), (False, "o", "benign")):
    at = X[malignant == value]
    left.plot(*at.T, marker, color="C3" if value else "C0", markersize=3, alpha=0.7, label=label)
left.set(xlabel="mean radius", ylabel="mean texture", xlim=(6, 26), ylim=(9, 35))
left.legend(loc="lower right", framealpha=1)
figure.colorbar(shade, ax=left, label="p(malignant)")

grid = np.linspace(8, 24, 300)[:, None]
for link in ("logit", "probit", "cloglog", "cauchit"):
    fit = lk.LogisticRegression(link, l2=0.0).fit(X[:, :1], malignant)
    (line,) = right.plot(grid, fit.predict_proba(grid)[:, 1], label=link)
    if link == "logit":
        interval = fit.predict_interval(grid).T
        right.fill_between(grid[:, 0], *interval, color=line.get_color(), alpha=0.2)
for inside in np.array_split(np.argsort(X[:, 0]), 16):
    right.plot(X[inside, 0].mean(), malignant[inside].mean(), "o", color="grey", zorder=3)
right.set(xlabel="mean radius", ylabel="p(malignant)")
right.legend(frameon=False)

plt.show()
