"""A Markov random field: potentials over sets of variables, on an undirected graph.

    P(x) = (1/Z) Π_c ψ_c(x_c)        energy F(x) = −Σ_c log ψ_c(x_c)        −log P(x) = F(x) + log Z

A potential of 0 is an infinite energy.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from likely._typing import Array
from likely.caching import cached_property
from likely.errors import InvalidInput
from likely.graphical.contract import Seed
from likely.graphical.model.exactness import EXACT, Exactness
from likely.graphical.model.factor import Factor, table_of
from likely.graphical.model.factor_graph import FactorGraph, Memory
from likely.graphical.model.graph_evidence import Given, known_variable
from likely.graphical.model.variable import State, Variable, by_name

if TYPE_CHECKING:
    from likely.compute.executor import Executor
    from likely.graphical.learning.log_linear import Feature

Scope = str | Sequence[str]


@final
@dataclass(frozen=True, eq=False)
class Minimum:
    """The states of the lowest energy, that energy, and a bound below which none can be.

    ``exactness`` says whether the method converged, and has its diagnostics.
    """

    states: Mapping[str, State]
    energy: float
    lower_bound: float
    exact: bool
    method: str
    unique: bool
    exactness: Exactness = EXACT

    @property
    def converged(self) -> bool:
        return self.exactness.converged


@final
class MarkovField(FactorGraph):
    """Potentials over named variables; every set of variables in a factor is a clique."""

    kind = "markov-field"
    pictures: ClassVar[tuple[str, ...]] = ("undirected", "factor-graph")

    @classmethod
    def from_potentials(
        cls,
        states: Mapping[str, int | Iterable[State]],
        potentials: Mapping[Scope, ArrayLike | Callable[..., float]] | Sequence[Any],
        *,
        name: str = "",
    ) -> "MarkovField":
        """A field from ψ ≥ 0, by the variables each depends on.

        ``potentials`` maps a name or a tuple of names to a table, or is a list of such pairs,
        where one set of variables may occur twice.
        """
        variables, tables = _tables(states, potentials)
        return cls([Factor(scope, table) for scope, table in tables], variables, name=name)

    @classmethod
    def from_energies(
        cls,
        states: Mapping[str, int | Iterable[State]],
        energies: Mapping[Scope, ArrayLike | Callable[..., float]] | Sequence[Any],
        *,
        name: str = "",
    ) -> "MarkovField":
        """A field from energies −log ψ, by the variables each depends on; infinity forbids."""
        variables, tables = _tables(states, energies)
        factors = [Factor(scope, -table_of(scope, energy), scale="log") for scope, energy in tables]
        return cls(factors, variables, name=name)

    def energy(self, states: Given) -> float:
        """F(x) = −Σ log ψ of a configuration."""
        return 0.0 - self.log_value(states)  # never −0.0

    @cached_property
    def energies(self) -> tuple[tuple[tuple[str, ...], Array], ...]:
        """The variables and the table of energies of each factor: −log ψ, infinite where ψ is 0."""
        return tuple((factor.scope, -factor.log_table) for factor in self.factors)

    def at_temperature(self, temperature: float) -> "MarkovField":
        """The field with all energies divided by a temperature: P(x) ∝ exp(−F(x)/T)."""
        if not 0 < temperature < np.inf:
            raise InvalidInput(
                f"temperature={temperature!r} was given; use a finite number above 0."
            )
        return self.with_factors(
            Factor(f.variables, f.log_table / temperature, scale="log", name=f.name)
            for f in self.factors
        )

    def minimise_energy(
        self,
        given: Given | None = None,
        *,
        method: str = "auto",
        memory: Memory = None,
        options: object = None,
        random_state: Seed = None,
        seconds: float | None = None,
    ) -> Minimum:
        """argmin_x F(x), which is argmax_x P(x); the parameters are those of ``query``."""
        best = self.most_probable(
            given,
            method=method,
            memory=memory,
            options=options,
            random_state=random_state,
            seconds=seconds,
        )
        energy, bound = 0.0 - best.log_score, 0.0 - best.upper_bound  # never −0.0
        found = (best.states, energy, bound, best.exact, best.method, best.unique)
        return Minimum(*found, best.exactness)

    def fit(
        self,
        data: object,
        *,
        l2: ArrayLike = 1.0,
        features: "Iterable[Feature] | None" = None,
        target: str | Sequence[str] | None = None,
        sample_weight: object = None,
        tol: float = 1e-8,
        max_iter: int = 1000,
        executor: "str | Executor" = "auto",
    ) -> "MarkovField":
        """The field with the same factors, and log-potentials learned from data by gradients.

        Parameters
        ----------
        data, sample_weight, executor
            See ``BayesianNetwork.fit``; cells may be missing.
        l2
            ½·l2·θ² is added to minus the log-likelihood; one number, or one for each feature.
        features
            Functions of the states, each with one weight θ, such as
            ``Feature(("x", "y"), [[0, 0], [0, 1]])``; one that has several scopes is shared by
            them.  By default an indicator of each cell of every factor.  Potentials of 0 stay 0.
        target
            Variables that are explained by the others, which are given; by default the joint of
            all variables is learned.
        tol, max_iter
            When the search ends: the gap to the optimum as a share of minus the log-likelihood
            at θ = 0, and its steps.

        Returns
        -------
        MarkovField
            Its ``fit_report`` has the log-likelihood and the solution, whose ``theta`` are the
            weights.

        Examples
        --------
        >>> import pyarrow as pa
        >>> field = MarkovField.from_potentials({"a": 2, "b": 2}, {("a", "b"): [[1, 1], [1, 1]]})
        >>> data = pa.table({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0]})
        >>> field.fit(data, l2=0.1).fit_report.converged
        True
        """
        from likely.graphical.learning.coded_rows import coded_rows
        from likely.graphical.learning.log_linear import fit_log_linear, log_linear_objective

        rows = coded_rows(self.variables, data, sample_weight=sample_weight, executor=executor)
        objective = log_linear_objective(self, rows, features, l2=l2, target=target)
        return fit_log_linear(objective, tol=tol, max_iter=max_iter).learned_from(data)

    def learning_steps(
        self,
        data: object,
        *,
        l2: ArrayLike = 1.0,
        features: "Iterable[Feature] | None" = None,
        target: str | Sequence[str] | None = None,
        tol: float = 1e-8,
        max_iter: int = 1000,
        executor: "str | Executor" = "auto",
    ) -> "list[MarkovField]":
        """The field at θ = 0 and after each step of the search, the last as ``fit`` leaves it."""
        from likely.graphical.learning.coded_rows import coded_rows
        from likely.graphical.learning.log_linear import fit_log_linear, log_linear_objective

        rows, path = coded_rows(self.variables, data, executor=executor), list[Any]()
        objective = log_linear_objective(self, rows, features, l2=l2, target=target)
        fitted = fit_log_linear(
            objective, tol=tol, max_iter=max_iter, watch=lambda state: path.append(state.theta)
        )
        return [*map(objective.design.field_at, path[:-1]), fitted.learned_from(data)]

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """The neighbours of a variable: given them, it is independent of all others."""
        return self.neighbours[self.variable(name).name]

    def to_networkx(self) -> Any:
        """The variables and their neighbours as a networkx.Graph."""
        from likely.graphical.formats.networkx_graph import undirected_graph

        return undirected_graph(self)

    def cliques(self) -> list[tuple[str, ...]]:
        """The maximal sets of variables that are all neighbours of each other.

        (Bron & Kerbosch, 1973, with Tomita's pivot.)
        """
        place = {name: i for i, name in enumerate(self.names)}
        near = {name: set(others) for name, others in self.neighbours.items()}
        found: list[tuple[str, ...]] = []
        waiting = [(frozenset[str](), set(self.names), set[str]())]
        while waiting:
            clique, candidates, excluded = waiting.pop()
            if not candidates and not excluded:
                found.append(tuple(sorted(clique, key=place.__getitem__)))
                continue
            pivot = max(candidates | excluded, key=lambda name: len(near[name] & candidates))
            for name in sorted(candidates - near[pivot], key=place.__getitem__):
                waiting.append((clique | {name}, candidates & near[name], excluded & near[name]))
                candidates = candidates - {name}
                excluded = excluded | {name}
        return sorted(found, key=lambda names: [place[name] for name in names])


def _tables(
    states: Mapping[str, int | Iterable[State]],
    tables: Mapping[Scope, Any] | Sequence[Any],
) -> tuple[list[Variable], list[tuple[tuple[Variable, ...], Any]]]:
    """Variables, and the scope of each table as variables."""
    variables = [Variable(key, values) for key, values in states.items()]
    named = by_name(variables)
    pairs = tables.items() if isinstance(tables, Mapping) else tables
    scoped = []
    for scope, table in pairs:
        names = (scope,) if isinstance(scope, str) else tuple(scope)
        scoped.append((tuple(known_variable(named, name) for name in names), table))
    return variables, scoped
