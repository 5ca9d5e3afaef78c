"""Compiled sums and counts by label.

    sums_kj = Σ_i w_i [y_i = k] x_ij        counts_k,v = Σ_i w_i [y_i = k][x_ij = v]

Labels of −1 are skipped.  X is C-contiguous float64 (sums) or int32 / int64 (counts);
labels int64, weights and outputs float64; the caller checks.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def sum_by_label(X, labels, weight, out):
    """Add Σ w x to ``out`` (K, d) and return Σ w, (K,)."""
    n, d = X.shape
    total = np.zeros(out.shape[0])
    for i in range(n):
        k = labels[i]
        if k < 0:
            continue
        w = weight[i]
        total[k] += w
        for j in range(d):
            out[k, j] += w * X[i, j]
    return total


@njit(cache=True, nogil=True)
def sum_csr_by_label(starts, columns, values, labels, weight, out):
    """Add Σ w x to ``out`` (K, d), for the rows of a CSR matrix; starts and columns int64."""
    for i in range(labels.size):
        k = labels[i]
        if k < 0:
            continue
        w = weight[i]
        for p in range(starts[i], starts[i + 1]):
            out[k, columns[p]] += w * values[p]


@njit(cache=True, nogil=True)
def centred_powers_by_label(X, labels, weight, mean, first, second):
    """Add Σ w (x − mean_k) to ``first`` and Σ w (x − mean_k)² to ``second``, (K, d)."""
    n, d = X.shape
    for i in range(n):
        k = labels[i]
        if k < 0 or weight[i] == 0.0:
            continue
        w = weight[i]
        for j in range(d):
            delta = X[i, j] - mean[k, j]
            first[k, j] += w * delta
            second[k, j] += w * delta * delta


@njit(cache=True, nogil=True)
def distinct_by_column(X, bits, counted, most, table):
    """Put the distinct values of each column into ``table`` (d, slots); nan is skipped.

    ``bits`` is X read as uint64, and ``slots`` a power of two above ``most``.  Returns which
    columns have more than ``most`` values; these are not read further.
    """
    n, d = X.shape
    slots = np.uint64(table.shape[1] - 1)
    count = np.zeros(d, np.int64)
    last = np.full(d, np.nan)
    columns = np.arange(d)  # the first ``n_open`` are still read
    n_open = d
    for i in range(n):
        if not counted[i] or n_open == 0:
            continue
        p = 0
        while p < n_open:
            j = columns[p]
            x = X[i, j]
            p += 1
            if x == last[j] or np.isnan(x):
                continue
            last[j] = x
            mixed = bits[i, j] * np.uint64(0x9E3779B97F4A7C15) if x != 0.0 else np.uint64(0)
            slot = (mixed >> np.uint64(48)) & slots  # high bits: low ones are 0 in whole numbers
            while table[j, slot] != x and not np.isnan(table[j, slot]):
                slot = (slot + np.uint64(1)) & slots
            if table[j, slot] == x:
                continue
            count[j] += 1
            if count[j] > most:
                p -= 1
                n_open -= 1
                columns[p] = columns[n_open]
                continue
            table[j, slot] = x
    return count > most


@njit(cache=True, nogil=True)
def count_codes(X, labels, weight, starts, out):
    """Add Σ w [x_ij = v] to ``out`` (K, Σ_j V_j); codes of −1 are skipped."""
    n, d = X.shape
    for i in range(n):
        k = labels[i]
        if k < 0:
            continue
        w = weight[i]
        for j in range(d):
            v = X[i, j]
            if v >= 0:
                out[k, starts[j] + v] += w


@njit(cache=True, nogil=True)
def count_small_values(X, labels, cap, stride, out):
    """Add the counts of values 0 … cap − 1 to ``out`` (K, d·stride), uint32; False if
    a value is outside.

    ``cap`` is a power of two.  Column j's counts begin at j·stride; a stride that is not a power
    of two keeps the columns' tables from evicting one another.
    """
    n, d = X.shape
    mask = np.uint64(cap - 1)
    step = np.uint64(stride)
    seen = np.uint64(0)  # all bits of all values: unsigned, so a negative one sets the highest
    for i in range(n):
        k = labels[i]
        if k < 0:
            continue
        row = out[k]
        x = X[i]
        for j in range(d):
            v = np.uint64(x[j])
            seen |= v
            row[np.uint64(j) * step + (v & mask)] += np.uint32(1)
    return seen <= mask
