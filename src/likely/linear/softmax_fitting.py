"""The fit of softmax regression: from rows to one row of weights per class.

The solver is chosen as for every linear model (``solvers/choice.py``).  Where that is L-BFGS, it
works in units in which the curvature that the classes share is 1.  The units change once.  ½XᵀX,
which bounds the curvature everywhere, is used for the first steps; the curvature found there, the
mean over classes of Σ p_k(1 − p_k)xxᵀ, is used for the rest: a third of the passes.

Where no penalty determines them, weights are centred over classes.
"""

from dataclasses import replace
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.compute.executor import Serial
from likely.data.block import first_rows
from likely.linear.class_inference import ClassEstimate, infer_classes, shift_of_classes
from likely.linear.coding import LinearRows
from likely.linear.covariance import MOST_FOR_INFERENCE
from likely.linear.divergence import (
    Divergence,
    divergence_far_out,
    wholly_separated,
    with_direction,
)
from likely.linear.fitting import (
    framed_and_penalised,
    in_session,
    parts,
    refuse_if_not_finite,
    warn_of_fit,
)
from likely.linear.framing import FEWEST_TO_SHARE, START_SHARE, Framing
from likely.linear.held_rows import hold_out
from likely.linear.inference import Inference
from likely.linear.near_dependence import with_orthogonal_columns, with_redundant
from likely.linear.penalty import has_groups, is_penalised, strengths_of
from likely.linear.problem import Problem
from likely.linear.softmax_problem import SoftmaxRows, given_start, last_fit, start_of_classes
from likely.objectives.softmax import SoftmaxObjective
from likely.solvers.choice import choose, finish, is_auto, solve, solver_name
from likely.solvers.lbfgs import LBFGS
from likely.solvers.minimise import Solution, search
from likely.solvers.preconditioners import PerClass
from likely.solvers.search_problem import Found, Shape

MOST_FOR_FACTOR = 2000  # columns: the preconditioner is a matrix of that size
FIRST_STEPS = 10  # on the rows to start from, by the bound
FIRST_TOL = 1e-4  # relative gap there
ROUND = 150  # steps of L-BFGS after which its units are measured again


class SoftmaxFit(NamedTuple):
    """One row of weights per class, the reference class included."""

    coef: Array  # (K, d)
    intercept: Array  # (K,)
    solution: Solution
    inference: Inference | None
    separated: bool


@in_session
def fit_softmax(
    estimator: Any,
    rows: LinearRows,
    *,
    n_classes: int,
    reference: int | None = None,
    warned_by: Any = None,
) -> SoftmaxFit:
    """Solve, warn about problems, and centre the weights that no penalty determines.

    ``warned_by`` is the estimator that warnings name, if it is another one.
    """
    fitted, held = hold_out(estimator, rows.blocks)
    rows = rows._replace(blocks=fitted)
    name = _solver_name(estimator, rows, n_classes - (reference is not None))
    problem, softmax = softmax_problem(
        estimator, rows, n_classes, reference, centre=name != "lbfgs"
    )
    problem = replace(problem, held_rows=held)
    problem, softmax, found, infinite = _optimum(estimator, problem, softmax, name, rows)
    other = with_orthogonal_columns(problem, found, rows, warned_by=warned_by or estimator)
    if other is not None:
        problem, softmax, found, infinite = _optimum(estimator, other, softmax, name, rows)
        found = with_redundant(problem, found)
    _warn_by_columns(warned_by or estimator, problem, found, infinite, rows)
    inference = _inference(estimator, problem, softmax, found, rows, infinite)
    return _in_user_units(problem, softmax, found, inference, separated=infinite is not None)


class _Optimum(NamedTuple):
    """The end of a search, with the problem in its units, or a way to infinity."""

    problem: Problem
    softmax: SoftmaxRows
    found: Found
    infinite: Divergence | None


def _optimum(
    estimator: Any, problem: Problem, softmax: SoftmaxRows, name: str, rows: LinearRows
) -> _Optimum:
    """Search from the constant model or a given one, and refine where errors are wanted."""
    start, null = start_of_classes(problem, softmax, rows)
    problem = problem.measured(null)
    last = last_fit(estimator, problem)
    if last is None and estimator.start is not None:
        start = given_start(softmax, problem.data.framing, estimator.start)
    tied = replace(softmax, tie=_tie(problem, softmax))
    if name in ("newton", "proximal-newton"):  # the others never leave the centre
        softmax, problem = tied, replace(problem, on=tied)
    tol, most, stop = estimator.tol, estimator.max_iter, estimator.stop
    solver = name if isinstance(estimator.solver, str) else estimator.solver
    found = solve(problem, start, solver=solver, tol=tol, max_iter=most, last=last, stop=stop)
    refuse_if_not_finite(found, rows)
    infinite = _divergence(problem, found, start)
    wanted = estimator.standard_errors is not None and found.theta.size <= MOST_FOR_INFERENCE
    if infinite is None and wanted:
        found = finish(replace(problem, on=tied), start, found, tol=tol, max_iter=most)
    return _Optimum(problem, softmax, found, infinite)


def _solver_name(estimator: Any, rows: LinearRows, weighted: int) -> str:
    """The solver, known before the rows are framed: L-BFGS uses them as they are."""
    if not is_auto(estimator.solver):
        return solver_name(estimator.solver)
    l1, _, given = strengths_of(estimator)
    corners, groups = is_penalised(l1), has_groups(given)
    n_parameters = weighted * (rows.blocks.n_features + int(estimator.fit_intercept))
    n_rows, rough = rows.blocks.n_rows or np.inf, corners or groups
    return choose(Shape(n_parameters, n_rows, weighted, rough, corners, groups))


def softmax_problem(
    estimator: Any, rows: LinearRows, n_classes: int, reference: int | None, *, centre: bool
) -> tuple[Problem, SoftmaxRows]:
    """The search problem: framed rows, one penalty for all classes, and the units of L-BFGS.

    A centred dense block is a copy, which costs as much as the product with ten classes.
    """
    weighted = n_classes - (reference is not None)
    data, each = framed_and_penalised(estimator, rows, centre=centre)
    softmax = SoftmaxRows(n_classes, reference, each)
    problem = Problem(
        softmax,
        softmax.penalty,
        data,
        rows.executor,
        start_executor=Serial(),
        n_predictors=weighted,
        first_steps=_first_steps,
        units_at=_units,
        steps_between_units=ROUND,
        in_batches=True,
    )
    return problem, softmax


def _tie(problem: Problem, softmax: SoftmaxRows) -> Array | None:
    """The tie: as strong as the bound on the curvature, on the columns whose weights sum to 0.

    A small penalty determines them hardly better than none.
    """
    columns = softmax.centred_columns
    if not columns.size or len(columns) > MOST_FOR_FACTOR:
        return None
    bound = problem.on_start_rows.curvature_bound(columns) / problem.share
    tie = np.zeros(problem.data.framing.n_parameters)
    tie[columns] = np.diag(bound)
    return tie


def _units(problem: Problem, theta: Array) -> PerClass | None:
    """Units in which the curvature that the classes share at θ is 1."""
    objective = problem.objective
    if problem.data.framing.n_parameters > MOST_FOR_FACTOR:
        return None
    curvature = objective.shared_curvature(theta)
    if not np.isfinite(curvature).all():
        return None  # the search ends at once, and says why
    return PerClass.of(curvature, objective.classes.weighted)


def _first_steps(problem: Problem, start: Array) -> Array:
    """A few steps on the rows to start from, in the units of the bound on some of them.

    With few rows for the number of weights the start would be bad: overconfident, too flat.
    """
    data = problem.data
    if data.framing.n_parameters > MOST_FOR_FACTOR:
        return start
    some, share = data.start, data.share
    if share == 1.0 and (data.blocks.n_rows or 0) >= FEWEST_TO_SHARE:
        some, share = first_rows(data.blocks, START_SHARE), START_SHARE
        data.passes[-1] = START_SHARE
    bound = problem.on(some, share, problem.executor).curvature_bound() / share
    objective = problem.on(data.start, data.share, problem.executor)
    units = PerClass.of(data.share * bound, objective.classes.weighted)
    solution, _ = search(
        LBFGS(preconditioner=units), objective, start, tol=FIRST_TOL, max_iter=FIRST_STEPS
    )
    return np.asarray(solution.theta)


def _warn_by_columns(
    estimator: Any, problem: Problem, found: Found, infinite: Divergence | None, rows: LinearRows
) -> None:
    """Warn of problems of the fit by columns, not by the weights of a column in each class."""
    width = problem.data.framing.n_parameters
    if infinite is not None:
        infinite = infinite._replace(columns=_columns(infinite.columns, width))
    held = _columns(found.held, width)
    warn_of_fit(estimator, found._replace(held=held), rows.coding.names, infinite)


def _columns(weights: tuple[int, ...], width: int) -> tuple[int, ...]:
    return tuple(dict.fromkeys(j % width for j in weights))


def _divergence(problem: Problem, found: Found, start: Array) -> Divergence | None:
    if problem.penalty.value(np.ones(start.size)) > 0 and problem.penalty.value(found.theta) > 0:
        return None
    if found.hessian is None and not problem.shape.hessian_is_affordable:
        width = problem.data.framing.n_parameters
        return wholly_separated(
            problem.objective.value,
            found.theta,
            total_weight=problem.mean_weight * (problem.data.rows.n_rows or 1),
            n_columns=width,
        )
    found = with_direction(problem, found)
    at_start = problem.on_start_rows.second_order(start).hessian / problem.data.share
    return divergence_far_out(problem, found, at_start)


def _inference(
    estimator: Any,
    problem: Problem,
    softmax: SoftmaxRows,
    found: Found,
    rows: LinearRows,
    infinite: Divergence | None,
) -> Inference | None:
    """Standard errors of the identified weights, unless there are too many weights."""
    framing, infinite_weights = problem.data.framing, () if infinite is None else infinite.columns
    size = framing.n_parameters if softmax.n_classes == 2 else found.theta.size
    if estimator.standard_errors is None or size > MOST_FOR_INFERENCE:
        return None
    terms = (*rows.coding.names(), *(("intercept",) if framing.intercept else ()))
    if softmax.n_classes == 2:
        estimate = ClassEstimate(
            *_of_two(problem, softmax, found),
            names=terms,
            jacobian=framing.jacobian(),
            held=_columns(found.held, framing.n_parameters),
            infinite=_columns(infinite_weights, framing.n_parameters),
            constants=(framing.n_coefficients,) if framing.intercept else (),
        )
        return infer_classes(estimate, estimator.standard_errors)
    labels = [k for k in range(softmax.n_classes) if k != softmax.reference]
    held = found.held
    if softmax.reference is None:  # a column that is fixed for one class is fixed for all
        columns = _columns(held, framing.n_parameters)
        held = tuple(k * framing.n_parameters + j for k in labels for j in columns)
    estimate = ClassEstimate(
        problem.objective,
        softmax.n_classes,
        found.theta,
        names=tuple(f"{rows.classes.tolist()[k]}: {term}" for k in labels for term in terms),
        jacobian=_to_user(softmax, framing, len(labels)),
        held=held,
        infinite=infinite_weights,
        shift=_shift(softmax, found.theta),
        constants=_intercepts(framing, len(labels)),
    )
    return infer_classes(estimate, estimator.standard_errors)


def _intercepts(framing: Framing, weighted: int) -> tuple[int, ...]:
    """Where the intercepts of the classes are in θ."""
    if not framing.intercept:
        return ()
    return tuple(
        range(framing.n_coefficients, weighted * framing.n_parameters, framing.n_parameters)
    )


def _of_two(
    problem: Problem, softmax: SoftmaxRows, found: Found
) -> tuple[SoftmaxObjective, int, Array]:
    """Logistic regression of the second class against the first, and its θ.

    A ridge shared by two opposite weights is half as strong on their difference, and a group's
    strength is multiplied by √½.
    """
    weights = problem.objective.classes.rows(found.theta)
    if softmax.reference is not None:
        weights = np.insert(weights, softmax.reference, 0.0, axis=0)
    each = softmax.each
    if softmax.reference is None:
        each = each._replace(l2=each.l2 / 2, group=each.group and each.group.scaled(sqrt(0.5)))
    objective = SoftmaxRows(2, 0, each)(problem.data.blocks, 1.0, problem.executor)
    return objective, 2, weights[1] - weights[0]


def _to_user(softmax: SoftmaxRows, framing: Framing, weighted: int) -> Array:
    """∂ of the user's weights by θ; the classes are centred where nothing determines them."""
    to_user = np.kron(np.eye(weighted), framing.jacobian())
    if softmax.reference is not None:
        return to_user
    free = np.isin(np.arange(framing.n_parameters), softmax.free_columns)
    return np.asarray(to_user - np.dot(shift_of_classes(weighted, free) / weighted, to_user))


def _shift(softmax: SoftmaxRows, theta: Array) -> Array | None:
    """The columns whose sum of weights is fixed by convention or by an L1 penalty, not by the data.

    An L1 penalty fixes it, except where no weight of a column is 0.
    """
    if softmax.reference is not None:
        return None
    K, each = softmax.n_classes, softmax.each
    inside = (theta.reshape(K, -1) != 0).all(axis=0)
    return shift_of_classes(K, (each.l1 == 0) | (each.is_round & inside))


def _in_user_units(
    problem: Problem,
    softmax: SoftmaxRows,
    found: Found,
    inference: Inference | None,
    *,
    separated: bool,
) -> SoftmaxFit:
    data, free = problem.data, softmax.free_columns
    theta = data.framing.to_user(problem.objective.classes.rows(found.theta))
    theta[:, free] -= theta[:, free].mean(axis=0)
    solution = replace(found.solution, theta=theta.ravel(), passes=float(sum(data.passes)))
    if softmax.reference is not None:
        theta = np.insert(theta, softmax.reference, 0.0, axis=0)
    coef, intercept = parts(theta, data.framing)
    return SoftmaxFit(np.array(coef), np.array(intercept), solution, inference, separated)
