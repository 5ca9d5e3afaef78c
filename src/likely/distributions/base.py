"""The contract of a distribution: K component densities p(x | k) over the same columns.

    S = Σ_i r_ik T(x_i)                  statistics add over blocks
    θ̂ = from_statistics(S + S₀)          S₀ are pseudo-statistics: the prior is one more block
    log p(x | k)                         log_prob
    log p(S | θ)                         log_likelihood_of: the data's, or the prior's, from sums
    E[log p(x_j | k) − log p(x_j | not k)]   evidence of feature j, over x_j of component k

A *family* is how one kind of p(x | k) is learned: ``statistics``, ``pseudo_statistics``
and ``from_statistics``.  Where nothing needs configuring the family is the class itself
(``Bernoulli``); where something does (a Gaussian's covariance shape, a product's columns)
it is a frozen object.  An instance of the class is one fitted member.

To add a family, write one file and list it in ``DISTRIBUTIONS``: the laws in
``tests/laws/test_distributions.py`` read that list.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np

from likely._typing import Array, Matrix, NumbersAndCodes
from likely.distributions.evidence import RowSums, drawn_evidence
from likely.distributions.parameters import check_size
from likely.distributions.responsibility import Responsibility, first_cell
from likely.distributions.smoothing import best_smoothing
from likely.errors import BadCell, InvalidInput
from likely.numerics.additive import Additive
from likely.storage.values import same_count

SMALLEST_SHARE = 1e-13  # without a prior: a spread of a component that is lost to rounding
CLEARLY = 100.0  # × the prior's share: all rows do spread
STRONG_SHARE = 1e-4  # a prior this strong prevents collapse by itself


class Statistics(Additive):
    """Sufficient statistics: they add, and ``scaled`` by c they are those of c times the data."""

    def scaled(self, factor: float) -> Self:
        """All sums times ``factor``; statistics that hold more than sums write their own."""
        each = {f.name: factor * getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]  # a dataclass
        return type(self)(**each)

    def feature_counts(self) -> Array:
        """N_kj = Σ_i r_ik x_ij, of features that are counts or 0 and 1."""
        raise InvalidInput(
            f"{type(self).__name__} holds no sums of counts. Read feature_count_ of Bernoulli, "
            "multinomial, complement and Poisson columns."
        )

    def plane(self) -> tuple[int, int] | None:
        """The dimension of the plane in which all rows lie and how many columns vary, if fewer."""
        return None

    def without_covariances(self) -> "Statistics":
        """The statistics of each feature alone, which give the scale of a prior."""
        return self

    def prior_statistics(self, family: Any, alpha: Any, shape: tuple[int, int]) -> Any:
        """Pseudo-statistics of ``alpha`` examples for each of ``shape`` (components, features).

        Where an example has a size (a mean count, a variance), it is that of all components
        together: the prior does not depend on the unit of a column.
        """
        return family.pseudo_statistics(alpha, shape)

    def chosen_smoothing(self, family: Any, n_features: int) -> Array:
        """The smoothing of each feature that maximises the leave-one-out likelihood."""
        return np.full(n_features, best_smoothing(partial(family.leave_one_out, self)))

    def prior_statistics_as_chosen(self, family: Any, alpha: Array, shape: tuple[int, int]) -> Any:
        """Pseudo-statistics at the smoothing that ``chosen_smoothing`` gives."""
        return self.prior_statistics(family, alpha, shape)

    def component_prior(
        self, family: Any, n_components: int, alpha: Any, strength: float, *, strong: bool
    ) -> Any:
        """The prior of classes or clusters, computed from the statistics of all rows.

        A family of counts has ``alpha`` pseudo-counts, one per feature.  A Gaussian has an
        inverse-Wishart prior of ``strength`` pseudo-observations with the variances of all rows;
        the strong one is that of Fraley and Raftery.
        """
        chosen = alpha if family.smoothed else 0.0
        return self.prior_statistics(family, chosen, (n_components, len(alpha)))

    def collapsed(self, family: Any, prior: Any) -> tuple[int, ...]:
        """Components whose spread comes from the prior, not from their rows.

        In units of the standard deviations of all rows, for some direction v:
        vᵀ S_k v < p (the rows of the component spread less than the prior) and vᵀ T v ≥ 100 p (all
        rows do not).  S_k is the scatter of component k, T that of all rows, p the prior's share
        of T.  A component on repeated rows has no spread in any direction; one on a column of few
        distinct values has none along it.  Where all rows have none (a repeated column) nothing has
        collapsed, and a single component cannot collapse.
        """
        return ()


class LinearForm(NamedTuple):
    """log p(x | k) = coef_k · T(x) + intercept_k + (a term that all components share)."""

    coef: Array  # (n_components, n_terms)
    intercept: Array  # (n_components,)
    terms: str  # what T(x) is: "x", or "x, x²"

    def named(self, names: Sequence[str]) -> "NamedForm":
        """The linear form with names of the terms; ``names`` are those of the features."""
        if self.terms == "x":
            terms = list(names)
        elif self.terms == "x, x²":
            terms = [*names, *(f"{name}²" for name in names)]
        else:  # any exponential family: its own T₁, T₂, …
            per_feature = self.coef.shape[1] // len(names)
            terms = [f"T{t + 1}({name})" for name in names for t in range(per_feature)]
        return NamedForm(self.coef, self.intercept, tuple(terms))


class NamedForm(NamedTuple):
    """A linear form with the names of its terms: age, age², town=Ulm."""

    coef: Array  # (n_components, n_terms)
    intercept: Array  # (n_components,)
    terms: tuple[str, ...]


class FusedExpectation(NamedTuple):
    """The result of an E step: N_k, the expected statistics, and Σ w log p(x)."""

    weight: Array  # N, (n_components,)
    statistics: Any
    log_likelihood: float


class Distribution(ABC):
    """One fitted member of a family."""

    parameters_are: ClassVar[str] = ""  # what ``parameters_of`` shows: "mean ± standard deviation"

    @classmethod
    def trusted(cls, *parameters: Any) -> Self:
        """A member whose parameters, in the order of its fields, are known to be valid."""
        member = object.__new__(cls)
        given = iter(parameters)
        for each in fields(cls):  # type: ignore[arg-type]  # every member is a dataclass
            object.__setattr__(member, each.name, next(given, each.default))
        return member

    @classmethod
    def from_own_statistics(cls, statistics: Any) -> Any:
        """``from_statistics`` of statistics that nobody else has: arrays may be overwritten."""
        return cls.from_statistics(statistics)  # type: ignore[attr-defined]  # of every family

    @property
    def n_components(self) -> int:
        """The rows of the first parameter, whose columns are the features."""
        return int(self._first_parameter.shape[0])

    @property
    def n_features(self) -> int:
        return int(self._first_parameter.shape[1])

    @property
    def n_parameters(self) -> int:
        """Free parameters of all components together."""
        return int(self._first_parameter.size)

    @property
    def _first_parameter(self) -> Array:
        first: Array = getattr(self, fields(self)[0].name)  # type: ignore[arg-type]  # a dataclass
        return first

    def own_family(self) -> Any:
        """The family that the member belongs to."""
        return type(self)

    def check_saved(self) -> None:
        """A row for each component, or one that they share, of numbers that can be squared."""
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                what = f"{type(self).__name__}.{name}"
                if len(value) != 1:
                    same_count(what, len(value), self.n_components)
                if not name.startswith("log") and value.dtype.kind == "f":
                    check_size(what, name, value)
            for part in value if isinstance(value, tuple) else (value,):
                if isinstance(part, Distribution):
                    same_count(f"A part of {name}", part.n_components, self.n_components)

    def check_family(self, family: Any) -> None:
        """Refuse a family that the distribution is not a member of, or one of other values."""
        own = self.own_family()
        if (family_name(own), _sizes(own)) != (family_name(family), _sizes(family)):
            raise InvalidInput(
                f"The distribution is of {family_name(own)}{_sizes(own)}, and its family is "
                f"{family_name(family)}{_sizes(family)}; expected the same. Save the model again."
            )

    def check_statistics(self, family: Any, statistics: Any) -> None:
        """Refuse sums that cannot be those from which the family learns such a distribution."""
        shape = (self.n_components, self.n_features)
        _check_shapes("The statistics", statistics, family.pseudo_statistics(1.0, shape))

    def log_prob(self, X: Any) -> Array:
        """log p(x_i | k), shape (n_examples, n_components); −inf outside the support.

        X has a row for each example: an array, a sparse array or a list.  NaN is missing.
        """
        X = self._rows(X)
        outside = self.outside(X)
        if not outside.any():
            return self.log_density(X)
        out = np.full((len(outside), self.n_components), -np.inf)
        out[~outside] = self.log_density(X[~outside])
        return out

    @abstractmethod
    def log_density(self, X: Matrix) -> Array:
        """log p(x_i | k) of rows that have been checked: inside the support, of the right type."""

    def outside(self, X: Matrix) -> Array:
        """Which rows have probability or density 0 in every component: those with such a cell."""
        with np.errstate(invalid="ignore"):
            if isinstance(X, np.ndarray):
                return np.asarray(self.impossible(X).any(axis=1))
            bad = self.impossible(X.data)
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        return np.bincount(rows, bad, X.shape[0]) > 0

    def impossible(self, values: Array) -> Array:
        """Which numbers are no values of the distribution; NaN, which is missing, is not."""
        return np.asarray(np.isinf(values))

    def _rows(self, X: Any) -> Any:
        """Rows that were given by hand, as an array; a list of numbers if there is one feature."""
        if isinstance(X, NumbersAndCodes) or "sparse" in type(X).__module__:
            return X
        try:
            rows = np.asarray(X)
        except ValueError:  # rows of unequal length
            rows = np.empty(0, dtype=object)
        if rows.dtype.kind == "b":
            rows = rows.astype(float)
        if rows.ndim == 1 and self.n_features == 1:
            rows = rows[:, None]
        if rows.dtype.kind not in "fiu" or rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise InvalidInput(
                f"X has shape {rows.shape} and type {rows.dtype}; expected numbers in rows of "
                f"{self.n_features}. Give a list or array with a row for each example."
            )
        return rows

    @abstractmethod
    def log_likelihood_of(self, statistics: Any) -> float:
        """Σ_i Σ_k r_ik log p(x_i | k) from the sums alone, up to terms without parameters."""

    @abstractmethod
    def sample(self, component: Array, rng: np.random.Generator) -> Any:
        """One x for each entry of ``component``."""

    def log_score(self, X: Matrix) -> Array:
        """log p(x_i | k) up to a term that the components share: sufficient for a posterior."""
        return self.log_density(X)

    def expected_statistics(self, family: Any, X: Matrix, responsibility: Responsibility) -> Any:
        """The expected statistics under this member, given the observed cells.

        Most families sum missing cells out in their own statistics; a full Gaussian cannot.
        """
        return family.statistics(X, responsibility)

    def fused_expectation(
        self, family: Any, X: Matrix, log_mixing: Array, weight: Array | None
    ) -> "FusedExpectation | None":
        """An E step and its statistics by one compiled loop, if there is one for such data."""
        return None

    def contributions(self, X: Matrix) -> Array:
        """Each feature's share of ``log_score``, shape (n_examples, n_features, n_components)."""
        raise InvalidInput(
            f"{type(self).__name__} does not split into one term per feature; "
            "use log_prob, or use an event model that is a product over features."
        )

    def centred_contributions(self, X: Matrix) -> tuple[Array, Array]:
        """``contributions``, and the part of ``log_score`` without any feature, (K,)."""
        return self.contributions(X), np.zeros(self.n_components)

    def linear_form(self) -> LinearForm:
        raise InvalidInput(
            f"{type(self).__name__} is not linear in its features; "
            "read the linear form of a Bernoulli, multinomial, Poisson, exponential or tied model."
        )

    def named_form(self, names: Sequence[str], values: Sequence[Any]) -> NamedForm:
        """The linear form in the statistics of the features, which have these names.

        ``values`` are the categories of each feature of codes, None for numbers.
        """
        return self.linear_form().named(names)

    def sample_of_length(self, component: Array, rng: np.random.Generator, length: Any) -> Any:
        """One x per entry of ``component``; ``length`` is the total of a row's counts, if given."""
        return self.sample(component, rng)

    @property
    def event(self) -> str:
        """The name of the event model."""
        return type(self).__name__.lower()

    def values_of(self, feature: int) -> dict[str, Array]:
        """The parameters of one feature by name, with one entry or row per component."""
        return {}

    def parameters_of(self, feature: int, labels: Sequence[str] = ()) -> tuple[str, ...]:
        """The parameters of one feature as short text, for each component.

        ``labels`` are the names of its values, if it is read as codes.
        """
        return ("",) * self.n_components

    def by_part(self) -> "list[tuple[Distribution, Sequence[int]]]":
        """Distributions of one event model each, with the features that they read."""
        return [(self, tuple(range(self.n_features)))]

    def margins(self) -> "Distribution":
        """The distribution of each feature alone."""
        return self

    def evidence(
        self, log_mixing: Array, rng: np.random.Generator, rows: RowSums | None = None
    ) -> Array:
        """How well each feature separates each component, in nats, (n_components, n_features).

        ``rows`` are the sums of the data, from which a multinomial has the lengths of its rows;
        without them its evidence is that of a single count.
        """
        return drawn_evidence(self.margins(), log_mixing, rng)

    def n_values(self, feature: int) -> int | None:
        """How many values a discrete feature has; None for a number."""
        return None

    def log_table(self, feature: int) -> Array | None:
        """log p(value | k) of a discrete feature, (n_components, n_values); None for others."""
        return None

    def joint_shape(self) -> tuple[int, int]:
        """The cells of a table of all discrete features, and the number of Gaussian features."""
        raise InvalidInput(
            f"The full joint model of {type(self).__name__} features has no parameter count. "
            "Use Bernoulli, categorical and Gaussian features."
        )

    def left_out(self) -> Array:
        """Which features are constant in all examples and not in the density, (n_features,)."""
        return np.zeros(self.n_features, dtype=bool)

    def hardly_varying(self, log_mixing: Array) -> Array:
        """Which features hardly vary in some component, (n_features,)."""
        return np.zeros(self.n_features, dtype=bool)


def _check_shapes(what: str, found: Any, expected: Any) -> None:
    """Refuse sums of other types or shapes; of a weight there may be one, or one per feature."""
    if isinstance(expected, np.ndarray):
        sizes = zip(np.shape(found), expected.shape, strict=False)
        fitting = not expected.size or all(a == b or 1 in (a, b) for a, b in sizes)
        alike = np.ndim(found) == expected.ndim and fitting
        same_count(what, np.shape(found), np.shape(found) if alike else expected.shape)
    elif isinstance(expected, tuple):
        same_count(what, len(found), len(expected))
        for one, other in zip(found, expected, strict=True):
            _check_shapes(what, one, other)
    elif isinstance(expected, Additive) and is_dataclass(expected):
        same_count(what, type(found).__name__, type(expected).__name__)
        for field in fields(expected):
            name = f"{type(expected).__name__}.{field.name}"
            _check_shapes(name, getattr(found, field.name), getattr(expected, field.name))


def family_name(family: Any) -> str:
    """The name of a family: of its class, or its own."""
    kind = family if isinstance(family, type) else type(family)
    return kind.__name__ if isinstance(family, type) else getattr(family, "name", kind.__name__)


def _sizes(family: Any) -> tuple[int, ...]:
    """How many values each feature has, if the family knows."""
    sizes: tuple[int, ...] = getattr(family, "sizes", ())
    return () if isinstance(family, type) else sizes


class Takes(NamedTuple):
    """The values that the cells of a family may have."""

    negative: bool = True
    missing: bool = True
    sparse: bool = True
    text: bool = False


class Family(Protocol):
    """How one kind of p(x | k) is learned."""

    @property
    def smoothed(self) -> bool:
        """Whether ``smoothing`` counts apply to it."""

    @property
    def coded(self) -> bool:
        """Whether it reads category codes instead of numbers."""

    def check(self, X: Matrix) -> None:
        """Refuse values that have no probability in the family."""

    def statistics(self, X: Matrix, responsibility: Responsibility) -> Any:
        """Sufficient statistics of each component, a ``Statistics``."""

    def pseudo_statistics(self, alpha: Any, shape: tuple[int, int]) -> Any: ...

    def from_statistics(self, statistics: Any) -> Distribution: ...

    def leave_one_out(self, statistics: Any, alpha: float) -> float:
        """The leave-one-out log-likelihood at smoothing ``alpha`` (see ``smoothing``)."""


class NamedFamily(Family, Protocol):
    """A family that ``event`` can name."""

    @property
    def takes(self) -> Takes: ...


def pooled_mean(sums: Array, weight: Array, *, default: float = 1.0) -> Array:
    """Σ_k sums / Σ_k weight of every feature; ``default`` where no example has it."""
    total = np.broadcast_to(weight, sums.shape).sum(axis=0)
    return np.divide(sums.sum(axis=0), total, out=np.full(total.shape, default), where=total > 0)


def means_of_components(sums: Array, weight: Array) -> Array:
    """sums / weight; for a component without examples, the mean of all components together."""
    there = np.broadcast_to(weight > 0, sums.shape)
    pooled = np.broadcast_to(pooled_mean(sums, weight), sums.shape)
    return np.divide(sums, weight, out=pooled.copy(), where=there)


def observed(X: Matrix) -> Array | None:
    """Which cells of dense X are observed, (n, d); None when nothing is missing."""
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f":
        return None
    known = ~np.isnan(X)
    return None if known.all() else known


def stored_values(X: Matrix) -> Array:
    """The cells that are stored: all of a dense X, the non-zeros of a sparse one."""
    return X if isinstance(X, np.ndarray) else X.data


def not_counts(values: Array) -> Array:
    """Which numbers are not 0, 1, 2, …; NaN is missing."""
    with np.errstate(invalid="ignore"):
        bad = (values < 0) | np.isinf(values) | (values != np.floor(values)) & (values == values)
    return np.asarray(bad)


def refuse_values(X: Matrix, bad: Array, expected: str, advice: str) -> None:
    """Raise for the first cell where ``bad`` is true; NaN is never bad here."""
    if bad.any():
        row, column, value = first_cell(X, bad)
        raise BadCell(f"{expected}; found {value:g}. {advice}", row=row, column=column)


def log_product(X: Matrix, log_values: Array) -> Array:
    """Σ_j x_ij L_kj, where 0 · (−inf) is 0 and a positive x_ij makes it −inf."""
    impossible = np.isneginf(log_values)
    if not impossible.any():
        return product(X, log_values.T)
    out = product(X, np.where(impossible, 0.0, log_values).T)
    out[product(X != 0, impossible.T.astype(float)) > 0] = -np.inf
    return out


def product(X: Matrix, M: Array) -> Array:
    """XM, dense: ``np.dot`` releases the GIL where ``@`` does not."""
    return np.dot(X, M) if isinstance(X, np.ndarray) else np.asarray(X @ M)
