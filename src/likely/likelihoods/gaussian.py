"""The Gaussian response: log p(y | μ, ψ) = −½ ln 2πψ − (y − μ)²/2ψ, V(μ) = 1."""

from dataclasses import dataclass
from math import inf, pi
from typing import Any, final

import numpy as np
from scipy.special import log_ndtr

from likely._typing import Array, Interval
from likely.likelihoods.base import Likelihood, Response, refuse
from likely.links import Identity, Link
from likely.special import log, ones_like


@final
@dataclass(frozen=True)
class Gaussian(Response):
    """Real y whose spread does not depend on its mean; ψ is the variance."""

    name = "gaussian"
    means = Interval(-inf, inf)
    canonical = "identity"
    dispersion_is_known = False

    def check(self, y: Array) -> None:
        advice = "Leave such examples out, or fill them in."
        refuse(self, y, np.isfinite(y), "a finite number", advice)

    def variance(self, mean: Array) -> Array:
        return ones_like(mean)

    def nll(self, y: Array, mean: Array) -> Array:
        return np.square(y - mean) / 2

    def deviance(self, y: Array, mean: Array) -> Array:
        return np.square(y - mean)

    def log_prob(self, y: Array, mean: Array, dispersion: Array | float = 1.0) -> Array:
        squares = np.square(y - mean)

        def usual(psi: Array | float) -> Array:
            return -log(2 * pi * np.asarray(psi)) / 2 - squares / 2 / psi

        return self.or_perfect(usual, y, mean, dispersion)

    def log_mass(self, y: Array, mean: Array, dispersion: Array | float = 1.0) -> Array:
        """The mass between y − ½ and y + ½, without cancellation in either tail."""
        deviation = np.sqrt(dispersion)
        low, high = (y - 0.5 - mean) / deviation, (y + 0.5 - mean) / deviation
        right = low > 0  # mirrored: differences of the upper tail would cancel
        low, high = np.where(right, -high, low), np.where(right, -low, high)
        top, bottom = log_ndtr(high), log_ndtr(low)
        return np.asarray(top + np.log(-np.expm1(bottom - top)))

    def log_at_zero(self, mean: Array, dispersion: Array | float = 1.0) -> Array:
        return np.asarray(log_ndtr(-mean / np.sqrt(dispersion)))

    def sample(
        self, mean: Array, rng: np.random.Generator, dispersion: Array | float = 1.0
    ) -> Array:
        return rng.normal(mean, np.sqrt(dispersion))

    def distribution(self, mean: Array, dispersion: Array | float = 1.0) -> Any:
        from scipy import stats  # here: it is slow to import

        return stats.norm(mean, np.sqrt(dispersion))

    def with_link(self, link: Link) -> Likelihood:
        if isinstance(link, Identity):
            return GaussianIdentity(self, link)
        return Response.with_link(self, link)


@final
@dataclass(frozen=True)
class GaussianIdentity(Likelihood):
    """Least squares: nll = ½(η − y)², of curvature 1."""

    def derivatives(self, y: Array, eta: Array) -> tuple[Array, Array, Array]:
        residual = eta - y
        return np.square(residual) / 2, residual, ones_like(residual)
