"""Learning the edges of a Bayesian network from data.

    chow-liu       the tree that maximises Σ_edges I(a; b): of all trees, the one with the highest
                   likelihood
    tan            class → every feature, and the tree of features that maximises Σ I(a; b | class)
    naive-bayes    class → every feature
    hill-climbing  edges are added, removed and reversed while a score rises (``hill_climbing.py``)

Mutual information is counted in the rows in which both variables are observed; hill climbing needs
complete rows.  A variable that no row shows has no edges.  To add a method, write one class and
list it in ``STRUCTURES``.

References
----------
Chow & Liu, Approximating discrete probability distributions with dependence trees, 1968.
Friedman, Geiger & Goldszmidt, Bayesian network classifiers, 1997 (tree-augmented naive Bayes).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput, UnknownName
from likely.graphical.learning.coded_rows import CodedRows
from likely.graphical.learning.mutual_information import pair_counts
from likely.inputs.estimators import generator
from likely.names import lookup

Edge = tuple[str, str]  # (parent, child)


class Structure(ABC):
    """The contract of a method that learns edges."""

    @abstractmethod
    def edges(self, rows: CodedRows, target: str | None, rng: np.random.Generator) -> list[Edge]:
        """Edges (parent, child) without a cycle."""


@final
@dataclass(frozen=True)
class ChowLiu(Structure):
    """The tree of the highest likelihood, with edges that lead away from its root.

    The root is ``target``, else the first variable; it does not change the joint.
    """

    def edges(self, rows: CodedRows, target: str | None, rng: np.random.Generator) -> list[Edge]:
        names = [variable.name for variable in rows.variables]
        root = 0 if target is None else position(names, target)
        information = pair_counts(rows).mutual_information()
        return [(names[a], names[b]) for a, b in rooted(spanning_tree(information), root)]


@final
@dataclass(frozen=True)
class TreeAugmented(Structure):
    """Tree-augmented naive Bayes: each feature depends on the class and one other feature."""

    def edges(self, rows: CodedRows, target: str | None, rng: np.random.Generator) -> list[Edge]:
        names = [variable.name for variable in rows.variables]
        label = position(names, _required(target, "tan"))
        information = pair_counts(rows, label).mutual_information()
        features = [v for v in range(len(names)) if v != label]
        tree = rooted(spanning_tree(information[np.ix_(features, features)]), 0)
        return [(names[label], names[v]) for v in features] + [
            (names[features[a]], names[features[b]]) for a, b in tree
        ]


@final
@dataclass(frozen=True)
class Naive(Structure):
    """Naive Bayes: the features are independent given the class."""

    def edges(self, rows: CodedRows, target: str | None, rng: np.random.Generator) -> list[Edge]:
        names = [variable.name for variable in rows.variables]
        label = position(names, _required(target, "naive-bayes"))
        return [(names[label], name) for name in names if name != names[label]]


def structures() -> Mapping[str, Structure]:
    """The methods by name."""
    from likely.graphical.learning.hill_climbing import HillClimbing

    return {
        "chow-liu": ChowLiu(),
        "tan": TreeAugmented(),
        "naive-bayes": Naive(),
        "hill-climbing": HillClimbing(),
    }


def learned_edges(
    rows: CodedRows,
    structure: str | Structure | Iterable[Edge],
    target: str | None = None,
    random_state: Any = None,
) -> list[Edge]:
    """The edges that a method learns; edges that are given are returned as they are."""
    if target is not None:
        position([variable.name for variable in rows.variables], target)
    if isinstance(structure, str):
        structure = lookup("structure", structure, structures())
    if isinstance(structure, Structure):
        return structure.edges(rows, target, generator(random_state))
    return checked_edges(structure)


def checked_edges(edges: Any) -> list[Edge]:
    """Pairs (parent, child) of names."""
    try:
        pairs = [(str(parent), str(child)) for parent, child in edges]
    except (TypeError, ValueError):
        raise InvalidInput(
            f"The structure is {edges!r}; the name of a method was expected "
            f"({', '.join(structures())}), a network, or edges such as [('a', 'b')]."
        ) from None
    return pairs


def position(names: Sequence[str], name: str) -> int:
    """The place of a variable; an unknown one raises and suggests the nearest."""
    if name not in names:
        raise UnknownName("variable", name, names)
    return names.index(name)


def _required(target: str | None, structure: str) -> str:
    if target is None:
        raise InvalidInput(
            f"structure={structure!r} was given without a target; it needs the name of the class. "
            "Pass target='…', a column of the data."
        )
    return target


def spanning_tree(gain: Array) -> list[tuple[int, int]]:
    """The pairs a < b of a tree over all nodes with the greatest total gain.

    (Kruskal, 1956.)  Of equal gains, the first pair in lexicographic order is taken.
    """
    n = len(gain)
    a, b = np.triu_indices(n, 1)
    group = np.arange(n)
    tree = []
    for e in np.argsort(-gain[a, b], kind="stable"):
        first, second = group[a[e]], group[b[e]]
        if first != second:
            group[group == second] = first
            tree.append((int(a[e]), int(b[e])))
    return tree


def rooted(tree: Sequence[tuple[int, int]], root: int) -> list[tuple[int, int]]:
    """The edges of a tree, directed away from its root, in the order in which it is walked."""
    near: dict[int, list[int]] = {root: []}
    for a, b in tree:
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    edges, waiting, seen = [], [root], {root}
    for node in waiting:  # it grows while it is walked
        for other in sorted(near[node]):
            if other not in seen:
                seen.add(other)
                edges.append((node, other))
                waiting.append(other)
    return edges
