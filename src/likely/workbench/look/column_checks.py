"""The checks of a single column: a remark if something is found, else None.

The checks of columns of numbers: outliers, and numbers that stand for a missing value.

An outlier is far from the others in three ways, so that skewed and heavy-tailed columns have none:

    x > q₇₅ + 5 (q₇₅ − q₂₅)        also for log x, where all x > 0
    x − m > 3 (x′ − m)             x′ the next smaller value, m the median
    few rows                       at most 3, or half a percent

and the same downwards.  A normal column reaches the first limit at 7.4 standard deviations; of a
Pareto tail of index 3, the largest value is three times the second in 1 of 27 columns.
"""

import re
from collections.abc import Callable, Mapping
from math import inf

import numpy as np

from likely._typing import Array
from likely.data.labels import DATE, ISO_DATE, MOST, hold_codes
from likely.data.readings.written_values import CellReading, shown, value_of
from likely.kinds import FEATURE_KINDS
from likely.output.formatting import cell, listed, percent, shortened
from likely.workbench.data.roles import CALLED, run_without_gap
from likely.workbench.look.profile import Profile, ProfiledColumn

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
Check = Callable[[ProfiledColumn, Profile], str | None]
NEARLY = 0.995  # of the known cells have one value
MOSTLY_MISSING = 0.5
MIXED_SHARE = 0.1  # of the cells of a text column are numbers
LONGEST_VALUE = 40  # characters of a value
BROKEN = "�|Ã[\u0080-\u00bf]|Â[\u0080-\u00bf]|â€"  # U+FFFD, and UTF-8 read as Latin-1
DIGITS = r"^\s*[0-9]+\s*$"
LEADING_ZERO = r"^\s*0[0-9]"
STRAIGHT = 0.99999  # correlation of distinct values; beyond it, one is the other in another unit
FEWEST_GROUPS = 5
FEWEST_REPEATS = 1.2  # rows to each
SUBJECT = re.compile(
    r"(?i)(^|[\W_])(subject|patient|person|participant|respondent|customer|client|user|student|"
    r"pupil|household)(_?(id|no|nr|number|code|name))?$"
)
NAMED_DATE = re.compile(r"(?i)(^|[\W_])(date|datum|day|tag|fecha|data|when|on|am)($|[\W_])")
EARLIEST_DAY, LATEST_DAY = 30_000, 60_000  # 1982 to 2064, as a spreadsheet counts days
USUAL_DAYS = 40_000, 50_000  # 2009 to 2036, of a column that is not named so
NO_DATE = re.compile(  # names of amounts and codes, in five languages
    r"(?i)pri[cxsj]|preis|cost|kost|amount|betrag|montant|import|bedrag|income|revenu|salar|wage|"
    r"gehalt|lohn|umsatz|sales|zip|post|plz|code|number|nummer|kilomet|mile|popul|einwohner|"
    r"(^|[\W_])(id|nr|no|num|km|cp|cap)($|[\W_])"
)
DISGUISED = r"(?i)^\s*(\?+|-+|\.+|n/?a|n\.a\.|nan|null|none|unknown|missing|not available|)\s*$"


def identifier(column: ProfiledColumn, profile: Profile) -> str | None:
    """Text or numbers that identify rows; and whole numbers without a gap, which may do so."""
    if column is profile.target or not column.n_known:
        return None
    if column.name in profile.identifiers:
        return _range(column) if column.is_number else _example(column)
    apart = column.name in profile.apart or not column.is_number
    if apart or column.n_distinct < column.n_known or not column.is_whole:
        return None
    return _range(column) if run_without_gap(column.numbers) else None


def _range(column: ProfiledColumn) -> str:
    return f"{column.numbers.min():.0f} to {column.numbers.max():.0f}"


def constant(column: ProfiledColumn, profile: Profile) -> str | None:
    single = column.n_distinct == 1 and column is not profile.target
    return _written(column.mode) if single else None


def nearly_constant(column: ProfiledColumn, profile: Profile) -> str | None:
    """One value almost everywhere, except 0 and False, because sparse columns are common."""
    if column.n_distinct < 2 or column is profile.target or column.kind in ("date", "other"):
        return None
    share = column.counts.max() / column.n_known
    if share < NEARLY or not column.mode:
        return None
    return f"{_written(column.mode)} in {column.counts.max():,} of {column.n_known:,}"


def mixed_types(column: ProfiledColumn, profile: Profile) -> str | None:
    if not column.is_text or _are_dates(column):
        return None
    numbers = column.written_numbers
    share = column.counts[numbers].sum() / max(column.n_known, 1)
    if share < MIXED_SHARE or numbers.all() or hold_codes(column.values):
        return None
    word = column.values[int(np.where(numbers, -1, column.counts).argmax())].as_py()
    return f"{percent(share)} numbers, and {_written(word)}"


def numbers_as_text(column: ProfiledColumn, profile: Profile) -> str | None:
    if not column.is_text or column.declared or _are_dates(column):
        return None
    all_numbers = column.n_known > 0 and column.written_numbers.all()
    plain = all_numbers and leading_zeros(column, profile) is None
    return f"such as {_example(column)}" if plain else None


def leading_zeros(column: ProfiledColumn, profile: Profile) -> str | None:
    """Digits only, and 0 before other digits: the codes of places, products and persons."""
    if not column.is_text or not column.n_known or not column.matching(DIGITS).all():
        return None
    zeros = column.matching(LEADING_ZERO)
    if not zeros.any():
        return None
    return f"such as {_written(column.values[int(zeros.argmax())].as_py())}"


def dates_as_text(column: ProfiledColumn, profile: Profile) -> str | None:
    if not column.is_text or not _are_dates(column) or column.matching(ISO_DATE).all():
        return None  # a text file has no other way to write a date than 2024-02-29
    differs = ~column.matching(DATE)
    other = column.values[int(differs.argmax())].as_py() if differs.any() else None
    exception = "" if other is None else f", but not {_written(other)}"
    return f"such as {_example(column)}{exception}"


def days_of_a_spreadsheet(column: ProfiledColumn, profile: Profile) -> str | None:
    """Whole numbers that may be days since 1899-12-30: fewer, where no name says so."""
    if not (column.is_number and column.is_whole):
        return None
    earliest, latest = EARLIEST_DAY, LATEST_DAY
    if not NAMED_DATE.search(column.name):
        apart = column is profile.target or column.name in (*profile.apart, *profile.identifiers)
        named = CALLED.search(column.name) or NO_DATE.search(column.name)
        if apart or named or column.n_distinct < FEWEST_VALUES or run_without_gap(column.numbers):
            return None
        earliest, latest = USUAL_DAYS
    low, high = column.numbers.min(), column.numbers.max()
    if not earliest <= low < high <= latest:
        return None
    reading, first = CellReading("date", "excel"), f"{column.numbers[0]:.0f}"
    return f"{first} is {shown(value_of(first, reading))}, as a spreadsheet counts"


def broken_characters(column: ProfiledColumn, profile: Profile) -> str | None:
    if not column.is_text or not column.n_known:
        return None
    broken = column.matching(BROKEN)
    if not broken.any():
        return None
    rows = int(column.counts[broken].sum())
    first = column.values[int(broken.argmax())].as_py()
    return f"in {rows:,} of {column.n_known:,}, such as {_written(first)}"


def many_values(column: ProfiledColumn, profile: Profile) -> str | None:
    text = column.is_text and column.many_values and column is not profile.target
    others = (identifier, mixed_types, numbers_as_text)
    if (
        not text
        or _are_dates(column)
        or any(check(column, profile) is not None for check in others)
    ):
        return None
    return f"{column.n_distinct:,} in {column.n_known:,} cells"


def mostly_missing(column: ProfiledColumn, profile: Profile) -> str | None:
    share = column.n_missing / column.n_rows
    feature = column is not profile.target and column.n_known > 0
    return percent(share) if feature and share > MOSTLY_MISSING else None


def all_missing(column: ProfiledColumn, profile: Profile) -> str | None:
    return "" if not column.n_known and column is not profile.target else None


def no_feature(column: ProfiledColumn, profile: Profile) -> str | None:
    import pyarrow.types as types

    if column is profile.target or column.kind in FEATURE_KINDS or not column.n_known:
        return None
    type_ = column.values.type
    return None if types.is_temporal(type_) else str(type_)


def copies(column: ProfiledColumn, profile: Profile) -> str | None:
    """An earlier column with the same values, or with other names for the same few values."""
    other = profile.twin_of(column)
    if other is None or column is profile.target or _is_curved(column, other):
        return None
    return f"{other.name!r}"


def one_to_one(column: ProfiledColumn, profile: Profile) -> str | None:
    """An earlier column of numbers that repeats where this one does, as its logarithm does."""
    other = profile.twin_of(column)
    if other is None or column is profile.target or not _is_curved(column, other):
        return None
    return f"{other.name!r}"


def _is_curved(column: ProfiledColumn, other: ProfiledColumn) -> bool:
    """Whether both are numbers, and neither is a linear function of the other."""
    if not (column.is_number and other.is_number) or column.n_distinct < 3:
        return False
    x, y = column.numbers, other.numbers
    if not (np.isfinite(x).all() and np.isfinite(y).all()) or np.array_equal(x, y):
        return False
    return bool(abs(np.corrcoef(x, y)[0, 1]) < STRAIGHT)


def group_of_rows(column: ProfiledColumn, profile: Profile) -> str | None:
    """Values that repeat, in a column that is named like an identifier or a person."""
    if column is profile.target or column.n_distinct < FEWEST_GROUPS:
        return None
    if profile.is_held_together(column):
        return None
    if not (column.is_text or (column.is_number and column.is_whole)):
        return None
    named = CALLED.search(column.name) or SUBJECT.search(column.name)
    if not named or column.n_known < FEWEST_REPEATS * column.n_distinct:
        return None
    return f"{column.n_distinct:,} in {column.n_known:,} rows"


def infinite(column: ProfiledColumn, profile: Profile) -> str | None:
    if not column.is_number:
        return None
    rows = int(column.counts[np.abs(column.numbers) == inf].sum())
    return f"{rows:,} of {column.n_known:,}" if rows else None


def disguised_missing(column: ProfiledColumn, profile: Profile) -> str | None:
    """Words for "not known" in a column of words; −999 and the like in a column of numbers."""
    if column.is_number:
        return number_for_missing(column, profile)
    if not column.is_text or column is profile.target or mixed_types(column, profile) is not None:
        return None
    words = column.matching(DISGUISED)
    if not words.any():
        return None
    rows = int(column.counts[words].sum())
    if column.many_values and rows == 1:  # a title may be "Unknown"
        return None
    return (
        f"{_written(column.values[int(words.argmax())].as_py())} in {rows:,} of {column.n_known:,}"
    )


def _are_dates(column: ProfiledColumn) -> bool:
    return column.share_matching(DATE) >= MOST


def _example(column: ProfiledColumn) -> str:
    return _written(column.values[0].as_py())


def _written(value: object) -> str:
    return shortened(repr(value) if isinstance(value, str) else cell(value), LONGEST_VALUE)


def outliers(column: ProfiledColumn, profile: Profile) -> str | None:
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


def impossible_zeros(column: ProfiledColumn, profile: Profile) -> str | None:
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


def number_for_missing(column: ProfiledColumn, profile: Profile) -> str | None:
    """−1, 99, −999, … where no other number is near."""
    if column is profile.target or column.declared:
        return None
    code = numeral(column)
    if code is None:
        return None
    rows = int(column.counts[column.numbers == code].sum())
    return f"{code:.0f} in {rows:,} of {column.n_known:,}"


def numeral(column: ProfiledColumn) -> float | None:
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


def _is_measured(column: ProfiledColumn) -> bool:
    """Whether there are enough different finite numbers to know what is usual."""
    if not column.is_number or column.declared or column.n_known < FEWEST_ROWS:
        return False
    return column.n_distinct >= FEWEST_VALUES and bool(np.isfinite(column.numbers).all())


COLUMN_CHECKS: Mapping[str, Check] = {
    "LK101": identifier,
    "LK102": constant,
    "LK103": nearly_constant,
    "LK104": mixed_types,
    "LK105": numbers_as_text,
    "LK106": dates_as_text,
    "LK107": broken_characters,
    "LK108": many_values,
    "LK109": mostly_missing,
    "LK110": all_missing,
    "LK112": no_feature,
    "LK113": copies,
    "LK114": infinite,
    "LK115": disguised_missing,
    "LK116": outliers,
    "LK117": impossible_zeros,
    "LK118": leading_zeros,
    "LK119": one_to_one,
    "LK122": days_of_a_spreadsheet,
    "LK204": group_of_rows,
}
CHECKS_OF_TEXT = frozenset({"LK102", "LK107", "LK109", "LK110", "LK113"})  # of free text
# of text, that a question about its numbers or dates makes superfluous
CHECKS_OF_NUMBERS = frozenset({"LK104", "LK105", "LK106", "LK108", "LK115", "LK118"})
