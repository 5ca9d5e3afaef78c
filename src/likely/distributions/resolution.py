"""The unit in which the values of a column are recorded.

    u = min { |a − b| : a ≠ b, both values of the column }        variance of rounding to u:  u²/12

A column of a few distinct values (an indicator, a count, a pixel) has such a unit.  No class can
be known to vary less than values within one unit of each other do, even if all its rows are equal.
In a direction v of several columns that is vᵀFv, F = diag(u²/12).
The distinct values of blocks are united, so the answer does not depend on the blocks; a column of
more than ``MOST_VALUES`` is read as continuous, and has no unit.

References
----------
Sheppard, On the calculation of the most probable values of frequency-constants, 1898 (u²/12).
"""

import numpy as np

from likely._typing import Array
from likely.distributions.responsibility import FAST_CELLS, Labels, for_loop
from likely.numerics.cholesky import ROUNDING

MOST_VALUES = 256  # of a column with a unit: a byte
CONTINUOUS = np.inf  # stands for the values of a column that has more of them
ON_GRID = 1e-3  # × u: how far from a multiple of u a gap may be, rounding to single precision too


def distinct_values(X: Array, labels: Labels) -> Array:
    """The values of each column in the rows that count, in order, (m, n_features).

    nan follows the last of them; a column of more than ``MOST_VALUES`` holds ``CONTINUOUS``.
    """
    counted = (labels.codes >= 0) & (labels.weights() > 0)
    if X.size < FAST_CELLS:
        return _in_order(np.asarray(X, dtype=float)[counted])
    from likely.fast.counts import distinct_by_column

    X = for_loop(X)
    values = np.full((X.shape[1], 4 * MOST_VALUES), np.nan)
    many = distinct_by_column(X, X.view(np.uint64), counted, MOST_VALUES, values)
    values[many] = CONTINUOUS
    return _in_order(values.T)


def united(values: Array | None, others: Array | None) -> Array | None:
    """The distinct values of two blocks."""
    if values is None or others is None:
        return others if values is None else values
    return _in_order(np.concatenate([values, others]))


def rounding_variance(values: Array | None) -> Array | float:
    """u²/12 of each column, (n_features,); 0 without a unit."""
    if values is None or len(values) < 2:
        return 0.0
    return _gaps_and_unit(values)[1] ** 2 / 12


def grid_variance(values: Array | None) -> Array | float:
    """u²/12 of columns whose gaps are multiples of u, (n_features,); 0 of others.

    The smallest gap of a few continuous numbers is no unit.  As the floor of a variance it is too
    small to matter; the inverse of a covariance of few rows would be all of it.
    """
    if values is None or len(values) < 2:
        return 0.0
    gap, unit = _gaps_and_unit(values)
    multiple = np.divide(gap, unit, out=np.zeros(gap.shape), where=(gap > 0) & (unit > 0))
    off = np.abs(multiple - np.round(multiple)) > ON_GRID
    return np.where(off.any(axis=0), 0.0, unit) ** 2 / 12


def _gaps_and_unit(values: Array) -> tuple[Array, Array]:
    """The gaps of each column, 0 where only rounding parts two values, and the smallest one."""
    with np.errstate(invalid="ignore"):  # of continuous columns
        gap = np.diff(values, axis=0)
    largest = np.nanmax(np.abs(values), axis=0, initial=0.0)
    apart = gap > ROUNDING * largest  # beyond what arithmetic leaves between equal numbers
    unit = np.min(gap, axis=0, where=apart, initial=np.inf)
    return np.where(apart, gap, 0.0), np.where(np.isfinite(unit), unit, 0.0)


def _in_order(values: Array) -> Array:
    values = np.sort(values, axis=0)  # nan last
    first = ~np.isnan(values)
    first[1:] &= values[1:] != values[:-1]
    values = np.sort(np.where(first, values, np.nan), axis=0)
    count = first.sum(axis=0)
    many = (count > MOST_VALUES) | np.isinf(values).any(axis=0)
    values = values[: int(count[~many].max(initial=1))]
    return np.where(many, CONTINUOUS, values)
