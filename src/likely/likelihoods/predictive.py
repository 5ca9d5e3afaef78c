"""The predictive density of a number: its family, around the predicted mean.

``PredictiveDistribution`` is the distribution of each of some rows; the coefficients are treated
as known, so its intervals ignore their uncertainty.

A continuous family of whole numbers has as probability its mass between y − ½ and y + ½, because a
density cannot be compared with a probability; and of an exact 0 among amounts, P(Y ≤ 0).
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.likelihoods.base import Response
from likely.likelihoods.responses import RESPONSES


@final
@dataclass(frozen=True)
class PredictiveFamily:
    """The family of y around its mean."""

    response: Response
    dispersion: float

    @classmethod
    def of(cls, response: Response, dispersion: float) -> "PredictiveFamily | None":
        """The family, or None without a density: the dispersion is not a positive number."""
        return cls(response, dispersion) if 0 < dispersion < np.inf else None

    def log_density(
        self, y: Array, mean: Array, *, counts: bool, with_zeros: bool = False
    ) -> Array:
        """log p(y | μ); −inf where the mean is not valid for the family."""
        log_prob = log_prob_of(self.response, counts=counts, with_zeros=with_zeros)
        low, high = self.response.means
        valid = (mean > low) & (mean < high)
        inside = np.where(valid, mean, 1.0)
        return np.where(valid, log_prob(y, inside, self.dispersion), -np.inf)

    def to_json(self) -> dict[str, Any]:
        response = self.response
        settings: dict[str, Any] = asdict(response) if is_dataclass(response) else {}
        return {"name": response.name, "settings": settings, "dispersion": self.dispersion}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "PredictiveFamily":
        """Read what ``to_json`` wrote."""
        response = type(RESPONSES[record["name"]])(**record["settings"])
        return cls(response, record["dispersion"])


def log_prob_of(
    response: Response, *, counts: bool, with_zeros: bool
) -> Callable[[Array, Array, Array | float], Array]:
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
