"""The one optimisation loop."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, final

from likely.progress import report
from likely.solvers.base import Objective, S, Solver
from likely.solvers.kinked import Kinked
from likely.solvers.stopping import (
    FirstOf,
    Iterations,
    Progress,
    StoppingRule,
    Stuck,
    Tolerance,
)


@final
@dataclass(frozen=True, eq=False)
class Solution:
    """How a search ended.  Not converging is a fact to report, not an error."""

    theta: Any
    converged: bool
    reason: str
    trace: tuple[float, ...]  # the objective, from the start to the end
    gap: float
    solver: str = ""  # which one it was
    passes: float | None = None  # over the data, where they were counted

    @property
    def n_iter(self) -> int:
        return len(self.trace) - 1

    def __repr__(self) -> str:
        state = "converged" if self.converged else "not converged"
        by = f" by {self.solver}" if self.solver else ""
        passes = "" if self.passes is None else f" and {self.passes:.3g} passes over the data"
        return (
            f"<Solution{by}: {state} after {self.n_iter} steps{passes} at {self.trace[-1]:.6g}; "
            f"{self.reason}>"
        )


def minimise(
    solver: Solver[Objective, S],
    objective: Objective,
    start: Any,
    *,
    tol: float = 1e-10,
    max_iter: int = 100,
    stopping: StoppingRule | None = None,
    watch: Callable[[S], None] | None = None,
) -> Solution:
    """Step from ``start`` until the gap is within ``tol``, or ``stopping`` says to stop.

    ``watch`` is called with every state, from the start to the end: ``states.append`` keeps the
    history of value, parameters and, where the solver has one, gradient.
    """
    solution, _ = search(
        solver, objective, start, tol=tol, max_iter=max_iter, stopping=stopping, watch=watch
    )
    return solution


def search(
    solver: Solver[Objective, S],
    objective: Objective,
    start: Any,
    *,
    tol: float = 1e-10,
    max_iter: int = 100,
    stopping: StoppingRule | None = None,
    watch: Callable[[S], None] | None = None,
) -> tuple[Solution, S]:
    """The solution, and the last state for callers that need the solver's state."""
    rules = (Tolerance(tol), *(() if stopping is None else (stopping,)), Stuck())
    rule = FirstOf((*rules, Iterations(max_iter)))
    began, state = perf_counter(), _certified(objective, solver.init(objective, start))
    trace = [state.value]
    verdict = rule.verdict(Progress(state.gap, trace, stuck=state.stuck))
    if watch is not None:
        watch(state)
    while verdict is None:
        before, state = state, _certified(objective, solver.step(objective, state))
        trace.append(state.value)
        if watch is not None:
            watch(state)
        report(f"{solver.name} step", 1, f"objective {state.value:.6g}, gap {state.gap:.1e}")
        moved, seconds = (before.theta, state.theta), perf_counter() - began
        verdict = rule.verdict(Progress(state.gap, trace, seconds, moved, state.stuck))
    solution = Solution(
        state.theta, verdict.converged, verdict.reason, tuple(trace), state.gap, solver.name
    )
    return solution, state


def _certified(objective: Any, state: S) -> S:
    """The state, with the gap that an objective with kinks certifies."""
    if not isinstance(objective, Kinked):
        return state
    gap = objective.gap(state.theta) / objective.scale(state.value)
    return replace(state, gap=gap)
