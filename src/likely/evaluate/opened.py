"""Any data as one Arrow table to look at: a frame, an array, a source, a file, a sealed folder.

Of a file that is too large for memory, the rows are taken that a hash of their index chooses.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from likely.data.frames import as_table, is_sparse, library_of
from likely.data.source import Source
from likely.data.sources import read
from likely.data.split import split_mask
from likely.errors import InvalidFile, InvalidInput

if TYPE_CHECKING:
    import pyarrow as pa

MOST_BYTES = 256 * 2**20  # of a file; of a larger one some rows are looked at
MANIFEST = "manifest.json"
TRAINING = "train.parquet"  # the only part of a sealed folder that is read


class Opened(NamedTuple):
    """A table, how many rows it was taken from, and what it is called."""

    table: "pa.Table"
    n_rows: int
    label: str = "table"
    target: str | None = None  # what a sealed folder remembers


def opened(data: Any) -> Opened:
    """The data in memory, or as much of them as fits."""
    import pyarrow as pa

    if isinstance(data, str | Path):
        return _opened_path(Path(data))
    if isinstance(data, Source):
        return opened_source(data, "table")
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if library_of(data) == "likely":
        return _opened_path(_sealed_path(data))
    table = data if isinstance(data, pa.Table) else _arrow_of(data)
    if not table.num_rows or not table.num_columns:
        raise InvalidInput(
            f"The table has {table.num_rows} rows and {table.num_columns} columns; there is "
            "nothing to look at. Check how it was made."
        )
    return Opened(table, table.num_rows)


def opened_source(source: Source, label: str) -> Opened:
    """A source, read once."""
    import pyarrow as pa

    share = MOST_BYTES / max(source.nbytes or 1, 1)
    table = pa.Table.from_batches(list(source if share >= 1 else _some_rows(source, share)))
    return Opened(table, table.num_rows if source.n_rows is None else source.n_rows, label)


def is_sealed(path: Path) -> bool:
    """Whether it is a folder that ``seal`` has written."""
    return (path / MANIFEST).is_file()


def _sealed_path(data: Any) -> Path:
    from likely.sealing.sealed import Sealed

    if isinstance(data, Sealed):
        return data.path
    raise InvalidInput(
        f"A {type(data).__name__} was given; a table or a seal was expected. Pass the data frame "
        "or the path of the file."
    )


def _opened_path(path: Path) -> Opened:
    if not is_sealed(path):
        return opened_source(read(path), str(path))
    try:
        manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidFile(
            path / MANIFEST, f"it cannot be read as JSON ({error}). Seal the data again."
        ) from None
    found = opened_source(read(path / TRAINING), str(path))
    return found._replace(target=manifest.get("target"))


def _some_rows(source: Source, share: float) -> "Iterator[pa.RecordBatch]":
    start = 0
    for batch in source:
        kept = split_mask(start, batch.num_rows, 0, share)
        yield batch.take(np.flatnonzero(kept))
        start += batch.num_rows


def _arrow_of(data: Any) -> "pa.Table":
    """A frame or an array, column by column: names may repeat, types may be mixed."""
    import pyarrow as pa

    if is_sparse(data):
        raise InvalidInput(
            "A sparse array was given; look reads tables of columns that have names and types. "
            "Pass a data frame, or X.toarray() if it is small."
        )
    if library_of(data) == "pandas" and getattr(data, "ndim", 0) == 2:
        columns = [data.iloc[:, j] for j in range(data.shape[1])]  # by place: names may repeat
        return _table([_array(c) for c in columns], [str(name) for name in data.columns])
    if isinstance(data, np.ndarray | list | tuple):
        values = as_table(data).values  # type: ignore[attr-defined]  # an ArrayTable
        columns = [_array(values[:, j]) for j in range(values.shape[1])]
        return _table(columns, [str(j) for j in range(len(columns))])
    frame: pa.Table = as_table(data).frame.to_arrow()  # type: ignore[attr-defined]  # a FrameTable
    return frame


def _table(columns: list[Any], names: list[str]) -> "pa.Table":
    import pyarrow as pa

    return pa.Table.from_arrays(columns, names=names)


def _array(column: Any) -> Any:
    """A column as Arrow has it; objects of several types as what they print."""
    import pyarrow as pa

    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        known = [None if value is None or value != value else str(value) for value in column]
        return pa.array(known, pa.string())
