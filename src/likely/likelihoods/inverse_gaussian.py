"""The inverse Gaussian response, V(μ) = μ³.

log p(y | μ, ψ) = −½ ln 2πψy³ − (y − μ)²/(2ψμ²y)
"""

from dataclasses import dataclass
from math import inf, pi
from typing import Any, final

import numpy as np

from likely._typing import Array, Interval
from likely.likelihoods.base import Likelihood, Response, refuse
from likely.likelihoods.gamma import POSITIVE_ADVICE
from likely.links import Link, Log
from likely.special import exp, log


@final
@dataclass(frozen=True)
class InverseGaussian(Response):
    """Positive, heavily skewed y, such as first passage times."""

    name = "inverse-gaussian"
    target_kind = "positive"
    means = Interval(0, inf)
    canonical = "inverse-squared"
    dispersion_is_known = False

    def check(self, y: Array) -> None:
        refuse(self, y, np.isfinite(y) & np.greater(y, 0), "above 0", POSITIVE_ADVICE)

    def variance(self, mean: Array) -> Array:
        return np.power(mean, 3.0)

    def nll(self, y: Array, mean: Array) -> Array:
        return (np.divide(y, mean) / 2 - 1) / mean

    def deviance(self, y: Array, mean: Array) -> Array:
        return np.square(np.divide(y, mean) - 1) / y  # 1/y where μ is infinite

    def log_prob(self, y: Array, mean: Array, dispersion: Array | float = 1.0) -> Array:
        deviance = self.deviance(y, mean)

        def usual(psi: Array | float) -> Array:
            return -(log(2 * pi * np.asarray(psi)) + 3 * log(y)) / 2 - deviance / 2 / psi

        return self.or_perfect(usual, y, mean, dispersion)

    def sample(
        self, mean: Array, rng: np.random.Generator, dispersion: Array | float = 1.0
    ) -> Array:
        return rng.wald(mean, np.divide(1.0, dispersion))

    def distribution(self, mean: Array, dispersion: Array | float = 1.0) -> Any:
        from scipy import stats  # here: it is slow to import

        return stats.invgauss(np.multiply(mean, dispersion), scale=np.divide(1.0, dispersion))

    def with_link(self, link: Link) -> Likelihood:
        if isinstance(link, Log):
            return InverseGaussianLog(self, link)
        return Response.with_link(self, link)


@final
@dataclass(frozen=True)
class InverseGaussianLog(Likelihood):
    """With r = e⁻^η: nll = r(yr/2 − 1), nll′ = r(1 − yr), E[nll″] = r."""

    def derivatives(self, y: Array, eta: Array) -> tuple[Array, Array, Array]:
        r = exp(-eta)
        with np.errstate(over="ignore"):
            scaled = y * r
            return r * (scaled / 2 - 1), r * (1 - scaled), r
