"""
Three ways to cut a column into bins
====================================

Petal length in the iris data, cut into bins of equal width, into bins of equal frequency, and at
the cuts that are most informative about the species (entropy, stopped by the MDL rule).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

import likely as lk

iris = load_iris()
length = iris.data[:, [2]]

figure, axes = plt.subplots(3, 1, sharex=True, figsize=(7, 6), layout="constrained")
for axis, strategy in zip(axes, ["uniform", "quantile", "entropy"], strict=True):
    model = lk.Discretizer(strategy, n_bins=5).fit(length, iris.target)
    edges = model.edges_[0]
    for k, name in enumerate(iris.target_names):
        axis.hist(length[iris.target == k], bins=np.linspace(0.9, 7, 40), alpha=0.6, label=name)
    for edge in edges:
        axis.axvline(edge, color="black", linewidth=0.8)
    axis.set_title(f"{strategy}: {len(edges) + 1} bins", loc="left")
axes[0].legend()
axes[-1].set_xlabel("petal length, cm")

plt.show()
