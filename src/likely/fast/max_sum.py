"""Compiled max-sum in a junction tree: one pass up, and the best states from the root down.

    message_k(s) = max_own table_k(own, s)        table_k = Σ log factors + Σ messages of children

Tables are in logs; −inf is a score of 0.  The plan is that of ``fast/propagation``.  The caller
checks; nothing is checked here.
"""

import numpy as np
from numba import njit

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
    SLICED,
    STATE_STARTS,
    fill,
    sliced_start,
)
from likely.fast.strided import SIZES, STRIDES, add, max_onto


@njit(cache=True, nogil=True)
def constant_score(codes, log_values, plan):
    """The sum of the logs of the factors without a variable in the tree."""
    total = 0.0
    for p in range(plan[CONSTANTS], plan[CONSTANTS + 1]):
        total += log_values[sliced_start(plan, plan[p], codes)]
    return total


@njit(cache=True, nogil=True)
def take_scores(codes, log_likelihood, has_likelihood, log_values, plan, k, work, count):
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
def collect_best(codes, log_likelihood, has_likelihood, log_values, plan, work):
    """Fill the cliques' tables and the messages to their parents; returns the best score."""
    count = np.empty(plan[STRIDES] - plan[SIZES], dtype=np.int64)
    best = constant_score(codes, log_values, plan)
    for k in range(plan[PARENT + 1] - plan[PARENT]):
        take_scores(codes, log_likelihood, has_likelihood, log_values, plan, k, work, count)
        message, o = plan[plan[MESSAGE_AT] + k], plan[plan[KINDS] + SEPARATORS] + k
        fill(work, message, plan[plan[MESSAGE_AT] + k + 1], -np.inf)
        max_onto(work, message, work, plan[plan[CLIQUE_AT] + k], plan, o, count)
        if plan[plan[PARENT] + k] < 0:
            best += work[message]
    return best


@njit(cache=True, nogil=True)
def backtrack(plan, work, slack, codes):
    """The best states of the free variables from the root down; whether no other is as good.

    Scores within ``slack`` are equal.
    """
    n_states, axes, unique = plan[N_STATES], plan[AXES], True
    for k in range(plan[N_OWN + 1] - plan[N_OWN] - 1, -1, -1):
        first, last = axes + plan[plan[AXIS_STARTS] + k], axes + plan[plan[AXIS_STARTS] + k + 1]
        middle = first + plan[plan[N_OWN] + k]
        at, stop = plan[plan[CLIQUE_AT] + k], plan[plan[CLIQUE_AT] + k + 1]
        n_separator = plan[plan[MESSAGE_AT] + k + 1] - plan[plan[MESSAGE_AT] + k]
        n, s = (stop - at) // n_separator, 0
        for p in range(middle, last):
            if not plan[plan[SLICED] + plan[p]]:
                s = s * plan[n_states + plan[p]] + codes[plan[p]]
        start, stride = at + s, n_separator
        if plan[plan[OWN_LAST] + k]:
            start, stride = at + s * n, 1
        best = 0
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
