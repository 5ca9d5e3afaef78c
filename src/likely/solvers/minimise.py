"""The one optimisation loop."""

from dataclasses import dataclass
from math import isfinite
from time import perf_counter
from typing import Any, final

from likely.progress import report
from likely.solvers.base import Objective, S, Solver
from likely.solvers.stopping import FirstOf, Progress, StoppingRule


@final
@dataclass(frozen=True, eq=False)
class Solution:
    """How a search ended.  Not converging is a fact to report, not an error."""

    theta: Any
    converged: bool
    reason: str
    trace: tuple[float, ...]  # the objective, from the start to the end
    gap: float

    @property
    def n_iter(self) -> int:
        return len(self.trace) - 1

    def __repr__(self) -> str:
        state = "converged" if self.converged else "not converged"
        return (
            f"<Solution: {state} after {self.n_iter} steps at {self.trace[-1]:.6g}; {self.reason}>"
        )


def minimise(
    solver: Solver[Objective, S],
    objective: Objective,
    start: Any,
    *,
    tol: float = 1e-10,
    max_iter: int = 100,
    stopping: StoppingRule | None = None,
) -> Solution:
    """Step from ``start`` until the gap is within ``tol``, or ``stopping`` says to stop."""
    return search(solver, objective, start, tol=tol, max_iter=max_iter, stopping=stopping)[0]


def search(
    solver: Solver[Objective, S],
    objective: Objective,
    start: Any,
    *,
    tol: float = 1e-10,
    max_iter: int = 100,
    stopping: StoppingRule | None = None,
) -> tuple[Solution, S]:
    """The solution, and the last state for whoever needs what the solver carried there."""
    state = solver.init(objective, start)
    trace, verdict, began = [state.value], None, perf_counter()
    rule = stopping or FirstOf(())
    while state.gap > tol and not state.stuck and not verdict and len(trace) <= max_iter:
        state = solver.step(objective, state)
        trace.append(state.value)
        report(f"{solver.name} step", 1, f"objective {state.value:.6g}, gap {state.gap:.1e}")
        verdict = rule.verdict(Progress(state.gap, trace, perf_counter() - began))
    converged = state.gap <= tol or (verdict is not None and verdict.converged)
    if state.gap <= tol:
        reason = f"the gap {state.gap:.1e} is within tol={tol:g}"
    elif verdict is not None:
        reason = verdict.reason
    elif state.stuck:
        reason = state.stuck
    else:
        gap = f"{state.gap:.1e}" if isfinite(state.gap) else "unknown size"
        reason = f"max_iter={max_iter} was reached with a gap of {gap}"
    return Solution(state.theta, converged, reason, tuple(trace), state.gap), state
