"""Text as labels: how many different ones a target may have, and what else its text may be.

A column in which nearly every text differs holds names, dates, or numbers that were written for
people; none of them are classes, and each has its own remedy.
"""

from collections.abc import Sequence
from re import match
from typing import NoReturn

from likely.errors import InvalidInput

MANY_CLASSES = 20  # more labels than this need …
FEW_ROWS = 5  # … at least this many rows each, on average
WRITTEN_NUMBER = (  # 1,234.5   1.234,5   12,5   € 30   5 %
    r"^\s*[€$£¥]?\s*[+-]?(\d{1,3}([,.' ]\d{3})+|\d+)([.,]\d+)?\s*([€$£¥%]|EUR|USD|GBP)?\s*$"
)
DATE = (  # 2024-02-29, 29.2.2024, 2/29/24, and a time of day behind it
    r"^\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))"
    r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?\s*$"
)
MOST = 0.9  # of the different texts decide what they are


def are_names(n_values: int, n_rows: int) -> bool:
    """Whether there are too many different labels for the rows."""
    return n_values > MANY_CLASSES and n_values * FEW_ROWS > n_rows


def refuse_names(target: str, values: Sequence[str], n_rows: int) -> NoReturn:
    """Say what the texts seem to be, and what to do with such."""
    what, advice = _seems(values)
    raise InvalidInput(
        f"Column {target!r} holds {what} ({len(values):,} different values in {n_rows:,} rows, "
        f"such as {values[0]!r}); classes with several rows each were expected. {advice}."
    )


def _seems(values: Sequence[str]) -> tuple[str, str]:
    kinds = (
        (DATE, "dates", "Turn them into numbers, such as days since the first"),
        (WRITTEN_NUMBER, "numbers as text", "Write them plainly, as 1234.5: nothing but a point"),
    )
    for pattern, what, advice in kinds:
        if sum(match(pattern, value) is not None for value in values) >= MOST * len(values):
            return what, f"{advice}, or choose another target"
    return "names", "Choose another target, or join the rare ones"
