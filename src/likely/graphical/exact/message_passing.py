"""Message passing on the trees of a factor graph: sum-product and max-sum.

    μ_{x→f}(x) = ⊗_{g ∈ N(x)∖f} μ_{g→x}(x)
    μ_{f→x}(x) = ⊕_{others} f(x, others) ⊗_{y ∈ N(f)∖x} μ_{y→f}(y)
    P(x, e) = ⊗_{f ∈ N(x)} μ_{f→x}(x)

A leaf sends first: a variable the neutral element, a factor its table.  After every edge has
carried a message each way, to the roots and back from them, every variable knows its marginal, and
the sum of each unnormalised marginal is Z(e).  With a maximum, each message from a factor keeps the
states that attain it; followed back from one root they give one configuration of the highest score,
where the best states of single variables may belong to different ones.

A node sends to a neighbour once all its other neighbours have reported.  The step of a message is
one more than that of the last message it waits for, so that leaves send in step 1.  Messages of
one step have the letters a, b, …: those of variables before those of factors.  On the way in, from
the leaves, those of the last node come first; on the way out, those of the first node, with
messages to leaves at the end.  A label belongs to an edge and a direction: where messages go to one
root only, the others are not sent, and keep their letters.

References
----------
Kschischang, Frey & Loeliger (2001), Factor graphs and the sum-product algorithm.
Bishop, Pattern Recognition and Machine Learning, §8.4.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, final

import numpy as np

from likely._typing import Array
from likely.caching import cached_property
from likely.errors import InvalidInput
from likely.graphical.exact.enumeration import TIE, spread
from likely.graphical.exact.semiring import (
    MODES,
    Arithmetic,
    LogArithmetic,
    Numbers,
    OutOfRange,
    Semiring,
)
from likely.graphical.model.factor import Factor, factor_names
from likely.graphical.model.graph_evidence import GraphEvidence
from likely.graphical.model.variable import Variable
from likely.names import known_name
from likely.output.formatting import listed

if TYPE_CHECKING:
    from likely.graphical.model.factor_graph import FactorGraph

Edge = tuple[int, int]  # (source, target)
NO_PARENT = -1


@final
@dataclass(frozen=True)
class Forest:
    """Nodes in trees: variables first, then factors; each tree hangs from a variable."""

    n_variables: int
    neighbours: Sequence[Sequence[int]]
    order: Sequence[int]  # every node after its parent
    parent: Sequence[int]  # NO_PARENT for roots
    tree: Sequence[int]  # the root of the tree of each node

    @property
    def roots(self) -> list[int]:
        return [node for node in self.order if self.parent[node] == NO_PARENT]

    def children(self, node: int) -> list[int]:
        return [other for other in self.neighbours[node] if other != self.parent[node]]

    def steps_to_roots(self) -> list[int]:
        """The step in which each node sends to its parent."""
        step = [1] * len(self.parent)
        for node in reversed(self.order):
            above = self.parent[node]
            if above != NO_PARENT:
                step[above] = max(step[above], step[node] + 1)
        return step

    def steps_from_roots(self) -> list[int]:
        """The step in which each node hears from its parent; 0 for roots."""
        up = self.steps_to_roots()
        down = [0] * len(self.parent)
        for node in self.order:
            heard = sorted([down[node], *(up[child] for child in self.children(node))])
            for child in self.children(node):
                others = heard[-1] if up[child] < heard[-1] else heard[-2]
                down[child] = others + 1
        return down

    def labelled(self, edges: Iterable[Edge]) -> list[tuple[Edge, str]]:
        """Messages in the order in which they are sent, with step and letter: "1a", "1b", …"""
        wanted, up, down = set(edges), self.steps_to_roots(), self.steps_from_roots()

        def step(edge: Edge) -> int:
            source, target = edge
            return up[source] if self.parent[source] == target else down[target]

        def place(edge: Edge) -> tuple[int, ...]:
            source, target = edge
            outwards = step(edge) > step((target, source))
            to_leaf = outwards and len(self.neighbours[target]) == 1
            of_factor = source >= self.n_variables
            return step(edge), outwards, of_factor, to_leaf, source if outwards else -source, target

        every = [(i, j) for i, near in enumerate(self.neighbours) for j in near]
        return [
            (edge, f"{number}{letters(i)}")
            for number, group in groupby(sorted(every, key=place), key=step)
            for i, edge in enumerate(group)
            if edge in wanted
        ]


def forest_of(
    scopes: Sequence[Sequence[int]], names: Sequence[str], n_variables: int, root: int | None
) -> Forest:
    """The trees of factors with ``scopes``; a cycle is refused by the names of its variables.

    The tree of ``root`` hangs from it, the others from their first variable.
    """
    neighbours: list[list[int]] = [[] for _ in range(n_variables)]
    for j, scope in enumerate(scopes):
        neighbours.append(list(scope))
        for i in scope:
            neighbours[i].append(n_variables + j)
    parent = [NO_PARENT] * len(neighbours)
    tree = [-1] * len(neighbours)
    order: list[int] = []
    for start in [*([] if root is None else [root]), *range(n_variables)]:
        if tree[start] >= 0:
            continue
        tree[start] = start
        reached = [start]
        for node in reached:  # grows while it is read
            for other in neighbours[node]:
                if other == parent[node]:
                    continue
                if tree[other] >= 0:
                    _refuse_cycle(node, other, parent, names[:n_variables])
                tree[other], parent[other] = start, node
                reached.append(other)
        order += reached
    return Forest(n_variables, neighbours, order, parent, tree)


def letters(number: int) -> str:
    """a, b, …, z, aa, ab, …

    >>> letters(0), letters(25), letters(26)
    ('a', 'z', 'aa')
    """
    text = ""
    while number >= 0:
        number, last = divmod(number, 26)
        text = chr(ord("a") + last) + text
        number -= 1
    return text


def _refuse_cycle(a: int, b: int, parent: Sequence[int], variables: Sequence[str]) -> None:
    """a and b are neighbours that were reached by two ways from one root."""
    above_a, above_b = _with_ancestors(a, parent), _with_ancestors(b, parent)
    common = next(node for node in above_a if node in set(above_b))
    way = [*above_a[: above_a.index(common) + 1], *reversed(above_b[: above_b.index(common)])]
    on_cycle = [variables[node] for node in way if node < len(variables)]
    raise InvalidInput(
        f"The factor graph has a cycle through {listed(on_cycle)}; messages need a graph without "
        "cycles. Use query or most_probable, which build a junction tree, or observe one of these "
        "variables."
    )


def _with_ancestors(node: int, parent: Sequence[int]) -> list[int]:
    found = [node]
    while parent[found[-1]] != NO_PARENT:
        found.append(parent[found[-1]])
    return found


@final
@dataclass(frozen=True, eq=False)
class BestOthers:
    """For each state of the target of a factor's message, the best states of the others."""

    codes: Mapping[str, Array]
    tied: Array  # whether others are as good


@final
@dataclass(frozen=True, eq=False)
class Conditioned:
    """A graph with evidence put in: factors over the variables that are left, and a constant."""

    variables: tuple[Variable, ...]
    factors: tuple[Factor, ...]
    titles: tuple[str, ...]  # of the factors before any slice
    log_constant: float


@final
@dataclass(frozen=True, eq=False)
class Passing:
    """Messages by edge; nodes are numbered, variables first."""

    conditioned: Conditioned
    forest: Forest
    names: tuple[str, ...]
    semiring: Semiring
    arithmetic: Arithmetic
    tables: Sequence[Numbers]  # of the factors
    sent: dict[Edge, Numbers] = field(default_factory=dict)
    choices: dict[Edge, BestOthers] = field(default_factory=dict)

    @cached_property
    def nodes(self) -> Mapping[str, int]:
        return {name: node for node, name in enumerate(self.names)}

    def is_variable(self, node: int) -> bool:
        return node < len(self.conditioned.variables)

    def variable_of(self, edge: Edge) -> Variable:
        """The variable at one end of an edge."""
        return self.conditioned.variables[min(edge)]

    # ── sending ──────────────────────────────────────────────────────────────────────────────

    def collect(self) -> None:
        """Every node sends to its parent, children first."""
        for node in reversed(self.forest.order):
            parent = self.forest.parent[node]
            if parent != NO_PARENT:
                self._send(node, parent)

    def distribute(self) -> None:
        """Every node sends to its children, parents first."""
        for node in self.forest.order:
            if not self.is_variable(node):
                for child in self.forest.children(node):
                    self._send(node, child)
            elif self.forest.neighbours[node]:
                self._send_to_each_child(node)

    def _send(self, source: int, target: int) -> None:
        try:
            if self.is_variable(source):
                heard = [self.sent[other, source] for other in self._others(source, target)]
                n_states = self.conditioned.variables[source].n_states
                made = self.arithmetic.product(heard, (n_states,))
                self.sent[source, target] = self.arithmetic.kept(*made)
            else:
                self._send_from_factor(source, target)
        except FloatingPointError as error:
            raise _underflow(f"message {self.names[source]} → {self.names[target]}") from error

    def _send_to_each_child(self, source: int) -> None:
        near = self.forest.neighbours[source]
        heard = [self.sent[other, source] for other in near]
        n_states = self.conditioned.variables[source].n_states
        try:
            made = self.arithmetic.products_without_each(heard, n_states)
        except FloatingPointError as error:
            raise _underflow(f"messages of {self.names[source]}") from error
        for target, numbers in zip(near, made, strict=True):
            if target != self.forest.parent[source]:
                self.sent[source, target] = numbers

    def _send_from_factor(self, source: int, target: int) -> None:
        table, log_scale = self._factor_product(source, self._others(source, target))
        axis = self.forest.neighbours[source].index(target)
        others = tuple(i for i in range(table.ndim) if i != axis)
        total = self.arithmetic.plus(self.semiring, table, others)
        self.sent[source, target] = self.arithmetic.kept(total, log_scale)
        if self.semiring.chooses:
            self.choices[source, target] = self._choice(source, table, axis)

    def _others(self, node: int, target: int) -> list[int]:
        return [other for other in self.forest.neighbours[node] if other != target]

    def _factor_product(self, node: int, senders: Sequence[int]) -> tuple[Array, float]:
        """A factor's table ⊗ the messages of some of its variables, along their axes."""
        numbers = self.tables[node - len(self.conditioned.variables)]
        parts = [numbers]
        for axis, sender in enumerate(self.forest.neighbours[node]):
            if sender in senders:
                told = self.sent[sender, node]
                table = spread(told.table, [axis], numbers.table.ndim)
                parts.append(Numbers(table, told.log_scale, told.span))
        return self.arithmetic.product(parts, numbers.table.shape)

    def _choice(self, source: int, table: Array, axis: int) -> BestOthers:
        near = self.forest.neighbours[source]
        others = [i for i in range(table.ndim) if i != axis]
        flat = np.moveaxis(table, axis, 0).reshape(table.shape[axis], -1)
        shape = [table.shape[i] for i in others]
        cells = np.unravel_index(flat.argmax(axis=1), shape) if others else ()
        ties = self.arithmetic.ties(flat, flat.max(axis=1, keepdims=True), TIE)
        codes = {self.names[near[i]]: cell for i, cell in zip(others, cells, strict=True)}
        return BestOthers(codes, ties.sum(axis=1) > 1)

    # ── reading ──────────────────────────────────────────────────────────────────────────────

    def has_heard(self, node: int) -> bool:
        """Whether all neighbours of a node have sent to it."""
        return all((other, node) in self.sent for other in self.forest.neighbours[node])

    def log_belief(self, node: int) -> Array:
        """log ⊗ of all that a node has heard, with its own table if it is a factor.

        Logarithms, because the messages of a variable may differ by more than each of them.
        """
        near = self.forest.neighbours[node]
        heard = [self._logs(self.sent[other, node]) for other in near]
        if self.is_variable(node):
            shape: tuple[int, ...] = (self.conditioned.variables[node].n_states,)
            return np.asarray(sum(heard, start=np.zeros(shape)))
        total = self._logs(self.tables[node - len(self.conditioned.variables)])
        for axis, logs in enumerate(heard):
            total = total + spread(logs, [axis], total.ndim)
        return total

    def _logs(self, numbers: Numbers) -> Array:
        return self.arithmetic.log(numbers.table) + numbers.log_scale

    @cached_property
    def _log_totals(self) -> Mapping[int, float]:
        """log ⊕ of each tree, read at its root."""
        plus = self.semiring.plus_of_logs
        return {root: float(plus(self.log_belief(root), (0,))) for root in self.forest.roots}

    @property
    def log_total(self) -> float:
        """log ⊕ of all trees, with the factors whose variables were all observed."""
        return sum(self._log_totals.values(), start=self.conditioned.log_constant)

    def log_total_beside(self, node: int) -> float:
        """log ⊕ of all trees but that of a node, with the constant."""
        own = self.forest.tree[node]
        return sum(
            (total for root, total in self._log_totals.items() if root != own),
            start=self.conditioned.log_constant,
        )

    def best_states(self) -> tuple[dict[str, int], bool]:
        """Codes that attain the maximum, and whether no others do, from the roots outwards."""
        codes: dict[str, int] = {}
        unique = True
        for node in self.forest.order:
            parent = self.forest.parent[node]
            if parent == NO_PARENT:
                scores = self.log_belief(node)
                codes[self.names[node]] = int(scores.argmax())
                unique &= int(LogArithmetic().ties(scores, scores.max(), TIE).sum()) == 1
            elif not self.is_variable(node):
                choice, state = self.choices[node, parent], codes[self.names[parent]]
                codes |= {name: int(best[state]) for name, best in choice.codes.items()}
                unique &= not choice.tied[state]
        return codes, bool(unique)


def pass_messages(
    graph: "FactorGraph",
    root: str | None,
    evidence: GraphEvidence,
    semiring: Semiring,
    mode: str | None,
    observed: str,
) -> tuple[str, Passing]:
    """The numbers that were used, and all messages; those away from the root without one."""
    safe = "log" if semiring.written == "log" else "scaled"
    used = safe if mode is None else known_name("mode", mode, MODES)
    conditioned = _conditioned(graph, evidence, observed)
    place = {variable.name: i for i, variable in enumerate(conditioned.variables)}
    names = (*place, *factor_names(place, conditioned.titles))
    if root is not None and root not in place:
        raise InvalidInput(
            f"The root {root!r} is observed; a variable without an observation was expected. "
            "Choose another root, or use observed='indicator'."
        )
    scopes = [[place[name] for name in factor.scope] for factor in conditioned.factors]
    forest = forest_of(scopes, names, len(place), None if root is None else place[root])
    try:
        passing = _sent(conditioned, forest, names, semiring, MODES[used], root is None)
    except OutOfRange:
        used = "log"
        passing = _sent(conditioned, forest, names, semiring, MODES[used], root is None)
    return used, passing


def _sent(
    conditioned: Conditioned,
    forest: Forest,
    names: tuple[str, ...],
    semiring: Semiring,
    arithmetic: Arithmetic,
    both_ways: bool,
) -> Passing:
    tables = []
    for factor, title in zip(conditioned.factors, conditioned.titles, strict=True):
        try:
            tables.append(arithmetic.of_factor(factor))
        except FloatingPointError as error:
            raise _underflow(f"table of {title}") from error
    passing = Passing(conditioned, forest, names, semiring, arithmetic, tables)
    passing.collect()
    if both_ways:
        passing.distribute()
    return passing


def _underflow(where: str) -> InvalidInput:
    return InvalidInput(
        f"Plain numbers underflow or overflow in the {where}; numbers between 1e-308 and 1e308 "
        "were expected. Use mode='scaled' or mode='log'."
    )


def _conditioned(graph: "FactorGraph", evidence: GraphEvidence, observed: str) -> Conditioned:
    """Observed variables sliced out of the factors, or fixed by indicator factors."""
    way = known_name("way to put in observations", observed, ("slice", "indicator"))
    sliced = evidence.codes if way == "slice" else {}
    parts = [(factor.title, factor.given(sliced)) for factor in graph.factors]
    for name, code in evidence.codes.items():
        variable = graph.by_name[name]
        if way == "indicator":
            seen = np.arange(variable.n_states) == code
            parts.append((f"[{name}={variable.states[code]}]", Factor([variable], seen)))
    for name, likelihood in evidence.soft.items():
        parts.append((f"soft({name})", Factor([graph.by_name[name]], likelihood).given(sliced)))
    kept = [(title, factor) for title, factor in parts if factor.scope]
    return Conditioned(
        tuple(variable for variable in graph.variables if variable.name not in sliced),
        tuple(factor for _, factor in kept),
        tuple(title for title, _ in kept),
        float(sum(float(factor.log_table) for _, factor in parts if not factor.scope)),
    )
