"""The cliques of the graph that an elimination makes chordal, as a tree.

Eliminating a variable joins all its neighbours; it and they are a clique.  Orders by several rules
are tried (``elimination_order.py``), and the one with the fewest cells is kept.  The leaves of a
tree go first in each, so that trees get no new edge.

References
----------
Koller & Friedman, Probabilistic Graphical Models, §10.4.
Kjærulff, Triangulation of graphs, 1990.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from likely._typing import Array
from likely.graphical.inference.elimination_order import (
    TREE_RULES,
    Elimination,
    fast_elimination,
    readable_elimination,
)
from likely.graphical.inference.speed import VARIABLE_WORK, is_fast

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


def clique_tree(found: Elimination) -> CliqueTree:
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
