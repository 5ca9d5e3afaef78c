"""Infinite numbers in a table, found with the row they are in."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from likely.errors import InvalidInput

if TYPE_CHECKING:
    import pyarrow as pa


def refuse_infinities(batches: "Iterable[pa.RecordBatch]") -> None:
    """Name the first; a mean, a scale or a sum survives none of them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    start = 0
    for batch in batches:
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if not pa.types.is_floating(column.type):
                continue
            row = pc.index(pc.is_inf(column), True).as_py()
            if row >= 0:
                raise InvalidInput(
                    f"Row {start + row}, column {name!r}: found {column[row].as_py()}; a number "
                    "must be finite or missing. Remove the row, or leave the cell empty."
                )
        start += batch.num_rows
