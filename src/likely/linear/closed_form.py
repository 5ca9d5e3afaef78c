"""Least squares and ridge in closed form: one pass for the Gram matrix, one more for a QR factor.

    (XᵀWX + K) β = XᵀWy        normal equations, which square the condition number
    R β = Qᵀ√W y               QR, taken where columns nearly depend on one another
    β = X⁺ y                   of minimum norm, where they do

All three are of centred columns: the intercept is eliminated first, and exactly.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput, RedundantColumns, warn_user
from likely.formatting import quoted
from likely.likelihoods.gaussian import Gaussian
from likely.likelihoods.responses import likelihood_of
from likely.linear.coding import Coding, LinearRows, refuse_gaps
from likely.linear.covariance import Bread, small_sample
from likely.linear.fitting import in_session
from likely.linear.framing import Framed, framed, mean_response
from likely.linear.inference import Inference, infer
from likely.linear.penalty import elastic_net
from likely.objectives.least_squares import (
    Eliminated,
    block_factor,
    block_gram,
    without_intercept,
)
from likely.solvers.choice import CONDITION_FOR_QR
from likely.solvers.least_squares import (
    GramTotals,
    LeastSquares,
    LeastSquaresTotals,
    solve_minimum_norm,
    solve_normal_equations,
    solve_qr,
)
from likely.solvers.minimise import Solution


class ClosedForm(NamedTuple):
    """A fitted predictor, with the fields of ``LinearFit`` and what least squares adds."""

    coef: Array
    intercept: Any
    solution: Solution
    inference: Inference | None
    rank: int
    condition: float
    variance: Array | float


@in_session
def fit_closed_form(estimator: Any, rows: LinearRows) -> ClosedForm:
    """From one pass, or two."""
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
    if not np.isfinite(gram.gram).all():
        refuse_gaps(rows.blocks, rows.coding.names)
        raise InvalidInput(
            "The sums of squares are not finite: values are too large for double precision. "
            "Divide the columns by a round number."
        )
    l2 = elastic_net(
        estimator,
        rows.coding,
        data.framing,
        l1=0.0,
        l2=estimator.l2,
        intercept=estimator.penalise_intercept,
    ).l2
    l2 = np.asarray(l2)
    centred = without_intercept(gram) if free else _as_they_are(gram)
    solved = _solved(estimator.solver, centred, l2[: len(centred.totals.gram)], data, rows, shift)
    _warn_of_redundant(estimator, solved, rows.coding)
    return _assembled(estimator, solved, centred, gram, l2, data, rows, shift)


def _as_they_are(gram: GramTotals) -> Eliminated:
    """Without a free intercept nothing is eliminated."""
    responses = gram.moment.shape[1:]
    return Eliminated(gram, np.zeros(len(gram.gram)), np.zeros(responses))


def _solved(
    solver: str, centred: Eliminated, l2: Array, data: Framed, rows: LinearRows, shift: Array
) -> LeastSquares:
    """The solution by the solver of that name; ``auto`` goes from the fastest to the most exact."""
    if solver in ("auto", "normal-equations"):
        solved = solve_normal_equations(centred.totals, l2)
        exact = solved.method == "normal equations" and solved.condition < CONDITION_FOR_QR
        if exact or solver != "auto":
            return solved
    term = partial(block_factor, centred.mean_x, shift + centred.mean_y)
    factor = rows.executor.sum(term, data.blocks)
    if l2.any():
        factor = factor + LeastSquaresTotals.ridge(l2, factor)
    return solve_minimum_norm(factor) if solver == "minimum-norm" else solve_qr(factor)


def _warn_of_redundant(estimator: Any, solved: LeastSquares, coding: Coding) -> None:
    if not solved.redundant or estimator.solver == "minimum-norm":
        return
    names = coding.names()
    redundant = [names[j] for j in solved.redundant if j < len(names)]
    if not redundant:
        return
    warn_user(
        f"{type(estimator).__name__}: {quoted(redundant)} can be computed from other columns, or "
        f"never var{'y' if len(redundant) > 1 else 'ies'}; of many solutions the one of minimum "
        "norm was taken. Drop the column, or give a penalty (l2=1.0); solver='minimum-norm' asks "
        "for this answer without a warning.",
        RedundantColumns,
    )


def _assembled(
    estimator: Any,
    solved: LeastSquares,
    centred: Eliminated,
    gram: GramTotals,
    l2: Array,
    data: Framed,
    rows: LinearRows,
    shift: Array,
) -> ClosedForm:
    theta = solved.theta
    if data.framing.intercept and not estimator.penalise_intercept:
        theta = np.concatenate([theta, (centred.intercept(theta) + shift)[None]])
    squares = _residual_squares(gram, theta, shift, data)
    penalty = 0.5 * np.sum((l2 * theta.T) * theta.T, axis=-1)
    inference = None
    if gram.moment.ndim == 1 and estimator.covariance is not None:
        inference = _inference(estimator, theta, gram, l2, data, rows)
    user = data.framing.to_user(theta.T)
    solution = Solution(
        theta=user,
        converged=True,
        reason="the answer is in closed form",
        trace=(float(np.sum(squares / 2 + penalty)),),
        gap=0.0,
        solver=solved.method,
        passes=float(sum(data.passes)),
    )
    coef = user[..., :-1] if data.framing.intercept else user
    intercept = user[..., -1] if data.framing.intercept else np.zeros(user.shape[:-1])
    return ClosedForm(
        coef=coef,
        intercept=_number(intercept),
        solution=solution,
        inference=inference,
        rank=solved.rank,
        condition=solved.condition,
        variance=_variance(squares, theta, gram, l2) if inference is None else inference.dispersion,
    )


def _variance(squares: Array, theta: Array, gram: GramTotals, l2: Array) -> Array | float:
    """σ² of each response, by Σ w (y − μ)² / (Σ w − p), p the effective number of coefficients."""
    used = Bread.of(gram.gram, l2, np.arange(len(theta))).n_parameters
    return _number(squares * small_sample(1.0, gram.weight - used))


def _number(values: Array) -> Array | float:
    """A float of one response, an array of several."""
    return values if np.ndim(values) else float(values)


def _residual_squares(gram: GramTotals, theta: Array, shift: Array, data: Framed) -> Array:
    """Σ w (y − xθ)² of each response, from the totals."""
    moved = theta.copy()
    if data.framing.intercept:
        moved[-1] -= shift
    fitted = np.dot(gram.gram, moved)
    return np.maximum(gram.squares + np.sum(moved * (fitted - 2 * gram.moment), axis=0), 0.0)


def _inference(
    estimator: Any, theta: Array, gram: GramTotals, l2: Array, data: Framed, rows: LinearRows
) -> Inference:
    names = rows.coding.names() + (("intercept",) if data.framing.intercept else ())
    return infer(
        likelihood_of(Gaussian()),
        theta,
        gram.gram,
        l2,
        names,
        data.blocks,
        rows.executor,
        covariance=estimator.covariance,
        distribution="t",
        n_groups=rows.n_groups,
        jacobian=data.framing.jacobian(),
    )
