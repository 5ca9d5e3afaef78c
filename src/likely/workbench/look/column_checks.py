"""The checks of a single column: a remark if something is found, else None."""

import re
from collections.abc import Callable, Mapping
from math import inf

import numpy as np

from likely.data.labels import DATE, MOST, hold_codes
from likely.formatting import cell, percent, shortened
from likely.kinds import FEATURE_KINDS
from likely.workbench.data.identifiers import CALLED, run_without_gap
from likely.workbench.look.number_checks import impossible_zeros, number_for_missing, outliers
from likely.workbench.look.profile import ISO_DATE, Column, Profile

Check = Callable[[Column, Profile], str | None]

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
DISGUISED = r"(?i)^\s*(\?+|-+|\.+|n/?a|n\.a\.|nan|null|none|unknown|missing|not available|)\s*$"


def identifier(column: Column, profile: Profile) -> str | None:
    """Text or numbers that identify rows; and whole numbers without a gap, which may do so."""
    if column is profile.target or not column.n_known:
        return None
    if column.name in profile.identifiers:
        return _range(column) if column.is_number else _example(column)
    apart = column.name in profile.apart or not column.is_number
    if apart or column.n_distinct < column.n_known or not column.is_whole:
        return None
    return _range(column) if run_without_gap(column.numbers) else None


def _range(column: Column) -> str:
    return f"{column.numbers.min():.0f} to {column.numbers.max():.0f}"


def constant(column: Column, profile: Profile) -> str | None:
    single = column.n_distinct == 1 and column is not profile.target
    return _written(column.mode) if single else None


def nearly_constant(column: Column, profile: Profile) -> str | None:
    """One value almost everywhere, except 0 and False, because sparse columns are common."""
    if column.n_distinct < 2 or column is profile.target or column.kind in ("date", "other"):
        return None
    share = column.counts.max() / column.n_known
    if share < NEARLY or not column.mode:
        return None
    return f"{_written(column.mode)} in {column.counts.max():,} of {column.n_known:,}"


def mixed_types(column: Column, profile: Profile) -> str | None:
    if not column.is_text or _are_dates(column):
        return None
    numbers = column.written_numbers
    share = column.counts[numbers].sum() / max(column.n_known, 1)
    if share < MIXED_SHARE or numbers.all() or hold_codes(column.values):
        return None
    word = column.values[int(np.where(numbers, -1, column.counts).argmax())].as_py()
    return f"{percent(share)} numbers, and {_written(word)}"


def numbers_as_text(column: Column, profile: Profile) -> str | None:
    if not column.is_text or column.declared or _are_dates(column):
        return None
    all_numbers = column.n_known > 0 and column.written_numbers.all()
    plain = all_numbers and leading_zeros(column, profile) is None
    return f"such as {_example(column)}" if plain else None


def leading_zeros(column: Column, profile: Profile) -> str | None:
    """Digits only, and 0 before other digits: the codes of places, products and persons."""
    if not column.is_text or not column.n_known or not column.matching(DIGITS).all():
        return None
    zeros = column.matching(LEADING_ZERO)
    if not zeros.any():
        return None
    return f"such as {_written(column.values[int(zeros.argmax())].as_py())}"


def dates_as_text(column: Column, profile: Profile) -> str | None:
    if not column.is_text or not _are_dates(column) or column.matching(ISO_DATE).all():
        return None  # a text file has no other way to write a date than 2024-02-29
    differs = ~column.matching(DATE)
    other = column.values[int(differs.argmax())].as_py() if differs.any() else None
    exception = "" if other is None else f", but not {_written(other)}"
    return f"such as {_example(column)}{exception}"


def broken_characters(column: Column, profile: Profile) -> str | None:
    if not column.is_text or not column.n_known:
        return None
    broken = column.matching(BROKEN)
    if not broken.any():
        return None
    rows = int(column.counts[broken].sum())
    first = column.values[int(broken.argmax())].as_py()
    return f"in {rows:,} of {column.n_known:,}, such as {_written(first)}"


def many_values(column: Column, profile: Profile) -> str | None:
    text = column.is_text and column.many_values and column is not profile.target
    others = (identifier, mixed_types, numbers_as_text)
    if (
        not text
        or _are_dates(column)
        or any(check(column, profile) is not None for check in others)
    ):
        return None
    return f"{column.n_distinct:,} in {column.n_known:,} cells"


def mostly_missing(column: Column, profile: Profile) -> str | None:
    share = column.n_missing / column.n_rows
    feature = column is not profile.target and column.n_known > 0
    return percent(share) if feature and share > MOSTLY_MISSING else None


def all_missing(column: Column, profile: Profile) -> str | None:
    return "" if not column.n_known and column is not profile.target else None


def no_feature(column: Column, profile: Profile) -> str | None:
    import pyarrow.types as types

    if column is profile.target or column.kind in FEATURE_KINDS or not column.n_known:
        return None
    type_ = column.values.type
    return None if types.is_temporal(type_) else str(type_)


def copies(column: Column, profile: Profile) -> str | None:
    """An earlier column with the same values, or with other names for the same few values."""
    other = profile.twin_of(column)
    if other is None or column is profile.target or _is_curved(column, other):
        return None
    return f"{other.name!r}"


def one_to_one(column: Column, profile: Profile) -> str | None:
    """An earlier column of numbers that repeats where this one does, as its logarithm does."""
    other = profile.twin_of(column)
    if other is None or column is profile.target or not _is_curved(column, other):
        return None
    return f"{other.name!r}"


def _is_curved(column: Column, other: Column) -> bool:
    """Whether both are numbers, and neither is a linear function of the other."""
    if not (column.is_number and other.is_number) or column.n_distinct < 3:
        return False
    x, y = column.numbers, other.numbers
    if not (np.isfinite(x).all() and np.isfinite(y).all()) or np.array_equal(x, y):
        return False
    return bool(abs(np.corrcoef(x, y)[0, 1]) < STRAIGHT)


def group_of_rows(column: Column, profile: Profile) -> str | None:
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


def infinite(column: Column, profile: Profile) -> str | None:
    if not column.is_number:
        return None
    rows = int(column.counts[np.abs(column.numbers) == inf].sum())
    return f"{rows:,} of {column.n_known:,}" if rows else None


def disguised_missing(column: Column, profile: Profile) -> str | None:
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
    "LK204": group_of_rows,
}
CHECKS_OF_TEXT = frozenset({"LK102", "LK107", "LK109", "LK110", "LK113"})  # of free text


def _are_dates(column: Column) -> bool:
    return column.share_matching(DATE) >= MOST


def _example(column: Column) -> str:
    return _written(column.values[0].as_py())


def _written(value: object) -> str:
    return shortened(repr(value) if isinstance(value, str) else cell(value), LONGEST_VALUE)
