"""The choice of a solver: ``SOLVERS``, how each is run, and the rules of "auto".

    least squares, few columns           a closed form: normal-equations, or qr
    smooth, a Hessian is affordable      newton: one pass per step, standard errors at no extra cost
    smooth, otherwise                    lbfgs; sparse logistic rows in memory: dual
    corners (l1 > 0), groups             proximal-newton: totals on a working set
    corners, many columns in memory      coordinate-descent
    corners, too many for a working set  fista
    any other penalty                    fista
    asked for alone                      sgd: batches of rows; never exact

A search on many rows starts from the optimum of some of them: the Newton steps that remain are
quadratic, so two or three passes over all rows are enough.

To add a solver, write one file in ``solvers/`` and one entry in ``SOLVERS``; its tests read that.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.cholesky import factorise
from likely.errors import InvalidInput
from likely.names import known_name
from likely.solvers.base import Solver, State, without_curvature
from likely.solvers.coordinate_descent import CoordinateDescent
from likely.solvers.dual_coordinate_descent import DualCoordinateDescent
from likely.solvers.gradient_descent import GradientDescent
from likely.solvers.lbfgs import LBFGS
from likely.solvers.line_search import NO_FURTHER_DIGITS, NO_LOWER_VALUE
from likely.solvers.minimise import Solution, search
from likely.solvers.newton import Newton
from likely.solvers.proximal import FISTA, InUnits
from likely.solvers.proximal_newton import ProximalNewton
from likely.solvers.search_problem import Found, HeldOutLoss, Limits, SearchProblem, Shape
from likely.solvers.some_rows import start_on_some_rows
from likely.solvers.stochastic import StochasticDescent
from likely.solvers.stochastic_search import search_in_batches
from likely.solvers.stopping import StoppingRule

CLOSED_FORMS = ("normal-equations", "qr", "minimum-norm")  # of least squares
MOST_FOR_GRAM = 3000  # columns: a Gram matrix of that size costs 72 MB and a few seconds
CONDITION_FOR_QR = 1e4  # the normal equations keep half of a double's digits up to here
MOST_AT_ALL = 10_000  # parameters of a Newton search that was asked for
DECREMENT = 1e-10  # nats, of a fit whose estimates have errors
CHEAP_PASS = 1e7  # multiplications for a Hessian: below, all digits cost next to nothing
FEW = 1e4  # multiplications for a Hessian: less than what surrounds them costs
SMALLEST_SHARE = 1e-6  # of the weight of such a table, in a row that counts
ALL_DIGITS = 1e-19  # nats, for a row per parameter: nine digits are those of any layout
LAST_STEP = 5e-13  # nats: it moves no estimate by 1e-6 of its error, nor the error by 1e-6 of it
LAST_STEP_OF_A_ROW = 5e-17  # nats: predictors then move by 1e-8, in the quadratic mean
MOST_LAST_STEPS = 25  # scoring with a link that is not canonical gains a digit in a step or two


Search = Callable[[SearchProblem, Array, Limits], Found]


def solve(
    problem: SearchProblem,
    start: Array,
    *,
    solver: str | StochasticDescent = "auto",
    tol: float = 1e-8,
    max_iter: int = 1000,
    last: Array | None = None,
    stop: StoppingRule | None = None,
) -> Found:
    """Minimise from ``start`` by the named solver, or by a suitable one.

    ``last``, the end of another search, is near the optimum, so no subset of rows is used first.
    Nor are they if a rule is given to ``stop`` the search, which counts steps from the start.
    """
    check_search(tol, max_iter)
    name, entry = _entry(problem.shape, solver)
    if problem.shape.rough and entry.smooth_only:
        raise InvalidInput(
            f"solver={name!r} needs a smooth objective; l1 > 0 and groups are not "
            "differentiable at 0. Use solver='proximal-newton', or leave it at 'auto'."
        )
    begin, limits = start if last is None else last, Limits(tol, max_iter, stop)
    with np.errstate(over="ignore", invalid="ignore"):  # a step too far is infinite, and halved
        if last is None and stop is None and entry.from_some_rows:
            begin = start_on_some_rows(problem, start)
        found = with_curvature(problem, start, entry.run(problem, begin, limits))
        # some rows, or those of the last fit, may lead to a point without curvature
        end = found.solution
        stuck = not end.converged and not end.stopped and end.n_iter < max_iter
        if begin is not start and stuck:
            found = with_curvature(problem, start, entry.run(problem, start, limits))
    return found


def _entry(shape: Shape, solver: str | StochasticDescent) -> tuple[str, "NamedSolver"]:
    """The name of a solver, and how it is run."""
    if isinstance(solver, str):
        name = choose(shape) if solver == "auto" else known_name("solver", solver, SOLVERS)
        return name, SOLVERS[name]
    return solver_name(solver), _in_batches(solver)


class LastDigits(NamedTuple):
    """The gaps at which standard errors are computed."""

    aim: float
    all_digits: float  # below, a further step is rounding
    enough: float
    tol: float  # will do where the other digits are lost in rounding

    @classmethod
    def of(cls, problem: SearchProblem, tol: float) -> "LastDigits":
        enough = min(tol, DECREMENT * problem.nat)
        n, p = problem.n_rows, problem.shape.n_parameters
        all_digits = last = ALL_DIGITS * n / p
        if n * p**2 > CHEAP_PASS:
            last = min(LAST_STEP, LAST_STEP_OF_A_ROW * n)
        if has_few_rows(problem):
            all_digits *= SMALLEST_SHARE
        aim = min(enough, last * problem.nat)
        return cls(aim, min(aim, all_digits * problem.nat), enough, tol)

    def one_more(self, gap: float) -> bool:
        """Whether a step that is not evaluated is worth taking, and the Hessian stays the same."""
        return self.all_digits < gap <= self.aim

    def settled(self, solution: Solution) -> Solution:
        """The solution, converged if its gap is small enough, also if rounding stopped it."""
        rounded = solution.reason in (NO_FURTHER_DIGITS, NO_LOWER_VALUE)
        if solution.converged or not solution.gap <= (self.tol if rounded else self.enough):
            return solution
        return replace(solution, converged=True, reason=f"the gap is {solution.gap:.1e}")


def finish(
    problem: SearchProblem, start: Array, found: Found, *, tol: float, max_iter: int
) -> Found:
    """Refine to a Newton decrement of 1e-10 nats or less, for weights of mean 1; with the Hessian.

    From a converged search this takes one or two Newton steps.  The last is so short that the
    Hessian at its start is also that at its end.
    """
    shape, wanted = problem.shape, LastDigits.of(problem, tol)
    unfinished = not found.solution.converged or found.solution.stopped
    if unfinished or (shape.rough and not shape.has_working_sets):
        return found
    left = min(max_iter - found.solution.n_iter, MOST_LAST_STEPS)
    near = found.solution.gap <= wanted.aim
    if found.hessian is not None and (left < 1 or near):
        unseen = wanted.one_more(found.solution.gap)
        theta = found.theta if unseen else found.solution.theta  # where the Hessian is
        return found._replace(theta=theta, solution=replace(found.solution, theta=theta))
    run = SOLVERS["proximal-newton"].run if shape.rough else _evaluated_newton
    with np.errstate(over="ignore", invalid="ignore"):
        limits = Limits(wanted.aim, max(left - 1, 0))
        there = run(problem, found.theta, limits)
        before, first = found.solution.trace[-1], there.solution.trace[0]
        if not first <= before + problem.objective.rounding(before):  # the step taken unseen
            there = run(problem, found.solution.theta, limits)
    there = there._replace(solution=wanted.settled(there.solution))
    end = with_curvature(problem, start, there).solution
    limited = end.reason.startswith("max_iter=") and left == MOST_LAST_STEPS  # not by the user
    if limited and not end.converged and end.gap <= tol:
        end = replace(end, converged=True)
    reason = end.reason
    if end.converged:
        reason = f"the gap {end.gap:.1e} is within tol={tol:g}"
    elif reason.startswith("max_iter="):
        reason = f"max_iter={max_iter} was reached with a gap of {end.gap:.1e}"
    trace = found.solution.trace + end.trace
    theta = there.theta
    if not shape.rough and there.direction is not None and wanted.one_more(end.gap):
        theta = theta + there.direction
    solution = replace(end, theta=theta, reason=reason, trace=trace, solver=found.solution.solver)
    return found._replace(
        theta=theta,
        solution=solution,
        hessian=there.hessian,
        direction=there.direction,
        least_pivot=there.least_pivot,
    )


def choose(shape: Shape) -> str:
    """The name of the solver that suits the penalty and the shape."""
    if shape.rough:
        single = shape.corners and not shape.groups
        if single and not shape.hessian_is_affordable and shape.has_columns:
            return "coordinate-descent"
        return "proximal-newton" if shape.has_working_sets else "fista"
    if shape.hessian_is_affordable:
        return "newton"
    return "dual-coordinate-descent" if shape.has_dual else "lbfgs"


def is_auto(solver: str | StochasticDescent) -> bool:
    return isinstance(solver, str) and solver == "auto"


def solver_name(solver: str | StochasticDescent) -> str:
    """The name as it is listed, of a search or of a closed form."""
    if isinstance(solver, str):
        return known_name("solver", solver, ("auto", *SOLVERS, *CLOSED_FORMS))
    if isinstance(solver, StochasticDescent):
        return "sgd"
    raise InvalidInput(
        f"solver={solver!r} was given; a name was expected, one of {', '.join(SOLVERS)}, or a "
        "StochasticDescent. Use solver='auto'."
    )


def choose_closed_form(
    solver: str | StochasticDescent,
    *,
    rough: bool,
    n_columns: int,
    stop: StoppingRule | None = None,
) -> bool:
    """Whether least squares has a closed form that was requested or is faster."""
    solver = solver_name(solver)
    if solver in CLOSED_FORMS and stop is not None:
        raise InvalidInput(
            f"solver={solver!r} was given with stop={stop!r}; a closed form has no steps to stop. "
            "Use solver='auto' or 'newton', or leave stop out."
        )
    if solver in CLOSED_FORMS and rough:
        raise InvalidInput(
            f"solver={solver!r} was given with l1 > 0 or groups, which have no closed form. "
            "Use solver='auto', or l2 alone."
        )
    pays = solver == "auto" and stop is None and not rough and n_columns <= MOST_FOR_GRAM
    return solver in CLOSED_FORMS or pays


def check_search(tol: float, max_iter: int) -> None:
    """Refuse an invalid tolerance or number of steps."""
    if not (isinstance(tol, float | int) and tol > 0):
        raise InvalidInput(f"tol is {tol!r}; it must be a number above 0. Use 1e-8.")
    if not (isinstance(max_iter, int | np.integer) and max_iter >= 1):
        raise InvalidInput(
            f"max_iter is {max_iter!r}; it must be a whole number from 1 up. Use 1000."
        )


def with_curvature(problem: SearchProblem, start: Array, found: Found) -> Found:
    """The search with the columns fixed from the start; not converged where others are fixed too.

    Those could move at the start, so no other column explains them: their curvature has vanished.
    """
    if not found.held:
        return found
    hessian = problem.on_start_rows.second_order(start).hessian
    redundant = factorise(hessian, first=problem.intercepts).held
    faded = sorted(set(found.held) - set(redundant))
    solution = found.solution
    if faded and solution.converged:
        reason = without_curvature(faded[0])
        solution = replace(solution, converged=False, reason=reason, gap=inf)
    return found._replace(held=tuple(sorted(set(found.held) - set(faded))), solution=solution)


def has_few_rows(problem: SearchProblem) -> bool:
    """Whether this may be a table, whose rows have weights that differ by millions."""
    return problem.n_rows * problem.shape.n_parameters**2 <= FEW


def hessian_at(problem: SearchProblem, found: Found) -> Array:
    """∇² of the smooth part at the end of a search: known, or one more pass.

    What is known is that before the last step, which may be long for a group with a small share of
    the weight.  A table of few rows is read again.
    """
    if found.hessian is None or (found.solution.converged and has_few_rows(problem)):
        return np.asarray(problem.objective.second_order(found.theta).hessian)
    return found.hessian


def _newton(problem: SearchProblem, start: Array, limits: Limits) -> Found:
    found = _evaluated_newton(problem, start, limits)
    if found.direction is None or not found.solution.converged:
        return found
    # the step from the point that converged is known already, and costs almost nothing
    return found._replace(theta=found.theta + found.direction)


def _evaluated_newton(problem: SearchProblem, start: Array, limits: Limits) -> Found:
    n = problem.shape.n_parameters
    if n > MOST_AT_ALL:
        raise InvalidInput(
            f"solver='newton' was given for {n:,} coefficients, whose Hessian would take "
            f"{8e-9 * n**2:.0f} GB. Leave solver at 'auto', or use 'lbfgs'."
        )
    solver = Newton(problem.intercepts)
    solution, state = _searched(solver, problem.objective, start, limits, problem.held_out)
    least = 0.0 if state.held else state.least_pivot
    return Found(state.theta, solution, state.hessian, state.held, state.direction, least)


def _lbfgs(problem: SearchProblem, start: Array, limits: Limits) -> Found:
    """A search in rounds, each in units computed at its start; most problems have one round.

    A rule that stops a search counts steps from the start, so there is one round.
    """
    max_iter, asked = limits.max_iter, limits.stop is not None
    theta, trace = start if asked else problem.near(start), tuple[float, ...]()
    while True:
        solver = LBFGS(preconditioner=problem.units(theta))
        left = max_iter - max(len(trace) - 1, 0)
        steps = left if asked else min(problem.steps_between_units or left, left)
        within = limits._replace(max_iter=steps)
        solution, state = _searched(solver, problem.objective, theta, within, problem.held_out)
        theta, trace = state.theta, trace[:-1] + solution.trace
        if solution.converged or solution.stopped or state.stuck or len(trace) > max_iter:
            return Found(theta, _whole(solution, state, trace, max_iter), None)


def _whole(solution: Solution, state: State, trace: tuple[float, ...], max_iter: int) -> Solution:
    """The rounds of a search as one solution."""
    reason = solution.reason
    if not solution.converged and not solution.stopped and not state.stuck:
        reason = f"max_iter={max_iter} was reached with a gap of {solution.gap:.1e}"
    return replace(solution, trace=trace, reason=reason)


def _fista(problem: SearchProblem, start: Array, limits: Limits) -> Found:
    """In units of the curvature at the start, where they are known."""
    units, loss, objective = problem.single_units(start), problem.held_out, problem.objective
    if units is None:
        solution, state = _searched(FISTA(), objective, start, limits, loss)
        return Found(state.theta, solution, None)
    held_out = None if loss is None else lambda phi: loss(phi / units)
    inner = InUnits(objective, units)
    solution, state = _searched(FISTA(), inner, units * start, limits, held_out)
    theta = state.theta / units
    return Found(theta, replace(solution, theta=theta), None)


def _searched(
    solver: Any, objective: Any, start: Array, limits: Limits, held_out: HeldOutLoss | None
) -> tuple[Solution, Any]:
    return search(
        solver,
        objective,
        start,
        tol=limits.tol,
        max_iter=limits.max_iter,
        stop=limits.stop,
        held_out=held_out,
    )


def _on_data(
    solver: Any, objective: Any, problem: SearchProblem, start: Array, limits: Limits
) -> Found:
    """A solver that reads the original rows or columns: θ is converted both ways."""
    loss = problem.held_out
    held_out = None if loss is None else lambda theta: loss(problem.from_data(theta))
    solution, state = _searched(solver, objective, problem.to_data(start), limits, held_out)
    problem.count_passes(float(solution.n_iter + 1))
    theta = problem.from_data(state.theta)
    return Found(theta, replace(solution, theta=theta), None)


@final
@dataclass(frozen=True, eq=False)
class NamedSolver:
    """An entry of ``SOLVERS``: the algorithm, and how a problem runs it."""

    solver: Solver[Any, Any]
    smooth_only: bool = False
    from_some_rows: bool = False  # which benefits from a start near the optimum
    door: Callable[[SearchProblem], Any] | None = None  # to the data, where totals are not enough
    own_run: Search | None = None
    exact: bool = True  # whether it can reach any tol; batches of rows cannot

    def run(self, problem: SearchProblem, start: Array, limits: Limits) -> Found:
        if self.own_run is not None:
            return self.own_run(problem, start, limits)
        if self.door is not None:
            return _on_data(self.solver, self.door(problem), problem, start, limits)
        objective, held_out = problem.objective, problem.held_out
        solution, state = _searched(self.solver, objective, start, limits, held_out)
        return Found(state.theta, solution, None)


def _in_batches(solver: StochasticDescent) -> NamedSolver:
    """An entry for stochastic descent, which reads rows and may have any penalty."""
    return NamedSolver(
        solver,
        door=lambda problem: problem.batches,
        own_run=partial(search_in_batches, solver),
        exact=False,
    )


SOLVERS: dict[str, NamedSolver] = {
    "newton": NamedSolver(Newton(), smooth_only=True, from_some_rows=True, own_run=_newton),
    "lbfgs": NamedSolver(LBFGS(), smooth_only=True, own_run=_lbfgs),
    "gradient-descent": NamedSolver(GradientDescent(), smooth_only=True),
    "proximal-newton": NamedSolver(ProximalNewton()),
    "fista": NamedSolver(FISTA(), own_run=_fista),
    "coordinate-descent": NamedSolver(CoordinateDescent(), door=lambda problem: problem.columns()),
    "dual-coordinate-descent": NamedSolver(
        DualCoordinateDescent(), smooth_only=True, door=lambda problem: problem.dual()
    ),
    "sgd": _in_batches(StochasticDescent(schedule="cosine", epochs=50, average=True)),
}
