"""The log-normal response: ln y ~ N(ln μ − σ²/2, σ²), so that μ = E[y] and V(μ) = (e^{σ²} − 1)μ².

    log p(y | μ) = −½ ln 2πσ² − z²/2σ² − ln y        z = ln y − ln μ + σ²/2

With the log link nll′ = −z/σ² and E[nll″] = 1/σ²: at a known σ this is least squares on ln y.  It
is no exponential family: the likeliest constant is exp(mean of ln y + σ²/2), not ȳ, and the μ under
which y is likeliest is ye^{σ²/2}.  σ is given, or estimated by the fit.  Around means that are
given, its maximum likelihood is in closed form:

    σ̂² = 2(√(1 + R) − 1)        R = Σ w (ln y − ln μ)²/Σ w

A dispersion ψ other than 1 stands for the σ² of which the variance is ψV(μ): ln(1 + ψ(e^{σ²} − 1)).

References
----------
Johnson, Kotz & Balakrishnan, Continuous Univariate Distributions 1, 2nd ed., ch. 14.
"""

from dataclasses import dataclass
from math import inf, isfinite, pi, sqrt
from typing import Any, Literal, Self, final

import numpy as np

from likely._typing import Array, Interval
from likely.errors import InvalidInput
from likely.likelihoods.base import Likelihood, Response, refuse
from likely.likelihoods.gamma import POSITIVE_ADVICE
from likely.links import Link, Log
from likely.special import log, ones_like
from likely.storage.declarations import InRange

LEAST_SIGMA = float(np.finfo(float).eps)  # of a perfect fit: logarithms have no more digits


@final
@dataclass(frozen=True)
class LogNormal(Response):
    """Positive y whose logarithm is Gaussian.

    σ, the standard deviation of ln y, is a number above 0, or estimated by the fit, which is the
    default.
    """

    saved_rules = (InRange("sigma", "positive"), InRange("sigma", "finite"))

    sigma: float | Literal["estimate"] = "estimate"

    name = "log-normal"
    target_kind = "positive"
    means = Interval(0, inf)
    canonical = "log"
    dispersion_is_known = True
    exponential_family = False
    shape = "sigma"

    def __post_init__(self) -> None:
        if self.sigma == "estimate":
            return
        if isinstance(self.sigma, str) or not isfinite(self.sigma) or self.sigma <= 0:
            raise InvalidInput(
                f"LogNormal(sigma) needs a finite sigma above 0, or 'estimate'; found "
                f"{self.sigma!r}. It is the standard deviation of ln y: use LogNormal(0.5)."
            )

    @classmethod
    def around(cls, y: Array, mean: Array, weight: Array) -> Self:
        """σ̂ by maximum likelihood, at means that are given."""
        square = float(np.dot(weight, np.square(log(y) - log(mean)))) / float(weight.sum())
        # 2(√(1 + R) − 1), which would cancel where R is near 0
        return cls(max(sqrt(2 * square / (sqrt(1 + square) + 1)), LEAST_SIGMA))

    @property
    def shape_is_known(self) -> bool:
        return self.sigma != "estimate"

    @property
    def log_variance(self) -> float:
        """σ²."""
        if isinstance(self.sigma, str):
            raise InvalidInput(
                "This log-normal has no sigma yet: GLM.fit estimates it. "
                "Give one, such as LogNormal(0.5)."
            )
        return float(self.sigma) ** 2

    def check(self, y: Array) -> None:
        refuse(self, y, np.isfinite(y) & np.greater(y, 0), "above 0", POSITIVE_ADVICE)

    @np.errstate(over="ignore")
    def variance(self, mean: Array) -> Array:
        return np.expm1(self.log_variance) * np.square(mean)

    def nll(self, y: Array, mean: Array) -> Array:
        return self.deviance(y, mean) / 2

    def deviance(self, y: Array, mean: Array) -> Array:
        return np.square(self._residual(y, mean, self.log_variance)) / self.log_variance

    def slopes(self, y: Array, mean: Array, mean_slope: Array) -> tuple[Array, Array]:
        relative = np.divide(mean_slope, mean)
        pull = relative / self.log_variance
        return -self._residual(y, mean, self.log_variance) * pull, relative * pull

    def log_prob(self, y: Array, mean: Array, dispersion: Array | float = 1.0) -> Array:
        square = self._square(dispersion)
        residual = self._residual(y, mean, square)
        return -(log(2 * pi * square) + np.square(residual) / square) / 2 - log(y)

    def sample(
        self, mean: Array, rng: np.random.Generator, dispersion: Array | float = 1.0
    ) -> Array:
        square = self._square(dispersion)
        return rng.lognormal(log(mean) - square / 2, np.sqrt(square))

    def distribution(self, mean: Array, dispersion: Array | float = 1.0) -> Any:
        from scipy import stats  # here: it is slow to import

        square = self._square(dispersion)
        return stats.lognorm(np.sqrt(square), scale=mean * np.exp(-square / 2))

    def with_link(self, link: Link) -> Likelihood:
        if isinstance(link, Log):
            return LogNormalLog(self, link)
        return Response.with_link(self, link)

    def _square(self, dispersion: Array | float) -> Array:
        """σ² of ln y at dispersion ψ."""
        with np.errstate(over="ignore"):
            other = np.log1p(np.multiply(dispersion, np.expm1(self.log_variance)))
        return np.where(np.equal(dispersion, 1.0), self.log_variance, other)[()]

    @staticmethod
    def _residual(y: Array, mean: Array, square: Array | float) -> Array:
        """z, of mean 0."""
        return log(y) - log(mean) + square / 2


@final
@dataclass(frozen=True)
class LogNormalLog(Likelihood):
    """The log link: least squares on ln y, nll = (η − ln y − σ²/2)²/2σ²."""

    response: LogNormal

    def derivatives(self, y: Array, eta: Array) -> tuple[Array, Array, Array]:
        square = self.response.log_variance
        residual = eta - log(y) - square / 2
        return np.square(residual) / (2 * square), residual / square, ones_like(residual) / square
