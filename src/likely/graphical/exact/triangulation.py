"""Orders in which variables are eliminated, and the tree of cliques that an elimination makes.

Eliminating a variable joins all its neighbours; it and they are a clique, and the graph with the
joined pairs is chordal.  The best order is hard to find, so that a rule chooses the next variable
by what it costs now:

    fill            the pairs of its neighbours that it would join
    size            the cells of its clique, Π n_a over it and its neighbours
    weighted fill   Σ log n_a log n_b over the pairs that it would join
    separator       the cells of its neighbours
    weight          as size, but without the exception below
    degree          the number of its neighbours

A variable whose neighbours are all joined goes first in the first four: that adds no edge, and can
be part of a best order.  These four are tried for a junction tree, and the order with the fewest
cells is kept; the leaves of a tree go first in each, so that trees get no new edge.  "fill",
"weight" and "degree" are the orders "min-fill", "min-weight" and "min-degree" of variable
elimination.

References
----------
Koller & Friedman, Probabilistic Graphical Models, §9.4 and §10.4.
Kjærulff, Triangulation of graphs, 1990.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from math import floor, inf
from typing import NamedTuple

import numpy as np

from likely._typing import Array, Codes
from likely.graphical.exact.cost import VARIABLE_WORK, is_fast
from likely.names import lookup

RULES = ("fill", "size", "weighted fill", "separator", "weight", "degree")  # as in fast/
TREE_RULES = RULES[:4]
ORDERS = {f"min-{name}": RULES.index(name) for name in ("fill", "weight", "degree")}
DIGITS = 1e9  # keys are compared to nine digits: sums of logs in another order are equal


class EliminationOrder(NamedTuple):
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
) -> EliminationOrder | None:
    """``readable_elimination``, compiled."""
    from likely.fast import triangulation as fast

    kept = np.zeros(log_states.size, dtype=np.bool_) if held is None else held
    room = 4 * neighbours.size + 16 * log_states.size
    while True:
        outcome, *found = fast.eliminate(starts, neighbours, log_states, rule, most, room, kept)
        if outcome == fast.STOPPED:
            return None
        if outcome == fast.DONE:
            return EliminationOrder(*found)
        room *= 4


def readable_elimination(
    starts: Array,
    neighbours: Array,
    log_states: Array,
    rule: int,
    *,
    most: float = inf,
    held: Array | None = None,
) -> EliminationOrder | None:
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
    return EliminationOrder(np.array(order, dtype=np.int64), first, flat)


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


ENOUGH_CELLS = 20_000  # a tree of fewer cells is not worth another rule
SHUFFLE_CELLS = 1500  # of a table, whose propagation takes as long as one variable of a shuffle
MOST_SHUFFLES = 60
LOG_MOST = 40.0  # log of the cells of a clique at which planning stops: 2·10¹⁷


class CliqueTree(NamedTuple):
    """The maximal cliques of a chordal graph, joined to a tree; children come before parents.

    Clique k has ``members[starts[k] : starts[k + 1]]``: first its ``n_own[k]`` variables that no
    later clique has, then its separator, both in the order of elimination.
    """

    starts: Array
    members: Array
    n_own: Array
    parent: Array  # −1 for a root
    home: Array  # of each variable, the clique that has it as its own

    def log_cells(self, log_states: Array) -> Array:
        """The log of the number of cells of each clique."""
        return np.add.reduceat(log_states[self.members], self.starts[:-1])

    def log_total(self, log_states: Array) -> float:
        """The log of the number of cells of all cliques."""
        return float(np.logaddexp.reduce(self.log_cells(log_states)))


class TooManyCells(Exception):
    """A clique has more cells than any memory; ``log_cells`` says how many at least."""

    def __init__(self, log_cells: float) -> None:
        super().__init__(log_cells)
        self.log_cells = log_cells


def triangulate(starts: Array, neighbours: Array, log_states: Array) -> CliqueTree:
    """The clique tree with the fewest cells that the rules find.

    ``neighbours[starts[u] : starts[u + 1]]`` are the variables that share a factor with u.
    """
    if not log_states.size:
        none = np.zeros(0, dtype=np.int64)
        return CliqueTree(np.zeros(1, dtype=np.int64), none, none, none, none)
    best, fewest, n_stopped = None, np.inf, 0
    for rule in range(len(TREE_RULES)):
        tree = clique_tree_by_rule(starts, neighbours, log_states, rule)
        log_cells = np.inf if tree is None else tree.log_total(log_states)
        n_stopped += tree is None
        if log_cells < fewest:
            best, fewest = tree, log_cells
        if np.exp(fewest) <= ENOUGH_CELLS or n_stopped > 1:
            break
    if best is None:
        raise TooManyCells(LOG_MOST)
    return _improved(best, starts, neighbours, log_states)


def _improved(best: CliqueTree, starts: Array, neighbours: Array, log_states: Array) -> CliqueTree:
    """A tree with fewer cells from the rules on shuffled variables, which breaks ties otherwise.

    As many are tried as take about as long as propagation in the best one.
    """
    generator, fewest = np.random.default_rng(0), best.log_total(log_states)
    for attempt in range(MOST_SHUFFLES):
        if attempt > np.exp(fewest) / (SHUFFLE_CELLS * log_states.size):
            break
        order = generator.permutation(log_states.size)
        shuffled = _renumbered(starts, neighbours, order)
        tree = _fast_clique_tree(*shuffled, log_states[order], attempt % len(TREE_RULES))
        if tree is not None and tree.log_total(log_states[order]) < fewest:
            fewest = tree.log_total(log_states[order])
            best = tree._replace(members=order[tree.members], home=tree.home[np.argsort(order)])
    return best


def _renumbered(starts: Array, neighbours: Array, order: Array) -> tuple[Array, Array]:
    """The same graph with variable order[i] as the i-th."""
    number = np.argsort(order)
    owner = number[np.repeat(np.arange(len(order)), np.diff(starts))]
    by_owner = np.argsort(owner, kind="stable")
    ends = np.cumsum(np.diff(starts)[order])
    return np.append(0, ends), number[neighbours][by_owner]


def clique_tree_by_rule(
    starts: Array, neighbours: Array, log_states: Array, rule: int
) -> CliqueTree | None:
    """The clique tree of the order that one rule gives; None if a clique is too large."""
    if is_fast(VARIABLE_WORK * log_states.size):
        return _fast_clique_tree(starts, neighbours, log_states, rule)
    found = readable_elimination(starts, neighbours, log_states, rule, most=LOG_MOST)
    return None if found is None else clique_tree(found)


def _fast_clique_tree(
    starts: Array, neighbours: Array, log_states: Array, rule: int
) -> CliqueTree | None:
    from likely.fast import triangulation as fast

    found = fast_elimination(starts, neighbours, log_states, rule, most=LOG_MOST)
    return None if found is None else CliqueTree(*fast.clique_tree(*found))


def clique_tree(found: EliminationOrder) -> CliqueTree:
    """The maximal cliques of an elimination, and the tree that they form.

    The clique of a step is its variable and its neighbours.  That of step i lies in that of an
    earlier step j, if i is the first of j's neighbours to go and j has one neighbour more: then
    both are one clique.
    """
    order: Sequence[int] = found.order.tolist()
    around = [set(own) for own in found.around()]
    position = {v: i for i, v in enumerate(order)}
    up = [min((position[u] for u in own), default=-1) for own in around]
    top = list(range(len(order)))  # the first step of the clique that each step belongs to
    last: dict[int, int] = {}  # of the steps of a clique
    absorbs: dict[int, int] = {}
    for i, above in enumerate(up):
        top[i] = top[absorbs[i]] if i in absorbs else i
        last[top[i]] = i
        if above >= 0 and len(around[i]) == len(around[above]) + 1:
            absorbs.setdefault(above, i)
    firsts = sorted(last, key=last.__getitem__)
    number = {step: k for k, step in enumerate(firsts)}
    cliques = [[order[step], *sorted(around[step], key=position.__getitem__)] for step in firsts]
    ends = [up[last[step]] for step in firsts]
    home = [0] * len(order)
    for i, v in enumerate(order):
        home[v] = number[top[i]]
    parts = (
        [0, *np.cumsum([len(clique) for clique in cliques])],
        [v for clique in cliques for v in clique],
        np.bincount(home, minlength=len(cliques)),
        [number[top[step]] if step >= 0 else -1 for step in ends],
        home,
    )
    return CliqueTree(*(np.array(part, dtype=np.int64) for part in parts))
