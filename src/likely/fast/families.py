"""Compiled counts of combinations of codes.

    families   N_f(cell) = Σ_i w_i [x_i,f = cell]        of several columns, all families at once
    pairs      N_k(u, v) = Σ_i w_i [y_i = k][x_ia = u][x_ib = v]        of every two columns

A code of −1 is missing: a row in which a column of a family is missing does not count for it.
Codes are int32 (n, p) in C order; weights and outputs float64, everything else int64; all of it
C-contiguous and writable.  The caller checks that codes are below the sizes.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def count_families(codes, weight, first, columns, strides, starts, out):
    """Add the counts of all families to ``out``, their tables one after the other.

    Family f has the columns ``columns[first[f]:first[f + 1]]`` with these strides in its table,
    which begins at ``starts[f]``.
    """
    for i in range(codes.shape[0]):
        row = codes[i]
        w = weight[i]
        for f in range(starts.size):
            cell = starts[f]
            signs = np.int64(0)  # negative when one of the codes is
            for t in range(first[f], first[f + 1]):
                code = np.int64(row[columns[t]])
                signs |= code
                cell += strides[t] * code
            if signs >= 0:
                out[cell] += w


@njit(cache=True, nogil=True)
def count_pairs(codes, labels, weight, starts, out):
    """Add the counts of all pairs of columns a ≤ b to ``out`` (K, V, V), V the sum of all sizes.

    The states of column a begin at ``starts[a]``.  A label of −1 is skipped.
    """
    n, p = codes.shape
    place = np.empty(p, dtype=np.int64)
    for i in range(n):
        k = labels[i]
        if k < 0:
            continue
        known = 0
        for a in range(p):
            code = np.int64(codes[i, a])
            if code >= 0:
                place[known] = starts[a] + code
                known += 1
        w = weight[i]
        for s in range(known):
            row = out[k, place[s]]
            for t in range(s, known):
                row[place[t]] += w


@njit(cache=True, nogil=True)
def count_triples(above, middle, below, weight, n_middle, n_below, out):
    """Add Σ w [above = j][middle = u][below = v] to ``out``, flat in this order; no code is −1."""
    for i in range(above.size):
        cell = (np.int64(above[i]) * n_middle + middle[i]) * n_below + below[i]
        out[cell] += weight[i]
