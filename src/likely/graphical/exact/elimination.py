"""Variable elimination and its plan: each sum is taken once no other factor has its variable.

    P(x_3, e) = Σ_{x_1} P(x_3 | x_1) P(x_1) Σ_{x_2} P(e | x_1, x_2) P(x_2) Σ_{x_5} P(x_5 | x_2)

Any order of the sums is right; its cost is that of the largest product.  With a maximum in place
of each sum, the states that attain it are kept, and give the most probable configuration when
they are followed back.  Drawing states in that backward order gives a sample:

    P(x_v | those eliminated later) ∝ the product from which x_v was summed

The plan is the order, the tables of each step, and the bytes they need.  Eliminating x multiplies
the tables that depend on it, and sums x out of the product.  The order is given, or found by a rule
(``triangulation.py``):

    min-fill      the pairs of its neighbours that x would join
    min-weight    the cells of the product
    min-degree    the variables of the product

References
----------
Zhang & Poole (1994), A simple approach to Bayesian network computations.
Koller & Friedman, Probabilistic Graphical Models, §9.3 and §13.2.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Literal, final

import numpy as np

from likely._typing import Array
from likely.errors import GraphTooLarge, ImpossibleEvidence, InvalidInput
from likely.graphical.contract import BestStates, InferenceAnswer, Request
from likely.graphical.exact.cost import memory_in_bytes, memory_limit
from likely.graphical.exact.enumeration import TIE, spread, with_observed
from likely.graphical.exact.semiring import Semiring, semiring_of
from likely.graphical.exact.triangulation import order_by_rule
from likely.graphical.model.graph_evidence import (
    Given,
    GraphEvidence,
    Soft,
    checked_evidence,
    known_variables,
)
from likely.graphical.model.variable import by_name
from likely.output.formatting import listed, quoted, text_table
from likely.special import log, logsumexp

if TYPE_CHECKING:
    from likely.graphical.model.factor_graph import FactorGraph

Scope = tuple[str, ...]
Kept = Literal["nothing", "choices", "products"]

NUMBER = 8  # bytes of a float64 or an int64
WORKING_TABLES = 4  # of the size of a product: itself and those of its logsumexp
KEPT_BYTES: Mapping[Kept, tuple[int, int]] = {  # for each cell of the product, and of its sum
    "nothing": (0, 0),
    "choices": (0, NUMBER + 1),  # the best state, and whether it is tied
    "products": (NUMBER, 0),
}


@final
@dataclass(frozen=True)
class EliminationStep:
    """One variable summed (or maximised) out of the product of the tables that depend on it.

    ``tables`` are their numbers: those of the factors first, then those of earlier steps.
    """

    variable: str
    tables: tuple[int, ...]
    multiplied: tuple[Scope, ...]
    before: Scope  # the variables of the product, the eliminated one last
    after: Scope
    operations: int  # products and sums of two numbers


@final
@dataclass(frozen=True)
class EliminationPlan:
    """Steps in order, and the numbers of the tables that are left."""

    scopes: tuple[Scope, ...]
    n_states: Mapping[str, int]
    steps: tuple[EliminationStep, ...]
    left: tuple[int, ...]
    variables: Scope  # of the result

    @property
    def order(self) -> tuple[str, ...]:
        """The variables in the order in which they are eliminated."""
        return tuple(step.variable for step in self.steps)

    def planned_bytes(self, kept: Kept) -> float:
        """The most bytes of tables at one time."""
        of_product, of_sum = KEPT_BYTES[kept]
        sizes = [NUMBER * self._cells(scope) for scope in self.scopes]
        live = peak = sum(sizes)
        for step in self.steps:
            product, after = self._cells(step.before), self._cells(step.after)
            sizes.append(NUMBER * after)
            peak = max(peak, live + NUMBER * WORKING_TABLES * product)
            live += of_product * product + of_sum * after
            live += sizes[-1] - sum(sizes[j] for j in step.tables)
        return max(peak, live + NUMBER * WORKING_TABLES * self._cells(self.variables))

    def refuse_above(self, memory: int | None, kept: Kept = "nothing") -> None:
        """Raise GraphTooLarge if the planned bytes are above the limit."""
        needed, limit = self.planned_bytes(kept), memory_limit(memory)
        if needed > limit:
            raise GraphTooLarge(
                f"Eliminating {len(self.steps)} variables in this order",
                needed,
                limit,
                "Observe more variables, give an order with smaller tables, or raise memory.",
            )

    def _cells(self, scope: Scope) -> float:
        return prod((float(self.n_states[name]) for name in scope), start=1.0)


def elimination_plan(
    scopes: Sequence[Scope],
    n_states: Mapping[str, int],
    variables: Sequence[str],
    order: str | Sequence[str] = "min-fill",
) -> EliminationPlan:
    """The plan that leaves a table over ``variables``; an explicit order names all others."""
    others = [name for name in n_states if name not in set(variables)]
    if isinstance(order, str):
        names = order_by_rule(scopes, n_states, others, order)
    else:
        names = _checked_order(order, n_states, others)
    tables: dict[int, Scope] = dict(enumerate(scopes))
    having: dict[str, set[int]] = {name: set() for name in n_states}
    for j, scope in tables.items():
        for name in scope:
            having[name].add(j)
    steps: list[EliminationStep] = []
    for name in names:
        step = _step(name, sorted(having[name]), tables, n_states)
        for j in step.tables:
            for each in tables.pop(j):
                having[each].discard(j)
        made = len(scopes) + len(steps)
        tables[made] = step.after
        for each in step.after:
            having[each].add(made)
        steps.append(step)
    return EliminationPlan(tuple(scopes), n_states, tuple(steps), tuple(tables), tuple(variables))


def _step(
    name: str, numbers: Sequence[int], tables: Mapping[int, Scope], n_states: Mapping[str, int]
) -> EliminationStep:
    multiplied = tuple(tables[j] for j in numbers)
    after = tuple(dict.fromkeys(each for scope in multiplied for each in scope if each != name))
    smaller = prod(n_states[each] for each in after)
    cells = smaller * n_states[name]
    operations = max(len(numbers) - 1, 0) * cells + cells - smaller
    return EliminationStep(name, tuple(numbers), multiplied, (*after, name), after, operations)


def _checked_order(
    order: Sequence[str], known: Collection[str], others: Sequence[str]
) -> tuple[str, ...]:
    names = tuple(str(name) for name in order)
    wrong = [name for name in names if name not in set(others)]
    absent = [name for name in others if name not in set(names)]
    if wrong:
        why = "is kept in the result" if wrong[0] in known else "is observed or not in the graph"
        raise InvalidInput(
            f"The order holds {wrong[0]!r}, which {why}; the variables to eliminate were expected: "
            f"{listed(others)}. Remove it."
        )
    if absent or len(set(names)) < len(names):
        twice = [name for name in others if names.count(name) > 1]
        fault = f"lacks {quoted(absent)}" if absent else f"names {quoted(twice)} twice"
        raise InvalidInput(
            f"The order {fault}; each variable to eliminate was expected once: {listed(others)}."
        )
    return names


LogTables = Sequence[tuple[Scope, Array]]
Keep = Callable[[EliminationStep, Array], None]  # called with the logs of each product


@final
@dataclass(frozen=True, eq=False)
class EliminationResult:
    """The table that an elimination leaves, and its steps."""

    variables: Scope  # the axes of the table
    log_table: Array
    steps: tuple[EliminationStep, ...]
    semiring: Semiring
    largest: Scope  # the variables of the product with the most cells

    @property
    def table(self) -> Array:
        """⊕ over the other variables: numbers, or their logs with max-sum; not normalised."""
        return self.semiring.written_values(self.log_table)

    @property
    def order(self) -> tuple[str, ...]:
        """The variables in the order in which they were eliminated."""
        return tuple(step.variable for step in self.steps)

    @property
    def operations(self) -> int:
        """Products and sums (or maxima) of two numbers, in all steps."""
        return sum(step.operations for step in self.steps)

    def __str__(self) -> str:
        rows = [
            [
                step.variable,
                " × ".join(f"({', '.join(scope)})" for scope in step.multiplied),
                ", ".join(step.before),
                ", ".join(step.after),
                f"{step.operations:,}",
            ]
            for step in self.steps
        ]
        head = ["eliminated", "tables multiplied", "product over", "leaves", "operations"]
        return "\n".join(text_table(head, rows, words=range(4)))


def eliminate(
    graph: "FactorGraph",
    variables: str | Sequence[str] = (),
    given: Given | None = None,
    *,
    soft: Soft | None = None,
    order: str | Sequence[str] = "min-fill",
    semiring: str = "sum-product",
    memory: int | str | None = None,
) -> EliminationResult:
    """F(x, e) with all but ``variables`` eliminated, not normalised, and the steps to it.

    Parameters
    ----------
    variables
        The names that are kept, in the order of the axes of the table.
    given, soft
        Observed states and likelihoods of states, by name.
    order
        "min-fill", "min-weight" or "min-degree"; or the names of all others in order.
    semiring
        "sum-product" gives P(variables, e) up to the constant Z, "max-product" the largest F for
        each state of the variables, "max-sum" its logarithm.
    memory
        The most that the tables may use, such as "8GB"; half of the free memory by default.
    """
    ring = semiring_of(semiring)
    evidence = checked_evidence(graph.by_name, given, soft)
    names = _kept_names(graph, variables, evidence)
    fixed = _fixed_codes(graph, evidence)
    if not isinstance(order, str):
        known_variables(graph.by_name, order)
        single = {name for name in fixed if name not in evidence.codes}  # nothing to sum there
        order = [name for name in order if name not in single]
    tables = _log_tables(graph, evidence, fixed)
    free = [name for name in names if name not in fixed]
    plan = elimination_plan([scope for scope, _ in tables], _n_states(graph, fixed), free, order)
    plan.refuse_above(memory_in_bytes(memory))
    log_table = _eliminated(plan, tables, ring)
    largest = max(
        (step.before for step in plan.steps),
        key=lambda scope: prod(plan.n_states[name] for name in scope),
        default=(),
    )
    shape = tuple(graph.variable(name).n_states for name in names)
    return EliminationResult(names, log_table.reshape(shape), plan.steps, ring, largest)


@final
@dataclass(frozen=True)
class Elimination:
    """One elimination for each variable or joint that is wanted."""

    order: str = "min-fill"

    def answer(self, graph: "FactorGraph", request: Request) -> InferenceAnswer:
        fixed = _fixed_codes(graph, request.evidence)
        tables = _log_tables(graph, request.evidence, fixed)
        sums = semiring_of("sum-product")
        found: dict[Scope, Array] = {}
        total = 0.0
        wanted = [(name,) for name in request.variables] + list(request.joints)
        for names in wanted or [()]:
            kept = tuple(name for name in names if name not in fixed)
            plan = self._plan(graph, tables, fixed, kept)
            plan.refuse_above(request.memory)
            log_table = _eliminated(plan, tables, sums)
            total = float(logsumexp(log_table))
            if total == -np.inf:
                raise ImpossibleEvidence()
            found[names] = with_observed(graph, np.exp(log_table - total), names, fixed)
        return InferenceAnswer(
            {name: found[name,] for name in request.variables},
            {names: found[names] for names in request.joints},
            total,
        )

    def log_partition(self, graph: "FactorGraph", request: Request) -> float:
        fixed = _fixed_codes(graph, request.evidence)
        tables = _log_tables(graph, request.evidence, fixed)
        plan = self._plan(graph, tables, fixed, ())
        plan.refuse_above(request.memory)
        return float(_eliminated(plan, tables, semiring_of("sum-product")))

    def most_probable(self, graph: "FactorGraph", request: Request) -> BestStates:
        fixed = _fixed_codes(graph, request.evidence)
        tables = _log_tables(graph, request.evidence, fixed)
        plan = self._plan(graph, tables, fixed, ())
        plan.refuse_above(request.memory, "choices")
        choices: list[tuple[Array, Array]] = []

        def keep(step: EliminationStep, product: Array) -> None:
            best = product.max(axis=-1, keepdims=True)
            tied = product >= best - TIE * np.maximum(1.0, np.abs(best))
            choices.append((product.argmax(axis=-1), tied.sum(axis=-1) > 1))

        if _eliminated(plan, tables, semiring_of("max-sum"), keep) == -np.inf:
            raise ImpossibleEvidence()
        codes, unique = dict(fixed), True
        for step, (best, tied) in zip(plan.steps[::-1], choices[::-1], strict=True):
            cell = tuple(codes[name] for name in step.after)
            codes[step.variable] = int(best[cell])
            unique = unique and not tied[cell]
        return BestStates({name: codes[name] for name in graph.names}, unique)

    def sample(self, graph: "FactorGraph", request: Request, uniform: Array) -> Mapping[str, Array]:
        fixed = _fixed_codes(graph, request.evidence)
        tables = _log_tables(graph, request.evidence, fixed)
        plan = self._plan(graph, tables, fixed, ())
        plan.refuse_above(request.memory, "products")
        products: list[Array] = []

        def keep(step: EliminationStep, product: Array) -> None:
            products.append(product)

        if _eliminated(plan, tables, semiring_of("sum-product"), keep) == -np.inf:
            raise ImpossibleEvidence()
        column = {name: i for i, name in enumerate(graph.names)}
        codes = {name: np.full(len(uniform), code) for name, code in fixed.items()}
        for step, product in zip(plan.steps[::-1], products[::-1], strict=True):
            cell = tuple(codes[name] for name in step.after)
            log_weights = np.broadcast_to(product[cell], (len(uniform), product.shape[-1]))
            codes[step.variable] = _drawn(log_weights, uniform[:, column[step.variable]])
        return {name: codes[name] for name in graph.names}

    def _plan(
        self, graph: "FactorGraph", tables: LogTables, fixed: Mapping[str, int], kept: Scope
    ) -> EliminationPlan:
        scopes = [scope for scope, _ in tables]
        return elimination_plan(scopes, _n_states(graph, fixed), kept, self.order)


def _kept_names(
    graph: "FactorGraph", variables: str | Sequence[str], evidence: GraphEvidence
) -> Scope:
    wanted = [variables] if isinstance(variables, str) else variables
    names = tuple(known_variables(graph.by_name, wanted))
    by_name([graph.by_name[name] for name in names])
    for name in names:
        if name in evidence.codes:
            raise InvalidInput(
                f"{name!r} is to be kept and is observed; variables without an observation were "
                "expected. Remove it from one of the two."
            )
    return names


def _fixed_codes(graph: "FactorGraph", evidence: GraphEvidence) -> dict[str, int]:
    """Observed states, and the only state of variables that have one: they need no axis."""
    single = {variable.name: 0 for variable in graph.variables if variable.n_states == 1}
    return single | dict(evidence.codes)


def _n_states(graph: "FactorGraph", fixed: Mapping[str, int]) -> dict[str, int]:
    return {v.name: v.n_states for v in graph.variables if v.name not in fixed}


def _log_tables(
    graph: "FactorGraph", evidence: GraphEvidence, fixed: Mapping[str, int]
) -> LogTables:
    """The factors with fixed variables sliced out, then the likelihoods of soft evidence."""
    tables = []
    for factor in graph.factors:
        part = factor.given(fixed)
        tables.append((part.scope, part.log_table))
    for name, likelihood in evidence.soft.items():
        scope = () if name in fixed else (name,)
        tables.append((scope, np.asarray(log(likelihood[fixed.get(name, slice(None))]))))
    return tables


def _eliminated(
    plan: EliminationPlan, tables: LogTables, semiring: Semiring, keep: Keep | None = None
) -> Array:
    """Carry out a plan: logs of the table over ``plan.variables``."""
    live = dict(enumerate(tables))
    for number, step in enumerate(plan.steps, start=len(tables)):
        product = _product([live.pop(j) for j in step.tables], step.before, plan.n_states)
        if keep is not None:
            keep(step, product)
        live[number] = step.after, np.asarray(semiring.plus_of_logs(product, (-1,)))
    return _product([live[j] for j in plan.left], plan.variables, plan.n_states)


def _product(tables: LogTables, scope: Scope, n_states: Mapping[str, int]) -> Array:
    """The sum of logs of tables, with an axis for each name of ``scope``."""
    axis = {name: i for i, name in enumerate(scope)}
    total = np.zeros(tuple(n_states[name] for name in scope))
    for names, table in tables:
        total += spread(table, [axis[name] for name in names], len(scope))
    return total


def _drawn(log_weights: Array, uniform: Array) -> Array:
    """For each row of weights (n, n_states), the state whose part of the sum u falls in."""
    upper = np.cumsum(np.exp(log_weights - log_weights.max(axis=1, keepdims=True)), axis=1)
    return np.asarray((upper <= (uniform * upper[:, -1])[:, None]).sum(axis=1))
