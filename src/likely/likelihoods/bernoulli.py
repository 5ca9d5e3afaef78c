"""The Bernoulli response, and the binomial as proportions of trials.

    log p(y | μ) = y ln μ + (1 − y) ln(1 − μ)        V(μ) = μ(1 − μ)

With a link onto (0, 1), nll is taken from ln μ and ln(1 − μ), and the rest from their slopes:

    nll′ = (1 − y) h₀ − y h₁        E[nll″] = h₀ h₁

A proportion y of n trials, with weight n (or dispersion 1/n), is a binomial count n·y.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.special import xlog1py, xlogy

from likely._typing import Array, Interval
from likely.likelihoods.base import Likelihood, Response, refuse
from likely.links import Link, Log, Logit, UnitLink, log_both_classes, log_rest
from likely.special import exp, expm1, lgamma, log1p


@final
@dataclass(frozen=True)
class Bernoulli(Response):
    """y is 0 or 1, or a proportion of trials between them."""

    name = "bernoulli"
    has_trials = True
    means = Interval(0, 1)
    canonical = "logit"
    dispersion_is_known = True

    def check(self, y: Array) -> None:
        refuse(
            self,
            y,
            np.greater_equal(y, 0) & np.less_equal(y, 1),
            "between 0 and 1",
            "Code the two outcomes as 0 and 1, or divide successes by trials and give the trials "
            "as weights.",
        )

    def variance(self, mean: Array) -> Array:
        return mean * np.subtract(1, mean)

    def within(self, y: Array) -> Array:
        """y(1 − y): a proportion is a mean of ones and zeros."""
        return np.asarray(y * np.subtract(1, y))

    def nll(self, y: Array, mean: Array) -> Array:
        return -xlogy(y, mean) - xlog1py(np.subtract(1, y), np.negative(mean))

    def deviance(self, y: Array, mean: Array) -> Array:
        y = np.asarray(y)
        return 2 * (
            xlogy(y, y) - xlogy(y, mean) + xlog1py(1 - y, -y) - xlog1py(1 - y, np.negative(mean))
        )

    def log_prob(self, y: Array, mean: Array, dispersion: Array | float = 1.0) -> Array:
        """log p(y | μ); with dispersion 1/n, the probability of n·y successes in n trials."""
        trials = np.divide(1.0, dispersion)
        successes = trials * y
        ways = lgamma(1 + trials) - lgamma(1 + successes) - lgamma(1 + trials - successes)
        return ways - trials * self.nll(y, mean)

    def weighted_log_prob(
        self, y: Array, mean: Array, weight: Array | None, dispersion: float = 1.0
    ) -> Array:
        """The probability of wy successes in w trials; for y = 0 or 1, that of w equal rows."""
        if weight is None:
            return self.log_prob(y, mean) if np.any(self.within(y)) else -self.nll(y, mean)
        there = np.greater(weight, 0)
        return np.where(there, self.log_prob(y, mean, 1 / np.where(there, weight, 1.0)), 0.0)

    def sample(
        self, mean: Array, rng: np.random.Generator, dispersion: Array | float = 1.0
    ) -> Array:
        trials = np.rint(np.divide(1.0, dispersion))
        return rng.binomial(trials.astype(np.int64), mean) / trials

    def distribution(self, mean: Array, dispersion: Array | float = 1.0) -> Any:
        from scipy import stats  # here: it is slow to import

        return stats.bernoulli(mean)

    def with_link(self, link: Link) -> Likelihood:
        if isinstance(link, Logit):
            return BernoulliLogit(self, link)
        if isinstance(link, UnitLink):
            return BernoulliUnit(self, link)
        if isinstance(link, Log):
            return BernoulliLog(self, link)
        return Response.with_link(self, link)


def log_probabilities(likelihood: Likelihood, eta: Array) -> tuple[Array, Array]:
    """ln(1 − μ) and ln μ; −inf where η is at an end and the link is not a distribution function."""
    return log_both_classes(likelihood.link, eta)


@final
@dataclass(frozen=True)
class BernoulliLog(Likelihood):
    """The log link, η < 0, whose coefficients are logs of risk ratios; 1 − μ by expm1."""

    def derivatives(self, y: Array, eta: Array) -> tuple[Array, Array, Array]:
        valid = eta < 0
        inside = np.where(valid, eta, -1.0)
        rest = -expm1(inside)  # 1 − μ, without a difference from 1
        odds = exp(inside) / rest
        nll = -(y * inside) - (1 - y) * log_rest(inside)
        return (
            np.where(valid, nll, np.inf)[()],
            np.where(valid, (1 - y) * odds - y, 0.0)[()],
            np.where(valid, odds, 0.0)[()],
        )


@final
@dataclass(frozen=True)
class BernoulliLogit(Likelihood):
    """nll = ln(1 + e^η) − yη, with one exponential for all three values."""

    def nll(self, y: Array, eta: Array) -> Array:
        return np.maximum(eta, 0) - y * eta + log1p(exp(-np.abs(eta), np), np)

    def derivatives(self, y: Array, eta: Array) -> tuple[Array, Array, Array]:
        e = exp(-np.abs(eta), np)  # at most 1
        nearer, farther = 1 / (1 + e), e / (1 + e)
        positive = eta >= 0
        success = np.where(positive, nearer, farther)
        failure = np.where(positive, farther, nearer)
        nll = np.maximum(eta, 0) - y * eta + log1p(e, np)
        # success − y would cancel where y = 1 and η is large
        return nll, (1 - y) * success - y * failure, nearer * farther


@final
@dataclass(frozen=True)
class BernoulliUnit(Likelihood):
    """Any link onto (0, 1), through ln μ and ln(1 − μ)."""

    link: UnitLink

    def nll(self, y: Array, eta: Array) -> Array:
        return -(y * self.link.log_mean(eta)) - (1 - y) * self.link.log_complement(eta)

    def derivatives(self, y: Array, eta: Array) -> tuple[Array, Array, Array]:
        of_mean, of_complement = self.link.hazards(eta)
        slope = (1 - y) * of_complement - y * of_mean
        return self.nll(y, eta), slope, of_mean * of_complement
