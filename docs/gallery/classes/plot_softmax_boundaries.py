"""
Softmax regression, without and with squared features
=====================================================

Four classes in the plane, one of them inside another.  Linear scores divide the plane into
convex regions with straight boundaries. With squares and products of the coordinates among the
features, the boundaries are conics. The shading is the probability of the most probable class:
it is lighter near the boundaries.
"""

import matplotlib.pyplot as plt
import numpy as np

import likely as lk

rng = np.random.default_rng(0)
centres = np.array([[0.0, 0.0], [1.4, 0.4], [-2.6, 2.2], [-1.8, -3.0]])
spreads = [0.5, 1.7, 0.8, 0.7]
X = np.vstack([rng.normal(c, s, (120, 2)) for c, s in zip(centres, spreads, strict=True)])
y = np.repeat(np.arange(4), 120)


def squares(points):
    """x₁, x₂, x₁², x₁x₂, x₂²."""
    a, b = points.T
    return np.column_stack([points, a * a, a * b, b * b])


low, high = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
across, up = np.meshgrid(np.linspace(low[0], high[0], 300), np.linspace(low[1], high[1], 300))
grid = np.column_stack([across.ravel(), up.ravel()])

figure, axes = plt.subplots(1, 2, sharey=True, figsize=(9, 4.5), layout="constrained")
for axis, features, name in zip(axes, [np.asarray, squares], ["x", "x and squares"], strict=True):
    model = lk.SoftmaxRegression(l2=0.1).fit(features(X), y)
    proba = model.predict_proba(features(grid)).reshape(*across.shape, 4)
    chosen, sure = proba.argmax(axis=2), proba.max(axis=2)
    for k in range(4):
        here = np.where(chosen == k, sure, np.nan)
        axis.contourf(
            across,
            up,
            here,
            levels=[0.25, 0.5, 0.7, 0.9, 1.01],
            colors=[(*plt.matplotlib.colors.to_rgb(f"C{k}"), a) for a in (0.05, 0.12, 0.2, 0.3)],
        )
        axis.contour(across, up, chosen == k, levels=[0.5], colors="black", linewidths=0.5)
        axis.plot(*X[y == k].T, ".", color=f"C{k}", markersize=3)
    accuracy = model.score(features(X), y)
    axis.set(title=f"features: {name} (accuracy {accuracy:.2f})", xlabel="x₁")
axes[0].set(ylabel="x₂")

plt.show()
