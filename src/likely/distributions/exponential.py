"""Products of exponential waiting times, one mean per feature, for each of K components.

    log p(x | k) = Σ_j −log μ_kj − x_j / μ_kj,   x_j ≥ 0        mean μ, variance μ²

An inverse-Gamma prior is α pseudo-observations, each as long as the mean of the feature.  A missing
cell is summed out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np

from likely._typing import Array, Matrix
from likely.distributions.base import (
    Distribution,
    LinearForm,
    Statistics,
    Takes,
    means_of_components,
    observed,
    pooled_mean,
    product,
    refuse_values,
    stored_values,
)
from likely.distributions.parameters import component_rows, refuse_parameters
from likely.distributions.responsibility import Responsibility, observed_sums
from likely.numerics.additive import FieldwiseAdditive
from likely.output.formatting import short_number

SHORTEST_MEAN = 1e-150  # a feature that was always 0: its density must stay a number
SHORTEST_SHARE = 1e-9  # of the feature's mean: a component in which it was always 0


@final
@dataclass(frozen=True, eq=False)
class ExponentialStatistics(FieldwiseAdditive, Statistics):
    """Times Σ_i r_ik x_ij and examples Σ_i r_ik, over the observed cells."""

    times: Array  # (n_components, n_features)
    weight: Array  # (n_components, 1), or one per feature where cells are missing

    def prior_statistics(
        self, family: Any, alpha: Any, shape: tuple[int, int]
    ) -> "ExponentialStatistics":
        typical = pooled_mean(self.times, self.weight)
        return Exponential.pseudo_statistics(alpha, shape, scale=typical)


@final
@dataclass(frozen=True, eq=False)
class Exponential(Distribution):
    """A product of exponentials per component."""

    mean: Array  # μ, shape (n_components, n_features)

    smoothed: ClassVar[bool] = False
    coded: ClassVar[bool] = False
    takes: ClassVar[Takes] = Takes(negative=False)
    parameters_are: ClassVar[str] = "the mean"

    def __post_init__(self) -> None:
        mean = component_rows("Exponential", "mean", self.mean)
        good = (mean > 0) & (mean < np.inf)
        refuse_parameters("Exponential", "mean", mean, good, "finite and above 0")
        object.__setattr__(self, "mean", mean)

    @staticmethod
    def check(X: Matrix) -> None:
        values = stored_values(X)
        with np.errstate(invalid="ignore"):
            bad = values < 0
        expected = "Negative values in data: exponential features must be 0 or more"
        refuse_values(X, bad, expected, "Use the Gaussian or Laplace event model.")

    @classmethod
    def statistics(cls, X: Matrix, responsibility: Responsibility) -> ExponentialStatistics:
        return ExponentialStatistics(*observed_sums(responsibility, X))

    @classmethod
    def pseudo_statistics(
        cls, alpha: float | Array, shape: tuple[int, int], *, scale: Array | float = 1.0
    ) -> ExponentialStatistics:
        """``alpha`` pseudo-observations of length ``scale``."""
        pseudo = np.broadcast_to(np.asarray(alpha, dtype=float), shape)
        return ExponentialStatistics(pseudo * scale, pseudo)

    @classmethod
    def leave_one_out(cls, statistics: ExponentialStatistics, alpha: float) -> float:
        return 0.0  # nothing is smoothed

    @classmethod
    def from_statistics(cls, statistics: ExponentialStatistics) -> Self:
        """μ = time / examples."""
        times, n = statistics.times, statistics.weight
        shortest = np.maximum(SHORTEST_SHARE * pooled_mean(times, n), SHORTEST_MEAN)
        return cls.trusted(np.maximum(means_of_components(times, n), shortest))

    @property
    def variance(self) -> Array:
        return self.mean**2

    def impossible(self, values: Array) -> Array:
        return np.asarray((values < 0) | np.isinf(values))

    def log_density(self, X: Matrix) -> Array:
        if (known := observed(X)) is not None:
            times = np.where(known, X, 0.0)
            return -np.dot(times, (1 / self.mean).T) - np.dot(known, np.log(self.mean).T)
        return -product(X, (1 / self.mean).T) - np.log(self.mean).sum(axis=1)

    def log_likelihood_of(self, statistics: ExponentialStatistics) -> float:
        rates = statistics.times / self.mean
        return -float(np.sum(rates + statistics.weight * np.log(self.mean)))

    def contributions(self, X: Matrix) -> Array:
        dense = np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=float)[:, :, None]
        return np.where(np.isnan(dense), 0.0, -dense / self.mean.T - np.log(self.mean.T))

    def linear_form(self) -> LinearForm:
        return LinearForm(-1 / self.mean, -np.log(self.mean).sum(axis=1), "x")

    def values_of(self, feature: int) -> dict[str, Array]:
        return {"mean": self.mean[:, feature]}

    def parameters_of(self, feature: int, labels: Sequence[str] = ()) -> tuple[str, ...]:
        return tuple(short_number(m, 3) for m in self.mean[:, feature])

    def sample(self, component: Array, rng: np.random.Generator) -> Array:
        return rng.exponential(self.mean[component])
