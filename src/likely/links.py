"""Link functions: how the mean of a response follows the linear predictor.

    η = g(μ)        μ = g⁻¹(η)        slope = dμ/dη

Links onto (0, 1) also know the logarithms of both sides and their derivatives, which stay
accurate where μ or 1 − μ is too small for a difference from 1:

    ln μ,   ln(1 − μ),   h₁ = d ln μ/dη,   h₀ = −d ln(1 − μ)/dη,   dμ/dη = h₁ μ = h₀ (1 − μ)

The functions below the links are all that a prediction needs:

    μ = g⁻¹(η)        valid η: those whose mean both the response and the link can have
    two classes       ln(1 − μ), ln μ
    ordered classes   ln P(Y = k) = ln(G(b_{k−1} + η) − G(b_k + η)),   G = g⁻¹,  b_{−1} = ∞

The difference of ordered classes is taken between the two smaller tails and in logs, so that the
probability of a class far out in either tail has full precision.

References
----------
McCullagh & Nelder, Generalized Linear Models, 2nd ed., §2.2.3 and §4.3.1.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf, isfinite, pi
from typing import ClassVar, final

import numpy as np

from likely._typing import Array, Interval
from likely.errors import InvalidInput
from likely.numerics.normal import hazard, log_ndtr, ndtr, ndtri
from likely.special import exp, expit, expm1, log, log1p, log_expit, logit, ones_like

__all__ = [
    "LINKS",
    "CLogLog",
    "Cauchit",
    "Identity",
    "Inverse",
    "InverseSquared",
    "Link",
    "Log",
    "LogLog",
    "Logit",
    "Power",
    "Probit",
    "Sqrt",
    "UnitLink",
]

LARGEST_EXPONENT = 700.0  # e⁷⁰⁰ ≈ 1e304 is the last round power that float64 holds
MACHINE = float(np.finfo(np.float64).eps)
LOG_SQRT_2PI = float(np.log(2 * pi) / 2)


class Link(ABC):
    """The contract of a link.  Instances are stateless values."""

    means: ClassVar[Interval]  # the valid μ
    etas: ClassVar[Interval] = Interval(-inf, inf)  # the valid η
    in_part: ClassVar[bool] = False  # whether it serves responses that have a part of its means

    @property
    @abstractmethod
    def name(self) -> str: ...

    @abstractmethod
    def link(self, mean: Array) -> Array: ...

    @abstractmethod
    def inverse(self, eta: Array) -> Array: ...

    @abstractmethod
    def slope(self, eta: Array) -> Array: ...


class UnitLink(Link):
    """A link whose inverse is a distribution function: μ in (0, 1), rising with η."""

    means = Interval(0, 1)
    log_concave: ClassVar[bool] = True  # whether ln dμ/dη is concave in η

    def slope(self, eta: Array) -> Array:
        return exp(self.log_slope(eta))

    @abstractmethod
    def log_mean(self, eta: Array) -> Array:
        """ln μ."""

    @abstractmethod
    def log_complement(self, eta: Array) -> Array:
        """ln(1 − μ)."""

    @abstractmethod
    def hazards(self, eta: Array) -> tuple[Array, Array]:
        """h₁ = d ln μ/dη and h₀ = −d ln(1 − μ)/dη, both positive."""

    @abstractmethod
    def log_slope(self, eta: Array) -> Array:
        """ln dμ/dη."""

    @abstractmethod
    def log_slope_derivative(self, eta: Array) -> Array:
        """d ln(dμ/dη)/dη; where it decreases everywhere, ordered responses have a convex nll."""


@final
@dataclass(frozen=True)
class Identity(Link):
    """η = μ.  Canonical for the Gaussian."""

    name = "identity"
    means = Interval(-inf, inf)
    in_part = True

    def link(self, mean: Array) -> Array:
        return mean

    def inverse(self, eta: Array) -> Array:
        return eta

    def slope(self, eta: Array) -> Array:
        return ones_like(eta)


@final
@dataclass(frozen=True)
class Log(Link):
    """η = ln μ.  Canonical for the Poisson."""

    name = "log"
    means = Interval(0, inf)
    in_part = True

    def link(self, mean: Array) -> Array:
        return log(mean)

    def inverse(self, eta: Array) -> Array:
        return exp(eta)

    def slope(self, eta: Array) -> Array:
        return exp(eta)


@final
@dataclass(frozen=True)
class Power(Link):
    """η = μᵖ for μ > 0, p ≠ 0.  p = 1 − q is canonical for a variance μ^q."""

    p: float

    means = Interval(0, inf)
    etas = Interval(0, inf)

    def __post_init__(self) -> None:
        if not isfinite(self.p) or self.p == 0:
            raise InvalidInput(
                f"Power(p) needs a finite p other than 0; found p={self.p:g}. "
                "The limit p → 0 is the link 'log'."
            )

    @property
    def name(self) -> str:
        return f"power({self.p:g})"

    def link(self, mean: Array) -> Array:
        return np.power(mean, float(self.p))

    def inverse(self, eta: Array) -> Array:
        return np.power(eta, 1 / self.p)

    def slope(self, eta: Array) -> Array:
        return np.power(eta, 1 / self.p - 1) / self.p


@final
@dataclass(frozen=True)
class Inverse(Link):
    """η = 1/μ for μ > 0.  Canonical, up to its sign, for the exponential and the gamma."""

    name = "inverse"
    means = Interval(0, inf)
    etas = Interval(0, inf)

    def link(self, mean: Array) -> Array:
        return np.divide(1.0, mean)

    def inverse(self, eta: Array) -> Array:
        return np.divide(1.0, eta)

    def slope(self, eta: Array) -> Array:
        return -np.divide(1.0, np.square(eta))


@final
@dataclass(frozen=True)
class InverseSquared(Link):
    """η = 1/μ² for μ > 0.  Canonical, up to a factor −½, for the inverse Gaussian."""

    name = "inverse-squared"
    means = Interval(0, inf)
    etas = Interval(0, inf)

    def link(self, mean: Array) -> Array:
        return np.divide(1.0, np.square(mean))

    def inverse(self, eta: Array) -> Array:
        return np.divide(1.0, np.sqrt(eta))

    def slope(self, eta: Array) -> Array:
        return np.divide(-0.5, np.sqrt(eta) * eta)


@final
@dataclass(frozen=True)
class Sqrt(Link):
    """η = √μ for μ > 0.  It makes the variance of a Poisson constant."""

    name = "sqrt"
    means = Interval(0, inf)
    etas = Interval(0, inf)

    def link(self, mean: Array) -> Array:
        return np.sqrt(mean)

    def inverse(self, eta: Array) -> Array:
        return np.square(eta)

    def slope(self, eta: Array) -> Array:
        return np.multiply(2.0, eta)


@final
@dataclass(frozen=True)
class Logit(UnitLink):
    """η = ln μ/(1 − μ).  Canonical for the Bernoulli."""

    name = "logit"

    def link(self, mean: Array) -> Array:
        return logit(mean)

    def inverse(self, eta: Array) -> Array:
        return expit(eta)

    def slope(self, eta: Array) -> Array:
        return expit(eta) * expit(np.negative(eta))  # 1 − expit(η) would cancel for large η

    def log_mean(self, eta: Array) -> Array:
        return log_expit(eta)

    def log_complement(self, eta: Array) -> Array:
        return log_expit(np.negative(eta))

    def hazards(self, eta: Array) -> tuple[Array, Array]:
        return expit(np.negative(eta)), expit(eta)

    def log_slope(self, eta: Array) -> Array:
        return log_expit(eta) + log_expit(np.negative(eta))

    def log_slope_derivative(self, eta: Array) -> Array:
        return -np.tanh(np.divide(eta, 2))  # 1 − 2 expit(η)


@final
@dataclass(frozen=True)
class Probit(UnitLink):
    """η = Φ⁻¹(μ): y is 1 when a latent N(η, 1) is positive."""

    name = "probit"

    def link(self, mean: Array) -> Array:
        return ndtri(mean)

    def inverse(self, eta: Array) -> Array:
        return ndtr(eta)

    def log_mean(self, eta: Array) -> Array:
        return log_ndtr(eta)

    def log_complement(self, eta: Array) -> Array:
        return log_ndtr(np.negative(eta))

    def hazards(self, eta: Array) -> tuple[Array, Array]:
        return hazard(eta), hazard(np.negative(eta))

    def log_slope(self, eta: Array) -> Array:
        with np.errstate(over="ignore"):
            return -np.square(eta) / 2 - LOG_SQRT_2PI

    def log_slope_derivative(self, eta: Array) -> Array:
        return np.negative(eta)


@final
@dataclass(frozen=True)
class CLogLog(UnitLink):
    """η = ln(−ln(1 − μ)), 1 − μ = exp(−e^η): whether a Poisson(e^η) count is positive."""

    name = "cloglog"

    def link(self, mean: Array) -> Array:
        return log(-log1p(np.negative(mean)))

    def inverse(self, eta: Array) -> Array:
        return -expm1(-bounded_exp(eta))

    def log_mean(self, eta: Array) -> Array:
        u = bounded_exp(eta)
        near = np.where(u < MACHINE, eta, log(-expm1(-u)))  # ln u, where 1 − e⁻ᵘ = u
        return np.where(u < 1, near, log1p(-exp(-np.maximum(u, 1))))[()]

    def log_complement(self, eta: Array) -> Array:
        return -bounded_exp(eta)

    def hazards(self, eta: Array) -> tuple[Array, Array]:
        u = bounded_exp(eta)
        rest = expm1(u)
        return np.divide(u, rest, out=np.ones_like(u), where=rest > 0)[()], u

    def log_slope(self, eta: Array) -> Array:
        return np.minimum(eta, LARGEST_EXPONENT) - bounded_exp(eta)  # −, also at η = inf

    def log_slope_derivative(self, eta: Array) -> Array:
        return 1 - bounded_exp(eta)


def bounded_exp(eta: Array) -> Array:
    """e^η, kept finite so that 0 · e^η is 0 and never nan."""
    return exp(np.minimum(eta, LARGEST_EXPONENT, dtype=np.float64))


@final
@dataclass(frozen=True)
class LogLog(UnitLink):
    """η = −ln(−ln μ), μ = exp(−e⁻^η): the complementary log-log of 1 − μ at −η."""

    name = "loglog"

    def link(self, mean: Array) -> Array:
        return -log(-log(mean))

    def inverse(self, eta: Array) -> Array:
        return exp(self.log_mean(eta))

    def log_mean(self, eta: Array) -> Array:
        return CLogLog().log_complement(np.negative(eta))

    def log_complement(self, eta: Array) -> Array:
        return CLogLog().log_mean(np.negative(eta))

    def hazards(self, eta: Array) -> tuple[Array, Array]:
        of_complement, of_mean = CLogLog().hazards(np.negative(eta))
        return of_mean, of_complement

    def log_slope(self, eta: Array) -> Array:
        return CLogLog().log_slope(np.negative(eta))

    def log_slope_derivative(self, eta: Array) -> Array:
        return -CLogLog().log_slope_derivative(np.negative(eta))


@final
@dataclass(frozen=True)
class Cauchit(UnitLink):
    """η = tan π(μ − ½): the inverse is the Cauchy distribution function; robust to outliers."""

    name = "cauchit"
    log_concave = False

    def link(self, mean: Array) -> Array:
        smaller = np.minimum(mean, np.subtract(1, mean))  # the tangent is exact near 0, not near π
        cotangent = np.divide(1.0, np.tan(pi * smaller))
        return np.where(np.less(mean, 0.5), -cotangent, cotangent)[()]

    def inverse(self, eta: Array) -> Array:
        return np.arctan2(1.0, np.negative(eta)) / pi  # ½ + arctan(η)/π would cancel

    def log_mean(self, eta: Array) -> Array:
        smaller = self.inverse(-np.abs(eta))  # the logarithm of what is near 1 has few digits
        return np.where(np.greater(eta, 0), log1p(-smaller), log(smaller))[()]

    def log_complement(self, eta: Array) -> Array:
        return self.log_mean(np.negative(eta))

    def hazards(self, eta: Array) -> tuple[Array, Array]:
        slope = self.slope(eta)
        return slope / self.inverse(eta), slope / self.inverse(np.negative(eta))

    def log_slope(self, eta: Array) -> Array:
        return -np.log(pi) - 2 * log(np.hypot(1.0, eta))  # 1 + η² may overflow

    def log_slope_derivative(self, eta: Array) -> Array:
        length = np.hypot(1.0, eta)  # 1 + η² may overflow
        return -2 / length * np.divide(eta, length)


_KINDS = (Identity, Inverse, InverseSquared, Log, LogLog, CLogLog, Logit, Probit, Cauchit, Sqrt)
LINKS: dict[str, Link] = {link.name: link for link in (kind() for kind in _KINDS)}


def common_means(link: Link, means: Interval) -> Interval:
    """The means that are valid for both the response, whose means are given, and the link."""
    return Interval(max(means.low, link.means.low), min(means.high, link.means.high))


def valid_etas(link: Link, means: Interval) -> Interval:
    """The valid η: those of the link whose means the response can have."""
    with np.errstate(divide="ignore"):  # ln 0 and 1/0 are ends
        ends = sorted(float(link.link(np.asarray(end))) for end in common_means(link, means))
    return Interval(max(ends[0], link.etas.low), min(ends[1], link.etas.high))


def outside(etas: Interval, eta: Array) -> Array:
    """Which predictors have no valid mean."""
    low, high = etas
    if low == -np.inf and high == np.inf:
        return np.zeros(np.shape(eta), dtype=bool)
    return np.asarray(~((eta > low) & (eta < high)))


def mean_or_end(link: Link, means: Interval, eta: Array) -> Array:
    """g⁻¹(η); where η is not valid, 0 or 1, or nan where y has no such ends."""
    etas = valid_etas(link, means)
    if means.high == 1:
        return link.inverse(np.clip(eta, *etas))
    beyond = outside(etas, eta)
    if not beyond.any():
        return link.inverse(eta)
    return np.where(beyond, np.nan, link.inverse(np.where(beyond, 1.0, eta)))


def log_both_classes(link: Link, eta: Array) -> tuple[Array, Array]:
    """ln(1 − μ) and ln μ; −inf where η is at an end and the link is not a distribution function."""
    if isinstance(link, UnitLink):
        return link.log_complement(eta), link.log_mean(eta)
    inside = np.clip(eta, *valid_etas(link, Interval(0, 1)))
    with np.errstate(divide="ignore"):
        if isinstance(link, Log):
            return log_rest(inside), inside
        return log1p(-link.inverse(inside)), log(link.inverse(inside))


def log_rest(eta: Array) -> Array:
    """ln(1 − e^η) for η < 0: where 1 − e^η is near 1, its logarithm would have few digits."""
    return np.where(np.greater(eta, -1.0), log(-expm1(eta)), log1p(-exp(np.minimum(eta, -1.0))))[()]


def log_ordered_classes(link: UnitLink, eta: Array, thresholds: Array) -> Array:
    """ln P(Y = k) of K ordered classes, (n, K), from their K − 1 thresholds."""
    at = with_ends(thresholds) + np.asarray(eta)[:, None]
    return log_between(link, at[:, 1:], at[:, :-1])


def with_ends(thresholds: Array) -> Array:
    """The thresholds, with ∞ before the first and −∞ after the last."""
    return np.concatenate([[np.inf], thresholds, [-np.inf]])


def log_between(link: UnitLink, lower: Array, upper: Array) -> Array:
    """ln(G(upper) − G(lower)), from the nearer tail."""
    right = upper + lower > 0
    far, near = np.where(right, -lower, upper), np.where(right, -upper, lower)
    larger, smaller = _log_tail(link, far, right), _log_tail(link, near, right)
    return larger + log(-expm1(smaller - larger))


def _log_tail(link: UnitLink, distance: Array, right: Array) -> Array:
    """ln G(a), or on the right ln(1 − G(−a))."""
    return np.where(right, link.log_complement(-distance), link.log_mean(distance))
