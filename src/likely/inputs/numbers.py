"""Numbers as given: responses, weights and offsets, and tables of numbers.

Checking must not cost a pass over large data: a finite total proves finite data, and the bad value
is searched for only when a total is not finite.
"""

from typing import Any, NoReturn

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d, validate_data

from likely._typing import Array
from likely.data.frames import as_table, is_sparse
from likely.errors import InvalidInput
from likely.inputs.tables import (
    as_frame,
    is_frame,
    names_in_fit,
    refuse_file,
    refuse_ragged,
    typed_refusals,
)
from likely.kinds import FEATURE_KINDS


def required(y: Any, estimator: Any) -> Any:
    """y, which a supervised model needs."""
    if y is None:
        raise InvalidInput(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None. "
            "Pass one label or number per row, or the name of a column of X."
        )
    return y


def refuse_other_length(y: Array, n_rows: int | None) -> None:
    """Refuse a target that does not have one entry for each row of X."""
    if n_rows is not None and len(y) != n_rows:
        raise InvalidInput(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows "
            f"and y has {len(y)}. Pass one label per row."
        )


def array_of(values: Any) -> Any:
    """A series of any frame library as an array; anything else as it is."""
    import narwhals.stable.v2 as nw

    if nw.dependencies.is_into_series(values):
        return nw.from_native(values, series_only=True).to_numpy()
    return values


def check_response(y: Any, *, n_rows: int, estimator: Any, several: bool = False) -> Array:
    """Numbers to be predicted, as float64: (n,), or (n, m) where ``several`` are allowed."""
    y = array_of(required(y, estimator))
    try:
        if not is_sparse(y):
            _refuse_no_number(y)
        y = check_array(
            y, ensure_2d=False, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0
        )
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"y must hold numbers; {str(error).rstrip('.')}. "
            "Use a classifier for labels, or convert the column."
        ) from error
    if y.ndim == 2 and y.shape[1] > 1:
        if not several:
            refuse_columns(y.shape, _advice_on_columns(y))
        values: Array = y
    else:
        values = column_or_1d(y, warn=True)
    refuse_other_length(values, n_rows)
    if not total_is_finite(values):
        _refuse_infinite_response(values)
    return values


def refuse_columns(shape: tuple[int, ...], advice: str) -> NoReturn:
    """Refuse a y of several columns; ``advice`` says what to do."""
    raise InvalidInput(
        f"y has the shape {shape}; a 1d array was expected, with one value for each row of "
        f"X. {advice}"
    )


def _advice_on_columns(y: Array) -> str:
    if y.shape[1] == 2 and (y >= 0).all() and (y == np.floor(y)).all():
        return (
            "Give one column; k successes of n trials are y=k/n with sample_weight=n, in "
            'GLM("bernoulli").'
        )
    return "Give one column of y at a time."


def total_is_finite(values: Array) -> bool:
    """Whether the sum is finite, which proves that every value is."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()))


def _refuse_infinite_response(y: Array) -> None:
    bad = np.argwhere(~np.isfinite(y))
    if len(bad):
        value = y[tuple(bad[0])]
        raise InvalidInput(
            f"Input y contains {'NaN' if np.isnan(value) else 'infinity'}: row {bad[0][0]} has "
            f"{value:g}; a response is a finite number. Fix it, or drop the row."
        )


def check_numbers(values: Any, what: str, *, n_rows: int, positive: bool = False) -> Array:
    """An offset or an exposure as float64, (n,): one finite number per row."""
    column = _number_per_row(values, what, n_rows)
    valid = np.isfinite(column) & (column > 0) if positive else np.isfinite(column)
    if not valid.all():
        row = int(np.argmin(valid))
        raise InvalidInput(
            f"{what} of row {row} is {column[row]:g}; it must be finite"
            f"{' and above 0' if positive else ''}. Fix it, or drop the row."
        )
    return column


def check_weight(sample_weight: Any, *, n_rows: int, what: str = "sample_weight") -> Array | None:
    """Weights as float64, (n,), or None; negative, non-finite and all-zero ones are refused."""
    if sample_weight is None:
        return None
    weight = _number_per_row(sample_weight, what, n_rows)
    bad = ~((weight >= 0) & (weight < np.inf))
    if bad.any():
        row = int(bad.argmax())
        raise InvalidInput(
            f"Negative values in data passed to `{what}`, or NaN or infinity: row {row} has "
            f"{weight[row]:g}; weights are finite and 0 or more. Fix it, or drop the row."
        )
    if not weight.any():
        raise InvalidInput(
            "Sample weights must contain at least one non-zero number; "
            f"all {n_rows} are 0. Give a row a positive weight, or leave {what} out."
        )
    return weight


def check_offset(offset: Any, exposure: Any, *, n_rows: int) -> Array | float:
    """o_i = offset + ln exposure of each row; 0 where neither was given."""
    total: Array | float = 0.0
    if offset is not None:
        total = total + check_numbers(offset, "offset", n_rows=n_rows)
    if exposure is not None:
        total = total + np.log(check_numbers(exposure, "exposure", n_rows=n_rows, positive=True))
    return total


def _number_per_row(values: Any, what: str, n_rows: int) -> Array:
    """One number per row as float64; a single number applies to every row."""
    try:
        values = array_of(values)
        _refuse_no_number(values)
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"{what} must hold numbers; {error}. Pass one number per row."
        ) from error
    column = np.full(n_rows, column) if column.ndim == 0 else column
    if column.shape != (n_rows,):
        raise InvalidInput(
            f"{what} has shape {column.shape}; X has {n_rows} rows. Pass one number per row."
        )
    return column


def _refuse_no_number(values: Any) -> None:
    """Refuse times, complex numbers and records, which would become numbers silently."""
    dtype = np.asarray(values).dtype
    if dtype.kind in "MmcV":
        raise TypeError(f"found values of the type {dtype}")


def finite_numbers(X: Any, what: str = "X") -> Array:
    """X, an array or a frame, as float64 of shape (n, d), all finite."""
    X = as_frame(X)
    if is_frame(X):
        import narwhals.stable.v2 as nw

        X = nw.from_native(X).to_numpy()
    try:
        array = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"{what} must hold numbers; {error}. Encode the categories, or drop their columns."
        ) from error
    if array.ndim != 2 or not np.isfinite(array).all():
        raise InvalidInput(
            f"{what} must be a table of finite numbers, (n, d); found the shape {array.shape} with "
            f"{np.count_nonzero(~np.isfinite(array))} cells that are not finite. "
            "Pass one row per example, and drop or fill rows with missing cells."
        )
    return array


def read_numbers(estimator: Any, X: Any, *, reset: bool, sparse: str, category: str) -> Array:
    """X as float64, with NaN for missing; names and widths are remembered by ``estimator``.

    ``sparse`` says why a sparse X is refused and what to do; ``category`` what to do with text.
    """
    refuse_file(X, type(estimator).__name__)
    if is_sparse(X):
        raise InvalidInput(f"X is a sparse matrix; expected a dense one, for {sparse}")
    X = as_frame(X)
    _refuse_what_is_not_numbers(X, category)
    with typed_refusals():
        numbers: Array = validate_data(
            estimator, X, dtype=np.float64, ensure_all_finite=False, reset=reset
        )
    if not total_is_finite(numbers) and np.isinf(numbers).any():
        i, j = np.argwhere(np.isinf(numbers))[0]
        names = names_in_fit(estimator)
        column = j if names is None else repr(names[j])
        raise InvalidInput(
            f"X is {numbers[i, j]} (infinity) at row {i}, column {column}; expected finite values, "
            "or NaN for missing. Replace infinities by NaN or by a large number."
        )
    return numbers


def _refuse_what_is_not_numbers(X: Any, category: str) -> None:
    """Numbers written as text, categories and times are refused, not silently converted."""
    if is_frame(X):
        table = as_table(X)
        for j, (name, kind) in enumerate(zip(table.names or (), table.kinds, strict=True)):
            if kind not in FEATURE_KINDS:
                raise _not_numbers(f"Column {name!r}", "times or other values", [], category)
            if kind == "category":
                values = table.factor(j).values
                raise _not_numbers(f"Column {name!r}", "strings", values, category)
        return
    refuse_ragged(X)
    array = np.asarray(X)
    if array.dtype.kind == "V" or (array.dtype.kind == "O" and array.ndim == 0):
        raise InvalidInput(
            f"X is a {type(X).__name__} of {array.dtype}; expected a table of numbers. Pass an "
            "array of two dimensions, or a frame."
        )
    if array.dtype.kind in "USMm" and array.size:
        what = "times" if array.dtype.kind in "Mm" else "strings"
        raise _not_numbers("X", what, array.ravel(), category)
    if array.dtype.kind == "O":
        strings = [value for value in array.ravel() if isinstance(value, str)]
        if strings:
            raise _not_numbers("X", "strings", strings, category)


def _not_numbers(what: str, kind: str, values: Any, category: str) -> InvalidInput:
    shown = f"{kind}, such as {str(values[0])!r}" if len(values) else kind
    return InvalidInput(
        f"{what} holds {shown}; expected numbers. {category}, or convert it to numbers."
    )
