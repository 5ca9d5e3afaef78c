"""Columns that name rows: one rule for ``look``, for preparation and for the report.

    text             nearly every value differs, and values are as short as names
    whole numbers    every value differs, and the column is called an identifier, or its numbers
                     run without a gap

Preparation drops text that names rows, and numbers that are called identifiers.  Numbers that run
without a gap it keeps: they may be time, and a part of the rows has gaps.
"""

import re
from typing import TYPE_CHECKING

from likely._typing import Array

if TYPE_CHECKING:
    import pyarrow as pa

FEWEST_ROWS = 20  # in fewer rows any column may hold no value twice
NEARLY_ALL = 0.95  # of the values of an identifier are different
LONGEST_NAME = 40  # letters on average; longer text is prose
MANY_VALUES = 50  # text with more, and with few rows to each, is no category
ROWS_PER_VALUE = 10
CALLED = re.compile(r"(^|[\W_])(id|ID|Id|key|uuid)$|[a-z](Id|ID)$")


def names_rows(n_distinct: int, n_known: int) -> bool:
    """Whether so many different texts in so many rows name the rows."""
    return n_known >= FEWEST_ROWS and n_distinct >= NEARLY_ALL * n_known


def is_short(mean_length: float) -> bool:
    """Whether texts are as short as names are; longer ones are prose."""
    return mean_length <= LONGEST_NAME


def is_called_identifier(name: str, numbers: Array) -> bool:
    """Whether whole numbers all differ, in a column that is called an identifier."""
    if len(numbers) < FEWEST_ROWS or CALLED.search(name) is None:
        return False
    return len(set(numbers.tolist())) == len(numbers) and bool((numbers % 1 == 0).all())


def run_without_gap(numbers: Array) -> bool:
    """Whether different whole numbers leave no number out between the least and the greatest."""
    whole = bool((numbers % 1 == 0).all())
    return (
        whole and len(numbers) >= FEWEST_ROWS and numbers.max() - numbers.min() == len(numbers) - 1
    )


def has_many_values(n_distinct: int, n_known: int) -> bool:
    """Whether text has too many values for the rows there are."""
    return n_distinct > MANY_VALUES and n_known < ROWS_PER_VALUE * n_distinct


def identifier_of(table: "pa.Table", target: str) -> str | None:
    """The first column by which a person finds a row again, text before numbers.

    Every row has a value of its own there.  Whole numbers are often all different by chance, so
    that they must also be called an identifier, run without a gap, or go up from row to row.
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
