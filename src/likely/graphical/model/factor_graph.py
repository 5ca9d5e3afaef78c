"""A factor graph: variables, and factors whose product is a function of all of them.

    F(x_1, …, x_n) = Π_j f_j(X_j)        P(x) = F(x) / Z        Z = Σ_x F(x)

Drawn with a circle for each variable, a square for each factor, and an edge wherever a factor
depends on a variable.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeGuard

import numpy as np

from likely._typing import Array
from likely.caching import cached_property
from likely.data.frames import library_of
from likely.errors import ImpossibleEvidence, InvalidInput
from likely.graphical.contract import Request, Seed
from likely.graphical.drawing.diagram import MOST_SHOWN, Diagram
from likely.graphical.exact.cost import memory_in_bytes
from likely.graphical.exact.enumeration import log_joint_table
from likely.graphical.exact.junction_tree import JunctionTree
from likely.graphical.exact.messages import Message, Messages, tree_messages
from likely.graphical.exact.plans import Plans
from likely.graphical.model.beliefs import Beliefs, Configuration
from likely.graphical.model.connected import is_forest
from likely.graphical.model.exactness import LogPartition
from likely.graphical.model.factor import Factor, all_variables
from likely.graphical.model.graph_evidence import (
    Given,
    GraphEvidence,
    Soft,
    Wanted,
    WantedNames,
    checked_evidence,
    is_series,
    known_variable,
    wanted_names,
)
from likely.graphical.model.variable import Variable, by_name
from likely.inputs.tables import is_frame
from likely.output.formatting import count

if TYPE_CHECKING:
    from likely.graphical.learning.fit_report import FitReport

Memory = int | str | None


class FactorGraph:
    """Discrete variables and the factors over them; it never changes.

    Parameters
    ----------
    factors
        Their product is the function.  A variable belongs to any number of them.
    variables
        The variables, in the order in which answers list them.  By default those of the factors,
        in order of appearance.  Variables in no factor are uniform.
    name
        A title for pictures and files.
    """

    kind: ClassVar[str] = "factor-graph"  # as files call it
    pictures: ClassVar[tuple[str, ...]] = ("factor-graph", "undirected")  # the usual one first
    fit_report: "FitReport | None" = None  # how it was learned, where it was

    def __init__(
        self,
        factors: Iterable[Factor],
        variables: Iterable[Variable] | None = None,
        *,
        name: str = "",
    ) -> None:
        self.factors = tuple(factors)
        for factor in self.factors:
            if not isinstance(factor, Factor):
                raise InvalidInput(
                    f"A factor is {factor!r}; Factor(variables, table) was expected. For a network "
                    "of edges or tables by name use BayesianNetwork.from_edges or from_tables."
                )
        self.variables = all_variables(self.factors, variables)
        self.name = name

    @cached_property
    def by_name(self) -> Mapping[str, Variable]:
        """The variables by their names."""
        return by_name(self.variables)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(self.by_name)

    def variable(self, name: str) -> Variable:
        """The variable of that name; an unknown one raises and suggests the nearest."""
        return known_variable(self.by_name, name)

    @cached_property
    def factors_of(self) -> Mapping[str, tuple[int, ...]]:
        """The positions of the factors that depend on each variable."""
        found: dict[str, list[int]] = {name: [] for name in self.names}
        for j, factor in enumerate(self.factors):
            for name in factor.scope:
                found[name].append(j)
        return {name: tuple(positions) for name, positions in found.items()}

    @cached_property
    def neighbours(self) -> Mapping[str, tuple[str, ...]]:
        """For each variable, the others that share a factor with it, in the graph's order."""
        place = {name: i for i, name in enumerate(self.names)}
        near: dict[str, set[str]] = {name: set() for name in self.names}
        for factor in self.factors:
            for name in factor.scope:
                near[name].update(factor.scope)
        return {
            name: tuple(sorted(others - {name}, key=place.__getitem__))
            for name, others in near.items()
        }

    @property
    def n_edges(self) -> int:
        """Edges between factors and variables: the sizes of all scopes together."""
        return sum(len(factor.variables) for factor in self.factors)

    @cached_property
    def is_tree(self) -> bool:
        """Whether the factor graph has no cycle; it may fall into several trees."""
        place = {name: i for i, name in enumerate(self.names)}
        n = len(place)
        edges = [(n + j, place[name]) for j, f in enumerate(self.factors) for name in f.scope]
        return is_forest(n + len(self.factors), edges)

    # ── plans of inference ───────────────────────────────────────────────────────────────────

    @cached_property
    def plans(self) -> Plans:
        """The junction trees and arrays that inference keeps for the next query."""
        return Plans(self)

    def __getstate__(self) -> dict[str, Any]:
        """What a copy or a file takes along: everything but what is planned and kept."""
        kept = ("plans", "_parts")
        return {name: value for name, value in self.__dict__.items() if name not in kept}

    def junction_tree(self, given: Given | None = None) -> JunctionTree:
        """The cliques that exact inference uses when the variables of ``given`` are observed.

        It says its width and the bytes of its tables, and prints as a table.
        """
        return self.plans.tree(checked_evidence(self.by_name, given).observed)

    def relevant(self, names: Collection[str], evidence: GraphEvidence) -> "FactorGraph":
        """A graph with the same answers for ``names`` and the same log Z(e): here, this one."""
        return self

    @property
    def draw_in_order(self) -> Callable[[Array], Mapping[str, Array]] | None:
        """Draws codes variable by variable, where the graph has such an order: here, None."""
        return None

    # ── values ───────────────────────────────────────────────────────────────────────────────

    def log_value(self, states: Given) -> float:
        """log F of a configuration: the sum of the logs of the factors.  Every state is needed."""
        codes = checked_evidence(self.by_name, states).codes
        absent = [name for name in self.names if name not in codes]
        if absent:
            raise InvalidInput(
                f"The configuration has no state for {', '.join(absent[:5])}; a state of every "
                "variable was expected. Use log_partition(states) to sum over the others."
            )
        return float(sum(factor.log_value(codes) for factor in self.factors))

    def log_probability(self, states: Given) -> float:
        """log P of a configuration: log F − log Z."""
        return self.log_value(states) - self._log_normaliser()

    def log_likelihoods(self, data: object, *, target: str | Sequence[str] | None = None) -> Array:
        """log P(what a row shows), (n,); with ``target``, of these variables given the others.

        ``data`` is what ``BayesianNetwork.fit`` reads; cells may be missing.
        """
        from likely.graphical.exact.row_propagation import row_beliefs
        from likely.graphical.learning.coded_rows import coded_rows, codes_of
        from likely.graphical.learning.log_linear import target_columns
        from likely.graphical.model.evidence_table import MISSING

        rows = coded_rows(self.variables, data)
        codes = np.concatenate([codes_of(block) for block in rows.blocks])
        shown = row_beliefs(self, codes, ()).log_partition
        if target is None:
            return shown - self._log_normaliser()
        codes[:, target_columns(self, target)] = MISSING
        return shown - row_beliefs(self, codes, ()).log_partition

    def joint(self, *, memory: Memory = None) -> Array:
        """P(x) as one table, an axis for each variable in the order of ``names``."""
        log_table = log_joint_table(self, GraphEvidence(), memory_in_bytes(memory))
        return np.asarray(np.exp(log_table - self._log_normaliser(memory)))

    def _log_normaliser(self, memory: Memory = None) -> float:
        """log Z, refused where every configuration has the value 0."""
        log_z = self.log_partition(memory=memory)
        if log_z == -np.inf:
            raise ImpossibleEvidence(evidence=False)
        return log_z

    # ── inference ────────────────────────────────────────────────────────────────────────────

    def query(
        self,
        variables: Wanted | None = None,
        given: object = None,
        *,
        soft: Soft | None = None,
        method: str = "auto",
        memory: Memory = None,
        impossible: str = "raise",
        options: object = None,
        random_state: Seed = None,
        seconds: float | None = None,
    ) -> Any:
        """Marginals of variables, and joints of tuples of them, given what was observed.

        Parameters
        ----------
        variables
            A name or a list of names; a tuple in the list asks for the joint of its variables,
            as in ``[("a", "b")]``.  All variables by default.  A tuple alone is refused, because
            it may mean either.
        given
            Observed states by name, or a data frame or file with a row for each set of
            observations, whose empty cells are unobserved.
        soft
            Likelihoods of the states of a variable, by name: a list in the order of its states, or
            a number for each state.
        method
            "auto", "tree", "junction-tree", "elimination" or "enumeration"; all are exact.
        memory
            The most that inference may use, such as "8GB"; half of the free memory by default.
        impossible
            What rows of a frame with probability 0 do: "raise" or "nan".
        options
            The settings of a method that has some, as the value that it names.
        random_state
            A seed or a NumPy Generator, for methods that draw numbers.
        seconds
            When a method that is not exact stops; of a frame, for all its rows together.

        Returns
        -------
        Beliefs
            For a frame, TableBeliefs.  Both say whether they are exact.
        """
        observed = given if _is_one_observation(given) else None
        singles, joints = self._wanted(variables)
        evidence = checked_evidence(self.by_name, observed, soft)
        limit = memory_in_bytes(memory)
        request = Request(singles, joints, evidence, limit, options, random_state, seconds)
        if given is not observed:
            from likely.graphical.table_queries import table_beliefs

            return table_beliefs(self, given, request, method, impossible)
        from likely.graphical.methods import answer, log_partition_like

        name, found = answer(self, request, method)
        found.exactness.warn(name)
        return Beliefs(
            self.by_name,
            found.marginals,
            found.joints,
            found.log_partition,
            name,
            found.exactness,
            lambda: log_partition_like(self, request.of_log_partition(), name),
            self._library_of_answers(given),
        )

    def most_probable(
        self,
        given: object = None,
        *,
        soft: Soft | None = None,
        method: str = "auto",
        memory: Memory = None,
        impossible: str = "raise",
        options: object = None,
        random_state: Seed = None,
        seconds: float | None = None,
    ) -> Any:
        """The most probable configuration of all variables, given what was observed.

        For a data frame of observations, one configuration for each row (TableConfigurations).
        The parameters are those of ``query``.
        """
        observed = given if _is_one_observation(given) else None
        evidence = checked_evidence(self.by_name, observed, soft)
        limit = memory_in_bytes(memory)
        request = Request((), (), evidence, limit, options, random_state, seconds)
        if given is not observed:
            from likely.graphical.table_queries import table_configurations

            return table_configurations(self, given, request, method, impossible)
        from likely.graphical.methods import log_partition_like, most_probable

        name, best = most_probable(self, request, method)
        best.exactness.warn(name)
        return Configuration(
            {n: self.by_name[n].values[code] for n, code in best.codes.items()},
            self._log_score(best.codes, evidence),
            best.unique,
            name,
            best.exactness,
            best.upper,
            lambda: log_partition_like(self, request, name),
            self._library_of_answers(given),
        )

    def log_partition(
        self,
        given: Given | None = None,
        *,
        soft: Soft | None = None,
        method: str = "auto",
        memory: Memory = None,
        options: object = None,
        random_state: Seed = None,
        seconds: float | None = None,
    ) -> LogPartition:
        """log Z(e) = log Σ_x F(x, e), a natural log; −inf where the evidence is impossible.

        A float, with ``exact``, ``bound`` and ``standard_error``.
        """
        from likely.graphical.methods import log_partition

        evidence, limit = checked_evidence(self.by_name, given, soft), memory_in_bytes(memory)
        request = Request((), (), evidence, limit, options, random_state, seconds)
        found = log_partition(self, request, method)
        found.exactness.warn(method)
        return found

    def sample(
        self,
        n_samples: int = 1,
        given: Given | None = None,
        *,
        soft: Soft | None = None,
        method: str = "auto",
        memory: Memory = None,
        random_state: Seed = None,
        library: str | None = None,
        options: object = None,
        seconds: float | None = None,
    ) -> Any:
        """Configurations drawn from P(x | e): a data frame of states.

        ``library`` is "pandas", "polars" or "pyarrow"; by default that of the data from which the
        graph was learned, and Arrow's where it was not learned from a frame.  Draws of a method
        that is not exact are not independent.
        """
        from likely.graphical.methods import sample
        from likely.graphical.model.table_beliefs import states_frame

        evidence, limit = checked_evidence(self.by_name, given, soft), memory_in_bytes(memory)
        request = Request((), (), evidence, limit, options, random_state, seconds)
        codes = sample(self, request, n_samples, method)
        return states_frame(self.by_name, codes, library or self._library)

    def messages(
        self,
        root: str | None = None,
        given: Given | None = None,
        *,
        soft: Soft | None = None,
        semiring: str = "sum-product",
        mode: str | None = None,
        observed: str = "slice",
    ) -> Messages:
        """The messages of a graph without cycles, in order, with what they give.

        Parameters
        ----------
        root
            The variable that all messages go to; by default each edge carries one each way.
        given, soft
            Observed states and likelihoods of states, by name.
        semiring
            "sum-product" for marginals; "max-sum" or "max-product" for the most probable
            configuration.
        mode
            The numbers: "scaled" (each message by its largest entry), "log", or "plain".  By
            default logs for max-sum and scaled numbers otherwise.  Scaled numbers give way to
            logs where the entries of a message differ by more than e^600.
        observed
            "slice" takes observed variables out of their factors; "indicator" keeps them, with
            a factor that is 1 at the observed state.
        """
        evidence = checked_evidence(self.by_name, given, soft)
        return tree_messages(self, root, evidence, semiring=semiring, mode=mode, observed=observed)

    def _wanted(self, variables: Wanted | None) -> WantedNames:
        return wanted_names(self.by_name, variables)

    def _log_score(self, codes: Mapping[str, int], evidence: GraphEvidence) -> float:
        score = sum(factor.log_value(codes) for factor in self.factors)
        with np.errstate(divide="ignore"):
            return float(
                score + sum(np.log(soft[codes[name]]) for name, soft in evidence.soft.items())
            )

    @property
    def _library(self) -> str | None:
        """The library of the frame that the graph was learned from."""
        return None if self.fit_report is None else self.fit_report.library

    def _library_of_answers(self, given: object) -> str | None:
        """The library of one observation that is a Series, else that of what was learned from."""
        return library_of(given) if is_series(given) else self._library

    def learned_from(self, data: object) -> Self:
        """This graph, which has just been learned from ``data``: frames are of its library."""
        if self.fit_report is not None:
            library = library_of(data) if is_frame(data) else None
            self.fit_report = replace(self.fit_report, library=library)
        return self

    # ── other forms ──────────────────────────────────────────────────────────────────────────

    def draw(
        self,
        path: str | Path | None = None,
        *,
        given: Iterable[str] | Mapping[str, object] = (),
        messages: Iterable[Message] | None = None,
        kind: str | None = None,
        probabilities: bool = False,
    ) -> Diagram:
        """The picture of the graph, as SVG, DOT and text; with ``path``, it is also saved there.

        Parameters
        ----------
        path
            A file whose suffix says the form: .svg, .png, .pdf, .dot, .gv or .txt.
        given, probabilities
            The observed variables, which are shaded, or their states; whether each variable has a
            bar for each state, P(state | given).
        messages
            Messages in their order, drawn beside the edges of the factor graph.
        kind
            "directed" (Bayesian networks), "undirected" or "factor-graph".
        """
        from likely.graphical.drawing.graph_pictures import graph_picture

        diagram = graph_picture(self, given, messages, kind, probabilities=probabilities)
        if path is not None:
            diagram.save(path)
        return diagram

    def _repr_svg_(self) -> str | None:
        """The picture for a notebook; none where there are too many nodes to read."""
        return self.draw().svg if len(self.variables) <= MOST_SHOWN else None

    def factor_graph(self) -> "FactorGraph":
        """The same variables and factors, without what a subclass knows of them."""
        return FactorGraph(self.factors, self.variables, name=self.name)

    def normalised(self) -> "FactorGraph":
        """The graph with one more factor, 1/Z, so that the product is a probability."""
        constant = Factor((), np.array(-self._log_normaliser()), scale="log", name="1/Z")
        return FactorGraph([*self.factors, constant], self.variables, name=self.name)

    def to_networkx(self) -> Any:
        """Variables by name and factors by position, as a bipartite networkx.Graph."""
        from likely.graphical.formats.networkx_graph import bipartite_graph

        return bipartite_graph(self)

    def with_factors(self, factors: Iterable[Factor]) -> Self:
        """A graph of the same kind and variables with other factors."""
        other = type(self)(factors, self.variables, name=self.name)
        same = len(other.factors) == len(self.factors) and all(
            a.scope == b.scope for a, b in zip(other.factors, self.factors, strict=True)
        )
        if same:
            other.plans = Plans(other, self.plans)
        return other

    def __repr__(self) -> str:
        title = f" {self.name!r}" if self.name else ""
        return (
            f"<{type(self).__name__}{title}: {count(len(self.variables), 'variable')}, "
            f"{count(len(self.factors), 'factor')}, {count(self.n_edges, 'edge')}>"
        )


def _is_one_observation(given: object) -> TypeGuard[Given | None]:
    return given is None or isinstance(given, Mapping) or is_series(given)
