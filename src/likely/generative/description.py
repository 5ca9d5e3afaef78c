"""Descriptions of classes and components: which columns separate them."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.description import (
    ColumnsRead,
    Description,
    NamedColumn,
    NamedTable,
    remark_on_little_spread,
    remark_on_many_values,
)
from likely.distributions import Distribution
from likely.distributions.evidence import RowSums
from likely.errors import InvalidInput, UnknownName
from likely.formatting import capitalised, count
from likely.inputs.estimators import feature_names, generator
from likely.objectives.components import Components


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
        _columns(about),
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


def _columns(about: ComponentFacts) -> tuple[NamedColumn, ...]:
    return (
        NamedColumn("column", "column"),
        NamedColumn("event", "event model"),
        *(NamedColumn("parameters", group, group=group) for group in about.groups),
    )


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

    def component_labels(self) -> list[Any]:
        """The classes, or the numbers of the components."""
        return list(range(len(self.components_.log_mixing)))
