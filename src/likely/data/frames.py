"""Any table, read column by column: arrays, sparse arrays, data frames, record batches.

    numbers(j)   column j as floats; NaN is missing
    factor(j)    column j as codes of its distinct values; −1 is missing

To add a kind of table, write one class and name it in ``as_table``.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from likely._typing import Array, Matrix
from likely.data.categories import Factor, factor_of, is_missing
from likely.data.layouts.sparse import stores_twice
from likely.data.source import ColumnKind, Source, TableKinds, column_label, refuse_others
from likely.errors import InvalidInput

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK_ROWS = 4096  # columns are laid side by side in pieces that stay in cache


class Table(ABC):
    """The contract of a table in memory."""

    names: tuple[str, ...] | None
    kinds: tuple[ColumnKind, ...]
    n_rows: int

    @abstractmethod
    def numbers(self, j: int) -> Array: ...

    @abstractmethod
    def factor(self, j: int) -> Factor: ...

    @abstractmethod
    def matrix(self, columns: Sequence[int]) -> Matrix:
        """These columns as one matrix of numbers: the table's own where it has one."""

    def integers(self) -> Array | None:
        """The whole table as one array of integers in C order, if it is one already."""
        return None


@final
@dataclass(frozen=True, eq=False)
class ArrayTable(Table):
    """An array, (n, p), of numbers, Booleans, strings or objects."""

    values: Array
    names: None = None

    @property
    def n_rows(self) -> int:  # type: ignore[override]  # read-only here
        return int(self.values.shape[0])

    @cached_property
    def kinds(self) -> tuple[ColumnKind, ...]:  # type: ignore[override]
        p = self.values.shape[1]
        if self.values.dtype.kind == "O":
            return tuple(kind_of_objects(self.values[:, j]) for j in range(p))
        return (_KIND_OF_DTYPE.get(self.values.dtype.kind, "other"),) * p

    def numbers(self, j: int) -> Array:
        if self.values.dtype.kind == "O":
            return _floats_of_objects(self.values[:, j])
        return self.values[:, j]

    def factor(self, j: int) -> Factor:
        column = self.values[:, j]
        return _factor_of_python(column) if column.dtype.kind == "O" else factor_of(column)

    def matrix(self, columns: Sequence[int]) -> Array:
        whole = len(columns) == self.values.shape[1]
        if self.values.dtype.kind == "O":
            return side_by_side([self.numbers(j) for j in columns], self.n_rows, np.float64)
        values = _arithmetic(self.values)
        return values if whole else np.ascontiguousarray(values[:, list(columns)])

    def integers(self) -> Array | None:
        values = self.values
        if values.dtype.kind == "b":
            values = values.view(np.uint8)
        if values.dtype.kind not in "iu":
            return None
        return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))


@final
@dataclass(frozen=True, eq=False)
class SparseTable(Table):
    """A ``scipy.sparse`` array or matrix: all of it numbers."""

    values: Matrix
    names: None = None

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        return int(self.values.shape[0])

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:  # type: ignore[override]
        number: ColumnKind = "number"
        return (number,) * int(self.values.shape[1])

    def numbers(self, j: int) -> Array:
        return np.asarray(self.values[:, [j]].toarray()).ravel()

    def factor(self, j: int) -> Factor:
        raise InvalidInput(
            f"{column_label(None, j)} of a sparse table was to be read as categories, which are "
            "dense: a zero would be a category like any other. Pass X.toarray(), or choose a "
            "count model such as 'multinomial'."
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


@final
@dataclass(frozen=True, eq=False)
class FrameTable(Table):
    """A data frame of any library that narwhals knows."""

    frame: Any  # narwhals.DataFrame

    @cached_property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(str(name) for name in self.frame.columns)

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        return int(self.frame.shape[0])

    @cached_property
    def kinds(self) -> tuple[ColumnKind, ...]:  # type: ignore[override]
        return tuple(_kind_of_series(self._series(j)) for j in range(len(self.names)))

    def numbers(self, j: int) -> Array:
        series = self._series(j)
        native = series.to_native()
        if isinstance(getattr(native, "dtype", None), np.dtype) and native.dtype.kind in "fiu":
            return np.asarray(native)
        if _is_object(series):
            return _floats_of_objects(series.to_numpy())
        return floats_of_arrow(series.to_arrow())

    def factor(self, j: int) -> Factor:
        series = self._series(j)
        if _is_object(series):
            return _factor_of_python(series.to_numpy())
        return factor_of_arrow(series.to_arrow())

    def matrix(self, columns: Sequence[int]) -> Array:
        arrays = [self.numbers(j) for j in columns]
        single = bool(arrays) and all(a.dtype == np.float32 for a in arrays)
        return side_by_side(arrays, self.n_rows, np.float32 if single else np.float64)

    def _series(self, j: int) -> Any:
        return self.frame.get_column(self.frame.columns[j])


def as_table(table: object) -> Table:
    """Any table in memory, ready to be read by columns."""
    if isinstance(table, Table):
        return table
    if isinstance(table, np.ndarray | list | tuple):
        return ArrayTable(_two_dimensional(table))
    if is_sparse(table):
        return SparseTable(table)
    return FrameTable(_narwhals(table))


def kinds_of(table: object) -> TableKinds:
    """The names and kinds of the columns; one that is no feature (a date) is refused by name."""
    described = table if isinstance(table, Source) else as_table(table)
    kinds = TableKinds(described.names, described.kinds)
    refuse_others(kinds)
    return kinds


def library_of(table: object) -> str | None:
    """The data frame library a table belongs to ("pandas", "polars", "pyarrow"), or None."""
    if isinstance(table, np.ndarray | list | tuple) or is_sparse(table):
        return None
    return "pyarrow" if isinstance(table, Source) else type(table).__module__.partition(".")[0]


def frame_of(columns: "Mapping[str, Any] | pa.Table", library: str | None) -> Any:
    """A data frame of the library (see ``library_of``), where it is installed; else Arrow's table.

    ``columns`` are arrays by name, or an Arrow table.
    """
    import pyarrow as pa

    if library in ("pandas", "polars"):
        import narwhals as nw

        make: Any = nw.from_arrow if isinstance(columns, pa.Table) else nw.from_dict
        with suppress(ImportError):
            return make(columns, backend=library).to_native()
    if isinstance(columns, pa.Table):
        return columns
    return pa.table({name: pa.array(column, from_pandas=True) for name, column in columns.items()})


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


def kind_of_arrow(type_: Any) -> ColumnKind:
    """The kind of a column of an Arrow type."""
    import pyarrow.types as types

    if types.is_boolean(type_):
        return "boolean"
    if types.is_integer(type_) or types.is_floating(type_) or types.is_decimal(type_):
        return "number"
    if types.is_null(type_):
        return "number"  # nothing but missing values
    texts = (types.is_string, types.is_large_string, types.is_string_view, types.is_dictionary)
    return "category" if any(is_text(type_) for is_text in texts) else "other"


def kind_of_objects(column: Array) -> ColumnKind:
    """The kind of an array of Python objects: text in it makes it a category."""
    arrow = _arrow_of_objects(column)
    if arrow is not None:
        return kind_of_arrow(arrow.type)
    known = [value for value in column.tolist() if not is_missing(value)]
    if any(isinstance(value, str) for value in known):
        return "category"
    numbers = all(isinstance(value, bool | int | float | np.number | np.bool_) for value in known)
    return "number" if numbers else "other"


def floats_of_arrow(column: Any) -> Array:
    """An Arrow column of numbers or Booleans as floats; null is NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_boolean(column.type):
        column = pc.cast(column, pa.uint8())
    if not pa.types.is_floating(column.type):
        column = pc.cast(column, pa.float64(), safe=False)
    if isinstance(column, pa.ChunkedArray):
        return np.asarray(column.to_numpy())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def factor_of_arrow(column: Any) -> Factor:
    """An Arrow column as codes; text is encoded by Arrow's own hash table."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        if kind_of_arrow(column.type) != "category":
            return factor_of(_numpy_of_arrow(column))
        column = column.dictionary_encode()
    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # no chunk at all
            return Factor(np.empty(0, dtype=np.int32), np.empty(0, dtype=object))
    codes = column.indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
    values = column.dictionary.to_numpy(zero_copy_only=False)
    return _without_missing(Factor(codes, values))


def _without_missing(factor: Factor) -> Factor:
    """A dictionary may hold a null of its own; its code is −1."""
    if factor.values.dtype.kind != "O":
        return factor
    missing = np.array([is_missing(value) for value in factor.values.tolist()], dtype=bool)
    if not missing.any():
        return factor
    code = np.append(np.where(missing, -1, np.cumsum(~missing) - 1), -1).astype(np.int32)
    return Factor(code[factor.codes], factor.values[~missing])


def _numpy_of_arrow(column: Any) -> Array:
    """Integers and Booleans without nulls as they are, everything else as floats."""
    import pyarrow.types as types

    if column.null_count or not (types.is_integer(column.type) or types.is_boolean(column.type)):
        return floats_of_arrow(column)
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        return np.asarray(column.to_numpy())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _arrow_of_objects(column: Array) -> Any:
    """The objects as one Arrow array; None when they are of several types."""
    import pyarrow as pa

    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return None


def _factor_of_python(column: Array) -> Factor:
    arrow = _arrow_of_objects(column)
    return factor_of(column) if arrow is None else factor_of_arrow(arrow)


def _floats_of_objects(column: Array) -> Array:
    values = [np.nan if is_missing(value) else value for value in column.tolist()]
    return np.array(values, dtype=np.float64)


_KIND_OF_DTYPE: dict[str, ColumnKind] = {
    "f": "number",
    "i": "number",
    "u": "number",
    "b": "boolean",
    "U": "category",
}


def _arithmetic(values: Array) -> Array:
    """The array itself, unless its type cannot be computed with."""
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


def _is_object(series: Any) -> bool:
    import narwhals as nw

    return bool(series.dtype == nw.Object)


def _kind_of_series(series: Any) -> ColumnKind:
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_numeric():
        return "number"
    if dtype == nw.Boolean:
        return "boolean"
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return "category"
    if _is_object(series):
        return kind_of_objects(series.to_numpy())
    return kind_of_arrow(series.to_arrow().type)


def _narwhals(table: Any) -> Any:
    import narwhals as nw
    import pyarrow as pa

    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    try:
        return nw.from_native(table, eager_only=True)
    except TypeError:
        raise InvalidInput(
            f"A table is an array, a sparse array or a data frame; found {type(table).__name__}. "
            "Convert it, for instance with numpy.asarray."
        ) from None
    except nw.exceptions.DuplicateError as error:
        raise InvalidInput(
            f"The columns of a data frame must have different names ({error}). Rename one of them."
        ) from None
