"""Descriptions of classes and components: which columns separate them, and pictures of mixtures.

Features are independent given the class where their dependence is 0 for every pair:

    I(x_a; x_b | y) = Σ_k p(k) Σ_{u,v} p(u, v | k) log [ p(u, v | k) / p(u | k) p(v | k) ]

A full table of all combinations needs K (Π V_j − 1) parameters and fits its training data at least
as well, unsmoothed.
"""

import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple, final

import numpy as np
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array, Codes
from likely.distributions import Distribution, JointTableFamily, Labels, Product
from likely.distributions.evidence import RowSums
from likely.distributions.joint_table import MOST_CELLS
from likely.errors import InvalidInput, UnknownName
from likely.graphical.learning.mutual_information import count_all_pairs
from likely.inputs.estimators import feature_names, generator
from likely.objectives.components import Components
from likely.output.description import (
    ColumnsRead,
    Description,
    NamedColumn,
    NamedTable,
    remark_on_little_spread,
    remark_on_many_values,
)
from likely.output.formatting import capitalised, count, fixed, number
from likely.output.pictures import readable

POINTS = 400  # of a curve
CELLS = 120  # of a contour, along each axis
MARGIN = 0.1  # of the range of the rows, beyond them
LEVELS = (0.5, 0.1, 0.01)  # contours of a component, as shares of its highest density


@final
@dataclass(frozen=True, eq=False)
class Dependence:
    """What the naive assumption loses, in nats."""

    names: tuple[str, ...]
    mutual_information: (
        Array  # given the class, (n_features, n_features); entropies on the diagonal
    )
    naive_log_likelihood: float  # Σ log p(x | y) of these rows, both fitted to them, unsmoothed
    full_log_likelihood: float | None  # None when the table would be too large
    naive_parameters: int
    full_parameters: int

    def strongest(self) -> tuple[str, str, float]:
        """The pair of features that depend most on each other."""
        off = np.triu(self.mutual_information, 1)
        a, b = np.unravel_index(off.argmax(), off.shape)
        return self.names[int(a)], self.names[int(b)], float(off[a, b])

    def __str__(self) -> str:
        lines = [
            f"naive: {fixed(self.naive_log_likelihood, 3)} nats, {self.naive_parameters} parameters"
        ]
        full = (
            "too large to fit"
            if self.full_log_likelihood is None
            else f"{fixed(self.full_log_likelihood, 3)} nats"
        )
        lines.append(f"full table: {full}, {self.full_parameters} parameters")
        if len(self.names) > 1:
            a, b, value = self.strongest()
            lines.append(f"strongest pair given the class: {a}, {b} ({number(value)} nats)")
        return "\n".join(lines)

    __repr__ = __str__


def dependence(
    distribution: Product, stored: Any, codes: Codes, names: tuple[str, ...]
) -> Dependence:
    """Compare the naive product with the full table of these rows; features must be discrete."""
    values, sizes = _discrete(distribution, stored)
    n_classes = distribution.n_components
    labels = Labels(codes, n_classes)
    naive = sum(_table_likelihood(values[:, [j]], (sizes[j],), labels) for j in range(len(sizes)))
    cells = prod(sizes)
    full = _table_likelihood(values, sizes, labels) if cells <= MOST_CELLS else None
    return Dependence(
        names,
        count_all_pairs(values, sizes, codes, n_classes).mutual_information(),
        naive,
        full,
        n_classes * (sum(sizes) - len(sizes)) + n_classes - 1,
        n_classes * (cells - 1) + n_classes - 1,
    )


def full_parameter_count(distribution: Distribution) -> int:
    """Parameters without the naive assumption: a table of cells, and a Gaussian in each."""
    cells, continuous = distribution.joint_shape()
    per_cell = continuous + continuous * (continuous + 1) // 2
    return distribution.n_components * (cells - 1 + cells * per_cell)


def _discrete(distribution: Product, stored: Any) -> tuple[Codes, tuple[int, ...]]:
    """All features as codes, and how many values each has."""
    d = distribution.n_features
    sizes = [0] * d
    values: list[Array] = [np.empty(0)] * d
    for part, selection in zip(distribution.parts, distribution.selections, strict=True):
        own = selection.of(stored)
        own = own if isinstance(own, np.ndarray) else own.toarray()
        for position, feature in enumerate(selection.features):
            n_values = part.n_values(position)
            if n_values is None:
                raise InvalidInput(
                    f"Dependence compares tables of counts; {type(part).__name__} features are not "
                    "discrete. Use event='categorical', or discretize='quantile'."
                )
            sizes[feature] = n_values
            values[feature] = own[:, position]
    table = np.stack(values, axis=1)
    if not np.isfinite(table).all() or (table < 0).any():
        raise InvalidInput("Dependence needs complete rows; found a missing value. Drop the row.")
    return table.astype(np.int64), tuple(sizes)


def _table_likelihood(values: Codes, sizes: tuple[int, ...], labels: Labels) -> float:
    family = JointTableFamily(sizes)
    statistics = family.statistics(values, labels)
    return family.from_statistics(statistics).log_likelihood_of(statistics)


def plot_mixture(model: Any, X: Array, axis: Any = None) -> Any:
    """Rows of one or two columns and the components of a fitted mixture; the matplotlib axes."""
    import matplotlib.pyplot as plt

    if X.shape[1] not in (1, 2):
        raise InvalidInput(
            f"A picture of a mixture has one or two columns; X has {X.shape[1]}. "
            "Fit and plot one or two of them."
        )
    axis = plt.subplots(layout="constrained")[1] if axis is None else axis
    with warnings.catch_warnings():  # a grid of numbers has no names of columns
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        (_curves if X.shape[1] == 1 else _contours)(model, X, axis)
    names = feature_names(model)
    axis.set_xlabel(names[0])
    if len(names) > 1:
        axis.set_ylabel(names[1])
    readable(axis)
    return axis


def _curves(model: Any, X: Array, axis: Any) -> None:
    """A histogram, π_k p(x | k) of each component, and their sum."""
    grid = _range(X[:, 0], POINTS)[:, None]
    joint = np.exp(model.predict_joint_log_proba(grid))
    axis.hist(X[np.isfinite(X[:, 0]), 0], bins="auto", density=True, color="0.85", label="rows")
    for k, density in enumerate(joint.T):
        axis.plot(grid[:, 0], density, label=f"component {k}")
    axis.plot(grid[:, 0], joint.sum(axis=1), color="black", linestyle=":", label="p(x)")
    axis.set_ylabel("density")
    axis.legend()


def _contours(model: Any, X: Array, axis: Any) -> None:
    """Rows by their most probable component, and contours of each component."""
    first, second = (_range(X[:, j], CELLS) for j in (0, 1))
    grid = np.stack([each.ravel() for each in np.meshgrid(first, second)], axis=1)
    joint = np.exp(model.predict_joint_log_proba(grid))
    component = model.predict(X)
    for k, density in enumerate(joint.T):
        color = f"C{k % 10}"
        axis.scatter(*X[component == k].T, s=8, color=color, label=f"component {k}")
        levels = sorted(share * density.max() for share in LEVELS)
        axis.contour(first, second, density.reshape(CELLS, CELLS), levels=levels, colors=color)
    axis.legend()


def _range(x: Array, n: int) -> Array:
    low, high = float(np.nanmin(x)), float(np.nanmax(x))
    margin = MARGIN * (high - low) or 1.0
    return np.linspace(low - margin, high + margin, n)


class ComponentFacts(NamedTuple):
    """What a fitted model of components has learned, and the names of its columns."""

    member: Distribution
    log_mixing: Array
    names: Sequence[str]  # of the columns
    groups: tuple[str, ...]  # of the components
    labels: Sequence[Sequence[str]]  # of the values of each column of codes; empty for numbers
    weights: Array | None = None  # of a linear posterior, (n_groups or 1, n_features)
    rows: RowSums | None = None  # sums of the data, where they are known


def describe_components(
    about: ComponentFacts, *, name: str, component: tuple[str, str], n_iter: int | None
) -> Description:
    """The most informative columns first; ``component`` is the word for a component."""
    evidence = about.member.evidence(about.log_mixing, np.random.default_rng(0), about.rows)
    rows = _rows(about)
    order = sorted(range(len(rows)), key=lambda j: -float(evidence[:, j].max()))
    one, many = component
    table = NamedTable(
        "columns",
        (
            NamedColumn("column", "column"),
            NamedColumn("event", "event model"),
            *(NamedColumn("parameters", group, group=group) for group in about.groups),
        ),
        tuple(rows[j] for j in order),
        noun="column",
        weights=tuple(tuple(evidence[:, j].tolist()) for j in order),
        weights_are="evidence",
    )
    shapes = {part.event: part.parameters_are for part, _ in about.member.by_part()}
    shown = [f"{event} columns show {what}" for event, what in shapes.items() if what]
    return Description(
        f"{name}: {count(len(about.groups), one, many)}, {count(len(rows), 'column')}",
        groups=about.groups,
        shares=tuple(np.exp(about.log_mixing).tolist()),
        tables=(table, *_weights(about)),
        notes=(
            f"Evidence: the mean log-odds, in nats, for the true {one} from this column alone, in "
            f"the {one} where it is largest.",
            *([f"{capitalised('; '.join(shown))}."] if shown else []),
        ),
        n_iter=n_iter,
    )


def columns_read(
    member: Distribution, log_mixing: Array, names: Sequence[str], n_rows: int | None
) -> ColumnsRead:
    """How many columns each event model reads, and which of them to check."""
    kinds: Counter[str] = Counter()
    sizes: list[int | None] = [None] * len(names)
    flat = np.zeros(len(names), dtype=bool)
    for part, features in member.by_part():
        kinds[part.event] += len(features)
        flat[list(features)] = part.hardly_varying(log_mixing)
        for place, feature in enumerate(features):
            sizes[feature] = part.n_values(place)
    narrow = [name for name, is_flat in zip(names, flat, strict=True) if is_flat]
    remarks = (*remark_on_many_values(sizes, names, n_rows), *remark_on_little_spread(narrow))
    return ColumnsRead(dict(kinds), remarks)


def _weights(about: ComponentFacts) -> tuple[NamedTable, ...]:
    """The weights of a posterior that is linear in x, if any."""
    if about.weights is None:
        return ()
    own = about.groups if len(about.weights) > 1 else about.groups[1:]
    columns = [NamedColumn("weight", group, "signed", group) for group in own]
    table = NamedTable(
        "weights",
        (NamedColumn("column", "column"), *columns),
        tuple(zip(about.names, *about.weights.tolist(), strict=True)),
        noun="column",
        title="Weights of the linear form",
        weights=tuple(map(tuple, np.abs(about.weights.T).tolist())),
    )
    return (table,)


def _rows(about: ComponentFacts) -> list[tuple[object, ...]]:
    """A row for each column of the table, in its order."""
    rows: list[tuple[object, ...]] = [()] * len(about.names)
    for part, features in about.member.by_part():
        margins = part.margins()
        for place, j in enumerate(features):
            words = margins.parameters_of(place, about.labels[j])
            rows[j] = (about.names[j], part.event, *words)
    return rows


class DescribedComponents(ABC):
    """Methods of a fitted p(x | k), of classes, clusters or states, that describe it by column."""

    components_: Components
    schema_: Any  # a Schema

    @property
    def distribution_(self) -> Any:
        """The fitted p(x | k)."""
        return self.components_.distribution

    def informative_features(
        self, top: int = 10, random_state: Any = 0
    ) -> dict[Any, dict[str, float]]:
        """The most informative features for each class or component, in nats per row.

        A feature's evidence is the mean log-odds for the class, over its rows, from the feature
        alone (see ``likely.distributions.evidence``); the rows have the lengths of the data.  Where
        it has no formula it is estimated from draws of the model.
        """
        check_is_fitted(self)
        rng = generator(random_state)
        evidence = self.distribution_.evidence(self.components_.log_mixing, rng, self._row_sums())
        names = feature_names(self)
        out = {}
        for label, row in zip(self.component_labels(), evidence, strict=True):
            order = np.argsort(-row, kind="stable")[:top]
            out[label] = {names[j]: float(row[j]) for j in order}
        return out

    def parameters(self, column: str | int) -> dict[str, Array]:
        """The fitted parameters of one column by name, with one entry or row for each class.

        A column of categories or bins has their names as ``categories``, too.
        """
        check_is_fitted(self)
        names = list(feature_names(self))
        if column not in names and column not in range(len(names)):
            raise UnknownName("column", column, names)
        at = names.index(column) if column in names else int(column)
        for part, features in self.distribution_.by_part():
            if at in features:
                labels = self._value_labels()[at]
                named = {"categories": np.array(labels)} if labels else {}
                return {**named, **part.values_of(features.index(at))}
        raise InvalidInput(
            f"Column {names[at]!r} has no parameters of its own in {type(self).__name__}; "
            "expected one that the model reads. Choose another."
        )

    def describe(self) -> Description:
        """What separates the classes or components: the most informative columns first."""
        check_is_fitted(self)
        about = ComponentFacts(
            self.distribution_,
            self.components_.log_mixing,
            feature_names(self),
            tuple(map(str, self.component_labels())),
            self._value_labels(),
            self._linear_weights(),
            self._row_sums(),
        )
        return describe_components(
            about, name=type(self).__name__, component=self._component, n_iter=self.n_steps()
        )

    def columns_read(self, n_rows: int | None = None) -> ColumnsRead:
        """How the columns were read, where each may have its own event model."""
        return ColumnsRead().with_columns(feature_names(self), self.schema_.kinds)

    @property
    def _component(self) -> tuple[str, str]:
        """The word for a component: singular and plural."""
        return "component", "components"

    @abstractmethod
    def n_steps(self) -> int | None:
        """Steps of EM; None where there was none."""

    def _value_labels(self) -> list[list[str]]:
        """The values of the codes of each column; empty for numbers."""
        return [
            [] if values is None else [str(value) for value in values.tolist()]
            for values in self.schema_.categories
        ]

    def _linear_weights(self) -> Array | None:
        """The weights of a posterior that is linear in x."""
        return None

    def _row_sums(self) -> RowSums | None:
        """The weight and the statistics of the rows of each component, where they are known."""
        totals = vars(self).get("totals_")
        return None if totals is None else RowSums(totals.count, totals.statistics)

    @abstractmethod
    def component_labels(self) -> list[Any]:
        """The classes, or the numbers of the components."""
