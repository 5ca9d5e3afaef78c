"""The checks of columns of numbers: outliers, and numbers that stand for a missing value.

An outlier is far from the others in three ways, so that skewed and heavy-tailed columns have none:

    x > q₇₅ + 5 (q₇₅ − q₂₅)        also for log x, where all x > 0
    x − m > 3 (x′ − m)             x′ the next smaller value, m the median
    few rows                       at most 3, or half a percent

and the same downwards.  A normal column reaches the first limit at 7.4 standard deviations; of a
Pareto tail of index 3, the largest value is three times the second in 1 of 27 columns.
"""

import re

import numpy as np

from likely._typing import Array
from likely.formatting import cell, listed
from likely.workbench.look.profile import Column, Profile

FEWEST_ROWS = 30
FEWEST_VALUES = 10
FAR = 5.0  # interquartile ranges beyond a quartile
ALONE = 3.0  # times as far from the median as the next value
FEW = 0.005  # of the rows, or
FEW_ROWS = 3
LOWEST_OF_OTHERS = 0.1  # of the median of the positive numbers
STEPS = 6.0  # from 0 to the smallest, in steps between the smallest
SMALLEST = 0.1  # of the numbers, and
FEWEST_SMALLEST = 6
MOST_ZEROS = 0.6  # of the cells; more are a column that is usually 0
NINES = re.compile(r"-?99+|-9")
FEWEST_BESIDE_MINUS_ONE = 20  # values; among few, −1 is one of them
OFTEN = 0.01  # of the cells are −1; a difference may be −1 now and then
MOST_NAMED = 3
QUARTILES = np.array([0.25, 0.5, 0.75])


def outliers(column: Column, profile: Profile) -> str | None:
    """Numbers far outside the range of all others."""
    if not _is_measured(column):
        return None
    code = numeral(column)
    x, rows = column.ascending
    if code is not None:
        x, rows = x[x != code], rows[x != code]
    high = _far_above(x, rows)
    low = _far_above(-x[::-1], rows[::-1])
    if not high and not low:
        return None
    inside = x[low : x.size - high]
    far = [*x[:low], *x[x.size - high :]]
    named = listed([cell(float(value)) for value in far], MOST_NAMED)
    return f"{named}; all others lie between {cell(float(inside[0]))} and {cell(float(inside[-1]))}"


def _far_above(x: Array, rows: Array) -> int:
    """How many of the greatest of the distinct numbers, in ascending order, are outliers."""
    low, middle, high = quartiles = _quantiles(x, rows, QUARTILES)
    limit = _limit(low, high)
    if x[0] > 0:
        low, _, high = np.log(quartiles)
        limit = max(limit, float(np.exp(_limit(low, high))))
    apart = (x[1:] > limit) & (x[1:] - middle > ALONE * np.maximum(x[:-1] - middle, 0))
    if not apart.any():
        return 0
    n_far = int(x.size - 1 - apart.argmax())
    few = max(FEW_ROWS, FEW * rows.sum())
    return n_far if rows[x.size - n_far :].sum() <= few else 0


def _limit(low: float, high: float) -> float:
    """The upper quartile and some interquartile ranges; infinite where that range is 0."""
    return high + FAR * (high - low) if high > low else np.inf


def _quantiles(x: Array, rows: Array, shares: Array) -> Array:
    """The quantiles of distinct numbers in ascending order, each in so many rows."""
    reached = np.cumsum(rows)
    return np.asarray(x[np.searchsorted(reached, shares * reached[-1])])


def impossible_zeros(column: Column, profile: Profile) -> str | None:
    """Zeros in a column whose other numbers are positive and stay away from 0."""
    if not _is_measured(column) or column is profile.target:
        return None
    x, rows = column.ascending
    if x[0] != 0 or rows[0] > MOST_ZEROS * column.n_known:
        return None
    others = x[1:]
    usual = float(_quantiles(others, rows[1:], QUARTILES)[1])
    step = float(np.median(np.diff(others[: max(FEWEST_SMALLEST, int(SMALLEST * others.size))])))
    if others[0] < LOWEST_OF_OTHERS * usual or others[0] < STEPS * step:
        return None
    return (
        f"{rows[0]:,} of {column.n_known:,} cells; all others are {cell(float(others[0]))} or more"
    )


def number_for_missing(column: Column, profile: Profile) -> str | None:
    """−1, 99, −999, … where no other number is near."""
    if column is profile.target or column.declared:
        return None
    code = numeral(column)
    if code is None:
        return None
    rows = int(column.counts[column.numbers == code].sum())
    return f"{code:.0f} in {rows:,} of {column.n_known:,}"


def numeral(column: Column) -> float | None:
    """The number that seems to stand for a missing value.

    It is written with nines and repeats.  A positive one is further from the others than
    these are from each other; a negative one is the only negative number.
    """
    if not column.is_number or column.n_known < FEWEST_ROWS or column.n_distinct < 4:
        return None
    x, rows = column.ascending
    if not np.isfinite(x[[0, -1]]).all():
        return None
    named = NINES.fullmatch(f"{x[0]:.0f}") is not None and x[0] == np.floor(x[0])
    often = column.n_distinct > FEWEST_BESIDE_MINUS_ONE and rows[0] > OFTEN * column.n_known
    if x[0] < 0 <= x[1] and rows[0] > 1 and (named or (x[0] == -1 and often)):
        return float(x[0])
    named = NINES.fullmatch(f"{x[-1]:.0f}") is not None and x[-1] == np.floor(x[-1])
    apart = x[-1] - x[-2] > x[-2] - x[0]
    return float(x[-1]) if named and apart and rows[-1] > 1 else None


def _is_measured(column: Column) -> bool:
    """Whether there are enough different finite numbers to know what is usual."""
    if not column.is_number or column.declared or column.n_known < FEWEST_ROWS:
        return False
    return column.n_distinct >= FEWEST_VALUES and bool(np.isfinite(column.numbers).all())
