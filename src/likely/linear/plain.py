"""Tables that hold finite numbers and nothing else, for the parts that read no categories."""

from typing import Any

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.validate import as_frame, is_frame


def finite_numbers(X: Any) -> Array:
    """X, an array or a frame, as float64 of shape (n, d), all finite."""
    X = as_frame(X)
    if is_frame(X):
        import narwhals.stable.v2 as nw

        X = nw.from_native(X).to_numpy()
    try:
        array = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"X must hold numbers; {error}. Encode the categories, or drop their columns."
        ) from error
    if array.ndim != 2 or not np.isfinite(array).all():
        raise InvalidInput(
            f"X must be a table of finite numbers, (n, d); found the shape {array.shape} with "
            f"{np.count_nonzero(~np.isfinite(array))} cells that are not finite. "
            "Pass one row per example, and drop or fill rows with missing cells."
        )
    return array
