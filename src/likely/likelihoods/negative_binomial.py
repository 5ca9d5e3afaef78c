"""The negative binomial response: Poisson counts whose rate is itself gamma distributed.

    V(μ) = μ + αμ²        nll = (y + 1/α) ln(1 + αμ) − y ln μ

With the log link and s = σ(η + ln α), which is αμ/(1 + αμ):

    nll′ = s/α − y(1 − s)        E[nll″] = s/α

α is given, or estimated with the coefficients.  With a = 1/α and ρ = ln α:

    log p(y) − log p_Poisson(y) = R − (y + a) ln(1 + μ/a) + μ,    R = ln Γ(y + a) − ln Γ(a) − y ln a
    ∂/∂a   = ln(1 + u) − u + D(y + a) − D(a)        u = (y − μ)/(a + μ),  D(x) = ψ(x) − ln x
    ∂²/∂a² = u²/(a + y) + D′(y + a) − D′(a)         D′(x) = ψ′(x) − 1/x
    ∂/∂ρ   = −a ∂/∂a               ∂²/∂ρ² = a ∂/∂a + a² ∂²/∂a²
    α → 0:    ∂/∂α = ½((y − μ)² − y),   whose variance is ½μ²

β and α are orthogonal: E[∂² log p/∂η∂α] = 0.

References
----------
McCullagh & Nelder, Generalized Linear Models, 2nd ed., §6.2.3.
Lawless (1987), Negative binomial and mixed Poisson regression, Canadian J. Statistics 15.
Cameron & Trivedi, Regression Analysis of Count Data, 2nd ed., §3.3 and §3.4.
"""

from dataclasses import dataclass
from math import inf, isfinite
from typing import Any, Literal, NamedTuple, final

import numpy as np
from scipy.special import digamma, polygamma, xlogy

from likely._typing import Array, Interval
from likely.errors import InvalidInput
from likely.likelihoods.base import Likelihood, Response, refuse
from likely.likelihoods.stirling import STIRLING, lgamma_rest
from likely.links import Link, Log
from likely.special import expit, lgamma, log1p, log_expit
from likely.storage.declarations import InRange


@final
@dataclass(frozen=True)
class NegativeBinomial(Response):
    """Overdispersed counts; α → 0 is the Poisson.

    α is a number above 0, or estimated by the fit, which is the default.
    ``link=None`` is the log: the canonical link, ln αμ/(1 + αμ), is hardly ever used.
    """

    saved_rules = (InRange("alpha", "positive"), InRange("alpha", "finite"))

    alpha: float | Literal["estimate"] = "estimate"

    name = "negative-binomial"
    target_kind = "count"
    means = Interval(0, inf)
    canonical = "log"
    dispersion_is_known = True
    shape = "alpha"

    def __post_init__(self) -> None:
        if self.alpha == "estimate":
            return
        if isinstance(self.alpha, str) or not isfinite(self.alpha) or self.alpha <= 0:
            raise InvalidInput(
                f"NegativeBinomial(alpha) needs a finite alpha above 0, or 'estimate'; found "
                f"{self.alpha!r}. Use the response 'poisson' for alpha = 0."
            )

    @property
    def shape_is_known(self) -> bool:
        return self.alpha != "estimate"

    @property
    def a(self) -> float:
        """1/α, the shape of the gamma distributed rate."""
        if isinstance(self.alpha, str):
            raise InvalidInput(
                "This negative binomial has no alpha yet: GLM.fit estimates it. "
                "Give one, such as NegativeBinomial(1.0)."
            )
        return 1 / self.alpha

    def check(self, y: Array) -> None:
        advice = "Use a gaussian response for numbers that can be negative."
        refuse(self, y, np.isfinite(y) & np.greater_equal(y, 0), "0 or more", advice)

    def variance(self, mean: Array) -> Array:
        return mean + np.square(mean) / self.a

    def nll(self, y: Array, mean: Array) -> Array:
        return (y + self.a) * log1p(np.divide(mean, self.a)) - xlogy(y, mean)

    def deviance(self, y: Array, mean: Array) -> Array:
        excess = log1p(np.subtract(y, mean) / (self.a + np.asarray(mean)))
        return 2 * (xlogy(y, np.divide(y, mean)) - (y + self.a) * excess)

    def log_prob(self, y: Array, mean: Array, dispersion: Array | float = 1.0) -> Array:
        """log p(y | μ); with dispersion 1/n, the probability that n counts have the mean y."""
        n = np.divide(1.0, dispersion)
        size, count = n * self.a, np.asarray(n * y)
        ways = log_rising(count, size) - lgamma(1 + count)
        return ways + xlogy(count, n) - n * self.nll(y, mean)

    def sample(
        self, mean: Array, rng: np.random.Generator, dispersion: Array | float = 1.0
    ) -> Array:
        shape = np.divide(self.a, dispersion)
        return dispersion * rng.poisson(rng.gamma(shape, np.divide(mean, self.a)))

    def distribution(self, mean: Array, dispersion: Array | float = 1.0) -> Any:
        from scipy import stats  # here: it is slow to import

        return stats.nbinom(self.a, self.a / (self.a + np.asarray(mean)))

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
        a = self.response.a
        odds = eta - np.log(a)
        s = expit(odds)
        nll = -(y + a) * log_expit(-odds) - y * eta
        return nll, a * s - y * expit(-odds), a * s


class AlphaDerivatives(NamedTuple):
    """log p(y) minus that of the Poisson, and its derivatives in ρ = ln α; one of each per row."""

    gain: Array
    slope: Array
    curvature: Array


def alpha_derivatives(y: Array, mean: Array, alpha: float) -> AlphaDerivatives:
    """The log-likelihood of counts y around their means as a function of α."""
    a = 1 / alpha
    u = (y - mean) / (a + mean)
    slope = log1p(u) - u + _digamma_rest(y + a) - _digamma_rest(a)
    curvature = np.square(u) / (a + y) + _trigamma_rest(y + a) - _trigamma_rest(a)
    return AlphaDerivatives(alpha_gain(y, mean, alpha), -a * slope, a * slope + a**2 * curvature)


def alpha_gain(y: Array, mean: Array, alpha: float) -> Array:
    """log p(y) less that of the Poisson."""
    a = 1 / alpha
    return np.asarray(log_rising(y, a) - (y + a) * log1p(mean / a) + mean)


def log_rising(y: Array, a: Array | float) -> Array:
    """ln Γ(y + a) − ln Γ(a) − y ln a, which is near 0 for large a, where its terms are huge."""
    y, a = np.broadcast_arrays(np.asarray(y, float), np.asarray(a, float))
    direct = lgamma(y + a) - lgamma(a) - y * np.log(a)
    far = (a + y - 0.5) * log1p(y / a) - y + lgamma_rest(y + a) - lgamma_rest(a)
    return np.where(a < STIRLING, direct, far)[()]


def _digamma_rest(x: Array | float) -> Array:
    """ψ(x) − ln x."""
    x = np.asarray(x, float)
    inverse = 1 / np.maximum(x, STIRLING)
    square = np.square(inverse)
    far = -inverse / 2 - square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))
    return np.where(x < STIRLING, digamma(x) - np.log(x), far)[()]


def _trigamma_rest(x: Array | float) -> Array:
    """ψ′(x) − 1/x."""
    x = np.asarray(x, float)
    inverse = 1 / np.maximum(x, STIRLING)
    square = np.square(inverse)
    cube = inverse * square
    far = square / 2 + cube * (1 / 6 - square * (1 / 30 - square * (1 / 42 - square / 30)))
    return np.where(x < STIRLING, polygamma(1, x) - 1 / x, far)[()]
