"""Compiled products with one-hot columns that are stored as codes.

    η_i += Σ_b θ[s_b + code_ib]        g[s_b + code_ib] += r_i

Column b of the codes represents the indicators s_b, s_b + 1, … of the design.  A code of −1 is
skipped: a row of zeros; one beyond its column's categories would write outside the arrays.
Codes are int32, starts int64, all else float64; C-contiguous.  Columns of codes beyond the last
start are not read.  The caller checks.
"""

import numpy as np
from numba import njit

TILE = 32  # rows and columns: both tiles of a copy across the diagonal stay in the first cache
VECTOR = {"reassoc", "contract", "nsz"}  # sums may be reordered into vector lanes


@njit(cache=True, nogil=True)
def add_picked(codes, starts, theta, eta):
    """Add the picked θ (p,) to ``eta`` (n,)."""
    for i in range(eta.size):
        total = 0.0
        for b in range(starts.size):
            v = codes[i, b]
            if v >= 0:
                total += theta[starts[b] + v]
        eta[i] += total


@njit(cache=True, nogil=True)
def add_picked_rows(codes, starts, theta, eta):
    """Add the picked rows of θ (p, K) to ``eta`` (n, K)."""
    n, n_outputs = eta.shape
    for i in range(n):
        for b in range(starts.size):
            v = codes[i, b]
            if v >= 0:
                picked = theta[starts[b] + v]
                for k in range(n_outputs):
                    eta[i, k] += picked[k]


@njit(cache=True, nogil=True)
def sum_by_code(codes, starts, residual, out):
    """Add the residuals (n,) of each category to ``out`` (p,)."""
    for i in range(residual.size):
        r = residual[i]
        for b in range(starts.size):
            v = codes[i, b]
            if v >= 0:
                out[starts[b] + v] += r


@njit(cache=True, nogil=True)
def sum_rows_by_code(codes, starts, residual, out):
    """Add the residuals (n, K) of each category to ``out`` (p, K)."""
    n, n_outputs = residual.shape
    for i in range(n):
        for b in range(starts.size):
            v = codes[i, b]
            if v >= 0:
                total = out[starts[b] + v]
                for k in range(n_outputs):
                    total[k] += residual[i, k]


@njit(cache=True, nogil=True, fastmath=VECTOR)
def add_code_products(X, centre, codes, starts, d, out):
    """Add to ``out`` (p, p), symmetric, Σ d (x − c) per category and Σ d per pair of categories.

    One pass over the rows fills the part below the diagonal: row s_b + code holds its sums with
    the numeric columns side by side.  The block of the numeric columns themselves is left alone.
    """
    n, n_numeric = X.shape
    weighted = np.empty(n_numeric)
    seen = np.empty(starts.size, dtype=np.int64)  # this row's indicators so far
    for i in range(n):
        w = d[i]
        x = X[i]
        for j in range(n_numeric):
            weighted[j] = w * (x[j] - centre[j])
        n_seen = 0
        for b in range(starts.size):
            v = codes[i, b]
            if v < 0:
                continue
            at = starts[b] + v
            row = out[at]
            for j in range(n_numeric):
                row[j] += weighted[j]
            for a in range(n_seen):
                row[seen[a]] += w
            row[at] += w
            seen[n_seen] = at
            n_seen += 1
    _mirror(out, n_numeric)


@njit(cache=True, nogil=True)
def _mirror(out, first):
    """Copy what lies below the diagonal, from row ``first`` on, to above it, tile by tile."""
    size = out.shape[0]
    for top in range(first, size, TILE):
        bottom = min(top + TILE, size)
        for left in range(0, bottom, TILE):
            for j in range(top, bottom):
                for k in range(left, min(left + TILE, j)):
                    out[k, j] = out[j, k]


@njit(cache=True, nogil=True, fastmath=VECTOR)
def add_code_quadratic(X, centre, codes, starts, doubled, out):
    """Add to ``out`` (n,) the terms of xᵀMx that an indicator enters; ``doubled`` is M + Mᵀ."""
    n, n_numeric = X.shape
    seen = np.empty(starts.size, dtype=np.int64)
    for i in range(n):
        x = X[i]
        n_seen = 0
        total = 0.0
        for b in range(starts.size):
            v = codes[i, b]
            if v < 0:
                continue
            at = starts[b] + v
            row = doubled[at]
            for j in range(n_numeric):
                total += (x[j] - centre[j]) * row[j]
            for a in range(n_seen):
                total += row[seen[a]]
            total += 0.5 * row[at]
            seen[n_seen] = at
            n_seen += 1
        out[i] += total
