"""Small problems of classes and of numbers, and how exactly they are solved."""

import numpy as np

TIGHT = 1e-14  # the gap of a search that is compared to 1e-6 or less


def labelled(seed=0, n=200, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (X @ np.linspace(1, -1, p) + rng.logistic(size=n) > 0.2).astype(int)


def measured(seed=0, n=60, p=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 1
    return X, X @ np.linspace(2, -1, p) + 3 + rng.normal(size=n)


def with_bias(X):
    return np.column_stack([X, np.ones(len(X))])
