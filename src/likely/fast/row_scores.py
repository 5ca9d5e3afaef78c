"""Compiled max-sum in a junction tree for many rows of evidence at once.

As in ``fast/rows``, the rows of a block are the innermost axis of every table; tables are in logs,
and an observed variable that the tree has is a score of −inf in its other states.

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
    OWN_LAST,
    PARENT,
    SEPARATORS,
    TABLE_STARTS,
    fill,
)
from likely.fast.rows import is_sliced, row_starts
from likely.fast.strided import SIZES, STRIDES, _begin, _next, add


@njit(cache=True, nogil=True)
def base_scores(log_values, plan, base):
    """Fill ``base`` with the sum of each clique's log factors that are the same in every row."""
    count = np.empty(plan[STRIDES] - plan[SIZES], dtype=np.int64)
    for k in range(plan[PARENT + 1] - plan[PARENT]):
        at = plan[plan[CLIQUE_AT] + k]
        fill(base, at, plan[plan[CLIQUE_AT] + k + 1], 0.0)
        for p in range(plan[plan[HOSTED_STARTS] + k], plan[plan[HOSTED_STARTS] + k + 1]):
            f = plan[plan[HOSTED] + p]
            if not is_sliced(plan, f):
                add(base, at, log_values, plan[plan[TABLE_STARTS] + f], plan, f, count)


@njit(cache=True, nogil=True)
def _add_rows(work, n, at, start, plan, o, count):
    """work[at…] += work[start…], row by row."""
    first, last, outer = _begin(plan, o, 1, count)
    n0, t0 = uint64(plan[plan[SIZES] + last - 1]), uint64(plan[plan[STRIDES] + last - 1])
    p, base = uint64(at), start
    while base >= 0:
        s = uint64(base)
        for _ in range(n0):
            for r in range(uint64(n)):
                work[p, r] += work[s, r]
            p += uint64(1)
            s += t0
        base = _next(base, first, outer, plan, count)


@njit(cache=True, nogil=True)
def _add_factor(work, n, at, log_values, starts, plan, o, count):
    """work[at…] += the part of a factor's log table that each row has."""
    first, last, outer = _begin(plan, o, 1, count)
    n0, t0 = uint64(plan[plan[SIZES] + last - 1]), uint64(plan[plan[STRIDES] + last - 1])
    p, base = uint64(at), 0
    while base >= 0:
        s = uint64(base)
        for _ in range(n0):
            for r in range(uint64(n)):
                work[p, r] += log_values[uint64(starts[r]) + s]
            p += uint64(1)
            s += t0
        base = _next(base, first, outer, plan, count)


@njit(cache=True, nogil=True)
def _max_rows_onto(work, n, start, size, at, plan, o, count):
    """work[start…] = max work[at…] over the axes that it does not have, row by row."""
    for q in range(uint64(start), uint64(start + size)):
        for r in range(uint64(n)):
            work[q, r] = -np.inf
    first, last, outer = _begin(plan, o, 1, count)
    n0, t0 = uint64(plan[plan[SIZES] + last - 1]), uint64(plan[plan[STRIDES] + last - 1])
    p, base = uint64(at), start
    while base >= 0:
        s = uint64(base)
        for _ in range(n0):
            for r in range(uint64(n)):
                work[s, r] = max(work[s, r], work[p, r])
            p += uint64(1)
            s += t0
        base = _next(base, first, outer, plan, count)


@njit(cache=True, nogil=True)
def _collect_best(codes, rows, first, n, log_values, base, plan, work, starts, best, count):
    """Fill the tables of a block of n rows, and the best score of each row."""
    room = plan[plan[MESSAGE_AT + 1] - 1]
    for r in range(n):
        best[r] = 0.0
    for p in range(plan[CONSTANTS], plan[CONSTANTS + 1]):
        row_starts(codes, rows, first, n, plan, plan[p], starts)
        for r in range(n):
            best[r] += log_values[starts[r]]
    for k in range(plan[PARENT + 1] - plan[PARENT]):
        at, stop = plan[plan[CLIQUE_AT] + k], plan[plan[CLIQUE_AT] + k + 1]
        for p in range(uint64(at), uint64(stop)):
            for r in range(uint64(n)):
                work[p, r] = base[p]
        for p in range(plan[plan[HOSTED_STARTS] + k], plan[plan[HOSTED_STARTS] + k + 1]):
            f = plan[plan[HOSTED] + p]
            if is_sliced(plan, f):
                row_starts(codes, rows, first, n, plan, f, starts)
                _add_factor(work, n, at, log_values, starts, plan, f, count)
        for p in range(plan[plan[HOMED_STARTS] + k], plan[plan[HOMED_STARTS] + k + 1]):
            v, o = plan[plan[HOMED] + p], plan[plan[KINDS] + EVIDENCE] + plan[plan[HOMED] + p]
            for j in range(plan[plan[N_STATES] + v]):
                for r in range(n):
                    code = codes[rows[first + r], v]
                    work[room + j, r] = 0.0 if code < 0 or code == j else -np.inf
            _add_rows(work, n, at, room, plan, o, count)
        for g in range(plan[plan[GROUP_STARTS] + k], plan[plan[GROUP_STARTS] + k + 1]):
            o = plan[plan[KINDS] + GROUPS] + g
            for p in range(plan[plan[MEMBER_STARTS] + g], plan[plan[MEMBER_STARTS] + g + 1]):
                start = plan[plan[MESSAGE_AT] + plan[plan[MEMBERS] + p]]
                _add_rows(work, n, at, start, plan, o, count)
        sent, o = plan[plan[MESSAGE_AT] + k], plan[plan[KINDS] + SEPARATORS] + k
        size = plan[plan[MESSAGE_AT] + k + 1] - sent
        _max_rows_onto(work, n, sent, size, at, plan, o, count)
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
            at, stop = plan[plan[CLIQUE_AT] + k], plan[plan[CLIQUE_AT] + k + 1]
            n_separator = plan[plan[MESSAGE_AT] + k + 1] - plan[plan[MESSAGE_AT] + k]
            n_own = (stop - at) // n_separator
            for r in range(n):
                i, s, top = rows[begin + r], 0, 0
                if best[r] == -np.inf:
                    continue
                for p in range(middle, last):
                    s = s * plan[n_states + plan[p]] + best_codes[i, plan[p]]
                start, stride = at + s, n_separator
                if plan[plan[OWN_LAST] + k]:
                    start, stride = at + s * n_own, 1
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
