"""Rows to learn from: a frame, an array or a file, as blocks of codes of states.

A row of weight 0 is left out before its cells are read, so that they have no effect at all.

Where states are not given, they are the distinct values of a column, sorted as the library sorts
categories: numbers by size, then text.  An ordered categorical keeps its order and all of its
categories, also those that do not occur.  Null and empty cells are missing, and no state.  Very
many numbers are probably measurements, each of which would be a state without a neighbour: that is
a warning.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, final

import numpy as np

from likely._typing import Array, Codes
from likely.compute.executor import Executor, executor_for
from likely.data.block import ArrayBlocks, Block, Blocks, block_rows
from likely.data.categories import distinct_of_factor, ordered_categories
from likely.data.formats.registry import read
from likely.data.frames import FrameTable, InMemoryTable, as_table, frame_of
from likely.data.layouts.intercept import Mixed
from likely.data.source import Source, column_index, kinds_of
from likely.data.source_blocks import UNKNOWN_ROWS, chunks, find_schema, weights
from likely.errors import BadCell, ContinuousColumn, InvalidInput, warn_user
from likely.graphical.model.evidence_table import (
    FindCode,
    code_of_value,
    code_of_written,
    codes_by_state,
    codes_of_table,
    distinct_rows,
    restored,
)
from likely.graphical.model.graph_evidence import is_blank
from likely.graphical.model.variable import State, Variable, state_text
from likely.inputs.tables import as_frame, own_columns
from likely.inputs.targets import check_weight
from likely.kinds import ColumnKind
from likely.output.formatting import listed, quoted

if TYPE_CHECKING:
    import pyarrow as pa

MOST_STATES = 1000  # of a column whose states were not given: more are measurements or identifiers
MANY_STATES = 50  # of a column of numbers that are not all whole: more are measurements

States = Mapping[str, int | Iterable[State]]
ReadCodes = Callable[[Sequence[Variable], InMemoryTable], Codes]


class CodedRows(NamedTuple):
    """Rows as blocks of codes, one column for each variable, and where they are summed."""

    variables: tuple[Variable, ...]
    blocks: Blocks  # their X is ``Mixed``, with codes only
    executor: Executor

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many states each variable has."""
        return sizes_of(self.variables)

    def distinct(self) -> tuple[Codes, Array]:
        """The distinct rows in lexicographic order, and the total weight of each, in memory."""
        parts = [(codes_of(block), weight_of(block)) for block in self.blocks]
        if not parts:
            refuse_no_rows()
        codes = np.concatenate([part for part, _ in parts])
        weight = np.concatenate([part for _, part in parts])
        return distinct_rows(codes, self.sizes, weight)


class GivenRows(NamedTuple):
    """Rows in memory whose weight is not 0, before they are coded."""

    table: InMemoryTable
    weight: Array | None
    number: Array | None  # of each row among those given; None: all of them


def coded_rows(
    variables: Sequence[Variable],
    data: object,
    *,
    sample_weight: object = None,
    executor: str | Executor = "auto",
) -> CodedRows:
    """Data as blocks of codes.

    ``data`` is a frame or an array (see ``codes_of_frame``), a source or the path of a file, or
    blocks of codes; ``sample_weight`` has a number for each row, or is the name of a column.
    """
    if isinstance(data, CodedRows):
        return data
    variables = tuple(variables)
    if isinstance(data, Blocks):
        return CodedRows(variables, data, executor_for(executor, data.nbytes))
    source = source_of(data)
    if source is not None:
        blocks = SourceCodes(source, variables, column_of_weights(source, sample_weight))
        return CodedRows(variables, blocks, executor_for(executor, source.nbytes))
    return coded(variables, given_rows(data, sample_weight), executor, codes_of_table)


def coded(
    variables: Sequence[Variable], rows: GivenRows, executor: str | Executor, read_codes: ReadCodes
) -> CodedRows:
    """Rows in memory as codes; a bad cell is named by its row in the data and its column."""
    number = np.arange(rows.table.n_rows) if rows.number is None else rows.number
    with _naming(variables, number):
        codes = read_codes(variables, rows.table)
    blocks = array_blocks(variables, codes, rows.weight)
    return CodedRows(tuple(variables), blocks, executor_for(executor, codes.nbytes))


def source_of(data: object) -> Source | None:
    """A file as a source of rows; None for anything in memory."""
    data = read(data) if isinstance(data, str | Path) else data
    return data if isinstance(data, Source) else None


def column_of_weights(source: Source, sample_weight: object) -> str | None:
    """The column of weights of a file, which must be named."""
    if sample_weight is None:
        return None
    if not isinstance(sample_weight, str):
        raise InvalidInput(
            f"sample_weight is {type(sample_weight).__name__} and the data is a file; the name of "
            f"one of its columns was expected. Columns are {listed(source.names)}."
        )
    column_index(source.names, sample_weight)
    return sample_weight


def given_rows(data: object, sample_weight: object) -> GivenRows:
    """The rows of a frame, an array, lists by column or a list of mappings; weights are not 0."""
    frame, sample_weight = own_columns(as_frame(_as_columns(data)), sample_weight)
    table = as_table(frame)
    if table.n_rows == 0:
        refuse_no_rows()
    weight = check_weight(sample_weight, n_rows=table.n_rows)
    if weight is None or (weight > 0).all():
        return GivenRows(table, weight, None)
    kept = np.flatnonzero(weight)
    return GivenRows(table.take(kept), weight[kept], kept)


def _as_columns(data: object) -> object:
    """A mapping of columns, or a list of mappings, as a frame; anything else as it is."""
    if isinstance(data, list | tuple) and data and all(isinstance(row, Mapping) for row in data):
        names = dict.fromkeys(name for row in data for name in row)
        data = {name: [row.get(name) for row in data] for name in names}
    if not isinstance(data, Mapping):
        return data
    columns = {str(name): list(values) for name, values in data.items()}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidInput(
            f"The columns have different numbers of rows ({listed(list(lengths.items()))}); as "
            "many were expected in each. Use None for a missing cell."
        )
    return frame_of({name: _cells(values) for name, values in columns.items()}, "pyarrow")


def _cells(values: list[Any]) -> list[Any]:
    """Cells of one type; those of several are the texts of states, which are what counts."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) <= 1 or kinds <= {int, float}:
        return values
    return [value if value is None or value != value else state_text(value) for value in values]


def refuse_no_rows() -> NoReturn:
    raise InvalidInput(
        "The data has no row with a weight above 0; at least one was expected. Check how it was "
        "read."
    )


def array_blocks(
    variables: Sequence[Variable], codes: Codes, weight: Array | None = None
) -> ArrayBlocks:
    """Codes in memory as blocks."""
    return ArrayBlocks(Mixed(np.empty((len(codes), 0)), codes, sizes_of(variables)), weight=weight)


def codes_of(block: Block) -> Codes:
    """The codes of a block, int32 in C order."""
    codes: Codes = np.require(block.X.stored().codes, np.int32, ["C", "W"])
    return codes


def weight_of(block: Block) -> Array:
    """The weights of a block, float64."""
    if block.weight is None:
        return np.ones(block.n_rows)
    return np.require(block.weight, np.float64, ["C", "W"])


def sizes_of(variables: Sequence[Variable]) -> tuple[int, ...]:
    """How many states each variable has."""
    return tuple(variable.n_states for variable in variables)


@final
@dataclass(frozen=True, eq=False)
class SourceCodes(Blocks):
    """The rows of a file as blocks of codes, read and coded again in each pass."""

    source: Source
    variables: tuple[Variable, ...]
    weight: str | None = None

    @property
    def n_features(self) -> int:  # type: ignore[override]  # read-only here
        return sum(sizes_of(self.variables))

    @property
    def n_rows(self) -> int | None:  # type: ignore[override]
        return self.source.n_rows

    @property
    def nbytes(self) -> int | None:  # type: ignore[override]
        return self.source.nbytes

    def __iter__(self) -> Iterator[Block]:
        n_rows = self.source.n_rows or UNKNOWN_ROWS
        rows = block_rows(n_rows, self.n_features, 4 * n_rows * len(self.variables))
        start = 0
        others = [name for name in self.source.names if name != self.weight]
        written = self.source.with_text(others)
        find = code_of_value if written is self.source else code_of_written
        for table in chunks(written, rows):
            yield self._block(table, start, find)
            start += table.num_rows

    def _block(self, table: "pa.Table", start: int, find: FindCode) -> Block:
        weight, number = None, np.arange(start, start + table.num_rows)
        if self.weight is not None:
            weight = weights(table.column(self.weight), start)
            kept = weight > 0
            table = table.drop_columns([self.weight]).filter(kept)
            weight, number = weight[kept], number[kept]
        with _naming(self.variables, number):
            codes = codes_by_state(self.variables, as_table(table), find)
        design = Mixed(np.empty((len(codes), 0)), codes, sizes_of(self.variables))
        return Block(X=design, weight=weight, start=start)


@contextmanager
def _naming(variables: Sequence[Variable], number: Array) -> Iterator[None]:
    """Give the position of a bad cell as the row of the data and the name of its column."""
    try:
        yield
    except BadCell as error:
        names = [variable.name for variable in variables]
        raise error.moved(row=int(number[error.row])).named(names) from None


# ── states found in data ──────────────────────────────────────────────────────────────────────


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
