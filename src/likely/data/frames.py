"""Any table, read column by column: arrays, sparse arrays, data frames, record batches.

    numbers(j)   column j as floats; NaN is missing
    factor(j)    column j as codes of its distinct values; −1 is missing

To add a kind of table, write one class and name it in ``as_table``.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np

from likely._typing import Array, Matrix
from likely.caching import cached_property
from likely.data.arrow_columns import (
    as_narwhals,
    factor_of_arrow,
    factor_of_objects,
    floats_of_arrow,
    floats_of_objects,
    is_object,
    kind_of_arrow,
    kind_of_objects,
    kind_of_series,
)
from likely.data.categories import CodedValues, categories_of, factor_of
from likely.data.layouts.base import stores_twice
from likely.data.source import Source, column_label, is_text_field
from likely.errors import InvalidInput
from likely.kinds import ColumnKind

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK_ROWS = 4096  # columns are laid side by side in pieces that stay in cache


class InMemoryTable(ABC):
    """The contract of a table in memory."""

    names: tuple[str, ...] | None
    kinds: tuple[ColumnKind, ...]
    n_rows: int
    native: Any  # the array, the sparse array or the frame that it reads
    nbytes: int  # the size of the data, or a guess at eight bytes a cell

    @abstractmethod
    def numbers(self, j: int) -> Array: ...

    @abstractmethod
    def factor(self, j: int) -> CodedValues: ...

    @abstractmethod
    def matrix(self, columns: Sequence[int]) -> Matrix:
        """These columns as one matrix of numbers: the table's own where it has one."""

    @abstractmethod
    def take(self, rows: Array) -> Self:
        """The rows at these indices."""

    def integers(self) -> Array | None:
        """The whole table as one array of integers in C order, if it is one already."""
        return None

    def order(self, j: int) -> list[Any] | None:
        """The categories of column j in the order that its type gives them; None without one."""
        return None


@final
@dataclass(frozen=True, eq=False)
class ArrayTable(InMemoryTable):
    """An array, (n, p), of numbers, Booleans, strings or objects."""

    values: Array
    names: None = None

    @property
    def n_rows(self) -> int:  # type: ignore[override]  # read-only here
        return int(self.values.shape[0])

    @property
    def native(self) -> Array:
        return self.values

    @property
    def nbytes(self) -> int:  # type: ignore[override]
        return int(self.values.nbytes)

    @cached_property
    def kinds(self) -> tuple[ColumnKind, ...]:  # type: ignore[override]
        p = self.values.shape[1]
        if self.values.dtype.kind == "O":
            return tuple(kind_of_objects(self.values[:, j]) for j in range(p))
        return (_KIND_OF_DTYPE.get(self.values.dtype.kind, "other"),) * p

    def numbers(self, j: int) -> Array:
        if self.values.dtype.kind == "O":
            return floats_of_objects(self.values[:, j])
        return self.values[:, j]

    def factor(self, j: int) -> CodedValues:
        column = self.values[:, j]
        return factor_of_objects(column) if column.dtype.kind == "O" else factor_of(column)

    def matrix(self, columns: Sequence[int]) -> Array:
        whole = len(columns) == self.values.shape[1]
        if self.values.dtype.kind == "O":
            return side_by_side([self.numbers(j) for j in columns], self.n_rows, np.float64)
        values = _arithmetic(self.values)
        return values if whole else np.ascontiguousarray(values[:, list(columns)])

    def take(self, rows: Array) -> Self:
        return type(self)(self.values[rows])

    def integers(self) -> Array | None:
        values = self.values
        if values.dtype.kind == "b":
            values = values.view(np.uint8)
        if values.dtype.kind not in "iu":
            return None
        return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))


@final
@dataclass(frozen=True, eq=False)
class SparseTable(InMemoryTable):
    """A ``scipy.sparse`` array or matrix: all of it numbers."""

    values: Matrix
    names: None = None

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        return int(self.values.shape[0])

    @property
    def native(self) -> Matrix:
        return self.values

    @property
    def nbytes(self) -> int:  # type: ignore[override]
        return int(self.values.data.nbytes + self.values.indices.nbytes)  # CSR, as it is checked

    @cached_property
    def kinds(self) -> tuple[ColumnKind, ...]:  # type: ignore[override]
        number: ColumnKind = "number"
        return (number,) * int(self.values.shape[1])

    def numbers(self, j: int) -> Array:
        return np.asarray(self.values[:, [j]].toarray()).ravel()

    def factor(self, j: int) -> CodedValues:
        raise InvalidInput(
            f"{column_label(None, j)} of a sparse table was declared categorical, which needs "
            "dense columns: a zero would be a category like any other. Pass X.toarray(), or choose "
            "a count model such as 'multinomial'."
        )

    def matrix(self, columns: Sequence[int]) -> Matrix:
        from scipy.sparse import csr_array

        values = csr_array(self.values)
        if len(columns) < values.shape[1]:
            values = values[:, list(columns)]
        if not values.has_canonical_format and stores_twice(values):
            values = values.copy()
            values.sum_duplicates()  # duplicates of a cell stand for their sum
        return values

    def take(self, rows: Array) -> Self:
        return type(self)(self.values[rows])


@final
@dataclass(frozen=True, eq=False)
class FrameTable(InMemoryTable):
    """A data frame of any library that narwhals supports."""

    frame: Any  # narwhals.DataFrame

    @cached_property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(str(name) for name in self.frame.columns)

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        return int(self.frame.shape[0])

    @property
    def native(self) -> Any:
        return self.frame.to_native()

    @property
    def nbytes(self) -> int:  # type: ignore[override]
        return 8 * self.n_rows * len(self.names)

    @cached_property
    def kinds(self) -> tuple[ColumnKind, ...]:  # type: ignore[override]
        if self._arrow is not None:
            return tuple(map(kind_of_arrow, self._arrow.schema.types))
        return tuple(kind_of_series(self.series(j)) for j in range(len(self.names)))

    def numbers(self, j: int) -> Array:
        if self._arrow is not None:
            return floats_of_arrow(self._arrow.column(j))
        series = self.series(j)
        native = series.to_native()
        if isinstance(getattr(native, "dtype", None), np.dtype) and native.dtype.kind in "fiu":
            return np.asarray(native)
        if is_object(series):
            return floats_of_objects(series.to_numpy())
        return floats_of_arrow(series.to_arrow())

    def factor(self, j: int) -> CodedValues:
        series = self.series(j)
        if is_object(series):
            return factor_of_objects(series.to_numpy())
        return factor_of_arrow(series.to_arrow())

    def matrix(self, columns: Sequence[int]) -> Array:
        arrays = [self.numbers(j) for j in columns]
        single = bool(arrays) and all(a.dtype == np.float32 for a in arrays)
        return side_by_side(arrays, self.n_rows, np.float32 if single else np.float64)

    def take(self, rows: Array) -> Self:
        return type(self)(self.frame[rows])

    def order(self, j: int) -> list[Any] | None:
        """Those of a pandas categorical, of an Enum of polars, of an ordered dictionary of Arrow.

        Polars' Categorical has none: its categories are numbered as they were first seen.
        """
        import narwhals as nw

        series = self.series(j)
        if series.dtype not in (nw.Categorical, nw.Enum):
            return None
        pandas = library_of(self.native) == "pandas"  # patsy and R go by its order, ordered or not
        return categories_of(series) if pandas or nw.is_ordered_categorical(series) else None

    def is_text(self, j: int) -> bool:
        """Whether column j of an Arrow table was declared to be text."""
        return self._arrow is not None and is_text_field(self._arrow.schema.field(j))

    def is_declared(self, j: int) -> bool:
        """Whether column j has the type of categories, or of floats."""
        if self._arrow is not None:
            import pyarrow.types as types

            type_ = self._arrow.column(j).type
            return types.is_dictionary(type_) or types.is_floating(type_)
        import narwhals as nw

        dtype = self.series(j).dtype
        return dtype in (nw.Categorical, nw.Enum) or dtype.is_float()

    def series(self, j: int) -> Any:
        """Column j as a series of narwhals."""
        return self._columns[j]

    @cached_property
    def _arrow(self) -> "pa.Table | None":
        """The table of Arrow, where it is one: a series of narwhals costs more than a column."""
        import pyarrow as pa

        return self.native if isinstance(self.native, pa.Table) else None

    @cached_property
    def _columns(self) -> list[Any]:
        """All series, in one pass: a search by name for each would go through all names."""
        return list(self.frame.iter_columns())


def as_table(table: object) -> InMemoryTable:
    """Any table in memory, ready to be read by columns."""
    if isinstance(table, InMemoryTable):
        return table
    if isinstance(table, np.ndarray | list | tuple):
        return ArrayTable(_two_dimensional(table))
    if is_sparse(table):
        return SparseTable(table)
    return FrameTable(as_narwhals(table))


def library_of(table: object) -> str | None:
    """The data frame library a table belongs to ("pandas", "polars", "pyarrow"), or None."""
    if is_array(table):
        return None
    return "pyarrow" if isinstance(table, Source) else type(table).__module__.partition(".")[0]


def index_of(table: object) -> Any:
    """The index of the rows of a pandas frame; None for any other table."""
    return table.index if library_of(table) == "pandas" else None  # type: ignore[attr-defined]


def frame_of(
    columns: "Mapping[str, Any] | pa.Table", library: str | None, index: Any = None
) -> Any:
    """A data frame of the library (see ``library_of``), where it is installed; else Arrow's table.

    The rule of every answer of ``likely`` that is a table: pandas in, pandas out; polars in, polars
    out; Arrow for files, arrays, lists and names.  A result keeps the ``library`` of what it was
    made from, and its ``to_frame(library)`` overrides it.

    ``columns`` are arrays by name, or an Arrow table; ``index`` is that of a pandas frame.
    """
    import pyarrow as pa

    if library in ("pandas", "polars"):
        import narwhals as nw

        make: Any = nw.from_arrow if isinstance(columns, pa.Table) else nw.from_dict
        with suppress(ImportError):
            frame = make(columns, backend=library).to_native()
            if library == "pandas" and index is not None:
                frame.index = index
            return frame
    if isinstance(columns, pa.Table):
        return columns
    return pa.table({name: pa.array(column, from_pandas=True) for name, column in columns.items()})


def is_array(table: object) -> bool:
    """Whether it is an array, dense or sparse, or a list of rows."""
    return isinstance(table, np.ndarray | list | tuple) or is_sparse(table)


def is_sparse(table: object) -> bool:
    """Whether it is a ``scipy.sparse`` object, without importing scipy."""
    return type(table).__module__.startswith("scipy.sparse")


def side_by_side(columns: Sequence[Array], n_rows: int, dtype: Any) -> Array:
    """Columns as one array in C order."""
    out = np.empty((n_rows, len(columns)), dtype=dtype)
    for start in range(0, n_rows, CHUNK_ROWS):
        stop = start + CHUNK_ROWS
        for j, column in enumerate(columns):
            out[start:stop, j] = column[start:stop]
    return out


_NUMBERS: dict[str, ColumnKind] = dict.fromkeys("fiu", "number")
_KIND_OF_DTYPE = _NUMBERS | {"b": "boolean", "U": "category", "M": "date"}


def _arithmetic(values: Array) -> Array:
    """The array itself, unless its type is not supported."""
    if values.dtype.kind == "b":
        return values.view(np.uint8)  # Booleans do not subtract
    if values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8):
        return values.astype(np.float32 if values.dtype.itemsize == 2 else np.float64)
    return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


def _two_dimensional(table: Any) -> Array:
    values = np.asarray(table)
    if values.dtype.kind in "US" and not isinstance(table, np.ndarray):
        values = np.array(table, dtype=object)  # numbers among strings stay numbers
    if values.ndim != 2:
        raise InvalidInput(
            f"A table has rows and columns; this array has {values.ndim} dimension(s), shape "
            f"{values.shape}. Reshape your data: X.reshape(-1, 1) for one column."
        )
    return values
