"""Products of Laplace densities, one per feature, for each of K components.

    log p(x | k) = Σ_j −log 2b_kj − |x_j − m_kj| / b_kj
    m̂ = weighted median        b̂ = weighted mean absolute deviation about it

Medians cannot be computed from sums.  The statistics keep the distinct values themselves, which
is exact; with a ``limit`` they keep a mergeable sketch beyond it, and ``exact`` says so.

A feature that is constant in all examples, or in none observed, has scale 0 in every component.  It
is left out, as in Gaussians.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, ClassVar, Self, final

import numpy as np

from likely._typing import Array, Matrix
from likely.caching import cached_property
from likely.distributions.base import Distribution, Statistics, Takes
from likely.distributions.gaussian import (
    DiagonalFamily,
    spreads_in_words,
)
from likely.distributions.parameters import (
    component_rows,
    refuse_other_shape,
    refuse_parameters,
)
from likely.distributions.responsibility import Labels, Responsibility, refuse_infinity
from likely.numerics.moments import spread_beyond_rounding
from likely.numerics.quantiles import QuantileGrid, QuantileSummary

SMALLEST_SCALE = 1e-150  # a constant feature: its density must stay a number


@final
@dataclass(frozen=True, eq=False)
class LaplaceStatistics(Statistics):
    """The weighted values of every feature in every component."""

    grid: QuantileGrid

    def __add__(self, other: Self) -> Self:
        return type(self)(self.grid + other.grid)

    def scaled(self, factor: float) -> Self:
        cells = tuple(
            tuple(QuantileSummary(c.values, factor * c.weight, c.limit, exact=c.exact) for c in row)
            for row in self.grid.cells
        )
        return type(self)(QuantileGrid(cells))

    def typical(self) -> tuple[Array, Array]:
        """The median of all components together, and the mean absolute deviation; (n_features,)."""
        together = QuantileGrid(
            (tuple(reduce(add, c) for c in zip(*self.grid.cells, strict=True)),)
        )
        median = np.nan_to_num(together.quantile(0.5), nan=0.0)
        scale = np.nan_to_num(together.mean_absolute_deviation(median), nan=1.0)
        return median[0], scale[0]

    def prior_statistics(
        self, family: Any, alpha: Any, shape: tuple[int, int]
    ) -> "LaplaceStatistics":
        """Equal numbers of pseudo-observations one deviation below and above the median."""
        if not np.any(alpha):
            return LaplaceFamily(family.limit).pseudo_statistics(0.0, shape)
        median, scale = self.typical()
        X = np.stack([median - scale, median + scale])
        r = np.full((2, shape[0]), float(alpha))
        return type(self)(QuantileGrid.of(X, r, limit=family.limit))


@final
@dataclass(frozen=True)
class LaplaceFamily:
    """Independent Laplace features."""

    limit: int | None = None  # distinct values kept per feature; None keeps all of them
    floor: float = 0.0  # × the feature's largest mean absolute deviation among components

    smoothed: ClassVar[bool] = False
    coded: ClassVar[bool] = False
    takes: ClassVar[Takes] = Takes(sparse=False)

    def check(self, X: Matrix) -> None:
        DiagonalFamily().check(X)
        refuse_infinity(X)

    def statistics(self, X: Matrix, responsibility: Responsibility) -> LaplaceStatistics:
        r = responsibility.dense() if isinstance(responsibility, Labels) else responsibility
        return LaplaceStatistics(QuantileGrid.of(np.asarray(X, dtype=float), r, limit=self.limit))

    def pseudo_statistics(self, alpha: float, shape: tuple[int, int]) -> LaplaceStatistics:
        """``alpha`` pseudo-observations at −1 and as many at 1, in every feature."""
        column = np.array([-1.0, 1.0])
        X, r = np.tile(column[:, None], shape[1]), np.full((2, shape[0]), float(alpha))
        return LaplaceStatistics(QuantileGrid.of(X, r, limit=self.limit))

    def leave_one_out(self, statistics: LaplaceStatistics, alpha: float) -> float:
        return 0.0  # nothing is smoothed

    def from_statistics(self, statistics: LaplaceStatistics) -> "Laplace":
        grid = statistics.grid
        median, empty = grid.quantile(0.5), grid.total_weight == 0
        scale = grid.mean_absolute_deviation(median)
        if empty.any():
            usual_median, usual_scale = statistics.typical()
            median, scale = (
                np.where(empty, usual_median, median),
                np.where(empty, usual_scale, scale),
            )
        scale = spread_beyond_rounding(scale, median)
        apart = spread_beyond_rounding(np.ptp(median, axis=0), median[0])
        varies = ((scale > 0).any(axis=0) | (apart > 0)) & ~empty.all(axis=0) | empty.all()
        usual = scale.max(axis=0, initial=0.0)
        usual = np.where(usual > 0, usual, usual.max(initial=0.0))  # constant in each
        lowest = np.maximum(self.floor * usual, SMALLEST_SCALE)
        scale = np.where(varies, np.maximum(scale, lowest), 0.0)
        return Laplace.trusted(median, scale, grid.exact)


@final
@dataclass(frozen=True, eq=False)
class Laplace(Distribution):
    """Independent Laplace features per component."""

    median: Array  # m, (n_components, n_features)
    scale: Array  # b, (n_components, n_features); 0 in the columns of features that are constant
    exact: bool = True  # False when the medians come from a sketch

    parameters_are: ClassVar[str] = "median ± mean absolute deviation"

    def __post_init__(self) -> None:
        median = component_rows("Laplace", "median", self.median)
        scale = component_rows("Laplace", "scale", self.scale)
        refuse_other_shape("Laplace", ("median", "scale"), median, scale)
        refuse_parameters("Laplace", "median", median, np.isfinite(median), "finite")
        good = ((scale > 0) | ~scale.any(axis=0)) & (scale < np.inf)
        refuse_parameters("Laplace", "scale", scale, good, "finite and above 0")
        object.__setattr__(self, "median", median)
        object.__setattr__(self, "scale", scale)

    @property
    def n_parameters(self) -> int:
        return 2 * self.n_components * int(np.count_nonzero(self.used))

    @cached_property
    def used(self) -> Array:
        """Which features vary, (n_features,); the others are left out."""
        return np.asarray(self.scale.all(axis=0))

    def left_out(self) -> Array:
        return ~self.used

    def own_family(self) -> LaplaceFamily:
        return LaplaceFamily()

    @property
    def mean(self) -> Array:
        return self.median

    @property
    def variance(self) -> Array:
        return 2 * self.scale**2

    def log_density(self, X: Matrix) -> Array:
        return self.contributions(X).sum(axis=1)

    def log_likelihood_of(self, statistics: LaplaceStatistics) -> float:
        weight = statistics.grid.total_weight
        deviation = np.nan_to_num(statistics.grid.mean_absolute_deviation(self.median))
        scale = np.where(self.used, self.scale, 1.0)
        terms = weight * (np.log(2 * scale) + deviation / scale)
        return -float(np.sum(terms[:, self.used]))

    def contributions(self, X: Matrix) -> Array:
        distance = np.abs(np.asarray(X, dtype=float)[:, :, None] - self.median.T)
        scale = np.where(self.used, self.scale, 1.0).T
        gone = np.isnan(distance) | ~self.used[:, None]
        return np.where(gone, 0.0, -np.log(2 * scale) - distance / scale)

    def values_of(self, feature: int) -> dict[str, Array]:
        return {"median": self.median[:, feature], "scale": self.scale[:, feature]}

    def parameters_of(self, feature: int, labels: Sequence[str] = ()) -> tuple[str, ...]:
        return spreads_in_words(self.median[:, feature], self.scale[:, feature])

    def sample(self, component: Array, rng: np.random.Generator) -> Any:
        return rng.laplace(self.median[component], self.scale[component])


def laplace_negative_log(weights: Array, scale: float) -> float:
    """−log p(w) of D independent zero-mean weights: D log 2b + ‖w‖₁ / b (the lasso's prior)."""
    weights = np.asarray(weights, dtype=float)
    return float(weights.size * np.log(2 * scale) + np.abs(weights).sum() / scale)
