"""Compiled propagation in a junction tree for many rows of evidence at once: sums, and maxima.

The rows of a block are the innermost axis of every table, so that each step is a loop over rows
with stride 1: work[cell, row].  A block is as long as keeps ``work`` in the cache.  The plan is
that of ``fast/propagation``: factors are cut at the sliced variables, whose codes differ between
rows; an observed variable that the tree has is a likelihood of 0 and 1, or of −inf and 0.

Factors without a sliced variable are the same for all rows: ``base`` is their product, for each
clique.  Sums are of numbers, and rows whose numbers are too wide for linear arithmetic are marked,
and left to the caller; maxima are of logs.

Integers are int64, codes int32, numbers float64.  The caller checks; nothing is checked here.
"""

import numpy as np
from numba import njit, uint64

from likely.fast.propagation import (
    AXES,
    AXIS_STARTS,
    CLIQUE_AT,
    CONSTANTS,
    EVIDENCE,
    FACTOR_AT,
    GROUP_STARTS,
    GROUPS,
    HOMED,
    HOMED_STARTS,
    HOSTED,
    HOSTED_STARTS,
    KINDS,
    MEMBER_STARTS,
    MEMBERS,
    MESSAGE_AT,
    N_OWN,
    N_STATES,
    PARENT,
    READ_AT,
    READING,
    SCOPE_STARTS,
    SCOPES,
    SEPARATORS,
    SLICED,
    SPAN,
    fill,
    own_cells,
    require,
)
from likely.fast.strided import (
    SIZES,
    STRIDES,
    add,
    add_factor,
    add_rows,
    add_weighted_rows,
    loop_named,
    max_rows_onto,
    multiply,
    multiply_factor,
    multiply_rows,
    sum_onto,
    sum_rows_onto,
)

LOW, HIGH = 1e-100, 1e100  # a product of scales goes into the log outside of these


@njit(cache=True, nogil=True)
def _is_sliced(plan, f):
    """Whether a factor has a variable that is cut out of its table."""
    for p in range(plan[plan[SCOPE_STARTS] + f], plan[plan[SCOPE_STARTS] + f + 1]):
        if plan[plan[SLICED] + plan[plan[SCOPES] + p]]:
            return True
    return False


def _base_filler(name, in_logs):
    """Fill ``base`` with ⊗ of each clique's factors that are the same in every row.

    ``base_spans`` (n_cliques,) become the products of the spans of all its factors.
    """

    @loop_named(name)
    def fill_base(values, spans, plan, base, base_spans):
        count = np.empty(plan[STRIDES] - plan[SIZES], dtype=np.int64)
        for k in range(base_spans.size):
            at, base_spans[k] = plan[plan[CLIQUE_AT] + k], 1.0
            fill(base, at, plan[plan[CLIQUE_AT] + k + 1], 0.0 if in_logs else 1.0)
            for p in range(plan[plan[HOSTED_STARTS] + k], plan[plan[HOSTED_STARTS] + k + 1]):
                f = plan[plan[HOSTED] + p]
                base_spans[k] *= spans[f]
                if not _is_sliced(plan, f):
                    start = plan[plan[FACTOR_AT] + f]
                    if in_logs:
                        add(base, at, values, start, plan, f, count)
                    else:
                        multiply(base, at, values, start, plan, f, count)

    return fill_base


base_tables = _base_filler("base_tables", False)
base_scores = _base_filler("base_scores", True)


@njit(cache=True, nogil=True)
def _row_starts(codes, rows, first, n, plan, f, starts):
    """Where the part of a factor's table begins that agrees with each row's sliced variables."""
    step = 1
    for r in range(n):
        starts[r] = plan[plan[FACTOR_AT] + f]
    last = plan[plan[SCOPE_STARTS] + f + 1]
    for p in range(last - 1, plan[plan[SCOPE_STARTS] + f] - 1, -1):
        v = plan[plan[SCOPES] + p]
        if plan[plan[SLICED] + v]:
            for r in range(n):
                starts[r] += step * max(codes[rows[first + r], v], 0)
        step *= plan[plan[N_STATES] + v]


def _taker(name, in_logs):
    """Fill a clique's tables of n rows: base ⊗ sliced factors ⊗ evidence ⊗ messages."""

    @loop_named(name)
    def take(codes, rows, first, n, values, base, plan, k, work, starts, count):
        at, room = plan[plan[CLIQUE_AT] + k], plan[plan[MESSAGE_AT + 1] - 1]
        for p in range(uint64(at), uint64(plan[plan[CLIQUE_AT] + k + 1])):
            x = base[p]
            for r in range(uint64(n)):
                work[p, r] = x
        for p in range(plan[plan[HOSTED_STARTS] + k], plan[plan[HOSTED_STARTS] + k + 1]):
            f = plan[plan[HOSTED] + p]
            if _is_sliced(plan, f):
                _row_starts(codes, rows, first, n, plan, f, starts)
                if in_logs:
                    add_factor(work, n, at, values, starts, plan, f, count)
                else:
                    multiply_factor(work, n, at, values, starts, plan, f, count)
        zero, one = (-np.inf, 0.0) if in_logs else (0.0, 1.0)
        for p in range(plan[plan[HOMED_STARTS] + k], plan[plan[HOMED_STARTS] + k + 1]):
            v, seen = plan[plan[HOMED] + p], False
            for r in range(n):
                seen |= codes[rows[first + r], v] >= 0
            if seen:
                for j in range(plan[plan[N_STATES] + v]):
                    for r in range(n):
                        code = codes[rows[first + r], v]
                        work[room + j, r] = one if code < 0 or code == j else zero
                o = plan[plan[KINDS] + EVIDENCE] + v
                if in_logs:
                    add_rows(work, n, at, room, plan, o, count)
                else:
                    multiply_rows(work, n, at, room, plan, o, count)
        for g in range(plan[plan[GROUP_STARTS] + k], plan[plan[GROUP_STARTS] + k + 1]):
            o = plan[plan[KINDS] + GROUPS] + g
            for p in range(plan[plan[MEMBER_STARTS] + g], plan[plan[MEMBER_STARTS] + g + 1]):
                start = plan[plan[MESSAGE_AT] + plan[plan[MEMBERS] + p]]
                if in_logs:
                    add_rows(work, n, at, start, plan, o, count)
                else:
                    multiply_rows(work, n, at, start, plan, o, count)

    return take


_take_numbers = _taker("_take_numbers", False)
_take_scores = _taker("_take_scores", True)


@njit(cache=True, nogil=True, error_model="numpy")
def _scale(work, n, start, stop, scale, span):
    """Divide each row by its maximum; ``scale`` is that, ``span`` the one over the smallest."""
    for r in range(n):
        scale[r], span[r] = 0.0, np.inf
    for p in range(uint64(start), uint64(stop)):
        for r in range(uint64(n)):
            x = work[p, r]
            scale[r] = max(scale[r], x)
            span[r] = min(span[r], x if x > 0.0 else np.inf)
    for r in range(n):
        span[r] = scale[r] / span[r] if scale[r] > 0.0 else 1.0
    for p in range(uint64(start), uint64(stop)):
        for r in range(uint64(n)):
            work[p, r] = work[p, r] / scale[r] if scale[r] > 0.0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _normalise(work, n, start, stop, scale):
    """Divide each row by its sum ``scale``."""
    for r in range(n):
        scale[r] = 0.0
    for p in range(uint64(start), uint64(stop)):
        for r in range(uint64(n)):
            scale[r] += work[p, r]
    for p in range(uint64(start), uint64(stop)):
        for r in range(uint64(n)):
            work[p, r] = work[p, r] / scale[r] if scale[r] > 0.0 else 0.0


@njit(cache=True, nogil=True)
def _add_logs(scale, n, product, log_z):
    """log Z += log of the scales, of which several are multiplied before a log is taken."""
    for r in range(n):
        if scale[r] < LOW or scale[r] > HIGH:
            log_z[r] += np.log(scale[r]) if scale[r] > 0.0 else -np.inf
        else:
            product[r] *= scale[r]
            if product[r] < LOW or product[r] > HIGH:
                log_z[r] += np.log(product[r])
                product[r] = 1.0


@njit(cache=True, nogil=True)
def _collect(codes, rows, first, n, values, base, base_spans, plan, work, rooms, log_z, count):
    """Fill the tables of a block of n rows; log Z, and whether a row is too wide, in ``log_z``.

    ``rooms`` (2 n_cliques + 3, block): scales and spans of messages, then room for three rows.
    A row that is too wide has log Z = nan.
    """
    n_cliques = base_spans.size
    wide, product, starts = rooms[2 * n_cliques], rooms[2 * n_cliques + 1], rooms[2 * n_cliques + 2]
    for r in range(n):
        product[r], log_z[r] = 1.0, 0.0
    starts_of = np.empty(n, dtype=np.int64)
    for p in range(plan[CONSTANTS], plan[CONSTANTS + 1]):
        _row_starts(codes, rows, first, n, plan, plan[p], starts_of)
        for r in range(n):
            starts[r] = values[starts_of[r]]
            if 0.0 < starts[r] * SPAN < 1.0:
                log_z[r] = np.nan
        _add_logs(starts, n, product, log_z)
    for k in range(n_cliques):
        at, stop = plan[plan[CLIQUE_AT] + k], plan[plan[CLIQUE_AT] + k + 1]
        _take_numbers(codes, rows, first, n, values, base, plan, k, work, starts_of, count)
        for r in range(n):
            wide[r] = base_spans[k]
        for g in range(plan[plan[GROUP_STARTS] + k], plan[plan[GROUP_STARTS] + k + 1]):
            for p in range(plan[plan[MEMBER_STARTS] + g], plan[plan[MEMBER_STARTS] + g + 1]):
                for r in range(n):
                    wide[r] *= rooms[n_cliques + plan[plan[MEMBERS] + p], r]
        if plan[plan[PARENT] + k] < 0:
            _normalise(work, n, at, stop, rooms[k])
        else:
            sent, stop = plan[plan[MESSAGE_AT] + k], plan[plan[MESSAGE_AT] + k + 1]
            o = plan[plan[KINDS] + SEPARATORS] + k
            sum_rows_onto(work, n, sent, stop - sent, at, plan, o, count)
            _scale(work, n, sent, stop, rooms[k], rooms[n_cliques + k])
        _add_logs(rooms[k], n, product, log_z)
        for r in range(n):
            if wide[r] > SPAN:
                log_z[r] = np.nan
    for r in range(n):
        log_z[r] += np.log(product[r])


@njit(cache=True, nogil=True, error_model="numpy")
def _distribute(n, plan, work, rooms, needed, count):
    """Bring the needed cliques' tables to P(clique | e), their messages to P(separator | e)."""
    room = plan[plan[MESSAGE_AT + 1] - 1]
    for k in range(needed.size - 1, -1, -1):
        at = plan[plan[CLIQUE_AT] + k]
        for g in range(plan[plan[GROUP_STARTS] + k], plan[plan[GROUP_STARTS] + k + 1]):
            fresh = True
            for p in range(plan[plan[MEMBER_STARTS] + g], plan[plan[MEMBER_STARTS] + g + 1]):
                c = plan[plan[MEMBERS] + p]
                if not needed[c]:
                    continue
                message = plan[plan[MESSAGE_AT] + c]
                size = plan[plan[MESSAGE_AT] + c + 1] - message
                if fresh:
                    o = plan[plan[KINDS] + GROUPS] + g
                    sum_rows_onto(work, n, room, size, at, plan, o, count)
                    fresh = False
                old, new, ratio = uint64(message), uint64(room), uint64(room + size)
                for i in range(uint64(size)):
                    for r in range(uint64(n)):
                        x = work[old + i, r] * rooms[c, r]
                        work[ratio + i, r] = work[new + i, r] / x if x > 0.0 else 0.0
                        work[old + i, r] = work[new + i, r]
                o = plan[plan[KINDS] + SEPARATORS] + c
                multiply_rows(work, n, plan[plan[CLIQUE_AT] + c], room + size, plan, o, count)


@njit(cache=True, nogil=True, error_model="numpy")
def row_marginals(codes, rows, wanted, values, base, base_spans, plan, work, out_at, out, log_z):
    """log Z of ``rows`` of ``codes`` (n_rows, n_variables), and the wanted variables' marginals.

    ``out`` has a table (n_rows, n_states) for each wanted variable, at ``out_at``.  ``log_z``
    (n_rows,) is −inf for a row that is impossible and nan for one that is too wide; marginals are
    nan in both.
    """
    n_cliques, block = base_spans.size, work.shape[1]
    needed = np.zeros(n_cliques, dtype=np.bool_)
    require(plan, wanted, needed)
    count = np.empty(plan[STRIDES] - plan[SIZES], dtype=np.int64)
    rooms, own_log_z = np.empty((2 * n_cliques + 3, block)), np.empty(block)
    room = plan[plan[MESSAGE_AT + 1] - 1]
    for first in range(0, rows.size, block):
        n = min(block, rows.size - first)
        _collect(
            codes, rows, first, n, values, base, base_spans, plan, work, rooms, own_log_z, count
        )
        _distribute(n, plan, work, rooms, needed, count)
        for r in range(n):
            log_z[rows[first + r]] = own_log_z[r]
        for v in range(wanted.size):
            if not wanted[v]:
                continue
            at, m = plan[plan[READ_AT] + v], plan[plan[N_STATES] + v]
            if at >= 0:
                o = plan[plan[KINDS] + READING] + v
                sum_rows_onto(work, n, room, m, at, plan, o, count)
                _normalise(work, n, room, room + m, rooms[0])
            for r in range(n):
                i = rows[first + r]
                for j in range(m):
                    cell = out_at[v] + i * m + j
                    if not own_log_z[r] > -np.inf:
                        out[cell] = np.nan
                    elif at >= 0:
                        out[cell] = work[room + j, r]
                    else:
                        out[cell] = 1.0 if max(codes[i, v], 0) == j else 0.0


@njit(cache=True, nogil=True)
def row_expectations(
    codes, rows, weight, values, base, base_spans, plan, work, expected, counts, log_z
):
    """Add the expected counts of the cells of every factor over ``rows``, and set log Z.

    Those of factors that are the same in every row are added to ``expected``, the cells of the
    cliques, see ``factor_counts``; those of the others to ``counts``, the cells of the factors.
    A row that is impossible (log Z = −inf) or too wide (nan) adds nothing.
    """
    n_cliques, block = base_spans.size, work.shape[1]
    needed = np.ones(n_cliques, dtype=np.bool_)
    count = np.empty(plan[STRIDES] - plan[SIZES], dtype=np.int64)
    rooms, own_log_z = np.empty((2 * n_cliques + 3, block)), np.empty(block)
    starts, own = np.empty(block, dtype=np.int64), np.empty(block)
    for first in range(0, rows.size, block):
        n = min(block, rows.size - first)
        _collect(
            codes, rows, first, n, values, base, base_spans, plan, work, rooms, own_log_z, count
        )
        _distribute(n, plan, work, rooms, needed, count)
        for r in range(n):
            log_z[rows[first + r]] = own_log_z[r]
            own[r] = weight[rows[first + r]] if own_log_z[r] > -np.inf else 0.0
        for p in range(plan[CONSTANTS], plan[CONSTANTS + 1]):
            _row_starts(codes, rows, first, n, plan, plan[p], starts)
            for r in range(n):
                counts[starts[r]] += own[r]
        for k in range(n_cliques):
            at, stop = plan[plan[CLIQUE_AT] + k], plan[plan[CLIQUE_AT] + k + 1]
            _add_expected(n, work, at, stop, own, expected)
            for p in range(plan[plan[HOSTED_STARTS] + k], plan[plan[HOSTED_STARTS] + k + 1]):
                f = plan[plan[HOSTED] + p]
                if _is_sliced(plan, f):
                    _row_starts(codes, rows, first, n, plan, f, starts)
                    add_weighted_rows(counts, starts, own, work, n, at, plan, f, count)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _add_expected(n, work, start, stop, weight, expected):
    """expected += Σ_rows weight × P(cell | row)."""
    for p in range(uint64(start), uint64(stop)):
        x = 0.0
        for r in range(uint64(n)):
            if weight[r] > 0.0:
                x += weight[r] * work[p, r]
        expected[p] += x


@njit(cache=True, nogil=True)
def factor_counts(plan, expected, counts):
    """Add the cells of the cliques to those of the factors that are the same in every row."""
    count = np.empty(plan[STRIDES] - plan[SIZES], dtype=np.int64)
    for k in range(plan[PARENT + 1] - plan[PARENT]):
        for p in range(plan[plan[HOSTED_STARTS] + k], plan[plan[HOSTED_STARTS] + k + 1]):
            f = plan[plan[HOSTED] + p]
            if not _is_sliced(plan, f):
                start, at = plan[plan[FACTOR_AT] + f], plan[plan[CLIQUE_AT] + k]
                sum_onto(counts, start, expected, at, plan, f, count)


@njit(cache=True, nogil=True)
def _collect_best(codes, rows, first, n, log_values, base, plan, work, starts, best, count):
    """Fill the tables of a block of n rows, and the best score of each row."""
    for r in range(n):
        best[r] = 0.0
    for p in range(plan[CONSTANTS], plan[CONSTANTS + 1]):
        _row_starts(codes, rows, first, n, plan, plan[p], starts)
        for r in range(n):
            best[r] += log_values[starts[r]]
    for k in range(plan[PARENT + 1] - plan[PARENT]):
        _take_scores(codes, rows, first, n, log_values, base, plan, k, work, starts, count)
        sent, o = plan[plan[MESSAGE_AT] + k], plan[plan[KINDS] + SEPARATORS] + k
        size = plan[plan[MESSAGE_AT] + k + 1] - sent
        at = plan[plan[CLIQUE_AT] + k]
        max_rows_onto(work, n, sent, size, at, plan, o, count)
        if plan[plan[PARENT] + k] < 0:
            for r in range(n):
                best[r] += work[sent, r]


@njit(cache=True, nogil=True)
def row_best(codes, rows, log_values, base, plan, work, tie, best_codes, log_score, unique):
    """The best codes of every variable given each of ``rows``, and the log of their score.

    ``unique`` says whether no other codes are as good; scores are equal within the part ``tie`` of
    the best one.  A row that is impossible has codes of −1 and a log score of −inf.
    """
    block, n_states, axes = work.shape[1], plan[N_STATES], plan[AXES]
    count = np.empty(plan[STRIDES] - plan[SIZES], dtype=np.int64)
    starts, best = np.empty(block, dtype=np.int64), np.empty(block)
    for begin in range(0, rows.size, block):
        n = min(block, rows.size - begin)
        _collect_best(codes, rows, begin, n, log_values, base, plan, work, starts, best, count)
        for r in range(n):
            i = rows[begin + r]
            log_score[i] = best[r]
            possible = best[r] > -np.inf
            unique[i] = possible
            for v in range(codes.shape[1]):
                best_codes[i, v] = max(codes[i, v], 0) if possible else -1
        for k in range(plan[PARENT + 1] - plan[PARENT] - 1, -1, -1):
            first, last = axes + plan[plan[AXIS_STARTS] + k], axes + plan[plan[AXIS_STARTS] + k + 1]
            middle = first + plan[plan[N_OWN] + k]
            n_own, stride, across = own_cells(plan, k)
            for r in range(n):
                i, s, top = rows[begin + r], 0, 0
                if best[r] == -np.inf:
                    continue
                for p in range(middle, last):
                    s = s * plan[n_states + plan[p]] + best_codes[i, plan[p]]
                start = plan[plan[CLIQUE_AT] + k] + s * across
                for q in range(1, n_own):
                    if work[start + q * stride, r] > work[start + top * stride, r]:
                        top = q
                least = work[start + top * stride, r] - tie * max(1.0, abs(best[r]))
                for q in range(n_own):
                    if q != top and work[start + q * stride, r] >= least:
                        unique[i] = False
                for p in range(middle - 1, first - 1, -1):
                    m = plan[n_states + plan[p]]
                    best_codes[i, plan[p]] = top % m
                    top //= m
