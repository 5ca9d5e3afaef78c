"""Means and scatters of rows that add, centred where they are.

    n = n_A + n_B        m = m_A + (n_B/n) δ        S = S_A + S_B + (n_A n_B/n) δδᵀ,   δ = m_B − m_A

An infinite value makes its mean infinite and says nothing of the spread.

References
----------
Chan, Golub & LeVeque (1983), Algorithms for computing the sample variance, Am. Statistician 37.
"""

from dataclasses import dataclass
from math import inf
from typing import final

import numpy as np

from likely._typing import Array, Codes
from likely.additive import Additive
from likely.intervals import Ends, about_mean, clustered_scatter, n_groups_of


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
        """The mean of the only value; NaN of no rows."""
        return float(self.mean[0]) if self.n else float("nan")

    def ends(self, level: float) -> Ends:
        """Student's interval of the only value."""
        return about_mean(self.first, float(self.scatter[0, 0]), self.n, level)
