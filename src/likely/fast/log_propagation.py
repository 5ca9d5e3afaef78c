"""Compiled propagation in a junction tree in logs: sums, and maxima for the best states.

    collect      message_k(s) = ⊕_own table_k(own, s)        table_k = Σ log factors + messages
    distribute   table_k += log Σ_rest exp table_parent(s) − message_k(s)

⊕ is log Σ exp for numbers too wide for linear arithmetic, and max for the most probable states.
−inf is a score of 0, and −inf − (−inf) counts as −inf.  The plan is that of ``fast/propagation``.
The caller checks; nothing is checked here.
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
    PARENT,
    READ_AT,
    READING,
    SEPARATORS,
    SLICED,
    STATE_STARTS,
    fill,
    own_cells,
    require,
    sliced_start,
)
from likely.fast.strided import SIZES, STRIDES, add, exp_sum_onto, max_onto


@njit(cache=True, nogil=True)
def _log_sum_onto(other, start, size, room, table, at, plan, o, count):
    """other = log Σ exp table over the axes that it does not have; ``room`` is in ``table``."""
    fill(other, start, start + size, -np.inf)
    max_onto(other, start, table, at, plan, o, count)
    fill(table, room, room + size, 0.0)
    exp_sum_onto(table, room, other, start, table, at, plan, o, count)
    for i in range(size):
        if other[start + i] > -np.inf:
            other[start + i] += np.log(table[room + i])


@njit(cache=True, nogil=True)
def _take(codes, log_likelihood, has_likelihood, log_values, plan, k, work, count):
    """The clique's table = its log factors + log likelihoods + messages of its children."""
    at, kinds = plan[plan[CLIQUE_AT] + k], plan[KINDS]
    fill(work, at, plan[plan[CLIQUE_AT] + k + 1], 0.0)
    for p in range(plan[plan[HOSTED_STARTS] + k], plan[plan[HOSTED_STARTS] + k + 1]):
        f = plan[plan[HOSTED] + p]
        add(work, at, log_values, sliced_start(plan, f, codes), plan, f, count)
    for p in range(plan[plan[HOMED_STARTS] + k], plan[plan[HOMED_STARTS] + k + 1]):
        v = plan[plan[HOMED] + p]
        if has_likelihood[v]:
            start, o = plan[plan[STATE_STARTS] + v], plan[kinds + EVIDENCE] + v
            add(work, at, log_likelihood, start, plan, o, count)
    for g in range(plan[plan[GROUP_STARTS] + k], plan[plan[GROUP_STARTS] + k + 1]):
        for p in range(plan[plan[MEMBER_STARTS] + g], plan[plan[MEMBER_STARTS] + g + 1]):
            start = plan[plan[MESSAGE_AT] + plan[plan[MEMBERS] + p]]
            add(work, at, work, start, plan, plan[kinds + GROUPS] + g, count)


@njit(cache=True, nogil=True)
def collect_logs(codes, log_likelihood, has_likelihood, log_values, plan, work, best):
    """Fill the cliques' tables and the messages to their parents; returns log ⊕ of all.

    ⊕ is max where the ``best`` score is wanted.
    """
    count = np.empty(plan[STRIDES] - plan[SIZES], dtype=np.int64)
    total, room = 0.0, plan[plan[MESSAGE_AT + 1] - 1]
    for p in range(plan[CONSTANTS], plan[CONSTANTS + 1]):  # factors without a variable in the tree
        total += log_values[sliced_start(plan, plan[p], codes)]
    for k in range(plan[PARENT + 1] - plan[PARENT]):
        _take(codes, log_likelihood, has_likelihood, log_values, plan, k, work, count)
        at, message = plan[plan[CLIQUE_AT] + k], plan[plan[MESSAGE_AT] + k]
        size, o = plan[plan[MESSAGE_AT] + k + 1] - message, plan[plan[KINDS] + SEPARATORS] + k
        if best:
            fill(work, message, message + size, -np.inf)
            max_onto(work, message, work, at, plan, o, count)
        else:
            _log_sum_onto(work, message, size, room, work, at, plan, o, count)
        if plan[plan[PARENT] + k] < 0:
            total += work[message]
    return total


@njit(cache=True, nogil=True)
def _distribute_logs(plan, work, needed, count):
    """Bring the needed cliques' tables to log P(clique, e), and messages to log P(separator, e)."""
    room = plan[plan[MESSAGE_AT + 1] - 1]
    for k in range(needed.size - 1, -1, -1):
        at = plan[plan[CLIQUE_AT] + k]
        for g in range(plan[plan[GROUP_STARTS] + k], plan[plan[GROUP_STARTS] + k + 1]):
            for p in range(plan[plan[MEMBER_STARTS] + g], plan[plan[MEMBER_STARTS] + g + 1]):
                c = plan[plan[MEMBERS] + p]
                if not needed[c]:
                    continue
                message = plan[plan[MESSAGE_AT] + c]
                size = plan[plan[MESSAGE_AT] + c + 1] - message
                total, o = room + size, plan[plan[KINDS] + GROUPS] + g
                _log_sum_onto(work, total, size, room, work, at, plan, o, count)
                for i in range(size):
                    new, old = work[total + i], work[message + i]
                    work[message + i] = new
                    work[total + i] = new - old if old > -np.inf else -np.inf
                o = plan[plan[KINDS] + SEPARATORS] + c
                add(work, plan[plan[CLIQUE_AT] + c], work, total, plan, o, count)


@njit(cache=True, nogil=True)
def log_marginals(
    codes, log_likelihood, has_likelihood, wanted, needed, log_values, plan, work, out
):
    """As ``fast/propagation.marginals``; ``work`` keeps logs.  Returns log Z, perhaps −inf."""
    log_z = collect_logs(codes, log_likelihood, has_likelihood, log_values, plan, work, False)
    if log_z == -np.inf:
        return log_z
    require(plan, wanted, needed)
    count = np.empty(plan[STRIDES] - plan[SIZES], dtype=np.int64)
    _distribute_logs(plan, work, needed, count)
    room = plan[plan[MESSAGE_AT + 1] - 1]
    for v in range(wanted.size):
        if wanted[v]:
            start, stop = plan[plan[STATE_STARTS] + v], plan[plan[STATE_STARTS] + v + 1]
            at, o, total = plan[plan[READ_AT] + v], plan[plan[KINDS] + READING] + v, 0.0
            if at < 0:
                fill(out, start, stop, 0.0)
                out[start + max(codes[v], 0)] = 1.0
                continue
            _log_sum_onto(out, start, stop - start, room, work, at, plan, o, count)
            top = out[start:stop].max()
            for i in range(start, stop):
                out[i] = np.exp(out[i] - top)
                total += out[i]
            for i in range(start, stop):
                out[i] /= total
    return log_z


@njit(cache=True, nogil=True)
def conditionals(plan, work):
    """From what ``collect_logs`` left, the cliques' tables become P(own | separator, e)."""
    count = np.empty(plan[STRIDES] - plan[SIZES], dtype=np.int64)
    for k in range(plan[PARENT + 1] - plan[PARENT]):
        at, stop = plan[plan[CLIQUE_AT] + k], plan[plan[CLIQUE_AT] + k + 1]
        message = plan[plan[MESSAGE_AT] + k]
        for i in range(message, plan[plan[MESSAGE_AT] + k + 1]):
            work[i] = -work[i] if work[i] > -np.inf else 0.0
        o = plan[plan[KINDS] + SEPARATORS] + k
        add(work, at, work, message, plan, o, count)
        for i in range(uint64(at), uint64(stop)):
            work[i] = np.exp(work[i])


@njit(cache=True, nogil=True)
def backtrack(plan, work, slack, codes):
    """The best states of the free variables from the root down; whether no other is as good.

    Scores within ``slack`` are equal.
    """
    n_states, axes, unique = plan[N_STATES], plan[AXES], True
    for k in range(plan[N_OWN + 1] - plan[N_OWN] - 1, -1, -1):
        first, last = axes + plan[plan[AXIS_STARTS] + k], axes + plan[plan[AXIS_STARTS] + k + 1]
        middle = first + plan[plan[N_OWN] + k]
        n, stride, across = own_cells(plan, k)
        s = 0
        for p in range(middle, last):
            if not plan[plan[SLICED] + plan[p]]:
                s = s * plan[n_states + plan[p]] + codes[plan[p]]
        start, best = plan[plan[CLIQUE_AT] + k] + s * across, 0
        for r in range(1, n):
            if work[start + r * stride] > work[start + best * stride]:
                best = r
        top = work[start + best * stride] - slack
        for r in range(n):
            if r != best and work[start + r * stride] >= top:
                unique = False
        for p in range(middle - 1, first - 1, -1):
            m = plan[n_states + plan[p]]
            if not plan[plan[SLICED] + plan[p]]:
                codes[plan[p]] = best % m
                best //= m
    return unique
