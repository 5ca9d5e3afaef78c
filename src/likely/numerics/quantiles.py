"""Weighted quantiles by a summary that merges: exact while small, approximate beyond.

    C_i = Σ_{l ≤ i} w_l over the sorted distinct values v_i,  W = C_m
    Q(q) = v_i  for the first C_i > qW,  and  ½ (v_{i−1} + v_i)  when C_{i−1} = qW
    mean absolute deviation about c = Σ_i w_i |v_i − c| / W

So Q(½) of n unweighted values is the median, for even n too, and weight 2 is the value twice.
A summary keeps its pairs (v_i, w_i).  Beyond ``limit`` of them they are replaced by
``limit``/2 centroids of about equal weight, and ``exact`` becomes false: each such step changes a
quantile by at most the values that span 2W/``limit``.  The smallest and the largest value,
and values with more than that weight, are kept exactly.

References
----------
Hyndman & Fan, Sample Quantiles in Statistical Packages, 1996, definition 2.
"""

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from likely._typing import Array
from likely.numerics.additive import Additive
from likely.storage.declarations import SameCount

LIMIT = 8192  # pairs: 128 KiB for a column, and ranks to 1/4096
TIE = 1e-12  # of W: sums of soft weights that differ by less are the same rank


@final
@dataclass(frozen=True, eq=False)
class QuantileSummary(Additive):
    """The weight of each distinct value of one column, in increasing order of value."""

    saved_rules = (SameCount(1, "values.shape", "weight.shape"), SameCount("values", "weight"))

    values: Array  # (m,), increasing
    weight: Array  # (m,), positive
    limit: int | None = LIMIT  # None never compresses
    exact: bool = True

    @classmethod
    def of(cls, values: Array, weight: Array | None = None, *, limit: int | None = LIMIT) -> Self:
        """The summary of a column.  NaN is skipped; weights are 0 or more, None is 1."""
        values = np.asarray(values, dtype=np.float64).ravel()
        weight = np.ones(values.size) if weight is None else np.asarray(weight, dtype=np.float64)
        kept = ~np.isnan(values) & (weight > 0)
        return cls(*_distinct(values[kept], weight[kept]), limit)._compressed()

    @property
    def total_weight(self) -> float:
        return float(self.weight.sum())

    def __add__(self, other: Self) -> Self:
        limits = [limit for limit in (self.limit, other.limit) if limit is not None]
        values, weight = _distinct(
            np.concatenate([self.values, other.values]),
            np.concatenate([self.weight, other.weight]),
        )
        merged = type(self)(
            values, weight, min(limits, default=None), exact=self.exact and other.exact
        )
        return merged._compressed()

    def quantile(self, q: Array | float) -> Array:
        """Q(q) for each q in [0, 1]; nan when there are no values."""
        q = np.asarray(q, dtype=np.float64)
        if not self.values.size:
            return np.full(q.shape, np.nan)[()]
        rank = np.cumsum(self.weight)
        target, slack = q * rank[-1], TIE * rank[-1]
        last = self.values.size - 1
        low = np.minimum(np.searchsorted(rank, target - slack), last)
        high = np.minimum(np.searchsorted(rank, target + slack), last)
        low, high = np.where(q < 1, low, last), np.where(q > 0, high, 0)  # the extremes
        return self.values[low] / 2 + self.values[high] / 2  # the sum could overflow

    def median(self) -> float:
        return float(self.quantile(0.5))

    def mean_absolute_deviation(self, centre: float) -> float:
        """Σ w|v − c| / W; nan when there are no values."""
        if not self.values.size:
            return float("nan")
        return float(np.dot(self.weight, np.abs(self.values - centre))) / self.total_weight

    def _compressed(self) -> Self:
        """The summary itself within the limit; beyond it, centroids of about equal weight."""
        if self.limit is None or self.values.size <= self.limit:
            return self
        n_inner = max(1, self.limit // 2 - 2)  # the two extremes are kept apart
        inner_weight = self.weight[1:-1]
        middle = np.cumsum(inner_weight) - inner_weight / 2
        group = np.floor(middle / inner_weight.sum() * n_inner)
        starts = 1 + np.flatnonzero(np.diff(group, prepend=-1.0))
        starts = np.concatenate([[0], starts, [self.values.size - 1]])
        weight = np.add.reduceat(self.weight, starts)
        values = np.add.reduceat(self.weight * self.values, starts) / weight
        alone = np.diff(starts, append=self.values.size) == 1
        values[alone] = self.values[starts[alone]]  # w·v/w may round
        return type(self)(*_distinct(values, weight), self.limit, exact=False)


@final
@dataclass(frozen=True, eq=False)
class QuantileGrid(Additive):
    """One summary for each component k and column j."""

    cells: tuple[tuple[QuantileSummary, ...], ...]  # (n_components, n_features)

    @classmethod
    def of(cls, X: Array, responsibility: Array, *, limit: int | None = LIMIT) -> Self:
        """Column j of X (n, d) under the weights r_ik of component k (n, K); NaN is skipped."""
        columns = [_by_component(X[:, j], responsibility, limit) for j in range(X.shape[1])]
        return cls(
            tuple(tuple(column[k] for column in columns) for k in range(responsibility.shape[1]))
        )

    def __add__(self, other: Self) -> Self:
        return type(self)(
            tuple(
                tuple(a + b for a, b in zip(mine, theirs, strict=True))
                for mine, theirs in zip(self.cells, other.cells, strict=True)
            )
        )

    @property
    def exact(self) -> bool:
        return all(cell.exact for row in self.cells for cell in row)

    @property
    def total_weight(self) -> Array:
        """Σ_i r_ik over the values present, (n_components, n_features)."""
        return np.array([[cell.total_weight for cell in row] for row in self.cells])

    def quantile(self, q: float) -> Array:
        """Q(q), (n_components, n_features)."""
        return np.array([[float(cell.quantile(q)) for cell in row] for row in self.cells])

    def mean_absolute_deviation(self, centre: Array) -> Array:
        """About ``centre`` (n_components, n_features), of the same shape."""
        return np.array(
            [
                [cell.mean_absolute_deviation(c) for cell, c in zip(row, centres, strict=True)]
                for row, centres in zip(self.cells, centre, strict=True)
            ]
        )


def _by_component(x: Array, responsibility: Array, limit: int | None) -> list[QuantileSummary]:
    """The summaries of one column, sorted once for all components."""
    x = np.asarray(x, dtype=np.float64)
    order = np.argsort(x, kind="stable")
    order = order[: x.size - np.count_nonzero(np.isnan(x))]  # NaN sorts last
    values, weight = _totals(x[order], responsibility[order])
    summaries = []
    for k in range(responsibility.shape[1]):
        kept = weight[:, k] > 0
        summary = QuantileSummary(values[kept], weight[kept, k], limit)
        summaries.append(summary._compressed())
    return summaries


def _distinct(values: Array, weight: Array) -> tuple[Array, Array]:
    """Sorted distinct values and the total weight of each."""
    order = np.argsort(values, kind="stable")
    return _totals(values[order], weight[order])


def _totals(ordered: Array, weight: Array) -> tuple[Array, Array]:
    if not ordered.size:
        return ordered, weight
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return ordered[starts], np.add.reduceat(weight, starts, axis=0)


def middle_of(values: Array) -> float:
    """The median of known numbers; ``numpy.median`` takes ten times as long for a short column."""
    half = len(values) // 2
    if len(values) % 2:
        return float(np.partition(values, half)[half])
    low, high = np.partition(values, (half - 1, half))[half - 1 : half + 1]
    return float(np.mean([low, high]))
