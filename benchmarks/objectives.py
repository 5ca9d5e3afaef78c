"""The stated objectives, computed from parameters alone by plain NumPy, the same for every library.

    Gaussian classes      (1/n) Σ_i log π_yi + Σ_j log N(x_ij; m_yij, v_yij)
    categorical classes   (1/n) Σ_i log π_yi + Σ_j log φ_yij,x_ij
    Gaussian mixture      (1/n) Σ_i log Σ_k π_k N(x_i; m_k, Σ_k)

In nats per row; higher is better.  Linear models, where lower is better, at scale 1 and summed:

    two classes           −Σ_i log P(y_i | η_i) + l1 ‖w‖₁ + ½ l2 ‖w‖²        η = Xw + b
    softmax               −Σ_i log P(y_i | η_i) + ½ l2 ‖W‖²                  η = XWᵀ + b
    ordinal logit         −Σ_i log [σ(t_yi − x_iᵀw) − σ(t_yi−1 − x_iᵀw)]
    Poisson, gamma        −Σ_i log p(y_i | μ_i)                              dispersion 1
    lasso                 the duality gap of ½‖y − Xw‖² + l1 ‖w‖₁, over ½‖y‖²

The intercept b and the thresholds t are not penalised.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln, log_ndtr, logsumexp

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


class Linear(NamedTuple):
    """η = Xw + b, of one or of K predictors."""

    coef: Array  # (d,) or (K, d)
    intercept: Array | float = 0.0  # or (K,)

    def eta(self, X: Array) -> Array:
        return np.asarray(X @ np.asarray(self.coef, dtype=np.float64).T) + self.intercept


class Cumulative(NamedTuple):
    """P(Y ≤ k) = σ(t_k − xᵀw)."""

    coef: Array  # (d,)
    thresholds: Array  # (K − 1,)


def penalty(coef: Array, l1: float, l2: float) -> float:
    coef = np.asarray(coef, dtype=np.float64)
    return l1 * float(np.abs(coef).sum()) + 0.5 * l2 * float(np.square(coef).sum())


def binary_loss(link: str, y: Array, eta: Array) -> float:
    """−Σ log P(y | η) for y in {0, 1}."""
    side = np.where(y == 1, eta, -eta)
    if link == "logit":
        return float(np.logaddexp(0.0, -side).sum())
    if link == "probit":
        return float(-log_ndtr(side).sum())
    rate = np.exp(eta)  # cloglog: P(y = 0) = exp(−exp η)
    return float(np.where(y == 1, -np.log(-np.expm1(-rate)), rate).sum())


def softmax_loss(y: Array, eta: Array) -> float:
    """−Σ log P(y | η) for y in 0 … K − 1."""
    own = np.take_along_axis(eta, y[:, None], axis=1)[:, 0]
    return float((logsumexp(eta, axis=1) - own).sum())


def ordinal_loss(point: Cumulative, X: Array, y: Array) -> float:
    """−Σ log P(y | x) for y in 0 … K − 1."""
    ends = np.concatenate(([-np.inf], point.thresholds, [np.inf]))
    eta = np.dot(X, point.coef)
    upper, lower = ends[y + 1] - eta, ends[y] - eta
    flip = upper + lower > 0  # differences of small numbers keep their digits
    upper, lower = np.where(flip, -lower, upper), np.where(flip, -upper, lower)
    return float(-np.log(expit(upper) - expit(lower)).sum())


def mean_loss(response: str, y: Array, mean: Array) -> float:
    """−Σ log p(y | μ)."""
    if response == "poisson":
        return float((mean - y * np.log(mean) + gammaln(y + 1.0)).sum())
    return float((y / mean + np.log(mean)).sum())  # gamma of shape 1


def lasso_gaps(X: Array, y: Array, l1: Array, coefs: Array) -> Array:
    """The duality gap of each (l1, w), over ½‖y‖²: coefs is (n_penalties, d).

    P(w) = ½‖r‖² + l1 ‖w‖₁,  r = y − Xw        D(θ) = ½‖y‖² − ½‖y − θ‖²,  θ = r min(1, l1 / ‖Xᵀr‖∞)
    """
    residual = y[:, None] - np.dot(X, coefs.T)
    steepest = np.abs(np.dot(X.T, residual)).max(axis=0)
    dual = residual * np.minimum(1.0, l1 / np.maximum(steepest, np.finfo(float).tiny))
    primal = 0.5 * np.square(residual).sum(axis=0) + l1 * np.abs(coefs).sum(axis=1)
    null = 0.5 * float(np.dot(y, y))
    bound = null - 0.5 * np.square(y[:, None] - dual).sum(axis=0)
    return (primal - bound) / null
