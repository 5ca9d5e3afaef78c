"""Penalties of single coefficients: none, L2, L1 and both.

Σ_j λ_j |θ_j| + ½ Σ_j κ_j θ_j²        λ: l1, κ: l2
"""

from dataclasses import dataclass
from math import pi
from typing import final

import numpy as np
from scipy.special import erfcx

from likely._typing import Array
from likely.errors import InvalidInput
from likely.penalties.base import Penalty, Strength, Strengths, checked_strength, soft_threshold


@final
@dataclass(frozen=True)
class NoPenalty(Penalty):
    """The flat prior: the posterior mode is the maximum of the likelihood."""

    @property
    def strengths(self) -> Strengths:
        return Strengths()

    def value(self, theta: Array) -> float:
        return 0.0

    def gradient(self, theta: Array) -> Array:
        return np.zeros_like(theta)

    def curvature(self, theta: Array) -> Array:
        return np.zeros_like(theta)

    def scaled(self, factor: float) -> Penalty:
        return self

    def rough(self) -> Penalty:
        return self

    def prox(self, theta: Array, step: Array | float) -> Array:
        return theta

    def log_prior(self, theta: Array) -> float:
        return 0.0


@final
@dataclass(frozen=True, eq=False)
class L2(Penalty):
    """½ Σ κ_j θ_j²: Gaussian priors of precision κ, weight decay, ridge."""

    l2: Strength = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "l2", checked_strength("l2", self.l2))

    @classmethod
    def of_prior(cls, variance: Strength, *, noise: float = 1.0) -> "L2":
        """The prior N(0, τ²) on each coefficient, where τ² is ``variance``.

        ``noise`` is σ² of a Gaussian response, so that l2 = σ²/τ²; other models have none.

        >>> L2.of_prior(2.0, noise=1.0)
        L2(l2=0.5)
        """
        return cls(noise / _above_zero("variance", variance))

    @property
    def strengths(self) -> Strengths:
        return Strengths(l2=self.l2)

    def value(self, theta: Array) -> float:
        return 0.5 * float(np.sum(self.l2 * theta**2))

    def gradient(self, theta: Array) -> Array:
        return self.l2 * theta

    def curvature(self, theta: Array) -> Array:
        return self.l2 * np.ones_like(theta)

    def scaled(self, factor: float) -> Penalty:
        return L2(factor * np.asarray(self.l2))

    def rough(self) -> Penalty:
        return NoPenalty()

    def prox(self, theta: Array, step: Array | float) -> Array:
        return np.asarray(theta / (1.0 + step * np.asarray(self.l2)))

    def log_prior(self, theta: Array) -> float:
        return -_log_normaliser(0.0, self.l2, theta) - self.value(theta)


@final
@dataclass(frozen=True, eq=False)
class L1(Penalty):
    """Σ λ_j |θ_j|: Laplace priors of scale 1/λ, the lasso."""

    l1: Strength = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "l1", checked_strength("l1", self.l1))

    @classmethod
    def of_prior(cls, scale: Strength, *, noise: float = 1.0) -> "L1":
        """The prior Laplace(0, b) on each coefficient, where b is ``scale``: l1 = σ²/b.

        >>> L1.of_prior(0.5)
        L1(l1=2.0)
        """
        return cls(noise / _above_zero("scale", scale))

    @property
    def strengths(self) -> Strengths:
        return Strengths(l1=self.l1)

    def value(self, theta: Array) -> float:
        return float(np.sum(self.l1 * np.abs(theta)))

    def gradient(self, theta: Array) -> Array:
        return np.zeros_like(theta)

    def curvature(self, theta: Array) -> Array:
        return np.zeros_like(theta)

    def scaled(self, factor: float) -> Penalty:
        return L1(factor * np.asarray(self.l1))

    def rough(self) -> Penalty:
        return self

    def prox(self, theta: Array, step: Array | float) -> Array:
        return soft_threshold(theta, step * np.asarray(self.l1))

    def log_prior(self, theta: Array) -> float:
        return -_log_normaliser(self.l1, 0.0, theta) - self.value(theta)


@final
@dataclass(frozen=True, eq=False)
class ElasticNet(Penalty):
    """Σ λ_j |θ_j| + ½ Σ κ_j θ_j²: the prior is the product of the two, normalised."""

    l1: Strength = 1.0
    l2: Strength = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "l1", checked_strength("l1", self.l1))
        object.__setattr__(self, "l2", checked_strength("l2", self.l2))

    @property
    def strengths(self) -> Strengths:
        return Strengths(self.l1, self.l2)

    def value(self, theta: Array) -> float:
        return float(np.sum(self.l1 * np.abs(theta) + 0.5 * self.l2 * theta**2))

    def gradient(self, theta: Array) -> Array:
        return self.l2 * theta

    def curvature(self, theta: Array) -> Array:
        return self.l2 * np.ones_like(theta)

    def scaled(self, factor: float) -> Penalty:
        return ElasticNet(factor * np.asarray(self.l1), factor * np.asarray(self.l2))

    def rough(self) -> Penalty:
        return L1(self.l1)

    def prox(self, theta: Array, step: Array | float) -> Array:
        shrunk = soft_threshold(theta, step * np.asarray(self.l1))
        return np.asarray(shrunk / (1.0 + step * np.asarray(self.l2)))

    def log_prior(self, theta: Array) -> float:
        return -_log_normaliser(self.l1, self.l2, theta) - self.value(theta)


def _log_normaliser(l1: Strength, l2: Strength, theta: Array) -> float:
    """Σ_j log ∫ exp(−λ_j|x| − ½κ_j x²) dx, over the penalised coefficients.

    ∫ = √(2π/κ) erfcx(λ/√(2κ)); erfcx(x) = exp(x²) erfc(x) neither overflows nor cancels.
    """
    lam = np.broadcast_to(np.asarray(l1, dtype=float), theta.shape)
    kappa = np.broadcast_to(np.asarray(l2, dtype=float), theta.shape)
    curved, straight = kappa > 0, (kappa == 0) & (lam > 0)
    k = kappa[curved]
    gaussian = 0.5 * np.log(2 * pi / k) + np.log(erfcx(lam[curved] / np.sqrt(2 * k)))
    return float(gaussian.sum() + np.log(2 / lam[straight]).sum())


def _above_zero(name: str, value: Strength) -> Strength:
    if not np.all(np.asarray(value) > 0):
        raise InvalidInput(
            f"{name}={value!r} was given; a prior needs one above 0. Use a large one if it is weak."
        )
    return value if isinstance(value, float) else np.asarray(value, dtype=np.float64)
