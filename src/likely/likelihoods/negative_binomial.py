"""The negative binomial response: Poisson counts whose rate is itself gamma distributed.

    V(μ) = μ + αμ²        nll = (y + 1/α) ln(1 + αμ) − y ln μ

With the log link and s = σ(η + ln α), which is αμ/(1 + αμ):

    nll′ = s/α − y(1 − s)        E[nll″] = s/α

References
----------
McCullagh & Nelder, Generalized Linear Models, 2nd ed., §6.2.3.
"""

from dataclasses import dataclass
from math import inf, isfinite
from typing import final

import numpy as np
from scipy.special import xlogy

from likely._typing import Array, Interval
from likely.errors import InvalidInput
from likely.likelihoods.base import Likelihood, Response, refuse
from likely.links import Link, Log
from likely.special import expit, lgamma, log1p, log_expit


@final
@dataclass(frozen=True)
class NegativeBinomial(Response):
    """Counts more spread than the Poisson's; α > 0 is given, and α → 0 is the Poisson.

    ``link=None`` is the log: the canonical link, ln αμ/(1 + αμ), is hardly ever used.
    """

    alpha: float = 1.0

    name = "negative_binomial"
    target_kind = "count"
    means = Interval(0, inf)
    canonical = "log"
    dispersion_is_known = True

    def __post_init__(self) -> None:
        if not isfinite(self.alpha) or self.alpha <= 0:
            raise InvalidInput(
                f"NegativeBinomial(alpha) needs a finite alpha above 0; found {self.alpha:g}. "
                "Use the response 'poisson' for alpha = 0."
            )

    def check(self, y: Array) -> None:
        advice = "Use a gaussian response for numbers that can be negative."
        refuse(self, y, np.isfinite(y) & np.greater_equal(y, 0), "0 or more", advice)

    def variance(self, mean: Array) -> Array:
        return mean + self.alpha * np.square(mean)

    def nll(self, y: Array, mean: Array) -> Array:
        return (y + 1 / self.alpha) * log1p(np.multiply(self.alpha, mean)) - xlogy(y, mean)

    def deviance(self, y: Array, mean: Array) -> Array:
        a = self.alpha
        excess = log1p(a * (np.subtract(y, mean)) / (1 + np.multiply(a, mean)))
        return 2 * (xlogy(y, np.divide(y, mean)) - (y + 1 / a) * excess)

    def log_prob(self, y: Array, mean: Array, dispersion: Array | float = 1.0) -> Array:
        """log p(y | μ); with dispersion 1/n, the probability that n counts have the mean y."""
        n = np.divide(1.0, dispersion)
        size, count = n / self.alpha, n * y
        ways = lgamma(count + size) - lgamma(size) - lgamma(1 + count)
        return ways + xlogy(count, self.alpha) - n * self.nll(y, mean)

    def sample(
        self, mean: Array, rng: np.random.Generator, dispersion: Array | float = 1.0
    ) -> Array:
        shape = np.divide(1.0, np.multiply(dispersion, self.alpha))
        return dispersion * rng.poisson(rng.gamma(shape, np.multiply(self.alpha, mean)))

    def with_link(self, link: Link) -> Likelihood:
        if isinstance(link, Log):
            return NegativeBinomialLog(self, link)
        return Response.with_link(self, link)


@final
@dataclass(frozen=True)
class NegativeBinomialLog(Likelihood):
    """The log link, through the logistic function of η + ln α."""

    response: NegativeBinomial

    def derivatives(self, y: Array, eta: Array) -> tuple[Array, Array, Array]:
        alpha = self.response.alpha
        a = eta + np.log(alpha)
        s = expit(a)
        nll = -(y + 1 / alpha) * log_expit(-a) - y * eta
        return nll, s / alpha - y * expit(-a), s / alpha
