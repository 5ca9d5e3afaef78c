"""A Bayesian network: a directed graph without cycles, and a conditional table for each variable.

    P(x_1, …, x_n) = Π_i P(x_i | pa(x_i))

A table has one axis for each parent, then the axis of the variable itself; each row along that
last axis sums to 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from likely._typing import Array
from likely.errors import CyclicGraph, InvalidInput
from likely.graphical.evidence import known_variable, known_variables
from likely.graphical.factor import Factor
from likely.graphical.factor_graph import FactorGraph
from likely.graphical.markov_field import MarkovField
from likely.graphical.variable import State, Variable, by_name

SUM_TOLERANCE = 1e-4  # files print probabilities with a few digits


@final
class BayesianNetwork(FactorGraph):
    """Conditional probability tables over named variables.

    Parameters
    ----------
    factors
        One table for each variable: the last variable of a factor is the one that the table
        describes, those before it are its parents.
    variables
        The variables in order; by default in the order of appearance.
    name
        A title for pictures and files.

    See ``from_tables``, ``from_edges`` and ``from_data`` for other ways to write one.
    """

    pictures: ClassVar[tuple[str, ...]] = ("directed", "factor-graph", "undirected")

    def __init__(
        self,
        factors: Iterable[Factor],
        variables: Iterable[Variable] | None = None,
        *,
        name: str = "",
    ) -> None:
        super().__init__(factors, variables, name=name)
        self.parents = _parents(self)
        self.order = _ancestral_order(self.parents)
        for factor in self.factors:
            _refuse_wrong_sums(factor)

    @classmethod
    def from_tables(
        cls,
        states: Mapping[str, int | Iterable[State]],
        tables: Mapping[str, ArrayLike],
        parents: Mapping[str, Sequence[str]] | None = None,
        *,
        name: str = "",
    ) -> "BayesianNetwork":
        """A network from states, tables indexed [parents…, variable], and parents by name.

        >>> network = BayesianNetwork.from_tables(
        ...     {"rain": ["no", "yes"], "wet": ["no", "yes"]},
        ...     {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.2, 0.8]]},
        ...     {"wet": ["rain"]},
        ... )
        >>> round(network.query("rain", {"wet": "yes"})["rain"]["yes"], 4)
        0.6667
        """
        variables = [Variable(key, values) for key, values in states.items()]
        named = by_name(variables)
        known_variables(named, (*tables, *(parents or {})))
        factors = []
        for variable in variables:
            if variable.name not in tables:
                raise InvalidInput(
                    f"There is no table for {variable.name!r}; one for every variable was "
                    "expected. Add it to the tables."
                )
            above = [known_variable(named, p) for p in (parents or {}).get(variable.name, ())]
            factors.append(Factor((*above, variable), tables[variable.name]))
        return cls(factors, variables, name=name)

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[tuple[str, str]],
        states: Mapping[str, int | Iterable[State]],
        *,
        name: str = "",
    ) -> "BayesianNetwork":
        """A network with the edges (parent, child) and uniform tables, to be fitted to data."""
        variables = [Variable(key, values) for key, values in states.items()]
        named = by_name(variables)
        above: dict[str, list[Variable]] = {variable.name: [] for variable in variables}
        for parent, child in edges:
            above[known_variable(named, child).name].append(known_variable(named, parent))
        factors = []
        for variable in variables:
            scope = (*above[variable.name], variable)
            shape = tuple(each.n_states for each in scope)
            factors.append(Factor(scope, np.full(shape, 1.0 / variable.n_states)))
        return cls(factors, variables, name=name)

    @cached_property
    def tables(self) -> Mapping[str, Factor]:
        """The conditional table of each variable, in the order of ``names``."""
        found = {factor.scope[-1]: factor for factor in self.factors}
        return {name: found[name] for name in self.names}

    @cached_property
    def children(self) -> Mapping[str, tuple[str, ...]]:
        """The variables of which each variable is a parent."""
        return {
            name: tuple(child for child in self.names if name in self.parents[child])
            for name in self.names
        }

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The directed edges (parent, child)."""
        return tuple((p, child) for child in self.names for p in self.parents[child])

    def n_parameters(self, *, full_joint: bool = False) -> int:
        """Free probabilities of all tables; with ``full_joint``, of one table of all variables."""
        if full_joint:
            return prod(variable.n_states for variable in self.variables) - 1
        return sum(
            (table.variables[-1].n_states - 1) * prod(v.n_states for v in table.variables[:-1])
            for table in self.factors
        )

    def d_separated(self, a: str, b: str, given: Iterable[str] = ()) -> bool:
        """Whether the graph alone makes a and b independent, given other variables.

        A path is open at x unless x is given, and at a collider (→ x ←) only if x or one of its
        descendants is given.  (Bayes ball; Shachter, 1998.)
        """
        a, b, *known = known_variables(self.by_name, (a, b, *given))
        return b in known or a in known or b not in self._reachable(a, frozenset(known))

    def _reachable(self, start: str, known: frozenset[str]) -> set[str]:
        """The variables on a path from ``start`` that is open given ``known``."""
        above = _with_ancestors(known, self.parents)
        found, seen = set(), set()
        waiting = [(start, True)]  # True: the ball comes from a child
        while waiting:
            name, from_child = waiting.pop()
            if (name, from_child) in seen:
                continue
            seen.add((name, from_child))
            if name not in known:
                found.add(name)
                waiting += [(child, False) for child in self.children[name]]
            up = name not in known if from_child else name in above
            waiting += [(parent, True) for parent in self.parents[name]] if up else []
        return found

    def markov_field(self) -> MarkovField:
        """The moral graph: parents of a variable are joined, and the tables are its potentials."""
        return MarkovField(self.factors, self.variables, name=self.name)

    def reversed(self) -> "BayesianNetwork":
        """The network with every edge reversed, and the conditionals P(x | former children).

        Its edges say other independences, so that its joint is in general another one.
        """
        factors = []
        for variable in self.variables:
            scope = (*self.children[variable.name], variable.name)
            joint: Array = self.query([scope])[scope]
            total = joint.sum(axis=-1, keepdims=True)
            even = np.full_like(joint, 1.0 / variable.n_states)
            table = np.divide(joint, total, out=even, where=total > 0)
            factors.append(Factor([self.by_name[name] for name in scope], table))
        return BayesianNetwork(factors, self.variables, name=self.name)

    def fit(self, data: Any, **settings: Any) -> "BayesianNetwork":
        """The network with the same edges and tables learned from data."""
        from likely.graphical.learning import fit_tables

        return fit_tables(self, data, **settings)


def _parents(network: FactorGraph) -> Mapping[str, tuple[str, ...]]:
    parents: dict[str, tuple[str, ...]] = {}
    for factor in network.factors:
        if not factor.scope:
            raise InvalidInput("A factor has no variable; a conditional table was expected.")
        *above, child = factor.scope
        if child in parents:
            raise InvalidInput(
                f"{child!r} has two tables; one was expected. The last variable of a factor is the "
                "one that its table describes."
            )
        parents[child] = tuple(above)
    absent = [name for name in network.names if name not in parents]
    if absent:
        raise InvalidInput(
            f"There is no table for {', '.join(absent[:5])}; one for every variable was expected. "
            "The last variable of a factor is the one that its table describes."
        )
    return {name: parents[name] for name in network.names}


def _ancestral_order(parents: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The variables with parents before children; a cycle is refused by its names."""
    order: list[str] = []
    done: set[str] = set()
    for start in parents:
        path: list[str] = []
        on_path: set[str] = set()
        waiting = [(start, False)]
        while waiting:
            name, finished = waiting.pop()
            if finished:
                on_path.discard(path.pop())
                done.add(name)
                order.append(name)
            elif name in on_path:
                raise CyclicGraph(path[path.index(name) :][::-1])
            elif name not in done:
                path.append(name)
                on_path.add(name)
                waiting.append((name, True))
                waiting += [(parent, False) for parent in reversed(parents[name])]
    return tuple(order)


def _with_ancestors(names: Iterable[str], parents: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    """Variables and all their ancestors."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += parents[name]
    return frozenset(found)


def _refuse_wrong_sums(table: Factor) -> None:
    """Each row of a conditional table sums to 1, up to the digits that files print."""
    sums = table.potential.sum(axis=-1)
    wrong = np.abs(sums - 1.0) > SUM_TOLERANCE
    if wrong.any():
        cell = tuple(int(i) for i in np.argwhere(wrong)[0])
        above = table.variables[:-1]
        row = ", ".join(f"{v.name}={v.states[i]}" for v, i in zip(above, cell, strict=True))
        raise InvalidInput(
            f"The table of {table.scope[-1]!r} sums to {float(sums[cell]):.6g}"
            f"{f' in the row {row}' if row else ''}; 1 was expected. Correct the row, or divide it "
            "by its sum."
        )
