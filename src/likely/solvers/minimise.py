"""The one optimisation loop.

Maximisation is by the solvers that minimise:

    θ + t ∇ℓ(θ) = θ − t ∇(−ℓ)(θ)

Maximising the log-likelihood ℓ and minimising the cross-entropy −ℓ are the same procedure: a change
of sign is exact, so the two visit the same θ, bit for bit.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from time import perf_counter
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput, LimitReached, warn_user
from likely.output.progress import report
from likely.solvers.base import (
    FirstOrder,
    FirstOrderObjective,
    Kinked,
    Objective,
    S,
    Solver,
    State,
    as_objective,
)
from likely.solvers.stopping import (
    Progress,
    StoppingRule,
    Stuck,
    Tolerance,
    limit_of_steps,
    scale_of,
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
    stopped: bool = False  # by a rule that was asked for, and not by tol or max_iter
    held_out: tuple[float, ...] = ()  # the loss on held-out rows at each step, where some were

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
    solver: Solver[Any, S],
    objective: Any,
    start: Any,
    *,
    tol: float = 1e-10,
    max_iter: int = 1000,
    stop: StoppingRule | None = None,
    watch: Callable[[S], None] | None = None,
) -> Solution:
    """Step from ``start`` until the gap is within ``tol``, or the rule ``stop`` says so.

    ``objective`` is that of a model, a ``FirstOrderObjective`` or ``SmoothObjective`` of your own,
    a pair of functions (f, ∇f), or any object with the methods ``value`` and ``gradient``.
    A search that reaches ``max_iter`` warns; tol=0 asks for that many steps, without a warning.
    ``watch`` is called with every state, from the start to the end: ``states.append`` keeps the
    history of value, parameters and, where the solver has one, gradient.
    """
    _check_solver(solver, "minimise")
    found = as_objective(objective, type(solver))
    if found is not objective or isinstance(start, list | tuple):
        start = _given_start(start)
    solution, _ = search(solver, found, start, tol=tol, max_iter=max_iter, stop=stop, watch=watch)
    at_limit = not solution.converged and not solution.stopped and solution.n_iter >= max_iter
    if at_limit and tol > 0:
        warn_user(
            f"minimise did not converge: {solution.reason}. Raise max_iter, or loosen tol.",
            LimitReached,
        )
    return solution


def _given_start(start: Any) -> Array:
    try:
        theta = np.array(start, dtype=np.float64)
    except (TypeError, ValueError):
        theta = np.empty((0, 0))
    if theta.ndim > 1 or start is None:
        raise InvalidInput(
            f"The start is {start!r:.60}; one number for each parameter was expected. Give a list "
            "or an array of one dimension, and let f reshape it."
        )
    return theta


def _check_solver(solver: object, function: str) -> None:
    if not isinstance(solver, Solver):
        raise InvalidInput(
            f"{function} was given {type(solver).__name__!r} as its solver, the first argument; a "
            f"solver of likely.solvers was expected. Write {function}(LBFGS(), objective, start)."
        )


def search(
    solver: Solver[Objective, S],
    objective: Objective,
    start: Any,
    *,
    tol: float = 1e-10,
    max_iter: int = 1000,
    stop: StoppingRule | None = None,
    watch: Callable[[S], None] | None = None,
    held_out: Callable[[Any], float] | None = None,
) -> tuple[Solution, S]:
    """The solution, and the last state for callers that need the solver's state.

    ``held_out`` is the loss of θ on rows outside the objective; the best state is kept then.
    """
    began, state = perf_counter(), _certified(objective, solver.init(objective, start))
    trace, losses, best = [state.value], list[float](), state
    progress = Progress(state.gap, trace, stuck=state.stuck, held_out=losses)
    while True:
        if held_out is not None:
            losses.append(held_out(state.theta))
            best = state if losses[-1] < min(losses[:-1], default=inf) else best
        if watch is not None:
            watch(state)
        certified = Tolerance(tol).verdict(progress)
        asked = None if stop is None or certified else stop.verdict(progress)
        verdict = (
            certified or asked or Stuck().verdict(progress) or limit_of_steps(max_iter, progress)
        )
        if verdict is not None:
            break
        before, state = state, _certified(objective, solver.step(objective, state))
        trace.append(state.value)
        report(f"{solver.name} step", 1, f"objective {state.value:.6g}, gap {state.gap:.1e}")
        moved, seconds = (before.theta, state.theta), perf_counter() - began
        progress = Progress(state.gap, trace, seconds, moved, state.stuck, losses)
    solution = Solution(
        state.theta,
        verdict.converged,
        verdict.reason,
        tuple(trace),
        state.gap,
        solver.name,
        stopped=asked is not None,
        held_out=tuple(losses),
    )
    return (solution, state) if best is state or not losses else (_kept(solution, best), best)


def _kept(solution: Solution, best: State) -> Solution:
    """The solution that is the best state on held-out rows, before the end of the search."""
    step = int(np.argmin(solution.held_out))
    reason = solution.reason
    if not solution.stopped:
        reason += f"; step {step} is kept, the best on held-out rows"
    return replace(
        solution,
        theta=best.theta,
        converged=False,
        reason=reason,
        trace=solution.trace[: step + 1],
        gap=best.gap,
        stopped=True,
    )


def _certified(objective: object, state: S) -> S:
    """The state, with the gap that an objective with kinks certifies."""
    if not isinstance(objective, Kinked):
        return state
    gap = objective.gap(state.theta) / scale_of(objective, state.value)
    return replace(state, gap=gap)


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
    _check_solver(solver, "maximise")
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
