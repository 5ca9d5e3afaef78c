"""The Poisson response: log p(y | μ) = y ln μ − μ − ln y!, V(μ) = μ."""

from dataclasses import dataclass
from math import inf
from typing import Any, final

import numpy as np
from scipy.special import xlogy

from likely._typing import Array, Interval
from likely.likelihoods.base import Likelihood, Response, refuse
from likely.likelihoods.power_variance import PowerVarianceLog
from likely.links import Link, Log
from likely.special import lgamma


@final
@dataclass(frozen=True)
class Poisson(Response):
    """Counts, or with weight n (dispersion 1/n) the mean of n counts."""

    name = "poisson"
    target_kind = "count"
    means = Interval(0, inf)
    canonical = "log"
    dispersion_is_known = True

    def check(self, y: Array) -> None:
        advice = "Use a gaussian response for numbers that can be negative."
        refuse(self, y, np.isfinite(y) & np.greater_equal(y, 0), "0 or more", advice)

    def variance(self, mean: Array) -> Array:
        return mean

    def nll(self, y: Array, mean: Array) -> Array:
        return mean - xlogy(y, mean)

    def deviance(self, y: Array, mean: Array) -> Array:
        return 2 * (xlogy(y, np.divide(y, mean)) - np.subtract(y, mean))

    def log_prob(self, y: Array, mean: Array, dispersion: Array | float = 1.0) -> Array:
        """log p(y | μ); with dispersion 1/n, the probability that n counts have the mean y."""
        n = np.divide(1.0, dispersion)
        return xlogy(n * y, n * mean) - n * mean - lgamma(1 + n * y)

    def sample(
        self, mean: Array, rng: np.random.Generator, dispersion: Array | float = 1.0
    ) -> Array:
        return dispersion * rng.poisson(np.divide(mean, dispersion))

    def distribution(self, mean: Array, dispersion: Array | float = 1.0) -> Any:
        from scipy import stats  # here: it is slow to import

        return stats.poisson(mean)

    def with_link(self, link: Link) -> Likelihood:
        if isinstance(link, Log):
            return PowerVarianceLog(self, link, power=1)
        return Response.with_link(self, link)
