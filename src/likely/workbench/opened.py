"""Any data as one Arrow table to look at: a frame, an array, a source, a file, a sealed folder.

Of a file that is too large for memory, the rows are taken that a hash of their index chooses.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from likely.data.arrow import arrow_table_of, plain_types
from likely.data.formats.registry import read
from likely.data.frames import library_of
from likely.data.source import Source
from likely.data.split import split_mask
from likely.errors import InvalidFile, InvalidInput
from likely.kinds import TargetKind

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
    target: str | None = None  # what a sealed folder remembers, and so below
    kind: TargetKind | None = None
    order: tuple[Any, ...] | None = None


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
    table = plain_types(data if isinstance(data, pa.Table) else arrow_table_of(data))
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
    rows = source if share >= 1 else _some_rows(source, share)
    table = plain_types(pa.Table.from_batches(list(rows)))
    return Opened(table, table.num_rows if source.n_rows is None else source.n_rows, label)


def is_sealed(path: Path) -> bool:
    """Whether it is a folder that ``seal`` has written."""
    return (path / MANIFEST).is_file()


def kind_and_order(
    manifest: Mapping[str, Any],
    target: str,
    *,
    kind: TargetKind | None = None,
    order: Sequence[Any] | None = None,
) -> tuple[TargetKind | None, Sequence[Any] | None]:
    """As given; else as a seal of that target remembers, which also knows the order of a kind."""
    if manifest.get("target") != target:
        return kind, order
    if order is None and kind in (None, "ordinal"):
        order = manifest.get("order")
    if kind is None and order is None:
        kind = manifest.get("kind")
    return kind, order


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
    order = manifest.get("order")
    return found._replace(
        target=manifest.get("target"),
        kind=manifest.get("kind"),
        order=None if order is None else tuple(order),
    )


def _some_rows(source: Source, share: float) -> "Iterator[pa.RecordBatch]":
    start = 0
    for batch in source:
        kept = split_mask(start, batch.num_rows, 0, share)
        yield batch.take(np.flatnonzero(kept))
        start += batch.num_rows
