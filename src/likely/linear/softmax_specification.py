"""The specification of softmax regression: one predictor per class, from rows to weights.

The solver is chosen as for every linear model (``solvers/choice.py``).  Where that is L-BFGS, it
works in units in which the curvature that the classes share is 1.  The units change once.  ½XᵀX,
which bounds the curvature everywhere, is used for the first steps; the curvature found there, the
mean over classes of Σ p_k(1 − p_k)xxᵀ, is used for the rest: a third of the passes.

Where no penalty determines them, weights are centred over classes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, log, sqrt
from typing import Any, cast, final

import numpy as np

from likely._typing import Array
from likely.caching import cached_property
from likely.compute.executor import Executor, Serial
from likely.data.block import Blocks, first_rows
from likely.distributions.base import NamedForm
from likely.errors import InvalidInput
from likely.fitting.class_inference import ClassEstimate, infer_classes, shift_of_classes
from likely.fitting.divergence import (
    Divergence,
    divergence_far_out,
    wholly_separated,
    with_direction,
)
from likely.fitting.driver import Begun, DesignRows, End, FitSettings, Specification
from likely.fitting.framing import FEWEST_TO_SHARE, START_SHARE, Framing, framed, weights_given
from likely.fitting.inference import Inference
from likely.fitting.problem import Problem
from likely.inputs.coding import refuse_gaps
from likely.linear.fit import ParameterPenalty
from likely.objectives.inference import NullTotals
from likely.objectives.linear import Packing
from likely.objectives.softmax import SoftmaxObjective
from likely.penalties.base import Penalty
from likely.solvers.choice import Shape, choose, is_auto, solver_name
from likely.solvers.lbfgs import LBFGS, PerClass
from likely.solvers.minimise import search
from likely.solvers.search_problem import Found
from likely.solvers.stochastic import StochasticDescent

MOST_FOR_FACTOR = 2000  # columns: the preconditioner is a matrix of that size
FIRST_STEPS = 10  # on the rows to start from, by the bound
FIRST_TOL = 1e-4  # relative gap there
ROUND = 150  # steps of L-BFGS after which its units are measured again
LEAST_COUNT = 0.5  # of a class among the rows to start from, which may have none of it


@final
@dataclass(frozen=True, eq=False)
class SoftmaxRows:
    """The objective of softmax regression on rows: classes, their reference, penalty and tie."""

    n_classes: int
    reference: int | None
    each: ParameterPenalty  # the penalty of one class
    tie: Array | None = None

    @cached_property
    def penalty(self) -> Penalty:
        """On all weights, class by class; the weights of a column are in one group."""
        return self.each.repeated(self.n_classes - (self.reference is not None)).penalty

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
        return np.flatnonzero(self.each.l1 == 0)

    @property
    def free_columns(self) -> Array:
        """The columns on which no penalty decides between weights that differ by a shift."""
        if self.reference is not None:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(self.each.penalty.free(len(self.each.l1)))


@final
@dataclass(frozen=True, eq=False)
class ClassPredictors(Specification):
    """One predictor per class; a reference class has weights of 0."""

    rows: DesignRows
    labels: tuple[Any, ...]  # of the classes
    reference: int | None
    penalty: Callable[[Framing], ParameterPenalty]  # of one class, on framed parameters
    rough: tuple[bool, bool]  # whether it has corners, and groups
    solver: str | StochasticDescent
    intercept: bool = True
    centre: bool = True  # whether the intercepts are free, so that columns may be centred
    given: Mapping[str, Any] | NamedForm | None = None  # weights to start from

    @property
    def packing(self) -> Packing:
        K, d = len(self.labels), self.rows.blocks.n_features
        return Packing((K, d), (K,), int(self.intercept), self.reference)

    @property
    def weighted(self) -> int:
        """How many classes have weights."""
        return len(self.labels) - (self.reference is not None)

    @cached_property
    def solver_name(self) -> str:
        """The solver, known before the rows are framed: L-BFGS uses them as they are."""
        if not is_auto(self.solver):
            return solver_name(self.solver)
        blocks, (corners, groups) = self.rows.blocks, self.rough
        n_parameters = self.weighted * (blocks.n_features + int(self.intercept))
        n_rows, rough = blocks.n_rows or np.inf, corners or groups
        return choose(Shape(n_parameters, n_rows, self.weighted, rough, corners, groups))

    def problem(self, *, centre: bool = True) -> Problem:
        """Framed rows, one penalty for all classes, and the units of L-BFGS.

        A centred dense block is a copy, which costs as much as the product with ten classes.
        """
        executor = self.rows.executor
        data = framed(
            self.rows.blocks,
            executor,
            names=self.rows.names,
            intercept=self.intercept,
            centre=centre and self.centre and self.solver_name != "lbfgs",
        )
        softmax = SoftmaxRows(len(self.labels), self.reference, self.penalty(data.framing))
        return Problem(
            softmax,
            softmax.penalty,
            data,
            executor,
            start_executor=Serial(),
            n_predictors=self.weighted,
            first_steps=_first_steps,
            units_at=_units,
            steps_between_units=ROUND,
            in_batches=True,
        )

    def begin(self, problem: Problem) -> Begun:
        start, null = self._constant_model(problem)
        problem, softmax = problem.measured(null), _softmax(problem)
        tied = replace(softmax, tie=_tie(problem, softmax))
        problem = replace(problem, on_last=tied)
        if self.solver_name in ("newton", "proximal-newton"):  # the others never leave the centre
            problem = replace(problem, on=tied)
        return Begun(problem, start if self.given is None else self._given_start(problem))

    def _constant_model(self, problem: Problem) -> tuple[Array, NullTotals]:
        """The shares of the classes.  At θ = 0, ∂f/∂b_k = Σw/K − Σw t_k."""
        objective, K = cast(SoftmaxObjective, problem.on_start_rows), len(self.labels)
        start = np.zeros(objective.size)
        here = objective.first_order(start)
        if not isfinite(here.value) or not np.isfinite(here.gradient).all():
            self._refuse()
        total, n_rows = here.value / log(K), problem.data.start.n_rows or np.nan
        if not self.intercept:
            return start, NullTotals.of_counts(np.full(K, total / K), n_rows)
        count = total / K - objective.classes.rows(here.gradient)[:, -1]
        least = (
            LEAST_COUNT * total / (problem.data.start.n_rows or total)
        )  # of a row of mean weight
        level = np.log(np.maximum(count, least))
        if self.reference is None:
            level -= level.mean()
        else:
            count = np.append(count, total - count.sum())
            level -= log(max(float(count[-1]), least))
        objective.classes.rows(start)[:, -1] = level
        return start, NullTotals.of_counts(np.maximum(count, 0.0), n_rows)

    def _refuse(self) -> None:
        refuse_gaps(self.rows.blocks, self.rows.names)
        raise InvalidInput(
            "The objective is not finite where the search starts: some values are too large for "
            "double precision. Divide the columns by a round number."
        )

    def _given_start(self, problem: Problem) -> Array:
        """θ of the framed design from weights of the data as they are.

        It is centred over classes, but where an L1 penalty decides how.
        """
        framing, K = problem.data.framing, len(self.labels)
        coef, intercept = weights_given(self.given)
        if coef.shape != (K, framing.n_coefficients) or intercept.shape != (K,):
            raise InvalidInput(
                f"start holds arrays of shape {coef.shape} and {intercept.shape}; weights of shape "
                f"{(K, framing.n_coefficients)} and intercepts of shape {(K,)} were expected. "
                "Give one row of weights per class."
            )
        theta = framing.from_user(np.column_stack([coef, intercept]) if self.intercept else coef)
        if self.reference is None:
            l1 = _softmax(problem).each.l1
            return np.ravel(theta - np.where(l1 > 0, 0.0, theta.mean(axis=0)))
        return np.ravel(np.delete(theta - theta[self.reference], self.reference, axis=0))

    def last(self, problem: Problem, theta: Array | None) -> Array | None:
        if theta is None:
            return None
        return np.ravel(problem.data.framing.from_user(theta.reshape(self.weighted, -1)))

    def settings(self, problem: Problem, given: FitSettings) -> FitSettings:
        by_name = isinstance(given.solver, str)
        return replace(given, solver=self.solver_name) if by_name else given

    def divergence(self, problem: Problem, found: Found, start: Array) -> Divergence | None:
        penalty = problem.penalty.value
        if penalty(np.ones(start.size)) > 0 and penalty(found.theta) > 0:
            return None
        if found.hessian is None and not problem.shape.hessian_is_affordable:
            return wholly_separated(
                problem.objective.value,
                found.theta,
                total_weight=problem.mean_weight * (problem.data.rows.n_rows or 1),
                n_columns=problem.data.framing.n_parameters,
            )
        found = with_direction(problem, found)
        at_start = problem.on_start_rows.second_order(start).hessian / problem.data.share
        return divergence_far_out(problem, found, at_start)

    def columns(self, parameters: Sequence[int]) -> tuple[int, ...]:
        """The columns, whichever class has the weight."""
        width = self.rows.blocks.n_features + int(self.intercept)
        return tuple(dict.fromkeys(j % width for j in parameters))

    def n_inferred(self, problem: Problem) -> int:
        """One weight for each column of two classes, which differ in sign only."""
        return problem.n_parameters if len(self.labels) > 2 else problem.data.framing.n_parameters

    def inference(self, problem: Problem, end: End, kind: str) -> Inference:
        """Of the identified weights."""
        found, framing, softmax = end.found, problem.data.framing, _softmax(problem)
        infinite = () if end.infinite is None else end.infinite.columns
        terms = (*self.rows.names(), *(("intercept",) if framing.intercept else ()))
        if len(self.labels) == 2:
            estimate = ClassEstimate(
                *_of_two(problem, softmax, found),
                names=terms,
                jacobian=framing.jacobian(),
                held=self.columns(found.held),
                infinite=self.columns(infinite),
                constants=(framing.n_coefficients,) if framing.intercept else (),
            )
            return infer_classes(estimate, kind)
        at = [k for k in range(len(self.labels)) if k != self.reference]
        held, width = found.held, framing.n_parameters
        if self.reference is None:  # a column that is fixed for one class is fixed for all
            held = tuple(k * width + j for k in at for j in self.columns(held))
        intercepts = range(framing.n_coefficients, len(at) * width, width)
        estimate = ClassEstimate(
            _objective(problem),
            len(self.labels),
            found.theta,
            names=tuple(f"{self.labels[k]}: {term}" for k in at for term in terms),
            jacobian=_to_user(softmax, framing, len(at)),
            held=held,
            infinite=infinite,
            shift=_shift(softmax, found.theta),
            constants=tuple(intercepts) if framing.intercept else (),
        )
        return infer_classes(estimate, kind)

    def to_user(self, problem: Problem, theta: Array) -> Array:
        """The weights of the classes, centred where nothing determines them."""
        free = _softmax(problem).free_columns
        out = problem.data.framing.to_user(theta.reshape(self.weighted, -1))
        out[:, free] -= out[:, free].mean(axis=0)
        return out


def _softmax(problem: Problem) -> SoftmaxRows:
    return cast(SoftmaxRows, problem.on)


def _objective(problem: Problem) -> SoftmaxObjective:
    return cast(SoftmaxObjective, problem.objective)


def _tie(problem: Problem, softmax: SoftmaxRows) -> Array | None:
    """The tie: as strong as the bound on the curvature, on the columns whose weights sum to 0.

    A small penalty determines them hardly better than none.
    """
    columns = softmax.centred_columns
    if not columns.size or len(columns) > MOST_FOR_FACTOR:
        return None
    some = cast(SoftmaxObjective, problem.on_start_rows)
    bound = some.curvature_bound(columns) / problem.share
    tie = np.zeros(problem.data.framing.n_parameters)
    tie[columns] = np.diag(bound)
    return tie


def _units(problem: Problem, theta: Array) -> PerClass | None:
    """Units in which the curvature that the classes share at θ is 1."""
    objective = _objective(problem)
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
    softmax = _softmax(problem)
    bound = softmax(some, share, problem.executor).curvature_bound() / share
    objective = softmax(data.start, data.share, problem.executor)
    units = PerClass.of(data.share * bound, objective.classes.weighted)
    solution, _ = search(
        LBFGS(preconditioner=units), objective, start, tol=FIRST_TOL, max_iter=FIRST_STEPS
    )
    return np.asarray(solution.theta)


def _of_two(
    problem: Problem, softmax: SoftmaxRows, found: Found
) -> tuple[SoftmaxObjective, int, Array]:
    """Logistic regression of the second class against the first, and its θ.

    A ridge shared by two opposite weights is half as strong on their difference, and a group's
    strength is multiplied by √½.
    """
    weights = _objective(problem).classes.rows(found.theta)
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
