"""Which solver a linear model gets, and the search itself.

    l1 = 0, up to 2,000 coefficients   Newton: one pass a step, standard errors for free
    l1 = 0, more                       L-BFGS
    l1 > 0                             proximal Newton: totals on a working set
    any other penalty                  FISTA

A search on many rows starts from the optimum of some of them: the Newton steps that remain are
quadratic, so two or three passes over all rows end it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any, NamedTuple, Protocol, final

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor
from likely.errors import InvalidInput
from likely.linear.framing import Framed
from likely.names import lookup
from likely.objectives.linear import LinearObjective, Loss
from likely.penalties import L1, ElasticNet, Penalty
from likely.solvers.factor import factorise
from likely.solvers.gradient_descent import GradientDescent
from likely.solvers.lbfgs import LBFGS
from likely.solvers.minimise import Solution, search
from likely.solvers.newton import Newton
from likely.solvers.preconditioners import Triangular, robust_factor
from likely.solvers.proximal import FISTA
from likely.solvers.proximal_newton import ProximalNewton

MOST_FOR_NEWTON = 2000  # coefficients: a factorisation of that size costs as much as a pass
START_TOL = 1e-3  # of a search on some rows: their optimum is no nearer to that of all rows
START_STEPS = 20


class Found(NamedTuple):
    """Where a search ended, in the units of the framed design."""

    theta: Array
    solution: Solution
    hessian: Array | None  # of the smooth part there, if the solver knows it
    held: tuple[int, ...] = ()  # columns that earlier ones explain
    direction: Array | None = None  # the next Newton step, if the solver knows it


class Problem(Protocol):
    """A model to fit: what is minimised, on which rows."""

    @property
    def penalty(self) -> Penalty:
        """One strength per parameter of the framed design."""

    @property
    def data(self) -> Framed: ...

    @property
    def objective(self) -> Any: ...

    @property
    def on_start_rows(self) -> Any:
        """The objective on the rows to start from, with a penalty of their share."""


@final
@dataclass(frozen=True, eq=False)
class LinearProblem:
    """One likelihood and one predictor."""

    loss: Loss
    penalty: Penalty
    data: Framed
    executor: Executor

    @property
    def objective(self) -> LinearObjective:
        return LinearObjective(self.loss, self.penalty, self.data.blocks, self.executor)

    @property
    def on_start_rows(self) -> LinearObjective:
        penalty = scaled(self.penalty, self.data.share)
        return LinearObjective(self.loss, penalty, self.data.start, self.executor)


def scaled(penalty: Penalty, share: float) -> Penalty:
    """The penalty of a part of the rows."""
    if isinstance(penalty, ElasticNet):
        return ElasticNet(np.asarray(penalty.l1) * share, np.asarray(penalty.l2) * share)
    return penalty


Search = Callable[[Problem, Array, float, int], Found]


def solve(
    problem: Problem,
    start: Array,
    *,
    solver: str = "auto",
    tol: float = 1e-8,
    max_iter: int = 1000,
    near: bool = False,
) -> Found:
    """Minimise from ``start`` by the solver of that name, or by the one that suits.

    ``near`` says that the start is near the optimum, so that no rows need be tried first.
    """
    check_search(tol, max_iter)
    name = choose(problem) if solver == "auto" else solver
    run = lookup("solver", name, SOLVERS)
    begin = start
    if not near and name in FROM_SOME_ROWS:
        begin = start_on_some_rows(problem, start)
    found = run(problem, begin, tol, max_iter)
    return found._replace(held=_held_from_the_start(problem, start, found.held))


def _held_from_the_start(problem: Problem, start: Array, held: tuple[int, ...]) -> tuple[int, ...]:
    """Of the columns held at the end those that were at the start: separation fades others."""
    if not held:
        return held
    hessian = problem.on_start_rows.second_order(start).hessian
    return tuple(sorted(set(held) & set(factorise(hessian).held)))


def choose(problem: Problem) -> str:
    """The name of the solver that suits the penalty and the shape."""
    rough = problem.penalty.rough()
    if rough.value(np.ones(problem.data.framing.n_parameters)) > 0:
        return "proximal-newton" if isinstance(rough, L1) else "fista"
    return "newton" if problem.data.framing.n_parameters <= MOST_FOR_NEWTON else "lbfgs"


def check_search(tol: float, max_iter: int) -> None:
    if not (isinstance(tol, float | int) and tol > 0):
        raise InvalidInput(f"tol is {tol!r}; it must be a number above 0. Use 1e-8.")
    if not (isinstance(max_iter, int | np.integer) and max_iter >= 1):
        raise InvalidInput(
            f"max_iter is {max_iter!r}; it must be a whole number from 1 up. Use 1000."
        )


def _newton(problem: Problem, start: Array, tol: float, max_iter: int) -> Found:
    _refuse_rough("newton", problem)
    solution, state = search(Newton(), problem.objective, start, tol=tol, max_iter=max_iter)
    # the step from the point that converged is known already, and as good as free
    theta = state.theta + state.direction if solution.converged else state.theta
    return Found(theta, solution, state.hessian, state.held, state.direction)


def start_on_some_rows(problem: Problem, start: Array) -> Array:
    """The optimum of the rows to start from, or ``start`` where they have none."""
    if problem.data.share == 1.0:
        return start
    with np.errstate(over="ignore", invalid="ignore"):  # a few rows may be separated
        solution, state = search(
            Newton(), problem.on_start_rows, start, tol=START_TOL / 10, max_iter=START_STEPS
        )
    usable = solution.converged and isfinite(state.value) and np.isfinite(state.theta).all()
    return state.theta if usable else start


def _lbfgs(problem: Problem, start: Array, tol: float, max_iter: int) -> Found:
    _refuse_rough("lbfgs", problem)
    preconditioner = None
    if problem.data.framing.n_parameters <= MOST_FOR_NEWTON:
        hessian = problem.on_start_rows.second_order(start).hessian / problem.data.share
        preconditioner = Triangular(robust_factor(hessian))
    solver = LBFGS(preconditioner=preconditioner)
    return _plain(solver, problem, start, tol, max_iter)


def _descent(problem: Problem, start: Array, tol: float, max_iter: int) -> Found:
    _refuse_rough("gradient-descent", problem)
    return _plain(GradientDescent(), problem, start, tol, max_iter)


def _plain(solver: Any, problem: Problem, start: Array, tol: float, max_iter: int) -> Found:
    solution, state = search(solver, problem.objective, start, tol=tol, max_iter=max_iter)
    return Found(state.theta, solution, None)


SOLVERS: dict[str, Search] = {
    "newton": _newton,
    "lbfgs": _lbfgs,
    "gradient-descent": _descent,
    "proximal-newton": partial(_plain, ProximalNewton()),
    "fista": partial(_plain, FISTA()),
}


FROM_SOME_ROWS = {"newton"}  # whose steps are worth more the nearer they start


def _refuse_rough(name: str, problem: Problem) -> None:
    rough = problem.penalty.rough()
    if rough.value(np.ones(problem.data.framing.n_parameters)) > 0:
        raise InvalidInput(
            f"solver={name!r} needs a smooth objective; l1 > 0 has a corner at 0. "
            "Use solver='proximal-newton', or leave it at 'auto'."
        )


def hessian_at(problem: Problem, found: Found) -> Array:
    """∇² of the smooth part at the end of a search: known, or one more pass."""
    if found.hessian is not None:
        return found.hessian
    return np.asarray(problem.objective.second_order(found.theta).hessian)
