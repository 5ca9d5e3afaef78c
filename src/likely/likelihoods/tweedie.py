"""The Tweedie response, V(μ) = μᵖ: for 1 < p < 2 a Poisson number of gamma amounts, with mass at 0.

    N ~ Poisson(λ)      y = Σ_{j ≤ N} G_j      G_j ~ Gamma(shape a, scale s)
    λ = μ^(2−p)/(ψ(2 − p))      a = (2 − p)/(p − 1)      s = ψ(p − 1)μ^(p−1)

    log p(0) = −λ      log p(y) = −λ − y/s − ln y + ln Σ_{n ≥ 1} λⁿ (y/s)^(na) / (n! Γ(na))

With Stirling's formula, ln Γ(x) = (x − ½) ln x − x + ½ ln 2π + r(x), all large terms cancel:

    p(y) = √a/(2πy) Σ_n exp(−D(n, λ) − D(na, y/s) − r(n) − r(na))        D(u, v) = u ln(u/v) − u + v

The terms rise to n* = y^(2−p)/(ψ(2 − p)) and fall like a Gaussian of variance σ² = n*/(1 + a), so a
window around n* contains nearly all of the sum.  Where it is wide, the sum over all n equals that
over points σ/3 apart, times σ/3: both are the integral to within e^(−2π²·9) (Poisson's summation
formula).  So a row costs at most a few hundred terms, for any dispersion.

The distribution function, P the regularised incomplete gamma, is a sum over the n within eight
standard deviations of λ; quantiles are searched for:

    P(Y ≤ y) = e^−λ + Σ_{n ≥ 1} e^−λ λⁿ/n! · P(na, y/s)

P falls over √(λ/a) of the n, so that points √(λ/(1 + a))/3 apart give the same sum.  With a small
skewness γ = (a + 2)/√(λa(a + 1)) it is Edgeworth's, whose error is of the order of γ³: without it
the number of terms would have no bound.  With z = (y − μ)/√(ψμᵖ) and κ the excess kurtosis:

    P(Y ≤ y) ≈ Φ(z) − φ(z) [γ/6 (z² − 1) + κ/24 (z³ − 3z) + γ²/72 (z⁵ − 10z³ + 15z)]

References
----------
Dunn & Smyth (2005), Series evaluation of Tweedie exponential dispersion model densities, §4.
"""

from dataclasses import dataclass
from functools import partial
from math import inf, pi
from typing import Any, final

import numpy as np
from scipy.special import gammainc, gammaln, ndtr, xlogy

from likely._typing import Array, Interval
from likely.errors import InvalidInput
from likely.likelihoods.base import Likelihood, Response, refuse
from likely.likelihoods.gamma import Gamma
from likely.likelihoods.gaussian import Gaussian
from likely.likelihoods.inverse_gaussian import InverseGaussian
from likely.likelihoods.poisson import Poisson
from likely.likelihoods.power_variance import PowerVarianceLog
from likely.likelihoods.quantile_search import search_quantiles
from likely.likelihoods.stirling import lgamma_rest
from likely.links import Link, Log
from likely.special import log, log1p, logsumexp
from likely.storage.declarations import Between

WINDOW = 9.0  # standard deviations of the series kept on either side of its peak
MARGIN = 40  # further terms: near n = 1 the series is not Gaussian
STEP = 1 / 3  # standard deviations between points of a wide window
PEAK_OF_INTEGRAL, SPREAD_OF_INTEGRAL = 200.0, 1.5  # from here on the window is wide
ROWS = 256  # summed at once, so that the terms stay in the cache
RATE_OF_INTEGRAL = 1e4  # the same of the sum over N, whose steps are at least as wide
FAR = 38.0  # standard deviations, beyond which a normal density is 0
SPREAD = 8.0  # standard deviations of N on either side of λ
MARGIN_OF_COUNTS = 20  # further terms: a small λ has a long tail
CELLS = 1_000_000  # terms at once
SMALL_SKEWNESS = 1e-3  # up to which Edgeworth's expansion is taken: its error is below 1e-8


@final
@dataclass(frozen=True, eq=False)
class CompoundDistribution:
    """N ~ Poisson(rate) amounts of Gamma(shape, scale), summed; like SciPy's distributions."""

    rate: Array
    shape: float
    scale: Array

    def cdf(self, y: Any) -> Array:
        """P(Y ≤ y)."""
        y, rate, scale = np.broadcast_arrays(np.asarray(y, float), self.rate, self.scale)
        shape, (y, rate, scale) = y.shape, map(np.ravel, (y, rate, scale))
        skewness, step = self._skewness(rate), STEP * np.sqrt(rate / (1 + self.shape))
        expanded = ~(skewness > SMALL_SKEWNESS)
        spaced = ~expanded & (step >= SPREAD_OF_INTEGRAL) & (rate >= RATE_OF_INTEGRAL)
        out = np.empty(y.size)
        out[expanded] = self._expanded(y[expanded], rate[expanded], scale[expanded])
        for mask in (spaced, ~expanded & ~spaced):
            reach = np.sqrt(rate[mask]) / (step[mask] if mask is spaced else 1.0)
            width = int(np.ceil(2 * SPREAD * reach.max(initial=0.0))) + MARGIN_OF_COUNTS
            chosen, rows = np.flatnonzero(mask), max(1, CELLS // width)
            for start in range(0, chosen.size, rows):
                part = chosen[start : start + rows]
                steps = step[part] if mask is spaced else None
                out[part] = self._below(y[part], rate[part], scale[part], width, steps)
        return np.where(y < 0, 0.0, np.clip(out, 0.0, 1.0)).reshape(shape)

    def sf(self, y: Array | float) -> Array:
        """P(Y > y), as a difference from 1."""
        return 1.0 - self.cdf(y)

    def ppf(self, share: Any) -> Array:
        """The least y with P(Y ≤ y) ≥ share."""
        rate, scale = np.broadcast_arrays(self.rate, self.scale)
        high = np.asarray((rate + 1) * (self.shape + 1) * scale)
        while (short := (self.cdf(high) < share) & np.isfinite(high)).any():
            high = np.where(short, 2 * high, high)
        found = search_quantiles(self.cdf, float(share), np.zeros(high.shape), high)
        return np.where(np.exp(-rate) >= share, 0.0, found)

    def _skewness(self, rate: Array) -> Array:
        with np.errstate(divide="ignore"):  # a rate of 0
            return (self.shape + 2) / np.sqrt(rate * self.shape * (self.shape + 1))

    def _expanded(self, y: Array, rate: Array, scale: Array) -> Array:
        a, skewness = self.shape, self._skewness(rate)
        kurtosis = (a + 2) * (a + 3) / (rate * a * (a + 1))
        z = (y - rate * a * scale) / (scale * np.sqrt(rate * a * (a + 1)))
        z = np.clip(z, -FAR, FAR)
        change = skewness / 6 * (z**2 - 1) + kurtosis / 24 * (z**3 - 3 * z)
        change += skewness**2 / 72 * (z**5 - 10 * z**3 + 15 * z)
        return ndtr(z) - np.exp(-(z**2) / 2) / np.sqrt(2 * pi) * change

    def _below(self, y: Array, rate: Array, scale: Array, width: int, step: Array | None) -> Array:
        """The sum over so many n, or over points ``step`` apart."""
        n = np.arange(width)
        if step is None:
            first = np.maximum(np.floor(rate - SPREAD * np.sqrt(rate)), 1.0)
            n = first[:, None] + n
            log_mass = xlogy(n, rate[:, None]) - rate[:, None] - gammaln(n + 1)
        else:
            n = rate[:, None] + step[:, None] * (n - (width - 1) / 2)
            log_mass = log(step[:, None] / np.sqrt(2 * pi * n)) - lgamma_rest(n)
            log_mass -= _excess(n, rate[:, None])
        amounts = gammainc(n * self.shape, np.maximum(y / scale, 0.0)[:, None])
        return np.exp(-rate) + (np.exp(log_mass) * amounts).sum(axis=1)


@final
@dataclass(frozen=True)
class CompoundPoissonGamma(Response):
    """The Tweedie of 1 < p < 2: amounts that are exactly 0 with positive probability."""

    power: float

    name = "tweedie"
    means = Interval(0, inf)
    canonical = "log"
    dispersion_is_known = False

    def check(self, y: Array) -> None:
        advice = "Use a gaussian response for numbers that can be negative."
        refuse(self, y, np.isfinite(y) & np.greater_equal(y, 0), "0 or more", advice)

    def variance(self, mean: Array) -> Array:
        return np.power(mean, self.power)

    def nll(self, y: Array, mean: Array) -> Array:
        p = self.power
        return np.power(mean, 2 - p) / (2 - p) + y * np.power(mean, 1 - p) / (p - 1)

    def deviance(self, y: Array, mean: Array) -> Array:
        p = self.power
        at_best = np.power(y, 2 - p) * (1 / (2 - p) + 1 / (p - 1))
        return np.maximum(2 * (self.nll(y, mean) - at_best), 0.0)  # rounding may fall below 0

    def log_prob(self, y: Array, mean: Array, dispersion: Array | float = 1.0) -> Array:
        return self.or_perfect(partial(self._log_prob, y, mean), y, mean, dispersion)

    def log_at_zero(self, mean: Array, dispersion: Array | float = 1.0) -> Array:
        return -self._parts(mean, np.asarray(dispersion))[0]

    def _log_prob(self, y: Array, mean: Array, dispersion: Array | float) -> Array:
        y, mean, dispersion = np.broadcast_arrays(
            np.asarray(y, float), np.asarray(mean, float), np.asarray(dispersion, float)
        )
        result = np.empty(y.shape)
        flat = [np.ravel(part) for part in (y, mean, dispersion)]
        for start in range(0, y.size, ROWS):
            rows = slice(start, start + ROWS)
            result.flat[rows] = self._log_prob_rows(*(part[rows] for part in flat))
        return result[()]

    def _log_prob_rows(self, y: Array, mean: Array, dispersion: Array) -> Array:
        rate, shape, scale = self._parts(mean, dispersion)
        amount = np.where(y > 0, y, 1.0)  # a stand-in, whose result is not used
        peak = np.power(amount, 2 - self.power) / (dispersion * (2 - self.power))
        spread = np.sqrt(peak / (1 + shape))
        smooth = (peak >= PEAK_OF_INTEGRAL) & (spread >= SPREAD_OF_INTEGRAL)
        total = np.empty(y.shape)
        for rows, nodes in ((smooth, _spaced_nodes), (~smooth, _whole_nodes)):
            if rows.any():
                n, log_step = nodes(peak[rows], spread[rows])
                terms = _log_terms(n, shape, rate[rows, None], (amount / scale)[rows, None])
                total[rows] = logsumexp(terms, axis=1) + log_step
        positive = total + log(np.sqrt(shape) / (2 * pi)) - log(amount)
        return np.where(y > 0, positive, -rate)

    def sample(
        self, mean: Array, rng: np.random.Generator, dispersion: Array | float = 1.0
    ) -> Array:
        rate, shape, scale = self._parts(np.asarray(mean), np.asarray(dispersion))
        return rng.gamma(shape * rng.poisson(rate), scale)  # of shape 0, exactly 0

    def distribution(self, mean: Array, dispersion: Array | float = 1.0) -> Any:
        return CompoundDistribution(*self._parts(np.asarray(mean), np.asarray(dispersion)))

    def _parts(self, mean: Array, dispersion: Array) -> tuple[Array, float, Array]:
        """λ, a and s."""
        p = self.power
        rate = np.power(mean, 2 - p) / (dispersion * (2 - p))
        return rate, (2 - p) / (p - 1), dispersion * (p - 1) * np.power(mean, p - 1)


def _log_terms(n: Array, shape: float, rate: Array, scaled: Array) -> Array:
    """The terms of the sum, (rows, n_terms), less ½ ln a − ln 2π."""
    total = n * shape
    return -_excess(n, rate) - _excess(total, scaled) - lgamma_rest(n) - lgamma_rest(total)


def _excess(u: Array, v: Array) -> Array:
    """u ln(u/v) − u + v, half the deviance of a Poisson: 0 where u = v, without cancellation."""
    t = (u - v) / v
    return v * ((1 + t) * log1p(t) - t)


def _whole_nodes(peak: Array, spread: Array) -> tuple[Array, Array | float]:
    """Every n that matters, from 1 on."""
    width = int(np.ceil(WINDOW * spread.max())) + MARGIN
    first = np.maximum(np.rint(peak) - width, 1.0)
    return first[:, None] + np.arange(2 * width + 1), 0.0


def _spaced_nodes(peak: Array, spread: Array) -> tuple[Array, Array | float]:
    """Points a third of a standard deviation apart: they give the same sum as all n."""
    steps = np.arange(-WINDOW, WINDOW + STEP / 2, STEP)
    return peak[:, None] + spread[:, None] * steps, log(STEP * spread)


NAMED: dict[float, Response] = {
    0.0: Gaussian(),
    1.0: Poisson(),
    2.0: Gamma(),
    3.0: InverseGaussian(),
}


@final
@dataclass(frozen=True)
class Tweedie(Response):
    """V(μ) = μᵖ; p = 0, 1, 2 and 3 are the Gaussian, Poisson, gamma and inverse Gaussian.

    For 1 < p < 2 ``link=None`` is the log; the canonical link is ``Power(1 − p)``.
    """

    saved_rules = (Between("power", 0.0, 3.0),)

    power: float = 1.5

    name = "tweedie"

    def __post_init__(self) -> None:
        if not (1 < self.power < 2 or self.power in NAMED):
            raise InvalidInput(
                f"Tweedie(power) needs a power between 1 and 2, or 0, 1, 2 or 3; "
                f"found {self.power:g}. Use 1.5 for amounts with many zeros."
            )

    @property
    def member(self) -> Response:
        return NAMED.get(self.power) or CompoundPoissonGamma(self.power)

    @property
    def means(self) -> Interval:
        return self.member.means

    @property
    def canonical(self) -> str:
        return self.member.canonical

    @property
    def dispersion_is_known(self) -> bool:
        return self.member.dispersion_is_known

    def check(self, y: Array) -> None:
        self.member.check(y)

    def variance(self, mean: Array) -> Array:
        return self.member.variance(mean)

    def nll(self, y: Array, mean: Array) -> Array:
        return self.member.nll(y, mean)

    def deviance(self, y: Array, mean: Array) -> Array:
        return self.member.deviance(y, mean)

    def log_prob(self, y: Array, mean: Array, dispersion: Array | float = 1.0) -> Array:
        return self.member.log_prob(y, mean, dispersion)

    def log_mass(self, y: Array, mean: Array, dispersion: Array | float = 1.0) -> Array:
        return self.member.log_mass(y, mean, dispersion)

    def log_at_zero(self, mean: Array, dispersion: Array | float = 1.0) -> Array:
        return self.member.log_at_zero(mean, dispersion)

    def sample(
        self, mean: Array, rng: np.random.Generator, dispersion: Array | float = 1.0
    ) -> Array:
        return self.member.sample(mean, rng, dispersion)

    def distribution(self, mean: Array, dispersion: Array | float = 1.0) -> Any:
        return self.member.distribution(mean, dispersion)

    def with_link(self, link: Link) -> Likelihood:
        if isinstance(link, Log) and 1 <= self.power <= 2:
            return PowerVarianceLog(self, link, self.power)
        return self.member.with_link(link)
