"""Columns of numbers, as feature maps read them: NaN is missing, and text is refused."""

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from likely._typing import Array
from likely.data.frames import as_table, is_sparse
from likely.errors import InvalidInput
from likely.kinds import FEATURE_KINDS
from likely.opening import refuse_file
from likely.validate import as_frame, is_frame


def read_numbers(estimator: Any, X: Any, *, reset: bool, sparse: str, category: str) -> Array:
    """X as float64, with NaN for missing; names and widths are remembered by ``estimator``.

    ``sparse`` says why a sparse X is refused and what to do; ``category`` what to do with text.
    """
    refuse_file(X, estimator)
    if is_sparse(X):
        raise InvalidInput(f"X is a sparse matrix; expected a dense one, for {sparse}")
    X = as_frame(X)
    _refuse_what_is_not_numbers(X, category)
    numbers: Array = validate_data(
        estimator, X, dtype=np.float64, ensure_all_finite=False, reset=reset
    )
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(numbers.sum())
    if not finite and np.isinf(numbers).any():  # a finite total proves finite data
        i, j = np.argwhere(np.isinf(numbers))[0]
        names = getattr(estimator, "feature_names_in_", None)
        column = j if names is None else repr(names[j])
        raise InvalidInput(
            f"X is {numbers[i, j]} (infinity) at row {i}, column {column}; expected finite values, "
            "or NaN for missing. Replace infinities by NaN or by a large number."
        )
    return numbers


def _refuse_what_is_not_numbers(X: Any, category: str) -> None:
    """Numbers written as text, categories and times would be turned into numbers unasked."""
    if is_frame(X):
        table = as_table(X)
        for j, (name, kind) in enumerate(zip(table.names or (), table.kinds, strict=True)):
            if kind not in FEATURE_KINDS:
                raise _not_numbers(f"Column {name!r}", "times or other values", [], category)
            if kind == "category":
                values = table.factor(j).values
                raise _not_numbers(f"Column {name!r}", "strings", values, category)
        return
    array = np.asarray(X)
    if array.dtype.kind in "USMm" and array.size:
        what = "times" if array.dtype.kind in "Mm" else "strings"
        raise _not_numbers("X", what, array.ravel(), category)
    if array.dtype.kind == "O":
        strings = [value for value in array.ravel() if isinstance(value, str)]
        if strings:
            raise _not_numbers("X", "strings", strings, category)


def _not_numbers(what: str, kind: str, values: Any, category: str) -> InvalidInput:
    shown = f"{kind}, as {str(values[0])!r}" if len(values) else kind
    return InvalidInput(
        f"{what} holds {shown}; expected numbers. {category}, or convert it to numbers."
    )
