"""The plan of an elimination: its order, the tables of each step, and the bytes they need.

Eliminating x multiplies the tables that depend on it, and sums x out of the product.  The order is
given, or found by a rule (``elimination_order.py``):

    min-fill      the pairs of its neighbours that x would join
    min-weight    the cells of the product
    min-degree    the variables of the product

References
----------
Koller & Friedman, Probabilistic Graphical Models, §9.3.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal, final

from likely.errors import GraphTooLarge, InvalidInput
from likely.formatting import listed, quoted
from likely.graphical.inference.elimination_order import order_by_rule
from likely.graphical.inference.memory import memory_limit

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
