"""Data made on the spot, the same in every process: a seed and sizes say it all."""

from typing import NamedTuple

import numpy as np

from benchmarks.objectives import Array, GaussianMix

N_VALUES = 10  # of a categorical feature
APART = 3.0  # standard deviations between two clusters, about


class Labelled(NamedTuple):
    X: Array
    y: Array

    def copy(self) -> "Labelled":
        """Arrays of one's own, so that no library profits from what another touched."""
        return Labelled(self.X.copy(), self.y.copy())


class Clustered(NamedTuple):
    X: Array
    start: GaussianMix


def gaussian_classes(rows: int, features: int, classes: int) -> Labelled:
    """Classes a standard deviation apart, far from the origin in some columns."""
    rng = np.random.default_rng(0)
    y = rng.integers(classes, size=rows)
    mean = rng.normal(size=(classes, features)) + rng.normal(scale=10, size=features)
    X = rng.normal(size=(rows, features))
    X += mean[y]
    return Labelled(X, y)


def categorical_classes(rows: int, features: int, classes: int) -> Labelled:
    """Integer codes 0 … 9, whose frequencies differ by class."""
    rng = np.random.default_rng(0)
    y = rng.integers(classes, size=rows)
    shift = rng.integers(N_VALUES, size=(classes, features))
    X = np.minimum(rng.geometric(0.3, size=(rows, features)) - 1, N_VALUES - 1)
    return Labelled((X + shift[y]) % N_VALUES, y)


def clusters(rows: int, features: int, components: int) -> Clustered:
    """Clusters that overlap in any number of dimensions, and a start near enough that none dies.

    Were they far apart, EM would reach its fixed point in a step or two.
    """
    rng = np.random.default_rng(0)
    mean = rng.normal(scale=APART / np.sqrt(2 * features), size=(components, features))
    spread = np.eye(features) + rng.normal(scale=0.1, size=(components, features, features))
    component = rng.integers(components, size=rows)
    X = rng.normal(size=(rows, features))
    for k in range(components):
        own = component == k
        X[own] = np.dot(X[own], spread[k].T) + mean[k]
    start = GaussianMix(
        np.full(components, 1 / components),
        mean + rng.normal(scale=0.1, size=mean.shape),
        np.tile(2.0 * np.eye(features), (components, 1, 1)),
    )
    return Clustered(X, start)


def iris() -> Labelled:
    from sklearn.datasets import load_iris

    return Labelled(*load_iris(return_X_y=True))
