"""The distinct values of a column, and their codes.

    categories(A ∪ B) = categories(A) ∪ categories(B)
    code(x) = the position of x among the sorted categories; −1 if it is not among them

Values are compared as Python compares them: 1 is 1.0, and True where a column has Booleans and
numbers, which is then a column of numbers.  Categories are sorted
arrays, int64, float64 or bool where one of these can hold them all, else objects
sorted by kind (Booleans, numbers, text, then others by type) and by value.
"""

from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array, Codes
from likely.errors import InvalidInput

SMALL_RANGE = 2**16  # integers within such a range are counted, not sorted
FOLDED_BYTES = 4096  # of rows that are joined: they stay in the first-level cache
CHUNK_BYTES = 2**20  # of an array that is read once for several answers: it stays in cache


class CodedValues(NamedTuple):
    """A column as codes of its distinct values."""

    codes: Codes  # (n,); −1 is missing
    values: Array  # distinct, in any order; some may be unused


def factor_of(column: Array) -> CodedValues:
    """An array of numbers, Booleans or objects as codes; NaN and None are missing."""
    if column.dtype.kind == "O":
        return _factor_of_objects(column)
    if column.dtype.kind in "US":
        values, codes = np.unique(column, return_inverse=True)
        return CodedValues(codes.astype(np.int32), values.astype(object))
    values = distinct(column)
    return CodedValues(codes_in(column, values), values)


def distinct(column: Array) -> Array:
    """The sorted distinct values of an array of numbers or Booleans; NaN is not one."""
    if column.dtype.kind == "b":
        return np.array([value for value in (False, True) if (column == value).any()], dtype=bool)
    if column.dtype.kind == "f":
        column = column[~np.isnan(column)]
        whole = _as_integers(column)
        return np.unique(column).astype(float) if whole is None else distinct(whole).astype(float)
    column = column.astype(np.int64, copy=False)
    if not column.size or int(column.max()) - int(column.min()) >= SMALL_RANGE:
        return np.unique(column)
    low = int(column.min())
    present = np.zeros(int(column.max()) - low + 1, dtype=bool)
    present[column - low] = True
    return np.flatnonzero(present) + low


def distinct_by_column(X: Array) -> tuple[Array, ...]:
    """``distinct`` of each column of an array of integers, in little more than one pass.

    The ranges are found first; a column is finished as soon as every value within its
    range has been seen, which a few thousand rows usually show.
    """
    if not X.size:
        return (np.empty(0, dtype=np.int64),) * X.shape[1]
    low, high = _ranges(X)
    if X.dtype.kind == "u" and int(high.max()) > np.iinfo(np.int64).max:
        raise InvalidInput(
            f"Column {int(high.argmax())} holds whole numbers beyond 2⁶³, such as {high.max()}; "
            "smaller ones were expected. Read the column as text."
        )
    return tuple(_distinct_within(X[:, j], int(low[j]), int(high[j])) for j in range(X.shape[1]))


def _ranges(X: Array) -> tuple[Array, Array]:
    """The least and the greatest value of each column of an array in C order.

    Several rows are joined, because reductions are slow over short rows.
    """
    p = X.shape[1]
    folded = max(1, FOLDED_BYTES // max(1, X[:1].nbytes))
    whole = X.shape[0] - X.shape[0] % folded
    wide = X[:whole].reshape(-1, folded * p)
    lows, highs = [X[whole:]] if whole < X.shape[0] else [], []
    highs.extend(lows)
    rows = max(1, CHUNK_BYTES // max(1, wide.itemsize * folded * p))
    for start in range(0, wide.shape[0], rows):
        chunk = wide[start : start + rows]
        lows.append(chunk.min(axis=0).reshape(folded, p))
        highs.append(chunk.max(axis=0).reshape(folded, p))
    return np.vstack(lows).min(axis=0), np.vstack(highs).max(axis=0)


def _distinct_within(column: Array, low: int, high: int) -> Array:
    if high - low >= SMALL_RANGE:
        return np.unique(column).astype(np.int64)
    present = np.zeros(high - low + 1, dtype=bool)
    rows = 4096
    start = 0
    while start < column.size and not present.all():
        present[column[start : start + rows].astype(np.int64) - low] = True
        start, rows = start + rows, 2 * rows
    return np.flatnonzero(present) + low


def distinct_of_factor(factor: CodedValues) -> Array:
    """The sorted distinct values that occur; a dictionary may have more."""
    used = distinct(factor.codes)
    return sort_values(factor.values[used[used >= 0]])


def codes_in(column: Array, categories: Array) -> Codes:
    """The position of each number or Boolean among the categories; −1 if it is not among them."""
    if categories.dtype.kind == "O" or not categories.size:
        return _codes_by_lookup(column.tolist(), categories)
    known = _as_small_integers(categories)
    if known is not None and column.dtype.kind in "biu":
        return _codes_by_table(column, known)
    position = np.minimum(np.searchsorted(categories, column), categories.size - 1)
    return np.where(categories[position] == column, position, -1).astype(np.int32)


def codes_of_factor(factor: CodedValues, categories: Array) -> Codes:
    """The position of each value among the categories; each distinct value is looked up once."""
    if factor.values.dtype.kind == "O" or categories.dtype.kind == "O":
        position = _codes_by_lookup(factor.values.tolist(), categories)
    else:
        position = codes_in(factor.values, categories)
    return np.append(position, np.int32(-1))[factor.codes]


def union(a: Array, b: Array) -> Array:
    """The sorted union of both."""
    if not a.size or not b.size:
        return a if a.size else b
    if a.dtype.kind == "O" or b.dtype.kind == "O":
        return sort_values(_objects([*a.tolist(), *b.tolist()]))
    if (a.dtype.kind == "b") != (b.dtype.kind == "b"):
        a, b = (
            values.astype(np.int64) if values.dtype.kind == "b" else values for values in (a, b)
        )
    return np.union1d(a, b)


def sort_values(values: Array) -> Array:
    """Distinct values in the order of categories, in the narrowest array that holds them."""
    if values.dtype.kind != "O":
        values = np.unique(values)
        return values.astype(_CATEGORY_DTYPE.get(values.dtype.kind, values.dtype), copy=False)
    given = values.tolist()
    kinds = {_order(value)[0] for value in given}
    if "number" in kinds:
        given = [int(value) if _order(value)[0] == "boolean" else value for value in given]
        kinds.discard("boolean")
    try:
        unique = sorted(dict.fromkeys(given), key=_order)
    except TypeError:  # intervals, lists: they are no keys
        raise InvalidInput(
            f"A category is {given[0]!r:.60}; text, a number or a Boolean was expected. Convert "
            "the column, as by astype(str)."
        ) from None
    if kinds == {"boolean"}:
        return np.array(unique, dtype=bool)
    if kinds == {"number"}:
        integers = all(isinstance(value, int | np.integer) for value in unique)
        return np.array(unique, dtype=np.int64 if integers else np.float64)
    return _objects(unique)


def is_missing(value: object) -> bool:
    """None, NaN, and the missing marks of data frames."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(value != value)


def ordered_categories(column: Any) -> list[Any] | None:
    """The categories of an ordered categorical, in their order; None for any other column."""
    import narwhals.stable.v2 as nw

    if type(column).__module__.startswith("pandas") and type(column).__name__ == "Categorical":
        return list(column.categories) if column.ordered else None
    if not nw.dependencies.is_into_series(column):
        return None
    series = nw.from_native(column, series_only=True)
    return categories_of(series) if nw.is_ordered_categorical(series) else None


def categories_of(series: Any) -> list[Any]:
    """The categories of a categorical column of narwhals, in the order of its type.

    Each library is asked itself: narwhals has the values as they were first seen.
    """
    native = series.to_native()
    library = type(native).__module__.partition(".")[0]
    if library == "polars":
        return list(native.dtype.categories)
    if library == "pandas":
        return list(native.cat.categories)
    import narwhals.stable.v2 as nw

    stable = nw.from_native(native, series_only=True)
    return list(stable.cat.get_categories().to_list())


_CATEGORY_DTYPE = {"i": np.int64, "u": np.int64, "f": np.float64, "b": np.bool_}


def _order(value: object) -> tuple[str, object]:
    if isinstance(value, bool | np.bool_):
        return "boolean", bool(value)
    if isinstance(value, int | float | np.integer | np.floating):
        return "number", value
    if isinstance(value, str):
        return "text", value
    return f"value of {type(value).__name__}", repr(value)


def _objects(values: list[object]) -> Array:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _factor_of_objects(column: Array) -> CodedValues:
    seen: dict[tuple[bool, object], int] = {}  # Booleans apart: False would swallow 0
    codes = np.empty(column.size, dtype=np.int32)
    for row, value in enumerate(column.tolist()):
        key = (isinstance(value, bool | np.bool_), value)
        codes[row] = -1 if is_missing(value) else seen.setdefault(key, len(seen))
    return CodedValues(codes, _objects([value for _, value in seen]))


def _codes_by_lookup(values: list[object], categories: Array) -> Codes:
    position = {value: code for code, value in enumerate(categories.tolist())}
    return np.array([position.get(value, -1) for value in values], dtype=np.int32)


def _codes_by_table(column: Array, categories: Array) -> Codes:
    low, size = int(categories[0]), int(categories[-1] - categories[0]) + 1
    table = np.full(size + 1, -1, dtype=np.int32)  # the last entry is for anything outside
    table[categories - low] = np.arange(categories.size)
    column = column.astype(np.int64, copy=False)
    inside = (column >= low) & (column < low + size)
    if inside.all():
        return table[column - low]
    return table[np.where(inside, column - low, size)]


def _as_integers(column: Array) -> Array | None:
    """Numbers as integers of a small range, if that is what they are."""
    if not column.size or not (column.max() - column.min() < SMALL_RANGE):
        return None
    if max(abs(column.max()), abs(column.min())) > 2**53:
        return None
    whole = column.astype(np.int64)
    return whole if (whole == column).all() else None


def _as_small_integers(categories: Array) -> Array | None:
    whole = categories if categories.dtype.kind in "iu" else _as_integers(categories.astype(float))
    return whole if whole is not None and int(whole[-1]) - int(whole[0]) < SMALL_RANGE else None
