"""A Bayesian network: a directed graph without cycles, and a conditional table for each variable.

    P(x_1, …, x_n) = Π_i P(x_i | pa(x_i))

A table has one axis for each parent, then the axis of the variable itself; each row along that
last axis sums to 1 (``conditional_table.py``).

Directed graphs without cycles: ancestors, an order with parents first, and open paths.

A graph is the parents of each node by name.  A path is open at x unless x is given, and at a
collider (→ x ←) only if x or one of its descendants is given.

References
----------
Shachter, Bayes-ball: the rational pastime, 1998.
Koller & Friedman, Probabilistic Graphical Models, §3.3.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from likely._typing import Array
from likely.caching import cached_property
from likely.errors import CyclicGraph, InvalidInput
from likely.graphical.contract import Seed
from likely.graphical.exact.plans import RecentlyUsed
from likely.graphical.model.conditional_table import parents_of, sums_to_one, with_sums_of_one
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.graph_evidence import GraphEvidence, known_variable, known_variables
from likely.graphical.model.markov_field import MarkovField
from likely.graphical.model.variable import State, Variable, by_name
from likely.output.formatting import count

if TYPE_CHECKING:
    from likely.compute.executor import Executor
    from likely.graphical.learning.family_counts import Smoothing
    from likely.graphical.learning.fit_report import FitReport
    from likely.graphical.learning.structure import Structure

Parents = Mapping[str, tuple[str, ...]]


def ancestral_order(parents: Parents) -> tuple[str, ...]:
    """The nodes with parents before children; a cycle is refused by its names."""
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


def with_ancestors(names: Iterable[str], parents: Parents) -> frozenset[str]:
    """Nodes and all their ancestors."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += parents[name]
    return frozenset(found)


def children_of(parents: Parents) -> Parents:
    """The nodes of which each node is a parent."""
    below: dict[str, list[str]] = {name: [] for name in parents}
    for child, above in parents.items():
        for name in above:
            below[name].append(child)
    return {name: tuple(own) for name, own in below.items()}


def reachable(parents: Parents, start: str, known: frozenset[str]) -> set[str]:
    """The nodes on a path from ``start`` that is open given ``known``."""
    above, children = with_ancestors(known, parents), children_of(parents)
    found, seen = set(), set()
    waiting = [(start, True)]  # True: the ball comes from a child
    while waiting:
        name, from_child = waiting.pop()
        if (name, from_child) in seen:
            continue
        seen.add((name, from_child))
        if name not in known:
            found.add(name)
            waiting += [(child, False) for child in children[name]]
        up = name not in known if from_child else name in above
        waiting += [(parent, True) for parent in parents[name]] if up else []
    return found


PARTS = 32  # sub-networks that are kept for the next query


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

    kind = "bayesian-network"
    pictures: ClassVar[tuple[str, ...]] = ("directed", "factor-graph", "undirected")

    def __init__(
        self,
        factors: Iterable[Factor],
        variables: Iterable[Variable] | None = None,
        *,
        name: str = "",
    ) -> None:
        super().__init__(factors, variables, name=name)
        self.parents = parents_of(self.factors, self.names)
        self.order = ancestral_order(self.parents)
        self.factors = with_sums_of_one(self.factors)

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
            above = (parents or {}).get(variable.name, ())
            factors.append(Factor(_scope(named, above, variable.name), tables[variable.name]))
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
        above: dict[str, list[str]] = {variable.name: [] for variable in variables}
        for parent, child in edges:
            above[known_variable(named, child).name].append(parent)
        factors = []
        for variable in variables:
            scope = _scope(named, above[variable.name], variable.name)
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
        return children_of(self.parents)

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

    def d_separated(self, a: str, b: str, given: str | Iterable[str] = ()) -> bool:
        """Whether the graph alone makes a and b independent, given other variables.

        A path is open at x unless x is given, and at a collider (→ x ←) only if x or one of its
        descendants is given.  (Bayes ball; Shachter, 1998.)
        """
        given = (given,) if isinstance(given, str) else given
        a, b, *known = known_variables(self.by_name, (a, b, *given))
        return b in known or a in known or b not in reachable(self.parents, a, frozenset(known))

    @cached_property
    def _sums_to_one(self) -> bool:
        """Whether each row of each table sums to 1, up to rounding."""
        return all(sums_to_one(table) for table in self.factors)

    @cached_property
    def _parts(self) -> RecentlyUsed[FactorGraph]:
        return RecentlyUsed(PARTS)

    def relevant(self, names: Collection[str], evidence: GraphEvidence) -> FactorGraph:
        """The tables of ``names``, of what was observed, and of their ancestors.

        The tables of all others sum to 1.  A network whose tree is small is not cut.
        """
        kept = with_ancestors((*names, *evidence.codes, *evidence.soft), self.parents)
        if len(kept) == len(self.names) or not self._sums_to_one:
            return self
        if kept and self.plans.is_small:
            return self

        def part() -> FactorGraph:
            variables = [variable for variable in self.variables if variable.name in kept]
            return FactorGraph([self.tables[variable.name] for variable in variables], variables)

        return self._parts.get(kept, part)

    @property
    def draw_in_order(self) -> Callable[[Array], Mapping[str, Array]]:
        return self.ancestral_sample

    def ancestral_sample(self, uniform: Array) -> Mapping[str, Array]:
        """Codes of each variable, drawn from its table given those of its parents.

        ``uniform`` (n_samples, n_variables) has the draws from U(0, 1).
        """
        column = {name: v for v, name in enumerate(self.names)}
        codes: dict[str, Array] = {}
        for name in self.order:
            upper = np.cumsum(self.tables[name].table, axis=-1)
            rows = upper[tuple(codes[parent] for parent in self.parents[name])]
            draws = uniform[:, column[name]] * rows[..., -1]
            below = rows <= draws[:, None]  # a state of probability 0 has no room between two sums
            last = (rows < rows[..., -1:]).sum(axis=-1)  # the last state that has any
            codes[name] = np.minimum(below.sum(axis=-1), last)
        return {name: codes[name] for name in self.names}

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

    def __repr__(self) -> str:
        title = f" {self.name!r}" if self.name else ""
        structure = "" if self.fit_report is None else self.fit_report.structure
        learned = f"; edges by {structure}" if structure else ""
        return (
            f"<BayesianNetwork{title}: {count(len(self.variables), 'variable')}, "
            f"{count(len(self.edges), 'edge')}, {count(self.n_parameters(), 'parameter')}"
            f"{learned}>"
        )

    def to_networkx(self) -> Any:
        """The edges from parents to children as a networkx.DiGraph."""
        from likely.graphical.formats.networkx_graph import directed_graph

        return directed_graph(self)

    def fit(
        self,
        data: object,
        *,
        smoothing: "Smoothing" = 1.0,
        sample_weight: object = None,
        method: str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-8,
        random_state: Seed = None,
        executor: "str | Executor" = "auto",
    ) -> "BayesianNetwork":
        """The network with the same edges, and tables learned from data.

        Parameters
        ----------
        data
            A data frame whose cells are states; empty cells are missing, and variables without a
            column are hidden.  A dictionary of columns or a list of dictionaries is read in the
            same way.  Or an array with a column for each variable, whose whole numbers are codes,
            −1 for missing; or a file.
        smoothing
            Pseudo-counts in each cell of a table; α − 1 of a ``Dirichlet(α)``; or
            ``EquivalentSample(size)``, as BDeu has them.
            With 0, a row of a table that was never seen is uniform.
        sample_weight
            A number for each row, or the name of a column: weight 2 is the row twice, 0 is the
            row absent.
        method
            "counts", from the rows in which a variable and its parents are all observed; "em",
            from all of them; "auto" is counts where nothing is missing, else EM.
        max_iter, tol
            When EM ends: its steps, and the gain left in nats per row, by Aitken's estimate.
        random_state
            Seed of the tables of hidden variables with which EM begins.
        executor
            Where sums over rows are computed: "serial", "threads" or "auto".

        Returns
        -------
        BayesianNetwork
            Its ``fit_report`` has the log-likelihood and how EM ended.

        Examples
        --------
        >>> import pyarrow as pa
        >>> network = BayesianNetwork.from_edges([("rain", "wet")], {"rain": 2, "wet": 2})
        >>> data = pa.table({"rain": [0, 0, 1], "wet": [0, 1, 1]})
        >>> network.fit(data).tables["wet"].table
        array([[0.5       , 0.5       ],
               [0.33333333, 0.66666667]])
        """
        from likely.graphical.learning.coded_rows import coded_rows
        from likely.graphical.learning.table_estimates import TableSettings, fit_tables

        settings = TableSettings(smoothing, method, max_iter, tol, random_state)
        rows = coded_rows(self.variables, data, sample_weight=sample_weight, executor=executor)
        return fit_tables(self, rows, settings).learned_from(data)

    def learning_steps(
        self,
        data: object,
        *,
        smoothing: "Smoothing" = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-8,
        random_state: Seed = None,
        executor: "str | Executor" = "auto",
    ) -> "list[BayesianNetwork]":
        """The network at the start of EM and after each step, the last as ``fit`` leaves it."""
        from likely.graphical.learning.coded_rows import coded_rows
        from likely.graphical.learning.table_estimates import TableSettings, fit_tables

        settings = TableSettings(smoothing, "em", max_iter, tol, random_state)
        rows, path = coded_rows(self.variables, data, executor=executor), list[Any]()
        fitted = fit_tables(self, rows, settings, watch=lambda state: path.append(state.theta))
        return [*map(self.with_tables, path[:-1]), fitted.learned_from(data)]

    @classmethod
    def from_data(
        cls,
        data: object,
        structure: "str | Structure | BayesianNetwork | Iterable[tuple[str, str]]" = "auto",
        *,
        target: str | None = None,
        states: Mapping[str, int | Iterable[State]] | None = None,
        smoothing: "Smoothing" = 1.0,
        sample_weight: object = None,
        method: str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-8,
        random_state: Seed = None,
        executor: "str | Executor" = "auto",
    ) -> "BayesianNetwork":
        """A network whose edges and tables are learned from data.

        Parameters
        ----------
        data
            A data frame, a dictionary of columns, a list of dictionaries, an array or a file.
            States are the distinct values of a column, sorted: numbers by size, then text; those
            of an ordered categorical are in its order.
        structure
            "hill-climbing" (a graph that no change of one edge improves), "chow-liu" (the best
            tree), "tan" (tree-augmented naive Bayes), "naive-bayes", or one of these with
            settings, such as ``HillClimbing(score="bdeu")``; edges (parent, child); or a network,
            whose edges and states are used.  "auto" is hill climbing, and the tree where cells
            are missing, the table has more than 100 columns, or it has more than 10⁸ cells.
        target
            The class of "tan" and "naive-bayes"; the root of "chow-liu".  Hill climbing has none.
        states
            States of some variables, instead of those in the data.  A variable without a column
            is hidden.
        smoothing, sample_weight, method, max_iter, tol, random_state, executor
            See ``fit``.

        Returns
        -------
        BayesianNetwork
            Its ``fit_report`` says how the edges were learned (``structure``) and what such a
            graph cannot represent (``limits``).

        Examples
        --------
        >>> import pyarrow as pa
        >>> data = pa.table({"a": ["x", "x", "y", "y"] * 9, "b": [0, 0, 1, 1] * 9})
        >>> network = BayesianNetwork.from_data(data)
        >>> network
        <BayesianNetwork: 2 variables, 1 edge, 3 parameters; edges by hill-climbing>
        >>> BayesianNetwork.from_data(data, "chow-liu").fit_report.limits
        'a tree: no variable depends on two others at once'
        """
        from likely.graphical.learning.coded_rows import coded_rows, rows_with_states
        from likely.graphical.learning.structure import learned_edges
        from likely.graphical.learning.table_estimates import TableSettings, fit_tables

        settings = TableSettings(smoothing, method, max_iter, tol, random_state)
        if isinstance(structure, BayesianNetwork):
            variables = structure.variables
            rows = coded_rows(variables, data, sample_weight=sample_weight, executor=executor)
            return fit_tables(structure, rows, settings).learned_from(data)
        rows = rows_with_states(data, states or {}, sample_weight, executor)
        learned = learned_edges(rows, structure, target, random_state)
        states = {each.name: each.values for each in rows.variables}
        network = fit_tables(cls.from_edges(learned.edges, states), rows, settings)
        network.fit_report = learned.reported(network.fit_report)
        return network.learned_from(data)

    def with_tables(
        self,
        tables: Mapping[str, ArrayLike] | Iterable[ArrayLike],
        fit_report: "FitReport | None" = None,
    ) -> "BayesianNetwork":
        """The network with other tables: some by the names of variables, or all in a list.

        A list is in the order of ``factors``; variables that a dictionary does not name keep
        their tables.
        """
        given = tables
        if isinstance(tables, Mapping):
            named = {known_variable(self.by_name, name).name: own for name, own in tables.items()}
            given = [named.get(factor.scope[-1], factor.table) for factor in self.factors]
        other = self.with_factors(
            Factor(factor.variables, table, name=factor.name)
            for factor, table in zip(self.factors, given, strict=True)
        )
        other.fit_report = fit_report
        return other


def _scope(
    named: Mapping[str, Variable], parents: str | Iterable[str], child: str
) -> list[Variable]:
    """Parents, then the child; a parent that is the child, or occurs twice, is refused."""
    above = (parents,) if isinstance(parents, str) else parents
    scope = [known_variable(named, name) for name in (*above, child)]
    names = [variable.name for variable in scope]
    if child in names[:-1]:
        raise CyclicGraph([child])
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InvalidInput(
            f"The edge {twice[0]} → {child} was given twice; each was expected once. Remove one."
        )
    return scope
