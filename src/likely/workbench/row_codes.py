"""Groups and times as whole numbers, one for each row: by these, rows are held out."""

from typing import TYPE_CHECKING

import numpy as np

from likely._typing import Codes
from likely.sealing.split import times_of

if TYPE_CHECKING:
    import pyarrow as pa


def codes_of(table: "pa.Table", name: str) -> Codes:
    """Whole numbers in the order of a column's values; each missing one is a value of its own."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    rank = pc.rank(column, sort_keys="ascending", tiebreaker="dense")
    codes = np.array(rank.to_numpy(), dtype=np.int64)
    gaps = np.asarray(pc.is_null(column).to_numpy())
    codes[gaps] = codes.max() + 1 + np.arange(int(gaps.sum()))
    return codes


def time_of(table: "pa.Table", name: str) -> Codes:
    """Whole numbers in the order of time; a column that has none is refused."""
    import pyarrow.compute as pc

    rank = pc.rank(times_of(table.column(name), name), sort_keys="ascending", tiebreaker="dense")
    return np.asarray(rank.to_numpy()).astype(np.int64)
