"""Compiled propagation for many rows of evidence, one row after the other.

For trees whose tables are too large to hold several rows of them in the cache.  The plan of
``fast/propagation`` is made smaller for what each row observes: an observed variable keeps its
place in the tree, but has one state there, so that its tables are cut where the row is.  The
cliques are those of the whole graph without the observed variables, so nothing is planned again;
their tables shrink by the product of the observed variables' states.

Integers are int64, codes int32, numbers float64.  The caller checks; nothing is checked here.
"""

import numpy as np
from numba import njit

from likely.fast.propagation import (
    CLIQUE_AT,
    CONSTANTS,
    DONE,
    HOST,
    HOSTED,
    HOSTED_STARTS,
    IMPOSSIBLE,
    MESSAGE_AT,
    N_OWN,
    N_STATES,
    OP_AXES,
    OP_STARTS,
    OP_TABLE,
    PARENT,
    READ_AT,
    READ_CLIQUE,
    SLICED,
    STATE_STARTS,
    TABLE_AXES,
    TABLE_STARTS,
    backtrack,
    collect,
    collect_logs,
    distribute,
    marginals,
    sliced_start,
)
from likely.fast.strided import DIMS, SIZES, STRIDES, merge_axes, sum_onto


@njit(cache=True, nogil=True)
def single_row_marginals(codes, rows, wanted, values, spans, plan, work, out_at, out, log_z):
    """As ``fast/rows.row_marginals``."""
    n, found = wanted.size, np.empty(plan[plan[STATE_STARTS + 1] - 1])
    needed = np.empty(plan[PARENT + 1] - plan[PARENT], dtype=np.bool_)
    seen = np.empty(n, dtype=np.int64)
    own = _room_for_restrictions(plan)
    has_likelihood = np.zeros(n, dtype=np.bool_)
    for i in rows:
        _restrict(plan, codes, i, own)
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
    seen = np.empty(n, dtype=np.int64)
    own = _room_for_restrictions(plan)
    has_likelihood, needed = np.zeros(n, dtype=np.bool_), np.ones(n_cliques, dtype=np.bool_)
    count, scale = np.empty(own[STRIDES] - own[SIZES], dtype=np.int64), np.empty(n_cliques)
    for i in rows:
        _restrict(plan, codes, i, own)
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
    """As ``fast/rows.row_best``."""
    n = codes.shape[1]
    seen = np.empty(n, dtype=np.int64)
    own = _room_for_restrictions(plan)
    has_likelihood = np.zeros(n, dtype=np.bool_)
    for i in rows:
        _restrict(plan, codes, i, own)
        for v in range(n):
            seen[v] = codes[i, v]
        log_score[i] = collect_logs(seen, work, has_likelihood, log_values, own, work, True)
        possible = log_score[i] > -np.inf
        for v in range(n):
            seen[v] = max(seen[v], 0) if possible else -1
        unique[i] = possible
        if possible:
            unique[i] = backtrack(own, work, tie * max(1.0, abs(log_score[i])), seen)
        for v in range(n):
            best_codes[i, v] = seen[v]


@njit(cache=True, nogil=True)
def _room_for_restrictions(plan):
    """A plan that ``_restrict`` can overwrite: a copy, and room for axes that no longer merge."""
    most = plan[OP_TABLE + 1] - plan[OP_TABLE]
    for o in range(plan[OP_TABLE], plan[OP_TABLE + 1]):
        k = plan[TABLE_STARTS] + plan[o]
        most += plan[k + 1] - plan[k]
    own = np.empty(plan.size + 2 * most + 1, dtype=np.int64)
    for p in range(plan.size):
        own[p] = plan[p]
    own[SIZES], own[STRIDES] = plan.size, plan.size + most + 1
    return own


@njit(cache=True, nogil=True)
def _restrict(plan, codes, i, own):
    """Overwrite ``own`` with the plan for the i-th row of ``codes``."""
    n_cliques, at = plan[N_OWN + 1] - plan[N_OWN], 0
    for v in range(plan[N_STATES + 1] - plan[N_STATES]):
        own[own[SLICED] + v] = 1 if plan[plan[SLICED] + v] or codes[i, v] >= 0 else 0
    for part in range(2):  # where the smaller tables of cliques lie, and then those of messages
        section = CLIQUE_AT if part == 0 else MESSAGE_AT
        for k in range(n_cliques):
            own[own[section] + k] = at
            table, cells = plan[TABLE_STARTS] + part * n_cliques + k, 1
            for p in range(plan[TABLE_AXES] + plan[table], plan[TABLE_AXES] + plan[table + 1]):
                if not own[own[SLICED] + plan[p]]:
                    cells *= plan[plan[N_STATES] + plan[p]]
            at += cells
        own[own[section] + n_cliques] = at
    for v in range(plan[READ_AT + 1] - plan[READ_AT]):
        at = plan[plan[READ_AT] + v]
        own[own[READ_AT] + v] = -1
        if at >= 0 and not own[own[SLICED] + v]:
            section = MESSAGE_AT if at >= plan[plan[MESSAGE_AT]] else CLIQUE_AT
            own[own[READ_AT] + v] = own[own[section] + plan[plan[READ_CLIQUE] + v]]
    merge_axes(
        _section(plan, OP_TABLE),
        _section(plan, OP_STARTS),
        _section(plan, OP_AXES),
        _section(plan, TABLE_STARTS),
        _section(plan, TABLE_AXES),
        _section(plan, N_STATES),
        _section(own, SLICED),
        plan[HOST + 1] - plan[HOST],
        _section(own, DIMS),
        own[own[SIZES] : own[STRIDES]],
        own[own[STRIDES] :],
    )


@njit(cache=True, nogil=True)
def _section(plan, s):
    return plan[plan[s] : plan[s + 1]]
