"""The predictive density of a number: its family, around the predicted mean.

``PredictiveDistribution`` is the distribution of each of some rows; the coefficients are treated
as known, so its intervals ignore their uncertainty.

A continuous family of whole numbers has as probability its mass between y − ½ and y + ½, because a
density cannot be compared with a probability; and of an exact 0 among amounts, P(Y ≤ 0).

Where the predictor of a row has a part that is only known to be N(0, s²), such as the coefficient
of a category that the fit did not have, the density is a mixture:

    p(y | x) = ∫ p(y | g⁻¹(η)) N(η; η̂, s²) dη ≈ Σ_q w_q e^(z_q²/2) √(2π) h p(y | η_q) N(η_q; η̂, s²)
    η_q = m + h z_q        m the maximum of the integrand,  h⁻² = E[nll″(m)]/ψ + 1/s²

with Gauss and Hermite's nodes z_q where the integrand is (adaptive quadrature).

References
----------
Pinheiro & Bates (1995), Approximations to the log-likelihood function in the nonlinear
mixed-effects model, J. Computational and Graphical Statistics 4.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, final

import numpy as np
from scipy.special import logsumexp

from likely._typing import Array
from likely.errors import InvalidInput
from likely.likelihoods.base import Response
from likely.likelihoods.gaussian import Gaussian
from likely.likelihoods.responses import RESPONSES, likelihood_of

LogProb = Callable[[Array, Array, Array | float], Array]
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
FAR, HALVINGS = 10.0, 40  # standard deviations to the maximum at most, and how it is searched for


@final
@dataclass(frozen=True)
class PredictiveFamily:
    """The family of y around its mean."""

    response: Response
    dispersion: float
    link: str | None = None  # of the predictor whose spread may be given

    @classmethod
    def of(
        cls, response: Response, dispersion: float, link: str | None = None
    ) -> "PredictiveFamily | None":
        """The family, or None without a density: the dispersion is not a positive number."""
        return cls(response, dispersion, link) if 0 < dispersion < np.inf else None

    def log_density(
        self,
        y: Array,
        mean: Array,
        spread: Array | None = None,
        *,
        counts: bool,
        with_zeros: bool = False,
    ) -> Array:
        """log p(y | μ); −inf where the mean is not valid for the family.

        ``spread`` is s of each row, 0 where its predictor is known.
        """
        log_prob = log_prob_of(self.response, counts=counts, with_zeros=with_zeros)
        low, high = self.response.means
        valid = (mean > low) & (mean < high)
        inside = np.where(valid, mean, 1.0)
        found = np.where(valid, log_prob(y, inside, self.dispersion), -np.inf)
        mixed = valid if spread is None else valid & (spread > 0)
        if spread is not None and mixed.any():
            found[mixed] = self._mixed(log_prob, y[mixed], mean[mixed], spread[mixed])
        return found

    def _mixed(self, log_prob: LogProb, y: Array, mean: Array, s: Array) -> Array:
        """log ∫ p(y | g⁻¹(η)) N(η; η̂, s²) dη; of a Gaussian with the identity it is Gaussian."""
        likelihood, psi = likelihood_of(self.response, self.link), self.dispersion
        if isinstance(self.response, Gaussian) and likelihood.link.name == "identity":
            return log_prob(y, mean, psi + np.square(s))
        middle, (least, most) = likelihood.eta_of_mean(mean), likelihood.etas
        with np.errstate(all="ignore"):  # far from the maximum
            low, high = middle - FAR * s, middle + FAR * s
            for _ in range(HALVINGS):
                m = (low + high) / 2
                inside = np.clip(m, np.nextafter(least, most), np.nextafter(most, least))
                _, slope, curvature = likelihood.derivatives(y, inside)
                beyond = slope / psi + (m - middle) / np.square(s) > 0
                low, high = np.where(beyond, low, m), np.where(beyond, m, high)
            h = 1 / np.sqrt(curvature / psi + 1 / np.square(s))
            eta = m[:, None] + h[:, None] * NODES
            valid = (eta > least) & (eta < most)
            means = likelihood.mean(np.where(valid, eta, middle[:, None]))
            each = log_prob(y[:, None], np.clip(means, *_between(self.response)), psi)
            normal = np.square((eta - middle[:, None]) / s[:, None]) / 2
            total = logsumexp(
                np.where(valid, each - normal + np.square(NODES) / 2, -np.inf), axis=1, b=WEIGHTS
            )
            return np.asarray(total + np.log(h / s))

    def sample(self, mean: Array, rng: np.random.Generator, spread: Array | None = None) -> Array:
        """One y of each row."""
        if spread is not None and spread.any():
            likelihood = likelihood_of(self.response, self.link)
            eta = likelihood.eta_of_mean(mean) + spread * rng.normal(size=len(mean))
            moved = np.clip(likelihood.mean(eta), *_between(self.response))
            mean = np.where(spread > 0, moved, mean)
        return np.asarray(self.response.sample(mean, rng, self.dispersion))

    def to_json(self) -> dict[str, Any]:
        response = self.response
        settings: dict[str, Any] = asdict(response) if is_dataclass(response) else {}
        known = {"name": response.name, "settings": settings, "dispersion": self.dispersion}
        return known if self.link is None else {**known, "link": self.link}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "PredictiveFamily":
        """Read what ``to_json`` wrote."""
        response = type(RESPONSES[record["name"]])(**record["settings"])
        return cls(response, record["dispersion"], record.get("link"))


def _between(response: Response) -> tuple[float, float]:
    low, high = response.means
    return float(np.nextafter(low, high)), float(np.nextafter(high, low))


def log_prob_of(response: Response, *, counts: bool, with_zeros: bool) -> LogProb:
    """The log-probability by which families are compared for such a target."""
    if counts:
        return response.log_mass
    return response.log_from_zero if with_zeros else response.log_prob


@final
@dataclass(frozen=True, eq=False)
class PredictiveDistribution:
    """The distribution of y for each row: a family around its mean."""

    response: Response
    mean: Array  # (n,)
    dispersion: Array | float = 1.0

    @property
    def variance(self) -> Array:
        """ψ V(μ)."""
        return np.asarray(self.dispersion * self.response.variance(self.mean))

    def log_prob(self, y: Any) -> Array:
        """log p(y | x) of each row."""
        y = np.asarray(y, dtype=np.float64)
        self.response.check(y)
        return np.asarray(self.response.log_prob(y, self.mean, self.dispersion))

    def cdf(self, y: Any) -> Array:
        """P(Y ≤ y | x) of each row."""
        return np.asarray(self._named().cdf(np.asarray(y, dtype=np.float64)))

    def quantile(self, share: float) -> Array:
        """The least y with P(Y ≤ y | x) ≥ ``share``, of each row."""
        return np.asarray(self._named().ppf(share))

    def interval(self, level: float = 0.95) -> Array:
        """Between the quantiles that leave out the same share on either side, (n, 2)."""
        tail = (1 - level) / 2
        return np.stack([self.quantile(tail), self.quantile(1 - tail)], axis=-1)

    def sample(self, rng: np.random.Generator) -> Array:
        """One y of each row."""
        return np.asarray(self.response.sample(self.mean, rng, self.dispersion))

    def _named(self) -> Any:
        named = self.response.distribution(self.mean, self.dispersion)
        if named is None:
            raise InvalidInput(
                f"A {self.response.name} response has no distribution function here; log_prob and "
                "sample are available. Take quantiles of many samples."
            )
        return named
