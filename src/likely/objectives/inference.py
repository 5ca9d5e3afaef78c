"""What inference about a linear model needs of the data: sums over examples at the estimate.

    fit       n = Σ w_i,  D = Σ w_i d(y_i, μ_i),  χ² = Σ w_i (y_i − μ_i)²/V(μ_i),  Σ w_i log p(y_i)
    meat      M = Σ w_i s_i² a(h_i) x_i x_iᵀ           s = ∂nll/∂η
    clusters  M = Σ_g u_g u_gᵀ,  u_g = Σ_{i in g} w_i s_i x_i

A weight is a frequency: weight 2 is the row twice, so n is the sum of the weights, and the
leverage h_i = c_i x_iᵀ(H + P)⁻¹x_i (c the curvature) is that of one of the w_i equal rows.

References
----------
White (1980), A heteroskedasticity-consistent covariance matrix estimator, Econometrica 48.
MacKinnon & White (1985), Some heteroskedasticity-consistent covariance matrix estimators with
improved finite sample properties, J. Econometrics 29.  Liang & Zeger (1986), Biometrika 73.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np

from likely._typing import Array, Codes
from likely.additive import Additive
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks, Redesigned
from likely.data.design import Dense, Design, Intercept
from likely.errors import InvalidInput
from likely.likelihoods.base import SMALLEST_MEAN, Likelihood
from likely.objectives.linear import (
    LinearObjective,
    Total,
    block_eta,
    weighted,
    weighted_sum,
)
from likely.penalties import NoPenalty
from likely.solvers.minimise import minimise
from likely.solvers.newton import Newton

NULL_TOL = 1e-14  # of the search for one number: a step more, for all of its digits
NOTHING_LEFT = 1e-10  # 1 − h below this is rounding: the example alone fixes its fitted value


@final
@dataclass(frozen=True, eq=False)
class FitStatistics(Additive):
    """How well one θ fits: sums, and two maxima that merge by maximum."""

    n: float  # Σ w
    response: float  # Σ w y
    deviance: float
    pearson: float  # χ²
    log_likelihood: float  # at dispersion 1
    largest_eta: float  # max |η|: large where classes separate
    largest_offset: float  # max |o|: 0 where there is none

    def __add__(self, other: "FitStatistics") -> "FitStatistics":
        return FitStatistics(
            n=self.n + other.n,
            response=self.response + other.response,
            deviance=self.deviance + other.deviance,
            pearson=self.pearson + other.pearson,
            log_likelihood=self.log_likelihood + other.log_likelihood,
            largest_eta=max(self.largest_eta, other.largest_eta),
            largest_offset=max(self.largest_offset, other.largest_offset),
        )


@final
@dataclass(frozen=True, eq=False)
class ClusterScores(Additive):
    """u_g for the clusters met so far; a cluster may have rows in many blocks."""

    codes: Codes  # (n_clusters,), sorted
    scores: Array  # (n_clusters, p)

    def __add__(self, other: "ClusterScores") -> "ClusterScores":
        codes = np.union1d(self.codes, other.codes)
        scores = np.zeros((codes.size, self.scores.shape[1]))
        scores[np.searchsorted(codes, self.codes)] += self.scores
        scores[np.searchsorted(codes, other.codes)] += other.scores
        return ClusterScores(codes, scores)


@final
@dataclass(frozen=True, eq=False)
class Several(Additive):
    """Summaries of the same blocks, from one pass."""

    parts: tuple[Any, ...]

    def __add__(self, other: "Several") -> "Several":
        pairs = zip(self.parts, other.parts, strict=True)
        return Several(tuple(mine + theirs for mine, theirs in pairs))


Term = Callable[[Block], Additive]


def block_several(terms: tuple[Term, ...], block: Block) -> Several:
    return Several(tuple(term(block) for term in terms))


def block_fit_statistics(likelihood: Likelihood, theta: Array, block: Block) -> FitStatistics:
    y, eta = block.target, block_eta(theta, block)
    nll, slope, curvature = likelihood.derivatives(y, eta)
    mean = inner_mean(likelihood, eta)
    lost = nll - likelihood.response.nll(y, mean)  # 0, but where μ was moved
    with np.errstate(divide="ignore", invalid="ignore"):  # 0/0, where μ is y
        # (y − μ)²/V(μ), which stays right where 1 − μ would round to 0
        pearson = np.where(slope == 0, 0.0, slope**2 / curvature)
    deviance = likelihood.response.deviance(y, mean) + 2 * lost
    log_prob = likelihood.response.log_prob(y, mean) - lost
    return FitStatistics(
        n=weighted_sum(block.weight, np.ones(block.n_rows)),
        response=weighted_sum(block.weight, y),
        deviance=weighted_sum(block.weight, deviance),
        pearson=weighted_sum(block.weight, pearson),
        log_likelihood=weighted_sum(block.weight, log_prob),
        largest_eta=float(np.abs(eta).max(initial=0.0)),
        largest_offset=0.0
        if block.offset is None
        else float(np.abs(block.offset).max(initial=0.0)),
    )


def block_log_likelihood(
    likelihood: Likelihood, theta: Array, dispersion: float, block: Block
) -> Total:
    """Σ w log p(y | μ, ψ), with every term."""
    if not dispersion > 0:  # a perfect fit, or nothing left to estimate ψ by
        return Total(np.nan)
    y, eta = block.target, block_eta(theta, block)
    mean = inner_mean(likelihood, eta)
    lost = likelihood.nll(y, eta) - likelihood.response.nll(y, mean)
    log_prob = likelihood.response.log_prob(y, mean, dispersion) - lost / dispersion
    return Total(weighted_sum(block.weight, log_prob))


def block_meat(
    likelihood: Likelihood, theta: Array, root: Array, exponent: int, block: Block
) -> Total:
    """Σ w s²/(1 − h)^exponent x xᵀ: 0 for HC0 and HC1, 1 for HC2, 2 for HC3.

    ``root`` is R with (H + P)⁻¹ = RRᵀ: a sum of squares does not cancel as x(H + P)⁻¹x may.
    """
    _, slope, curvature = likelihood.derivatives(block.target, block_eta(theta, block))
    square = slope**2
    if exponent:
        leverage = curvature * np.square(block.X.matmat(root)).sum(axis=1)
        rest = np.where(leverage < 1 - NOTHING_LEFT, 1 - leverage, 1.0)
        square = square / rest**exponent
    return Total(block.X.sandwich(weighted(block.weight, square)))


def block_cluster_scores(likelihood: Likelihood, theta: Array, block: Block) -> ClusterScores:
    if block.group is None:
        raise InvalidInput(
            "covariance='clustered' needs the cluster of each example; none was given. "
            "Pass groups to fit, or choose covariance='HC3'."
        )
    slope = likelihood.derivatives(block.target, block_eta(theta, block))[1]
    rows = block.X.matmat(np.eye(block.X.n_features))  # any layout, as numbers
    order = np.argsort(block.group, kind="stable")
    codes, first = np.unique(block.group[order], return_index=True)
    scores = (weighted(block.weight, slope)[:, None] * rows)[order]
    return ClusterScores(codes, np.add.reduceat(scores, first, axis=0))


def inner_mean(likelihood: Likelihood, eta: Array) -> Array:
    """μ, kept inside the response's means though rounding took it to an end."""
    low, high = likelihood.response.means
    lowest = low + SMALLEST_MEAN if np.isfinite(low) else low
    highest = np.nextafter(high, low) if np.isfinite(high) else high
    return np.clip(likelihood.mean(eta), lowest, highest)


def intercept_only(design: Design) -> Intercept:
    """A column of ones in place of a design."""
    return Intercept(Dense(np.empty((design.n_rows, 0))))


def block_null(term: Term, block: Block) -> Additive:
    """``term`` of a block of the null model."""
    return term(replace(block, X=intercept_only(block.X)))


def null_blocks(blocks: Blocks) -> Redesigned:
    """The blocks of the null model: the same y, weights and offset, and an intercept alone."""
    return Redesigned(blocks, intercept_only, n_features=1)


def null_theta(
    likelihood: Likelihood, fit: FitStatistics, blocks: Blocks, executor: Executor
) -> Array:
    """The intercept of the null model, (1,): g(ȳ) without an offset, else a search.

    Each step of the search is one more pass, over y and the offset alone.
    """
    start = np.atleast_1d(likelihood.eta_of_mean(np.asarray(fit.response / fit.n)))
    if fit.largest_offset == 0.0:
        return start
    objective = LinearObjective(likelihood, NoPenalty(), null_blocks(blocks), executor)
    solution = minimise(Newton(), objective, start, tol=NULL_TOL)
    return np.asarray(solution.theta) if solution.converged else np.full(1, np.nan)


def fit_statistics(
    likelihood: Likelihood, theta: Array, blocks: Blocks, executor: Executor
) -> FitStatistics:
    return executor.sum(partial(block_fit_statistics, likelihood, theta), blocks)
