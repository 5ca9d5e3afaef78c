"""Products of Bernoullis, one per feature, for each of K components.

    log p(x | k) = Σ_j x_j log p_kj + (1 − x_j) log(1 − p_kj)

Components are the classes of naive Bayes or the clusters of a mixture: the
statistics take responsibilities r_ik, one-hot when labels are known and soft
in EM.  A Beta prior is pseudo-data, so it is one more term of the sum.  A missing
cell is summed out: its factor is p + (1 − p) = 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, final

import numpy as np

from likely._typing import Array, Matrix
from likely.caching import cached_property
from likely.distributions.base import (
    Distribution,
    LinearForm,
    Statistics,
    Takes,
    log_product,
    observed,
    product,
    refuse_values,
    stored_values,
)
from likely.distributions.evidence import RowSums, presence_evidence
from likely.distributions.parameters import (
    component_rows,
    refuse_other_shape,
    refuse_parameters,
)
from likely.distributions.responsibility import Responsibility, observed_sums
from likely.distributions.smoothing import CountTables
from likely.numerics.additive import FieldwiseAdditive
from likely.special import expit, log_expit


@final
@dataclass(frozen=True, eq=False)
class BernoulliStatistics(FieldwiseAdditive, Statistics):
    """Successes s_kj = Σ_i r_ik x_ij and trials n_kj = Σ_i r_ik, over the observed cells."""

    successes: Array  # (n_components, n_features)
    trials: Array  # (n_components, 1), or one per feature where cells are missing

    def feature_counts(self) -> Array:
        return self.successes

    @property
    def failures(self) -> Array:
        """n − s; soft counts that should be equal may differ by rounding."""
        return np.maximum(self.trials - self.successes, 0.0)

    @cached_property
    def tables(self) -> CountTables:
        """Successes and failures as tables of two cells."""
        cells = np.stack([self.successes, self.failures], axis=-1)
        return CountTables.of([cells.reshape(-1, 2)])


@final
@dataclass(frozen=True, eq=False)
class Bernoulli(Distribution):
    """A product of Bernoullis per component."""

    probability: Array  # p in [0, 1], shape (n_components, n_features)
    logits: Array | None = None  # log p/(1 − p), where it is known better than p

    smoothed: ClassVar[bool] = True
    coded: ClassVar[bool] = False
    takes: ClassVar[Takes] = Takes()
    parameters_are: ClassVar[str] = "the share of true"

    def __post_init__(self) -> None:
        p = component_rows("Bernoulli", "probability", self.probability)
        refuse_parameters("Bernoulli", "probability", p, (p >= 0) & (p <= 1), "between 0 and 1")
        object.__setattr__(self, "probability", p)
        if self.logits is not None:
            a = component_rows("Bernoulli", "logits", self.logits)
            refuse_other_shape("Bernoulli", ("probability", "logits"), p, a)
            refuse_parameters("Bernoulli", "logits", a, expit(a) == p, "those of the probability")
            object.__setattr__(self, "logits", a)

    @classmethod
    def from_logits(cls, logits: Array) -> Self:
        """p = σ(a): log p and log(1 − p) are those of a, where p itself rounds to 0 or 1."""
        a = component_rows("Bernoulli", "logits", logits)
        refuse_parameters("Bernoulli", "logits", a, ~np.isnan(a), "numbers")
        return cls(expit(a), a)

    @staticmethod
    def check(X: Matrix) -> None:
        """Refuse anything but zeros and ones."""
        values = stored_values(X)
        bad = (values != 0) & (values != 1) & (values == values)
        advice = "Binarize them, or use the multinomial event model for counts."
        refuse_values(X, bad, "Bernoulli features must be 0 or 1", advice)

    @classmethod
    def statistics(cls, X: Matrix, responsibility: Responsibility) -> BernoulliStatistics:
        return BernoulliStatistics(*observed_sums(responsibility, X))

    @classmethod
    def pseudo_statistics(cls, alpha: float | Array, shape: tuple[int, int]) -> BernoulliStatistics:
        """``alpha`` pseudo-counts of successes and as many of failures, for every p_kj."""
        pseudo = np.broadcast_to(np.asarray(alpha, dtype=float), shape)
        return BernoulliStatistics(pseudo, 2 * pseudo)

    @classmethod
    def from_statistics(cls, statistics: BernoulliStatistics) -> Self:
        """The maximum of the likelihood, p = s / n.  Pseudo-statistics avoid 0 and 1."""
        s, n = statistics.successes, statistics.trials
        there = np.broadcast_to(n > 0, s.shape)
        p = np.divide(s, n, out=np.full(s.shape, 0.5), where=there)
        return cls.trusted(np.minimum(p, 1.0))  # soft counts may round s above n

    @classmethod
    def leave_one_out(cls, statistics: BernoulliStatistics, alpha: float) -> float:
        """Σ log p(cell | the other examples' cells) at smoothing ``alpha``."""
        return statistics.tables.leave_one_out(alpha)

    @property
    def mean(self) -> Array:
        return self.probability

    @property
    def variance(self) -> Array:
        return self.probability * self._failure()

    def impossible(self, values: Array) -> Array:
        return np.asarray((values != 0) & (values != 1) & (values == values))

    def log_density(self, X: Matrix) -> Array:
        log_success, log_failure = self._logs()
        if (known := observed(X)) is not None:
            successes = np.where(known, X, 0.0)
            failures = known - successes
            return log_product(successes, log_success) + log_product(failures, log_failure)
        if np.isneginf(log_success).any() or np.isneginf(log_failure).any():
            failures = 1.0 - (X if isinstance(X, np.ndarray) else X.toarray())
            return log_product(X, log_success) + log_product(failures, log_failure)
        log_odds = log_success - log_failure
        return product(X, log_odds.T) + log_failure.sum(axis=1)  # reads a sparse X's ones only

    def log_likelihood_of(self, statistics: BernoulliStatistics) -> float:
        log_success, log_failure = self._logs()
        successes = _dot(statistics.successes, log_success)
        return successes + _dot(statistics.failures, log_failure)

    def score(self, statistics: BernoulliStatistics) -> Array:
        """∂ℓ/∂p_kj = s_kj / p_kj − (n_kj − s_kj) / (1 − p_kj), at an interior p."""
        s = statistics.successes
        return s / self.probability - (statistics.trials - s) / self._failure()

    def contributions(self, X: Matrix) -> Array:
        dense = X if isinstance(X, np.ndarray) else X.toarray()
        log_success, log_failure = self._logs()
        chosen = np.where(dense[:, :, None] == 1, log_success.T, log_failure.T)
        return np.where(np.isnan(dense.astype(float))[:, :, None], 0.0, chosen)

    def linear_form(self) -> LinearForm:
        """Weights log p/(1 − p), bias Σ_j log(1 − p_kj)."""
        log_success, log_failure = self._logs()
        return LinearForm(log_success - log_failure, log_failure.sum(axis=1), "x")

    def evidence(
        self, log_mixing: Array, rng: np.random.Generator, rows: RowSums | None = None
    ) -> Array:
        log_success, log_failure = self._logs()
        return presence_evidence(log_failure, log_success, log_mixing)

    def values_of(self, feature: int) -> dict[str, Array]:
        return {"probability": self.probability[:, feature]}

    def parameters_of(self, feature: int, labels: Sequence[str] = ()) -> tuple[str, ...]:
        return tuple(f"{p:.2f}" for p in self.probability[:, feature])

    def n_values(self, feature: int) -> int | None:
        return 2

    def log_table(self, feature: int) -> Array | None:
        log_success, log_failure = self._logs()
        return np.column_stack([log_failure[:, feature], log_success[:, feature]])

    def joint_shape(self) -> tuple[int, int]:
        return 2**self.n_features, 0

    def sample(self, component: Array, rng: np.random.Generator) -> Array:
        p = self.probability[component]
        return (rng.random(p.shape) < p).astype(float)

    def _failure(self) -> Array:
        """1 − p."""
        return 1 - self.probability if self.logits is None else expit(-self.logits)

    def _logs(self) -> tuple[Array, Array]:
        if self.logits is not None:
            return log_expit(self.logits), log_expit(-self.logits)
        with np.errstate(divide="ignore"):  # log 0 = −inf is a legal value
            return np.log(self.probability), np.log1p(-self.probability)


def log_prob_of_logits(x: Array, logits: Array) -> Array:
    """log p(x) = x log σ(a) + (1 − x) log σ(−a), finite for any a: x in {0, 1}, elementwise."""
    return x * log_expit(logits) + (1 - x) * log_expit(-logits)


def _dot(count: Array, log_value: Array) -> float:
    """Σ count · log value, with 0 · (−inf) = 0."""
    return float(np.sum(np.multiply(count, log_value, where=count != 0, out=np.zeros(count.shape))))
