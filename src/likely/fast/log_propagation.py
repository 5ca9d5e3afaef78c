"""Compiled propagation in a junction tree, in logs, for numbers too wide for linear arithmetic.

    collect      message_k(s) = log Σ_own exp table_k(own, s), added to the parent's table
    distribute   table_k += log Σ_rest exp table_parent(s) − message_k(s)

−inf − (−inf) counts as −inf.  The plan is that of ``fast/propagation``.  The caller checks; nothing
is checked here.
"""

import numpy as np
from numba import njit, uint64

from likely.fast.max_sum import constant_score, take_scores
from likely.fast.propagation import (
    CLIQUE_AT,
    GROUP_STARTS,
    GROUPS,
    KINDS,
    MEMBER_STARTS,
    MEMBERS,
    MESSAGE_AT,
    PARENT,
    READ_AT,
    READ_CLIQUE,
    READING,
    SEPARATORS,
    STATE_STARTS,
    fill,
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
def collect_logs(codes, log_likelihood, has_likelihood, log_values, plan, work):
    """Fill the cliques' tables and the messages to their parents; returns log Z."""
    count = np.empty(plan[STRIDES] - plan[SIZES], dtype=np.int64)
    log_z, room = constant_score(codes, log_values, plan), plan[plan[MESSAGE_AT + 1] - 1]
    for k in range(plan[PARENT + 1] - plan[PARENT]):
        take_scores(codes, log_likelihood, has_likelihood, log_values, plan, k, work, count)
        at, message = plan[plan[CLIQUE_AT] + k], plan[plan[MESSAGE_AT] + k]
        size, o = plan[plan[MESSAGE_AT] + k + 1] - message, plan[plan[KINDS] + SEPARATORS] + k
        _log_sum_onto(work, message, size, room, work, at, plan, o, count)
        if plan[plan[PARENT] + k] < 0:
            log_z += work[message]
    return log_z


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
    log_z = collect_logs(codes, log_likelihood, has_likelihood, log_values, plan, work)
    if log_z == -np.inf:
        return log_z
    for v in range(wanted.size):
        if wanted[v] and plan[plan[READ_AT] + v] >= 0:
            needed[plan[plan[READ_CLIQUE] + v]] = True
    for k in range(needed.size):
        above = plan[plan[PARENT] + k]
        if needed[k] and above >= 0:
            needed[above] = True
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
            top = -np.inf
            for i in range(start, stop):
                top = max(top, out[i])
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
