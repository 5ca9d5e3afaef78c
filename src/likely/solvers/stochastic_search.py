"""Stochastic gradient descent as the solver of a model: its search, and how good its end is.

The search sees batches only.  Its end is judged afterwards by one pass: ½ gᵀH⁻¹g, the gap that
Newton's method, or proximal Newton, certifies there.  Where a Hessian is too costly the gap stays
unknown.  The search has converged only if that gap is within ``tol``.  It is taken as stopped on
purpose, without a warning, if all its epochs are done or no longer help and the gap is small for
predictions.
"""

from dataclasses import replace
from math import inf

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.solvers.minimise import Solution, search
from likely.solvers.newton import Newton
from likely.solvers.proximal_newton import ProximalNewton
from likely.solvers.search_problem import Found, Limits, SearchProblem
from likely.solvers.stochastic import EPOCHS_DONE, NO_FALL, StochasticDescent

SMALL_GAP = 1e-4  # of the null deviance: a fit that is as good for predictions
ADVICE = ". More epochs of StochasticDescent come nearer; solver='auto' finds the exact optimum"


def search_in_batches(
    solver: StochasticDescent, problem: SearchProblem, start: Array, limits: Limits
) -> Found:
    """The end of a search by batches, with its gap where that can be known."""
    batched = problem.batches(start)
    if solver.penalty_scaling != "sum" and batched.penalty_value(np.ones_like(start)) > 0:
        raise InvalidInput(
            f"penalty_scaling={solver.penalty_scaling!r} was given to the solver of a model, whose "
            "penalty stands beside the sum of its losses; 'sum' was expected. Multiply the penalty "
            "instead, or use minimise with objective(X, y).in_batches()."
        )
    solver = replace(solver, epochs=min(solver.epochs, limits.max_iter))
    solution, state = search(
        solver,
        batched,
        start,
        tol=limits.tol,
        max_iter=solver.epochs + 1,  # the solver itself says that its epochs are done
        stop=limits.stop,
        held_out=problem.held_out,
    )
    gap = certified_gap(problem, state.theta)
    return Found(state.theta, judged(replace(solution, gap=gap), limits.tol), None)


def judged(solution: Solution, tol: float) -> Solution:
    """The solution, converged only if its gap is within ``tol``."""
    gap, reason = solution.gap, solution.reason
    if gap <= tol and not solution.stopped:
        return replace(solution, converged=True, reason=f"the gap {gap:.1e} is within tol={tol:g}")
    size = f"a gap of {gap:.1e}" if np.isfinite(gap) else "a gap of unknown size"
    if not reason.startswith((NO_FALL, EPOCHS_DONE)):
        return replace(solution, converged=False, reason=f"{reason}; it ended with {size}")
    near = gap <= SMALL_GAP
    reason = f"{reason}, with {size}{'' if near else ADVICE}"
    return replace(solution, converged=False, stopped=solution.stopped or near, reason=reason)


def certified_gap(problem: SearchProblem, theta: Array) -> float:
    """The gap at θ by a Newton step that is not taken; infinite where a Hessian is too costly."""
    shape = problem.shape
    if not np.isfinite(theta).all():
        return inf
    if not shape.rough and shape.hessian_is_affordable:
        return Newton(problem.intercepts).init(problem.objective, theta).gap
    if shape.rough and shape.has_working_sets and shape.hessian_is_affordable:
        return ProximalNewton().init(problem.objective, theta).gap
    return inf
