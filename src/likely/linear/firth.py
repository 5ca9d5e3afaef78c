"""Logistic regression under Firth's penalty, from rows at the door to coefficients."""

from dataclasses import replace
from typing import Any

from likely.errors import InvalidInput
from likely.likelihoods.base import Likelihood
from likely.linear.coding import LinearRows
from likely.linear.fitting import (
    LinearFit,
    errors_of,
    in_session,
    parts,
    refuse_if_not_finite,
    speak_up,
    start_of,
)
from likely.linear.framing import framed
from likely.linear.problem import linear_problem
from likely.objectives.firth import FirthObjective
from likely.penalties import NoPenalty
from likely.solvers.choice import Found, check_search
from likely.solvers.minimise import search
from likely.solvers.newton import Newton


@in_session
def fit_firth(estimator: Any, rows: LinearRows, likelihood: Likelihood) -> LinearFit:
    """Newton on the penalised likelihood; l1 and l2 are not used."""
    if likelihood.link.name != "logit":
        raise InvalidInput(
            f"firth=True needs the logit link; the link is {likelihood.link.name!r}. "
            "Use link='logit', or a penalty l2 > 0."
        )
    check_search(estimator.tol, estimator.max_iter)
    data = framed(
        rows.blocks, rows.executor, names=rows.coding.names, intercept=estimator.fit_intercept
    )
    start = start_of(likelihood, data, rows)
    objective = FirthObjective(likelihood, data.blocks, rows.executor)
    solution, state = search(
        Newton(), objective, start, tol=estimator.tol, max_iter=estimator.max_iter
    )
    found = Found(state.theta, solution, state.hessian, state.held)
    refuse_if_not_finite(found, rows)
    speak_up(estimator, found, rows.coding.names, None)
    problem = linear_problem(likelihood, NoPenalty(), data, rows.executor)
    inference = errors_of(estimator, problem, found, rows, likelihood)
    theta = data.framing.to_user(found.theta)
    solution = replace(solution, theta=theta, passes=float(sum(data.passes)))
    coef, intercept = parts(theta, data.framing)
    return LinearFit(coef, float(intercept), solution, inference, separated=False)
