"""The states of variables, found in data: the distinct values of each column.

States are sorted as the library sorts categories: numbers by size, then text.  An ordered
categorical keeps its order and all of its categories, also those that do not occur.  Null and
empty cells are missing, and no state.  Very many numbers are probably measurements, each of which
would be a state without a neighbour: that is a warning.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor, executor_for
from likely.data.categories import distinct_of_factor, ordered_categories
from likely.data.frames import FrameTable, InMemoryTable
from likely.data.source import kinds_of
from likely.data.source_blocks import find_schema
from likely.errors import ContinuousColumn, InvalidInput, warn_user
from likely.graphical.learning.coded_rows import (
    CodedRows,
    coded,
    coded_rows,
    column_of_weights,
    given_rows,
    source_of,
)
from likely.graphical.model.evidence_table import codes_by_state, restored
from likely.graphical.model.graph_evidence import is_blank
from likely.graphical.model.variable import State, Variable, state_text
from likely.kinds import ColumnKind
from likely.output.formatting import quoted

MOST_STATES = 1000  # of a column whose states were not given: more are measurements or identifiers
MANY_STATES = 50  # of a column of numbers that are not all whole: more are measurements

States = Mapping[str, int | Iterable[State]]


def rows_with_states(
    data: object, states: States, sample_weight: object, executor: str | Executor
) -> CodedRows:
    """Rows as codes, a variable for each column, and after them the hidden ones of ``states``."""
    source = source_of(data)
    if source is not None:
        weight = column_of_weights(source, sample_weight)
        features = source if weight is None else source.drop([weight])
        flags = [name not in states for name in features.names]
        schema = find_schema(
            features, flags, executor_for(executor, source.nbytes), table=source, weight=weight
        )
        columns = zip(features.names, schema.kinds, schema.categories, strict=True)
        values = {name: FoundValues(own, kind) for name, kind, own in columns if own is not None}
        variables = _variables(features.names, values, states)
        return coded_rows(variables, source, sample_weight=sample_weight, executor=executor)
    given = given_rows(data, sample_weight)
    names = given.table.names or tuple(f"x{j}" for j in range(len(given.table.kinds)))
    kinds_of(given.table)  # others are refused
    values = {
        name: _values_of_column(given.table, column)
        for column, name in enumerate(names)
        if name not in states
    }
    variables = _variables(names, values, states)
    return coded(variables, given, executor, codes_by_state)


class FoundValues(NamedTuple):
    """The distinct values of a column in the order of its states, and its kind."""

    values: Array
    kind: ColumnKind

    @property
    def are_measurements(self) -> bool:
        """Whether these are many numbers, and not whole ones."""
        if self.kind != "number" or len(self.values) <= MANY_STATES:
            return False
        return any(not float(value).is_integer() for value in self.values.tolist())


def _variables(
    names: tuple[str, ...], found: Mapping[str, FoundValues], states: States
) -> list[Variable]:
    variables = [
        Variable(name, states[name]) if name in states else _variable(name, found[name])
        for name in names
    ]
    measured = [v for v in variables if v.name in found and found[v.name].are_measurements]
    if measured:
        _warn_of_measurements([each.name for each in measured], measured[0].n_states)
    hidden = [name for name in states if name not in names]
    return variables + [Variable(name, states[name]) for name in hidden]


def _warn_of_measurements(names: list[str], n_states: int) -> None:
    first = f"Column {names[0]!r} has {n_states:,} different numbers, and each is a state"
    others = f"; so it is with {quoted(names[1:])}" if names[1:] else ""
    warn_user(
        f"{first}{others}: it looks continuous, and most states occur in few rows. Put it into "
        "bins with likely.Discretizer, or use BayesianNetworkClassifier, which does. If they are "
        f"names, give states={{{names[0]!r}: [...]}}, or the column as text.",
        ContinuousColumn,
    )


def _variable(name: str, found: FoundValues) -> Variable:
    """A variable whose states are the values found, as they are, each text once."""
    texts: dict[str, State] = {}
    for value in restored(*found):
        if not is_blank(value):
            texts.setdefault(state_text(value), value)
    if not texts:
        raise InvalidInput(
            f"Column {name!r} has no value in any row; at least one state was expected. Drop the "
            f"column, or name its states: states={{{name!r}: [...]}}."
        )
    if len(texts) > MOST_STATES:
        raise InvalidInput(
            f"Column {name!r} has {len(texts):,} distinct values, such as {next(iter(texts))!r}; "
            f"at most {MOST_STATES:,} states were expected. Put a measurement into bins "
            "(Discretizer), drop an identifier, or name the states with states=."
        )
    return Variable(name, texts.values())


def _values_of_column(table: InMemoryTable, column: int) -> FoundValues:
    if isinstance(table, FrameTable):
        series = table.frame.get_column(table.frame.columns[column])
        ordered = ordered_categories(series.to_native())
        if ordered is not None:
            return FoundValues(np.array(ordered, dtype=object), "category")
    return FoundValues(distinct_of_factor(table.factor(column)), table.kinds[column])
