"""
The noise of a gradient
=======================

Gradients of random batches, against the gradient of all rows: their variance is that of single
examples divided by the size of the batch, and larger batches point more nearly downhill.
"""

import matplotlib.pyplot as plt
import numpy as np

from likely import LogisticRegression
from likely.solvers import gradient_noise

rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 5))
y = (X @ [1.0, -0.5, 0.5, 0.0, 0.0] + rng.logistic(size=2000) > 0).astype(int)
objective = LogisticRegression().objective(X, y)
sizes = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
noise = gradient_noise(objective.in_batches(), np.zeros(6), sizes, n_draws=500)
noise.plot()

plt.show()
