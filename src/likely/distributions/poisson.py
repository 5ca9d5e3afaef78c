"""Products of Poissons, one rate per feature, for each of K components.

    log p(x | k) = Σ_j x_j log λ_kj − λ_kj − log x_j!        mean λ, variance λ

A Gamma prior is α pseudo-observations with the mean count of the feature, so that
rare and frequent counts are smoothed alike.  A missing cell is summed out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np

from likely._typing import Array, Matrix
from likely.caching import cached_property
from likely.distributions.base import (
    Distribution,
    LinearForm,
    Statistics,
    Takes,
    log_product,
    means_of_components,
    not_counts,
    observed,
    pooled_mean,
    refuse_values,
    stored_values,
)
from likely.distributions.evidence import RowSums, count_evidence
from likely.distributions.parameters import component_rows, refuse_parameters
from likely.distributions.responsibility import Responsibility, observed_sums
from likely.distributions.smoothing import EventCounts
from likely.numerics.additive import FieldwiseAdditive
from likely.output.formatting import short_number
from likely.special import lgamma

UNSEEN = 0.5  # events among all rows, for the prior of a feature without any


@final
@dataclass(frozen=True, eq=False)
class PoissonStatistics(FieldwiseAdditive, Statistics):
    """Events Σ_i r_ik x_ij and examples Σ_i r_ik, over the observed cells."""

    events: Array  # (n_components, n_features)
    weight: Array  # (n_components, 1), or one per feature where cells are missing

    @cached_property
    def counts(self) -> EventCounts:
        return EventCounts.of(self.events, self.weight, self.typical)

    def feature_counts(self) -> Array:
        return self.events

    @property
    def typical(self) -> Array:
        """The mean of each feature over all components, above 0."""
        total = np.broadcast_to(self.weight, self.events.shape).sum(axis=0)
        events = np.maximum(self.events.sum(axis=0), UNSEEN)
        return pooled_mean(events[None], total[None])

    def prior_statistics(
        self, family: Any, alpha: Any, shape: tuple[int, int]
    ) -> "PoissonStatistics":
        return Poisson.pseudo_statistics(alpha, shape, scale=self.typical)


@final
@dataclass(frozen=True, eq=False)
class Poisson(Distribution):
    """A product of Poissons per component."""

    rate: Array  # λ, shape (n_components, n_features)

    smoothed: ClassVar[bool] = True
    coded: ClassVar[bool] = False
    takes: ClassVar[Takes] = Takes(negative=False)
    parameters_are: ClassVar[str] = "the rate"

    def __post_init__(self) -> None:
        rate = component_rows("Poisson", "rate", self.rate)
        refuse_parameters("Poisson", "rate", rate, (rate >= 0) & (rate < np.inf), "finite and >= 0")
        object.__setattr__(self, "rate", rate)

    @staticmethod
    def check(X: Matrix) -> None:
        """Refuse anything but whole numbers from 0 up."""
        values = stored_values(X)
        with np.errstate(invalid="ignore"):
            bad = (values < 0) | ((values != np.floor(values)) & (values == values))
        advice = "Use the Gaussian or exponential event model for measurements."
        expected = "Negative or fractional values in data: Poisson counts are 0, 1, 2, …"
        refuse_values(X, bad, expected, advice)

    @classmethod
    def statistics(cls, X: Matrix, responsibility: Responsibility) -> PoissonStatistics:
        return PoissonStatistics(*observed_sums(responsibility, X))

    @classmethod
    def pseudo_statistics(
        cls, alpha: float | Array, shape: tuple[int, int], *, scale: Array | float = 1.0
    ) -> PoissonStatistics:
        """``alpha`` pseudo-observations with ``scale`` events in every feature."""
        pseudo = np.broadcast_to(np.asarray(alpha, dtype=float), shape)
        return PoissonStatistics(pseudo * scale, pseudo)

    @classmethod
    def from_statistics(cls, statistics: PoissonStatistics) -> Self:
        """λ = events / examples."""
        return cls.trusted(means_of_components(statistics.events, statistics.weight))

    @classmethod
    def leave_one_out(cls, statistics: PoissonStatistics, alpha: float) -> float:
        """The Gamma–Poisson marginal likelihood, used here in place of leave-one-out."""
        return statistics.counts.log_marginal(alpha)

    @property
    def mean(self) -> Array:
        return self.rate

    @property
    def variance(self) -> Array:
        return self.rate

    def impossible(self, values: Array) -> Array:
        return not_counts(values)

    def log_density(self, X: Matrix) -> Array:
        if isinstance(X, np.ndarray):
            return self.log_score(X) - np.nansum(lgamma(X + 1.0), axis=1)[:, None]
        log_factorials = X.copy()
        log_factorials.data = lgamma(X.data + 1.0)  # log 0! = 0 needs no storage
        return self.log_score(X) - np.asarray(log_factorials.sum(axis=1)).reshape(-1, 1)

    def log_score(self, X: Matrix) -> Array:
        """Without log x!, which the components share."""
        if (known := observed(X)) is not None:
            counts = np.where(known, X, 0.0)
            return log_product(counts, self._log_rate()) - np.dot(known, self.rate.T)
        return log_product(X, self._log_rate()) - self.rate.sum(axis=1)

    def log_likelihood_of(self, statistics: PoissonStatistics) -> float:
        events = statistics.events
        zero = np.zeros(events.shape)
        logs = np.multiply(events, self._log_rate(), where=events > 0, out=zero)
        return float(np.sum(logs - statistics.weight * self.rate))

    def contributions(self, X: Matrix) -> Array:
        dense = np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=float)[:, :, None]
        out = np.zeros((*dense.shape[:2], self.n_components))
        logs = np.multiply(dense, self._log_rate().T, where=dense > 0, out=out)
        return np.where(np.isnan(dense), 0.0, logs - self.rate.T)

    def linear_form(self) -> LinearForm:
        return LinearForm(self._log_rate(), -self.rate.sum(axis=1), "x")

    def evidence(
        self, log_mixing: Array, rng: np.random.Generator, rows: RowSums | None = None
    ) -> Array:
        return count_evidence(self._log_rate(), -self.rate, self.rate, log_mixing)

    def values_of(self, feature: int) -> dict[str, Array]:
        return {"rate": self.rate[:, feature]}

    def parameters_of(self, feature: int, labels: Sequence[str] = ()) -> tuple[str, ...]:
        return tuple(short_number(rate, 3) for rate in self.rate[:, feature])

    def sample(self, component: Array, rng: np.random.Generator) -> Array:
        return rng.poisson(self.rate[component]).astype(float)

    def _log_rate(self) -> Array:
        with np.errstate(divide="ignore"):  # log 0 = −inf is a legal value
            return np.log(self.rate)
