"""Multinomial counts: n throws of a V-sided die for each of K components.

    log p(x | k) = log B(x) + Σ_v x_v log φ_kv        B(x) = (Σ_v x_v)! / Π_v x_v!
    φ̂_kv = N_kv / λ_k,   λ_k = Σ_v N_kv               (λ_k is the Lagrange multiplier)

The total Σ_v x_v is given, not modelled.  B(x) is the same for all components, so a
posterior leaves it out (``log_score``).  A Dirichlet prior is α pseudo-counts per side.

Sides that are merged are again one side, with the sum of their counts and of their pseudo-counts:

    N_k,others = Σ_{v not chosen} N_kv        α_others = Σ α_v        m_others = Σ m_v

So φ_kv of the chosen sides is what it is in the table of all sides, and documents that have no
other words need a table of their own words only.
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
    refuse_values,
    stored_values,
)
from likely.distributions.evidence import RowSums, count_evidence
from likely.distributions.parameters import component_rows, refuse_not_on_simplex
from likely.distributions.product import ProductFamily, ProductPart, Selection
from likely.distributions.responsibility import Responsibility, refuse_infinity, weighted_sums
from likely.distributions.smoothing import (
    UNSEEN,
    CountTables,
    WordCounts,
    best_smoothing,
    components_with,
    word_spread,
)
from likely.errors import InvalidInput
from likely.numerics.additive import FieldwiseAdditive
from likely.output.formatting import short_number
from likely.special import log_multinomial_coefficient


@final
@dataclass(frozen=True, eq=False)
class MultinomialStatistics(FieldwiseAdditive, Statistics):
    """Counts N_kv = Σ_i r_ik x_iv."""

    counts: Array  # (n_components, n_sides)

    def feature_counts(self) -> Array:
        return self.counts

    @property
    def multipliers(self) -> Array:
        """λ_k, the throws of each component: the Lagrange multiplier of Σ_v φ_kv = 1."""
        return self.counts.sum(axis=1)

    @cached_property
    def tables(self) -> CountTables:
        return CountTables.of([self.counts])

    def chosen_smoothing(self, family: Any, n_features: int) -> Array:
        """r m_v: pseudo-counts of each word, per count of a component."""
        share = best_smoothing(WordCounts.of(self.counts).leave_one_out)
        return share * word_spread(self.counts)

    def prior_statistics_as_chosen(self, family: Any, alpha: Array, shape: tuple[int, int]) -> Self:
        """r λ_k m_v, with r of ``alpha`` and m of the counts; a component without any has m."""
        return self.shared_out(float(alpha.sum()), word_spread(self.counts))

    def shared_out(self, share: float, spread: Array) -> Self:
        """Pseudo-counts: a share of each component's counts, spread over the sides."""
        throws = share * np.where(self.multipliers > 0, self.multipliers, 1.0)
        if self.counts.flags.f_contiguous:  # as the counts are stored
            return type(self)(np.outer(spread, throws).T)
        return type(self)(np.outer(throws, spread))

    def add_into(self, total: Self) -> Self:
        """In place where possible: a table of words is large."""
        if total.counts.shape != self.counts.shape or not total.counts.flags.writeable:
            return total + self
        np.add(total.counts, self.counts, out=total.counts)
        return total


@final
@dataclass(frozen=True, eq=False)
class Multinomial(Distribution):
    """Probabilities of the categories, one row per component."""

    log_probability: Array  # log φ, shape (n_components, n_sides)

    smoothed: ClassVar[bool] = True
    coded: ClassVar[bool] = False
    takes: ClassVar[Takes] = Takes(negative=False, missing=False)
    parameters_are: ClassVar[str] = "the share of all counts"

    def __post_init__(self) -> None:
        log_probability = component_rows("Multinomial", "log_probability", self.log_probability)
        refuse_not_on_simplex(np.exp(log_probability))
        object.__setattr__(self, "log_probability", log_probability)

    @classmethod
    def from_probability(cls, probability: Array) -> Self:
        """The distribution with these probabilities; each row must sum to 1."""
        probability = np.atleast_2d(np.asarray(probability, dtype=float))
        refuse_not_on_simplex(probability)
        with np.errstate(divide="ignore"):
            return cls.trusted(np.log(probability))

    @staticmethod
    def check(X: Matrix) -> None:
        """Refuse negative, infinite and missing counts."""
        values = stored_values(X)
        if np.isnan(values).any():
            raise InvalidInput(
                "Multinomial counts must not be missing; found NaN, which a multinomial "
                "cannot sum out. Fill it, or use the Poisson event model."
            )
        refuse_infinity(X)
        expected = "Negative values in data: multinomial counts must be 0 or more"
        refuse_values(X, values < 0, expected, "Use the Gaussian event model for real numbers.")

    @classmethod
    def statistics(cls, X: Matrix, responsibility: Responsibility) -> MultinomialStatistics:
        return MultinomialStatistics(weighted_sums(responsibility, X))

    @classmethod
    def pseudo_statistics(
        cls, alpha: float | Array, shape: tuple[int, int]
    ) -> MultinomialStatistics:
        """``alpha`` pseudo-counts of each side (one number, or one per side)."""
        return MultinomialStatistics(np.broadcast_to(np.asarray(alpha, dtype=float), shape))

    @classmethod
    def from_statistics(cls, statistics: MultinomialStatistics) -> Self:
        """φ = N_kv / λ_k; a component without throws is uniform."""
        counts, total = statistics.counts, statistics.multipliers[:, None]
        if not (total > 0).all():
            counts = np.where(total > 0, counts, 1.0)
            total = np.where(total > 0, total, counts.shape[1])
        with np.errstate(divide="ignore"):  # log 0 = −inf is a legal value
            log_probability = np.log(counts)
        log_probability -= np.log(total)  # in place: a table of words is large
        return cls.trusted(log_probability)

    @classmethod
    def from_own_statistics(cls, statistics: MultinomialStatistics) -> Self:
        counts, total = statistics.counts, statistics.multipliers[:, None]
        if not (total > 0).all() or not counts.flags.writeable or counts.dtype != np.float64:
            return cls.from_statistics(statistics)
        with np.errstate(divide="ignore"):
            np.log(counts, out=counts)
        counts -= np.log(total)
        return cls.trusted(counts)

    @classmethod
    def leave_one_out(cls, statistics: MultinomialStatistics, alpha: float) -> float:
        """Σ log p(throw | the component's other throws) at smoothing ``alpha``."""
        return statistics.tables.leave_one_out(alpha)

    @property
    def n_parameters(self) -> int:
        return self.n_components * (self.n_features - 1)

    @property
    def probability(self) -> Array:
        return np.exp(self.log_probability)

    def impossible(self, values: Array) -> Array:
        """Negative and infinite counts; broken ones (weights of words) have a value between."""
        return np.asarray((values < 0) | np.isinf(values))

    def log_density(self, X: Matrix) -> Array:
        """log p(x | k) with log B(x): the probability of the counts, given their total."""
        return self.log_score(X) + np.atleast_1d(log_multinomial_coefficient(X))[:, None]

    def log_score(self, X: Matrix) -> Array:
        """Without log B(x), which the components share."""
        return log_product(X, self.log_probability)

    def log_likelihood_of(self, statistics: MultinomialStatistics) -> float:
        counts = statistics.counts
        zero = np.zeros(counts.shape)
        return float(np.sum(np.multiply(counts, self.log_probability, where=counts > 0, out=zero)))

    def contributions(self, X: Matrix) -> Array:
        dense = np.asarray(X if isinstance(X, np.ndarray) else X.toarray())[:, :, None]
        out = np.zeros((*dense.shape[:2], self.n_components))
        return np.multiply(dense, self.log_probability.T, where=dense != 0, out=out)

    def linear_form(self) -> LinearForm:
        return LinearForm(self.log_probability, np.zeros(self.n_components), "x")

    def evidence(
        self, log_mixing: Array, rng: np.random.Generator, rows: RowSums | None = None
    ) -> Array:
        length = np.ones(self.n_components) if rows is None else rows.mean_counts().sum(axis=1)
        mean = length[:, None] * self.probability
        return count_evidence(self.log_probability, np.zeros(mean.shape), mean, log_mixing)

    def sample_of_length(self, component: Array, rng: np.random.Generator, length: Any) -> Array:
        return self.sample(component, rng, length)

    def values_of(self, feature: int) -> dict[str, Array]:
        return {"probability": np.exp(self.log_probability[:, feature])}

    def parameters_of(self, feature: int, labels: Sequence[str] = ()) -> tuple[str, ...]:
        return tuple(short_number(p, 2) for p in np.exp(self.log_probability[:, feature]))

    def sample(self, component: Array, rng: np.random.Generator, total: int | Array = 100) -> Array:
        """Counts of ``total`` throws each: one number, or one per draw."""
        totals = np.broadcast_to(np.asarray(total), len(component))
        return rng.multinomial(totals, self.probability[component]).astype(float)


@final
@dataclass(frozen=True, eq=False)
class LumpedCounts(Statistics):
    """Counts of the chosen sides, with those of all others as the last."""

    own: MultinomialStatistics  # (n_components, n_chosen + 1)
    spread: Array  # m_v of the sides, (n_chosen + 1,)

    @classmethod
    def of(cls, counts: Array, others: Array, raised: float) -> Self:
        """``counts`` (n_components, n_chosen) and those of all other sides, (n_components,).

        ``raised`` is Σ (C_v + ½) over the other sides, C_v the number of components with a side.
        """
        spread = np.append(components_with(counts) + UNSEEN, raised)
        table = np.vstack([counts.T, others]).T  # a word's counts side by side
        return cls(MultinomialStatistics(table), spread / spread.sum())

    def __add__(self, other: Any) -> Any:
        return self.own + other

    def add_into(self, total: Any) -> Any:
        return self.own.add_into(total)

    def scaled(self, factor: float) -> Self:
        return type(self)(self.own.scaled(factor), self.spread)

    def prior_statistics_as_chosen(self, family: Any, alpha: Array, shape: tuple[int, int]) -> Any:
        return self.own.shared_out(float(alpha.sum()), self.spread)


@final
@dataclass(frozen=True, eq=False)
class LumpedColumns:
    """Some columns of a table of one family of counts, with all others as one at the end."""

    chosen: Array  # their positions

    def family(self, family: ProductFamily) -> ProductFamily:
        """The family of these columns."""
        (part,) = family.parts
        columns = range(len(self.chosen) + 1)
        selection = Selection(coded=False, columns=columns, features=columns, everything=True)
        return ProductFamily((ProductPart(part.family, selection),))

    def sums(self, per_column: Array) -> Array:
        """The values of the chosen columns, and the sum of all others."""
        others = np.ones(len(per_column), dtype=bool)
        others[self.chosen] = False
        return np.append(per_column[self.chosen], per_column[others].sum())
