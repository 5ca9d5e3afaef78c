"""A table that is read in chunks, and what any table says about its columns.

A kind comes from the types, never from the values, so that every block of a table
and every call of ``partial_fit`` agree about it.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from likely.errors import InvalidInput, UnknownName
from likely.kinds import FEATURE_KINDS, ColumnKind

if TYPE_CHECKING:
    import pyarrow as pa


class TableKinds(NamedTuple):
    """The columns of a table."""

    names: tuple[str, ...] | None  # None for a bare array
    kinds: tuple[ColumnKind, ...]


class Source(ABC):
    """The contract: each iteration gives the same rows in the same order, in chunks."""

    names: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
    n_rows: int | None  # None when only a pass over the data would tell
    nbytes: int | None

    @abstractmethod
    def __iter__(self) -> "Iterator[pa.RecordBatch]": ...

    @abstractmethod
    def select(self, names: Sequence[str]) -> "Source":
        """The same rows, with these columns, in this order."""

    def drop(self, names: Sequence[str]) -> "Source":
        """The same rows, without these columns."""
        for name in names:
            column_index(self.names, name)
        return self.select([name for name in self.names if name not in set(names)])


def column_index(names: Sequence[str], name: str) -> int:
    """Where the column is; the nearest name is suggested when there is none."""
    try:
        return names.index(name)
    except ValueError:
        raise UnknownName("column", name, names) from None


def refuse_others(table: TableKinds) -> None:
    """Dates, lists and nested values are no features."""
    if FEATURE_KINDS.issuperset(table.kinds):
        return
    for position, kind in enumerate(table.kinds):
        if kind not in FEATURE_KINDS:
            raise InvalidInput(
                f"{column_label(table.names, position)} holds neither numbers, Booleans nor text. "
                "Features are one of these; convert the column, or drop it."
            )


def column_label(names: Sequence[str] | None, position: int) -> str:
    """How messages speak of a column: by name, else by its index from 0."""
    return f"Column {position}" if names is None else f"Column {names[position]!r}"
