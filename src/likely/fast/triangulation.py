"""Compiled elimination of the variables of a graph, and the tree of the cliques that it makes.

The neighbours of each variable lie in one pool; a list that outgrows its place moves to the end.
For each variable the number of pairs of neighbours that are not joined (``missing``), their
weight (``cost``) and the log of the cells of its clique (``size``) follow every step:

    join a, b           each common neighbour has one missing pair less;
                        a has one more for each neighbour of a that b does not have
    eliminate v         its neighbours are joined, so u loses degree(u) − degree(v) missing pairs

All integers are int64.  The caller checks; nothing is checked here.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

SLACK = 4  # free places behind each list of neighbours
NO_ROOM, STOPPED, DONE = -2, -1, 0

DIGITS = 1e9  # keys are compared to nine digits: sums of logs in another order are equal

FILL, WEIGHTED_FILL, SIZE, SEPARATOR = 0, 1, 2, 3


class Graph(NamedTuple):
    """The graph that is left, (n,) each but for the pool, and what the rules ask of a variable."""

    log_states: Any
    pool: Any
    begin: Any  # of a variable's neighbours in the pool
    length: Any  # of its list, which may still name eliminated variables
    space: Any  # up to the next list
    degree: Any  # neighbours that are left
    alive: Any
    mark: Any
    missing: Any
    cost: Any
    size: Any
    around: Any  # Σ log states of the neighbours
    seen: Any  # the last step that changed a variable


@njit(cache=True, nogil=True)
def eliminate(starts, neighbours, log_states, rule, most, room):
    """Eliminate all variables by a rule.

    ``starts``, ``neighbours``: the other variables that share a factor with each one, both ways.
    ``most`` is the largest log of the cells of a clique; ``room`` the length of the pool, at least
    that of ``neighbours`` and SLACK for each variable.

    Returns the outcome, the order, and for each step the neighbours of the variable: ``first``
    (n + 1,) into ``near``.
    """
    n = log_states.size
    graph, end = _graph(starts, neighbours, log_states, room)
    near, own_end = np.empty(room, dtype=np.int64), 0
    order, first = np.empty(n, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    key, tie = np.empty(n), np.empty(n)
    for v in range(n):
        key[v], tie[v] = _keys(graph, v, rule)
    heap, place = np.arange(n), np.arange(n)
    for i in range(n // 2 - 1, -1, -1):
        _sink(i, n, heap, place, key, tie)
    touched, stamp = np.empty(n, dtype=np.int64), n
    for step in range(n):
        v, last = heap[0], n - 1 - step
        heap[0] = heap[last]
        place[heap[0]] = 0
        _sink(0, last, heap, place, key, tie)
        if graph.size[v] > most:
            return STOPPED, order, first, near
        if own_end + graph.degree[v] > room:
            return NO_ROOM, order, first, near
        for p in range(graph.begin[v], graph.begin[v] + graph.length[v]):
            if graph.alive[graph.pool[p]]:
                near[own_end] = graph.pool[p]
                own_end += 1
        own = near[first[step] : own_end]
        n_touched = 0
        if graph.missing[v] > 0:
            for i in range(own.size):
                stamp += 1
                end, n_touched = _join(graph, own, i, stamp, step, end, touched, n_touched)
                if end < 0:
                    return NO_ROOM, order, first, near
        n_touched = _remove(graph, v, own, step, touched, n_touched)
        for u in touched[:n_touched]:
            if graph.alive[u]:
                key[u], tie[u] = _keys(graph, u, rule)
                _rise(place[u], heap, place, key, tie)
                _sink(place[u], last, heap, place, key, tie)
        order[step], first[step + 1] = v, own_end
    return DONE, order, first, near


@njit(cache=True, nogil=True)
def _graph(starts, neighbours, log_states, room):
    """The graph before the first step, and the end of its pool."""
    n, end = log_states.size, 0
    pool, begin = np.empty(room, dtype=np.int64), np.empty(n, dtype=np.int64)
    length, around = np.empty(n, dtype=np.int64), np.zeros(n)
    for u in range(n):
        begin[u], length[u] = end, starts[u + 1] - starts[u]
        for p in range(starts[u], starts[u + 1]):
            pool[end + p - starts[u]] = neighbours[p]
            around[u] += log_states[neighbours[p]]
        end += length[u] + SLACK
    missing, mark = np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    graph = Graph(
        log_states,
        pool,
        begin,
        length,
        length + SLACK,
        length.copy(),
        np.ones(n, dtype=np.bool_),
        mark,
        missing,
        np.zeros(n),
        log_states + around,
        around,
        np.full(n, -1, dtype=np.int64),
    )
    for v in range(n):
        graph.missing[v], graph.cost[v] = _missing(graph, v)
    return graph, end


@njit(cache=True, nogil=True)
def _missing(graph, v):
    """The pairs of neighbours of v that are not joined, and the sum of their weights.

    The longest list is not read: whether its owner is joined to another is in the other's list.
    """
    weight, mark, length = graph.log_states, graph.mark, graph.length
    d, total, squares, hub = length[v], 0.0, 0.0, -1
    own = graph.pool[graph.begin[v] : graph.begin[v] + d]
    for u in own:
        mark[u] = v
        total += weight[u]
        squares += weight[u] ** 2
        if hub < 0 or length[u] > length[hub]:
            hub = u
    twice, with_hub, joined = 0, 0, 0.0
    for a in own:
        if a == hub:
            continue
        for b in graph.pool[graph.begin[a] : graph.begin[a] + length[a]]:
            if b == hub:
                with_hub += 1
                joined += weight[a] * weight[b]
            elif mark[b] == v:
                twice += 1
                joined += 0.5 * weight[a] * weight[b]
    pairs = d * (d - 1) // 2
    return pairs - twice // 2 - with_hub, 0.5 * (total * total - squares) - joined


@njit(cache=True, nogil=True)
def _join(graph, own, i, stamp, step, end, touched, n_touched):
    """Join the i-th of ``own`` to those behind it.

    Returns the end of the pool, −1 if it is full, and the number of variables that changed.
    """
    pool, begin, length, mark = graph.pool, graph.begin, graph.length, graph.mark
    weight, a = graph.log_states, own[i]
    for p in range(begin[a], begin[a] + length[a]):
        mark[pool[p]] = stamp
    for j in range(i + 1, own.size):
        b = own[j]
        if mark[b] == stamp:
            continue
        shared, shared_weight = 0, 0.0
        for p in range(begin[b], begin[b] + length[b]):
            w = pool[p]
            if mark[w] == stamp and graph.alive[w]:
                shared += 1
                shared_weight += weight[w]
                graph.missing[w] -= 1
                graph.cost[w] -= weight[a] * weight[b]
                if graph.seen[w] != step:
                    graph.seen[w] = step
                    touched[n_touched] = w
                    n_touched += 1
        for u, w in ((a, b), (b, a)):
            graph.missing[u] += graph.degree[u] - shared
            graph.cost[u] += weight[w] * (graph.around[u] - shared_weight)
            graph.degree[u] += 1
            graph.around[u] += weight[w]
            graph.size[u] += weight[w]
            end = _append(graph, u, w, end)
            if end < 0:
                return end, n_touched
        mark[b] = stamp
    return end, n_touched


@njit(cache=True, nogil=True)
def _append(graph, u, w, end):
    """Add w to the neighbours of u; returns the end of the pool, −1 if it is full."""
    pool, begin, length, space = graph.pool, graph.begin, graph.length, graph.space
    if length[u] == space[u]:
        wider = 2 * space[u]
        if end + wider > pool.size:
            return -1
        for p in range(length[u]):
            pool[end + p] = pool[begin[u] + p]
        begin[u], space[u] = end, wider
        end += wider
    pool[begin[u] + length[u]] = w
    length[u] += 1
    return end


@njit(cache=True, nogil=True)
def _remove(graph, v, own, step, touched, n_touched):
    """Take v away, whose neighbours ``own`` are joined; returns the number that changed."""
    weight, total = graph.log_states, 0.0
    for u in own:
        total += weight[u]
    graph.alive[v] = False
    for u in own:
        graph.missing[u] -= graph.degree[u] - own.size
        outside = graph.around[u] - weight[v] - (total - weight[u])
        graph.cost[u] -= weight[v] * outside
        graph.degree[u] -= 1
        graph.around[u] -= weight[v]
        graph.size[u] -= weight[v]
        if graph.length[u] > 2 * graph.degree[u] + SLACK:
            kept = graph.begin[u]
            for p in range(graph.begin[u], graph.begin[u] + graph.length[u]):
                if graph.alive[graph.pool[p]]:
                    graph.pool[kept] = graph.pool[p]
                    kept += 1
            graph.length[u] = kept - graph.begin[u]
        if graph.seen[u] != step:
            graph.seen[u] = step
            touched[n_touched] = u
            n_touched += 1
    return n_touched


@njit(cache=True, nogil=True)
def _keys(graph, v, rule):
    """What the rule ranks by, and what decides between equals; no missing pair comes first."""
    missing, size = float(graph.missing[v]), np.floor(DIGITS * graph.size[v] + 0.5)
    if missing == 0.0:
        return -1.0, size
    if rule == FILL:
        return missing, size
    if rule == WEIGHTED_FILL:
        return np.floor(DIGITS * graph.cost[v] + 0.5), size
    if rule == SIZE:
        return size, missing
    return np.floor(DIGITS * (graph.size[v] - graph.log_states[v]) + 0.5), missing


@njit(cache=True, nogil=True)
def _before(a, b, key, tie):
    if key[a] != key[b]:
        return key[a] < key[b]
    if tie[a] != tie[b]:
        return tie[a] < tie[b]
    return a < b


@njit(cache=True, nogil=True)
def _rise(i, heap, place, key, tie):
    v = heap[i]
    while i > 0:
        above = (i - 1) // 2
        if not _before(v, heap[above], key, tie):
            break
        heap[i] = heap[above]
        place[heap[i]] = i
        i = above
    heap[i] = v
    place[v] = i


@njit(cache=True, nogil=True)
def _sink(i, n, heap, place, key, tie):
    if i >= n:
        return
    v = heap[i]
    while 2 * i + 1 < n:
        below = 2 * i + 1
        if below + 1 < n and _before(heap[below + 1], heap[below], key, tie):
            below += 1
        if not _before(heap[below], v, key, tie):
            break
        heap[i] = heap[below]
        place[heap[i]] = i
        i = below
    heap[i] = v
    place[v] = i


@njit(cache=True, nogil=True)
def clique_tree(order, first, near):
    """The maximal cliques of an elimination, joined to a tree; children come before parents.

    The clique of a step is its variable and its neighbours.  That of step i lies in that of an
    earlier step j, if i is the first of j's neighbours to go and j has one neighbour more: then
    both are one clique.

    Returns ``starts`` (m + 1,) into ``members``, in each clique in the order of elimination: first
    the ``n_own`` variables that no later clique has, then the separator; the ``parent`` of each
    clique, −1 for a root; and the clique ``home`` (n,) that has a variable as its own.
    """
    n = order.size
    position = np.empty(n, dtype=np.int64)
    for i in range(n):
        position[order[i]] = i
    up, top, last = _chains(position, first, near)
    number, m = np.full(n, -1, dtype=np.int64), 0
    for i in range(n):
        if last[top[i]] == i:
            number[top[i]] = m
            m += 1
    starts, n_own = np.zeros(m + 1, dtype=np.int64), np.zeros(m, dtype=np.int64)
    parent, home = np.empty(m, dtype=np.int64), np.empty(n, dtype=np.int64)
    for i in range(n):
        k = number[top[i]]
        home[order[i]] = k
        n_own[k] += 1
        if top[i] == i:
            starts[k + 1] = 1 + first[i + 1] - first[i]
        if last[top[i]] == i:
            parent[k] = number[top[up[i]]] if up[i] >= 0 else -1
    for k in range(m):
        starts[k + 1] += starts[k]
    members = np.empty(starts[m], dtype=np.int64)
    for i in range(n):
        if top[i] == i:
            begin = starts[number[i]]
            members[begin] = i
            for p in range(first[i], first[i + 1]):
                at, q = position[near[p]], begin + 1 + p - first[i]
                while members[q - 1] > at:
                    members[q] = members[q - 1]
                    q -= 1
                members[q] = at
    return starts, order[members], n_own, parent, home


@njit(cache=True, nogil=True)
def _chains(position, first, near):
    """Steps whose cliques are one: the step after which a clique hangs, and its chain's ends.

    ``up`` is the step of the first neighbour to go, −1 if there is none; ``top`` the first step of
    a step's chain; ``last``, at a chain's first step, its last one.
    """
    n = position.size
    up, absorbs = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    top, last = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for i in range(n):
        for p in range(first[i], first[i + 1]):
            at = position[near[p]]
            if up[i] < 0 or at < up[i]:
                up[i] = at
        above = up[i]
        if above >= 0 and absorbs[above] < 0:
            one_more = first[i + 1] - first[i] - 1
            if one_more == first[above + 1] - first[above]:
                absorbs[above] = i
        top[i] = i if absorbs[i] < 0 else top[absorbs[i]]
        last[top[i]] = i
    return up, top, last
