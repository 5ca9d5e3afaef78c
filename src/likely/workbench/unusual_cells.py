"""The cells of a row that are far from those of other rows: the reason for a surprising prediction.

z = |x − median| / s,    s = (upper quartile − lower quartile) / 1.35,  a Gaussian's SD
"""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

MOST_CELLS = 3
FAR = 3.0  # z beyond which a cell is unusual
QUARTILES_PER_SD = 1.35  # of a Gaussian


def unusual_cells(table: "pa.Table", row: int, features: list[str]) -> dict[str, Any]:
    """The numbers of a row that are far from the middle of their columns, the farthest first."""
    import pyarrow as pa
    import pyarrow.compute as pc

    far: dict[str, float] = {}
    for name in features:
        column = table.column(name)
        value = column[row].as_py()
        is_number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        if not is_number or value is None:
            continue
        known = column.drop_null().to_numpy().astype(np.float64)
        low, middle, high = np.nanquantile(known, [0.25, 0.5, 0.75])
        spread = (high - low) / QUARTILES_PER_SD or float(pc.stddev(column).as_py() or 0.0)
        if spread > 0 and abs(value - middle) > FAR * spread:
            far[name] = abs(value - middle) / spread
    farthest = sorted(far, key=lambda name: -far[name])[:MOST_CELLS]
    return {name: table.column(name)[row].as_py() for name in farthest}
