"""
XOR: three models that separate what no line can
================================================

Points with two equal coordinates are one class, points with different coordinates the other. The
convex hulls of the classes cross in the middle, which proves that no line separates them: the
best logistic regression predicts ½ everywhere. Above: the prediction of each model for every x.
Below: the same four points in the features that the last, linear unit uses. They become
separable with the distances to (0, 0) and (1, 1), with the product x₁x₂ in addition to x₁ and
x₂, or with two logistic units in front of a third. Where two points coincide, only one is
visible.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

import likely as lk
from likely.teaching import Cascade

X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
y = np.array([0, 1, 1, 0])
cascade = min((Cascade.fit_jointly(X, y, seed=s) for s in range(10)), key=lambda c: c.nll(X, y))


distances = lk.BasisFunctions("distance", centres=[[0, 0], [1, 1]])
product = lk.PolynomialFeatures(monomials=[["x0"], ["x1"], ["x0", "x1"]])


def fitted(*features):
    """The probability of class 1, as a function of x."""
    model = make_pipeline(*features, lk.LogisticRegression(l2=1e-3)).fit(X, y)
    return lambda x: model.predict_proba(x)[:, 1]


def sum_and_product(x):
    """The fit gives x₁ and x₂ the same weight, so it depends only on their sum."""
    return np.column_stack([x.sum(axis=1), x[:, 0] * x[:, 1]])


columns = [
    ("no line", fitted(), lambda x: x, ("x₁", "x₂")),
    ("distances", fitted(distances), distances.fit(X).transform, ("‖x − (0, 0)‖", "‖x − (1, 1)‖")),
    ("product", fitted(product), sum_and_product, ("x₁ + x₂", "x₁x₂")),
    ("cascade", cascade.probability, cascade.hidden, ("h₁", "h₂")),
]
side = np.linspace(-0.5, 1.5, 201)
across, up = np.meshgrid(side, side)
grid = np.column_stack([across.ravel(), up.ravel()])


def points(axis, at):
    for k, marker in enumerate("os"):
        place = at[y == k]
        axis.plot(*place.T, marker, color=f"C{k}", markersize=9, markeredgecolor="white", zorder=3)


figure, axes = plt.subplots(2, 4, figsize=(12, 6), layout="constrained")
for (title, probability, seen, names), (top, bottom) in zip(columns, axes.T, strict=True):
    p = probability(grid).reshape(across.shape)
    shade = top.pcolormesh(across, up, p, cmap="RdYlBu_r", vmin=0, vmax=1, alpha=0.6)
    if np.ptp(p) > 1e-6:
        top.contour(across, up, p, levels=[0.5], colors="black", linewidths=1.2)
    points(top, X)
    top.set(title=title, xlabel="x₁", ylabel="x₂", aspect="equal")

    at = seen(X)
    found = lk.separability(at, y)
    points(bottom, at)
    low, high, edge = at.min(axis=0), at.max(axis=0), np.ptp(at, axis=0) / 4
    bottom.set(
        xlim=(low[0] - edge[0], high[0] + edge[0]), ylim=(low[1] - edge[1], high[1] + edge[1])
    )
    if found.separable:
        bottom.axline(
            -found.intercept * found.coef, slope=-found.coef[0] / found.coef[1], color="black", lw=1
        )
        label = "separable"
    else:
        for k in (0, 1):
            bottom.plot(*at[y == k].T, color=f"C{k}", linewidth=1.2)
        bottom.plot(*found.meeting_point, "kx", markersize=9, zorder=4)
        label = "the hulls cross"
    bottom.set(title=label, xlabel=names[0], ylabel=names[1], box_aspect=1)
figure.colorbar(shade, ax=axes[0], label="p(class 1)", shrink=0.9)

plt.show()
