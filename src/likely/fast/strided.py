"""Compiled products and sums of tables, one of which moves by strides.

An operation goes over a clique's table from end to end, while the other table (a factor, a message,
a vector) moves by the strides of its axes: axes that one stride serves are merged, so the innermost
loop is long and its stride is 1 or 0.  The integers of a plan lie in one array, in sections:
section s is plan[plan[s] : plan[s + 1]].  Operation o has the axes DIMS[o] to DIMS[o + 1],
outermost first, of SIZES and STRIDES.

Integers are int64, numbers float64, C order.  Indices are unsigned inside, because a signed one
that may be negative keeps a loop from being vectorised.  ``count`` is room for a number for each
axis.  The caller checks; nothing is checked here.
"""

import numpy as np
from numba import njit, uint64

DIMS, SIZES, STRIDES = 0, 1, 2  # the first sections of a plan
UNDERFLOW = -750.0  # exp is 0 below


@njit(cache=True, nogil=True)
def merged_axes(op_table, op_starts, op_axes, table_starts, table_axes, n_states):
    """The merged axes of operations: table ``op_table[o]`` with a C-ordered one over ``op_axes``.

    Axes of the second that the first does not have are left out: they are observed.
    """
    most = 0
    for o in range(op_table.size):
        most += table_starts[op_table[o] + 1] - table_starts[op_table[o]]
    dims = np.zeros(op_table.size + 1, dtype=np.int64)
    sizes, strides = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    stride, end = np.zeros(n_states.size, dtype=np.int64), 0
    for o in range(op_table.size):
        step = 1
        for p in range(op_starts[o + 1] - 1, op_starts[o] - 1, -1):
            stride[op_axes[p]] = step
            step *= n_states[op_axes[p]]
        for p in range(table_starts[op_table[o]], table_starts[op_table[o] + 1]):
            v = table_axes[p]
            if end > dims[o] and strides[end - 1] == stride[v] * n_states[v]:
                sizes[end - 1] *= n_states[v]
                strides[end - 1] = stride[v]
            else:
                sizes[end], strides[end] = n_states[v], stride[v]
                end += 1
        dims[o + 1] = end
        for p in range(op_starts[o], op_starts[o + 1]):
            stride[op_axes[p]] = 0
    return dims, sizes[:end].copy(), strides[:end].copy()


@njit(cache=True, nogil=True)
def _next(base, first, outer, plan, count):
    """Where the other table is after one round of the inner axes; −1 at the end."""
    sizes, strides = plan[SIZES] + first, plan[STRIDES] + first
    for k in range(outer - 1, -1, -1):
        count[k] += 1
        base += plan[strides + k]
        if count[k] < plan[sizes + k]:
            return base
        base -= plan[strides + k] * plan[sizes + k]
        count[k] = 0
    return -1


@njit(cache=True, nogil=True)
def _begin(plan, o, inner, count):
    """The first axis of an operation, and the number of its axes but for the ``inner`` ones."""
    first, last = plan[plan[DIMS] + o], plan[plan[DIMS] + o + 1]
    outer = max(last - first - inner, 0)
    for k in range(outer):
        count[k] = 0
    return first, last, outer


@njit(cache=True, nogil=True)
def multiply(table, at, other, start, plan, o, count):
    """table ×= other, from ``at`` and from ``start`` on."""
    first, last, outer = _begin(plan, o, 2, count)
    n0, t0 = uint64(plan[plan[SIZES] + last - 1]), uint64(plan[plan[STRIDES] + last - 1])
    n1, t1 = 1, uint64(0)
    if last - first > 1:
        n1, t1 = plan[plan[SIZES] + last - 2], uint64(plan[plan[STRIDES] + last - 2])
    p, base = uint64(at), start
    while base >= 0:
        s = uint64(base)
        for _ in range(n1):
            if t0 == 1:
                for j in range(n0):
                    table[p + j] *= other[s + j]
            elif t0 == 0:
                x = other[s]
                for j in range(n0):
                    table[p + j] *= x
            else:
                for j in range(n0):
                    table[p + j] *= other[s + j * t0]
            p += n0
            s += t1
        base = _next(base, first, outer, plan, count)


@njit(cache=True, nogil=True)
def assign(table, at, other, start, plan, o, count):
    """table = other, from ``at`` and from ``start`` on."""
    first, last, outer = _begin(plan, o, 1, count)
    n0, t0 = uint64(plan[plan[SIZES] + last - 1]), uint64(plan[plan[STRIDES] + last - 1])
    p, base = uint64(at), start
    while base >= 0:
        s = uint64(base)
        for j in range(n0):
            table[p + j] = other[s + j * t0]
        p += n0
        base = _next(base, first, outer, plan, count)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def sum_onto(other, start, table, at, plan, o, count):
    """other += Σ table over the axes that ``other`` does not have."""
    first, last, outer = _begin(plan, o, 2, count)
    n0, t0 = uint64(plan[plan[SIZES] + last - 1]), uint64(plan[plan[STRIDES] + last - 1])
    n1, t1 = 1, uint64(0)
    if last - first > 1:
        n1, t1 = plan[plan[SIZES] + last - 2], uint64(plan[plan[STRIDES] + last - 2])
    p, base = uint64(at), start
    while base >= 0:
        s = uint64(base)
        for _ in range(n1):
            if t0 == 1:
                for j in range(n0):
                    other[s + j] += table[p + j]
            elif t0 == 0:
                x = 0.0
                for j in range(n0):
                    x += table[p + j]
                other[s] += x
            else:
                for j in range(n0):
                    other[s + j * t0] += table[p + j]
            p += n0
            s += t1
        base = _next(base, first, outer, plan, count)


@njit(cache=True, nogil=True)
def add(table, at, other, start, plan, o, count):
    """table += other, from ``at`` and from ``start`` on."""
    first, last, outer = _begin(plan, o, 1, count)
    n0, t0 = uint64(plan[plan[SIZES] + last - 1]), uint64(plan[plan[STRIDES] + last - 1])
    p, base = uint64(at), start
    while base >= 0:
        s = uint64(base)
        if t0 == 1:
            for j in range(n0):
                table[p + j] += other[s + j]
        else:
            for j in range(n0):
                table[p + j] += other[s + j * t0]
        p += n0
        base = _next(base, first, outer, plan, count)


@njit(cache=True, nogil=True)
def max_onto(other, start, table, at, plan, o, count):
    """other = max(other, table) over the axes that ``other`` does not have."""
    first, last, outer = _begin(plan, o, 1, count)
    n0, t0 = uint64(plan[plan[SIZES] + last - 1]), uint64(plan[plan[STRIDES] + last - 1])
    p, base = uint64(at), start
    while base >= 0:
        s = uint64(base)
        if t0 == 1:
            for j in range(n0):
                other[s + j] = max(other[s + j], table[p + j])
        else:
            for j in range(n0):
                other[s + j * t0] = max(other[s + j * t0], table[p + j])
        p += n0
        base = _next(base, first, outer, plan, count)


@njit(cache=True, nogil=True)
def exp_sum_onto(other, start, tops, tops_start, table, at, plan, o, count):
    """other += Σ exp(table − tops) over the axes that ``other`` and ``tops`` do not have."""
    first, last, outer = _begin(plan, o, 1, count)
    n0, t0 = uint64(plan[plan[SIZES] + last - 1]), uint64(plan[plan[STRIDES] + last - 1])
    p, base, shift = uint64(at), start, uint64(tops_start - start)
    while base >= 0:
        s = uint64(base)
        for j in range(n0):
            x = table[p + j] - tops[s + j * t0 + shift]
            if x > UNDERFLOW:  # which −inf − (−inf) is not
                other[s + j * t0] += np.exp(x)
        p += n0
        base = _next(base, first, outer, plan, count)
