"""The distribution function of a Poisson number of gamma amounts, and its quantiles.

    P(Y ≤ y) = e^−λ + Σ_{n ≥ 1} e^−λ λⁿ/n! · P(na, y/s)        P the regularised incomplete gamma

The sum is over the n within eight standard deviations of λ.  Quantiles are searched for.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.special import gammainc, gammaln, xlogy

from likely._typing import Array
from likely.likelihoods.quantile_search import search_quantiles

SPREAD = 8.0  # standard deviations of N on either side of λ
MARGIN = 20  # further terms: a small λ has a long tail
CELLS = 1_000_000  # terms at once


@final
@dataclass(frozen=True, eq=False)
class CompoundDistribution:
    """N ~ Poisson(rate) amounts of Gamma(shape, scale), summed; like SciPy's distributions."""

    rate: Array
    shape: float
    scale: Array

    def cdf(self, y: Any) -> Array:
        """P(Y ≤ y)."""
        y, rate, scale = np.broadcast_arrays(np.asarray(y, float), self.rate, self.scale)
        shape, width = y.shape, self._width()
        y, rate, scale = np.ravel(y), np.ravel(rate), np.ravel(scale)
        out, rows = np.empty(y.size), max(1, CELLS // width)
        for start in range(0, y.size, rows):
            part = slice(start, start + rows)
            out[part] = self._below(y[part], rate[part], scale[part], width)
        return out.reshape(shape)

    def ppf(self, share: Any) -> Array:
        """The least y with P(Y ≤ y) ≥ share."""
        rate, scale = np.broadcast_arrays(self.rate, self.scale)
        high = np.asarray((rate + 1) * (self.shape + 1) * scale)
        while (short := self.cdf(high) < share).any():
            high = np.where(short, 2 * high, high)
        found = search_quantiles(self.cdf, float(share), np.zeros(high.shape), high)
        return np.where(np.exp(-rate) >= share, 0.0, found)

    def _width(self) -> int:
        largest = float(np.max(self.rate, initial=0.0))
        return int(np.ceil(2 * SPREAD * np.sqrt(largest))) + MARGIN

    def _below(self, y: Array, rate: Array, scale: Array, width: int) -> Array:
        first = np.maximum(np.floor(rate - SPREAD * np.sqrt(rate)), 1.0)
        n = first[:, None] + np.arange(width)
        log_mass = xlogy(n, rate[:, None]) - rate[:, None] - gammaln(n + 1)
        amounts = gammainc(n * self.shape, np.maximum(y / scale, 0.0)[:, None])
        total = np.exp(-rate) + (np.exp(log_mass) * amounts).sum(axis=1)
        return np.where(y < 0, 0.0, np.minimum(total, 1.0))
