"""Type aliases for arrays and matrices in signatures."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]  # dense; NumPy's unless the caller brought another library's
Codes = npt.NDArray[np.integer[Any]]  # class or category numbers; −1 is unknown
Matrix = Any  # an Array, or a scipy.sparse CSR array


class Interval(NamedTuple):
    """The open interval (low, high)."""

    low: float
    high: float


class NumbersAndCodes(NamedTuple):
    """Numeric columns and columns of category codes, side by side."""

    numeric: Matrix  # (n, p); NaN is missing
    codes: Codes  # (n, q); −1 is missing
