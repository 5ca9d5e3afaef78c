"""
A mixture of two Gaussians
==========================

The data as a histogram, the two component densities π_k N(x; μ_k, σ_k²), and their sum,
the density that EM fitted without labels.
"""

import matplotlib.pyplot as plt
import numpy as np

import likely as lk

rng = np.random.default_rng(0)
x = np.concatenate([rng.normal(-2.0, 1.0, 600), rng.normal(2.5, 0.7, 400)])[:, None]
model = lk.GaussianMixture(n_components=2, n_init=5, random_state=0).fit(x)

grid = np.linspace(-6, 6, 400)[:, None]
density = np.exp(model.score_samples(grid))
parts = model.predict_proba(grid) * density[:, None]  # π_k p(x | k) = r_k p(x)

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
axis.hist(x.ravel(), bins=50, density=True, color="0.85", label="data")
for k in range(2):
    axis.plot(grid, parts[:, k], label=f"component {k}")
axis.plot(grid, density, color="black", linestyle=":", label="p(x)")
axis.set_xlabel("x")
axis.set_ylabel("density")
axis.legend()

plt.show()
