"""Firth's logistic regression: estimates that are finite and have less bias.

    maximise  ℓ(θ) + ½ ln |H(θ)|        H the information

Each coefficient is tested by the penalised likelihood: T_j is twice the fall of its maximum where
the coefficient is 0.

References
----------
Firth, Bias reduction of maximum likelihood estimates, Biometrika 80, 1993.
Heinze & Schemper, A solution to the problem of separation in logistic regression, Statistics in
Medicine 21, 2002.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from likely._typing import Array
from likely.cholesky import inverse_root, unit_diagonal
from likely.errors import InvalidInput
from likely.likelihoods.base import Likelihood
from likely.linear.coding import LinearRows
from likely.linear.fitting import (
    LinearFit,
    errors_of,
    has_errors,
    in_session,
    null_of,
    parts,
    refuse_if_not_finite,
    start_of,
    warn_of_fit,
)
from likely.linear.framing import framed
from likely.linear.near_dependence import with_orthogonal_columns
from likely.linear.problem import Problem, linear_problem
from likely.objectives.firth import FirthObjective, Within
from likely.penalties import NoPenalty
from likely.solvers.choice import LastDigits, check_search
from likely.solvers.minimise import minimise, search
from likely.solvers.newton import Newton
from likely.solvers.search_problem import Found

MOST_RATIOS = 50  # coefficients that are each tested: a search for every one
RATIO_TOL = 1e-10  # of those searches


def firth_ratios(
    objective: FirthObjective, found: Found, jacobian: Array, tol: float, max_iter: int
) -> Array:
    """T_j of each parameter of the data, by one search each; nan if they are too many, or it fails.

    Row j of the Jacobian has β_j as a function of θ.  The search on the θ with β_j = 0 starts where
    the quadratic model of the likelihood at its maximum is largest.
    """
    theta, p = found.theta, found.theta.size
    ratios = np.full(p, np.nan)
    if p > MOST_RATIOS or not found.solution.converged or found.hessian is None:
        return ratios
    kept, value = np.setdiff1d(np.arange(p), found.held), objective.second_order(theta).value
    inside = np.ix_(kept, kept)
    units, root = unit_diagonal(found.hessian[inside])[0], inverse_root(found.hessian[inside]).root
    for j in kept:
        slope = jacobian[j, kept]
        others = np.linalg.qr((slope / units)[:, None], mode="complete")[0][:, 1:]
        span = np.zeros((p, others.shape[1]))
        span[kept] = others / units[:, None]
        along = root @ (root.T @ slope)
        nearest = theta[kept] - along * (slope @ theta[kept]) / (slope @ along)
        within, start = Within(objective, span, objective.unit), others.T @ (units * nearest)
        there = minimise(Newton(), within, start, tol=min(tol, RATIO_TOL), max_iter=max_iter)
        if there.converged:
            ratios[j] = max(2 * (there.trace[-1] - value), 0.0)
    return ratios


@in_session
def fit_firth(estimator: Any, rows: LinearRows, likelihood: Likelihood) -> LinearFit:
    """Newton on the penalised likelihood; l1 and l2 are not used.

    Where columns nearly depend on others, the search has orthogonal columns.
    """
    if likelihood.link.name != "logit":
        raise InvalidInput(
            f"firth=True needs the logit link; the link is {likelihood.link.name!r}. "
            "Use link='logit', or a penalty l2 > 0."
        )
    check_search(estimator.tol, estimator.max_iter)
    data = framed(
        rows.blocks, rows.executor, names=rows.coding.names, intercept=estimator.fit_intercept
    )
    problem = linear_problem(likelihood, NoPenalty(), data, rows.executor)
    objective, found = _optimum(estimator, problem, rows, likelihood)
    other = with_orthogonal_columns(problem, found, rows, warned_by=estimator)
    if other is not None:
        problem, data = other, other.data
        objective, found = _optimum(estimator, problem, rows, likelihood)
    warn_of_fit(estimator, found, rows.coding.names, None)
    inference = errors_of(estimator, problem, found, rows, likelihood)
    if inference is not None:
        jacobian, limit = data.framing.jacobian(), estimator.max_iter
        ratios = firth_ratios(objective, found, jacobian, estimator.tol, limit)
        inference = replace(inference, firth_ratios=ratios)
    theta = data.framing.to_user(found.theta)
    solution = replace(found.solution, theta=theta, passes=float(sum(data.passes)))
    coef, intercept = parts(theta, data.framing)
    return LinearFit(coef, float(intercept), solution, inference, separated=False)


def _optimum(
    estimator: Any, problem: Problem, rows: LinearRows, likelihood: Likelihood
) -> tuple[FirthObjective, Found]:
    """The penalised likelihood, and the end of its search."""
    data = problem.data
    start = start_of(likelihood, data, rows)
    problem = problem.measured(null_of(likelihood, data, rows, start))
    unit = (problem.unit or 0.0) + start.size  # nats: ½ ln |I| has a size of its own
    objective = FirthObjective(likelihood, data.blocks, rows.executor, unit)
    wanted = LastDigits.of(problem, estimator.tol)
    tol = wanted.aim if has_errors(estimator, data.framing) else estimator.tol
    solution, state = search(Newton(), objective, start, tol=tol, max_iter=estimator.max_iter)
    least = 0.0 if state.held else state.least_pivot
    found = Found(
        state.theta, wanted.settled(solution), state.hessian, state.held, least_pivot=least
    )
    refuse_if_not_finite(found, rows)
    return objective, found
