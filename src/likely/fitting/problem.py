"""The search problem of every linear model: one objective on framed rows.

Linear, softmax, ordinal and maximum-entropy models differ in the objective that ``on`` builds from
rows, and in the cost of a Hessian.  Access to columns and rows in memory exists only for models
with one predictor.

Columns that nearly depend on others are found, warned of, and replaced by orthogonal ones:

    √W(X − c) = QR        z = (x − c)ᵀR⁻¹        β = R⁻¹φ

A Hessian XᵀWX squares the condition number: from a relative distance of 1e-6 its Cholesky factor
cannot tell a column that carries information from one that others determine.  R can, down to
1e-14, and the QR factors of blocks are totals.  A search over φ has a well-conditioned Hessian, and
a pivot that vanishes there is a curvature that has vanished.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.caching import cached_property
from likely.compute.executor import Executor
from likely.data.block import ArrayBlocks, Block, Blocks, CountedBlocks, first_rows, redesigned
from likely.data.layouts.base import Csr
from likely.data.layouts.dense import Dense
from likely.errors import InvalidInput, RedundantColumns, UnsupportedAccess, warn_user
from likely.fitting.framing import Framed, block_sums, nearer_mean
from likely.likelihoods.bernoulli import BernoulliLogit
from likely.numerics.cholesky import unit_diagonal
from likely.objectives.batches import RowBatches
from likely.objectives.columns import Columns as ColumnsInMemory
from likely.objectives.inference import NullTotals
from likely.objectives.least_squares import block_factor
from likely.objectives.linear import LinearObjective, Loss, PenalisedSum, Total, weighted_sum
from likely.objectives.rows import Rows
from likely.output.formatting import count
from likely.penalties.base import ElasticNet, Penalty
from likely.solvers.choice import Shape
from likely.solvers.lbfgs import Preconditioner, Triangular, robust_factor
from likely.solvers.least_squares import MACHINE, LeastSquares, solve_qr
from likely.solvers.newton import Newton
from likely.solvers.search_problem import Found, HeldOutLoss, SearchProblem

LEAST_CURVATURE = 1e-12  # of the largest: a column that never varies has none
LEAST_DEVIANCE = 1e-8  # nats per row: all rows of one class have a null deviance of 0
A_FEW_ULP = 2 * MACHINE  # rounding leaves a third of one of each cell
NEARLY = 1e-3  # √(1 − R²) of a column given those before it, below which a Hessian loses digits
CONDITION_TO_WARN_OF = 1e-8 / MACHINE  # above, fewer than 8 digits are left
ALIKE = 0.9  # of the largest


@final
@dataclass(frozen=True, eq=False)
class Problem(SearchProblem):
    """What is minimised, on which rows."""

    on: Callable[[Blocks, float, Executor], PenalisedSum]  # the objective of a share of the rows
    penalty: Penalty  # one strength per parameter of the framed design
    data: Framed
    executor: Executor
    start_executor: Executor | None = None  # for the rows to start from, where they are few
    loss: Loss | None = None  # of one predictor, whose columns and rows can be opened
    n_predictors: int = 1  # with parameters of their own
    unit: float | None = None  # the null deviance, of which tol is a share
    nat: float = 1.0  # in that unit, weights having mean 1
    n_rows: float = 1.0
    mean_weight: float = 1.0
    on_last: Callable[[Blocks, float, Executor], PenalisedSum] | None = None  # of the last steps
    first_steps: Callable[["Problem", Array], Array] | None = None  # of L-BFGS
    units_at: Callable[["Problem", Array], Preconditioner | None] | None = None
    steps_between_units: int | None = None
    held_rows: Blocks | None = None  # held out, as they came
    in_batches: bool = False  # whether every θ is a model, so that steps by batches are safe

    @cached_property
    def objective(self) -> PenalisedSum:
        return self.on(self.data.blocks, 1.0, self.executor).in_unit(self.unit)

    @property
    def finishing(self) -> "Problem":
        """The problem of the last steps: that of the search, unless they have one of their own."""
        return self if self.on_last is None else replace(self, on=self.on_last)

    @cached_property
    def on_start_rows(self) -> PenalisedSum:
        executor = self.executor if self.start_executor is None else self.start_executor
        unit = None if self.unit is None else self.share * self.unit
        return self.on(self.data.start, self.share, executor).in_unit(unit)

    @cached_property
    def held_out(self) -> HeldOutLoss | None:
        if self.held_rows is None:
            return None
        blocks = redesigned(self.held_rows, self.data.framing, self.data.blocks.n_features)
        objective = self.on(blocks, 0.0, self.executor)  # a share of 0 has no penalty
        weight = self.executor.sum(block_weight, blocks).value
        return lambda theta: float(objective.value(theta) / weight)

    def measured(self, null: NullTotals, *, dispersion_is_known: bool = True) -> "Problem":
        """The problem in units of its null deviance: ``null`` is that of the rows to start from."""
        if not isfinite(null.deviance) or not null.weight > 0:
            return self
        floor = LEAST_DEVIANCE * null.weight if dispersion_is_known else null.least
        deviance = max(null.deviance, floor, np.finfo(float).tiny)
        nat = null.weight if dispersion_is_known else deviance
        unit, n_rows = deviance / self.share, null.n_rows
        return replace(
            self,
            unit=unit,
            nat=nat / n_rows / unit,
            n_rows=n_rows / self.share,
            mean_weight=null.weight / n_rows if isfinite(n_rows) else 1.0,
        )

    @property
    def share(self) -> float:
        return self.data.share

    @property
    def n_parameters(self) -> int:
        return int(self.objective.size)

    @cached_property
    def shape(self) -> Shape:
        n = self.n_parameters
        return Shape(
            n_parameters=n,
            n_rows=self.data.rows.n_rows or np.inf,
            n_predictors=self.n_predictors,
            rough=self.penalty.rough().value(np.ones(n)) > 0,
            corners=bool(self.penalty.corners(n).any()),
            groups=self.penalty.grouped(n) is not None,
            has_columns=self.has_columns,
            has_dual=self.has_dual,
        )

    @property
    def intercepts(self) -> int:
        return int(self.data.framing.intercept and self.loss is not None)

    @property
    def has_columns(self) -> bool:
        """Whether the data are in memory, as numbers, and the intercept is free."""
        rows = self.data.rows
        plain = isinstance(rows, ArrayBlocks) and isinstance(rows.X, Dense | Csr)
        free = not self.data.framing.intercept or self._last_is_free()
        return self.loss is not None and plain and free

    @property
    def has_dual(self) -> bool:
        """Whether this is logistic regression with one ridge penalty, on sparse rows in memory."""
        rows = self.data.rows
        sparse = isinstance(rows, ArrayBlocks) and isinstance(rows.X, Csr)
        return sparse and self._is_ridge_logit()

    def columns(self) -> ColumnsInMemory:
        if not self.has_columns or self.loss is None:
            raise UnsupportedAccess(
                "Coordinate descent reads columns of numbers in memory, and does not penalise the "
                "intercept; it does not work with categories, a file, several predictors or a "
                "penalised intercept. Use solver='proximal-newton', which needs only sums."
            )
        if not isinstance(self.penalty, ElasticNet):
            raise InvalidInput(
                "Coordinate descent was asked for with groups of columns; it moves one at a time. "
                "Use solver='proximal-newton', or 'auto'."
            )
        n = self.data.framing.n_coefficients
        found = ColumnsInMemory.of(
            self.loss,  # type: ignore[arg-type]  # estimators pass likelihoods
            self.data.rows,
            l1=np.asarray(self.penalty.l1)[:n],
            l2=np.asarray(self.penalty.l2)[:n],
            intercept=self.data.framing.intercept,
        )
        return replace(found, unit=self.unit)

    def dual(self) -> Rows:
        if not self._is_ridge_logit():
            raise UnsupportedAccess(
                "Dual coordinate descent needs rows in memory, the logit link, one l2 > 0 for all "
                "coefficients and an unpenalised intercept. Use solver='newton' or 'lbfgs'."
            )
        ridge = self._ridge()
        assert ridge is not None, "a ridge logit has one"
        found = Rows.of(self.data.rows, ridge=ridge, intercept=self.data.framing.intercept)
        return replace(found, unit=self.unit)

    def batches(self, start: Array) -> RowBatches:
        if not self.in_batches:
            raise UnsupportedAccess(
                "Stochastic gradient descent was asked for, and some parameters are no model here: "
                "thresholds must fall, means be valid, a dispersion be known. Linear, logistic or "
                "softmax regression was expected, or a GLM with a link for which every mean is "
                "valid, such as log. Use solver='auto'."
            )
        return RowBatches(
            self.objective,
            self.data.start,
            scales=self._curvature_units(start),
            unit=self.unit,
            passes=self.data.passes,
        )

    def _curvature_units(self, start: Array) -> Array | None:
        """Units of θ in which the mean curvature at the start is 1 for each; None if too costly."""
        if not self.shape.hessian_is_affordable:
            return None
        weight = self.executor.sum(block_weight, self.data.start).value
        curvature = np.diag(self.on_start_rows.second_order(start).hessian) / weight
        flat = not np.isfinite(curvature).all()
        least = LEAST_CURVATURE * curvature.max(initial=0.0)
        return None if flat or not least > 0 else np.sqrt(np.maximum(curvature, least))

    def from_data(self, theta: Array) -> Array:
        return self.data.framing.from_user(theta)

    def to_data(self, theta: Array) -> Array:
        return self.data.framing.to_user(theta)

    def count_passes(self, passes: float) -> None:
        self.data.passes.append(passes)

    def near(self, start: Array) -> Array:
        return start if self.first_steps is None else self.first_steps(self, start)

    def units(self, theta: Array) -> Preconditioner | None:
        if self.units_at is not None:
            return self.units_at(self, theta)
        if not self.shape.hessian_is_affordable:
            return None
        return Triangular(
            robust_factor(self.on_start_rows.second_order(theta).hessian / self.share)
        )

    def single_units(self, theta: Array) -> Array | None:
        if self.shape.groups or not self.shape.hessian_is_affordable:
            return None
        hessian = self.on_start_rows.second_order(theta).hessian / self.share
        return unit_diagonal(hessian)[0] if np.isfinite(hessian).all() else None

    def _is_ridge_logit(self) -> bool:
        logit = isinstance(self.loss, BernoulliLogit)
        return logit and self.has_columns and self._ridge() is not None

    def _last_is_free(self) -> bool:
        return bool(self.penalty.free(self.n_parameters)[-1])

    def _ridge(self) -> float | None:
        """The strength that all coefficients share, if they do and it is above 0."""
        n = self.data.framing.n_coefficients
        strengths = self.penalty.curvature(np.zeros(self.n_parameters))[:n]
        shared = strengths.size > 0 and strengths[0] > 0 and bool((strengths == strengths[0]).all())
        return float(strengths[0]) if shared else None


def block_weight(block: Block) -> Total:
    """Σ w."""
    return Total(weighted_sum(block.weight, np.ones(block.n_rows)))


def linear_problem(loss: Loss, penalty: Penalty, data: Framed, executor: Executor) -> Problem:
    """The problem of one likelihood and one predictor."""

    def on(blocks: Blocks, share: float, executor: Executor) -> LinearObjective:
        return LinearObjective(loss, penalty.scaled(share), blocks, executor)

    return Problem(on, penalty, data, executor, loss=loss)


def column_noise(mean: Array, weight: float) -> Array:
    """The length that rounding may leave of a centred column: a few ulp of its mean per row."""
    return np.asarray(A_FEW_ULP * np.abs(mean) * np.sqrt(weight))


class Orthogonal(NamedTuple):
    """A problem with orthogonal columns, and what is known of the columns as they are."""

    problem: Problem
    solved: LeastSquares  # their rank and condition


def with_orthogonal_columns(
    problem: Problem, found: Found, *, centre: bool | None = None
) -> Orthogonal | None:
    """The problem for orthogonal columns where some nearly depend on others; else None.

    Only the Hessian at the end of a search makes it suspect; then two passes show whether the
    columns nearly depend on each other, or their curvature has vanished.  ``centre`` tells whether
    there are intercepts, if not in the columns.
    """
    data = problem.data
    if not problem.penalty.free(problem.n_parameters).all():
        return None
    least = found.least_pivot
    if found.hessian is None and not found.solution.stopped and problem.shape.hessian_is_affordable:
        state = Newton(problem.intercepts).init(problem.objective, found.theta)
        least = 0.0 if state.held else state.least_pivot
    if least >= NEARLY**2:
        return None
    centre = data.framing.intercept if centre is None else centre
    known = tuple(j % data.framing.n_parameters for j in found.held)
    columns = data.rows.n_features
    other = orthogonal(data, problem.executor, n_columns=columns, centre=centre, known=known)
    return None if other is None else Orthogonal(replace(problem, data=other[0]), other[1])


def with_redundant(problem: Problem, found: Found) -> Found:
    """The end of a search over orthogonal columns, with the redundant ones named by any solver."""
    basis, width = problem.data.framing.basis, problem.data.framing.n_parameters
    if basis is None:
        return found
    zero = np.flatnonzero(np.diag(basis) == 0).tolist()
    held = {k * width + j for k in range(problem.n_predictors) for j in zero}
    return found._replace(held=tuple(sorted(held | set(found.held))))


def orthogonal(
    data: Framed, executor: Executor, *, n_columns: int, centre: bool, known: Sequence[int] = ()
) -> tuple[Framed, LeastSquares] | None:
    """The blocks with orthogonal columns, if some of them nearly depend on others; else None.

    The second value has the rank and the condition of the columns.  Columns that depend on others
    exactly are 0; where a search has ``known`` them all, nothing is replaced on their account.  The
    means and the QR factor of the blocks are totals of two passes.
    """
    framing, sums = data.framing, executor.sum(partial(block_sums), data.blocks)
    mean = np.asarray(sums.x[:n_columns] / sums.weight) * float(centre)
    if centre and framing.centre is None:  # a mean of centred rows has the digits of a constant
        mean = nearer_mean(data.blocks, mean, executor)
    old = np.zeros(n_columns)
    if framing.centre is not None:
        old[: len(framing.centre)] = framing.centre
    factor = executor.sum(partial(block_factor, mean, np.zeros(())), data.blocks)
    solved = solve_qr(factor, noise=column_noise(old + mean, sums.weight))
    kept = np.setdiff1d(np.arange(n_columns), solved.redundant)
    R = np.linalg.qr(factor.R[:, kept], mode="r")
    lengths, from_0 = np.linalg.norm(R, axis=0), np.abs(mean[kept]) * np.sqrt(sums.weight)
    nearly = (np.abs(np.diag(R)) < NEARLY * lengths) | (lengths < NEARLY * from_0)
    if not nearly.any() and set(solved.redundant) <= set(known):
        return None
    basis = np.zeros((n_columns, n_columns))
    basis[np.ix_(kept, kept)] = R / np.sqrt(sums.weight)
    framing = replace(framing, centre=old + mean if centre else None, basis=basis)
    width = data.blocks.n_features
    counted = CountedBlocks(data.rows, data.passes)
    some: Blocks = counted
    if data.share < 1:
        some = first_rows(counted, data.share)
        data.passes[-1] = data.share
    return data._replace(
        blocks=redesigned(counted, framing, width),
        start=redesigned(some, framing, width),
        framing=framing,
    ), solved


def warn_of_condition(
    estimator: str, solved: LeastSquares, names: Callable[[], Sequence[str]]
) -> None:
    """Warn, for an estimator, where dependence leaves coefficients few correct digits."""
    if solved.condition <= CONDITION_TO_WARN_OF:
        return
    inflated = np.linalg.norm(solved.span.root * solved.span.lengths[:, None], axis=1)
    # of a pair that is inflated alike the later one, not the one that rounding makes larger
    nearest = int(np.flatnonzero(inflated >= ALIKE * inflated.max())[-1])
    digits = count(max(int(-np.log10(solved.condition * MACHINE)), 0), "digit")
    warn_user(
        f"{estimator}: {names()[nearest]!r} can nearly be computed from other "
        f"columns (condition {solved.condition:.1e}), so rounding leaves about "
        f"{digits} of the coefficients correct. Drop a column, centre a column before "
        "taking its powers, or give a penalty (l2=1.0).",
        RedundantColumns,
    )
