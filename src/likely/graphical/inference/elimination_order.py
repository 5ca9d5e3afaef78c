"""Orders in which the variables of a graph are eliminated, each by a rule.

Eliminating a variable joins all its neighbours.  The best order is hard to find, so that a rule
chooses the next variable by what it costs now:

    fill            the pairs of its neighbours that it would join
    size            the cells of its clique, Π n_a over it and its neighbours
    weighted fill   Σ log n_a log n_b over the pairs that it would join
    separator       the cells of its neighbours
    weight          as size, but without the exception below
    degree          the number of its neighbours

A variable whose neighbours are all joined goes first in the first four: that adds no edge, and can
be part of a best order.  The first four serve junction trees; "fill", "weight" and "degree" are the
orders "min-fill", "min-weight" and "min-degree" of variable elimination.

References
----------
Koller & Friedman, Probabilistic Graphical Models, §9.4.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from math import floor, inf
from typing import NamedTuple

import numpy as np

from likely._typing import Array, Codes
from likely.graphical.inference.speed import VARIABLE_WORK, is_fast
from likely.names import lookup

RULES = ("fill", "size", "weighted fill", "separator", "weight", "degree")  # as in fast/
TREE_RULES = RULES[:4]
ORDERS = {f"min-{name}": RULES.index(name) for name in ("fill", "weight", "degree")}
DIGITS = 1e9  # keys are compared to nine digits: sums of logs in another order are equal


class Elimination(NamedTuple):
    """The variables in order, and the neighbours of each when it goes.

    Those of the i-th are ``near[first[i] : first[i + 1]]``.
    """

    order: Codes
    first: Codes
    near: Codes

    def around(self) -> Iterator[list[int]]:
        """The neighbours of each variable when it goes."""
        for a, b in pairwise(self.first):
            yield self.near[a:b].tolist()


def order_by_rule(
    scopes: Sequence[Sequence[str]],
    n_states: Mapping[str, int],
    names: Sequence[str],
    rule: str,
) -> tuple[str, ...]:
    """``names`` in the order of a rule; of equals, the one that the graph lists first."""
    number = lookup("elimination order", rule, ORDERS)
    place, wanted = {name: v for v, name in enumerate(n_states)}, set(names)
    near: list[set[int]] = [set() for _ in place]
    for scope in scopes:
        together = {place[name] for name in scope}
        for v in together:
            near[v] |= together
    others = [sorted(own - {v}) for v, own in enumerate(near)]
    starts = np.cumsum([0, *map(len, others)], dtype=np.int64)
    neighbours = np.array([u for own in others for u in own], dtype=np.int64)
    log_states = np.log(np.array(list(n_states.values()), dtype=float))
    held = np.array([name not in wanted for name in n_states], dtype=np.bool_)
    eliminate = fast_elimination if is_fast(VARIABLE_WORK * len(place)) else readable_elimination
    found = eliminate(starts, neighbours, log_states, number, held=held)
    assert found is not None  # no clique is too large without a limit
    listed = tuple(n_states)
    return tuple(listed[v] for v in found.order)


def fast_elimination(
    starts: Array,
    neighbours: Array,
    log_states: Array,
    rule: int,
    *,
    most: float = inf,
    held: Array | None = None,
) -> Elimination | None:
    """``readable_elimination``, compiled."""
    from likely.fast import triangulation as fast

    kept = np.zeros(log_states.size, dtype=np.bool_) if held is None else held
    room = 4 * neighbours.size + 16 * log_states.size
    while True:
        outcome, *found = fast.eliminate(starts, neighbours, log_states, rule, most, room, kept)
        if outcome == fast.STOPPED:
            return None
        if outcome == fast.DONE:
            return Elimination(*found)
        room *= 4


def readable_elimination(
    starts: Array,
    neighbours: Array,
    log_states: Array,
    rule: int,
    *,
    most: float = inf,
    held: Array | None = None,
) -> Elimination | None:
    """The order of a rule; None if the log of the cells of a clique is above ``most``.

    ``neighbours[starts[u] : starts[u + 1]]`` share a factor with u.  Variables that are ``held``
    are not eliminated.
    """
    near = [set(neighbours[a:b].tolist()) for a, b in pairwise(starts)]
    logs, order, around = log_states.tolist(), [], []
    kept = set() if held is None else set(np.flatnonzero(held).tolist())
    keys = {v: _keys(v, near, logs, rule) for v in range(len(near)) if v not in kept}
    while keys:
        v = min(keys, key=lambda u: (keys[u], u))
        own = near[v]
        if logs[v] + sum(logs[u] for u in own) > most:
            return None
        order.append(v)
        around.append(sorted(own))
        del keys[v]
        changed = set(own)
        for u in own:
            near[u] = (near[u] | own) - {u, v}
        for u in own:
            changed |= near[u]
        keys |= {u: _keys(u, near, logs, rule) for u in changed - kept}
    first = np.cumsum([0, *map(len, around)], dtype=np.int64)
    flat = np.array([u for own in around for u in own], dtype=np.int64)
    return Elimination(np.array(order, dtype=np.int64), first, flat)


def _keys(
    v: int, near: list[set[int]], log_states: Sequence[float], rule: int
) -> tuple[float, float]:
    """What the rule ranks by, and what decides between equals."""
    missing = [(a, b) for a, b in combinations(near[v], 2) if b not in near[a]]
    size = sum(log_states[u] for u in near[v])
    rounded = floor(DIGITS * (size + log_states[v]) + 0.5)
    if not missing and rule < len(TREE_RULES):
        return -1, rounded
    weight = sum(log_states[a] * log_states[b] for a, b in missing)
    return (
        (len(missing), rounded),
        (rounded, len(missing)),
        (floor(DIGITS * weight + 0.5), rounded),
        (floor(DIGITS * size + 0.5), len(missing)),
        (rounded, len(missing)),
        (len(near[v]), rounded),
    )[rule]
