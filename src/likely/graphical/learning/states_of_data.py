"""The states of variables, found in data: the distinct values of each column.

States are sorted as the library sorts categories: numbers by size, then text.  An ordered
categorical keeps its order and all of its categories, also those that do not occur.  Null and
empty cells are missing, and no state.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from likely.compute.executor import Executor, executor_for
from likely.data.categories import distinct_of_factor, ordered_categories
from likely.data.frames import FrameTable, InMemoryTable
from likely.data.source import TableKinds, refuse_others
from likely.data.source_blocks import find_schema
from likely.errors import InvalidInput
from likely.graphical.evidence_table import codes_by_state, state_texts
from likely.graphical.learning.coded_rows import (
    CodedRows,
    coded,
    coded_rows,
    column_of_weights,
    given_rows,
    source_of,
)
from likely.graphical.variable import State, Variable, state_text

MOST_STATES = 1000  # of a column whose states were not given: more are measurements or identifiers

States = Mapping[str, int | Iterable[State]]


def rows_with_states(
    data: Any, states: States, sample_weight: Any, executor: str | Executor
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
        found = {
            name: state_texts(values, kind)
            for name, kind, values in zip(
                features.names, schema.kinds, schema.categories, strict=True
            )
            if values is not None
        }
        variables = _variables(features.names, found, states)
        return coded_rows(variables, source, sample_weight=sample_weight, executor=executor)
    given = given_rows(data, sample_weight)
    names = given.table.names or tuple(f"x{j}" for j in range(len(given.table.kinds)))
    refuse_others(TableKinds(given.table.names, given.table.kinds))
    found = {
        name: _states_of_column(given.table, column)
        for column, name in enumerate(names)
        if name not in states
    }
    variables = _variables(names, found, states)
    return coded(variables, given, executor, codes_by_state)


def _variables(
    names: tuple[str, ...], found: Mapping[str, list[str]], states: States
) -> list[Variable]:
    variables = [
        Variable(name, states[name]) if name in states else _variable(name, found[name])
        for name in names
    ]
    hidden = [name for name in states if name not in names]
    return variables + [Variable(name, states[name]) for name in hidden]


def _variable(name: str, texts: list[str]) -> Variable:
    texts = list(dict.fromkeys(text for text in texts if text.strip()))
    if not texts:
        raise InvalidInput(
            f"Column {name!r} has no value in any row; at least one state was expected. Drop the "
            f"column, or name its states: states={{{name!r}: [...]}}."
        )
    if len(texts) > MOST_STATES:
        raise InvalidInput(
            f"Column {name!r} has {len(texts):,} distinct values, such as {texts[0]!r}; at most "
            f"{MOST_STATES:,} states were expected. Put a measurement into bins (Discretizer), "
            "drop an identifier, or name the states with states=."
        )
    return Variable(name, texts)


def _states_of_column(table: InMemoryTable, column: int) -> list[str]:
    if isinstance(table, FrameTable):
        series = table.frame.get_column(table.frame.columns[column])
        ordered = ordered_categories(series.to_native())
        if ordered is not None:
            return [state_text(value) for value in ordered]
    return state_texts(distinct_of_factor(table.factor(column)), table.kinds[column])
