"""A table that is read in chunks, and the names and kinds of its columns.

A kind comes from the types, never from the values, so that every block of a table
and every call of ``partial_fit`` agree about it.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, final

from likely.caching import cached_property
from likely.errors import InvalidInput, UnknownName
from likely.kinds import FEATURE_KINDS, ColumnKind

if TYPE_CHECKING:
    import pyarrow as pa


Rows = TypeVar("Rows", "pa.Table", "pa.RecordBatch")


class HasKinds(Protocol):
    """A table or a source of rows, whose columns have a kind each."""

    @property
    def names(self) -> tuple[str, ...] | None: ...

    @property
    def kinds(self) -> tuple[ColumnKind, ...]: ...


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
    notes: tuple[str, ...] = ()  # how columns of text were read, and what leaves a question

    @abstractmethod
    def __iter__(self) -> "Iterator[pa.RecordBatch]": ...

    @abstractmethod
    def select(self, names: Sequence[str]) -> "Source":
        """All rows, with these columns, in this order."""

    def to_frame(self, library: str | None = None) -> Any:
        """All rows as a frame, ``"pandas"`` or ``"polars"``; None is an Arrow table."""
        from likely.data.arrow import in_one_table
        from likely.data.frames import frame_of

        return frame_of(in_one_table(self), library)

    def drop(self, names: Sequence[str]) -> "Source":
        """All rows, without these columns."""
        column_indices(self.names, names)
        gone = set(names)
        return self.select([name for name in self.names if name not in gone])

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

    def with_known(self, name: str) -> "Source":
        """The rows that have a value in this column."""
        return _KnownSource(self, name)

    def renamed(self, old: str, new: str) -> "Source":
        """All rows, with another name for a column."""
        return _RenamedSource(self, old, new)


@dataclass(frozen=True, eq=False)
class SourceView(Source):
    """Another source, of which the rows or the columns are changed as they are read."""

    source: Source

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]  # read-only here
        return self.source.names

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:  # type: ignore[override]
        return self.source.kinds

    @property
    def n_rows(self) -> int | None:  # type: ignore[override]
        return self.source.n_rows

    @property
    def nbytes(self) -> int | None:  # type: ignore[override]
        return self.source.nbytes


@final
@dataclass(frozen=True, eq=False)
class _KnownSource(SourceView):
    """The rows of a source that have a value in one column."""

    column: str

    @cached_property
    def n_rows(self) -> int:  # type: ignore[override]
        return sum(batch.num_rows for batch in self.select([self.column]))

    def __iter__(self) -> "Iterator[pa.RecordBatch]":
        for batch in self.source:
            yield batch.filter(are_known(batch.column(self.column)))

    def select(self, names: Sequence[str]) -> Source:
        """All rows that have a value, with these columns."""
        if self.column in names:
            return replace(self, source=self.source.select(names))
        whole = replace(self, source=self.source.select([*names, self.column]))
        return _SelectedSource(whole, tuple(names))


@final
@dataclass(frozen=True, eq=False)
class _SelectedSource(SourceView):
    """Some columns of a source that needs others to choose its rows."""

    columns: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.columns

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:  # type: ignore[override]
        places = column_indices(self.source.names, self.names)
        return tuple(self.source.kinds[place] for place in places)

    def __iter__(self) -> "Iterator[pa.RecordBatch]":
        for batch in self.source:
            yield batch.select(list(self.names))

    def select(self, names: Sequence[str]) -> "_SelectedSource":
        column_indices(self.names, names)
        return replace(self, columns=tuple(names))


def are_known(column: Any) -> Any:
    """Which cells of an Arrow column have a value; NaN is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.invert(pc.is_null(column, nan_is_null=pa.types.is_floating(column.type)))


@final
@dataclass(frozen=True, eq=False)
class _CategorisedSource(SourceView):
    """A source of which some columns are made categories as they are read."""

    categories: tuple[str, ...]

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:  # type: ignore[override]
        pairs = zip(self.source.names, self.source.kinds, strict=True)
        return tuple("category" if name in self.categories else kind for name, kind in pairs)

    def __iter__(self) -> "Iterator[pa.RecordBatch]":
        present = [name for name in self.categories if name in self.names]
        for batch in self.source:
            yield as_categories(batch, present)

    def select(self, names: Sequence[str]) -> "_CategorisedSource":
        return replace(self, source=self.source.select(names))


@final
@dataclass(frozen=True, eq=False)
class _RenamedSource(SourceView):
    """A source of which one column has another name."""

    old: str
    new: str

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(self.new if name == self.old else name for name in self.source.names)

    def __iter__(self) -> "Iterator[pa.RecordBatch]":
        for batch in self.source:
            yield batch.rename_columns(list(self.names))

    def select(self, names: Sequence[str]) -> "_RenamedSource":
        own = [self.old if name == self.new else name for name in names]
        return replace(self, source=self.source.select(own))


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


def as_features(rows: Rows, names: Sequence[str]) -> Rows:
    """The rows with these columns as measurements or categories, whatever they look like.

    >>> import pyarrow as pa
    >>> as_features(pa.table({"id": [1, 2]}), ["id"])["id"].to_pylist()
    [1.0, 2.0]
    """
    import pyarrow as pa

    here = set(rows.schema.names)
    present = [name for name in names if name in here]
    for name in present:
        place = rows.schema.get_field_index(name)
        column = rows.column(place)
        if pa.types.is_integer(column.type):
            rows = rows.set_column(place, name, column.cast(pa.float64(), safe=False))
    types = {name: rows.schema.field(name).type for name in present}
    text = (pa.types.is_string, pa.types.is_large_string)
    texts = [name for name, type_ in types.items() if any(is_one(type_) for is_one in text)]
    return as_categories(rows, texts)


TEXT_FIELD = {b"likely": b"text"}  # metadata of an Arrow column whose words are counted


def as_texts(rows: Rows, names: Sequence[str]) -> Rows:
    """The rows with these columns declared to be text, a missing type as text too.

    >>> import pyarrow as pa
    >>> found = as_texts(pa.table({"title": ["a b", "c"], "x": [1, 2]}), ["title"])
    >>> [is_text_field(field) for field in found.schema]
    [True, False]
    """
    import pyarrow as pa

    for name in names:
        place = rows.schema.get_field_index(name)
        if place < 0:
            continue
        column = rows.column(place)
        if pa.types.is_dictionary(column.type) or not _is_string(column.type):
            column = column.cast(pa.string())
        field = pa.field(name, column.type, metadata=TEXT_FIELD)
        rows = rows.set_column(place, field, column)
    return rows


def is_text_field(field: Any) -> bool:
    """Whether an Arrow field was declared to be text by ``as_texts``."""
    return field.metadata is not None and TEXT_FIELD.items() <= field.metadata.items()


def _is_string(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


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


def column_indices(names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """The positions of several columns, in one pass: each name must exist."""
    place = {name: j for j, name in reversed(list(enumerate(names)))}  # the first of equal names
    return [place[name] if name in place else column_index(names, name) for name in wanted]


def kinds_of(table: HasKinds) -> TableKinds:
    """The names and kinds of the columns; dates, lists and nested values cannot be features."""
    known = FEATURE_KINDS.issuperset(table.kinds)  # there may be a hundred thousand
    for position, kind in () if known else enumerate(table.kinds):
        if kind not in FEATURE_KINDS:
            raise InvalidInput(
                f"{column_label(table.names, position)} holds neither numbers, Booleans nor text. "
                "Features are one of these; convert the column, or drop it. Prepared(model) reads "
                "dates."
            )
    return TableKinds(table.names, table.kinds)


def column_label(names: Sequence[str] | None, position: int) -> str:
    """A column in messages: its name, else its index from 0."""
    return f"Column {position}" if names is None else f"Column {names[position]!r}"
