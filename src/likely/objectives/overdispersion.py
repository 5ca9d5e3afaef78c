"""Sums over counts and their fitted means, for the α of a negative binomial.

at the Poisson   S = ½ Σ w ((y − μ)² − y),  I = ½ Σ w μ²: the score of α = 0 and its variance
at any α         Σ w (log p − log p_Poisson), and its derivatives in ln α

Quasi-likelihood keeps the means of the Poisson, whose equations need no more than Var[y] ∝ μ, and
estimates the spread: where φ = Σ w (y − μ)²/μ / (Σ w − p) is clearly above 1, counts around these
means are taken as negative binomial, with α by maximum likelihood.

Maximum likelihood takes the means as known, so that many coefficients make α̂ too small.  With a
prior of precision Λ on them, α may be that of the restricted likelihood:

    ℓ_R(α) = ℓ(α) − ½ ln |H(α) + Λ|        H(α) = Σ w μ/(1 + αμ) x xᵀ, of the log link

ln |H + Λ| is nearly a parabola in ln α: three passes over the rows give it.

References
----------
McCullagh & Nelder, Generalized Linear Models, 2nd ed., §9.2 and §6.2.3.
Cox & Reid (1987), Parameter orthogonality and approximate conditional inference, JRSS B 49.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import copysign, exp, inf, log
from typing import NamedTuple, final

import numpy as np
from scipy.special import chdtrc

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import ArrayBlocks, Block, Blocks
from likely.data.layouts.base import Design
from likely.data.layouts.dense import Dense
from likely.likelihoods.base import Likelihood, Response
from likely.likelihoods.log_normal import LogNormal
from likely.likelihoods.negative_binomial import NegativeBinomial, alpha_derivatives, alpha_gain
from likely.likelihoods.poisson import Poisson
from likely.numerics.additive import Additive, FieldwiseAdditive
from likely.objectives.inference import inner_mean
from likely.objectives.linear import Total, block_eta, block_second_order, weighted_sum

DECADES = np.arange(-4.0, 5.0)  # around the estimate by moments, for the first α
LEAST_GAIN = 1e-9  # nats above the Poisson: α̂ is then within 5e-5 standard errors of 0
DECREMENT = 1e-14  # nats to the maximum in ln α: within 1.5e-7 standard errors
LONGEST_STEP = 2.0  # in ln α
STEPS = 60
OVERDISPERSED = 1.5  # φ above which a Poisson is clearly too narrow
BY_CHANCE = 0.05  # p-value of χ² above which φ may be chance
APART = 0.5  # in ln α: three points of a parabola
NARROW = 1e-12  # of a bracket in ln α: no more digits


@final
@dataclass(frozen=True, eq=False)
class PoissonTotals(FieldwiseAdditive):
    """How far counts are from a Poisson with these means."""

    score: float  # S
    information: float  # I
    log_likelihood: float  # of the Poisson
    count: float  # Σ w y
    weight: float  # Σ w


@final
@dataclass(frozen=True, eq=False)
class AlphaTotals(FieldwiseAdditive):
    """The log-likelihood minus that of a Poisson with the same means, and its derivatives."""

    gain: float
    poisson: float  # that log-likelihood
    slope: float  # in ln α
    curvature: float


class AlphaMaximum(NamedTuple):
    """The end of a search for α."""

    alpha: float
    totals: AlphaTotals
    converged: bool


@final
@dataclass(frozen=True, eq=False)
class Gains(FieldwiseAdditive):
    """The log-likelihood minus that of the Poisson at several α."""

    values: Array


@final
@dataclass(frozen=True, eq=False)
class CountTable(Additive):
    """The distinct counts and their weights: all that a constant mean needs."""

    values: Array  # sorted
    weight: Array

    def __add__(self, other: "CountTable") -> "CountTable":
        return _count_table(
            np.concatenate([self.values, other.values]),
            np.concatenate([self.weight, other.weight]),
        )

    @property
    def blocks(self) -> ArrayBlocks:
        empty = Dense(np.empty((len(self.values), 0)))
        return ArrayBlocks(empty, self.values, self.weight)


def block_count_table(block: Block) -> CountTable:
    weight = np.ones(block.n_rows) if block.weight is None else block.weight
    return _count_table(np.asarray(block.target, dtype=float), weight)


def _count_table(values: Array, weight: Array) -> CountTable:
    distinct, which = np.unique(values, return_inverse=True)
    return CountTable(distinct, np.bincount(which, weights=weight, minlength=len(distinct)))


def no_columns(design: Design) -> Design:
    """A design of the same rows without a column."""
    return Dense(np.empty((design.n_rows, 0)))


def poisson_totals(
    likelihood: Likelihood, theta: Array, blocks: Blocks, executor: Executor
) -> PoissonTotals:
    return executor.sum(partial(_block_poisson, likelihood, theta), blocks)


@final
@dataclass(frozen=True, eq=False)
class PearsonTotals(FieldwiseAdditive):
    """How far counts vary around Poisson means."""

    pearson: float  # Σ w (y − μ)²/μ
    weight: float
    not_whole: float  # rows that hold no count


def alpha_around_means(
    likelihood: Likelihood, theta: Array, blocks: Blocks, executor: Executor
) -> float:
    """α̂ of counts around Poisson means where these are clearly overdispersed; else 0.

    Means of several counts, which need not be whole, have no α here.
    """
    found = executor.sum(partial(_block_pearson, likelihood, theta), blocks)
    df = found.weight - len(theta)
    if found.not_whole or not (df > 0 and found.pearson > OVERDISPERSED * df):
        return 0.0
    if not chdtrc(df, found.pearson) < BY_CHANCE:
        return 0.0
    return alpha_at_means(likelihood, theta, blocks, executor)


def first_alpha(
    likelihood: Likelihood, theta: Array, at: PoissonTotals, blocks: Blocks, executor: Executor
) -> float | None:
    """The best of several α at the means of a Poisson fit; None if the Poisson is better."""
    moments = at.score / at.information if at.information > 0 else 0.0
    about = moments if moments > 0 else at.weight / max(at.count, 1.0)
    return best_decade(lambda tried: gains(likelihood, theta, tried, blocks, executor), about)


def alpha_totals(
    likelihood: Likelihood, theta: Array, alpha: float, blocks: Blocks, executor: Executor
) -> AlphaTotals:
    return executor.sum(partial(_block_alpha, likelihood, theta, alpha), blocks)


def gains(
    likelihood: Likelihood, theta: Array, alphas: Array, blocks: Blocks, executor: Executor
) -> Array:
    """The gain of each α at the same means; one pass for all of them."""
    return executor.sum(partial(_block_gains, likelihood, theta, alphas), blocks).values


def best_decade(gained: Callable[[Array], Array], about: float) -> float | None:
    """The best α of several around a given one; None if none is better than the Poisson."""
    tried = about * 10.0**DECADES
    gain = gained(tried)
    best = int(np.nanargmax(gain))
    return float(tried[best]) if gain[best] > LEAST_GAIN else None


def maximise_alpha(totals_at: Callable[[float], AlphaTotals], alpha: float) -> AlphaMaximum:
    """Newton's method in ln α, kept in the bracket where the likelihood increases and decreases."""
    rho, low, high, before = log(alpha), -inf, inf, None
    for _ in range(STEPS):
        totals = totals_at(exp(rho))
        low, high = (rho, high) if totals.slope > 0 else (low, rho)
        promised = totals.slope**2 / -totals.curvature / 2 if totals.curvature < 0 else inf
        if promised < DECREMENT or high - low < NARROW:
            return AlphaMaximum(exp(rho), totals, True)
        moved = rho + _step(rho, totals, before)
        before = (rho, totals.slope)
        rho = moved if low < moved < high else (low + high) / 2
    return AlphaMaximum(exp(rho), totals, False)


def _step(rho: float, totals: AlphaTotals, before: tuple[float, float] | None) -> float:
    """A Newton step, with the curvature by differences if there are two points."""
    curvature = totals.curvature
    if before is not None and before[0] != rho:
        seen = (totals.slope - before[1]) / (rho - before[0])
        curvature = seen if curvature < 0 and 1 / 3 < seen / curvature < 3 else curvature
    step = -totals.slope / curvature if curvature < 0 else copysign(inf, totals.slope)
    return max(-LONGEST_STEP, min(step, LONGEST_STEP))


def alpha_at_means(
    likelihood: Likelihood, theta: Array, blocks: Blocks, executor: Executor
) -> float:
    """α̂ of counts at the means of a Poisson fit; 0 where they are not overdispersed."""
    at = poisson_totals(likelihood, theta, blocks, executor)
    begin = first_alpha(likelihood, theta, at, blocks, executor)
    if begin is None:
        return 0.0
    return maximise_alpha(
        lambda alpha: alpha_totals(likelihood, theta, alpha, blocks, executor), begin
    ).alpha


def restricted_alpha(
    likelihood: Likelihood,
    theta: Array,
    ridge: Array,
    alpha: float,
    blocks: Blocks,
    executor: Executor,
) -> float:
    """α̂ of the restricted likelihood, from the α > 0 of maximum likelihood; ``ridge`` is Λ."""
    rho, halves = log(alpha), []
    for step in (-APART, 0.0, APART):
        counts = NegativeBinomial(exp(rho + step)).with_link(likelihood.link)
        H = executor.sum(partial(block_second_order, counts, theta), blocks).hessian
        halves.append(float(np.linalg.slogdet(H + np.diag(ridge))[1]) / 2)
    below, here, above = halves
    slope, bend = (above - below) / (2 * APART), (below - 2 * here + above) / APART**2

    def totals_at(at: float) -> AlphaTotals:
        found = alpha_totals(likelihood, theta, at, blocks, executor)
        return replace(
            found,
            slope=found.slope - slope - bend * (log(at) - rho),
            curvature=found.curvature - bend,
        )

    return maximise_alpha(totals_at, alpha).alpha


def block_excess(
    likelihood: Likelihood, alpha: float, dispersion: float, theta: Array, block: Block
) -> Total:
    """B/φ² − H/φ: the variance of the slopes of a quasi-Poisson beyond that which it assumes.

    H = Σ w (dμ/dη)²/μ x xᵀ        B = Σ w (dμ/dη)²/μ² (μ + αμ²) x xᵀ
    """
    eta = block_eta(theta, block)
    weight = likelihood.derivatives(block.target, eta)[2] / dispersion
    if block.weight is not None:
        weight = weight * block.weight
    times = (1 + alpha * likelihood.mean(eta)) / dispersion
    return Total(block.X.sandwich(weight * times) - block.X.sandwich(weight))


def alpha_of_means(y: Array, mean: Array, weight: Array) -> float:
    """α̂ of counts with given means; 0 where they are not overdispersed."""
    if np.ptp(mean) == 0:  # the same counts again and again
        table = _count_table(y, weight)
        y, mean, weight = table.values, np.full(len(table.values), mean[0]), table.weight
    score = np.dot(weight, np.square(y - mean) - y)
    square, total = np.dot(weight, np.square(mean)), np.dot(weight, y)
    if not total > 0 or y.min() < 0:  # no counts, of which nothing is known
        return 0.0

    def gained(alphas: Array) -> Array:
        return np.array([np.dot(weight, alpha_gain(y, mean, float(a))) for a in alphas])

    def totals_at(alpha: float) -> AlphaTotals:
        each = alpha_derivatives(y, mean, alpha)
        return AlphaTotals(np.dot(weight, each.gain), 0.0, *(np.dot(weight, v) for v in each[1:]))

    about = score / square if score > 0 else weight.sum() / total
    alpha = best_decade(gained, float(about))
    return 0.0 if alpha is None else maximise_alpha(totals_at, alpha).alpha


def estimated_shape(response: Response, y: Array, mean: Array, weight: Array) -> Response:
    """A response with its shape: as given, or estimated around means.

    That is σ̂ of a log-normal, or α̂ of a negative binomial, which at 0 is the Poisson.
    """
    if response.shape_is_known:
        return response
    if isinstance(response, LogNormal):
        return LogNormal.around(y, mean, weight)
    alpha = alpha_of_means(y, mean, weight)
    return NegativeBinomial(alpha) if alpha > 0 else Poisson()


def _counts_and_means(likelihood: Likelihood, theta: Array, block: Block) -> tuple[Array, Array]:
    return block.target, inner_mean(likelihood, block_eta(theta, block))


def _block_poisson(likelihood: Likelihood, theta: Array, block: Block) -> PoissonTotals:
    y, mean = _counts_and_means(likelihood, theta, block)
    return PoissonTotals(
        weighted_sum(block.weight, np.square(y - mean) - y) / 2,
        weighted_sum(block.weight, np.square(mean)) / 2,
        weighted_sum(block.weight, Poisson().log_prob(y, mean)),
        weighted_sum(block.weight, y),
        weighted_sum(block.weight, np.ones(len(y))),
    )


def _block_pearson(likelihood: Likelihood, theta: Array, block: Block) -> PearsonTotals:
    y, mean = _counts_and_means(likelihood, theta, block)
    return PearsonTotals(
        weighted_sum(block.weight, np.square(y - mean) / mean),
        weighted_sum(block.weight, np.ones(len(y))),
        float((y != np.floor(y)).sum()),
    )


def _block_alpha(likelihood: Likelihood, theta: Array, alpha: float, block: Block) -> AlphaTotals:
    y, mean = _counts_and_means(likelihood, theta, block)
    each = alpha_derivatives(y, mean, alpha)
    return AlphaTotals(
        weighted_sum(block.weight, each.gain),
        weighted_sum(block.weight, Poisson().log_prob(y, mean)),
        weighted_sum(block.weight, each.slope),
        weighted_sum(block.weight, each.curvature),
    )


def _block_gains(likelihood: Likelihood, theta: Array, alphas: Array, block: Block) -> Gains:
    y, mean = _counts_and_means(likelihood, theta, block)
    return Gains(
        np.array([weighted_sum(block.weight, alpha_gain(y, mean, float(a))) for a in alphas])
    )
