"""Compiled max-sum in a junction tree: one pass up, and the best states from the root down.

    message_k(s) = max_own table_k(own, s)        table_k = Σ log factors + Σ messages of children

Tables are in logs; −inf is a score of 0.  The layout and its operations are those of
``fast/propagation``.  The caller checks; nothing is checked here.
"""

import numpy as np
from numba import njit

from likely.fast.propagation import _inner, _next, sliced_start


@njit(cache=True, nogil=True)
def add(table, other, start, layout, o, count):
    """table += other from ``start`` on."""
    first, outer, n1, t1, n0, t0 = _inner(layout, o)
    count[:outer] = 0
    p, base = 0, start
    while base >= 0:
        s = base
        for _ in range(n1):
            if t0 == 1:
                for j in range(n0):
                    table[p + j] += other[s + j]
            elif t0 == 0:
                x = other[s]
                for j in range(n0):
                    table[p + j] += x
            else:
                for j in range(n0):
                    table[p + j] += other[s + j * t0]
            p += n0
            s += t1
        base = _next(base, outer, count, layout, first)


@njit(cache=True, nogil=True)
def max_onto(other, table, layout, o, count):
    """other = max(other, table) over the axes that ``other`` does not have."""
    first, outer, n1, t1, n0, t0 = _inner(layout, o)
    count[:outer] = 0
    p, base = 0, 0
    while base >= 0:
        s = base
        for _ in range(n1):
            if t0 == 1:
                for j in range(n0):
                    if table[p + j] > other[s + j]:
                        other[s + j] = table[p + j]
            else:
                for j in range(n0):
                    if table[p + j] > other[s + j * t0]:
                        other[s + j * t0] = table[p + j]
            p += n0
            s += t1
        base = _next(base, outer, count, layout, first)


@njit(cache=True, nogil=True)
def collect_best(codes, likelihood, has_likelihood, tables, layout, cliques, messages):
    """Fill the cliques' tables and the messages to their parents; returns the best score.

    Everything is in logs: ``tables.values``, ``likelihood``, the cliques and the messages.
    """
    count, best = np.zeros(layout.sizes.size, dtype=np.int64), 0.0
    for f in layout.constants:
        best += tables.values[sliced_start(tables, layout, f, codes)]
    for k in range(layout.parent.size):
        table = cliques[layout.clique_at[k] : layout.clique_at[k + 1]]
        table[:] = 0.0
        for f in layout.hosted[layout.hosted_starts[k] : layout.hosted_starts[k + 1]]:
            start = sliced_start(tables, layout, f, codes)
            add(table, tables.values, start, layout, f, count)
        for v in layout.homed[layout.homed_starts[k] : layout.homed_starts[k + 1]]:
            if has_likelihood[v]:
                start = tables.state_starts[v]
                add(table, likelihood, start, layout, layout.starts[1] + v, count)
        for g in range(layout.group_starts[k], layout.group_starts[k + 1]):
            for c in layout.members[layout.member_starts[g] : layout.member_starts[g + 1]]:
                add(table, messages, layout.message_at[c], layout, layout.starts[3] + g, count)
        if layout.parent[k] < 0:
            best += table.max()
        else:
            message = messages[layout.message_at[k] : layout.message_at[k + 1]]
            message[:] = -np.inf
            max_onto(message, table, layout, layout.starts[4] + k, count)
    return best


@njit(cache=True, nogil=True)
def backtrack(tables, layout, axes, axis_starts, n_own, cliques, slack, codes):
    """The best states of the free variables from the root down; whether no other is as good.

    ``axes`` of clique k: its own first, then the separator.  Scores within ``slack`` are equal.
    """
    unique = True
    for k in range(n_own.size - 1, -1, -1):
        first, middle, last = axis_starts[k], axis_starts[k] + n_own[k], axis_starts[k + 1]
        table = cliques[layout.clique_at[k] : layout.clique_at[k + 1]]
        n_separator = layout.message_at[k + 1] - layout.message_at[k]
        n, s = table.size // n_separator, 0
        for p in range(middle, last):
            s = s * tables.n_states[axes[p]] + codes[axes[p]]
        start, stride = (s * n, 1) if layout.own_last[k] else (s, n_separator)
        best = 0
        for r in range(1, n):
            if table[start + r * stride] > table[start + best * stride]:
                best = r
        top = table[start + best * stride] - slack
        for r in range(n):
            if r != best and table[start + r * stride] >= top:
                unique = False
        for p in range(middle - 1, first - 1, -1):
            m = tables.n_states[axes[p]]
            codes[axes[p]] = best % m
            best //= m
    return unique
