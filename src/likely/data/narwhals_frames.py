"""Data frames of any library, by narwhals: what it is, and the kind of a column."""

from typing import Any

from likely.data.arrow_columns import kind_of_arrow, kind_of_objects
from likely.errors import InvalidInput
from likely.kinds import ColumnKind


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
