"""Least squares and ridge in closed form: one pass for the Gram matrix, one more for a QR factor.

    (XᵀWX + K) β = XᵀWy        normal equations, which square the condition number
    R β = Qᵀ√W y               QR, used where columns are nearly dependent
    β = X⁺ y                   of minimum norm, where they are dependent

All three use centred columns: the intercept is eliminated first, and exactly.  Where the columns
are nearly orthogonal, that is all.  Otherwise one step of refinement follows, from the
residuals of the data:

    β ← β + (XᵀWX + K)⁻¹ (XᵀW(y − Xβ) − Kβ)
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.data.block import Blocks, CountedBlocks, redesigned
from likely.data.coding import Coding
from likely.errors import InvalidInput, RedundantColumns, warn_user
from likely.formatting import quoted
from likely.inputs.coding import refuse_gaps
from likely.likelihoods.gaussian import Gaussian
from likely.likelihoods.responses import likelihood_of
from likely.linear.coding import LinearRows
from likely.linear.covariance import Bread, small_sample
from likely.linear.fitting import in_session, parts
from likely.linear.framing import (
    Framed,
    Framing,
    framed,
    mean_response,
    nearer_mean,
    refuse_extreme_responses,
)
from likely.linear.infer import infer
from likely.linear.inference import Inference
from likely.linear.near_dependence import column_noise, warn_of_condition
from likely.linear.penalty import spread, strengths_of
from likely.objectives.least_squares import (
    Eliminated,
    block_factor,
    block_gram,
    block_residuals,
    without_intercept,
)
from likely.solvers.choice import CONDITION_FOR_QR, solver_name
from likely.solvers.least_squares import (
    GramTotals,
    LeastSquares,
    LeastSquaresTotals,
    solve_minimum_norm,
    solve_normal_equations,
    solve_qr,
)
from likely.solvers.minimise import Solution

CONDITION_OF_NORMAL_EQUATIONS = 1e6  # above, refinement leaves fewer than 7 digits
CONDITION_TO_REFINE = 30.0  # below, the normal equations keep 13 digits
FAR_FROM_0 = 1e6  # standard deviations
MOST_CELLS_TO_EXTEND = 1e5  # beyond, extended precision costs more than it is worth


class ClosedForm(NamedTuple):
    """A fitted predictor, with the fields of ``LinearFit`` and those of least squares."""

    coef: Array
    intercept: Any
    solution: Solution
    inference: Inference | None
    rank: int
    condition: float
    dispersion: Array | float
    ml_dispersion: Array | float


class _Setting(NamedTuple):
    """The totals before anything is solved."""

    estimator: Any
    rows: LinearRows
    data: Framed
    shift: Array  # of y, near its mean
    gram: GramTotals  # of framed columns, with the intercept
    centred: Eliminated
    l2: Array

    @property
    def free(self) -> bool:
        """Whether there is an intercept without a penalty, which is eliminated."""
        return bool(self.estimator.fit_intercept and not self.estimator.penalise_intercept)

    @property
    def mean(self) -> Array:
        """For the original columns."""
        centre, mean = self.data.framing.centre, np.array(self.centred.mean_x)
        if centre is not None:
            mean[: len(centre)] += centre
        return mean

    @property
    def noise(self) -> Array:
        """The length that rounding may leave of each centred column."""
        return column_noise(self.mean, self.gram.weight)

    @property
    def cancellation(self) -> float:
        """By how much a column is longer than what the elimination of the intercept left of it.

        The Gram matrix has lost its square times ε; only columns that are not centred, such as
        sparse ones, are far from 0.
        """
        left = np.diag(self.centred.totals.gram)
        before = np.diag(self.gram.gram)[: len(left)]
        ratio = np.divide(before, left, out=np.full(len(left), np.inf), where=left > 0)
        return float(np.sqrt(np.max(ratio[before > 0], initial=1.0)))

    def ridge(self, coef: Array) -> Array:
        """Kβ."""
        return (self.l2[: len(coef)] * coef.T).T


@in_session
def fit_closed_form(estimator: Any, rows: LinearRows) -> ClosedForm:
    """From one pass, or two or three."""
    refuse_extreme_responses(rows.blocks)
    free = estimator.fit_intercept and not estimator.penalise_intercept
    data = framed(
        rows.blocks,
        rows.executor,
        names=rows.coding.names,
        intercept=estimator.fit_intercept,
        centre=free,
    )
    shift = np.asarray(mean_response(data.start, rows.executor)) * float(free)
    gram = rows.executor.sum(partial(block_gram, shift), data.blocks)
    if not np.isfinite(gram.gram).all() or not np.isfinite(gram.squares).all():
        refuse_gaps(rows.blocks, rows.coding.names)
        raise InvalidInput(
            "The sums of squares are not finite: values are too large for double precision. "
            "Divide the columns, the responses or the weights by a round number."
        )
    l2 = spread(
        estimator,
        rows.coding,
        data.framing,
        strengths_of(estimator),
        intercept=estimator.penalise_intercept,
    ).l2
    centred = without_intercept(gram) if free else _as_they_are(gram)
    setting = _Setting(estimator, rows, data, shift, gram, centred, np.asarray(l2))
    if setting.cancellation > CONDITION_TO_REFINE:
        mean = nearer_mean(data.blocks, centred.mean_x, rows.executor)
        setting = setting._replace(centred=centred._replace(mean_x=mean))
    solved = _solved(setting)
    _warn_of_redundant(estimator, solved, rows.coding)
    return _assembled(setting, solved)


def _as_they_are(gram: GramTotals) -> Eliminated:
    """Without a free intercept nothing is eliminated."""
    responses = gram.moment.shape[1:]
    return Eliminated(gram, np.zeros(len(gram.gram)), np.zeros(responses))


def _solved(setting: _Setting) -> LeastSquares:
    """The solution by the named solver; ``auto`` goes from the fastest to the most exact.

    The normal equations decide no rank: where columns may be dependent, a QR factor does.
    """
    solver = solver_name(setting.estimator.solver)
    centred, noise = setting.centred, setting.noise
    l2 = setting.l2[: len(centred.totals.gram)]
    if solver in ("auto", "normal-equations"):
        solved = solve_normal_equations(centred.totals, l2, noise=noise)
        most = CONDITION_FOR_QR if solver == "auto" else CONDITION_OF_NORMAL_EQUATIONS
        exact = solved.condition < most and setting.cancellation < CONDITION_FOR_QR
        if solved.method == "normal equations" and exact:
            return solved
    term = partial(block_factor, centred.mean_x, setting.shift + centred.mean_y)
    factor = setting.rows.executor.sum(term, setting.data.blocks)
    if l2.any():
        factor = factor + LeastSquaresTotals.ridge(l2, factor)
    if solver == "minimum-norm":
        return solve_minimum_norm(factor, noise=noise)
    return solve_qr(factor, noise=noise)


def _warn_of_redundant(estimator: Any, solved: LeastSquares, coding: Coding) -> None:
    names = coding.names()
    redundant = [names[j] for j in solved.redundant if j < len(names)]
    if redundant and solver_name(estimator.solver) == "minimum-norm":
        return
    if redundant:
        warn_user(
            f"{type(estimator).__name__}: {quoted(redundant)} can be computed from other columns, "
            f"or never var{'y' if len(redundant) > 1 else 'ies'}; the solution of "
            "minimum norm was used. Drop the column, or give a penalty (l2=1.0); "
            "solver='minimum-norm' gives this solution without a warning.",
            RedundantColumns,
        )
    else:
        warn_of_condition(estimator, solved, names)


def _assembled(setting: _Setting, solved: LeastSquares) -> ClosedForm:
    estimator, data = setting.estimator, setting.data
    user = data.framing.to_user(_with_intercept(setting, solved.theta).T).T
    squares = None
    worst = max(solved.condition, setting.cancellation)
    if len(solved.theta) == solved.rank and worst > CONDITION_TO_REFINE:
        user, squares = _refined(setting, solved, user)
    theta = data.framing.from_user(user.T).T
    if squares is None:
        squares = _residual_squares(setting, theta)
    penalty = 0.5 * np.sum((setting.l2 * theta.T) * theta.T, axis=-1)
    bread = _bread(setting, solved)
    inference = None
    if setting.gram.moment.ndim == 1 and estimator.standard_errors is not None:
        inference = _inference(setting, theta, bread, solved.held)
        dispersion: Array | float = inference.dispersion
    else:
        df_residual = setting.gram.weight - bread.n_parameters
        dispersion = _number(squares * small_sample(1.0, df_residual))
    solution = Solution(
        theta=user.T,
        converged=True,
        reason="the answer is in closed form",
        trace=(float(np.sum(squares / 2 + penalty)),),
        gap=0.0,
        solver=solved.method,
        passes=float(sum(data.passes)),
    )
    coef, intercept = parts(user.T, data.framing)
    return ClosedForm(
        coef=coef,
        intercept=_number(intercept),
        solution=solution,
        inference=inference,
        rank=solved.rank,
        condition=solved.condition,
        dispersion=dispersion,
        ml_dispersion=_number(squares / setting.gram.weight)
        if inference is None
        else inference.deviance / inference.n,
    )


def _with_intercept(setting: _Setting, coef: Array) -> Array:
    """θ of the framed columns."""
    if not setting.free:
        return coef
    return np.concatenate([coef, (setting.centred.intercept(coef) + setting.shift)[None]])


def _refined(setting: _Setting, solved: LeastSquares, user: Array) -> tuple[Array, Array]:
    """θ of the original data after one step, and Σ w (y − xθ)² there.

    For small tables the residuals are computed in extended precision, from the original columns;
    for others, and for columns far from 0, in double precision, from centred columns.
    """
    framing, rows = setting.data.framing, setting.rows
    n_cells = (rows.blocks.n_rows or np.inf) * framing.n_parameters
    # a mean that is far from 0 has itself a rounding error, which a step would multiply
    spreads = solved.span.lengths / np.sqrt(setting.gram.weight)
    far = bool((np.abs(setting.mean) > FAR_FROM_0 * spreads).any())
    extended = n_cells <= MOST_CELLS_TO_EXTEND and not far
    if extended:
        plain = Framing(framing.n_coefficients, framing.intercept, None)
        rows_as_they_came = CountedBlocks(rows.blocks, setting.data.passes)
        blocks: Blocks = redesigned(rows_as_they_came, plain, framing.n_parameters)
        theta, mean = user, setting.mean
    else:
        blocks, theta, mean = (
            setting.data.blocks,
            framing.from_user(user.T).T,
            setting.centred.mean_x,
        )
    left = rows.executor.sum(partial(block_residuals, theta, extended), blocks)
    moment = left.moment
    if setting.free:
        moment = moment[:-1] - np.multiply.outer(mean, moment[-1])
    root, coef = solved.span.root, theta[: len(moment)]
    step = np.dot(root, np.dot(root.T, np.asarray(moment - setting.ridge(coef), dtype=float)))
    fall = np.sum(step * np.asarray(moment, dtype=float), axis=0)
    if setting.free:
        last = left.moment[-1] / setting.gram.weight - np.dot(mean, step)
        step = np.concatenate([step, np.asarray(last, dtype=float)[None]])
    squares = np.maximum(np.asarray(left.squares, dtype=float) - fall, 0.0)
    moved = theta + step
    return moved if extended else framing.to_user(moved.T).T, squares


def _number(values: Array | float) -> Array | float:
    """A float for one response, an array for several."""
    return values if np.ndim(values) else float(values)


def _residual_squares(setting: _Setting, theta: Array) -> Array:
    """Σ w (y − xθ)² of each response, from the totals."""
    gram, moved = setting.gram, theta.copy()
    if setting.data.framing.intercept:
        moved[-1] -= setting.shift
    fitted = np.dot(gram.gram, moved)
    return np.maximum(gram.squares + np.sum(moved * (fitted - 2 * gram.moment), axis=0), 0.0)


def _bread(setting: _Setting, solved: LeastSquares) -> Bread:
    """The inference from the factor that gave the estimates, with the intercept restored.

    At the means of the columns the intercept is independent of β̂: b̄ = b + x̄ᵀβ.
    """
    span, mean, W = solved.span, setting.centred.mean_x, setting.gram.weight
    root, null, lengths = span.root, span.null, span.lengths
    held = np.isin(np.arange(len(root)), solved.held)
    if setting.free:
        beside = np.zeros((len(root), 1))
        root = np.block([[root, beside], [-mean @ root, np.full((1, 1), W**-0.5)]])
        null = np.vstack([null, -mean @ null])
        held, lengths = np.append(held, False), np.append(lengths, np.sqrt(W))
    middle = root.T @ setting.gram.gram @ root if setting.l2.any() else np.eye(root.shape[1])
    return Bread(root, held, null, lengths, middle)


def _inference(setting: _Setting, theta: Array, bread: Bread, held: tuple[int, ...]) -> Inference:
    data, rows = setting.data, setting.rows
    names = rows.coding.names() + (("intercept",) if data.framing.intercept else ())
    return infer(
        likelihood_of(Gaussian()),
        theta,
        bread,
        setting.l2,
        names,
        data.blocks,
        rows.executor,
        standard_errors=setting.estimator.standard_errors,
        distribution="t",
        redundant=held,
        n_groups=rows.n_groups,
        jacobian=data.framing.jacobian(),
        intercept=data.framing.intercept,
    )
