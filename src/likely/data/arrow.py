"""Arrow tables: any frame or array as one of plain types; a whole source as one; their SHA-256.

Folds, seals and searches take rows again and again, so they need them in memory: a source that
would not fit is refused before it is read.  A fit of one model, and a look, read a file in
chunks.  A run, a seal and a study recognise their data by its SHA-256.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np

from likely._typing import Array
from likely.caching import cached_property
from likely.data.frames import as_table, is_sparse, library_of
from likely.data.source import (
    Source,
    are_known,
    as_categories,
    column_indices,
)
from likely.errors import InvalidInput
from likely.kinds import ColumnKind

if TYPE_CHECKING:
    import pyarrow as pa

Rows = TypeVar("Rows", "pa.Table", "pa.RecordBatch")
NAME = "y"  # of a target that has none
COPIES = 3  # of the table exist at a time: itself, the rows of a fold, and their design
KIBIBYTE = 2**10
GIGABYTE = 1e9
MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")  # version 2, as containers have it
CHUNK_ROWS = 65536
SHORT_CHUNK = 1000  # rows: of shorter chunks, the cost of each column would be that of its chunks
PIECE = 2**20  # bytes hashed at a time
LONGEST_INT64 = 18  # decimal digits, all of which an int64 holds


def with_target(data: Any, target: Any) -> tuple[Any, str | None]:
    """The data and the name of the target; labels that were given separately become a column."""
    if target is None or isinstance(target, str):
        return data, target
    if np.ndim(target) == 0:  # a column name that is not text, which pandas allows
        return data, str(target)
    table, y = arrow_table_of(data), _labels(target)
    if table.num_rows != len(y):
        raise InvalidInput(
            f"The target has {len(y)} values and the table {table.num_rows} rows; one value for "
            "each row was expected. Check that both come from the same data."
        )
    name = str(getattr(target, "name", None) or NAME)
    if name in table.column_names:
        raise InvalidInput(
            f"The target is called {name!r} and so is a column of the table; a model would "
            "copy it. Drop that column, or give its name as the target."
        )
    return table.append_column(name, y), name


def refuse_twins(names: Sequence[str]) -> None:
    """Refuse a table in which two columns have the same name."""
    rows = Counter(names)
    twice = next((name for name in names if rows[name] > 1), None)
    if twice is not None:
        raise InvalidInput(
            f"Two columns are called {twice!r}; names must differ. Rename one of them."
        )


def plain_types(table: Rows) -> Rows:
    """A table in types that can be computed with, its values unchanged.

    decimal, as databases have it      float64, or int64 where the type has no fraction
    text and bytes in views            text and bytes
    """
    import pyarrow as pa

    columns = [_plain(column) for column in table.columns]
    if all(column.type == field.type for column, field in zip(columns, table.schema, strict=True)):
        return table
    fields = [field.with_type(c.type) for field, c in zip(table.schema, columns, strict=True)]
    schema = pa.schema(fields, metadata=table.schema.metadata)
    return type(table).from_arrays(columns, schema=schema)


def values_of(column: Any) -> Array:
    """An Arrow column as the array of labels that estimators take."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _plain(column: Any) -> Any:
    import pyarrow as pa

    if column.type == (wanted := _plain_type(column.type)):
        return column
    if not pa.types.is_dictionary(wanted):
        return column.cast(wanted)
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([_plain(chunk) for chunk in column.chunks], wanted)
    values = column.dictionary.cast(wanted.value_type)
    return pa.DictionaryArray.from_arrays(column.indices, values, ordered=wanted.ordered)


def decoded(column: Any) -> Any:
    """A dictionary column as its values; any other as it is."""
    import pyarrow as pa

    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _plain_type(type_: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_dictionary(type_):
        return pa.dictionary(type_.index_type, _plain_type(type_.value_type), type_.ordered)
    if pa.types.is_decimal(type_):
        whole = type_.scale == 0 and type_.precision <= LONGEST_INT64
        return pa.int64() if whole else pa.float64()
    return {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}.get(type_, type_)


def _labels(target: Any) -> Any:
    if np.ndim(target) == 2 and np.shape(target)[1] == 1:
        target = np.ravel(target)
    if np.ndim(target) != 1:
        raise InvalidInput(
            f"The target has the shape {np.shape(target)}; one value for each row, or the name of "
            "a column, was expected. Choose one column."
        )
    return _array(target)


def arrow_table_of(data: Any) -> "pa.Table":
    """A frame or an array, column by column: names may repeat, types may be mixed."""
    import pyarrow as pa

    if is_sparse(data):
        raise InvalidInput(
            "A sparse array was given; a table of columns with names and types was expected. "
            "Pass a data frame, or X.toarray() if it is small."
        )
    if library_of(data) == "pandas" and getattr(data, "ndim", 0) == 2:
        columns = [data.iloc[:, j] for j in range(data.shape[1])]  # by place: names may repeat
        return _table([_array(c) for c in columns], [str(name) for name in data.columns])
    if isinstance(data, np.ndarray | list | tuple):
        values = as_table(data).native
        columns = [_array(values[:, j]) for j in range(values.shape[1])]
        return _table(columns, [str(j) for j in range(len(columns))])
    frame: pa.Table = as_table(data).frame.to_arrow()  # type: ignore[attr-defined]  # a FrameTable
    return frame


def _table(columns: list[Any], names: list[str]) -> "pa.Table":
    import pyarrow as pa

    return pa.Table.from_arrays(columns, names=names)


def _array(column: Any) -> Any:
    """A column as Arrow has it; objects of several types as their text."""
    import pyarrow as pa

    try:
        found = pa.array(column, from_pandas=True)
        type_ = found.type.value_type if pa.types.is_dictionary(found.type) else found.type
        if not isinstance(type_, pa.BaseExtensionType):  # such as pandas' periods and intervals
            return found
        column = column.astype(object)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        pass
    return pa.array([None if _is_missing(value) else str(value) for value in column], pa.string())


def _is_missing(value: Any) -> bool:
    """None, NaN, and the missing values of pandas, one of which does not compare as a Boolean."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def refuse_infinities(batches: "Iterable[pa.RecordBatch]") -> None:
    """Refuse infinite numbers and name the first: they make every mean, scale and sum infinite."""
    import pyarrow as pa
    import pyarrow.compute as pc

    start = 0
    for batch in batches:
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if not pa.types.is_floating(column.type):
                continue
            row = pc.index(pc.is_inf(column), True).as_py()
            if row >= 0:
                raise InvalidInput(
                    f"Row {start + row}, column {name!r}: found {column[row].as_py()}; a number "
                    "must be finite or missing. Remove the row, or leave the cell empty."
                )
        start += batch.num_rows


@final
@dataclass(frozen=True, eq=False)
class TableSource(Source):
    """A table in memory, read in chunks like any other source."""

    table: "pa.Table"

    @cached_property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]  # read-only here
        return tuple(self.table.column_names)

    @cached_property
    def kinds(self) -> tuple[ColumnKind, ...]:  # type: ignore[override]
        return as_table(self.table).kinds

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        return int(self.table.num_rows)

    @property
    def nbytes(self) -> int:  # type: ignore[override]
        return int(self.table.nbytes)

    def __iter__(self) -> "Iterator[pa.RecordBatch]":
        yield from self.table.to_batches(max_chunksize=CHUNK_ROWS)

    def select(self, names: Sequence[str]) -> "TableSource":
        column_indices(self.names, names)
        return TableSource(self.table.select(list(names)))

    def with_known(self, name: str) -> "TableSource":
        known = are_known(self.table.column(name))
        return TableSource(self.table.filter(known))

    def with_categories(self, names: Sequence[str]) -> "TableSource":
        return TableSource(as_categories(self.table, names)) if names else self


def in_one_table(source: Source) -> "pa.Table":
    """All rows as one table; the first batch shows how much memory they take."""
    import pyarrow as pa

    if isinstance(source, TableSource):
        return source.table
    batches: list[pa.RecordBatch] = []
    for batch in source:
        if not batches and source.n_rows is not None:
            _refuse_too_large(batch, source.n_rows)
        batches.append(batch)
    table = plain_types(pa.Table.from_batches(batches))
    return table.combine_chunks() if table.num_rows < SHORT_CHUNK * len(batches) else table


def free_memory() -> float:
    """Bytes of memory that are free for this process; infinite where this is unknown."""
    return min(_of_machine(), _of_group(), _of_process())


def _refuse_too_large(first: "pa.RecordBatch", n_rows: int) -> None:
    needed = first.nbytes / max(first.num_rows, 1) * n_rows
    free = free_memory()
    if COPIES * needed > free:
        raise InvalidInput(
            f"The table has {n_rows:,} rows, about {needed / GIGABYTE:.2g} GB in memory, and this "
            f"operation needs {COPIES} times as much; {free / GIGABYTE:.2g} GB are free. Take "
            "fewer rows or columns, or train one model, which reads a file in chunks: likely train."
        )


def _of_machine() -> float:
    try:
        lines = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines())
        return float(lines["MemAvailable"].split()[0]) * KIBIBYTE
    except (OSError, KeyError, ValueError):
        return float("inf")


def _of_group() -> float:
    """Bytes left by the limit of the container; cached pages of files are not counted."""
    try:
        most = float((CGROUP / "memory.max").read_text())
        held = float((CGROUP / "memory.current").read_text())
        stat = dict(line.split() for line in (CGROUP / "memory.stat").read_text().splitlines())
        return most - held + float(stat.get("file", 0))
    except (OSError, ValueError):  # also "max": no limit
        return float("inf")


def _of_process() -> float:
    """Bytes that ``ulimit -v`` leaves."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_AS, getpagesize, getrlimit

        soft = getrlimit(RLIMIT_AS)[0]
        if soft == RLIM_INFINITY:
            return float("inf")
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return float(soft - pages * getpagesize())
    except (ImportError, OSError, ValueError):
        return float("inf")


def digest_of_file(path: Path) -> str:
    """SHA-256 of the bytes of a file."""
    digest = sha256()
    with open(path, "rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


def digest_of_table(table: "pa.Table") -> str:
    """SHA-256 of the names, types and cells of a table, however it is cut into chunks."""
    import pyarrow as pa

    plain = table.replace_schema_metadata(None).combine_chunks()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, plain.schema) as writer:
        writer.write_table(plain)
    return sha256(sink.getvalue()).hexdigest()
