"""Complement naive Bayes: a class is scored by how badly the *other* classes' words fit.

    w_kv = −log [ (α + Σ_{c≠k} N_cv) / (αV + Σ_{c≠k} Σ_u N_cu) ]        score_k(x) = Σ_v x_v w_kv

The other classes together have many counts even where one class has few, which
helps with unbalanced classes.  The scores are not log-probabilities of anything.

References
----------
Rennie, Shih, Teevan & Karger, Tackling the poor assumptions of naive Bayes text
classifiers, ICML 2003, §3.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, final

import numpy as np

from likely._typing import Array, Matrix
from likely.distributions.base import Distribution, LinearForm, Takes, product
from likely.distributions.evidence import RowSums
from likely.distributions.multinomial import Multinomial, MultinomialStatistics
from likely.distributions.parameters import component_rows, refuse_parameters
from likely.distributions.responsibility import Responsibility
from likely.errors import InvalidInput

FEWEST = 1e-10  # a word that no other class has, unsmoothed: its weight must stay a number


@final
@dataclass(frozen=True, eq=False)
class Complement(Distribution):
    """Scores from the complement of each class."""

    weight: Array  # w, shape (n_components, n_features)

    smoothed: ClassVar[bool] = True
    coded: ClassVar[bool] = False
    takes: ClassVar[Takes] = Takes(negative=False, missing=False)
    parameters_are: ClassVar[str] = "weights"

    def __post_init__(self) -> None:
        weight = component_rows("Complement", "weight", self.weight)
        refuse_parameters("Complement", "weight", weight, np.isfinite(weight), "finite")
        object.__setattr__(self, "weight", weight)

    @staticmethod
    def check(X: Matrix) -> None:
        Multinomial.check(X)

    @classmethod
    def statistics(cls, X: Matrix, responsibility: Responsibility) -> MultinomialStatistics:
        return Multinomial.statistics(X, responsibility)

    @classmethod
    def pseudo_statistics(
        cls, alpha: float | Array, shape: tuple[int, int]
    ) -> MultinomialStatistics:
        """The α of a complement comes in equal parts from the K − 1 classes in it."""
        share = np.asarray(alpha, dtype=float) / max(1, shape[0] - 1)
        return Multinomial.pseudo_statistics(share, shape)

    @classmethod
    def from_statistics(cls, statistics: MultinomialStatistics) -> Self:
        counts = statistics.counts
        others = counts.sum(axis=0) - counts if len(counts) > 1 else counts
        others = np.maximum(others, FEWEST)
        log_total = np.log(others.sum(axis=1, keepdims=True))
        weight = np.log(others, out=others)  # in place: a table of words is large
        return cls.trusted(np.subtract(log_total, weight, out=weight))

    @classmethod
    def leave_one_out(cls, statistics: MultinomialStatistics, alpha: float) -> float:
        """The likelihood of the multinomial: a complement is not a density."""
        return Multinomial.leave_one_out(statistics, alpha)

    @property
    def n_parameters(self) -> int:
        return self.n_components * (self.n_features - 1)

    def log_score(self, X: Matrix) -> Array:
        return product(X, self.weight.T)

    def log_density(self, X: Matrix) -> Array:
        raise InvalidInput(_NO_DENSITY)

    def log_likelihood_of(self, statistics: MultinomialStatistics) -> float:
        raise InvalidInput(_NO_DENSITY)

    def contributions(self, X: Matrix) -> Array:
        dense = np.asarray(X if isinstance(X, np.ndarray) else X.toarray())
        return dense[:, :, None] * self.weight.T

    def linear_form(self) -> LinearForm:
        return LinearForm(self.weight, np.zeros(self.n_components), "x")

    def evidence(
        self, log_mixing: Array, rng: np.random.Generator, rows: RowSums | None = None
    ) -> Array:
        """Weights relative to those of the other classes, times the mean counts of the class."""
        if self.n_components < 2:
            return np.zeros(self.weight.shape)
        others = self.weight.sum(axis=0) - self.weight
        of_one = np.asarray(self.weight - others / (self.n_components - 1))
        return of_one if rows is None else of_one * rows.mean_counts()

    def values_of(self, feature: int) -> dict[str, Array]:
        return {"weight": self.weight[:, feature]}

    def parameters_of(self, feature: int, labels: Sequence[str] = ()) -> tuple[str, ...]:
        return tuple(f"{w:+.2f}" for w in self.weight[:, feature])

    def sample(self, component: Array, rng: np.random.Generator) -> Array:
        raise InvalidInput(_NO_DENSITY)


_NO_DENSITY = (
    "The complement event model scores classes and is not a density of the features. "
    "Use the multinomial event model for likelihoods and samples."
)
