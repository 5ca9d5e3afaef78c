"""Compiled sums over the rows of a CSR matrix.

    S = Σ_i d_i x_i x_iᵀ        q_i = x_iᵀ M x_i

Only the stored cells of a row are multiplied.  Starts and columns are int32 or int64, of one
dtype, all else float64; columns need not be sorted and may repeat.  The caller checks.
(Products with a vector are SciPy's: they release the interpreter's lock and a loop is no quicker.)
"""

import numpy as np
from numba import njit

TILE = 32  # rows and columns: both tiles of a sum across the diagonal stay in the first cache


@njit(cache=True, nogil=True)
def add_half_sandwich(starts, columns, values, place, d, out):
    """Add to ``out`` (k, k) a T with T + Tᵀ = S, on the columns j with place[j] ≥ 0.

    ``place`` (p,), int64, is the position of column j in S, or −1 where S leaves it out.
    """
    longest = 0
    for i in range(d.size):
        longest = max(longest, starts[i + 1] - starts[i])
    at = np.empty(longest, dtype=np.int64)  # the cells of a row that S has
    x = np.empty(longest)
    for i in range(d.size):
        n_cells = 0
        for t in range(starts[i], starts[i + 1]):
            position = place[columns[t]]
            if position >= 0:
                at[n_cells] = position
                x[n_cells] = values[t]
                n_cells += 1
        for a in range(n_cells):
            row = out[at[a]]
            weighted = d[i] * x[a]
            for b in range(a):
                row[at[b]] += weighted * x[b]
            row[at[a]] += 0.5 * weighted * x[a]


@njit(cache=True, nogil=True)
def add_transpose(T):
    """Overwrite T (k, k) with T + Tᵀ, tile by tile."""
    size = T.shape[0]
    for top in range(0, size, TILE):
        bottom = min(top + TILE, size)
        for left in range(0, bottom, TILE):
            for j in range(top, bottom):
                for k in range(left, min(left + TILE, j + 1)):
                    both = T[j, k] + T[k, j]
                    T[j, k] = both
                    T[k, j] = both


@njit(cache=True, nogil=True)
def csr_row_quadratic(starts, columns, values, M, out):
    """Overwrite ``out`` (n,)."""
    for i in range(out.size):
        total = 0.0
        for s in range(starts[i], starts[i + 1]):
            row = M[columns[s]]
            inner = 0.0
            for t in range(starts[i], starts[i + 1]):
                inner += values[t] * row[columns[t]]
            total += values[s] * inner
        out[i] = total


@njit(cache=True, nogil=True)
def repeats_cells(starts, columns, n_columns):
    """Whether any row has a column twice."""
    last = np.full(n_columns, -1, dtype=np.int64)  # the last row that had the column
    for i in range(starts.size - 1):
        for t in range(starts[i], starts[i + 1]):
            if last[columns[t]] == i:
                return True
            last[columns[t]] = i
    return False
