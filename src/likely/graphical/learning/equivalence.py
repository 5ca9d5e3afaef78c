"""Which networks state the same independences, and how far apart two graphs are.

Two directed graphs state the same independences when they have the same edges without direction and
the same colliders a → c ← b with a and b apart.  The completed graph of such a class directs the
edges that all its members direct alike, and leaves the others without direction.

The structural Hamming distance counts the pairs of variables whose edge differs: it is missing,
superfluous, or has another direction.

References
----------
Verma & Pearl, Equivalence and synthesis of causal models, 1990.
Meek, Causal inference and causal explanation with background knowledge, 1995 (the three rules).
Tsamardinos, Brown & Aliferis, The max-min hill-climbing Bayesian network structure learning
algorithm, 2006 (the distance).
"""

from collections.abc import Iterable
from typing import Literal

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.graphical.bayesian_network import BayesianNetwork
from likely.graphical.learning.structure import Edge, checked_edges
from likely.names import lookup

Compared = Literal["classes", "directed"]


def structural_hamming_distance(
    a: BayesianNetwork | Iterable[Edge],
    b: BayesianNetwork | Iterable[Edge],
    *,
    on: Compared = "classes",
) -> int:
    """The pairs of variables whose edges differ.

    With ``on="classes"`` the completed graphs (CPDAGs) are compared, so that networks that state
    the same independences have the distance 0; with "directed", the directed graphs themselves.
    """
    first, second = _matrices(a, b)
    if lookup("kind of graph", on, {"classes": True, "directed": False}):
        first, second = completed(first), completed(second)
    differs = (first != second) | (first != second).T
    return int(np.triu(differs, 1).sum())


def completed(edge: Array) -> Array:
    """The completed graph (CPDAG) of a directed one: a—b is the edge in both directions.

    ``edge`` (p, p) is Boolean, parent × child.
    """
    mark = edge | edge.T
    near = mark.copy()
    for c in range(len(edge)):
        above = np.flatnonzero(edge[:, c])
        for a in above:
            if (~near[a, above] & (above != a)).any():
                mark[c, a] = False  # a collider: a → c
    while _directed_by_rules(mark, near):
        pass
    return mark


def _directed_by_rules(mark: Array, near: Array) -> bool:
    """Direct edges b—c as b → c where the other direction would make a collider or a cycle."""
    changed = False
    for b, c in np.argwhere(mark & mark.T):
        if mark[b, c] and mark[c, b] and _must_lead(mark, near, int(b), int(c)):
            mark[c, b] = False
            changed = True
    return changed


def _must_lead(mark: Array, near: Array, b: int, c: int) -> bool:
    arrow = mark & ~mark.T
    if (arrow[:, b] & ~near[:, c]).any():  # a → b — c, a and c apart
        return True
    if (arrow[b] & arrow[:, c]).any():  # b → a → c
        return True
    # b — a → c and b — d → c, a and d apart
    between = np.flatnonzero(mark[b] & mark[:, b] & arrow[:, c])
    return bool((~near[np.ix_(between, between)] & ~np.eye(len(between), dtype=bool)).any())


def _matrices(
    a: BayesianNetwork | Iterable[Edge], b: BayesianNetwork | Iterable[Edge]
) -> tuple[Array, Array]:
    """Both graphs as matrices over the same variables."""
    edges = [
        list(each.edges) if isinstance(each, BayesianNetwork) else checked_edges(each)
        for each in (a, b)
    ]
    networks = [graph for graph in (a, b) if isinstance(graph, BayesianNetwork)]
    names = dict.fromkeys(name for network in networks for name in network.names)
    names |= dict.fromkeys(name for pairs in edges for pair in pairs for name in pair)
    for network in networks:
        other = next((name for name in names if name not in network.by_name), None)
        if other is not None:
            raise InvalidInput(
                f"{other!r} is a variable of one graph and not of the other; the same variables "
                "were expected. Rename it, or add it."
            )
    place = {name: i for i, name in enumerate(names)}
    found = np.zeros((2, len(names), len(names)), dtype=bool)
    for matrix, pairs in zip(found, edges, strict=True):
        for parent, child in pairs:
            matrix[place[parent], place[child]] = True
    return found[0], found[1]
