"""Columns that the user declares to be categories: codes of regions or of products, for instance.

Their values become text in a dictionary column, which no reader takes for numbers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, final

from likely.data.memory import TableSource
from likely.data.source import ColumnKind, Source

if TYPE_CHECKING:
    import pyarrow as pa

Rows = TypeVar("Rows", "pa.Table", "pa.RecordBatch")


def as_categories(rows: Rows, names: Sequence[str]) -> Rows:
    """The same rows, with these columns as categories; a whole number is written without a point.

    >>> import pyarrow as pa
    >>> as_categories(pa.table({"region": [1.0, 2.0, None]}), ["region"])["region"].to_pylist()
    ['1', '2', None]
    """
    for name in names:
        place = rows.schema.get_field_index(name)
        rows = rows.set_column(place, name, _category(rows.column(place)))
    return rows


def declared_categories(source: Source, names: Sequence[str]) -> Source:
    """The source with these columns as categories."""
    if not names:
        return source
    if isinstance(source, TableSource):
        return TableSource(as_categories(source.table, names))
    return _Categorised(source, tuple(names))


@final
@dataclass(frozen=True, eq=False)
class _Categorised(Source):
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

    def select(self, names: Sequence[str]) -> "_Categorised":
        return replace(self, source=self.source.select(names))


def _category(column: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        if pa.types.is_string(column.type.value_type):
            return column  # a category already, perhaps with an order
        column = column.cast(column.type.value_type)
    return column.cast(pa.string()).dictionary_encode()
