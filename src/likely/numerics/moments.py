"""Additive means and scatters of rows, centred at their own means.

    n = n_A + n_B        m = m_A + (n_B/n) δ        S = S_A + S_B + (n_A n_B/n) δδᵀ,   δ = m_B − m_A

An infinite value makes its mean infinite and leaves the spread unknown.

A mean of n equal numbers is off by rounding, and so are deviations from it: constants that are not
binary fractions would have a variance.  Means are therefore corrected by the mean of the
deviations, and a standard deviation of a few units in the last place of the mean is 0:

    m ← m + d̄,   S ← S − n d̄ d̄ᵀ        d_i = x_i − m        Var = 0 where Var ≤ (8 ε m)²

References
----------
Chan, Golub & LeVeque (1983), Algorithms for computing the sample variance, Am. Statistician 37.
"""

from dataclasses import dataclass
from math import inf
from typing import final

import numpy as np

from likely._typing import Array, Codes
from likely.numerics.additive import Additive
from likely.numerics.cholesky import ROUNDING, unit_diagonal
from likely.numerics.intervals import Ends, about_mean, clustered_scatter, n_groups_of

OF_SUMS = 8 * ROUNDING  # × p: what sums of products of many rows leave of an eigenvalue 0
CLEARLY = 100.0  # a pivot this far above rounding: no eigenvalue is rounding


@final
@dataclass(frozen=True, eq=False)
class Moments(Additive):
    """Weight, mean and scatter of p values per row."""

    n: float  # Σ w
    mean: Array  # (p,)
    scatter: Array  # (p, p), Σ w (v − mean)(v − mean)ᵀ

    @classmethod
    def of(cls, values: Array, weight: Array) -> "Moments":
        """The moments of rows ``values``, (n,) or (n, p)."""
        values = values[:, None] if values.ndim == 1 else values
        p, n = values.shape[1], float(weight.sum())
        if n == 0:
            return cls(0.0, np.zeros(p), np.zeros((p, p)))
        mean = np.dot(weight, values) / n
        if not np.isfinite(mean).all():
            return cls(n, mean, np.full((p, p), inf))
        mean = mean + np.dot(weight, values - mean) / n
        apart = values - mean
        return cls(n, mean, np.dot((weight[:, None] * apart).T, apart))

    @classmethod
    def of_groups(cls, values: Array, weight: Array, groups: Codes) -> "Moments":
        """Moments as of one value per group: ``ends`` are cluster-robust; only the mean adds."""
        rows = cls.of(values, weight)
        if not np.isfinite(rows.mean).all():
            return rows
        values = values[:, None] if values.ndim == 1 else values
        apart = weight[:, None] * (values - rows.mean)
        n_groups = float(n_groups_of(groups))
        return cls(n_groups, rows.mean, clustered_scatter(apart, groups, rows.n))

    def __add__(self, other: "Moments") -> "Moments":
        if not self.n or not other.n:
            return other if not self.n else self
        n = self.n + other.n
        if not (np.isfinite(self.mean).all() and np.isfinite(other.mean).all()):
            mean = (self.n * self.mean + other.n * other.mean) / n
            return Moments(n, mean, np.full_like(self.scatter, inf))
        gap = other.mean - self.mean
        between = (self.n * other.n / n) * np.outer(gap, gap)
        return Moments(n, self.mean + (other.n / n) * gap, self.scatter + other.scatter + between)

    @property
    def first(self) -> float:
        """The mean of the only value; NaN without rows."""
        return float(self.mean[0]) if self.n else float("nan")

    def ends(self, level: float) -> Ends:
        """Student's interval of the only value."""
        return about_mean(self.first, float(self.scatter[0, 0]), self.n, level)


def spread_beyond_rounding(spread: Array, mean: Array) -> Array:
    """A deviation, 0 where it is only the rounding error of equal numbers with that mean."""
    return np.where(spread > ROUNDING * np.abs(mean), spread, 0.0)


def variance_beyond_rounding(variance: Array, mean: Array) -> Array:
    """A variance, 0 where it is only the rounding error of equal numbers with that mean."""
    spread = np.sqrt(np.maximum(variance, 0.0))
    return np.where(spread_beyond_rounding(spread, mean) > 0, variance, 0.0)


def covariance_beyond_rounding(covariance: Array, mean: Array) -> Array:
    """Σ without the directions in which numbers with that mean differ by rounding only.

    Constant columns are such directions, and so are exact linear combinations of columns far from
    0.
    """
    noise = np.square(ROUNDING * np.abs(mean))
    flat = np.diag(covariance) <= noise
    if flat.any():
        covariance = np.where(flat[:, None] | flat, 0.0, covariance)
    scale, unit = unit_diagonal(covariance)
    share = np.where(flat, 0.0, noise / scale**2)
    least = OF_SUMS * len(mean)
    if _least_pivot(unit) > CLEARLY * max(share.max(initial=0.0), least):
        return covariance
    values, vectors = np.linalg.eigh(unit)
    lost = values <= np.maximum(least * values[-1], np.dot(share, vectors**2))
    if not lost.any():
        return covariance
    inside = np.where(flat[:, None], 0.0, vectors[:, ~lost] * scale[:, None])  # exactly 0
    return np.dot(inside * values[~lost], inside.T)


def covariance_at_least(covariance: Array, floor: Array) -> Array:
    """Σ, or where it varies less than F = diag(``floor``) in some direction, the nearest that does.

        Σ + F = L Lᵀ,   L⁻¹ F L⁻ᵀ = W diag(w) Wᵀ        Σ ← Σ + L W diag(max(2w − 1, 0)) Wᵀ Lᵀ

    In the units of F its eigenvalues λ = 1/w − 1 become max(λ, 1).  That is the maximum of the
    likelihood among all Σ for which Σ − F is positive semidefinite.
    """
    used = np.diag(covariance) + floor > 0
    block, floor = np.ix_(used, used), floor[used]
    scale, unit = unit_diagonal(covariance[block] + np.diag(floor))
    share = floor / scale**2
    if _least_pivot(unit - np.diag(2 * share)) > 0:  # of Σ − F
        return covariance
    values, vectors = np.linalg.eigh(unit)
    kept = values > OF_SUMS * len(values) * values[-1]
    values, vectors = values[kept], vectors[:, kept]
    w, W = np.linalg.eigh(
        np.dot((vectors.T * share) / values[:, None] ** 0.5, vectors / values**0.5)
    )
    low = w > 0.5
    raised = np.dot(scale[:, None] * vectors * values**0.5, W[:, low])
    out = covariance.copy()
    out[block] += np.dot(raised * (2 * w[low] - 1), raised.T)
    return out


def _least_pivot(matrix: Array) -> float:
    """The smallest squared pivot of its Cholesky factor; 0 where there is none."""
    try:
        return float(np.square(np.diag(np.linalg.cholesky(matrix))).min(initial=1.0))
    except np.linalg.LinAlgError:
        return 0.0
