"""Learning the edges of a Bayesian network from data, and comparing graphs.

    chow-liu       the tree that maximises Σ_edges I(a; b): of all trees, the one with the highest
                   likelihood
    tan            class → every feature, and the tree of features that maximises Σ I(a; b | class)
    naive-bayes    class → every feature
    hill-climbing  edges are added, removed and reversed while a score rises (``hill_climbing.py``)
    auto           hill climbing where the rows are complete and the table is not too wide for it,
                   otherwise the tree

On samples of 1,000 and 5,000 rows of asia, sachs, child, alarm and water, hill climbing leaves
0.003 to 0.47 nats per row to the true network and a tree 0.05 to 1.44; it costs 2.5 to 7.5 times
the seconds.  On survey and cancer, which are small, the tree is as good.

Mutual information is counted in the rows in which both variables are observed; hill climbing needs
complete rows.  A variable that no row shows has no edges.  To add a method, write one class and
list it in ``STRUCTURES``.

Two directed graphs state the same independences when they have the same edges without direction and
the same colliders a → c ← b with a and b not adjacent.  The completed graph of such a class directs
the edges that all its members direct alike, and leaves the others without direction.  The
structural Hamming distance counts the pairs of variables whose edge differs: it is missing,
superfluous, or has another direction.

References
----------
Chow & Liu, Approximating discrete probability distributions with dependence trees, 1968.
Friedman, Geiger & Goldszmidt, Bayesian network classifiers, 1997 (tree-augmented naive Bayes).
Verma & Pearl, Equivalence and synthesis of causal models, 1990.
Meek, Causal inference and causal explanation with background knowledge, 1995 (the three rules).
Tsamardinos, Brown & Aliferis, The max-min hill-climbing Bayesian network structure learning
algorithm, 2006 (the distance).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput, MissingCells, UnknownName
from likely.graphical.contract import Seed
from likely.graphical.learning.coded_rows import CodedRows
from likely.graphical.learning.fit_report import FitReport
from likely.graphical.learning.mutual_information import pair_counts
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.inputs.estimators import generator
from likely.names import lookup
from likely.output.formatting import count

Edge = tuple[str, str]  # (parent, child)
WIDEST = 100  # columns that "auto" searches: every step of the search scores each pair of them
MOST_CELLS = 100_000_000  # of a table that "auto" searches: the rows are kept in memory


class Structure(ABC):
    """The contract of a method that learns edges: its name, and what its graphs cannot say."""

    name: ClassVar[str]
    limits: ClassVar[str]

    @abstractmethod
    def edges(self, rows: CodedRows, target: str | None, rng: np.random.Generator) -> list[Edge]:
        """Edges (parent, child) without a cycle."""


@final
@dataclass(frozen=True)
class ChowLiu(Structure):
    """The tree of the highest likelihood, with edges that lead away from its root.

    The root is ``target``, else the first variable; it does not change the joint.
    """

    name = "chow-liu"
    limits = "a tree: no variable depends on two others at once"

    def edges(self, rows: CodedRows, target: str | None, rng: np.random.Generator) -> list[Edge]:
        names = [variable.name for variable in rows.variables]
        root = 0 if target is None else position(names, target)
        information = pair_counts(rows).mutual_information()
        return [(names[a], names[b]) for a, b in rooted(spanning_tree(information), root)]


@final
@dataclass(frozen=True)
class TreeAugmented(Structure):
    """Tree-augmented naive Bayes: each feature depends on the class and one other feature."""

    name = "tan"
    limits = "each feature depends on the class and on at most one other feature"

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

    name = "naive-bayes"
    limits = "the features are independent given the class"

    def edges(self, rows: CodedRows, target: str | None, rng: np.random.Generator) -> list[Edge]:
        names = [variable.name for variable in rows.variables]
        label = position(names, _required(target, "naive-bayes"))
        return [(names[label], name) for name in names if name != names[label]]


class LearnedEdges(NamedTuple):
    """Edges (parent, child), and the method that learned them; None where they were given."""

    edges: list[Edge]
    structure: Structure | None
    reason: str = ""  # why "auto" took it, where it took a tree

    def reported(self, report: FitReport | None) -> FitReport | None:
        """The report of a fit that also says how the edges were learned."""
        if report is None or self.structure is None:
            return report
        structure, reason = self.structure, f" ({self.reason})" if self.reason else ""
        return replace(report, structure=structure.name, limits=f"{structure.limits}{reason}")


def structures() -> Mapping[str, Structure]:
    """The methods by name; "auto" takes one of them."""
    from likely.graphical.learning.hill_climbing import HillClimbing

    return {each.name: each for each in (HillClimbing(), ChowLiu(), TreeAugmented(), Naive())}


def learned_edges(
    rows: CodedRows,
    structure: str | Structure | Iterable[Edge],
    target: str | None = None,
    random_state: Seed = None,
) -> LearnedEdges:
    """The edges that a method learns, and which one it was; given edges are returned as they are.

    "auto" is hill climbing; a tree where cells are missing, which counts each pair of variables in
    the rows that have both, and where the search would take too long or too much memory.
    """
    if target is not None:
        position([variable.name for variable in rows.variables], target)
    rng = generator(random_state)
    if not isinstance(structure, str | Structure):
        return LearnedEdges(checked_edges(structure), None)
    if structure != "auto":
        known = {"auto": ChowLiu(), **structures()}
        chosen: Structure = (
            lookup("structure", structure, known) if isinstance(structure, str) else structure
        )
        return LearnedEdges(chosen.edges(rows, target, rng), chosen)
    climbing, reason = structures()["hill-climbing"], _too_large(rows)
    if not reason:
        try:
            return LearnedEdges(climbing.edges(rows, target, rng), climbing)
        except MissingCells:
            reason = "because cells are missing"
    return LearnedEdges(ChowLiu().edges(rows, target, rng), ChowLiu(), reason)


def _too_large(rows: CodedRows) -> str:
    """Why hill climbing would be too costly for a table; empty where it is not."""
    width = len(rows.variables)
    if width > WIDEST:
        return f"because the table has more than {WIDEST} columns"
    if (rows.blocks.n_rows or 0) * width > MOST_CELLS:
        return f"because the table has more than {count(MOST_CELLS, 'cell')}"
    return ""


def checked_edges(edges: Iterable[Edge]) -> list[Edge]:
    """Pairs (parent, child) of names."""
    try:
        pairs = [(str(parent), str(child)) for parent, child in edges]
    except (TypeError, ValueError):
        raise InvalidInput(
            f"The structure is {edges!r}; the name of a method was expected "
            f"(auto, {', '.join(structures())}), a network, or edges such as [('a', 'b')]."
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
