"""Text labels: how many distinct labels a target may have, and what else its text may be.

A column in which nearly every text differs holds names, dates, or formatted
numbers; none of these are classes, and each needs different advice.
"""

from collections.abc import Sequence
from re import match
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput

if TYPE_CHECKING:
    import pyarrow as pa

MANY_CLASSES = 20  # more labels than this need …
FEW_ROWS = 5  # … at least this many rows each, on average
SOME_COUNTS, RARELY_LARGE = 8, 0.05
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


def are_repeated(n_values: int, n_rows: int, above: float = 1.0) -> bool:
    """Whether whole numbers are so few, each in many rows, that they are classes.

    Numbers from 0 up of which a share ``above`` of the rows is above half of the largest are
    counts, if there are some and large ones are rare.
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
