"""Hill climbing: edges are added, removed and reversed while a score of the graph rises.

    score(graph) = Σ_v score(v, pa(v))        a move changes one family, a reversal two

``gain[a, v]`` is the change of the score when a is added to, or removed from, the parents of v; a
reversal of a → v gains gain[a, v] + gain[v, a].  After a move only the columns of the families
that changed are computed again.  Of moves with equal gains, up to rounding, the first is taken:
additions, then removals, then reversals, in the order of the variables.

One search begins without edges, another with the best tree: trees often lead to a higher maximum.
With ``tabu`` the search goes on from a maximum by the move that loses least, without going back
to the last graphs; with ``restarts`` it begins again from the best graph with edges changed.

The score of each family is computed once, on complete rows: distinct rows with their weights,
stored by column.  The combinations of states of the parents are numbered once and used for every
further parent that is tried.

References
----------
Koller & Friedman, Probabilistic Graphical Models, §18.4.
Glover, Tabu search, part I, 1989.
"""

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from math import inf, prod
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.errors import InvalidInput, MissingCells
from likely.graphical.learning.coded_rows import CodedRows
from likely.graphical.learning.structure import (
    Edge,
    Structure,
    checked_edges,
    position,
    rooted,
    spanning_tree,
)
from likely.graphical.learning.structure_scores import SCORES, FamilyScore
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.evidence_table import row_keys
from likely.inputs.estimators import refuse_unless_whole
from likely.names import lookup
from likely.numerics.additive import FAST_CELLS
from likely.output.progress import report

MOST_CELLS = 2**20  # of the table of a family: larger ones are not tried


class Combinations(NamedTuple):
    """The combination of states of some parents in each row, as a code."""

    codes: Array  # (n,) int64
    n: int


@final
@dataclass(frozen=True, eq=False)
class ScoredFamilies:
    """The score of any variable with any parents."""

    columns: Codes  # (n_variables, n)
    weight: Array
    sizes: tuple[int, ...]
    score: FamilyScore
    known: dict[tuple[int, tuple[int, ...]], float] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: CodedRows, score: FamilyScore) -> "ScoredFamilies":
        """The scores on these rows, which must be complete."""
        codes, weight = rows.distinct()
        if (codes < 0).any():
            missing = int((codes < 0).any(axis=0).argmax())
            raise MissingCells(
                f"Column {rows.variables[missing].name!r} has missing cells; hill climbing needs "
                "complete rows, because it compares scores on the same rows. Drop these rows, or "
                "use structure='chow-liu' or 'tan', which count pairs where both are observed."
            )
        return cls(np.ascontiguousarray(codes.T), weight, rows.sizes, score)

    def gains(self, child: int, parents: tuple[int, ...]) -> Array:
        """The gain of each variable as one more parent, or as one less; −inf for no table."""
        here, above = self.of_family(child, parents), self._combinations(parents)
        gains = np.full(len(self.sizes), -inf)
        cells = self._n_rows(parents) * self.sizes[child]
        for a in range(len(self.sizes)):
            if a in parents:
                fewer = tuple(parent for parent in parents if parent != a)
                gains[a] = self.of_family(child, fewer) - here
            elif a != child and cells * self.sizes[a] <= MOST_CELLS:
                gains[a] = self.of_family(child, (*parents, a), above) - here
        return gains

    def of_family(
        self, child: int, parents: tuple[int, ...], above: Combinations | None = None
    ) -> float:
        """The score of a variable with these parents; ``above`` is that of all but the last."""
        key = (child, tuple(sorted(parents)))
        if key not in self.known:
            counts = self._counts(child, parents, above or self._combinations(parents[:-1]))
            total = float(self.weight.sum())
            self.known[key] = self.score.of(counts, self._n_rows(parents), total)
        return self.known[key]

    def _n_rows(self, parents: tuple[int, ...]) -> int:
        """The rows of the table of a variable with these parents."""
        return prod(self.sizes[parent] for parent in parents)

    def _combinations(self, parents: tuple[int, ...]) -> Combinations:
        """Those that occur, unless all that there can be are few."""
        if not parents:
            return Combinations(np.zeros(len(self.weight), dtype=np.int64), 1)
        sizes = [self.sizes[parent] for parent in parents]
        keys = row_keys(self.columns[list(parents)].T, sizes)
        highest = prod(size + 1 for size in sizes)  # row_keys leaves room for a missing state
        if highest <= len(keys):
            return Combinations(keys, highest)
        values, codes = np.unique(keys, return_inverse=True)
        return Combinations(codes.astype(np.int64, copy=False), len(values))

    def _counts(self, child: int, parents: tuple[int, ...], above: Combinations) -> Array:
        """Counts of the child (…, n_states), by the combinations and by the last of the parents."""
        last, n_last = np.zeros(len(self.weight), dtype=np.int32), 1
        if parents:
            last, n_last = self.columns[parents[-1]], self.sizes[parents[-1]]
        below, r = self.columns[child], self.sizes[child]
        n_cells = above.n * n_last * r
        if self.columns.size < FAST_CELLS:
            cells = (above.codes * n_last + last) * r + below
            return np.bincount(cells, self.weight, n_cells).reshape(-1, r)
        from likely.fast.families import count_triples

        counts = np.zeros(n_cells)
        count_triples(above.codes, last, below, self.weight, n_last, r, counts)
        return counts.reshape(-1, r)


ROUNDING = 1e-11  # relative to the score: a smaller gain is none, and gains that near are equal
ADD, REMOVE, REVERSE = range(3)


@final
@dataclass(frozen=True)
class HillClimbing(Structure):
    """A search for the graph with the highest score.

    Parameters
    ----------
    score
        "bic", "bdeu", "aic", or one with settings, such as ``BDeu(1.0)``.
    max_parents
        The most parents of a variable; None is no limit but the size of a table.
    required, forbidden
        Edges (parent, child) that the graph must have, or must not have.
    tabu
        Steps that may pass without a higher score, in which the last ``tabu`` graphs are not
        visited again.
    restarts
        How often the search begins again from the best graph with edges changed at random, one
        for each variable.
    max_steps
        The most moves of each search.
    """

    name = "hill-climbing"
    limits = "no change of one edge improves its score; arrows that state the same are arbitrary"

    score: str | FamilyScore = "bic"
    max_parents: int | None = None
    required: tuple[Edge, ...] = ()
    forbidden: tuple[Edge, ...] = ()
    tabu: int = 100
    restarts: int = 0
    max_steps: int = 10_000

    def __post_init__(self) -> None:
        lookup("score", self.score, SCORES)
        if self.max_parents is not None:
            refuse_unless_whole("max_parents", self.max_parents, lowest=0, advice="Use 3.")
        for name in ("tabu", "restarts", "max_steps"):
            refuse_unless_whole(name, vars(self)[name], lowest=0, advice="Use 10.")

    def edges(self, rows: CodedRows, target: str | None, rng: np.random.Generator) -> list[Edge]:
        rules = self._rules(rows)
        families = ScoredFamilies.of(rows, lookup("score", self.score, SCORES))
        empty = Graph.of(families, rules, rules.required)
        best = _better(self._climb(empty), self._climb(_with_tree(empty)))
        for _ in range(self.restarts):
            best = _better(best, self._climb(_changed(best, rng)))
        names = [variable.name for variable in rows.variables]
        return [(names[a], names[v]) for v, a in np.argwhere(best.edge.T)]

    def _rules(self, rows: CodedRows) -> "Rules":
        names = [variable.name for variable in rows.variables]
        required = _matrix(names, self.required)
        forbidden = _matrix(names, self.forbidden) | np.eye(len(names), dtype=bool)
        if (required & forbidden).any():
            a, v = np.argwhere(required & forbidden)[0]
            raise InvalidInput(
                f"The edge {names[a]} → {names[v]} is required and forbidden; one of both was "
                "expected. Remove it from one of the lists."
            )
        states = {variable.name: variable.states for variable in rows.variables}
        BayesianNetwork.from_edges(checked_edges(self.required), states)  # it refuses a cycle
        most = len(names) if self.max_parents is None else self.max_parents
        if (required.sum(axis=0) > most).any():
            v = int(required.sum(axis=0).argmax())
            raise InvalidInput(
                f"{names[v]!r} has {required[:, v].sum()} required parents, and max_parents is "
                f"{most}; no more than that were expected. Raise max_parents."
            )
        return Rules(required, forbidden, most)

    def _climb(self, graph: "Graph") -> "Graph":
        """The best graph of a search from this one."""
        best, since, recent = graph, 0, deque([graph.key], maxlen=max(1, self.tabu))
        for _ in range(self.max_steps):
            move = graph.best_move(recent if self.tabu else ())
            if move is None or (not self.tabu and not move.gain > graph.rounding):
                break
            graph = graph.after(move)
            recent.append(graph.key)
            report("hill climbing step", 1, f"score {graph.score:.6g}")
            since = 0 if graph.exceeds(best) else since + 1
            best = best if since else graph
            if since > self.tabu:
                break
        return best


@final
@dataclass(frozen=True, eq=False)
class Rules:
    """Which graphs are allowed, besides having no cycle."""

    required: Array  # (p, p) Boolean, parent × child
    forbidden: Array
    max_parents: int


class EdgeChange(NamedTuple):
    """A change of the edge a → v."""

    kind: int  # ADD, REMOVE or REVERSE
    a: int
    v: int
    gain: float


@final
@dataclass(frozen=True, eq=False)
class Graph:
    """A graph without cycles, and the gain of each change of an edge."""

    families: ScoredFamilies
    rules: Rules
    edge: Array  # (p, p) Boolean, parent × child
    gain: Array  # (p, p), of adding or removing a → v
    score: float
    reaches: Array  # (p, p) Boolean: there is a path from a to v, or a is v

    @classmethod
    def of(cls, families: ScoredFamilies, rules: Rules, edge: Array) -> "Graph":
        """The graph with these edges."""
        above = [_parents(edge, v) for v in range(len(edge))]
        gain = np.array([families.gains(v, parents) for v, parents in enumerate(above)]).T
        score = sum(families.of_family(v, parents) for v, parents in enumerate(above))
        return cls(families, rules, edge, gain, score, _closure(edge))

    @property
    def key(self) -> bytes:
        """Equal for equal graphs."""
        return np.packbits(self.edge).tobytes()

    @property
    def rounding(self) -> float:
        """The difference of two scores that rounding explains."""
        return ROUNDING * max(1.0, abs(self.score))

    def exceeds(self, other: "Graph") -> bool:
        """Whether the score is higher, by more than rounding explains."""
        return self.score > other.score + self.rounding

    def best_move(self, visited: Collection[bytes] = ()) -> EdgeChange | None:
        """The allowed move with the highest gain that leads to no visited graph."""
        gains = self.move_gains()
        while (best := float(gains.max(initial=-inf))) > -inf:
            first = int(np.argmax(gains >= best - self.rounding))
            kind, a, v = (int(i) for i in np.unravel_index(first, gains.shape))
            move = EdgeChange(kind, a, v, float(gains[kind, a, v]))
            if not visited or np.packbits(self._edges_after(move)).tobytes() not in visited:
                return move
            gains[kind, a, v] = -inf
        return None

    def move_gains(self) -> Array:
        """The gain of every move, (3, p, p); −inf where it is not allowed."""
        edge, rules = self.edge, self.rules
        full = edge.sum(axis=0) >= rules.max_parents  # of each child
        apart = ~(edge | edge.T)
        may_add = apart & ~self.reaches.T & ~rules.forbidden & ~full[None, :]
        may_remove = edge & ~rules.required
        around = np.dot(edge.astype(float), self.reaches) - edge  # paths of two or more edges
        may_reverse = may_remove & ~rules.forbidden.T & ~full[:, None] & (around < 0.5)
        both = np.add(self.gain, self.gain.T, where=may_reverse, out=np.zeros(self.gain.shape))
        return np.stack(
            [
                np.where(may_add, self.gain, -inf),
                np.where(may_remove, self.gain, -inf),
                np.where(may_reverse, both, -inf),
            ]
        )

    def after(self, move: EdgeChange) -> "Graph":
        """The graph after a move; only the families that changed are scored again."""
        edge, gain, score = self._edges_after(move), self.gain.copy(), self.score
        for v in (move.v, move.a) if move.kind == REVERSE else (move.v,):
            before, parents = _parents(self.edge, v), _parents(edge, v)
            score += self.families.of_family(v, parents) - self.families.of_family(v, before)
            gain[:, v] = self.families.gains(v, parents)
        if move.kind == ADD:
            reaches = self.reaches | np.outer(self.reaches[:, move.a], self.reaches[move.v])
        else:
            reaches = _closure(edge)
        return Graph(self.families, self.rules, edge, gain, score, reaches)

    def _edges_after(self, move: EdgeChange) -> Array:
        edge = self.edge.copy()
        edge[move.a, move.v] = move.kind == ADD
        edge[move.v, move.a] |= move.kind == REVERSE
        return edge


def _better(best: Graph, other: Graph) -> Graph:
    return other if other.exceeds(best) else best


def _with_tree(graph: Graph) -> Graph:
    """The graph with the edges of the best tree, as far as they raise the score and are allowed."""
    families = graph.families
    gain = np.array([families.gains(v, ()) for v in range(len(graph.edge))]).T
    for a, v in rooted(spanning_tree(np.maximum(gain, gain.T)), 0):
        if gain[a, v] > graph.rounding and graph.move_gains()[ADD, a, v] > -inf:
            graph = graph.after(EdgeChange(ADD, a, v, 0.0))
    return graph


def _changed(graph: Graph, rng: np.random.Generator) -> Graph:
    """A graph as many random allowed moves away as it has variables."""
    for _ in range(len(graph.edge)):
        moves = np.argwhere(graph.move_gains() > -inf)
        if len(moves):
            kind, a, v = (int(i) for i in moves[rng.integers(len(moves))])
            graph = graph.after(EdgeChange(kind, a, v, 0.0))
    return graph


def _parents(edge: Array, v: int) -> tuple[int, ...]:
    return tuple(np.flatnonzero(edge[:, v]).tolist())


def _closure(edge: Array) -> Array:
    """Which nodes a path leads to from each node, itself included."""
    reaches = edge | np.eye(len(edge), dtype=bool)
    for node in range(len(edge)):
        reaches |= np.outer(reaches[:, node], reaches[node])
    return reaches


def _matrix(names: Sequence[str], edges: Iterable[Edge]) -> Array:
    """Edges as a Boolean matrix, parent × child."""
    found = np.zeros((len(names), len(names)), dtype=bool)
    for parent, child in checked_edges(edges):
        found[position(names, parent), position(names, child)] = True
    return found
