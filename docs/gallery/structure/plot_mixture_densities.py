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

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
model.plot(x, ax=axis)
axis.set_xlabel("x")

plt.show()
