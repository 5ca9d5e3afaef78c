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
from math import inf, isfinite
from typing import Any, NamedTuple, cast, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.names import known_name
from likely.numerics.cholesky import factorise
from likely.solvers.base import (
    FirstOrderObjective,
    SecondOrder,
    SmoothObjective,
    Solver,
    State,
    without_curvature,
)
from likely.solvers.coordinate_descent import CoordinateDescent
from likely.solvers.dual_coordinate_descent import DualCoordinateDescent
from likely.solvers.gradient_descent import GradientDescent
from likely.solvers.lbfgs import LBFGS
from likely.solvers.line_search import NO_FURTHER_DIGITS, NO_LOWER_VALUE
from likely.solvers.minimise import Solution, search
from likely.solvers.newton import Newton
from likely.solvers.proximal import FISTA, InUnits
from likely.solvers.proximal_newton import ProximalNewton
from likely.solvers.search_problem import Found, Limits, SearchProblem, WholeObjective
from likely.solvers.stochastic import StochasticDescent, search_in_batches
from likely.solvers.stopping import HasUnit, StoppingRule, rounding_of
from likely.solvers.tolerances import (
    ALL_DIGITS,
    CHEAP_PASS,
    DECREMENT,
    FEW,
    LAST_STEP,
    LAST_STEP_OF_A_ROW,
    MOST_FOR_GRAM,
    MOST_LAST_STEPS,
    SMALLEST_SHARE,
)

MOST_FOR_NEWTON = 2000  # parameters: a factorisation of that size costs as much as a pass
MOST_OF_SEVERAL = 1500  # parameters of several predictors
ALWAYS_NEWTON = 200  # parameters of several predictors
WORK_OF_NEWTON = 5e8  # multiplications in one Hessian: beyond, L-BFGS is done before
ALWAYS_PAIRS = 20  # predictors
WORK_OF_PAIRS = 2e7  # rows times pairs of predictors: beyond, L-BFGS is done before
MOST_FOR_WORKING_SETS = 5000  # parameters of several predictors
CLOSED_FORMS = ("normal-equations", "qr", "minimum-norm")  # of least squares
MOST_AT_ALL = 10_000  # parameters of a Newton search that was asked for
Search = Callable[[Any, SearchProblem, Array, Limits], Found]  # of a solver, from a start
START_TOL = 1e-3  # of a search on some rows: their optimum is not nearer to that of all rows
START_STEPS = 20
START_PULL = 0.01  # of the curvature: less than some rows err by, enough where they are separated


class Shape(NamedTuple):
    """What the rules of "auto" use."""

    n_parameters: int
    n_rows: float = inf
    n_predictors: int = 1  # with parameters of their own, as the classes of softmax regression
    rough: bool = False  # whether the penalty is not smooth
    corners: bool = False  # whether it has corners at 0, as l1 has
    groups: bool = False  # whether it has groups of coefficients
    has_columns: bool = False  # whether columns of numbers are in memory
    has_dual: bool = False  # whether it is logistic regression with one ridge on sparse rows

    @property
    def hessian_is_affordable(self) -> bool:
        """With several predictors it has a block for each pair, and costs more than a gradient."""
        n, k = self.n_parameters, self.n_predictors
        if k == 1:
            return n <= MOST_FOR_NEWTON
        if k > ALWAYS_PAIRS and self.n_rows * k**2 > WORK_OF_PAIRS:
            return False
        return n <= ALWAYS_NEWTON or (n <= MOST_OF_SEVERAL and self.n_rows * n**2 <= WORK_OF_NEWTON)

    @property
    def has_working_sets(self) -> bool:
        """Whether proximal Newton can model the penalty, with a Hessian of the active columns."""
        few = self.n_predictors == 1 or self.n_parameters <= MOST_FOR_WORKING_SETS
        return (self.corners or self.groups) and few


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
        found = entry.run(entry.solver, problem, begin, limits)
        found = with_curvature(problem, start, found)
        # some rows, or those of the last fit, may lead to a point without curvature
        end = found.solution
        stuck = not end.converged and not end.stopped and end.n_iter < max_iter
        if begin is not start and stuck:
            found = entry.run(entry.solver, problem, start, limits)
            found = with_curvature(problem, start, found)
    return found


def _entry(shape: Shape, solver: str | StochasticDescent) -> tuple[str, "NamedSolver"]:
    """The name of a solver, and how it is run."""
    if isinstance(solver, str):
        name = choose(shape) if solver == "auto" else known_name("solver", solver, SOLVERS)
        return name, SOLVERS[name]
    return solver_name(solver), _in_batches(solver)


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
    solver: Solver[Any, Any] = ProximalNewton() if shape.rough else Newton()
    run: Search = _on_totals if shape.rough else _evaluated_newton
    with np.errstate(over="ignore", invalid="ignore"):
        limits = Limits(wanted.aim, max(left - 1, 0))
        there = run(solver, problem, found.theta, limits)
        before, first = found.solution.trace[-1], there.solution.trace[0]
        if not first <= before + rounding_of(problem.objective, before):  # the step taken unseen
            there = run(solver, problem, found.solution.theta, limits)
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


def _on_totals(
    solver: Solver[Any, Any], problem: SearchProblem, start: Array, limits: Limits
) -> Found:
    objective, held_out = problem.objective, problem.held_out
    solution, state = search(solver, objective, start, **limits._asdict(), held_out=held_out)
    return Found(state.theta, solution, None)


def _newton(solver: Newton, problem: SearchProblem, start: Array, limits: Limits) -> Found:
    found = _evaluated_newton(solver, problem, start, limits)
    if found.direction is None or not found.solution.converged:
        return found
    # the step from the point that converged is known already, and costs almost nothing
    return found._replace(theta=found.theta + found.direction)


def _evaluated_newton(
    solver: Newton, problem: SearchProblem, start: Array, limits: Limits
) -> Found:
    n = problem.shape.n_parameters
    if n > MOST_AT_ALL:
        raise InvalidInput(
            f"solver='newton' was given for {n:,} coefficients, whose Hessian would take "
            f"{8e-9 * n**2:.0f} GB. Leave solver at 'auto', or use 'lbfgs'."
        )
    solver, objective = replace(solver, intercepts=problem.intercepts), problem.objective
    held_out = problem.held_out
    solution, state = search(solver, objective, start, **limits._asdict(), held_out=held_out)
    least = 0.0 if state.held else state.least_pivot
    return Found(state.theta, solution, state.hessian, state.held, state.direction, least)


def _lbfgs(solver: LBFGS, problem: SearchProblem, start: Array, limits: Limits) -> Found:
    """A search in rounds, each in units computed at its start; most problems have one round.

    A rule that stops a search counts steps from the start, so there is one round.
    """
    max_iter, asked = limits.max_iter, limits.stop is not None
    theta, trace = start if asked else problem.near(start), tuple[float, ...]()
    while True:
        solver = replace(solver, preconditioner=problem.units(theta))
        left = max_iter - max(len(trace) - 1, 0)
        steps = left if asked else min(problem.steps_between_units or left, left)
        solution, state = search(
            solver,
            cast(FirstOrderObjective, problem.objective),  # which has value and first_order
            theta,
            tol=limits.tol,
            max_iter=steps,
            stop=limits.stop,
            held_out=problem.held_out,
        )
        theta, trace = state.theta, trace[:-1] + solution.trace
        if solution.converged or solution.stopped or state.stuck or len(trace) > max_iter:
            return Found(theta, _whole(solution, state, trace, max_iter), None)


def _whole(solution: Solution, state: State, trace: tuple[float, ...], max_iter: int) -> Solution:
    """The rounds of a search as one solution."""
    reason = solution.reason
    if not solution.converged and not solution.stopped and not state.stuck:
        reason = f"max_iter={max_iter} was reached with a gap of {solution.gap:.1e}"
    return replace(solution, trace=trace, reason=reason)


def _fista(solver: FISTA, problem: SearchProblem, start: Array, limits: Limits) -> Found:
    """In units of the curvature at the start, where they are known."""
    units, loss, objective = problem.single_units(start), problem.held_out, problem.objective
    if units is None:
        return _on_totals(solver, problem, start, limits)
    held_out = None if loss is None else lambda phi: loss(phi / units)
    inner = InUnits(objective, units, objective.unit)
    solution, state = search(solver, inner, units * start, **limits._asdict(), held_out=held_out)
    theta = state.theta / units
    return Found(theta, replace(solution, theta=theta), None)


def _on_columns(
    solver: CoordinateDescent, problem: SearchProblem, start: Array, limits: Limits
) -> Found:
    return _on_data(solver, problem.columns(), problem, start, limits)


def _on_rows(
    solver: DualCoordinateDescent, problem: SearchProblem, start: Array, limits: Limits
) -> Found:
    return _on_data(solver, problem.dual(), problem, start, limits)


def _on_data(
    solver: Solver[Any, Any],
    objective: HasUnit,
    problem: SearchProblem,
    start: Array,
    limits: Limits,
) -> Found:
    """A solver that reads the original rows or columns: θ is converted both ways."""
    loss = problem.held_out
    held_out = None if loss is None else lambda theta: loss(problem.from_data(theta))
    begin = problem.to_data(start)
    solution, state = search(solver, objective, begin, **limits._asdict(), held_out=held_out)
    problem.count_passes(float(solution.n_iter + 1))
    theta = problem.from_data(state.theta)
    return Found(theta, replace(solution, theta=theta), None)


@final
@dataclass(frozen=True, eq=False)
class NamedSolver:
    """An entry of ``SOLVERS``: the algorithm, and how a problem runs it."""

    solver: Solver[Any, Any]
    run: Search = _on_totals
    smooth_only: bool = False
    from_some_rows: bool = False  # which benefits from a start near the optimum
    on_totals: bool = True  # whether it reads no rows or columns, but totals over them
    exact: bool = True  # whether it can reach any tol; batches of rows cannot


def _in_batches(solver: StochasticDescent) -> NamedSolver:
    """An entry for stochastic descent, which reads rows and may have any penalty."""
    return NamedSolver(solver, search_in_batches, on_totals=False, exact=False)


SOLVERS: dict[str, NamedSolver] = {
    "newton": NamedSolver(Newton(), _newton, smooth_only=True, from_some_rows=True),
    "lbfgs": NamedSolver(LBFGS(), _lbfgs, smooth_only=True),
    "gradient-descent": NamedSolver(GradientDescent(), smooth_only=True),
    "proximal-newton": NamedSolver(ProximalNewton()),
    "fista": NamedSolver(FISTA(), _fista),
    "coordinate-descent": NamedSolver(CoordinateDescent(), _on_columns, on_totals=False),
    "dual-coordinate-descent": NamedSolver(
        DualCoordinateDescent(), _on_rows, smooth_only=True, on_totals=False
    ),
    "sgd": _in_batches(StochasticDescent(schedule="cosine", epochs=50, average=True)),
}


@final
@dataclass(frozen=True, eq=False)
class Pulled(SmoothObjective):
    """f(θ) + ½ Σ_j s_j (θ_j − θ⁰_j)²: a subset of rows may be separated."""

    objective: WholeObjective
    start: Array
    strength: Array
    unit: float | None = None

    def second_order(self, theta: Array) -> SecondOrder:
        here, move = self.objective.second_order(theta), theta - self.start
        pull = self.strength * move
        return SecondOrder(
            here.value + float(np.dot(pull, move)) / 2,
            here.gradient + pull,
            here.hessian + np.diag(self.strength),
        )


def start_on_some_rows(problem: SearchProblem, start: Array) -> Array:
    """The optimum for the rows to start from, or ``start`` if they have none."""
    if problem.share == 1.0:
        return start
    some = problem.on_start_rows
    curvature = np.diag(some.second_order(start).hessian)
    if not np.isfinite(curvature).all():
        return start
    pulled = Pulled(some, start, START_PULL * curvature, some.unit)
    solution, state = search(Newton(), pulled, start, tol=START_TOL / 10, max_iter=START_STEPS)
    usable = solution.converged and isfinite(state.value) and np.isfinite(state.theta).all()
    return state.theta if usable else start
