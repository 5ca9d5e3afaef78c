"""Compiled propagation for many rows of evidence, one row after the other.

For trees whose tables are too large to hold several rows of them in the cache.  The loops for one
row are those of ``fast/propagation`` and ``fast/max_sum``.

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
    SLICED,
    STATE_STARTS,
    collect,
    distribute,
    marginals,
    sliced_start,
)
from likely.fast.strided import SIZES, STRIDES, sum_onto


@njit(cache=True, nogil=True)
def _take_row(codes, i, plan, own, likelihood, has_likelihood, impossible, possible):
    """Codes of the i-th row, and likelihoods for its observed variables that the tree has."""
    for v in range(own.size):
        own[v] = codes[i, v]
        has_likelihood[v] = own[v] >= 0 and not plan[plan[SLICED] + v]
        if has_likelihood[v]:
            start = plan[plan[STATE_STARTS] + v]
            for j in range(plan[plan[N_STATES] + v]):
                likelihood[start + j] = impossible
            likelihood[start + own[v]] = possible


@njit(cache=True, nogil=True)
def single_row_marginals(codes, rows, wanted, values, spans, plan, work, out_at, out, log_z):
    """As ``fast/rows.row_marginals``."""
    n_variables, n_states = wanted.size, plan[plan[STATE_STARTS + 1] - 1]
    own, has_likelihood = (
        np.empty(n_variables, dtype=np.int64),
        np.empty(n_variables, dtype=np.bool_),
    )
    likelihood, found = np.empty(n_states), np.empty(n_states)
    needed = np.empty(plan[PARENT + 1] - plan[PARENT], dtype=np.bool_)
    for i in rows:
        _take_row(codes, i, plan, own, likelihood, has_likelihood, 0.0, 1.0)
        for k in range(needed.size):
            needed[k] = False
        outcome, log_z[i] = marginals(
            own, likelihood, has_likelihood, wanted, needed, values, spans, plan, work, found
        )
        if outcome != DONE:
            log_z[i] = -np.inf if outcome == IMPOSSIBLE else np.nan
        for v in range(n_variables):
            if wanted[v]:
                start, m = plan[plan[STATE_STARTS] + v], plan[plan[N_STATES] + v]
                for j in range(m):
                    out[out_at[v] + i * m + j] = found[start + j] if outcome == DONE else np.nan


@njit(cache=True, nogil=True)
def single_row_expectations(codes, rows, weight, values, spans, plan, work, counts, log_z):
    """Add the expected counts of the cells of every factor over ``rows``, and set log Z.

    A row that is impossible (log Z = −inf) or too wide (nan) adds nothing.
    """
    n_variables, n_cliques = codes.shape[1], plan[PARENT + 1] - plan[PARENT]
    own, has_likelihood = (
        np.empty(n_variables, dtype=np.int64),
        np.empty(n_variables, dtype=np.bool_),
    )
    likelihood, scale = np.empty(plan[plan[STATE_STARTS + 1] - 1]), np.empty(n_cliques)
    needed = np.ones(n_cliques, dtype=np.bool_)
    count = np.empty(plan[STRIDES] - plan[SIZES], dtype=np.int64)
    for i in rows:
        _take_row(codes, i, plan, own, likelihood, has_likelihood, 0.0, 1.0)
        outcome, log_z[i] = collect(
            own, likelihood, has_likelihood, values, spans, plan, work, scale
        )
        if outcome != DONE:
            log_z[i] = -np.inf if outcome == IMPOSSIBLE else np.nan
            continue
        for k in range(n_cliques):  # all tables follow the weight of the roots
            if plan[plan[PARENT] + k] < 0:
                for p in range(plan[plan[CLIQUE_AT] + k], plan[plan[CLIQUE_AT] + k + 1]):
                    work[p] *= weight[i]
        distribute(plan, work, scale, needed, count)
        for p in range(plan[CONSTANTS], plan[CONSTANTS + 1]):
            counts[sliced_start(plan, plan[p], own)] += weight[i]
        for k in range(n_cliques):
            for p in range(plan[plan[HOSTED_STARTS] + k], plan[plan[HOSTED_STARTS] + k + 1]):
                f, at = plan[plan[HOSTED] + p], plan[plan[CLIQUE_AT] + k]
                sum_onto(counts, sliced_start(plan, f, own), work, at, plan, f, count)


@njit(cache=True, nogil=True)
def single_row_best(codes, rows, log_values, plan, work, best_codes, log_score):
    """As ``fast/row_scores.row_best``."""
    n_variables = codes.shape[1]
    own, has_likelihood = (
        np.empty(n_variables, dtype=np.int64),
        np.empty(n_variables, dtype=np.bool_),
    )
    likelihood = np.empty(plan[plan[STATE_STARTS + 1] - 1])
    for i in rows:
        _take_row(codes, i, plan, own, likelihood, has_likelihood, -np.inf, 0.0)
        log_score[i] = collect_best(own, likelihood, has_likelihood, log_values, plan, work)
        possible = log_score[i] > -np.inf
        for v in range(n_variables):
            own[v] = max(own[v], 0) if possible else -1
        if possible:
            backtrack(plan, work, 0.0, own)
        for v in range(n_variables):
            best_codes[i, v] = own[v]
