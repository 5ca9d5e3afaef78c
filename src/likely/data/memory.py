"""A source as one table in memory, refused before the memory is spent; and a table as a source.

Folds, seals and searches take rows again and again, so they need them in memory; a fit of one
model, and a look, read a file in chunks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, final

from likely.data.arrow import plain_types
from likely.data.frames import as_table
from likely.data.source import ColumnKind, Source, as_categories, column_index
from likely.errors import InvalidInput

if TYPE_CHECKING:
    import pyarrow as pa

COPIES = 3  # of the table are held at a time: itself, the rows of a fold, and their design
KIBIBYTE = 2**10
GIGABYTE = 1e9
MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")  # version 2, as containers have it
CHUNK_ROWS = 65536


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
        for name in names:
            column_index(self.names, name)
        return TableSource(self.table.select(list(names)))

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
    return plain_types(pa.Table.from_batches(batches))


def free_memory() -> float:
    """Bytes that this process may still take; infinite where the system does not show it."""
    return min(_of_machine(), _of_group(), _of_process())


def _refuse_too_large(first: "pa.RecordBatch", n_rows: int) -> None:
    needed = first.nbytes / max(first.num_rows, 1) * n_rows
    free = free_memory()
    if COPIES * needed > free:
        raise InvalidInput(
            f"The table has {n_rows:,} rows, about {needed / GIGABYTE:.2g} GB in memory, and this "
            f"work takes {COPIES} times as much; {free / GIGABYTE:.2g} GB are free. Take fewer "
            "rows or columns, or train one model, which reads a file in chunks: likely train."
        )


def _of_machine() -> float:
    try:
        lines = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines())
        return float(lines["MemAvailable"].split()[0]) * KIBIBYTE
    except (OSError, KeyError, ValueError):
        return float("inf")


def _of_group() -> float:
    """Bytes that the container's limit leaves; pages of files are given back when needed."""
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
