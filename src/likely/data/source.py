"""A table that is read in chunks, and the names and kinds of its columns.

A kind comes from the types, never from the values, so that every block of a table
and every call of ``partial_fit`` agree about it.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, final

from likely.errors import InvalidInput, UnknownName
from likely.kinds import FEATURE_KINDS, ColumnKind

if TYPE_CHECKING:
    import pyarrow as pa


Rows = TypeVar("Rows", "pa.Table", "pa.RecordBatch")


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
        """All rows, with these columns, in this order."""

    def drop(self, names: Sequence[str]) -> "Source":
        """All rows, without these columns."""
        for name in names:
            column_index(self.names, name)
        return self.select([name for name in self.names if name not in set(names)])

    def with_text(self, names: Sequence[str]) -> "Source":
        """All rows, with these columns as they are written, in a file of text: NA is text, too.

        A file with types of its own keeps them.
        """
        return self

    def with_categories(self, names: Sequence[str]) -> "Source":
        """All rows, with these columns as categories: text in a dictionary, never numbers.

        The user declares them: codes of regions or of products, for instance.
        """
        return _CategorisedSource(self, tuple(names)) if names else self


@final
@dataclass(frozen=True, eq=False)
class _CategorisedSource(Source):
    """A source of which some columns are made categories as they are read."""

    source: Source
    categories: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]  # read-only here
        return self.source.names

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:  # type: ignore[override]
        pairs = zip(self.source.names, self.source.kinds, strict=True)
        return tuple("category" if name in self.categories else kind for name, kind in pairs)

    @property
    def n_rows(self) -> int | None:  # type: ignore[override]
        return self.source.n_rows

    @property
    def nbytes(self) -> int | None:  # type: ignore[override]
        return self.source.nbytes

    def __iter__(self) -> "Iterator[pa.RecordBatch]":
        present = [name for name in self.categories if name in self.names]
        for batch in self.source:
            yield as_categories(batch, present)

    def select(self, names: Sequence[str]) -> "_CategorisedSource":
        return replace(self, source=self.source.select(names))


def as_categories(rows: Rows, names: Sequence[str]) -> Rows:
    """The rows with these columns as categories; a whole number is written without a point.

    >>> import pyarrow as pa
    >>> as_categories(pa.table({"region": [1.0, 2.0, None]}), ["region"])["region"].to_pylist()
    ['1', '2', None]
    """
    for name in names:
        place = rows.schema.get_field_index(name)
        rows = rows.set_column(place, name, _category(rows.column(place)))
    return rows


def _category(column: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        if pa.types.is_string(column.type.value_type):
            return column  # a category already, perhaps with an order
        column = column.cast(column.type.value_type)
    return column.cast(pa.string()).dictionary_encode()


def column_index(names: Sequence[str], name: str) -> int:
    """The position of a column; if it does not exist, the nearest name is suggested."""
    try:
        return names.index(name)
    except ValueError:
        raise UnknownName("column", name, names) from None


def refuse_others(table: TableKinds) -> None:
    """Refuse dates, lists and nested values, which cannot be features."""
    if FEATURE_KINDS.issuperset(table.kinds):
        return
    for position, kind in enumerate(table.kinds):
        if kind not in FEATURE_KINDS:
            raise InvalidInput(
                f"{column_label(table.names, position)} holds neither numbers, Booleans nor text. "
                "Features are one of these; convert the column, or drop it."
            )


def column_label(names: Sequence[str] | None, position: int) -> str:
    """A column in messages: its name, else its index from 0."""
    return f"Column {position}" if names is None else f"Column {names[position]!r}"
