"""Prepared columns: arrays of numbers or Booleans, Booleans with gaps, categories; and as Arrow's.

Steps make them with NumPy, so that ``likely.runtime`` prepares rows without Arrow.
"""

from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.data.categories import Factor


class GappyBooleans(NamedTuple):
    """A column of true and false in which cells may be missing."""

    values: Array
    gaps: Array  # which cells are missing


class Categories(NamedTuple):
    """A column of categories."""

    factor: Factor
    ordered: bool  # the first value is the reference of a linear model


def arrow_column(column: Any) -> Any:
    """A column as Arrow's; one that is Arrow's stays as it is."""
    import pyarrow as pa

    if isinstance(column, Categories):
        factor = column.factor
        codes = pa.array(factor.codes, mask=factor.codes < 0)
        values = pa.array(factor.values.tolist(), pa.string())
        return pa.DictionaryArray.from_arrays(codes, values, ordered=column.ordered)
    if isinstance(column, GappyBooleans):
        return pa.array(column.values, mask=column.gaps)
    return pa.array(column) if isinstance(column, np.ndarray) else column
