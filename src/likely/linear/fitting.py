"""The fit of one predictor to one response: from rows to coefficients with standard errors.

    θ̂ = argmin Σ_i w_i nll(y_i, b + x_iᵀβ + o_i) + Σ_j λ_j|β_j| + ½ Σ_j κ_j β_j²

All scalar linear models use this function with different likelihoods.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, wraps
from math import isfinite, nan
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from likely._typing import Array
from likely.data.block import ArrayBlocks, Block, Blocks, checked
from likely.errors import InvalidInput, RedundantColumns, Separation, warn_user
from likely.formatting import quoted
from likely.inputs.coding import refuse_gaps
from likely.inputs.estimators import columns_named, warn_unless_converged
from likely.likelihoods.base import Likelihood
from likely.linear.coding import LinearRows
from likely.linear.covariance import (
    MOST_FOR_INFERENCE,
    Dispersion,
    check_covariance,
    estimated_dispersion,
    kind_of_errors,
)
from likely.linear.divergence import Divergence, divergence, separated_directions
from likely.linear.edge import (
    EVERYWHERE,
    EdgeOptimum,
    optimum_at_edge,
    steps_allowed,
    valid_start,
    warn_of_edge,
)
from likely.linear.framing import (
    Framed,
    Framing,
    framed,
    mean_response,
    refuse_extreme_responses,
)
from likely.linear.given_start import predictor_given
from likely.linear.held_rows import hold_out
from likely.linear.infer import infer
from likely.linear.inference import Inference
from likely.linear.near_dependence import with_orthogonal_columns, with_redundant
from likely.linear.penalty import Spread, spread, strengths_of
from likely.linear.problem import Problem, linear_problem
from likely.objectives.inference import (
    NullTotals,
    block_null,
    block_null_at,
    has_constant_variance,
)
from likely.solvers.choice import finish, hessian_at, solve
from likely.solvers.minimise import Solution
from likely.solvers.search_problem import Found

SAME = 1e-6  # of the largest entry of a direction
USUAL_STEPS = 3  # of the last digits; a search that diverges takes more


class LinearFit(NamedTuple):
    """A fitted predictor."""

    coef: Array
    intercept: float
    solution: Solution
    inference: Inference | None
    separated: bool = False
    rank: float = nan  # of least squares; a search does not know it
    condition: float = nan
    dispersion: float = nan
    ml_dispersion: float = (
        nan  # of a Gaussian RSS/n, where its likelihood is largest; else the same
    )


Fit = TypeVar("Fit", bound=Callable[..., Any])


def in_session(fit: Fit) -> Fit:
    """A fit within one session of the executor; its errors name columns."""

    @wraps(fit)
    def wrapper(estimator: Any, rows: LinearRows, *args: Any, **named: Any) -> Any:
        kind = kind_of_errors(estimator)
        if kind is not None:
            check_covariance(kind, rows.n_groups)
        with columns_named(estimator), rows.executor.session():
            return fit(estimator, rows, *args, **named)

    return cast("Fit", wrapper)


@in_session
def fit_linear(
    estimator: Any, rows: LinearRows, likelihood: Likelihood, *, distribution: str = "z"
) -> LinearFit:
    """Solve, warn about problems, and estimate the standard errors of the coefficients."""
    blocks, held = hold_out(estimator, with_valid_responses(rows, likelihood))
    rows = rows._replace(blocks=blocks)
    problem = replace(problem_of(estimator, rows, likelihood), held_rows=held)
    data = problem.data
    start = start_of(likelihood, data, rows)
    problem = problem.measured(
        null_of(likelihood, data, rows, start),
        dispersion_is_known=likelihood.response.dispersion_is_known,
    )
    found, edge, infinite = _optimum(estimator, problem, likelihood, start, rows)
    other = with_orthogonal_columns(problem, found, rows, warned_by=estimator)
    if other is not None:
        problem, data = other, other.data
        start = start_of(likelihood, data, rows)
        found, edge, infinite = _optimum(estimator, problem, likelihood, start, rows)
        found = with_redundant(problem, found)
    warn_of_fit(estimator, found, rows.coding.names, infinite, rows.coding.references())
    inference = errors_of(estimator, problem, found, rows, likelihood, distribution=distribution)
    if infinite is not None and inference is not None:
        inference = without_separated(inference, infinite, problem, likelihood)
    if edge is not None and edge.n_rows:
        warn_of_edge(type(estimator).__name__, likelihood, edge)
        inference = None if inference is None else inference.without_errors(edge.n_rows)
    theta = data.framing.to_user(found.theta)
    solution = replace(found.solution, theta=theta, passes=float(sum(data.passes)))
    coef, intercept = parts(theta, data.framing)
    dispersion = dispersion_of(problem, found, likelihood, inference)
    return LinearFit(
        coef,
        float(intercept),
        solution,
        inference,
        infinite is not None,
        dispersion=dispersion.value,
        ml_dispersion=dispersion.at_maximum,
    )


class _Optimum(NamedTuple):
    """The end of a search: in the interior, at the edge of the valid means, or at infinity."""

    found: Found
    edge: EdgeOptimum | None
    infinite: Divergence | None


def _optimum(
    estimator: Any, problem: Problem, likelihood: Likelihood, start: Array, rows: LinearRows
) -> _Optimum:
    """Search, and search on where standard errors need an estimate that is more exact."""
    last = last_fit(estimator, problem.data.framing)
    if last is not None and not isfinite(problem.objective.value(last)):
        last = None  # other rows than those of the last fit
    found = solve(
        problem,
        start,
        last=last,
        solver=estimator.solver,
        tol=estimator.tol,
        max_iter=steps_allowed(problem, likelihood, estimator.solver, estimator.max_iter),
        stop=estimator.stop,
    )
    edge = None
    if not found.solution.stopped:
        edge = optimum_at_edge(problem, likelihood, found, start, tol=estimator.tol)
    found = found if edge is None else edge.found
    refuse_if_not_finite(found, rows)
    infinite = divergence(problem, found, start) if edge is None else None
    inside = edge is None or not edge.n_rows
    if inside and infinite is None and has_errors(estimator, problem.data.framing):
        n_iter = found.solution.n_iter
        found = finish(problem, start, found, tol=estimator.tol, max_iter=estimator.max_iter)
        if edge is None and found.solution.n_iter > n_iter + USUAL_STEPS:
            infinite = divergence(problem, found, start)
    return _Optimum(found, edge, infinite)


def without_separated(
    inference: Inference, infinite: Divergence, problem: Problem, likelihood: Likelihood
) -> Inference:
    """Without robust errors where the responses are separated: the scores there are all 0.

    Those of the model are finite only because the search stopped, and so large that they show it.
    """
    if inference.covariance_kind in ("model", "quasi"):
        return inference
    data = problem.data
    along = separated_directions(likelihood, infinite.direction, data.blocks, problem.executor)
    return inference.without_errors_along(data.framing.jacobian() @ along)


def problem_of(
    estimator: Any, rows: LinearRows, likelihood: Likelihood, *, centre: bool = True
) -> Problem:
    """What the estimator minimises on these rows."""
    refuse_extreme_responses(rows.blocks)
    data, each = framed_and_penalised(estimator, rows, centre=centre)
    problem = linear_problem(likelihood, each.penalty, data, rows.executor)
    return replace(problem, in_batches=likelihood.etas == EVERYWHERE)


def framed_and_penalised(
    estimator: Any, rows: LinearRows, *, centre: bool
) -> tuple[Framed, Spread]:
    """The framed rows, and the penalty on the parameters of one predictor."""
    data = framed(
        rows.blocks,
        rows.executor,
        names=rows.coding.names,
        intercept=estimator.fit_intercept,
        centre=centre and not estimator.penalise_intercept,
    )
    return data, spread(
        estimator,
        rows.coding,
        data.framing,
        strengths_of(estimator),
        intercept=estimator.penalise_intercept,
    )


def dispersion_of(
    problem: Problem, found: Found, likelihood: Likelihood, inference: Inference | None
) -> Dispersion:
    """ψ, known from the inference or from a pass of its own."""
    if inference is not None:
        gaussian = has_constant_variance(likelihood)
        at_maximum = inference.deviance / inference.n if gaussian else inference.dispersion
        return Dispersion(inference.dispersion, at_maximum)
    held = found.held
    return estimated_dispersion(likelihood, problem.objective, found.theta, redundant=held)


def parts(theta: Array, framing: Framing) -> tuple[Array, Array | float]:
    """The coefficients, and the intercept or 0."""
    if framing.intercept:
        return theta[..., :-1], theta[..., -1]
    return theta, np.zeros(theta.shape[:-1])[()]


def with_valid_responses(rows: LinearRows, likelihood: Likelihood) -> Blocks:
    """Blocks whose responses are valid: checked now for arrays, while reading for a file."""
    if isinstance(rows.blocks, ArrayBlocks):
        likelihood.check(rows.blocks.target)
        return rows.blocks
    return checked(rows.blocks, partial(_check_responses, likelihood))


def _check_responses(likelihood: Likelihood, block: Block) -> None:
    likelihood.check(block.target)


def start_of(likelihood: Likelihood, data: Framed, rows: LinearRows) -> Array:
    """The constant model, or 0 without an intercept; where η is not valid there, a valid one."""
    start = np.zeros(data.framing.n_parameters)
    eta = likelihood.eta_of_mean(np.asarray(mean_response(data.start, rows.executor)))
    if data.framing.intercept:
        start[-1] = float(np.asarray(eta)) - mean_offset(data)
    if likelihood.etas == EVERYWHERE:
        return start
    return valid_start(likelihood, start, float(np.asarray(eta)), data.blocks, rows.executor)


def null_of(likelihood: Likelihood, data: Framed, rows: LinearRows, start: Array) -> NullTotals:
    """The constant model on the rows to start from, or a valid one where that is not."""
    if likelihood.etas != EVERYWHERE:
        return rows.executor.sum(partial(block_null_at, likelihood, start), data.start)
    eta = float(start[-1]) if data.framing.intercept else 0.0
    return rows.executor.sum(partial(block_null, likelihood, eta), data.start)


def has_errors(estimator: Any, framing: Framing) -> bool:
    """Whether standard errors are computed: they are requested, and no matrix is too large."""
    return estimator.standard_errors is not None and framing.n_parameters <= MOST_FOR_INFERENCE


def last_fit(estimator: Any, framing: Framing) -> Array | None:
    """The estimate of the last fit, or the weights that were given, if a search starts there."""
    theta, given = last_theta(estimator, framing.n_parameters), vars(estimator).get("start")
    if theta is None and given is not None:
        return predictor_given(given, framing)
    return None if theta is None else framing.from_user(theta)


def last_theta(estimator: Any, size: int) -> Array | None:
    """The parameters of the last fit, if a search starts there and their number is the same."""
    if not estimator.warm_start or "solution_" not in vars(estimator):
        return None
    theta = np.asarray(estimator.solution_.theta)
    return theta if theta.shape == (size,) else None


def mean_offset(data: Framed) -> float:
    """The mean of the offsets of the rows to start from."""
    blocks = list(data.start)
    if blocks[0].offset is None:
        return 0.0
    return float(np.mean(np.concatenate([np.asarray(block.offset) for block in blocks])))


def refuse_if_not_finite(found: Found, rows: LinearRows) -> None:
    """Finite totals prove finite data; the bad value is searched for only when they are not."""
    finite = isfinite(found.solution.trace[0]) and bool(np.isfinite(found.theta).all())
    if finite and found.solution.converged:
        return
    refuse_gaps(rows.blocks, rows.coding.names)
    if finite:
        return
    raise InvalidInput(
        "The objective is not finite where the search starts: some values are too large for double "
        "precision. Divide the columns, the offsets or the responses by a round number."
    )


def warn_of_fit(
    estimator: Any,
    found: Found,
    names: Callable[[], tuple[str, ...]],
    infinite: Divergence | None,
    references: Sequence[tuple[str, Any]] = (),
) -> None:
    """The warnings of a fit: separation, redundant columns, a search that did not converge."""
    name = type(estimator).__name__
    if infinite is not None or found.held:
        labels = (*names(), "the intercept")  # of many columns only when there is need
    if infinite is not None:
        named = [labels[j] for j in infinite.columns if j < len(labels) - 1]
        shown = quoted(named or [labels[-1]])
        shown = at_reference(references, labels, infinite.direction) or shown
        advice = f"Give a penalty (l2=1.0){', or firth=True' if 'firth' in vars(estimator) else ''}"
        if not named:  # every response is at one end of what it can be
            advice = (
                "All responses are alike, and penalties leave the intercept free: give l2=1.0 with "
                "penalise_intercept=True, or rows with other responses"
            )
        warn_user(
            f"{name}: the responses are separated along {shown}, so no finite estimate "
            f"exists; the values shown are where the search stopped. {advice}.",
            Separation,
        )
    if found.held:
        shown = quoted([labels[j] for j in found.held])
        warn_user(
            f"{name}: {shown} can be computed from the columns before "
            f"{'it' if len(found.held) == 1 else 'them'} (or never varies); the coefficient is "
            "fixed at 0. Drop the column, or give a penalty (l2=1.0).",
            RedundantColumns,
        )
    if infinite is None:
        warn_unless_converged(estimator, found.solution)


def at_reference(
    references: Sequence[tuple[str, Any]], labels: Sequence[str], direction: Array
) -> str:
    """The reference category that is separated, where all others move alike; may be empty."""
    if len(direction) > len(labels):
        return ""
    size = float(np.abs(direction).max())
    for column, value in references:
        levels = [j for j, label in enumerate(labels[:-1]) if label.startswith(f"{column}[")]
        moved = direction[levels]
        others = np.delete(direction[: len(labels) - 1], levels)
        alike = moved.size > 0 and np.ptp(moved) <= SAME * size and abs(moved[0]) > SAME * size
        if alike and (np.abs(others) <= SAME * size).all():
            return f"{column!r}, at its reference {value!r}"
    return ""


def errors_of(
    estimator: Any,
    problem: Problem,
    found: Found,
    rows: LinearRows,
    likelihood: Likelihood,
    *,
    distribution: str = "z",
) -> Inference | None:
    """Standard errors, unless the coefficients are too many for a covariance matrix."""
    framing = problem.data.framing
    if not has_errors(estimator, framing):
        return None
    penalty, at_kink = problem.penalty, problem.penalty.at_kink(found.theta)
    information = hessian_at(problem, found) - np.diag(penalty.curvature(found.theta))
    names = rows.coding.names() + (("intercept",) if framing.intercept else ())
    return infer(
        likelihood,
        found.theta,
        information,
        penalty.hessian_on(found.theta, np.arange(found.theta.size)),
        names,
        problem.data.blocks,
        rows.executor,
        standard_errors=estimator.standard_errors,
        distribution=distribution,
        redundant=found.held,
        n_groups=rows.n_groups,
        jacobian=framing.jacobian(),
        intercept=framing.intercept,
        at_kink=at_kink,
        penalised=not penalty.free(found.theta.size).all(),
    )
