"""Compiled elimination of the variables of a graph, and the tree of the cliques that it makes.

The neighbours of each variable lie in one pool; a list that outgrows its place moves to the end.
For each variable the number of pairs of neighbours that are not joined (``missing``), their
weight (``cost``) and the log of the cells of its clique (``size``) follow every step:

    join a, b           each common neighbour has one missing pair less;
                        a has one more for each neighbour of a that b does not have
    eliminate v         its neighbours are joined, so u loses degree(u) − degree(v) missing pairs

All integers are int64.  The caller checks; nothing is checked here.
"""

import numpy as np
from numba import njit

SLACK = 4  # free places behind each list of neighbours
NO_ROOM, STOPPED, DONE = -2, -1, 0

DIGITS = 1e9  # keys are compared to nine digits: sums of logs in another order are equal

FILL, SIZE, WEIGHTED_FILL, SEPARATOR, WEIGHT, DEGREES = range(6)

# rows of ``counts`` (9, n): what is known of each variable in the graph that is left
(
    BEGIN,  # of its neighbours in the pool
    LENGTH,  # of their list, which may still name eliminated variables
    SPACE,  # up to the next list
    DEGREE,  # neighbours that are left
    GONE,
    MARK,
    MISSING,
    SEEN,  # the last step that changed it
    TOUCHED,  # not of a variable: the variables that a step changed
) = range(9)

# rows of ``weights`` (4, n); AROUND is Σ log states of the neighbours
LOG_STATES, COST, CLIQUE_SIZE, AROUND = range(4)


@njit(cache=True, nogil=True)
def eliminate(starts, neighbours, log_states, rule, most, room, held):
    """Eliminate all variables by a rule, but for those that are ``held`` (n,).

    ``starts``, ``neighbours``: the other variables that share a factor with each one, both ways.
    ``most`` is the largest log of the cells of a clique; ``room`` the length of the pool, at least
    that of ``neighbours`` and SLACK for each variable.

    Returns the outcome, the order, and for each step the neighbours of the variable: ``first``
    (n_steps + 1,) into ``near``.
    """
    n = log_states.size
    n_steps = n - held.sum()
    counts, weights = np.empty((9, n), dtype=np.int64), np.empty((4, n))
    pool, near = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    end = _begin(starts, neighbours, log_states, counts, weights, pool)
    order, first = np.empty(n_steps, dtype=np.int64), np.empty(n_steps + 1, dtype=np.int64)
    keys, heap = np.empty((2, n)), np.empty((2, n), dtype=np.int64)
    for v in range(n):
        keys[0, v], keys[1, v] = np.inf, np.inf
        if not held[v]:
            keys[0, v], keys[1, v] = _keys(counts, weights, v, rule)
        heap[0, v] = heap[1, v] = v
    for i in range(n // 2 - 1, -1, -1):
        _sink(i, n, heap, keys)
    top, stamp = np.int64(0), n  # a literal 0 would be another type, and compile twice
    own_end = top
    for step in range(n_steps):
        v, last, first[step], n_touched = heap[0, 0], n - 1 - step, own_end, top
        heap[0, 0] = heap[0, last]
        heap[1, heap[0, 0]] = 0
        _sink(top, last, heap, keys)
        if weights[CLIQUE_SIZE, v] > most:
            return STOPPED, order, first, near
        if own_end + counts[DEGREE, v] > room:
            return NO_ROOM, order, first, near
        for p in range(counts[BEGIN, v], counts[BEGIN, v] + counts[LENGTH, v]):
            if not counts[GONE, pool[p]]:
                near[own_end] = pool[p]
                own_end += 1
        if counts[MISSING, v] > 0:
            for i in range(first[step], own_end):
                stamp += 1
                end, n_touched = _join(
                    counts, weights, pool, near, i, own_end, stamp, step, end, n_touched
                )
                if end < 0:
                    return NO_ROOM, order, first, near
        n_touched = _remove(counts, weights, pool, v, near, first[step], own_end, step, n_touched)
        for i in range(n_touched):
            u = counts[TOUCHED, i]
            if not counts[GONE, u] and not held[u]:
                keys[0, u], keys[1, u] = _keys(counts, weights, u, rule)
                _rise(heap[1, u], heap, keys)
                _sink(heap[1, u], last, heap, keys)
        order[step] = v
    first[n_steps] = own_end
    return DONE, order, first, near


@njit(cache=True, nogil=True)
def _begin(starts, neighbours, log_states, counts, weights, pool):
    """The graph before the first step; returns the end of its pool."""
    end = 0
    for u in range(log_states.size):
        length = starts[u + 1] - starts[u]
        counts[BEGIN, u], counts[LENGTH, u], counts[DEGREE, u] = end, length, length
        counts[SPACE, u], counts[GONE, u] = length + SLACK, 0
        counts[MARK, u], counts[SEEN, u] = -1, -1
        weights[LOG_STATES, u], weights[AROUND, u] = log_states[u], 0.0
        for p in range(length):
            pool[end + p] = neighbours[starts[u] + p]
            weights[AROUND, u] += log_states[pool[end + p]]
        weights[CLIQUE_SIZE, u] = log_states[u] + weights[AROUND, u]
        end += length + SLACK
    for v in range(log_states.size):
        counts[MISSING, v], weights[COST, v] = _missing(counts, log_states, pool, v)
    return end


@njit(cache=True, nogil=True)
def _missing(counts, weight, pool, v):
    """The pairs of neighbours of v that are not joined, and the sum of their weights.

    The longest list is not read: whether its owner is joined to another is in the other's list.
    """
    begin, d = counts[BEGIN, v], counts[LENGTH, v]
    total, squares, hub = 0.0, 0.0, -1
    for p in range(begin, begin + d):
        u = pool[p]
        counts[MARK, u] = v
        total += weight[u]
        squares += weight[u] * weight[u]
        if hub < 0 or counts[LENGTH, u] > counts[LENGTH, hub]:
            hub = u
    twice, with_hub, joined = 0, 0, 0.0
    for p in range(begin, begin + d):
        a = pool[p]
        if a == hub:
            continue
        for q in range(counts[BEGIN, a], counts[BEGIN, a] + counts[LENGTH, a]):
            b = pool[q]
            if b == hub:
                with_hub += 1
                joined += weight[a] * weight[b]
            elif counts[MARK, b] == v:
                twice += 1
                joined += 0.5 * weight[a] * weight[b]
    pairs = d * (d - 1) // 2
    return pairs - twice // 2 - with_hub, 0.5 * (total * total - squares) - joined


@njit(cache=True, nogil=True)
def _join(counts, weights, pool, near, i, near_end, stamp, step, end, n_touched):
    """Join the i-th of ``near`` to those behind it.

    Returns the end of the pool, −1 if it is full, and the number of variables that changed.
    """
    a = near[i]
    for p in range(counts[BEGIN, a], counts[BEGIN, a] + counts[LENGTH, a]):
        counts[MARK, pool[p]] = stamp
    for j in range(i + 1, near_end):
        b = near[j]
        if counts[MARK, b] == stamp:
            continue
        shared, shared_weight = 0, 0.0
        pair_weight = weights[LOG_STATES, a] * weights[LOG_STATES, b]
        for p in range(counts[BEGIN, b], counts[BEGIN, b] + counts[LENGTH, b]):
            w = pool[p]
            if counts[MARK, w] == stamp and not counts[GONE, w]:
                shared += 1
                shared_weight += weights[LOG_STATES, w]
                counts[MISSING, w] -= 1
                weights[COST, w] -= pair_weight
                if counts[SEEN, w] != step:
                    counts[SEEN, w] = step
                    counts[TOUCHED, n_touched] = w
                    n_touched += 1
        for _ in range(2):
            weight = weights[LOG_STATES, b]
            counts[MISSING, a] += counts[DEGREE, a] - shared
            weights[COST, a] += weight * (weights[AROUND, a] - shared_weight)
            counts[DEGREE, a] += 1
            weights[AROUND, a] += weight
            weights[CLIQUE_SIZE, a] += weight
            end = _append(counts, pool, a, b, end)
            if end < 0:
                return end, n_touched
            a, b = b, a
        counts[MARK, b] = stamp
    return end, n_touched


@njit(cache=True, nogil=True)
def _append(counts, pool, u, w, end):
    """Add w to the neighbours of u; returns the end of the pool, −1 if it is full."""
    begin, length = counts[BEGIN, u], counts[LENGTH, u]
    if length == counts[SPACE, u]:
        if end + 2 * length > pool.size:
            return -1
        for p in range(length):
            pool[end + p] = pool[begin + p]
        counts[BEGIN, u], counts[SPACE, u] = end, 2 * length
        begin = end
        end += 2 * length
    pool[begin + length] = w
    counts[LENGTH, u] += 1
    return end


@njit(cache=True, nogil=True)
def _remove(counts, weights, pool, v, near, near_begin, near_end, step, n_touched):
    """Take v away, whose neighbours are joined; returns the number that changed."""
    total, weight, d = 0.0, weights[LOG_STATES, v], near_end - near_begin
    for i in range(near_begin, near_end):
        total += weights[LOG_STATES, near[i]]
    counts[GONE, v] = 1
    for i in range(near_begin, near_end):
        u = near[i]
        counts[MISSING, u] -= counts[DEGREE, u] - d
        outside = weights[AROUND, u] - weight - (total - weights[LOG_STATES, u])
        weights[COST, u] -= weight * outside
        counts[DEGREE, u] -= 1
        weights[AROUND, u] -= weight
        weights[CLIQUE_SIZE, u] -= weight
        if counts[LENGTH, u] > 2 * counts[DEGREE, u] + SLACK:
            kept = counts[BEGIN, u]
            for p in range(kept, kept + counts[LENGTH, u]):
                if not counts[GONE, pool[p]]:
                    pool[kept] = pool[p]
                    kept += 1
            counts[LENGTH, u] = kept - counts[BEGIN, u]
        if counts[SEEN, u] != step:
            counts[SEEN, u] = step
            counts[TOUCHED, n_touched] = u
            n_touched += 1
    return n_touched


@njit(cache=True, nogil=True)
def _keys(counts, weights, v, rule):
    """What the rule ranks by, and what decides between equals; see ``elimination_order.py``."""
    missing = float(counts[MISSING, v])
    size = np.floor(DIGITS * weights[CLIQUE_SIZE, v] + 0.5)
    if missing == 0.0 and rule < WEIGHT:
        return -1.0, size
    if rule == FILL:
        return missing, size
    if rule == WEIGHTED_FILL:
        return np.floor(DIGITS * weights[COST, v] + 0.5), size
    if rule in (SIZE, WEIGHT):
        return size, missing
    if rule == DEGREES:
        return float(counts[DEGREE, v]), size
    return np.floor(DIGITS * (weights[CLIQUE_SIZE, v] - weights[LOG_STATES, v]) + 0.5), missing


@njit(cache=True, nogil=True)
def _before(a, b, keys):
    if keys[0, a] != keys[0, b]:
        return keys[0, a] < keys[0, b]
    if keys[1, a] != keys[1, b]:
        return keys[1, a] < keys[1, b]
    return a < b


@njit(cache=True, nogil=True)
def _rise(i, heap, keys):
    """Move the i-th of the heap up; heap[1] has the place of each variable in heap[0]."""
    v = heap[0, i]
    while i > 0 and _before(v, heap[0, (i - 1) // 2], keys):
        heap[0, i] = heap[0, (i - 1) // 2]
        heap[1, heap[0, i]] = i
        i = (i - 1) // 2
    heap[0, i] = v
    heap[1, v] = i


@njit(cache=True, nogil=True)
def _sink(i, n, heap, keys):
    """Move the i-th of the first n of the heap down."""
    if i >= n:
        return
    v = heap[0, i]
    while 2 * i + 1 < n:
        below = 2 * i + 1
        if below + 1 < n and _before(heap[0, below + 1], heap[0, below], keys):
            below += 1
        if not _before(heap[0, below], v, keys):
            break
        heap[0, i] = heap[0, below]
        heap[1, heap[0, i]] = i
        i = below
    heap[0, i] = v
    heap[1, v] = i


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
