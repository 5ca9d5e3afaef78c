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

from likely.fast.log_propagation import backtrack, collect_logs
from likely.fast.propagation import (
    AXES,
    AXIS_STARTS,
    CLIQUE_AT,
    CONSTANTS,
    DONE,
    EVIDENCE,
    GROUP_STARTS,
    GROUPS,
    HOST,
    HOSTED,
    HOSTED_STARTS,
    IMPOSSIBLE,
    KINDS,
    MEMBER_STARTS,
    MEMBERS,
    MESSAGE_AT,
    N_OWN,
    N_STATES,
    OWN_LAST,
    PARENT,
    READ_AT,
    READ_CLIQUE,
    READING,
    SCOPE_STARTS,
    SCOPES,
    SEPARATORS,
    SLICED,
    STATE_STARTS,
    collect,
    distribute,
    marginals,
    sliced_start,
)
from likely.fast.strided import DIMS, SIZES, STRIDES, sum_onto


@njit(cache=True, nogil=True)
def single_row_marginals(codes, rows, wanted, values, spans, plan, work, out_at, out, log_z):
    """As ``fast/rows.row_marginals``."""
    n, found = wanted.size, np.empty(plan[plan[STATE_STARTS + 1] - 1])
    needed = np.empty(plan[PARENT + 1] - plan[PARENT], dtype=np.bool_)
    seen, stride = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    own = _room_for_restrictions(plan)
    has_likelihood = np.zeros(n, dtype=np.bool_)
    for i in rows:
        _restrict(plan, codes, i, own, stride)
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
    own = _room_for_restrictions(plan)
    has_likelihood, needed = np.zeros(n, dtype=np.bool_), np.ones(n_cliques, dtype=np.bool_)
    count, scale = np.empty(own[STRIDES] - own[SIZES], dtype=np.int64), np.empty(n_cliques)
    for i in rows:
        _restrict(plan, codes, i, own, stride)
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
    seen, stride = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    own = _room_for_restrictions(plan)
    has_likelihood = np.zeros(n, dtype=np.bool_)
    for i in rows:
        _restrict(plan, codes, i, own, stride)
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
    most = 0
    for k in range(plan[N_OWN + 1] - plan[N_OWN]):
        n_axes = plan[plan[AXIS_STARTS] + k + 1] - plan[plan[AXIS_STARTS] + k]
        n_factors = plan[plan[HOSTED_STARTS] + k + 1] - plan[plan[HOSTED_STARTS] + k]
        n_groups = plan[plan[GROUP_STARTS] + k + 1] - plan[plan[GROUP_STARTS] + k]
        most += (n_axes + 1) * (n_factors + n_groups + 1 + n_axes)
    own = np.empty(plan.size + 2 * most + 1, dtype=np.int64)
    for p in range(plan.size):
        own[p] = plan[p]
    own[SIZES], own[STRIDES] = plan.size, plan.size + most + 1
    return own


@njit(cache=True, nogil=True)
def _restrict(plan, codes, i, own, stride):
    """Overwrite ``own`` with the plan for the i-th row of ``codes``.

    ``stride`` (n_variables,) is 0, and is so again at the end.
    """
    for v in range(stride.size):
        own[own[SLICED] + v] = 1 if plan[plan[SLICED] + v] or codes[i, v] >= 0 else 0
    _place_tables(plan, own)
    end, dims = 0, own[DIMS]
    for f in range(plan[HOST + 1] - plan[HOST]):
        own[dims + f] = end
        if plan[plan[HOST] + f] >= 0:
            first = plan[SCOPES] + plan[plan[SCOPE_STARTS] + f]
            last = plan[SCOPES] + plan[plan[SCOPE_STARTS] + f + 1]
            _set_strides(own, first, last, stride, False)
            end = _merge(own, plan[plan[HOST] + f], False, end, stride)
            _clear(own, first, last, stride)
    for v in range(stride.size):
        own[dims + plan[plan[KINDS] + EVIDENCE] + v] = end  # likelihoods are not used
    for v in range(stride.size):
        own[dims + plan[plan[KINDS] + READING] + v] = end
        at = plan[plan[READ_AT] + v]
        own[own[READ_AT] + v] = -1
        if at >= 0 and not own[own[SLICED] + v]:
            k, is_message = plan[plan[READ_CLIQUE] + v], at >= plan[plan[MESSAGE_AT]]
            own[own[READ_AT] + v] = own[own[MESSAGE_AT if is_message else CLIQUE_AT] + k]
            stride[v] = 1
            end = _merge(own, k, is_message, end, stride)
            stride[v] = 0
    for g in range(plan[MEMBER_STARTS + 1] - plan[MEMBER_STARTS] - 1):
        own[dims + plan[plan[KINDS] + GROUPS] + g] = end
        c = plan[plan[MEMBERS] + plan[plan[MEMBER_STARTS] + g]]
        first, last = _separator(plan, c)
        _set_strides(own, first, last, stride, True)
        end = _merge(own, plan[plan[PARENT] + c], False, end, stride)
        _clear(own, first, last, stride)
    for k in range(plan[N_OWN + 1] - plan[N_OWN]):
        own[dims + plan[plan[KINDS] + SEPARATORS] + k] = end
        first, last = _separator(plan, k)
        _set_strides(own, first, last, stride, True)
        end = _merge(own, k, False, end, stride)
        _clear(own, first, last, stride)
    n_cliques = plan[N_OWN + 1] - plan[N_OWN]
    own[dims + plan[plan[KINDS] + SEPARATORS] + n_cliques] = end


@njit(cache=True, nogil=True)
def _place_tables(plan, own):
    """Where the smaller tables of cliques and messages lie."""
    n_cliques, at = plan[N_OWN + 1] - plan[N_OWN], 0
    for part in range(2):
        section = CLIQUE_AT if part == 0 else MESSAGE_AT
        for k in range(n_cliques):
            own[own[section] + k] = at
            first, last = plan[plan[AXIS_STARTS] + k], plan[plan[AXIS_STARTS] + k + 1]
            if part == 1:
                first += plan[plan[N_OWN] + k]
            cells = 1
            for p in range(plan[AXES] + first, plan[AXES] + last):
                if not own[own[SLICED] + plan[p]]:
                    cells *= plan[plan[N_STATES] + plan[p]]
            at += cells
        own[own[section] + n_cliques] = at


@njit(cache=True, nogil=True)
def _separator(plan, k):
    """Where the axes of a clique's separator are."""
    last = plan[AXES] + plan[plan[AXIS_STARTS] + k + 1]
    return plan[AXES] + plan[plan[AXIS_STARTS] + k] + plan[plan[N_OWN] + k], last


@njit(cache=True, nogil=True)
def _set_strides(own, first, last, stride, is_cut):
    """The strides of a C-ordered table over some axes, with or without the observed ones."""
    step = 1
    for p in range(last - 1, first - 1, -1):
        v = own[p]
        if own[own[SLICED] + v]:
            step *= 1 if is_cut else own[own[N_STATES] + v]
        else:
            stride[v] = step
            step *= own[own[N_STATES] + v]


@njit(cache=True, nogil=True)
def _clear(own, first, last, stride):
    for p in range(first, last):
        stride[own[p]] = 0


@njit(cache=True, nogil=True)
def _merge(own, k, is_message, end, stride):
    """The merged axes of an operation over clique k or its message; returns the end of all axes."""
    begin, sizes, strides = end, own[SIZES], own[STRIDES]
    first, last = own[AXES] + own[own[AXIS_STARTS] + k], own[AXES] + own[own[AXIS_STARTS] + k + 1]
    middle = first + own[own[N_OWN] + k]
    for turn in range(2):
        separator = is_message or (turn == 1) != (own[own[OWN_LAST] + k] != 0)
        if is_message and turn == 1:
            break
        for p in range(middle if separator else first, last if separator else middle):
            v = own[p]
            if own[own[SLICED] + v]:
                continue
            n = own[own[N_STATES] + v]
            if end > begin and own[strides + end - 1] == stride[v] * n:
                own[sizes + end - 1] *= n
                own[strides + end - 1] = stride[v]
            else:
                own[sizes + end], own[strides + end] = n, stride[v]
                end += 1
    if end == begin:  # one cell
        own[sizes + end], own[strides + end] = 1, 0
        end += 1
    return end
