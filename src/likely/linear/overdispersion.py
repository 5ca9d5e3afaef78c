"""The α of a negative binomial by maximum likelihood, with the coefficients.

    ℓ_p(α) = max_β ℓ(β, α) − penalty(β)        dℓ_p/d ln α = ∂ℓ/∂ln α at β̂(α)

The search is over one number; each of its steps is a fit that starts from the previous one.  β and
α are orthogonal, so that ∂²ℓ/∂(ln α)² at β̂ is nearly that of ℓ_p, and Newton's steps in ln α
converge fast; they are kept between the last α at which ℓ_p increased and the last at which it
decreased.

ℓ_p may have a maximum at α = 0 and another inside, so the search begins at the best of several α
around the estimate by moments, Σ w((y − μ)² − y)/Σ w μ², at the means of the Poisson fit.  Where
none is better than the Poisson, the estimate is 0 and the model is the Poisson.
"""

from dataclasses import replace
from math import nan, sqrt
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from likely._typing import Array
from likely.data.block import Blocks, redesigned
from likely.errors import warn_user
from likely.likelihoods.base import Likelihood
from likely.likelihoods.negative_binomial import NegativeBinomial
from likely.likelihoods.poisson import Poisson
from likely.linear.alpha import AlphaEstimate
from likely.linear.coding import LinearRows
from likely.linear.edge import EVERYWHERE
from likely.linear.fitting import (
    LinearFit,
    fit_linear,
    in_session,
    null_of,
    problem_of,
    refuse_if_not_finite,
    start_of,
    with_valid_responses,
)
from likely.linear.framing import framed
from likely.linear.near_dependence import with_orthogonal_columns
from likely.linear.problem import Problem, linear_problem
from likely.objectives.overdispersion import (
    AlphaTotals,
    PoissonTotals,
    alpha_totals,
    best_decade,
    block_count_table,
    gains,
    maximise_alpha,
    no_columns,
    poisson_totals,
)
from likely.penalties import NoPenalty
from likely.solvers.choice import solve
from likely.solvers.search_problem import Found

INNER_TOL = 1e-12  # of the coefficients at each α


class WithAlpha(NamedTuple):
    """The likelihood at α̂, the estimate, and the search."""

    likelihood: Likelihood
    estimate: AlphaEstimate
    log_likelihood: float
    passes: float


def fit_with_alpha(
    estimator: Any, rows: LinearRows, likelihood: Likelihood
) -> tuple[LinearFit, Likelihood, float]:
    """α̂, and the fit at it with its warnings and its errors."""
    found = with_estimated_alpha(estimator, rows, likelihood)
    fit = fit_linear(estimator, rows, found.likelihood)
    passes = (fit.solution.passes or 0.0) + found.passes
    fit = fit._replace(solution=replace(fit.solution, passes=passes))
    if fit.inference is not None:
        null = null_log_likelihood(estimator, rows, likelihood)
        inference = replace(fit.inference, alpha=found.estimate, null_log_likelihood=null)
        fit = fit._replace(inference=inference)
    return fit, found.likelihood, found.estimate.alpha


@in_session
def with_estimated_alpha(estimator: Any, rows: LinearRows, likelihood: Likelihood) -> WithAlpha:
    """α̂ for the rows, weights, offsets and penalties of an estimator."""
    rows = rows._replace(blocks=with_valid_responses(rows, likelihood))
    poisson = Poisson().with_link(likelihood.link)
    problem = problem_of(estimator, rows, poisson)
    profile = _Profile.of(estimator, rows, problem, poisson)
    if not problem.n_parameters:
        return profile.maximum()
    found = profile.search(poisson, None)
    other = with_orthogonal_columns(profile.problem, found, rows)
    if other is None:
        return profile.maximum(found.theta)
    return profile._replace(problem=other).maximum()


@in_session
def null_log_likelihood(estimator: Any, rows: LinearRows, likelihood: Likelihood) -> float:
    """The log-likelihood of the intercept alone, with its own α, or of the offset alone."""
    if not estimator.fit_intercept and likelihood.etas != EVERYWHERE:
        return nan  # 0 may be no valid predictor
    poisson = Poisson().with_link(likelihood.link)
    if next(iter(rows.blocks)).offset is None:
        blocks: Blocks = rows.executor.sum(block_count_table, rows.blocks).blocks
    else:
        blocks = redesigned(rows.blocks, no_columns, n_features=0)
    data = framed(blocks, rows.executor, names=tuple, intercept=estimator.fit_intercept)
    problem = linear_problem(poisson, NoPenalty(), data, rows.executor)
    return _Profile.of(estimator, rows, problem, poisson).maximum().log_likelihood


class _Profile(NamedTuple):
    """ℓ_p and its slope, a fit for each α."""

    estimator: Any
    rows: LinearRows
    problem: Problem  # of the Poisson
    poisson: Likelihood

    @classmethod
    def of(
        cls, estimator: Any, rows: LinearRows, problem: Problem, poisson: Likelihood
    ) -> "_Profile":
        """The problem with gaps in units of the null deviance."""
        start = start_of(poisson, problem.data, rows)
        measured = problem.measured(null_of(poisson, problem.data, rows, start))
        return cls(estimator, rows, measured, poisson)

    def maximum(self, theta: Array | None = None) -> WithAlpha:
        """α̂ and the log-likelihood there, from the coefficients of the Poisson if known."""
        theta = self.coefficients(self.poisson, None) if theta is None else theta
        at_zero = poisson_totals(self.poisson, theta, self.blocks, self.rows.executor)
        alpha = self.beginning(theta, at_zero)
        fitted, best, error = self.poisson, at_zero.log_likelihood, nan
        if alpha is not None:
            alpha, totals = self.maximise(alpha, theta)
            best = totals.gain + totals.poisson
            error = 1 / sqrt(-totals.curvature) if totals.curvature < 0 else nan
            fitted = NegativeBinomial(alpha).with_link(self.poisson.link)
        penalised = self.problem.penalty.value(np.ones(self.problem.n_parameters)) > 0
        ratio = nan if penalised else max(2 * (best - at_zero.log_likelihood), 0.0)
        found = AlphaEstimate(alpha or 0.0, error, ratio)
        return WithAlpha(fitted, found, best, float(sum(self.problem.data.passes)))

    @property
    def blocks(self) -> Blocks:
        return self.problem.data.blocks

    def coefficients(self, likelihood: Likelihood, last: Array | None) -> Array:
        """β̂ at one α."""
        return self.search(likelihood, last).theta if self.problem.n_parameters else np.zeros(0)

    def search(self, likelihood: Likelihood, last: Array | None) -> Found:
        """The end of a search for β at one α."""
        of = self.problem
        problem = linear_problem(likelihood, of.penalty, of.data, of.executor)
        found = solve(
            replace(problem, unit=of.unit, nat=of.nat, n_rows=of.n_rows),
            start_of(likelihood, of.data, self.rows),
            last=last,
            solver=self.estimator.solver,
            tol=min(self.estimator.tol, INNER_TOL),
            max_iter=self.estimator.max_iter,
        )
        refuse_if_not_finite(found, self.rows)
        return found

    def beginning(self, theta: Array, at: PoissonTotals) -> float | None:
        """The best of several α at the means of the Poisson fit; None if the Poisson is better."""
        moments = at.score / at.information if at.information > 0 else 0.0
        about = moments if moments > 0 else at.weight / max(at.count, 1.0)
        return best_decade(
            lambda tried: gains(self.poisson, theta, tried, self.blocks, self.rows.executor), about
        )

    def maximise(self, alpha: float, theta: Array) -> tuple[float, AlphaTotals]:
        """α̂, by a search in which each step is a fit that starts from the previous one."""

        def totals_at(alpha: float) -> AlphaTotals:
            nonlocal theta
            likelihood = NegativeBinomial(alpha).with_link(self.poisson.link)
            theta = self.coefficients(likelihood, theta)
            return alpha_totals(likelihood, theta, alpha, self.blocks, self.rows.executor)

        found = maximise_alpha(totals_at, alpha)
        if not found.converged:
            warn_user(
                f"{type(self.estimator).__name__}: alpha was not found; the last was "
                f"{found.alpha:.3g}. Give one, such as NegativeBinomial(1.0), or a penalty "
                "(l2=1.0).",
                ConvergenceWarning,
            )
        return found.alpha, found.totals
