"""The column by which a person finds a row again: a name or a number that no two rows share."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

FEWEST_ROWS = 20  # in fewer rows any column may hold no value twice
LONGEST_NAME = 40  # letters on average; longer text is prose
NAMED = re.compile(r"(^|[\W_])(id|ID|Id|key|uuid)$|[a-z](Id|ID)$")


def identifier_of(table: "pa.Table", target: str) -> str | None:
    """The first such column, text before numbers; None where there is none.

    Whole numbers are often all different by chance, so that they must also go up from row to row,
    or be called an identifier.
    """
    if table.num_rows < FEWEST_ROWS:
        return None
    names = [name for name in table.column_names if name != target]
    found = [name for name in names if _names_rows(table.column(name), name)]
    return min(found, key=lambda name: not _is_text(table.column(name)), default=None)


def _names_rows(column: "pa.ChunkedArray", name: str) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = pa.types.is_integer(column.type)
    if not (whole or _is_text(column)) or column.null_count:
        return False
    if pc.count_distinct(column).as_py() < len(column):
        return False
    if whole:
        return bool(NAMED.search(name)) or _goes_up(column)
    return bool(pc.mean(pc.utf8_length(column)).as_py() <= LONGEST_NAME)


def _is_text(column: "pa.ChunkedArray") -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))


def _goes_up(column: "pa.ChunkedArray") -> bool:
    values = column.to_numpy()
    return bool((values[1:] > values[:-1]).all())
