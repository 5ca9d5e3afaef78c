"""Categorical features: feature j takes one of V_j values, for each of K components.

    log p(x | k) = Σ_j log φ_kj,x_j        φ̂_kjv = N_kjv / Σ_u N_kju

Values are codes 0 … V_j − 1; −1 is a missing (or never seen) value and is summed out,
Σ_v φ_kjv = 1, so it carries no evidence.  The tables of all features are stored side by side in
one row per component, because features have different numbers of values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, Self, final

import numpy as np

from likely._typing import Array, Codes
from likely.caching import cached_property
from likely.distributions.base import Distribution, NamedForm, Statistics, Takes, not_counts
from likely.distributions.parameters import component_rows, refuse_not_on_simplex
from likely.distributions.responsibility import Labels, Responsibility, for_loop
from likely.distributions.smoothing import CountTables
from likely.errors import InvalidInput
from likely.storage.values import same_count


@final
@dataclass(frozen=True, eq=False)
class CategoricalStatistics(Statistics):
    """Counts N_kjv = Σ_i r_ik [x_ij = v], the features' tables side by side."""

    def check_saved(self) -> None:
        """Refuse counts of other categories than the sizes say."""
        same_count("A row of category counts", self.counts.shape[1], sum(self.sizes))

    counts: Array  # (n_components, Σ_j V_j)
    sizes: tuple[int, ...]  # V_j

    def __add__(self, other: Self) -> Self:
        return type(self)(self.counts + other.counts, self.sizes)

    def scaled(self, factor: float) -> Self:
        return type(self)(factor * self.counts, self.sizes)

    def recoded(self, recoding: tuple[Array, ...], sizes: tuple[int, ...]) -> Self:
        """The counts after categories were added: ``recoding[j]`` maps old codes to new."""
        wider = np.zeros((len(self.counts), sum(sizes)))
        new_starts = starts(sizes)
        for old, start, codes in zip(
            tables(self.counts, self.sizes), new_starts, recoding, strict=True
        ):
            wider[:, start + np.asarray(codes)] = old
        return type(self)(wider, sizes)

    @property
    def multipliers(self) -> Array:
        """Σ_v N_kjv, the Lagrange multiplier of Σ_v φ_kjv = 1; (n_components, n_features)."""
        return np.stack([table.sum(axis=1) for table in tables(self.counts, self.sizes)], axis=1)

    @cached_property
    def tables(self) -> CountTables:
        return CountTables.of(tables(self.counts, self.sizes))


@final
@dataclass(frozen=True)
class CategoricalFamily:
    """Categorical features with the given numbers of values."""

    sizes: tuple[int, ...]

    smoothed: ClassVar[bool] = True
    coded: ClassVar[bool] = True
    takes: ClassVar[Takes] = Takes(sparse=False, text=True)

    def check(self, X: Codes) -> None:
        """Refuse codes outside the tables."""
        if not X.size:
            return
        beyond = X.max(axis=0) >= np.asarray(self.sizes)
        if beyond.any():
            j = int(beyond.argmax())
            raise InvalidInput(
                f"Feature {j} has categories 0 to {self.sizes[j] - 1}; found {X[:, j].max()}. "
                "Declare more categories, or code the value as -1 (missing)."
            )

    def statistics(self, X: Codes, responsibility: Responsibility) -> CategoricalStatistics:
        if isinstance(responsibility, Labels) and responsibility.pays_to_compile(X.size):
            counts = _counts_by_label(X, responsibility, self.sizes)
            return CategoricalStatistics(counts, self.sizes)
        if isinstance(responsibility, Labels):
            responsibility = responsibility.dense()
        counts = np.zeros((responsibility.shape[1], sum(self.sizes)))
        for j, table in enumerate(tables(counts, self.sizes)):
            known = X[:, j] >= 0
            for k, r in enumerate(responsibility[known].T):
                table[k] = np.bincount(X[known, j], r, self.sizes[j])
        return CategoricalStatistics(counts, self.sizes)

    def pseudo_statistics(
        self, alpha: float | Array, shape: tuple[int, int]
    ) -> CategoricalStatistics:
        """``alpha`` pseudo-observations of each value; one number, or one per feature."""
        per_feature = np.broadcast_to(np.asarray(alpha, dtype=float), len(self.sizes))
        row = np.repeat(per_feature, self.sizes)
        return CategoricalStatistics(np.tile(row, (shape[0], 1)), self.sizes)

    def from_statistics(self, statistics: CategoricalStatistics) -> "Categorical":
        return Categorical.from_statistics(statistics)

    def leave_one_out(self, statistics: CategoricalStatistics, alpha: float) -> float:
        """Σ log p(cell | the other examples' cells) at smoothing ``alpha``."""
        return statistics.tables.leave_one_out(alpha)


@final
@dataclass(frozen=True, eq=False)
class Categorical(Distribution):
    """A table of probabilities per feature and component."""

    log_probability: Array  # log φ, the tables side by side, (n_components, Σ_j V_j)
    sizes: tuple[int, ...]

    parameters_are: ClassVar[str] = "the most typical value and its share"

    def __post_init__(self) -> None:
        flat = component_rows("Categorical", "log_probability", self.log_probability)
        if flat.shape[1] != sum(self.sizes):
            raise InvalidInput(
                f"The log_probability of Categorical has {flat.shape[1]} columns and its sizes sum "
                f"to {sum(self.sizes)}; they must agree. Put the features' tables side by side."
            )
        for table in tables(flat, self.sizes):
            if table.size:
                refuse_not_on_simplex(np.exp(table))
        object.__setattr__(self, "log_probability", flat)

    @classmethod
    def from_probability(cls, probability: Array) -> Self:
        """One feature with the given table, (V,) or (n_components, V); rows must sum to 1."""
        table = np.atleast_2d(np.asarray(probability, dtype=float))
        refuse_not_on_simplex(table)
        with np.errstate(divide="ignore"):
            return cls.trusted(np.log(table), (table.shape[1],))

    @classmethod
    def from_statistics(cls, statistics: CategoricalStatistics) -> Self:
        """φ = N_kjv / Σ_u N_kju; a feature never observed in a component is uniform there."""
        out = np.empty_like(statistics.counts)
        pairs = zip(
            tables(statistics.counts, statistics.sizes), tables(out, statistics.sizes), strict=True
        )
        for counts, log_probability in pairs:
            total = counts.sum(axis=1, keepdims=True)
            counts = np.where(total > 0, counts, 1.0)
            with np.errstate(divide="ignore"):  # log 0 = −inf is a legal value
                log_probability[:] = np.log(counts) - np.log(counts.sum(axis=1, keepdims=True))
        return cls.trusted(out, statistics.sizes)

    @property
    def n_features(self) -> int:
        return len(self.sizes)

    @property
    def n_parameters(self) -> int:
        return self.n_components * sum(max(v - 1, 0) for v in self.sizes)

    def own_family(self) -> CategoricalFamily:
        return CategoricalFamily(self.sizes)

    def table(self, feature: int) -> Array:
        """φ of one feature, (n_components, V_j)."""
        return np.exp(tables(self.log_probability, self.sizes)[feature])

    def impossible(self, values: Array) -> Array:
        missing = np.isnan(values) | (values == -1)
        return np.asarray((not_counts(values) | (values >= np.array(self.sizes))) & ~missing)

    def log_prob(self, X: Any) -> Array:
        X = self._rows(X)
        return super().log_prob(X if X.dtype.kind != "f" else np.where(np.isnan(X), -1.0, X))

    def log_density(self, X: Codes) -> Array:
        if X.dtype.kind == "f":  # codes that were given by hand
            X = X.astype(np.int64)
        out = np.zeros((len(X), self.n_components))
        for j, table in enumerate(tables(self.log_probability, self.sizes)):
            out += _known_rows(table, X[:, j])
        return out

    def log_likelihood_of(self, statistics: CategoricalStatistics) -> float:
        counts = statistics.counts
        zero = np.zeros(counts.shape)
        return float(np.sum(np.multiply(counts, self.log_probability, where=counts > 0, out=zero)))

    def stationarity(self, statistics: CategoricalStatistics) -> float:
        """max |N_kjv / φ_kjv − λ_kj| over the values that occur: 0 at the maximum (EST-2)."""
        counts, worst = statistics.counts, 0.0
        for j, table in enumerate(tables(counts, self.sizes)):
            phi, multiplier = self.table(j), table.sum(axis=1, keepdims=True)
            ratio = np.divide(
                table, phi, out=np.broadcast_to(multiplier, phi.shape).copy(), where=table > 0
            )
            worst = max(worst, float(np.abs(ratio - multiplier).max(initial=0.0)))
        return worst

    def contributions(self, X: Codes) -> Array:
        parts = tables(self.log_probability, self.sizes)
        return np.stack([_known_rows(table, X[:, j]) for j, table in enumerate(parts)], axis=1)

    def named_form(self, names: Sequence[str], values: Sequence[Any]) -> NamedForm:
        """An indicator of every value."""
        terms = [
            f"{name}={value}"
            for name, known, size in zip(names, values, self.sizes, strict=True)
            for value in (range(size) if known is None else known)
        ]
        return NamedForm(self.log_probability, np.zeros(self.n_components), tuple(terms))

    def values_of(self, feature: int) -> dict[str, Array]:
        return {"probability": self.table(feature)}

    def parameters_of(self, feature: int, labels: Sequence[str] = ()) -> tuple[str, ...]:
        """The value that each component has more often than the others do."""
        p = self.table(feature)  # (n_components, n_values)
        mean = np.maximum(p.mean(axis=0), np.finfo(float).tiny)
        best = (p * np.log(np.maximum(p / mean, np.finfo(float).tiny))).argmax(axis=1)
        return tuple(f"{labels[v] if labels else v} {p[k, v]:.2f}" for k, v in enumerate(best))

    def n_values(self, feature: int) -> int | None:
        return self.sizes[feature]

    def log_table(self, feature: int) -> Array | None:
        return tables(self.log_probability, self.sizes)[feature]

    def joint_shape(self) -> tuple[int, int]:
        return prod(self.sizes), 0

    def sample(self, component: Array, rng: np.random.Generator) -> Codes:
        out = np.empty((len(component), self.n_features), dtype=np.int32)
        for j in range(self.n_features):
            if not self.sizes[j]:  # a feature that was never observed
                out[:, j] = -1
                continue
            cumulative = np.cumsum(self.table(j), axis=1)
            cumulative[:, -1] = np.inf  # rounding may leave it below 1
            out[:, j] = (rng.random(len(component))[:, None] >= cumulative[component]).sum(axis=1)
        return out

    def check_saved(self) -> None:
        super().check_saved()
        same_count("A row of categories", self.log_probability.shape[1], sum(self.sizes))


def starts(sizes: tuple[int, ...]) -> Array:
    """Where each feature's table begins."""
    return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)[: len(sizes)]


def tables(flat: Array, sizes: tuple[int, ...]) -> list[Array]:
    """Views of the features' tables, each (n_components, V_j)."""
    return [flat[:, s : s + v] for s, v in zip(starts(sizes), sizes, strict=True)]


def _known_rows(table: Array, codes: Codes) -> Array:
    """log φ of each code, (n, n_components); 0 where the code is −1."""
    padded = np.concatenate([table.T, np.zeros((1, len(table)))])  # index −1 is the last row
    return padded[codes]


def _counts_by_label(X: Codes, labels: Labels, sizes: tuple[int, ...]) -> Array:
    from likely.fast.counts import count_codes

    counts = np.zeros((labels.n_components, sum(sizes)))
    X = for_loop(X, np.int64 if X.dtype == np.int64 else np.int32)
    codes, weights = for_loop(labels.codes, np.int64), for_loop(labels.weights())
    count_codes(X, codes, weights, starts(sizes), counts)
    return counts
