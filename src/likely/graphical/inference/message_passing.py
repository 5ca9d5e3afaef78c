"""The work behind ``messages``: evidence put in, messages to the roots, and back from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

import numpy as np

from likely._typing import Array
from likely.caching import cached_property
from likely.errors import InvalidInput
from likely.graphical.evidence import Evidence
from likely.graphical.factor import Factor
from likely.graphical.inference.arithmetic import (
    MODES,
    Arithmetic,
    LogArithmetic,
    Numbers,
    OutOfRange,
)
from likely.graphical.inference.enumeration import TIE
from likely.graphical.inference.forest import NO_PARENT, Edge, Forest, forest_of
from likely.graphical.inference.semiring import Semiring
from likely.graphical.variable import Variable
from likely.names import known_name

if TYPE_CHECKING:
    from likely.graphical.factor_graph import FactorGraph


@final
@dataclass(frozen=True, eq=False)
class Choice:
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
    choices: dict[Edge, Choice] = field(default_factory=dict)

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
                table = _along(axis, told.table, numbers.table.ndim)
                parts.append(Numbers(table, told.log_scale, told.span))
        return self.arithmetic.product(parts, numbers.table.shape)

    def _choice(self, source: int, table: Array, axis: int) -> Choice:
        near = self.forest.neighbours[source]
        others = [i for i in range(table.ndim) if i != axis]
        flat = np.moveaxis(table, axis, 0).reshape(table.shape[axis], -1)
        shape = [table.shape[i] for i in others]
        cells = np.unravel_index(flat.argmax(axis=1), shape) if others else ()
        ties = self.arithmetic.ties(flat, flat.max(axis=1, keepdims=True), TIE)
        codes = {self.names[near[i]]: cell for i, cell in zip(others, cells, strict=True)}
        return Choice(codes, ties.sum(axis=1) > 1)

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
            total = total + _along(axis, logs, total.ndim)
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
    evidence: Evidence,
    semiring: Semiring,
    mode: str | None,
    observed: str,
) -> tuple[str, Passing]:
    """The numbers that were used, and all messages; those away from the root without one."""
    safe = "log" if semiring.written == "log" else "scaled"
    used = safe if mode is None else known_name("mode", mode, MODES)
    conditioned = _conditioned(graph, evidence, observed)
    names = _node_names(conditioned)
    place = {variable.name: i for i, variable in enumerate(conditioned.variables)}
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


def _along(axis: int, values: Array, n_axes: int) -> Array:
    """Values along one of ``n_axes`` axes, for broadcasting."""
    shape = [1] * n_axes
    shape[axis] = -1
    return values.reshape(shape)


def _conditioned(graph: "FactorGraph", evidence: Evidence, observed: str) -> Conditioned:
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


def _node_names(conditioned: Conditioned) -> tuple[str, ...]:
    """Variables by name, factors by title; the second node of a name is "name (2)"."""
    names = dict.fromkeys((variable.name for variable in conditioned.variables), 1)
    for title in conditioned.titles:
        name = title
        while name in names:
            names[title] += 1
            name = f"{title} ({names[title]})"
        names[name] = 1
    return tuple(names)
