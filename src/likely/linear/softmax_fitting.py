"""Softmax regression from rows at the door to one row of weights per class.

The solver is chosen as for every linear model (``solvers/choice.py``).  Where that is L-BFGS, it
works in units in which the curvature that the classes share is 1.  They come in two steps.  ½XᵀX,
which bounds the curvature everywhere, serves the first few; the curvature met there, the mean over
classes of Σ p_k(1 − p_k)xxᵀ, serves the rest: a third of the passes of the bound alone.

Where no penalty decides, weights are centred over classes.
"""

from dataclasses import dataclass, replace
from math import isfinite, log
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor, Serial
from likely.data.block import Blocks, first_rows
from likely.errors import InvalidInput
from likely.linear.class_inference import ClassEstimate, infer_classes, shift_of_classes
from likely.linear.coding import LinearRows, refuse_gaps
from likely.linear.covariance import MOST_FOR_INFERENCE
from likely.linear.divergence import Divergence, diverging, wholly_separated
from likely.linear.fitting import in_session, parts, refuse_if_not_finite, speak_up, with_direction
from likely.linear.framing import FEWEST_TO_SHARE, START_SHARE, Framing, framed
from likely.linear.inference import Inference
from likely.linear.penalty import elastic_net, is_penalised
from likely.linear.problem import Problem
from likely.objectives.inference import NullTotals
from likely.objectives.softmax import SoftmaxObjective
from likely.penalties import ElasticNet
from likely.solvers.choice import choose, finish, solve
from likely.solvers.lbfgs import LBFGS
from likely.solvers.minimise import Solution, search
from likely.solvers.preconditioners import PerClass
from likely.solvers.search_problem import Found, Shape

MOST_FOR_FACTOR = 2000  # columns: the preconditioner is a matrix of that size
FIRST_STEPS = 10  # on the rows to start from, by the bound
FIRST_TOL = 1e-4  # relative gap there
ROUND = 150  # steps of L-BFGS after which its units are measured again
LEAST_COUNT = 0.5  # of a class among the rows to start from, which may have none of it


class SoftmaxFit(NamedTuple):
    """One row of weights per class, the reference class included."""

    coef: Array  # (K, d)
    intercept: Array  # (K,)
    solution: Solution
    inference: Inference | None
    separated: bool


@final
@dataclass(frozen=True, eq=False)
class SoftmaxRows:
    """The objective of softmax regression on rows: classes, their reference, penalty and tie."""

    n_classes: int
    reference: int | None
    penalty: ElasticNet  # one strength per weight, class by class
    tie: Array | None = None

    def __call__(self, blocks: Blocks, share: float, executor: Executor) -> SoftmaxObjective:
        """The objective of a share of the rows, with that share of the penalty."""
        tie = None if self.tie is None else share * self.tie
        penalty = self.penalty.scaled(share)
        return SoftmaxObjective(self.n_classes, penalty, blocks, executor, self.reference, tie)

    @property
    def centred_columns(self) -> Array:
        """The columns whose weights total 0 over the classes at the optimum: no corner decides."""
        if self.reference is not None:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(~np.asarray(self.penalty.l1).reshape(self.n_classes, -1).any(axis=0))

    @property
    def free_columns(self) -> Array:
        """The columns on which no penalty decides between weights that differ by a shift."""
        strength = np.asarray(self.penalty.l1) + np.asarray(self.penalty.l2)
        if self.reference is not None:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(~strength.reshape(self.n_classes, -1).any(axis=0))


@in_session
def fit_softmax(
    estimator: Any, rows: LinearRows, *, n_classes: int, reference: int | None = None
) -> SoftmaxFit:
    """Solve, warn of what a person should know, and centre what no penalty decides."""
    name = _solver_name(estimator, rows, n_classes - (reference is not None))
    problem, softmax = softmax_problem(
        estimator, rows, n_classes, reference, centre=name != "lbfgs"
    )
    start, null = constant_start(problem, softmax, rows)
    problem, last = problem.measured(null), _last_fit(estimator, problem)
    if last is None and estimator.start is not None:
        start = _given_start(softmax, problem.data.framing, *estimator.start)
    tied = replace(softmax, tie=_tie(problem, softmax))
    if name in ("newton", "proximal-newton"):  # the others never leave the centre
        softmax, problem = tied, replace(problem, on=tied)
    tol, most = estimator.tol, estimator.max_iter
    found = solve(problem, start, solver=name, tol=tol, max_iter=most, last=last)
    refuse_if_not_finite(found, rows)
    infinite = _divergence(problem, found, start)
    wanted = estimator.standard_errors is not None and found.theta.size <= MOST_FOR_INFERENCE
    if infinite is None and wanted:
        found = finish(replace(problem, on=tied), found, tol=tol, max_iter=most)
    _speak_up(estimator, problem, found, infinite, rows)
    inference = _inference(estimator, problem, softmax, found, rows, infinite)
    return _in_user_units(problem, softmax, found, inference, separated=infinite is not None)


def _solver_name(estimator: Any, rows: LinearRows, weighted: int) -> str:
    """Known before the rows are framed: L-BFGS wants them as they are."""
    if estimator.solver != "auto":
        return str(estimator.solver)
    rough = is_penalised(estimator.l1)
    n_parameters = weighted * (rows.blocks.n_features + int(estimator.fit_intercept))
    n_rows = rows.blocks.n_rows or np.inf
    return choose(Shape(n_parameters, n_rows, weighted, rough=rough, corners=rough))


def softmax_problem(
    estimator: Any, rows: LinearRows, n_classes: int, reference: int | None, *, centre: bool
) -> tuple[Problem, SoftmaxRows]:
    """What is minimised: framed rows, one penalty for all classes, and the units of L-BFGS."""
    weighted = n_classes - (reference is not None)
    data = framed(
        rows.blocks,
        rows.executor,
        names=rows.coding.names,
        intercept=estimator.fit_intercept,
        # a centred dense block is a copy, which costs as much as the product with ten classes
        centre=centre and not estimator.penalise_intercept,
    )
    each = elastic_net(
        estimator,
        rows.coding,
        data.framing,
        l1=estimator.l1,
        l2=estimator.l2,
        intercept=estimator.penalise_intercept,
    )
    penalty = ElasticNet(np.tile(each.l1, weighted), np.tile(each.l2, weighted))
    softmax = SoftmaxRows(n_classes, reference, penalty)
    problem = Problem(
        softmax,
        penalty,
        data,
        rows.executor,
        start_executor=Serial(),
        n_predictors=weighted,
        first_steps=_first_steps,
        units_at=_units,
        steps_between_units=ROUND,
    )
    return problem, softmax


def constant_start(
    problem: Problem, softmax: SoftmaxRows, rows: LinearRows
) -> tuple[Array, NullTotals]:
    """The constant model: the shares of the classes.  At θ = 0, ∂f/∂b_k = Σw/K − Σw t_k."""
    objective, K = problem.on_start_rows, softmax.n_classes
    start = np.zeros(objective.size)
    here = objective.first_order(start)
    if not isfinite(here.value) or not np.isfinite(here.gradient).all():
        _refuse(rows)
    total, n_rows = here.value / log(K), problem.data.start.n_rows or np.nan
    if not problem.data.framing.intercept:
        return start, NullTotals.of_counts(np.full(K, total / K), n_rows)
    count = total / K - objective.classes.rows(here.gradient)[:, -1]
    least = LEAST_COUNT * total / (problem.data.start.n_rows or total)  # of a row of mean weight
    level = np.log(np.maximum(count, least))
    if softmax.reference is None:
        level -= level.mean()
    else:
        count = np.append(count, total - count.sum())
        level -= log(max(float(count[-1]), least))
    objective.classes.rows(start)[:, -1] = level
    return start, NullTotals.of_counts(np.maximum(count, 0.0), n_rows)


def _last_fit(estimator: Any, problem: Problem) -> Array | None:
    """Where the last fit ended, if a search is to start there."""
    if not estimator.warm_start or "solution_" not in vars(estimator):
        return None
    theta, framing = np.asarray(estimator.solution_.theta), problem.data.framing
    if theta.size != problem.n_parameters:
        return None
    return np.ravel(framing.from_user(theta.reshape(-1, framing.n_parameters)))


def _given_start(softmax: SoftmaxRows, framing: Framing, coef: Array, intercept: Array) -> Array:
    """θ of the framed design from weights of the data as they are.

    It is centred over classes, but where an L1 penalty decides how.
    """
    K = softmax.n_classes
    coef, intercept = np.asarray(coef, dtype=float), np.asarray(intercept, dtype=float)
    if coef.shape != (K, framing.n_coefficients) or intercept.shape != (K,):
        raise InvalidInput(
            f"start holds arrays of shape {coef.shape} and {intercept.shape}; weights of shape "
            f"{(K, framing.n_coefficients)} and intercepts of shape {(K,)} were expected. "
            "Give one row of weights per class."
        )
    if framing.centre is not None:
        intercept = intercept + np.dot(coef[:, : len(framing.centre)], framing.centre)
    theta = np.column_stack([coef, intercept]) if framing.intercept else coef
    if softmax.reference is None:
        rough = np.asarray(softmax.penalty.l1).reshape(K, -1).any(axis=0)
        return np.ravel(theta - np.where(rough, 0.0, theta.mean(axis=0)))
    return np.ravel(np.delete(theta - theta[softmax.reference], softmax.reference, axis=0))


def _tie(problem: Problem, softmax: SoftmaxRows) -> Array | None:
    """As strong as the bound on the curvature, on the columns whose weights total 0.

    A small penalty leaves them nearly as free as none does.
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

    Rows that are few beside the weights would lead astray: too sure, and too little curved.
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


def _speak_up(
    estimator: Any, problem: Problem, found: Found, infinite: Divergence | None, rows: LinearRows
) -> None:
    """Warnings name columns, not the weights of a column in each class."""
    width = problem.data.framing.n_parameters
    if infinite is not None:
        infinite = infinite._replace(columns=_columns(infinite.columns, width))
    held = _columns(found.held, width)
    speak_up(estimator, found._replace(held=held), rows.coding.names, infinite)


def _columns(weights: tuple[int, ...], width: int) -> tuple[int, ...]:
    return tuple(dict.fromkeys(j % width for j in weights))


def _divergence(problem: Problem, found: Found, start: Array) -> Divergence | None:
    if problem.penalty.value(np.ones(start.size)) > 0 and problem.penalty.value(found.theta) > 0:
        return None
    if found.hessian is None and not problem.shape.hessian_is_affordable:
        width, rows = problem.data.framing.n_parameters, problem.data.rows.n_rows or 1
        return wholly_separated(problem.objective.value, found.theta, n_rows=rows, n_columns=width)
    found = with_direction(problem, found)
    direction, hessian = np.asarray(found.direction), np.asarray(found.hessian)
    if not np.isfinite(direction).all() or problem.penalty.value(direction) > 0:
        return None
    at_start = problem.on_start_rows.second_order(start).hessian / problem.data.share
    return diverging(problem.objective.value, found.theta, direction, hessian, at_start)


def _inference(
    estimator: Any,
    problem: Problem,
    softmax: SoftmaxRows,
    found: Found,
    rows: LinearRows,
    infinite: Divergence | None,
) -> Inference | None:
    """Standard errors of what the classes determine, unless the weights are too many."""
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
        )
        return infer_classes(estimate, estimator.standard_errors)
    labels = [k for k in range(softmax.n_classes) if k != softmax.reference]
    held = found.held
    if softmax.reference is None:  # a column that is held for one class is held for all
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
    )
    return infer_classes(estimate, estimator.standard_errors)


def _of_two(
    problem: Problem, softmax: SoftmaxRows, found: Found
) -> tuple[SoftmaxObjective, int, Array]:
    """Logistic regression of the second class against the first, and its θ.

    A ridge that two opposite weights share is half as strong on their difference.
    """
    weights = problem.objective.classes.rows(found.theta)
    if softmax.reference is not None:
        weights = np.insert(weights, softmax.reference, 0.0, axis=0)
    width = problem.data.framing.n_parameters
    l1, l2 = (np.asarray(strength)[:width] for strength in (softmax.penalty.l1, softmax.penalty.l2))
    penalty = ElasticNet(l1, l2 / 2 if softmax.reference is None else l2)
    on_second = SoftmaxRows(2, 0, penalty)
    objective = on_second(problem.data.blocks, 1.0, problem.executor)
    return objective, 2, weights[1] - weights[0]


def _to_user(softmax: SoftmaxRows, framing: Framing, weighted: int) -> Array:
    """∂ of the user's weights by θ; the classes are centred where nothing decides."""
    to_user = np.kron(np.eye(weighted), framing.jacobian())
    if softmax.reference is not None:
        return to_user
    free = np.isin(np.arange(framing.n_parameters), softmax.free_columns)
    return np.asarray(to_user - np.dot(shift_of_classes(weighted, free) / weighted, to_user))


def _shift(softmax: SoftmaxRows, theta: Array) -> Array | None:
    """The columns whose weights total what the fit says, whatever the data: 0, or by a corner.

    An L1 penalty decides by its corners, but where no weight of a column is 0.
    """
    if softmax.reference is not None:
        return None
    K = softmax.n_classes
    l1, l2 = (np.asarray(s).reshape(K, -1)[0] for s in (softmax.penalty.l1, softmax.penalty.l2))
    inside = (theta.reshape(K, -1) != 0).all(axis=0)
    return shift_of_classes(K, (l1 == 0) | ((l2 > 0) & inside))


def _in_user_units(
    problem: Problem,
    softmax: SoftmaxRows,
    found: Found,
    inference: Inference | None,
    *,
    separated: bool,
) -> SoftmaxFit:
    data, classes = problem.data, problem.objective.classes
    theta = data.framing.to_user(classes.rows(found.theta))
    free = softmax.free_columns
    theta[:, free] -= theta[:, free].mean(axis=0)
    solution = replace(found.solution, theta=theta.ravel(), passes=float(sum(data.passes)))
    if softmax.reference is not None:
        theta = np.insert(theta, softmax.reference, 0.0, axis=0)
    coef, intercept = parts(theta, data.framing)
    return SoftmaxFit(np.array(coef), np.array(intercept), solution, inference, separated)


def _refuse(rows: LinearRows) -> None:
    refuse_gaps(rows.blocks, rows.coding.names)
    raise InvalidInput(
        "The objective is not finite where the search starts: some values are too large for double "
        "precision. Divide the columns by a round number."
    )
