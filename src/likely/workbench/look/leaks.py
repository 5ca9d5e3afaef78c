"""How much one column says about another, counted out of sample and cheaply.

    share(y | v) = 1 − L / H(y)        L = −(1/n) Σ_i ln (n_{v y} − 1 + α p_y) / (n_v − 1 + α)

over rows i with y = y_i and v = v_i: each row is foretold by the others of its value, so that a
column of names explains nothing.  For a target that is a number, the same with squares of ranks:

    share = 1 − Σ_i (r_i − r̄_{−i, v})² / Σ_i (r_i − r̄)²

References
----------
Stone, Cross-validatory choice and assessment of statistical predictions, JRSS B 36 (1974), §3.
"""

import numpy as np

from likely._typing import Array, Codes
from likely.data.split import hashed_uniforms
from likely.workbench.look.profile import Column

ALPHA = 0.1  # how many rows the overall shares count for, beside a value's own
BINS = 64  # of a number; a threshold anywhere is then at most 1/64 of the rows off
ROWS_PER_BIN = 8


def explained_share(of: Codes, by: Codes) -> float:
    """How much of the entropy of ``of`` is settled by ``by``, by leaving one out: at most 1."""
    size = int(of.max()) + 1
    cells, count = np.unique(by.astype(np.int64) * size + of, return_counts=True)
    share = np.bincount(of, minlength=size) / of.size
    inside = np.bincount(by)[cells // size]
    foretold = (count - 1 + ALPHA * share[cells % size]) / (inside - 1 + ALPHA)
    known = share[share > 0]
    entropy = -float(known @ np.log(known))
    loss = -float(count @ np.log(foretold)) / of.size
    return 1 - loss / entropy if entropy > 0 else 0.0


def explained_variance(of: Array, by: Codes) -> float:
    """How much of the variance of ``of`` is settled by ``by``, by leaving one out: at most 1."""
    count, total = np.bincount(by), np.bincount(by, weights=of)
    others = np.maximum(count[by] - 1, 1)
    foretold = np.where(count[by] > 1, (total[by] - of) / others, of.mean())
    spread = float(((of - of.mean()) ** 2).sum())
    return 1 - float(((of - foretold) ** 2).sum()) / spread if spread > 0 else 0.0


def binned(column: Column, most: int = BINS) -> Codes:
    """Codes from 0: missing, then a column's values; of a number, bins of about equal size."""
    n_bins = min(most, column.n_rows // ROWS_PER_BIN)
    if not (column.is_number and column.n_distinct > n_bins):
        return column.codes + np.int32(1)
    middle = _middle_ranks(column)
    bin_of = np.minimum(middle * n_bins // column.n_known, n_bins - 1).astype(np.int32) + 1
    return np.append(bin_of, np.int32(0))[column.codes]  # code −1 is the last


def ranks(column: Column) -> Array:
    """The rank of each row's number, from 0 to 1; ties share their middle."""
    return (_middle_ranks(column) / column.n_known)[column.codes]


def _middle_ranks(column: Column) -> Array:
    """Of each distinct number, the middle of the ranks that its rows have."""
    middle = np.empty(column.n_distinct)
    counts = column.counts[column.order]
    middle[column.order] = np.cumsum(counts) - counts / 2
    return middle


def some_rows(known: Array, most: int) -> Array:
    """The indices of the rows that are known; of many, those that a hash chooses."""
    rows = np.flatnonzero(known)
    if rows.size <= most:
        return rows
    return rows[hashed_uniforms(0, known.size, 0)[rows] < most / rows.size]
