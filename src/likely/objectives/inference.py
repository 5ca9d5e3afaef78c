"""Sums over examples at the estimate, for inference about a linear model.

    fit       n = Σ w_i,  D = Σ w_i d(y_i, μ_i),  χ² = Σ w_i (y_i − μ_i)²/V(μ_i),  Σ w_i log p(y_i)
    meat      M = Σ w_i s_i² a(h_i) x_i x_iᵀ           s = ∂nll/∂η
    clusters  M = Σ_g u_g u_gᵀ,  u_g = Σ_{i in g} w_i s_i x_i

A weight is a frequency: weight 2 is the row twice, so n is the sum of the weights, and the
leverage h_i = c_i x_iᵀ(H + P)⁻¹x_i (c the curvature) is that of one of the w_i equal rows.  A
proportion y of w trials is wy ones and w(1 − y) zeros, so the squares in M are means over them:
s² + y(1 − y) c/V(μ).  χ² is Σ w (y − μ)²/V(μ) over the rows as they are: for proportions it is
computed for the groups, whose number minus p gives the degrees of freedom (McCullagh & Nelder,
§4.5).

References
----------
White (1980), A heteroskedasticity-consistent covariance matrix estimator, Econometrica 48.
MacKinnon & White (1985), Some heteroskedasticity-consistent covariance matrix estimators with
improved finite sample properties, J. Econometrics 29.  Liang & Zeger (1986), Biometrika 73.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import inf, isnan, log, pi
from typing import Any, NamedTuple, final

import numpy as np
from scipy.special import xlogy

from likely._typing import Array, Codes
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks, redesigned
from likely.data.layouts.base import Design
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Intercept
from likely.errors import InvalidInput
from likely.likelihoods.base import SMALLEST_MEAN, Likelihood
from likely.numerics.additive import Additive, FieldwiseAdditive
from likely.numerics.moments import Moments
from likely.objectives.linear import (
    LinearObjective,
    Total,
    block_eta,
    weighted,
    weighted_sum,
)
from likely.penalties.base import NoPenalty
from likely.solvers.minimise import minimise
from likely.solvers.newton import Newton

ROUNDED = 1e-13  # relative, of a mean
NULL_TOL = 1e-14  # of the search for the null model: one parameter, so exact costs one more step
NULL_ENOUGH = 1e-10  # of that search, where rounding ends it before
NEAR_END = 1e-6  # of a mean to 1: nearer, 1 − μ has lost digits that η has
NOTHING_LEFT = 1e-10  # 1 − h below this is rounding: the example alone fixes its fitted value


@final
@dataclass(frozen=True, eq=False)
class FitStatistics(Additive):
    """How well one θ fits: sums, the centred moments of y, and two maxima."""

    response: Moments  # of y: Σ w, ȳ and Σ w (y − ȳ)²
    nll: float
    deviance: float
    pearson: float  # χ²
    log_likelihood: float  # at dispersion 1
    largest_eta: float  # max |η|: large where classes separate
    offset: float  # Σ w o
    largest_offset: float  # max |o|: 0 where there is none
    n_rows: float  # of weight above 0, if they may be groups of trials; else Σ w
    grouped: bool  # whether some y is a proportion of trials

    @property
    def n_judged(self) -> float:
        """The number that degrees of freedom start from: Σ w, or the rows if they are groups."""
        return self.n_rows if self.grouped else self.n

    @property
    def n(self) -> float:
        """Σ w."""
        return self.response.n

    @property
    def mean(self) -> float:
        """ȳ."""
        return float(self.response.mean[0])

    @property
    def scatter(self) -> float:
        """Σ w (y − ȳ)²."""
        return float(self.response.scatter[0, 0])

    def __add__(self, other: "FitStatistics") -> "FitStatistics":
        return FitStatistics(
            response=self.response + other.response,
            nll=self.nll + other.nll,
            deviance=self.deviance + other.deviance,
            pearson=self.pearson + other.pearson,
            log_likelihood=self.log_likelihood + other.log_likelihood,
            largest_eta=max(self.largest_eta, other.largest_eta),
            offset=self.offset + other.offset,
            largest_offset=max(self.largest_offset, other.largest_offset),
            n_rows=self.n_rows + other.n_rows,
            grouped=self.grouped or other.grouped,
        )


@final
@dataclass(frozen=True, eq=False)
class NullTotals(FieldwiseAdditive):
    """The deviance of a constant model."""

    deviance: float
    least: float  # what rounding of the means alone may make
    weight: float
    n_rows: float  # with a weight

    @classmethod
    def of_counts(cls, count: Array, n_rows: float) -> "NullTotals":
        """The fit of a constant model of classes, by their weights; n_rows may be nan (unknown)."""
        total = float(count.sum())
        deviance = -2 * float(xlogy(count, count / total).sum())
        return cls(deviance, 0.0, total, total if isnan(n_rows) else n_rows)


@final
@dataclass(frozen=True, eq=False)
class ClusterScores(Additive):
    """u_g for the clusters read so far; a cluster may have rows in many blocks."""

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
    lost = lost_at_ends(likelihood, y, mean, nll)
    with np.errstate(divide="ignore", invalid="ignore"):  # 0/0, where μ is y
        # (y − μ)²/V(μ), which stays right where 1 − μ would round to 0
        pearson = np.where(slope == 0, 0.0, slope**2 / curvature)
    weight = np.ones(block.n_rows) if block.weight is None else block.weight
    offset = np.zeros(block.n_rows) if block.offset is None else block.offset
    return FitStatistics(
        response=Moments.of(y, weight),
        nll=weighted_sum(block.weight, nll),
        deviance=weighted_sum(block.weight, likelihood.response.deviance(y, mean) + 2 * lost),
        pearson=weighted_sum(block.weight, pearson),
        log_likelihood=float(likelihood.response.weighted_log_prob(y, mean, block.weight).sum())
        - weighted_sum(block.weight, lost + np.zeros(len(y))),
        largest_eta=float(np.abs(eta).max(initial=0.0)),
        offset=weighted_sum(block.weight, offset),
        largest_offset=float(np.abs(offset).max(initial=0.0)),
        n_rows=float(np.count_nonzero(weight) if likelihood.response.has_trials else weight.sum()),
        grouped=bool(np.any(likelihood.response.within(y))),
    )


def block_null(likelihood: Likelihood, eta: float, block: Block) -> NullTotals:
    """At the constant predictor η; no column is read."""
    offset = np.zeros(block.n_rows) if block.offset is None else block.offset
    return _null_totals(likelihood, eta + offset, block)


def block_null_at(likelihood: Likelihood, theta: Array, block: Block) -> NullTotals:
    """At θ, where no constant is valid for every row."""
    return _null_totals(likelihood, block_eta(theta, block), block)


def _null_totals(likelihood: Likelihood, eta: Array, block: Block) -> NullTotals:
    y, mean = block.target, inner_mean(likelihood, eta)
    lost = lost_at_ends(likelihood, y, mean, likelihood.nll(y, eta))
    with np.errstate(over="ignore"):
        least = (ROUNDED * mean) ** 2 / likelihood.response.variance(mean)
    weight = weighted(block.weight, np.ones(block.n_rows))
    return NullTotals(
        deviance=float(np.dot(weight, likelihood.response.deviance(y, mean) + 2 * lost)),
        least=float(np.dot(weight, least)),
        weight=float(weight.sum()),
        n_rows=float(np.count_nonzero(weight)),
    )


def block_log_likelihood(
    likelihood: Likelihood, theta: Array, dispersion: float, block: Block
) -> Total:
    """Σ w log p(y | μ, ψ), with every term."""
    if not dispersion > 0:  # a perfect fit, or nothing left to estimate ψ by
        return Total(np.inf if dispersion == 0 else np.nan)
    y, eta = block.target, block_eta(theta, block)
    mean = inner_mean(likelihood, eta)
    lost = lost_at_ends(likelihood, y, mean, likelihood.nll(y, eta))
    log_prob = likelihood.response.log_prob(y, mean, dispersion) - lost / dispersion
    return Total(weighted_sum(block.weight, log_prob))


def block_meat(
    likelihood: Likelihood, theta: Array, root: Array, exponent: int, block: Block
) -> Total:
    """Σ w s²/(1 − h)^exponent x xᵀ: 0 for HC0 and HC1, 1 for HC2, 2 for HC3.

    ``root`` is R with (H + P)⁻¹ = RRᵀ: a sum of squares does not cancel, unlike x(H + P)⁻¹x.
    """
    y, eta = block.target, block_eta(theta, block)
    _, slope, curvature = likelihood.derivatives(y, eta)
    square = slope**2 + square_within(likelihood, y, inner_mean(likelihood, eta), curvature)
    if exponent:
        leverage = curvature * np.square(block.X.matmat(root)).sum(axis=1)
        rest = np.where(leverage < 1 - NOTHING_LEFT, 1 - leverage, 1.0)
        square = square / rest**exponent
    return Total(block.X.sandwich(weighted(block.weight, square)))


@final
@dataclass(frozen=True, eq=False)
class LoneRows(Additive):
    """Rows of the design that alone fix their fitted values."""

    rows: Array  # (k, p)

    def __add__(self, other: "LoneRows") -> "LoneRows":
        return LoneRows(np.concatenate([self.rows, other.rows]))


def block_lone_rows(likelihood: Likelihood, theta: Array, root: Array, block: Block) -> LoneRows:
    """The rows of leverage 1, whose residuals say nothing about the spread of y."""
    _, _, curvature = likelihood.derivatives(block.target, block_eta(theta, block))
    leverage = curvature * np.square(block.X.matmat(root)).sum(axis=1)
    lone = np.flatnonzero(leverage >= 1 - NOTHING_LEFT)
    at = np.zeros((block.n_rows, lone.size))
    at[lone, np.arange(lone.size)] = 1.0
    return LoneRows(np.asarray(block.X.rmatmat(at)).T)


def block_cluster_scores(likelihood: Likelihood, theta: Array, block: Block) -> ClusterScores:
    slope = likelihood.derivatives(block.target, block_eta(theta, block))[1]
    rows = block.X.matmat(np.eye(block.X.n_features))  # any layout, as numbers
    return cluster_scores(block.group, weighted(block.weight, slope)[:, None] * rows)


def cluster_scores(group: Array | None, scores: Array) -> ClusterScores:
    """The scores of some examples, (n, p), summed by cluster."""
    if group is None:
        raise InvalidInput(
            "Clustered standard errors need the cluster of each example; none was given. "
            "Pass groups to fit, or choose 'HC3'."
        )
    order = np.argsort(group, kind="stable")
    codes, first = np.unique(group[order], return_index=True)
    return ClusterScores(codes, np.add.reduceat(scores[order], first, axis=0))


def square_within(likelihood: Likelihood, y: Array, mean: Array, curvature: Array) -> Array | float:
    """The variance of s among the outcomes that y is the mean of: s is linear in them."""
    within = likelihood.response.within(y)
    if not np.any(within):
        return 0.0
    return np.asarray(within * curvature / likelihood.response.variance(mean))


def inner_mean(likelihood: Likelihood, eta: Array) -> Array:
    """μ, kept inside the response's means if rounding moved it to an end."""
    low, high = likelihood.response.means
    lowest = low + SMALLEST_MEAN if np.isfinite(low) else low
    highest = np.nextafter(high, low) if np.isfinite(high) else high
    return np.clip(likelihood.mean(eta), lowest, highest)


def lost_at_ends(likelihood: Likelihood, y: Array, mean: Array, nll: Array) -> Array | float:
    """nll as a function of η minus that of the rounded μ: 0, unless μ is at or near an end."""
    low, high = likelihood.response.means
    if mean.min(initial=np.inf) > low + 2 * SMALLEST_MEAN and (
        mean.max(initial=-np.inf) < high - NEAR_END
    ):
        return 0.0
    return nll - likelihood.response.nll(y, mean)


def intercept_only(design: Design) -> Intercept:
    """A column of ones in place of a design."""
    return Intercept(Dense(np.empty((design.n_rows, 0))))


class NullModel(NamedTuple):
    """The intercept alone, or nothing, with the same weights and offset."""

    eta: float  # the intercept, or 0
    nll: float  # Σ w nll; nan where it was not found
    n_parameters: int = 1  # 0 without an intercept


def block_offset_nll(likelihood: Likelihood, block: Block) -> Total:
    """Σ w nll of the offset alone."""
    offset = np.zeros(block.n_rows) if block.offset is None else block.offset
    return Total(weighted_sum(block.weight, likelihood.nll(block.target, offset)))


def null_model(
    likelihood: Likelihood,
    fit: FitStatistics,
    blocks: Blocks,
    executor: Executor,
    *,
    intercept: bool = True,
) -> NullModel:
    """The null model; without an intercept it has the offset only.

    Without an offset its mean is ȳ, and no pass is needed: nll is linear in y but for a
    Gaussian, where it also has ½y².  With one, and outside the exponential family, it is a search,
    each step a pass over y and the offset alone.
    """
    if not intercept:
        total = executor.sum(partial(block_offset_nll, likelihood), blocks)
        return NullModel(0.0, float(total.value), 0)
    start = np.asarray(likelihood.eta_of_mean(np.asarray(fit.mean)))
    if fit.largest_offset == 0.0 and likelihood.response.exponential_family:
        at_mean = float(likelihood.nll(np.asarray(fit.mean), start))
        about = fit.scatter / 2 if has_constant_variance(likelihood) else 0.0
        return NullModel(float(start), fit.n * at_mean + about)
    only = redesigned(blocks, intercept_only, n_features=1)
    unit = fit.deviance if fit.deviance > 0 else None
    objective = LinearObjective(likelihood, NoPenalty(), only, executor, unit)
    near = np.atleast_1d(start - fit.offset / fit.n)
    solution = minimise(Newton(), objective, near, tol=NULL_TOL)
    nll = solution.trace[-1] if solution.gap <= NULL_ENOUGH else float("nan")
    return NullModel(float(solution.theta[0]), nll)


def null_dispersion(
    likelihood: Likelihood,
    null: NullModel,
    fit: FitStatistics,
    blocks: Blocks,
    executor: Executor,
) -> float:
    """ψ of the null model, χ²₀/(n − p₀); a pass over y unless its mean is ȳ."""
    df = fit.n - null.n_parameters
    if not (np.isfinite(null.nll) and df > 0):
        return float("nan")
    if fit.largest_offset == 0.0 and null.n_parameters:
        variance = float(likelihood.response.variance(np.asarray(fit.mean)))
        return fit.scatter / variance / df if variance > 0 else float("nan")
    only = redesigned(blocks, intercept_only, n_features=1)
    return fit_statistics(likelihood, np.array([null.eta]), only, executor).pearson / df


def block_null_log_likelihood(
    likelihood: Likelihood, null: NullModel, dispersion: float, block: Block
) -> Total:
    """Σ w log p(y | μ₀, ψ₀) of the null model."""
    only = replace(block, X=intercept_only(block.X))
    return block_log_likelihood(likelihood, np.array([null.eta]), dispersion, only)


def has_constant_variance(likelihood: Likelihood) -> bool:
    """Whether V(μ) = 1: only the Gaussian."""
    low, high = likelihood.response.variance(np.array([0.25, 0.5]))
    return bool(low == high)


def gaussian_log_likelihood(n: float, deviance: float) -> float:
    """−n/2 (ln 2πD/n + 1): the maximum over ψ."""
    return -n / 2 * (log(2 * pi * deviance / n) + 1) if deviance > 0 else inf


def fit_statistics(
    likelihood: Likelihood, theta: Array, blocks: Blocks, executor: Executor
) -> FitStatistics:
    return executor.sum(partial(block_fit_statistics, likelihood, theta), blocks)
