"""What the α of a negative binomial asks of the data: sums over counts about their fitted means.

at the Poisson   S = ½ Σ w ((y − μ)² − y),  I = ½ Σ w μ²: the score of α = 0 and its variance
at any α         Σ w (log p − log p_Poisson), and its derivatives in ln α
"""

from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np

from likely._typing import Array
from likely.additive import Additive, FieldwiseAdditive
from likely.compute.executor import Executor
from likely.data.block import ArrayBlocks, Block, Blocks
from likely.data.layouts.intercept import Dense, Design
from likely.likelihoods.base import Likelihood
from likely.likelihoods.negative_binomial import alpha_derivatives, alpha_gain
from likely.likelihoods.poisson import Poisson
from likely.objectives.inference import inner_mean
from likely.objectives.linear import block_eta, weighted_sum


@final
@dataclass(frozen=True, eq=False)
class PoissonTotals(FieldwiseAdditive):
    """How far counts are from a Poisson about these means."""

    score: float  # S
    information: float  # I
    log_likelihood: float  # of the Poisson
    count: float  # Σ w y
    weight: float  # Σ w


@final
@dataclass(frozen=True, eq=False)
class AlphaTotals(FieldwiseAdditive):
    """The log-likelihood above that of a Poisson about the same means, and its derivatives."""

    gain: float
    poisson: float  # that log-likelihood
    slope: float  # in ln α
    curvature: float


@final
@dataclass(frozen=True, eq=False)
class Gains(FieldwiseAdditive):
    """The log-likelihood above the Poisson's at several α."""

    values: Array


@final
@dataclass(frozen=True, eq=False)
class CountTable(Additive):
    """The distinct counts and their weights: all that a constant mean asks of rows."""

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


def alpha_totals(
    likelihood: Likelihood, theta: Array, alpha: float, blocks: Blocks, executor: Executor
) -> AlphaTotals:
    return executor.sum(partial(_block_alpha, likelihood, theta, alpha), blocks)


def gains(
    likelihood: Likelihood, theta: Array, alphas: Array, blocks: Blocks, executor: Executor
) -> Array:
    """What each α gains at the same means; one pass for all of them."""
    return executor.sum(partial(_block_gains, likelihood, theta, alphas), blocks).values


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
