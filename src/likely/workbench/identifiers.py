"""Identifier columns: one rule for ``look``, for preparation and for the report.

    text             nearly every value is different, and values are as short as names
    whole numbers    every value is different, and the column is named like an identifier, or its
                     numbers have no gaps

Preparation drops text identifiers, and numbers in columns named like identifiers.  It keeps numbers
without gaps: they may be times, and a part of the rows has gaps.
"""

import re
from typing import TYPE_CHECKING

from likely._typing import Array

if TYPE_CHECKING:
    import pyarrow as pa

FEWEST_ROWS = 20  # with fewer rows, values may all be different by chance
NEARLY_ALL = 0.95  # of the values of an identifier are different
LONGEST_NAME = 40  # letters on average; longer text is prose
MANY_VALUES = 50  # text with more, and with few rows to each, is not a category
ROWS_PER_VALUE = 10
CALLED = re.compile(r"(^|[\W_])(id|ID|Id|key|uuid)$|[a-z](Id|ID)$")


def names_rows(n_distinct: int, n_known: int) -> bool:
    """Whether this many different texts in this many rows are an identifier."""
    return n_known >= FEWEST_ROWS and n_distinct >= NEARLY_ALL * n_known


def is_short(mean_length: float) -> bool:
    """Whether texts are as short as names; longer ones are free text."""
    return mean_length <= LONGEST_NAME


def is_called_identifier(name: str, numbers: Array) -> bool:
    """Whether whole numbers all differ, in a column that is named like an identifier."""
    if len(numbers) < FEWEST_ROWS or CALLED.search(name) is None:
        return False
    return len(set(numbers.tolist())) == len(numbers) and bool((numbers % 1 == 0).all())


def run_without_gap(numbers: Array) -> bool:
    """Whether distinct whole numbers have no gap between the smallest and the largest."""
    whole = bool((numbers % 1 == 0).all())
    return (
        whole and len(numbers) >= FEWEST_ROWS and numbers.max() - numbers.min() == len(numbers) - 1
    )


def has_many_values(n_distinct: int, n_known: int) -> bool:
    """Whether text has too many values for the rows there are."""
    return n_distinct > MANY_VALUES and n_known < ROWS_PER_VALUE * n_distinct


def identifier_of(table: "pa.Table", target: str) -> str | None:
    """The first column that identifies rows, text before numbers.

    Every row has a different value in it.  Whole numbers are often all different by chance, so
    the column must also be named like an identifier, have no gaps, or increase from row to row.
    """
    if table.num_rows < FEWEST_ROWS:
        return None
    names = [name for name in table.column_names if name != target]
    found = [name for name in names if _finds_rows(table.column(name), name)]
    return min(found, key=lambda name: not _is_text(table.column(name)), default=None)


def _finds_rows(column: "pa.ChunkedArray", name: str) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = pa.types.is_integer(column.type)
    if not (whole or _is_text(column)) or column.null_count:
        return False
    if pc.count_distinct(column).as_py() < len(column):
        return False
    if not whole:
        return is_short(pc.mean(pc.utf8_length(column)).as_py())
    numbers = column.to_numpy()
    upwards = bool((numbers[1:] > numbers[:-1]).all())
    return upwards or is_called_identifier(name, numbers) or run_without_gap(numbers)


def _is_text(column: "pa.ChunkedArray") -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))
