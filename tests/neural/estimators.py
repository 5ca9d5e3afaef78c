"""Small tables for networks, and the ways of training that tests run over.

``classifier`` and ``regressor`` take each setting by its own name, such as ``patience=3``.
"""

import numpy as np

import likely
from likely import solvers
from likely.neural.settings import grouped_arguments


def blobs(n=90, seed=0, n_classes=3):
    """Classes around different points."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    return rng.normal(size=(n, 3)) + 1.5 * np.eye(3)[y], y


def waves(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, 50 + 10 * np.sin(2 * X[:, 0]) + X[:, 1] + rng.normal(size=n)


def classifier(hidden=(5,), **options):
    given = {
        "solver": "adam",
        "max_epochs": 6,
        "tol": None,
        "random_state": 0,
        "learning_rate": 0.05,
        "batch": 16,
    }
    return likely.NeuralNetworkClassifier(hidden, **grouped_arguments({**given, **options}))


def regressor(hidden=(5,), **options):
    given = {
        "solver": "adam",
        "max_epochs": 6,
        "tol": None,
        "random_state": 0,
        "learning_rate": 0.05,
        "batch": 16,
    }
    return likely.NeuralNetworkRegressor(hidden, **grouped_arguments({**given, **options}))


UPDATES = {
    **{name: {"solver": name} for name in solvers.UPDATES},
    "clipped": {"solver": solvers.Clip(0.1) | solvers.Adam()},
    "growing momentum": {"solver": solvers.Momentum((0.5, 0.9))},
    "lbfgs": {"solver": "lbfgs", "batch": "auto"},
}
SCHEDULES = list(solvers.SCHEDULES)
