"""The cells of a row that are far from those of other rows: the reason for a surprising prediction.

z = |x − median| / s,    s = (upper quartile − lower quartile) / 1.35,  a Gaussian's SD
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from likely._typing import Array

if TYPE_CHECKING:
    import pyarrow as pa

MOST_CELLS = 3
FAR = 3.0  # z beyond which a cell is unusual
QUARTILES_PER_SD = 1.35  # of a Gaussian
SHARES = (0.25, 0.5, 0.75)
COLUMNS_AT_ONCE = 512  # a matrix of some columns, not a copy of the whole table


def unusual_cells(table: "pa.Table", row: int, features: list[str]) -> dict[str, Any]:
    """The numbers of a row that are far from the middle of their columns, the farthest first."""
    return unusual_cells_of_rows(table, [row], features)[0]


@np.errstate(invalid="ignore")  # ∞ − ∞ is NaN, which is not far
def unusual_cells_of_rows(
    table: "pa.Table", rows: list[int], features: list[str]
) -> list[dict[str, Any]]:
    """The unusual cells of each row; the quartiles of a column are computed once for all rows."""
    numbers = [name for name in features if _is_number(table.schema.field(name).type)]
    far: list[dict[str, float]] = [{} for _ in rows]
    for start in range(0, len(numbers), COLUMNS_AT_ONCE):
        names = numbers[start : start + COLUMNS_AT_ONCE]
        columns = [table.column(name).to_numpy().astype(np.float64) for name in names]
        middle, spread = _middle_and_spread(table, names, columns)
        for found, row in zip(far, rows, strict=True):
            distance = np.abs(np.array([column[row] for column in columns]) - middle)
            for k in np.flatnonzero((spread > 0) & (distance > FAR * spread)).tolist():
                found[names[k]] = float(distance[k] / spread[k])
    return [
        {name: table.column(name)[row].as_py() for name in _farthest(found)}
        for found, row in zip(far, rows, strict=True)
    ]


def _farthest(far: dict[str, float]) -> list[str]:
    return sorted(far, key=lambda name: -far[name])[:MOST_CELLS]


def _is_number(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _middle_and_spread(
    table: "pa.Table", names: list[str], columns: list[Array]
) -> tuple[Array, Array]:
    """The median and the spread of each column; a missing cell, here NaN, is left out."""
    import pyarrow.compute as pc

    quartiles = np.full((3, len(columns)), np.nan)
    gaps = np.array([bool(np.isnan(column).any()) for column in columns])
    whole = np.flatnonzero(~gaps)
    if whole.size and columns[0].size:
        matrix = np.stack([columns[k] for k in whole.tolist()])
        quartiles[:, whole] = np.quantile(matrix, SHARES, axis=1)
    for k in np.flatnonzero(gaps).tolist():
        known = columns[k][~np.isnan(columns[k])]
        if known.size:
            quartiles[:, k] = np.quantile(known, SHARES)
    low, middle, high = quartiles
    spread = (high - low) / QUARTILES_PER_SD
    for k in np.flatnonzero(spread == 0).tolist():
        spread[k] = pc.stddev(table.column(names[k])).as_py() or 0.0
    return middle, spread
