"""The gamma response, V(μ) = μ², and the exponential, its member of dispersion 1.

log p(y | μ, ψ) = s ln s(y/μ) − s y/μ − ln Γ(s) − ln y        s = 1/ψ
"""

from dataclasses import dataclass
from math import inf
from typing import Any, final

import numpy as np
from scipy.special import xlogy

from likely._typing import Array, Interval
from likely.likelihoods.base import Likelihood, Response, refuse
from likely.likelihoods.power_variance import PowerVarianceLog
from likely.links import Link, Log
from likely.special import lgamma, log

POSITIVE_ADVICE = (
    "Leave zeros out, model them separately, or use a tweedie response, which allows them."
)


@final
@dataclass(frozen=True)
class Gamma(Response):
    """Positive y with a constant coefficient of variation: shape 1/ψ, scale ψμ."""

    name = "gamma"
    target_kind = "positive"
    means = Interval(0, inf)
    canonical = "inverse"
    dispersion_is_known = False

    def check(self, y: Array) -> None:
        refuse(self, y, np.isfinite(y) & np.greater(y, 0), "above 0", POSITIVE_ADVICE)

    def variance(self, mean: Array) -> Array:
        return np.square(mean)

    def nll(self, y: Array, mean: Array) -> Array:
        return np.divide(y, mean) + log(mean)

    def deviance(self, y: Array, mean: Array) -> Array:
        ratio = np.divide(y, mean)
        return 2 * (ratio - 1 - log(ratio))

    def log_prob(self, y: Array, mean: Array, dispersion: Array | float = 1.0) -> Array:
        def usual(psi: Array | float) -> Array:
            shape = np.divide(1.0, psi)
            scaled = shape * y / mean
            return xlogy(shape, scaled) - scaled - lgamma(shape) - log(y)

        return self.or_perfect(usual, y, mean, dispersion)

    def sample(
        self, mean: Array, rng: np.random.Generator, dispersion: Array | float = 1.0
    ) -> Array:
        return rng.gamma(np.divide(1.0, dispersion), np.multiply(dispersion, mean))

    def distribution(self, mean: Array, dispersion: Array | float = 1.0) -> Any:
        from scipy import stats  # here: it is slow to import

        return stats.gamma(np.divide(1.0, dispersion), scale=np.multiply(dispersion, mean))

    def with_link(self, link: Link) -> Likelihood:
        if isinstance(link, Log):
            return PowerVarianceLog(self, link, power=2)
        return Response.with_link(self, link)


@final
@dataclass(frozen=True)
class Exponential(Response):
    """Waiting times: log p(y | μ) = −ln μ − y/μ, the gamma whose dispersion is known to be 1."""

    name = "exponential"
    means = Interval(0, inf)
    canonical = "inverse"
    dispersion_is_known = True

    def check(self, y: Array) -> None:
        refuse(self, y, np.isfinite(y) & np.greater(y, 0), "above 0", POSITIVE_ADVICE)

    def variance(self, mean: Array) -> Array:
        return np.square(mean)

    def nll(self, y: Array, mean: Array) -> Array:
        return Gamma().nll(y, mean)

    def deviance(self, y: Array, mean: Array) -> Array:
        return Gamma().deviance(y, mean)

    def log_prob(self, y: Array, mean: Array, dispersion: Array | float = 1.0) -> Array:
        """log p(y | μ); with dispersion 1/n, the density of the mean of n waiting times."""
        return Gamma().log_prob(y, mean, dispersion)

    def sample(
        self, mean: Array, rng: np.random.Generator, dispersion: Array | float = 1.0
    ) -> Array:
        return Gamma().sample(mean, rng, dispersion)

    def distribution(self, mean: Array, dispersion: Array | float = 1.0) -> Any:
        from scipy import stats  # here: it is slow to import

        return stats.expon(scale=mean)

    def with_link(self, link: Link) -> Likelihood:
        if isinstance(link, Log):
            return PowerVarianceLog(self, link, power=2)
        return Response.with_link(self, link)
