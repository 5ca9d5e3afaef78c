"""Columns of Arrow and of Python objects: their kind, their floats, their codes.

Text is encoded by Arrow's own hash table; null, None, NaN and pandas' NA are missing.

Data frames of any library, by narwhals: what it is, and the kind of a column.
"""

from typing import Any

import numpy as np

from likely._typing import Array
from likely.data.categories import CodedValues, factor_of, is_missing
from likely.errors import InvalidInput
from likely.kinds import ColumnKind

KIND_OF_ID: dict[int, ColumnKind] = {}  # by the number of an Arrow type, as they are met


def kind_of_arrow(type_: Any) -> ColumnKind:
    """The kind of a column of an Arrow type; wide tables ask for the same few types."""
    kind = KIND_OF_ID.get(type_.id)
    if kind is None:
        kind = KIND_OF_ID[type_.id] = _kind_of_type(type_)
    return kind


def _kind_of_type(type_: Any) -> ColumnKind:
    import pyarrow.types as types

    if types.is_boolean(type_):
        return "boolean"
    if types.is_integer(type_) or types.is_floating(type_) or types.is_decimal(type_):
        return "number"
    if types.is_null(type_):
        return "number"  # nothing but missing values
    texts = (types.is_string, types.is_large_string, types.is_string_view, types.is_dictionary)
    if any(is_text(type_) for is_text in texts):
        return "category"
    return "date" if types.is_date(type_) or types.is_timestamp(type_) else "other"


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


def factor_of_arrow(column: Any) -> CodedValues:
    """An Arrow column as codes; text is encoded by Arrow's own hash table."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        if kind_of_arrow(column.type) != "category":
            return factor_of(_numpy_of_arrow(column))
        column = column.dictionary_encode()
    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # no chunk at all
            return CodedValues(np.empty(0, dtype=np.int32), np.empty(0, dtype=object))
    codes = column.indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
    values = column.dictionary.to_numpy(zero_copy_only=False)
    return _without_missing(CodedValues(codes, values))


def _without_missing(factor: CodedValues) -> CodedValues:
    """A dictionary may hold a null of its own; its code is −1."""
    if factor.values.dtype.kind != "O":
        return factor
    missing = np.array([is_missing(value) for value in factor.values.tolist()], dtype=bool)
    if not missing.any():
        return factor
    code = np.append(np.where(missing, -1, np.cumsum(~missing) - 1), -1).astype(np.int32)
    return CodedValues(code[factor.codes], factor.values[~missing])


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


def factor_of_objects(column: Array) -> CodedValues:
    arrow = _arrow_of_objects(column)
    return factor_of(column) if arrow is None else factor_of_arrow(arrow)


def floats_of_objects(column: Array) -> Array:
    values = [np.nan if is_missing(value) else value for value in column.tolist()]
    return np.array(values, dtype=np.float64)


def is_object(series: Any) -> bool:
    """Whether a column holds Python objects."""
    import narwhals as nw

    return bool(series.dtype == nw.Object)


def kind_of_series(series: Any) -> ColumnKind:
    """The kind of a column, by its type, or by its values where they are objects."""
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_numeric():
        return "number"
    if dtype == nw.Boolean:
        return "boolean"
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return "category"
    if is_object(series):
        return kind_of_objects(series.to_numpy())
    return kind_of_arrow(series.to_arrow().type)


def as_narwhals(table: Any) -> Any:
    """The frame of narwhals; a lazy frame, and anything else that is no table, is refused."""
    import narwhals as nw
    import pyarrow as pa

    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    try:
        return nw.from_native(table, eager_only=True)
    except TypeError:
        if isinstance(nw.from_native(table, pass_through=True), nw.LazyFrame):
            raise InvalidInput(
                "The table is a lazy frame, which holds no rows yet; rows are needed. Call its "
                "collect()."
            ) from None
        raise InvalidInput(
            f"A table is an array, a sparse array or a data frame; found {type(table).__name__}. "
            "Convert it, for instance with numpy.asarray."
        ) from None
    except nw.exceptions.DuplicateError as error:
        raise InvalidInput(
            f"Two columns of the table have the same name ({error}); names must differ. Rename one."
        ) from None
