"""The full table of discrete features: no naive assumption, one probability per combination.

    p(x | k) = φ_k,c(x)        c(x) numbers the Π_j V_j combinations

It is exact and needs K (Π_j V_j − 1) parameters, so it is for few features: the reference
with which the naive product is compared.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from likely._typing import Array, Codes
from likely.distributions.base import Distribution, not_counts
from likely.distributions.categorical import Categorical, CategoricalFamily, CategoricalStatistics
from likely.distributions.responsibility import Responsibility
from likely.errors import InvalidInput

MOST_CELLS = 2**22


@final
@dataclass(frozen=True)
class JointTableFamily:
    """All combinations of features with the given numbers of values."""

    sizes: tuple[int, ...]

    smoothed: ClassVar[bool] = True
    coded: ClassVar[bool] = True

    def __post_init__(self) -> None:
        cells = float(np.prod(np.asarray(self.sizes, dtype=float)))
        if cells > MOST_CELLS:
            raise InvalidInput(
                f"A full table of {len(self.sizes)} features has {cells:.3g} cells; "
                f"at most {MOST_CELLS} are allowed. Choose fewer features, or the naive model."
            )

    def check(self, X: Codes) -> None:
        CategoricalFamily(self.sizes).check(X)
        _refuse_missing(X)

    def statistics(self, X: Codes, responsibility: Responsibility) -> CategoricalStatistics:
        return self._as_one().statistics(combinations(X, self.sizes), responsibility)

    def pseudo_statistics(
        self, alpha: float | Array, shape: tuple[int, int]
    ) -> CategoricalStatistics:
        """``alpha`` pseudo-observations of each combination; if one per feature, their mean."""
        return self._as_one().pseudo_statistics(float(np.mean(alpha)), (shape[0], 1))

    def from_statistics(self, statistics: CategoricalStatistics) -> "JointTable":
        return JointTable(Categorical.from_statistics(statistics), self.sizes)

    def leave_one_out(self, statistics: CategoricalStatistics, alpha: float) -> float:
        return statistics.tables.leave_one_out(alpha)

    def _as_one(self) -> CategoricalFamily:
        return CategoricalFamily((int(np.prod(self.sizes)),))


@final
@dataclass(frozen=True, eq=False)
class JointTable(Distribution):
    """A probability for every combination of values, per component."""

    combination: Categorical  # one feature, whose values are the combinations
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        cells = int(np.prod(self.sizes))
        if self.combination.sizes != (cells,):
            raise InvalidInput(
                f"The combination of JointTable has features of {self.combination.sizes} values; "
                f"expected one of {cells}, for sizes {self.sizes}. Give one cell per combination."
            )

    @property
    def n_components(self) -> int:
        return self.combination.n_components

    @property
    def n_features(self) -> int:
        return len(self.sizes)

    @property
    def n_parameters(self) -> int:
        return self.combination.n_parameters

    def own_family(self) -> JointTableFamily:
        return JointTableFamily(self.sizes)

    def log_prob(self, X: Any) -> Array:
        X = self._rows(X)
        _refuse_missing(X)
        return super().log_prob(X)

    def impossible(self, values: Array) -> Array:
        return np.asarray(not_counts(values) | (values >= np.array(self.sizes)))

    def log_density(self, X: Codes) -> Array:
        return self.combination.log_density(combinations(X, self.sizes))

    def log_likelihood_of(self, statistics: CategoricalStatistics) -> float:
        return self.combination.log_likelihood_of(statistics)

    def sample(self, component: Array, rng: np.random.Generator) -> Codes:
        number = self.combination.sample(component, rng)[:, 0]
        return np.stack(np.unravel_index(number, self.sizes), axis=1).astype(np.int32)


def _refuse_missing(X: Array) -> None:
    if ((X == -1) | np.isnan(X)).any():
        raise InvalidInput(
            "A full table needs complete rows; found a missing value. "
            "Drop the row, or use the naive model, which sums it out."
        )


def combinations(X: Codes, sizes: tuple[int, ...]) -> Codes:
    """The number of each row's combination, (n, 1)."""
    return np.ravel_multi_index(tuple(X.T.astype(np.int64, copy=False)), sizes)[:, None]
