"""
Where to stop
=============

Logistic regression with thirty columns, of which three matter, and nearly no penalty, trained on
eighty rows by gradient descent. The loss of the training rows falls at every step; that of the
validation rows rises again when the noise is learned. Both are recorded during one fit.
"""

import matplotlib.pyplot as plt
import numpy as np

import likely as lk
from likely.solvers import FixedStep

rng = np.random.default_rng(1)
X = rng.normal(size=(580, 30))
y = X[:, :3].sum(axis=1) + rng.logistic(size=580) > 0
curve = lk.training_curve(
    lk.LogisticRegression(l2=1e-3),
    X[:80],
    y[:80],
    validation=(X[80:], y[80:]),
    solver=FixedStep(0.004),
    max_iter=80,
)
curve.plot()
plt.show()
