"""A different family per column: columns are independent given the component.

    log p(x | k) = Σ_parts log p_part(x_part | k)

A part is a family and the columns it reads, out of the numeric columns or out of the
columns of category codes.  Statistics of a product are the parts' statistics, side by side.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, Self, final

import numpy as np

from likely._typing import Array, Matrix, NumbersAndCodes
from likely.distributions.base import (
    Distribution,
    Family,
    LinearForm,
    NamedForm,
    Statistics,
)
from likely.distributions.evidence import RowSums
from likely.distributions.responsibility import Responsibility
from likely.errors import BadCell, InvalidInput
from likely.storage.values import same_count

Positions = range | tuple[int, ...]  # a range wherever they are consecutive: words are many


@final
@dataclass(frozen=True)
class Selection:
    """Which columns a part reads, and their positions in the user's table."""

    coded: bool  # from the codes, else from the numeric columns
    columns: Positions  # their positions there
    features: Positions  # their positions in the user's table
    everything: bool = False  # all numeric (or code) columns, in order: no copy is needed
    dense: bool = False  # they are stored with sparse ones, and read as a dense array

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", _as_range(self.columns))
        object.__setattr__(self, "features", _as_range(self.features))

    @contextmanager
    def placing(self) -> Iterator[None]:
        """Errors about a bad cell, raised inside, give its position in the whole table."""
        try:
            yield
        except BadCell as error:
            raise error.moved(column=self.features[error.column]) from None

    def values(self, per_column: Array) -> Array:
        """The values of these columns, of one value for each column of the user's table."""
        if len(self.features) == len(per_column):  # all of them, in order: words are many
            return per_column
        return per_column[list(self.features)]

    def of(self, X: NumbersAndCodes | Matrix) -> Matrix:
        source = X if not isinstance(X, NumbersAndCodes) else X.codes if self.coded else X.numeric
        chosen = source if self.everything else source[:, list(self.columns)]
        return chosen.toarray() if self.dense and not isinstance(chosen, np.ndarray) else chosen

    def check_saved(self) -> None:
        """Refuse columns that are not those of the features."""
        same_count("The columns of a selection", len(self.columns), len(self.features))
        if self.everything and self.columns:
            same_count("All columns", self.columns, range(len(self.columns)))


def _as_range(positions: Positions) -> Positions:
    """Consecutive whole numbers as a range, others as they are."""
    if isinstance(positions, tuple) and {*map(type, positions)} == {int}:
        along = range(positions[0], positions[0] + len(positions))
        return along if positions == tuple(along) else positions
    return positions


@final
@dataclass(frozen=True)
class ProductPart:
    """A family and the columns it reads."""

    family: Family
    selection: Selection


@final
@dataclass(frozen=True, eq=False)
class ProductStatistics(Statistics):
    """The parts' statistics, in their order."""

    parts: tuple[Any, ...]

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(a + b for a, b in zip(self.parts, other.parts, strict=True)))

    def add_into(self, total: Self) -> Self:
        pairs = zip(self.parts, total.parts, strict=True)
        return type(self)(tuple(own.add_into(theirs) for own, theirs in pairs))

    def scaled(self, factor: float) -> Self:
        return type(self)(tuple(part.scaled(factor) for part in self.parts))

    def prior_statistics(self, family: "ProductFamily", alpha: Any, shape: tuple[int, int]) -> Self:
        parts = self._smoothed_parts(family, alpha, shape)
        return type(self)(tuple(own.prior_statistics(*given) for own, *given in parts))

    def chosen_smoothing(self, family: "ProductFamily", n_features: int) -> Array:
        out = np.ones(n_features)
        for part, own in zip(family.parts, self.parts, strict=True):
            if part.family.smoothed:
                features = part.selection.features
                chosen = own.chosen_smoothing(part.family, len(features))
                if len(features) == n_features:  # words are many
                    return np.asarray(chosen)
                out[list(features)] = chosen
        return out

    def prior_statistics_as_chosen(
        self, family: "ProductFamily", alpha: Array, shape: tuple[int, int]
    ) -> Self:
        parts = self._smoothed_parts(family, alpha, shape)
        return type(self)(tuple(own.prior_statistics_as_chosen(*given) for own, *given in parts))

    def _smoothed_parts(self, family: "ProductFamily", alpha: Any, shape: tuple[int, int]) -> Any:
        """For each part: its statistics, its family, its smoothing and its shape."""
        per_column = np.broadcast_to(np.asarray(alpha, dtype=float), shape[1])
        for part, own in zip(family.parts, self.parts, strict=True):
            columns = part.selection
            chosen = columns.values(per_column) if part.family.smoothed else 0.0
            yield own, part.family, chosen, (shape[0], len(columns.columns))

    def plane(self) -> tuple[int, int] | None:
        return next(filter(None, (part.plane() for part in self.parts)), None)

    def without_covariances(self) -> Self:
        return type(self)(tuple(part.without_covariances() for part in self.parts))

    def component_prior(
        self,
        family: "ProductFamily",
        n_components: int,
        alpha: Any,
        strength: float,
        *,
        strong: bool,
    ) -> Self:
        per_column = np.broadcast_to(np.asarray(alpha, dtype=float), family.n_features)
        return type(self)(
            tuple(
                own.component_prior(
                    part.family,
                    n_components,
                    per_column[list(part.selection.features)],
                    strength,
                    strong=strong,
                )
                for part, own in zip(family.parts, self.parts, strict=True)
            )
        )

    def collapsed(self, family: "ProductFamily", prior: Self) -> tuple[int, ...]:
        parts = zip(family.parts, self.parts, prior.parts, strict=True)
        found = {k for part, own, p in parts for k in own.collapsed(part.family, p)}
        return tuple(sorted(found))


@final
@dataclass(frozen=True)
class ProductFamily:
    """Families side by side."""

    parts: tuple[ProductPart, ...]

    smoothed: ClassVar[bool] = True
    coded: ClassVar[bool] = False

    @property
    def n_features(self) -> int:
        return sum(len(part.selection.features) for part in self.parts)

    def check(self, X: NumbersAndCodes | Matrix) -> None:
        for part in self.parts:
            with part.selection.placing():
                part.family.check(part.selection.of(X))

    def statistics(
        self, X: NumbersAndCodes | Matrix, responsibility: Responsibility
    ) -> ProductStatistics:
        parts = []
        for part in self.parts:
            with part.selection.placing():
                parts.append(part.family.statistics(part.selection.of(X), responsibility))
        return ProductStatistics(tuple(parts))

    def pseudo_statistics(self, alpha: Any, shape: tuple[int, int]) -> ProductStatistics:
        """Smoothing for the families of counts; ``alpha`` is a number or one per column."""
        per_column = np.broadcast_to(np.asarray(alpha, dtype=float), shape[1])
        parts = []
        for part in self.parts:
            chosen = part.selection.values(per_column) if part.family.smoothed else 0.0
            own = shape[0], len(part.selection.columns)
            parts.append(part.family.pseudo_statistics(chosen, own))
        return ProductStatistics(tuple(parts))

    def feature_counts(self, statistics: ProductStatistics) -> Array:
        """Σ_i r_ik x_ij of every feature, (n_components, n_features), where all are counts."""
        parts = [own.feature_counts() for own in statistics.parts]
        out = np.empty((len(parts[0]), self.n_features))
        for part, own in zip(self.parts, parts, strict=True):
            out[:, list(part.selection.features)] = own
        return out

    def leave_one_out(self, statistics: ProductStatistics, alpha: float) -> float:
        """The leave-one-out log-likelihood, with one ``alpha`` for all parts."""
        pairs = zip(self.parts, statistics.parts, strict=True)
        return float(sum(part.family.leave_one_out(s, alpha) for part, s in pairs))

    def from_statistics(self, statistics: ProductStatistics) -> "Product":
        pairs = zip(self.parts, statistics.parts, strict=True)
        fitted = tuple(part.family.from_statistics(s) for part, s in pairs)
        return Product(fitted, tuple(part.selection for part in self.parts))

    def from_own_statistics(self, statistics: ProductStatistics) -> "Product":
        """``from_statistics`` of statistics that nobody else has: arrays may be overwritten."""
        fitted = []
        for part, own in zip(self.parts, statistics.parts, strict=True):
            family = part.family
            if isinstance(family, type) and issubclass(family, Distribution):
                fitted.append(family.from_own_statistics(own))
            else:
                fitted.append(family.from_statistics(own))
        return Product(tuple(fitted), tuple(part.selection for part in self.parts))

    def check_saved(self) -> None:
        """Refuse selections that leave columns out, or read them twice."""
        _check_selections([part.selection for part in self.parts])


@final
@dataclass(frozen=True, eq=False)
class Product(Distribution):
    """Fitted parts, independent given the component."""

    parts: tuple[Distribution, ...]
    selections: tuple[Selection, ...]

    @property
    def n_components(self) -> int:
        return self.parts[0].n_components

    @property
    def n_features(self) -> int:
        return sum(len(s.features) for s in self.selections)

    @property
    def n_parameters(self) -> int:
        return sum(part.n_parameters for part in self.parts)

    def log_prob(self, X: Any) -> Array:
        X = self._rows(X)
        return self._total([p.log_prob(s.of(X)) for p, s in self._pairs()])

    def log_density(self, X: NumbersAndCodes | Matrix) -> Array:
        return self._total([p.log_density(s.of(X)) for p, s in self._pairs()])

    def log_score(self, X: NumbersAndCodes | Matrix) -> Array:
        return self._total([p.log_score(s.of(X)) for p, s in self._pairs()])

    def expected_statistics(self, family: Any, X: Any, responsibility: Responsibility) -> Any:
        return ProductStatistics(
            tuple(
                p.expected_statistics(part.family, s.of(X), responsibility)
                for (p, s), part in zip(self._pairs(), family.parts, strict=True)
            )
        )

    def log_likelihood_of(self, statistics: ProductStatistics) -> float:
        pairs = zip(self.parts, statistics.parts, strict=True)
        return float(sum(part.log_likelihood_of(s) for part, s in pairs))

    def contributions(self, X: NumbersAndCodes | Matrix) -> Array:
        out: Array | None = None
        for part, selection in self._pairs():
            own = part.contributions(selection.of(X))
            if out is None:
                out = np.zeros((len(own), self.n_features, self.n_components))
            out[:, list(selection.features)] = own
        assert out is not None  # a product has at least one part
        return out

    def linear_form(self) -> LinearForm:
        """The linear form of numeric columns: a weight cannot multiply codes."""
        coef = np.zeros((self.n_components, self.n_features))
        intercept = np.zeros(self.n_components)
        for part, selection in self._pairs():
            form = part.linear_form()
            if form.terms != "x" or selection.coded:
                raise InvalidInput(
                    f"{type(part).__name__} columns are not linear in x; "
                    "read their parameters from distribution_.parts instead."
                )
            coef[:, list(selection.features)] = form.coef
            intercept += form.intercept
        return LinearForm(coef, intercept, "x")

    def sample(
        self, component: Array, rng: np.random.Generator, *, length: int | Array = 100
    ) -> NumbersAndCodes:
        """Numeric columns and codes; ``length`` is the total of a row's multinomial counts."""
        n, coded = len(component), [s.coded for s in self.selections]
        widths = [len(s.columns) for s in self.selections]
        numeric = np.empty((n, sum(w for w, c in zip(widths, coded, strict=True) if not c)))
        codes = np.empty((n, sum(w for w, c in zip(widths, coded, strict=True) if c)), np.int32)
        for part, selection in self._pairs():
            target = codes if selection.coded else numeric
            target[:, list(selection.columns)] = part.sample_of_length(component, rng, length)
        return NumbersAndCodes(numeric, codes)

    def named_form(self, names: Sequence[str], values: Sequence[Any]) -> NamedForm:
        forms = [
            part.named_form([names[j] for j in features], [values[j] for j in features])
            for part, features in self.by_part()
        ]
        return NamedForm(
            np.concatenate([form.coef for form in forms], axis=1),
            np.sum([form.intercept for form in forms], axis=0),
            tuple(term for form in forms for term in form.terms),
        )

    @property
    def event(self) -> str:
        return ", ".join(dict.fromkeys(part.event for part in self.parts))

    def by_part(self) -> list[tuple[Distribution, Sequence[int]]]:
        return [(part, selection.features) for part, selection in self._pairs()]

    def evidence(
        self, log_mixing: Array, rng: np.random.Generator, rows: RowSums | None = None
    ) -> Array:
        out = np.empty((self.n_components, self.n_features))
        for place, (part, features) in enumerate(self.by_part()):
            own = None if rows is None else RowSums(rows.weight, rows.statistics.parts[place])
            out[:, list(features)] = part.evidence(log_mixing, rng, own)
        return out

    def left_out(self) -> Array:
        out = np.zeros(self.n_features, dtype=bool)
        for part, features in self.by_part():
            out[list(features)] = part.left_out()
        return out

    def joint_shape(self) -> tuple[int, int]:
        cells, continuous = zip(*(part.joint_shape() for part in self.parts), strict=True)
        return prod(cells), sum(continuous)

    def _pairs(self) -> Any:
        return zip(self.parts, self.selections, strict=True)

    @staticmethod
    def _total(terms: list[Array]) -> Array:
        out = terms[0]
        for term in terms[1:]:
            out = out + term
        return out

    def check_saved(self) -> None:
        super().check_saved()
        same_count("The selections", len(self.selections), len(self.parts))
        _check_selections(self.selections)
        sizes = [member.n_features for member in self.parts]
        same_count("The columns of a part", sizes, [len(each.columns) for each in self.selections])

    def check_family(self, family: Any) -> None:
        if not isinstance(family, ProductFamily):
            super().check_family(family)  # refuses
            return
        read = tuple(part.selection for part in family.parts)
        same_count("The columns that the distribution reads", self.selections, read)
        for part, member in zip(family.parts, self.parts, strict=True):
            same_count("Codes or numbers", part.selection.coded, part.family.coded)
            member.check_family(part.family)


def _check_selections(selections: Sequence[Selection]) -> None:
    """Refuse selections of a file that do not read each column, and each feature, once."""
    _refuse_gaps("The columns of the selections", [each.features for each in selections])
    for coded in (False, True):
        read = [each.columns for each in selections if each.coded == coded]
        _refuse_gaps("The columns that are read", read)


def _refuse_gaps(what: str, parts: list[Positions]) -> None:
    """Refuse positions that are not 0, 1, …, each once."""
    if len(parts) == 1 and parts[0] == range(len(parts[0])):  # words are many
        return
    found = sorted(position for part in parts for position in part)
    same_count(what, found, list(range(len(found))))
