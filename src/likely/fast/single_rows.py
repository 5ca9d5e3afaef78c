"""Compiled propagation for many rows of evidence, one row after the other.

For trees whose tables are too large to hold several rows of them in the cache.  The plan is made
smaller for what each row observes; the loops are those of ``fast/propagation`` and
``fast/max_sum``.

Integers are int64, codes int32, numbers float64.  The caller checks; nothing is checked here.
"""

import numpy as np
from numba import njit

from likely.fast.max_sum import backtrack, collect_best
from likely.fast.propagation import (
    CLIQUE_AT,
    CONSTANTS,
    DONE,
    HOSTED,
    HOSTED_STARTS,
    IMPOSSIBLE,
    N_STATES,
    PARENT,
    STATE_STARTS,
    collect,
    distribute,
    marginals,
    sliced_start,
)
from likely.fast.restriction import restrict, room_for_restrictions
from likely.fast.strided import SIZES, STRIDES, sum_onto


@njit(cache=True, nogil=True)
def single_row_marginals(codes, rows, wanted, values, spans, plan, work, out_at, out, log_z):
    """As ``fast/rows.row_marginals``."""
    n, found = wanted.size, np.empty(plan[plan[STATE_STARTS + 1] - 1])
    needed = np.empty(plan[PARENT + 1] - plan[PARENT], dtype=np.bool_)
    seen, stride = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    own = room_for_restrictions(plan)
    has_likelihood = np.zeros(n, dtype=np.bool_)
    for i in rows:
        restrict(plan, codes, i, own, stride)
        for v in range(n):
            seen[v] = codes[i, v]
        for k in range(needed.size):
            needed[k] = False
        outcome, log_z[i] = marginals(
            seen, found, has_likelihood, wanted, needed, values, spans, own, work, found
        )
        if outcome != DONE:
            log_z[i] = -np.inf if outcome == IMPOSSIBLE else np.nan
        for v in range(n):
            if wanted[v]:
                start, m = plan[plan[STATE_STARTS] + v], plan[plan[N_STATES] + v]
                for j in range(m):
                    out[out_at[v] + i * m + j] = found[start + j] if outcome == DONE else np.nan


@njit(cache=True, nogil=True)
def single_row_expectations(codes, rows, weight, values, spans, plan, work, counts, log_z):
    """Add the expected counts of the cells of every factor over ``rows``, and set log Z.

    A row that is impossible (log Z = −inf) or too wide (nan) adds nothing.
    """
    n, n_cliques = codes.shape[1], plan[PARENT + 1] - plan[PARENT]
    seen, stride = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    own = room_for_restrictions(plan)
    has_likelihood, needed = np.zeros(n, dtype=np.bool_), np.ones(n_cliques, dtype=np.bool_)
    count, scale = np.empty(own[STRIDES] - own[SIZES], dtype=np.int64), np.empty(n_cliques)
    for i in rows:
        restrict(plan, codes, i, own, stride)
        for v in range(n):
            seen[v] = codes[i, v]
        outcome, log_z[i] = collect(seen, scale, has_likelihood, values, spans, own, work, scale)
        if outcome != DONE:
            log_z[i] = -np.inf if outcome == IMPOSSIBLE else np.nan
            continue
        for k in range(n_cliques):  # all tables follow the weight of the roots
            if plan[plan[PARENT] + k] < 0:
                for p in range(own[own[CLIQUE_AT] + k], own[own[CLIQUE_AT] + k + 1]):
                    work[p] *= weight[i]
        distribute(own, work, scale, needed, count)
        for p in range(plan[CONSTANTS], plan[CONSTANTS + 1]):
            counts[sliced_start(own, plan[p], seen)] += weight[i]
        for k in range(n_cliques):
            for p in range(plan[plan[HOSTED_STARTS] + k], plan[plan[HOSTED_STARTS] + k + 1]):
                f, at = plan[plan[HOSTED] + p], own[own[CLIQUE_AT] + k]
                sum_onto(counts, sliced_start(own, f, seen), work, at, own, f, count)


@njit(cache=True, nogil=True)
def single_row_best(codes, rows, log_values, plan, work, tie, best_codes, log_score, unique):
    """As ``fast/row_scores.row_best``."""
    n = codes.shape[1]
    seen, stride = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    own = room_for_restrictions(plan)
    has_likelihood = np.zeros(n, dtype=np.bool_)
    for i in rows:
        restrict(plan, codes, i, own, stride)
        for v in range(n):
            seen[v] = codes[i, v]
        log_score[i] = collect_best(seen, work, has_likelihood, log_values, own, work)
        possible = log_score[i] > -np.inf
        for v in range(n):
            seen[v] = max(seen[v], 0) if possible else -1
        unique[i] = possible
        if possible:
            unique[i] = backtrack(own, work, tie * max(1.0, abs(log_score[i])), seen)
        for v in range(n):
            best_codes[i, v] = seen[v]
