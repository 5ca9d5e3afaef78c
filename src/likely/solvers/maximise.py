"""Maximisation, by the solvers that minimise.

    θ + t ∇ℓ(θ) = θ − t ∇(−ℓ)(θ)

Maximising the log-likelihood ℓ and minimising the cross-entropy −ℓ are the same procedure: a change
of sign is exact, so the two visit the same θ, bit for bit.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

from likely._typing import Array
from likely.solvers.base import FirstOrder, FirstOrderObjective, S, Solver, as_objective
from likely.solvers.minimise import Solution, minimise
from likely.solvers.stopping import StoppingRule


@final
@dataclass(frozen=True, eq=False)
class Negated(FirstOrderObjective):
    """−f, for an f that is to be maximised."""

    objective: FirstOrderObjective

    def value(self, theta: Array) -> float:
        return -self.objective.value(theta)

    def first_order(self, theta: Array) -> FirstOrder:
        here = self.objective.first_order(theta)
        return FirstOrder(-here.value, -here.gradient)


def maximise(
    solver: Solver[FirstOrderObjective, S],
    objective: Any,
    start: Any,
    *,
    tol: float = 1e-10,
    max_iter: int = 1000,
    stop: StoppingRule | None = None,
    watch: Callable[[S], None] | None = None,
) -> Solution:
    """Maximise a function as ``minimise`` minimises one; the trace is that of the function.

    ``watch`` and ``stop`` see the descent of −f.
    """
    solution = minimise(
        solver,
        Negated(as_objective(objective, type(solver))),
        start,
        tol=tol,
        max_iter=max_iter,
        stop=stop,
        watch=watch,
    )
    return replace(solution, trace=tuple(-value for value in solution.trace))
