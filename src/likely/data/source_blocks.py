"""A source as blocks: its columns encoded by a schema, its target as codes or numbers.

The number of rows of a block depends on the schema and the number of rows alone, not
on how a reader cuts the file, so a fit does not depend on the format.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, final

import numpy as np

from likely._typing import Array, Codes
from likely.data.arrow_columns import factor_of_arrow, floats_of_arrow
from likely.data.block import Block, Blocks, block_rows
from likely.data.categories import codes_of_factor
from likely.data.schema import Schema
from likely.data.source import Source, column_indices, kinds_of
from likely.errors import InvalidInput
from likely.numerics.additive import Additive

if TYPE_CHECKING:
    import pyarrow as pa

UNKNOWN_ROWS = 2**20  # the length that is assumed of a source that does not know its own

T = TypeVar("T")
A = TypeVar("A", bound=Additive)


class SummingExecutor(Protocol):
    """The part of an executor that reading a file needs: sums over blocks."""

    def sum(self, term: Callable[[T], A], blocks: Iterable[T]) -> A: ...


@final
@dataclass(frozen=True, eq=False)
class SourceBlocks(Blocks):
    """Blocks of a file, encoded as they are read."""

    source: Source
    schema: Schema
    target: str | None = None
    classes: Array | None = None  # sorted; of a target that is a class
    weight: str | None = None
    numeric_target: bool = False
    gaps: bool = False  # whether a label may be missing
    rows_per_block: int | None = None  # None is the rule of ``block_rows``
    offset: str | None = None
    exposure: str | None = None  # its logarithm is added to the offset
    group: str | None = None
    groups: Array | None = None  # sorted; the distinct values of the column of groups

    def __post_init__(self) -> None:
        column_indices(self.source.names, (*(self.schema.names or ()), *self._roles()))

    @property
    def n_features(self) -> int:  # type: ignore[override]  # read-only here
        return self.schema.as_codes.count(False) + sum(self.schema.sizes)

    @property
    def n_rows(self) -> int | None:  # type: ignore[override]
        return self.source.n_rows

    @property
    def nbytes(self) -> int | None:  # type: ignore[override]
        return self.source.nbytes

    def __iter__(self) -> Iterator[Block]:
        start = 0
        for table in chunks(self._needed(), self._block_rows()):
            yield self._block(table, start)
            start += table.num_rows

    def _needed(self) -> Source:
        if self.schema.names is None:
            return self.source
        return self.source.select(list(dict.fromkeys([*self.schema.names, *self._roles()])))

    def _roles(self) -> list[str]:
        """The columns that are not features."""
        names = (self.target, self.weight, self.offset, self.exposure, self.group)
        return [name for name in names if name is not None]

    def _block_rows(self) -> int:
        coded = self.schema.as_codes.count(True)
        per_row = 8 * self.schema.as_codes.count(False) + 4 * coded
        n_rows = self.source.n_rows or UNKNOWN_ROWS
        return self.rows_per_block or block_rows(n_rows, self.n_features, n_rows * per_row)

    def _block(self, table: "pa.Table", start: int) -> Block:
        weight = None if self.weight is None else weights(table.column(self.weight), start)
        return Block(
            X=self.schema.encode(table).design,
            y=None if self.target is None else self._responses(table, start, weight),
            weight=weight,
            offset=self._offsets(table, start),
            group=None if self.group is None else self._group_codes(table),
            start=start,
        )

    def _offsets(self, table: "pa.Table", start: int) -> Array | None:
        offset = None
        if self.offset is not None:
            offset = floats_of_arrow(table.column(self.offset)).astype(np.float64, copy=False)
            _refuse_gaps("offset", self.offset, offset, np.isfinite(offset), start)
        if self.exposure is not None:
            exposure = floats_of_arrow(table.column(self.exposure)).astype(np.float64, copy=False)
            valid = (exposure > 0) & (exposure < np.inf)
            _refuse_gaps("exposure", self.exposure, exposure, valid, start)
            offset = np.log(exposure) if offset is None else offset + np.log(exposure)
        return offset

    def _group_codes(self, table: "pa.Table") -> Codes:
        assert self.group is not None and self.groups is not None
        codes = class_codes(table.column(self.group), self.groups)
        if (codes < 0).any():
            raise InvalidInput(
                f"Column {self.group!r}, the groups, has an empty cell; every row needs a group. "
                "Fill it, or drop the row."
            )
        return codes

    def _responses(self, table: "pa.Table", start: int, weight: Array | None) -> Array:
        column = table.column(self.target)
        if self.numeric_target or self.classes is None:
            numbers = floats_of_arrow(column).astype(np.float64, copy=False)
            absent = False if weight is None else weight == 0
            _refuse_gaps(
                "response", str(self.target), numbers, np.isfinite(numbers) | absent, start
            )
            return numbers
        codes = class_codes(column, self.classes)
        missing = column.is_null(nan_is_null=True).to_numpy()
        unknown = missing if weight is None else missing & (weight > 0)
        if not self.gaps and unknown.any():
            raise InvalidInput(
                f"Row {start + int(unknown.argmax())} has no label in column {self.target!r}; "
                "every row needs one. Remove the row, or use NaiveBayes(unlabelled=nan), which "
                "learns from rows without a label."
            )
        return codes


def _refuse_gaps(what: str, name: str, values: Array, valid: Array, start: int) -> None:
    if valid.all():
        return
    row = int(np.argmin(valid))
    raise InvalidInput(
        f"Row {start + row} of the {what} column {name!r} holds {values[row]:g}; it must be a "
        f"finite number{' above 0' if what == 'exposure' else ''}. Fix it, or drop the row."
    )


def chunks(source: Source, rows: int) -> "Iterator[pa.Table]":
    """The rows of a source in tables of ``rows`` rows; the last may have fewer."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    n_waiting = 0
    for batch in source:
        waiting.append(batch)
        n_waiting += batch.num_rows
        if n_waiting < rows:
            continue
        table = pa.Table.from_batches(waiting)
        whole = n_waiting - n_waiting % rows
        for start in range(0, whole, rows):
            yield table.slice(start, rows)
        n_waiting -= whole
        waiting = table.slice(whole).to_batches() if n_waiting else []
    if n_waiting:
        yield pa.Table.from_batches(waiting)


def find_schema(
    source: Source,
    as_codes: Sequence[bool],
    executor: SummingExecutor,
    *,
    table: Source | None = None,
    weight: str | None = None,
) -> Schema:
    """The schema of all rows: one pass, or none when no column is read as codes.

    With a ``weight``, a column of the wider ``table``, rows of weight 0 are left out.
    """
    described = kinds_of(source)
    flags = tuple(bool(flag) for flag in as_codes)
    if len(flags) != len(source.names):
        raise InvalidInput(
            f"The source has {len(source.names)} columns; {len(flags)} flags were given. "
            "Give one flag per column: whether it is read as codes."
        )
    categories: dict[str, Array | None] = dict.fromkeys(source.names)
    coded = [name for name, flag in zip(source.names, flags, strict=True) if flag]
    if coded:
        wanted = list(dict.fromkeys([*coded, *([weight] if weight else [])]))
        found = executor.sum(
            partial(_schema_of_codes, coded, weight), (table or source).select(wanted)
        )
        categories.update(zip(coded, found.categories, strict=True))
    return Schema(described.names, described.kinds, flags, tuple(categories.values()))


def find_schema_and_classes(
    source: Source,
    features: Source,
    as_codes: Sequence[bool],
    target: str | None,
    weight: str | None,
    executor: SummingExecutor,
) -> tuple[Schema, Array]:
    """The schema of the features and the classes of the target, in one pass where one will do."""
    if target is None:
        found = find_schema(features, as_codes, executor, table=source, weight=weight)
        return found, np.empty(0)
    wanted = source.select([*features.names, target])
    both = find_schema(wanted, [*as_codes, True], executor, table=source, weight=weight)
    labels = both.categories[-1]
    assert labels is not None  # it was read as codes
    schema = Schema(features.names, both.kinds[:-1], both.as_codes[:-1], both.categories[:-1])
    return schema, labels


def class_codes(column: Any, classes: Array) -> Codes:
    """The position of each label of an Arrow column among the classes; −1 is missing."""
    return codes_of_factor(factor_of_arrow(column), classes)


def weights(column: Any, start: int) -> Array:
    """The weights in an Arrow column, whose first row is row ``start``; none may be negative."""
    try:
        weight = floats_of_arrow(column).astype(np.float64, copy=False)
    except ValueError as error:  # Arrow's errors are ValueErrors
        raise InvalidInput(
            f"The column of weights must hold numbers; {error}. Name a column of numbers."
        ) from error
    bad = ~((weight >= 0) & (weight < np.inf))
    if bad.any():
        row = int(bad.argmax())
        raise InvalidInput(
            f"Row {start + row} has the weight {weight[row]:g}; weights are finite and not "
            "negative. Fix the column, or drop the row."
        )
    return weight


def _schema_of_codes(coded: list[str], weight: str | None, batch: "pa.RecordBatch") -> Schema:
    return Schema.of(_weighted(batch, weight).select(coded), (True,) * len(coded))


def _weighted(batch: "pa.RecordBatch", weight: str | None) -> "pa.RecordBatch":
    """The rows whose weight is not 0."""
    if weight is None:
        return batch
    import pyarrow as pa

    return batch.filter(pa.array(weights(batch.column(weight), 0) != 0))
