"""The values of a target, labels or numbers, and what else text may be.

A column in which nearly every text differs holds names, dates, or formatted
numbers; none of these are classes, and each needs different advice.
"""

from collections.abc import Sequence
from re import match
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from likely._typing import Array
from likely.data.arrow import decoded
from likely.errors import InvalidInput

if TYPE_CHECKING:
    import pyarrow as pa

MANY_CLASSES = 20  # more labels than this need …
FEW_ROWS = 5  # … at least this many rows each, on average
SOME_COUNTS, RARELY_LARGE = 8, 0.05
LARGE = 2000  # whole numbers of which some are as large may be amounts
MANY, ROUND = 500, 10  # counts are fewer different ones, seldom all round; and below LARGE
OVERDISPERSED = 10.0  # variance over mean: below it, large numbers may be counts
LONGEST_NAME = 40  # characters on average; longer text is prose
MOST_WORDS = 4  # on average; text of more is prose
MANY_VALUES = 50  # text with more, and with few rows to each, is not a category
ROWS_PER_VALUE = 10
WRITTEN_NUMBER = (  # 12   −3.5   1e6   1,234.5   1.234,5   12,5   € 30   5 %; not the code 007
    r"^\s*[€$£¥]?\s*[-+−]?[€$£¥]?\s*"
    r"(([1-9]\d{0,2}([,.' ]\d{3})+|0|[1-9]\d*)([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?"
    r"\s*([€$£¥%]|EUR|USD|GBP)?\s*$"
)
DATE = (  # 2024-02-29, 29.2.2024, 2/29/24, and a time of day behind it
    r"^\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))"
    r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?\s*$"
)
ISO_DATE = r"^\d{4}-\d{2}-\d{2}([T ].*)?$"
CODE = r"^\s*0\d+\s*$"  # 02134: a number would lose its zero
MOST = 0.9  # of the different texts decide what they are
FEW_NUMBERS = 10  # so few written numbers may as well be names of groups


def are_names(n_values: int, n_rows: int) -> bool:
    """Whether there are too many different labels for the rows."""
    return n_values > MANY_CLASSES and n_values * FEW_ROWS > n_rows


def are_repeated(n_values: int, n_rows: int, above: float) -> bool:
    """Whether whole numbers are so few, each in many rows, that they are classes.

    Numbers from 0 up of which a share ``above`` of the rows is above half of the largest are
    counts, if there are eight or more different ones and large ones are rare.
    """
    counts = n_values >= SOME_COUNTS and above < RARELY_LARGE
    few = n_values <= MANY_CLASSES and n_values * FEW_ROWS <= n_rows
    return n_values == 2 or (few and not counts)


def are_written_numbers(values: "pa.Array | Sequence[str]") -> Array:
    """Which texts are numbers in common notations; codes such as 007 are not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = values if isinstance(values, pa.Array) else pa.array(values, pa.string())
    found = pc.match_substring_regex(texts, WRITTEN_NUMBER)
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)


def hold_codes(values: "pa.Array | Sequence[str]") -> bool:
    """Whether some of the texts are digits after a leading zero, as in zip codes.

    The others, such as 90210, are then codes too, and not numbers.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = values if isinstance(values, pa.Array) else pa.array(values, pa.string())
    return bool(pc.any(pc.match_substring_regex(texts, CODE)).as_py())


def hold_numbers(are_numbers: Array) -> bool:
    """Whether a column of different texts, of which some are numbers, was meant to hold numbers."""
    return len(are_numbers) > FEW_NUMBERS and bool(np.mean(are_numbers) >= 0.5)


def refuse_names(target: str, values: Sequence[str], n_rows: int) -> NoReturn:
    """Refuse a target of names, dates or numbers as text, with what to do about each."""
    what, advice = _seems(values)
    raise InvalidInput(
        f"Column {target!r} {what} ({len(values):,} different values in {n_rows:,} rows, "
        f"such as {values[0]!r}); classes with several rows each were expected. {advice}."
    )


def _seems(values: Sequence[str]) -> tuple[str, str]:
    dates = np.array([match(DATE, value) is not None for value in values])
    kinds = (
        (dates, "holds dates", "Turn them into numbers, such as days since the first"),
        (
            are_written_numbers(values),
            "holds numbers as text",
            "Write them as plain numbers such as 1234.5, with a decimal point only",
        ),
    )
    for matching, what, advice in kinds:
        if matching.sum() >= MOST * len(values):
            return what, f"{advice}, or choose another target"
    return "looks like an identifier", "Choose another target, or merge rare classes"


def is_prose(texts: "pa.Array | Sequence[str]") -> bool:
    """Whether texts have more than 40 characters, or four words, on average."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(texts, pa.Array):
        texts = pa.array(texts, pa.string())
    characters = pc.mean(pc.utf8_length(texts)).as_py()
    words = pc.mean(pc.count_substring_regex(texts, r"\S+")).as_py()
    return bool(len(texts)) and (characters > LONGEST_NAME or words > MOST_WORDS)


def has_many_values(n_distinct: int, n_known: int) -> bool:
    """Whether text has too many values for the rows there are."""
    return n_distinct > MANY_VALUES and n_known < ROWS_PER_VALUE * n_distinct


class TargetValues(NamedTuple):
    """The target as found in the table."""

    target: str
    values: tuple[Any, ...]  # distinct, sorted; of a category column, in its own order
    n_rows: int  # with a value
    ordered: bool  # the column itself says so
    numeric: bool
    whole: bool  # numbers, none with a fraction
    typed_whole: bool  # read as integers
    dispersion: float = 0.0  # variance over mean, of numbers above 0
    zeros: float = 0.0  # the share of zeros, of numbers from 0 up
    above: float = 1.0  # the share of numbers above half of the largest, of numbers from 0 up

    @property
    def are_amounts(self) -> bool:
        """Whether whole numbers from 0 up are measured rather than counted."""
        n = len(self.values)
        if self.values[-1] < LARGE or self.dispersion <= OVERDISPERSED:
            return False
        return n > MANY or 2 * n > self.n_rows or 2 * sum(v % ROUND == 0 for v in self.values) > n

    @property
    def zeros_of_amounts(self) -> float:
        """The share of zeros, if the numbers are measured rather than counted."""
        return self.zeros if not self.whole or self.are_amounts else 0.0


def target_values(table: "pa.Table", target: str) -> TargetValues:
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table.column(target)
    ordered = isinstance(column.type, pa.DictionaryType) and bool(column.type.ordered)
    plain = decoded(column)
    numeric = pa.types.is_integer(plain.type) or pa.types.is_floating(plain.type)
    if pa.types.is_decimal(plain.type):
        plain, numeric = pc.cast(plain, pa.float64()), True
    text = pa.types.is_string(plain.type) or pa.types.is_large_string(plain.type)
    if pa.types.is_temporal(plain.type):
        advice = "Turn them into numbers, such as days since the first, or choose another target"
        refuse_target(target, f"holds {plain.type} values; labels or numbers were", advice)
    if not (numeric or text or pa.types.is_boolean(plain.type) or pa.types.is_null(plain.type)):
        refuse_target(target, f"holds {plain.type}; labels or numbers were", "Convert it")
    if pa.types.is_floating(plain.type):
        plain = plain.filter(pc.invert(pc.is_nan(pc.fill_null(plain, float("nan")))))
    values = sorted(pc.unique(plain.drop_null()).to_pylist())
    if ordered:
        place = {label: k for k, label in enumerate(column.combine_chunks().dictionary.to_pylist())}
        values.sort(key=place.__getitem__)
    if len(values) < 2:
        found = f"holds nothing but {values[0]!r}" if values else "is empty"
        advice = "Add rows with other values, or choose another target"
        refuse_target(target, f"{found}; at least two different values were", advice)
    if numeric and not np.isfinite([values[0], values[-1]]).all():
        refuse_target(target, "holds infinity; finite numbers were", "Fix or drop those rows")
    from_0 = numeric and values[0] == 0
    return TargetValues(
        target=target,
        values=tuple(values),
        n_rows=len(plain) - plain.null_count,
        ordered=ordered,
        numeric=numeric,
        whole=numeric and all(float(value).is_integer() for value in values),
        typed_whole=pa.types.is_integer(plain.type),
        dispersion=_dispersion(plain) if numeric else 0.0,
        zeros=pc.mean(pc.equal(plain, 0)).as_py() if from_0 else 0.0,
        above=pc.mean(pc.greater(plain, values[-1] / 2)).as_py() if from_0 else 1.0,
    )


def _dispersion(column: Any) -> float:
    """Variance over mean; 0 where the mean is not above 0."""
    import pyarrow.compute as pc

    mean, spread = pc.mean(column).as_py(), pc.stddev(column).as_py()
    return spread * spread / mean if mean and mean > 0 else 0.0


def refuse_target(target: str, found: str, advice: str) -> NoReturn:
    raise InvalidInput(f"Column {target!r} {found} expected. {advice}.")
