"""
Boundaries of discriminant analysis
===================================

Three Gaussian classes. With one covariance for all classes the boundaries are straight lines;
with one covariance per class they are conics.
"""

import matplotlib.pyplot as plt
import numpy as np

import likely as lk

rng = np.random.default_rng(0)
shapes = [
    ([0, 0], [[1.0, 0.8], [0.8, 1.0]]),
    ([3, 0], [[0.3, 0.0], [0.0, 2.0]]),
    ([1, 4], [[2.0, -0.6], [-0.6, 0.5]]),
]
X = np.vstack([rng.multivariate_normal(mean, cov, 150) for mean, cov in shapes])
y = np.repeat([0, 1, 2], 150)

low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5  # every point lies inside the shading
across, up = np.meshgrid(np.linspace(low[0], high[0], 300), np.linspace(low[1], high[1], 300))
grid = np.column_stack([across.ravel(), up.ravel()])

figure, axes = plt.subplots(1, 2, sharey=True, figsize=(9, 4.5), layout="constrained")
for axis, covariance in zip(axes, ["tied", "full"], strict=True):
    model = lk.DiscriminantAnalysis(covariance=covariance).fit(X, y)
    chosen = model.predict(grid).reshape(across.shape)
    axis.contourf(
        across, up, chosen, levels=[-0.5, 0.5, 1.5, 2.5], colors=["C0", "C1", "C2"], alpha=0.15
    )
    axis.contour(across, up, chosen, levels=[0.5, 1.5], colors="black", linewidths=0.8)
    for k in range(3):
        axis.plot(*X[y == k].T, ".", color=f"C{k}", markersize=3)
    axis.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), title=f'covariance="{covariance}"')

plt.show()
