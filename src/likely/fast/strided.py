"""Compiled products and sums of tables, one of which moves by strides.

An operation goes over a clique's table from end to end, while the other table (a factor, a message,
a vector) moves by the strides of its axes: axes that one stride serves are merged, so the innermost
loop is long and its stride is 1 or 0.  The integers of a plan lie in one array, in sections:
section s is plan[plan[s] : plan[s + 1]].  Operation o has the axes DIMS[o] to DIMS[o + 1],
outermost first, of SIZES and STRIDES.

⊗ and ⊕ are those of a semiring, fixed when a loop is made: × and Σ of numbers, + and max of their
logs.  Loops are made at import, from a constant, so that Numba keeps each on disk.

Integers are int64, numbers float64, C order.  Indices are unsigned inside, because a signed one
that may be negative keeps a loop from being vectorised.  ``count`` is room for a number for each
axis.  The caller checks; nothing is checked here.
"""

import numpy as np
from numba import njit, uint64

DIMS, SIZES, STRIDES = 0, 1, 2  # the first sections of a plan
UNDERFLOW = -750.0  # exp is 0 below


def loop_named(name, **options):
    """A loop that a factory makes, under a name of its own.

    Two loops of one name, compiled by different processes, may have the same symbol; loaded from
    disk into a third, one of them would be called for both.
    """

    def compiled(function):
        function.__name__ = function.__qualname__ = name
        return njit(cache=True, nogil=True, **options)(function)

    return compiled


@njit(cache=True, nogil=True)
def merge_axes(
    op_table,
    op_starts,
    op_axes,
    table_starts,
    table_axes,
    n_states,
    cut,
    n_factors,
    dims,
    sizes,
    strides,
):
    """Fill the merged axes of operations; returns where they end.

    Operation o goes over table ``op_table[o]``, which lacks the variables that are ``cut``, with a
    C-ordered one over ``op_axes``.  Those of the first ``n_factors`` are whole; others lack these
    variables, too.  An operation on one cell has an axis of size 1.
    """
    stride, end = np.zeros(n_states.size, dtype=np.int64), 0
    for o in range(op_table.size):
        step = 1
        for p in range(op_starts[o + 1] - 1, op_starts[o] - 1, -1):
            v = op_axes[p]
            stride[v] = step
            step *= n_states[v] if o < n_factors or not cut[v] else 1
        dims[o] = end
        for p in range(table_starts[op_table[o]], table_starts[op_table[o] + 1]):
            v = table_axes[p]
            if cut[v]:
                continue
            if end > dims[o] and strides[end - 1] == stride[v] * n_states[v]:
                sizes[end - 1] *= n_states[v]
                strides[end - 1] = stride[v]
            else:
                sizes[end], strides[end] = n_states[v], stride[v]
                end += 1
        if end == dims[o]:
            sizes[end], strides[end] = 1, 0
            end += 1
        for p in range(op_starts[o], op_starts[o + 1]):
            stride[op_axes[p]] = 0
    dims[op_table.size] = end
    return end


@njit(cache=True, nogil=True)
def times(x, y, in_logs):
    """x ⊗ y."""
    return x + y if in_logs else x * y


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def plus(x, y, in_logs):
    """x ⊕ y: the sum of numbers, the larger of two logs."""
    return max(x, y) if in_logs else x + y


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


def _combiner(name, in_logs):
    """⊗ of a table with another: × of numbers, + of their logs."""

    @loop_named(name)
    def combine(table, at, other, start, plan, o, count):
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
                        table[p + j] = times(table[p + j], other[s + j], in_logs)
                elif t0 == 0:
                    x = other[s]
                    for j in range(n0):
                        table[p + j] = times(table[p + j], x, in_logs)
                else:
                    for j in range(n0):
                        table[p + j] = times(table[p + j], other[s + j * t0], in_logs)
                p += n0
                s += t1
            base = _next(base, first, outer, plan, count)

    return combine


multiply = _combiner("multiply", False)  # table ⊗= other, from ``at``, from ``start``
add = _combiner("add", True)


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


def _reducer(name, in_logs):
    """⊕ of a table over the axes that the other does not have: Σ of numbers, max of logs."""

    @loop_named(name, fastmath={"reassoc", "contract"})
    def reduce(other, start, table, at, plan, o, count):
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
                        other[s + j] = plus(other[s + j], table[p + j], in_logs)
                elif t0 == 0:
                    x = -np.inf if in_logs else 0.0
                    for j in range(n0):
                        x = plus(x, table[p + j], in_logs)
                    other[s] = plus(other[s], x, in_logs)
                else:
                    for j in range(n0):
                        other[s + j * t0] = plus(other[s + j * t0], table[p + j], in_logs)
                p += n0
                s += t1
            base = _next(base, first, outer, plan, count)

    return reduce


sum_onto = _reducer("sum_onto", False)  # other ⊕= table
max_onto = _reducer("max_onto", True)


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


# ── rows side by side: work[cell, row] ───────────────────────────────────────────────────────


def _row_combiner(name, in_logs):
    """work[at…] ⊗= work[start…], row by row."""

    @loop_named(name)
    def combine_rows(work, n, at, start, plan, o, count):
        first, last, outer = _begin(plan, o, 1, count)
        n0, t0 = uint64(plan[plan[SIZES] + last - 1]), uint64(plan[plan[STRIDES] + last - 1])
        p, base = uint64(at), start
        while base >= 0:
            s = uint64(base)
            for _ in range(n0):
                for r in range(uint64(n)):
                    work[p, r] = times(work[p, r], work[s, r], in_logs)
                p += uint64(1)
                s += t0
            base = _next(base, first, outer, plan, count)

    return combine_rows


def _row_factor_combiner(name, in_logs):
    """work[at…] ⊗= the part of a factor's table that each row has, from its start on."""

    @loop_named(name)
    def combine_factor(work, n, at, values, starts, plan, o, count):
        first, last, outer = _begin(plan, o, 1, count)
        n0, t0 = uint64(plan[plan[SIZES] + last - 1]), uint64(plan[plan[STRIDES] + last - 1])
        p, base = uint64(at), 0
        while base >= 0:
            s = uint64(base)
            for _ in range(n0):
                for r in range(uint64(n)):
                    work[p, r] = times(work[p, r], values[uint64(starts[r]) + s], in_logs)
                p += uint64(1)
                s += t0
            base = _next(base, first, outer, plan, count)

    return combine_factor


def _row_reducer(name, in_logs):
    """work[start…] = ⊕ work[at…] over the axes that it does not have, row by row."""
    zero = -np.inf if in_logs else 0.0

    @loop_named(name)
    def reduce_rows(work, n, start, size, at, plan, o, count):
        for q in range(uint64(start), uint64(start + size)):
            for r in range(uint64(n)):
                work[q, r] = zero
        first, last, outer = _begin(plan, o, 1, count)
        n0, t0 = uint64(plan[plan[SIZES] + last - 1]), uint64(plan[plan[STRIDES] + last - 1])
        p, base = uint64(at), start
        while base >= 0:
            s = uint64(base)
            for _ in range(n0):
                for r in range(uint64(n)):
                    work[s, r] = plus(work[s, r], work[p, r], in_logs)
                p += uint64(1)
                s += t0
            base = _next(base, first, outer, plan, count)

    return reduce_rows


multiply_rows = _row_combiner("multiply_rows", False)
add_rows = _row_combiner("add_rows", True)
multiply_factor = _row_factor_combiner("multiply_factor", False)
add_factor = _row_factor_combiner("add_factor", True)
sum_rows_onto = _row_reducer("sum_rows_onto", False)
max_rows_onto = _row_reducer("max_rows_onto", True)


@njit(cache=True, nogil=True)
def add_weighted_rows(counts, starts, weight, work, n, at, plan, o, count):
    """counts += weight × work[at…], in the part of a factor's table that each row has."""
    first, last, outer = _begin(plan, o, 1, count)
    n0, t0 = plan[plan[SIZES] + last - 1], plan[plan[STRIDES] + last - 1]
    p, base = at, 0
    while base >= 0:
        for j in range(n0):
            for r in range(n):
                if weight[r] > 0.0:
                    counts[starts[r] + base + j * t0] += weight[r] * work[p, r]
            p += 1
        base = _next(base, first, outer, plan, count)
