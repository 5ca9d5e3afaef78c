"""The stated objectives, computed from parameters alone by plain NumPy, the same for every library.

    Gaussian classes      (1/n) Σ_i log π_yi + Σ_j log N(x_ij; m_yij, v_yij)
    categorical classes   (1/n) Σ_i log π_yi + Σ_j log φ_yij,x_ij
    Gaussian mixture      (1/n) Σ_i log Σ_k π_k N(x_i; m_k, Σ_k)

In nats per row; higher is better.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

CHUNK = 20_000  # rows at a time, so that judging a fit needs little memory


class GaussianClasses(NamedTuple):
    log_prior: Array  # (K,)
    mean: Array  # (K, d)
    variance: Array  # (K, d)

    def value(self, X: Array, y: Array) -> float:
        total = 0.0
        for rows in _chunks(len(X)):
            k = y[rows]
            variance = self.variance[k]
            squares = (X[rows] - self.mean[k]) ** 2 / variance
            cells = -0.5 * (np.log(2 * np.pi * variance) + squares)
            total += float(self.log_prior[k].sum() + cells.sum())
        return total / len(X)


class CategoricalClasses(NamedTuple):
    log_prior: Array  # (K,)
    log_probability: tuple[Array, ...]  # of each feature, (K, V_j)

    def value(self, X: Array, y: Array) -> float:
        total = float(self.log_prior[y].sum())
        for j, table in enumerate(self.log_probability):
            total += float(table[y, X[:, j]].sum())
        return total / len(X)


class GaussianMix(NamedTuple):
    mixing: Array  # (K,)
    mean: Array  # (K, d)
    covariance: Array  # (K, d, d)

    def value(self, X: Array) -> float:
        factors = np.linalg.cholesky(self.covariance)
        return sum(float(self._log_density(X[r], factors).sum()) for r in _chunks(len(X))) / len(X)

    def _log_density(self, X: Array, factors: Array) -> Array:
        d = X.shape[1]
        joint = np.empty((len(X), len(self.mixing)))
        for k, factor in enumerate(factors):
            whitened = np.linalg.solve(factor, (X - self.mean[k]).T)
            log_det = np.log(np.diagonal(factor)).sum()
            squares = np.einsum("ji,ji->i", whitened, whitened)
            joint[:, k] = np.log(self.mixing[k]) - 0.5 * (d * np.log(2 * np.pi) + squares) - log_det
        return np.logaddexp.reduce(joint, axis=1)


def _chunks(n: int) -> Iterator[slice]:
    return (slice(start, start + CHUNK) for start in range(0, n, CHUNK))
