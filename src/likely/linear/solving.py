"""Which solver a linear model gets, and the search itself.

    l1 = 0, up to 2,000 coefficients   Newton: one pass a step, standard errors for free
    l1 = 0, more                       L-BFGS; sparse logistic rows in memory: the dual
    l1 > 0                             proximal Newton: totals on a working set
    l1 > 0, more, in memory            coordinate descent on columns
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
from likely.cholesky import factorise
from likely.compute.executor import Executor
from likely.data.block import ArrayBlocks
from likely.data.layouts.intercept import Csr, Dense
from likely.errors import InvalidInput, UnsupportedAccess
from likely.likelihoods.bernoulli import BernoulliLogit
from likely.linear.framing import Framed
from likely.names import lookup
from likely.objectives.columns import Columns as ColumnsInMemory
from likely.objectives.linear import LinearObjective, Loss
from likely.objectives.rows import Rows
from likely.penalties import ElasticNet, Penalty
from likely.solvers.base import SecondOrder, SmoothObjective
from likely.solvers.coordinate_descent import CoordinateDescent
from likely.solvers.dual_coordinate_descent import DualCoordinateDescent
from likely.solvers.gradient_descent import GradientDescent
from likely.solvers.lbfgs import LBFGS
from likely.solvers.minimise import Solution, search
from likely.solvers.newton import Newton
from likely.solvers.preconditioners import Triangular, robust_factor
from likely.solvers.proximal import FISTA
from likely.solvers.proximal_newton import ProximalNewton

MOST_FOR_NEWTON = 2000  # coefficients: a factorisation of that size costs as much as a pass
MOST_AT_ALL = 10_000  # coefficients of a Newton search that was asked for
START_TOL = 1e-3  # of a search on some rows: their optimum is no nearer to that of all rows
START_STEPS = 20
START_PULL = 0.01  # of the curvature: less than some rows err by, enough where they are separated


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
        penalty = self.penalty.scaled(self.data.share)
        return LinearObjective(self.loss, penalty, self.data.start, self.executor)


Search = Callable[[Any, Array, float, int], Found]  # of a kind of problem


def solve(
    problem: Problem,
    start: Array,
    *,
    solver: str = "auto",
    tol: float = 1e-8,
    max_iter: int = 1000,
    last: Array | None = None,
) -> Found:
    """Minimise from ``start`` by the solver of that name, or by the one that suits.

    ``last``, where another search ended, is near the optimum, so that no rows need be tried first.
    """
    check_search(tol, max_iter)
    name = choose(problem) if solver == "auto" else solver
    run = lookup("solver", name, SOLVERS)
    begin = start if last is None else last
    with np.errstate(over="ignore", invalid="ignore"):  # a step too far is infinite, and halved
        if last is None and name in FROM_SOME_ROWS:
            begin = start_on_some_rows(problem, start)
        return from_either(run, problem, begin, start, tol, max_iter)


def from_either(
    run: Search, problem: Any, begin: Array, start: Array, tol: float, max_iter: int
) -> Found:
    """The search from ``begin``, or from ``start`` where that one got stuck.

    Some rows, or those of the last fit, may lead to where the curvature of all has vanished.
    """
    found = run(problem, begin, tol, max_iter)
    if begin is not start and not found.solution.converged and found.solution.n_iter < max_iter:
        found = run(problem, start, tol, max_iter)
    return found._replace(held=held_from_the_start(problem, start, found.held))


def held_from_the_start(problem: Problem, start: Array, held: tuple[int, ...]) -> tuple[int, ...]:
    """Of the columns held at the end those that were at the start: separation fades others."""
    if not held:
        return held
    hessian = problem.on_start_rows.second_order(start).hessian
    first = int(problem.data.framing.intercept)
    return tuple(sorted(set(held) & set(factorise(hessian, first=first).held)))


def choose(problem: Problem) -> str:
    """The name of the solver that suits the penalty and the shape."""
    few = problem.data.framing.n_parameters <= MOST_FOR_NEWTON
    if is_rough(problem):
        if not problem.penalty.corners(problem.data.framing.n_parameters).any():
            return "fista"
        return "coordinate-descent" if not few and columns_at_hand(problem) else "proximal-newton"
    if few:
        return "newton"
    return "dual-coordinate-descent" if has_dual(problem) else "lbfgs"


def is_rough(problem: Problem) -> bool:
    """Whether the penalty has a corner at 0."""
    return problem.penalty.rough().value(np.ones(problem.data.framing.n_parameters)) > 0


def columns_at_hand(problem: Problem) -> bool:
    """Whether the data are in memory, as numbers, and the intercept is free."""
    rows, intercept = problem.data.rows, problem.data.framing.intercept
    plain = isinstance(rows, ArrayBlocks) and isinstance(rows.X, Dense | Csr)
    return plain and (not intercept or _last_is_free(problem))


def has_dual(problem: Problem) -> bool:
    """Whether this is logistic regression with one ridge for all, on sparse rows in memory."""
    rows = problem.data.rows
    sparse = isinstance(rows, ArrayBlocks) and isinstance(rows.X, Csr)
    logistic = isinstance(problem, LinearProblem) and isinstance(problem.loss, BernoulliLogit)
    return sparse and logistic and columns_at_hand(problem) and _ridge(problem) is not None


def _last_is_free(problem: Problem) -> bool:
    last = np.zeros(problem.data.framing.n_parameters)
    last[-1] = 1.0
    return problem.penalty.value(last) == 0


def _ridge(problem: Problem) -> float | None:
    """The strength that all coefficients share, if they do and it is above 0."""
    n = problem.data.framing.n_coefficients
    strengths = problem.penalty.curvature(np.zeros(problem.data.framing.n_parameters))[:n]
    shared = strengths.size > 0 and strengths[0] > 0 and bool((strengths == strengths[0]).all())
    return float(strengths[0]) if shared else None


def check_search(tol: float, max_iter: int) -> None:
    if not (isinstance(tol, float | int) and tol > 0):
        raise InvalidInput(f"tol is {tol!r}; it must be a number above 0. Use 1e-8.")
    if not (isinstance(max_iter, int | np.integer) and max_iter >= 1):
        raise InvalidInput(
            f"max_iter is {max_iter!r}; it must be a whole number from 1 up. Use 1000."
        )


def _newton(problem: Problem, start: Array, tol: float, max_iter: int) -> Found:
    _refuse_rough("newton", problem)
    n = problem.data.framing.n_parameters
    if n > MOST_AT_ALL:
        raise InvalidInput(
            f"solver='newton' was given for {n:,} coefficients, whose Hessian would take "
            f"{8e-9 * n**2:.0f} GB. Leave solver at 'auto', or use 'lbfgs'."
        )
    solver = Newton(int(problem.data.framing.intercept))
    solution, state = search(solver, problem.objective, start, tol=tol, max_iter=max_iter)
    # the step from the point that converged is known already, and as good as free
    theta = state.theta + state.direction if solution.converged else state.theta
    return Found(theta, solution, state.hessian, state.held, state.direction)


@final
@dataclass(frozen=True, eq=False)
class Pulled(SmoothObjective):
    """f(θ) + ½ Σ_j s_j (θ_j − θ⁰_j)²: some rows may be separated though all are not."""

    objective: Any
    start: Array
    strength: Array

    def second_order(self, theta: Array) -> SecondOrder:
        here, move = self.objective.second_order(theta), theta - self.start
        pull = self.strength * move
        return SecondOrder(
            here.value + float(np.dot(pull, move)) / 2,
            here.gradient + pull,
            here.hessian + np.diag(self.strength),
        )


def start_on_some_rows(problem: Problem, start: Array) -> Array:
    """The optimum of the rows to start from, or ``start`` where they have none."""
    if problem.data.share == 1.0:
        return start
    some = problem.on_start_rows
    curvature = np.diag(some.second_order(start).hessian)
    if not np.isfinite(curvature).all():
        return start
    pulled = Pulled(some, start, START_PULL * curvature)
    solution, state = search(Newton(), pulled, start, tol=START_TOL / 10, max_iter=START_STEPS)
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


def _coordinate_descent(problem: Problem, start: Array, tol: float, max_iter: int) -> Found:
    assert isinstance(problem, LinearProblem)
    if not columns_at_hand(problem):
        raise UnsupportedAccess(
            "Coordinate descent reads columns of numbers in memory, and leaves the intercept free; "
            "categories, a file or a penalised intercept cannot give that. "
            "Use solver='proximal-newton', which needs only sums."
        )
    framing, n = problem.data.framing, problem.data.framing.n_coefficients
    if not isinstance(problem.penalty, ElasticNet):
        raise InvalidInput("Coordinate descent needs an elastic net; use solver='fista'.")
    objective = ColumnsInMemory.of(
        problem.loss,  # type: ignore[arg-type]  # estimators pass likelihoods
        problem.data.rows,
        l1=np.asarray(problem.penalty.l1)[:n],
        l2=np.asarray(problem.penalty.l2)[:n],
        intercept=framing.intercept,
    )
    return _outside(CoordinateDescent(), objective, problem, start, tol, max_iter)


def _dual(problem: Problem, start: Array, tol: float, max_iter: int) -> Found:
    ridge = _ridge(problem)
    _refuse_rough("dual-coordinate-descent", problem)
    logistic = isinstance(problem, LinearProblem) and isinstance(problem.loss, BernoulliLogit)
    if not logistic or ridge is None or not columns_at_hand(problem):
        raise UnsupportedAccess(
            "Dual coordinate descent needs rows in memory, the logit link, one l2 > 0 for all "
            "coefficients and a free intercept. Use solver='newton' or 'lbfgs'."
        )
    objective = Rows.of(problem.data.rows, ridge=ridge, intercept=problem.data.framing.intercept)
    return _outside(DualCoordinateDescent(), objective, problem, start, tol, max_iter)


def _outside(
    solver: Any, objective: Any, problem: Problem, start: Array, tol: float, max_iter: int
) -> Found:
    """A search on rows as they came: θ goes there and back."""
    framing = problem.data.framing
    begin = framing.to_user(start)
    solution, state = search(solver, objective, begin, tol=tol, max_iter=max_iter)
    problem.data.passes.append(float(solution.n_iter + 1))
    return Found(framing.from_user(state.theta), solution, None)


SOLVERS: dict[str, Search] = {
    "newton": _newton,
    "lbfgs": _lbfgs,
    "gradient-descent": _descent,
    "proximal-newton": partial(_plain, ProximalNewton()),
    "fista": partial(_plain, FISTA()),
    "coordinate-descent": _coordinate_descent,
    "dual-coordinate-descent": _dual,
}


FROM_SOME_ROWS = {"newton"}  # whose steps are worth more the nearer they start


def _refuse_rough(name: str, problem: Problem) -> None:
    if is_rough(problem):
        raise InvalidInput(
            f"solver={name!r} needs a smooth objective; l1 > 0 has a corner at 0. "
            "Use solver='proximal-newton', or leave it at 'auto'."
        )


def hessian_at(problem: Problem, found: Found) -> Array:
    """∇² of the smooth part at the end of a search: known, or one more pass."""
    if found.hessian is not None:
        return found.hessian
    return np.asarray(problem.objective.second_order(found.theta).hessian)
