"""Penalties on coefficients, and the priors they stand for.

    value(θ) = Σ_j λ_j |θ_j| + ½ Σ_j κ_j θ_j²        λ: l1, κ: l2

Minus the log density of the prior is the penalty plus a constant, so a penalised fit is the
mode of a posterior.  Strengths are on the scale of the *summed* log-likelihood; each is a
number or one number per coefficient, and 0 leaves a coefficient free (a flat, improper
prior, whose log density is taken as 0).

    prox(u, t) = argmin_θ ½‖θ − u‖² + t · value(θ)

To add a penalty, write one class and list it in ``PENALTIES``: the laws in
``tests/laws/test_penalties.py`` read that list.

References
----------
Parikh & Boyd, Proximal Algorithms, 2014, §6.5.  Yuan & Lin, Model selection and estimation in
regression with grouped variables, 2006.  Li & Lin, The Bayesian elastic net, 2010.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import log, pi
from typing import final

import numpy as np
from scipy.special import erfcx, gammaln

from likely._typing import Array, Codes
from likely.errors import InvalidInput

__all__ = [
    "L1",
    "L2",
    "PENALTIES",
    "ElasticNet",
    "Group",
    "NoPenalty",
    "Penalty",
    "soft_threshold",
]

Strength = float | Array  # one for all coefficients, or one for each


class Penalty(ABC):
    """The contract of a penalty: smooth part + rough part, both convex."""

    @abstractmethod
    def value(self, theta: Array) -> float: ...

    @abstractmethod
    def gradient(self, theta: Array) -> Array:
        """The gradient of the smooth part, ``value − rough().value``."""

    @abstractmethod
    def curvature(self, theta: Array) -> Array:
        """The second derivatives of the smooth part, one per coefficient."""

    @abstractmethod
    def rough(self) -> "Penalty":
        """The part without a gradient at 0, for objectives that take the smooth part in."""

    @abstractmethod
    def scaled(self, factor: float) -> "Penalty":
        """The penalty times ``factor``: that of a part of the rows."""

    def corners(self, size: int) -> Array:
        """λ of the terms λ_j|θ_j|, one per coefficient; 0 where there is none."""
        return np.zeros(size)

    def least_subgradient(self, theta: Array, smooth: Array) -> Array:
        """The shortest of the subgradients ``smooth`` + ∂rough(θ): 0 at an optimum, also there."""
        corners = self.corners(theta.size)
        beyond = smooth + corners * np.sign(theta)
        return np.where(theta != 0, beyond, soft_threshold(smooth, corners))

    @abstractmethod
    def prox(self, theta: Array, step: float) -> Array:
        """The proximal operator of the whole penalty."""

    @abstractmethod
    def log_prior(self, theta: Array) -> float: ...


@final
@dataclass(frozen=True)
class NoPenalty(Penalty):
    """The flat prior: the posterior mode is the maximum of the likelihood."""

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

    def prox(self, theta: Array, step: float) -> Array:
        return theta

    def log_prior(self, theta: Array) -> float:
        return 0.0


@final
@dataclass(frozen=True, eq=False)
class L2(Penalty):
    """½ Σ κ_j θ_j²: Gaussian priors of precision κ, weight decay, ridge."""

    l2: Strength = 1.0

    def __post_init__(self) -> None:
        _check_strength("l2", self.l2)

    @classmethod
    def of_prior(cls, variance: Strength, *, noise: float = 1.0) -> "L2":
        """The prior N(0, τ²) on each coefficient, where τ² is ``variance``.

        ``noise`` is σ² of a Gaussian response, so that l2 = σ²/τ²; other models have none.

        >>> L2.of_prior(2.0, noise=1.0)
        L2(l2=0.5)
        """
        return cls(noise / _above_zero("variance", variance))

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

    def prox(self, theta: Array, step: float) -> Array:
        return np.asarray(theta / (1.0 + step * np.asarray(self.l2)))

    def log_prior(self, theta: Array) -> float:
        return -_log_normaliser(0.0, self.l2, theta) - self.value(theta)


@final
@dataclass(frozen=True, eq=False)
class L1(Penalty):
    """Σ λ_j |θ_j|: Laplace priors of scale 1/λ, the lasso."""

    l1: Strength = 1.0

    def __post_init__(self) -> None:
        _check_strength("l1", self.l1)

    @classmethod
    def of_prior(cls, scale: Strength, *, noise: float = 1.0) -> "L1":
        """The prior Laplace(0, b) on each coefficient, where b is ``scale``: l1 = σ²/b.

        >>> L1.of_prior(0.5)
        L1(l1=2.0)
        """
        return cls(noise / _above_zero("scale", scale))

    def value(self, theta: Array) -> float:
        return float(np.sum(self.l1 * np.abs(theta)))

    def gradient(self, theta: Array) -> Array:
        return np.zeros_like(theta)

    def curvature(self, theta: Array) -> Array:
        return np.zeros_like(theta)

    def scaled(self, factor: float) -> Penalty:
        return L1(factor * np.asarray(self.l1))

    def corners(self, size: int) -> Array:
        return np.broadcast_to(np.asarray(self.l1, dtype=float), (size,))

    def rough(self) -> Penalty:
        return self

    def prox(self, theta: Array, step: float) -> Array:
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
        _check_strength("l1", self.l1)
        _check_strength("l2", self.l2)

    def value(self, theta: Array) -> float:
        return float(np.sum(self.l1 * np.abs(theta) + 0.5 * self.l2 * theta**2))

    def gradient(self, theta: Array) -> Array:
        return self.l2 * theta

    def curvature(self, theta: Array) -> Array:
        return self.l2 * np.ones_like(theta)

    def scaled(self, factor: float) -> Penalty:
        return ElasticNet(factor * np.asarray(self.l1), factor * np.asarray(self.l2))

    def corners(self, size: int) -> Array:
        return np.broadcast_to(np.asarray(self.l1, dtype=float), (size,))

    def rough(self) -> Penalty:
        return L1(self.l1)

    def prox(self, theta: Array, step: float) -> Array:
        shrunk = soft_threshold(theta, step * np.asarray(self.l1))
        return np.asarray(shrunk / (1.0 + step * np.asarray(self.l2)))

    def log_prior(self, theta: Array) -> float:
        return -_log_normaliser(self.l1, self.l2, theta) - self.value(theta)


@final
@dataclass(frozen=True, eq=False)
class Group(Penalty):
    """Σ_g λ_g ‖θ_g‖₂: a group of coefficients enters or leaves as one.

    The prior of a group of p coefficients is ∝ exp(−λ‖θ_g‖), the spherical Laplace.
    """

    groups: Codes  # (d,): the group of each coefficient; −1 leaves it free
    strength: Strength = 1.0  # λ, one for all groups or one for each

    def __post_init__(self) -> None:
        _check_strength("strength", self.strength)

    def value(self, theta: Array) -> float:
        return float(np.sum(self._strengths() * self._norms(theta)))

    def gradient(self, theta: Array) -> Array:
        return np.zeros_like(theta)

    def curvature(self, theta: Array) -> Array:
        return np.zeros_like(theta)

    def scaled(self, factor: float) -> Penalty:
        return Group(self.groups, factor * np.asarray(self.strength))

    def rough(self) -> Penalty:
        return self

    def least_subgradient(self, theta: Array, smooth: Array) -> Array:
        norms = self._norms(theta)
        pull = np.append(self._strengths() / np.where(norms > 0, norms, np.inf), 0.0)[self.groups]
        at_rest = np.append(norms == 0, False)[self.groups]
        return np.where(
            at_rest, self.prox(np.where(at_rest, smooth, 0.0), 1.0), smooth + pull * theta
        )

    def prox(self, theta: Array, step: float) -> Array:
        norms = self._norms(theta)
        kept = np.maximum(norms - step * self._strengths(), 0.0) / np.where(norms > 0, norms, 1.0)
        return np.asarray(theta * np.append(kept, 1.0)[self.groups])  # −1 reads the last, 1

    def log_prior(self, theta: Array) -> float:
        """A group's density is λᵖ Γ(p/2) / (2 π^{p/2} Γ(p)) · exp(−λ‖θ_g‖)."""
        strengths, sizes = self._strengths(), np.bincount(self.groups[self.groups >= 0])
        proper = (strengths > 0) & (sizes > 0)
        p, lam = sizes[proper], strengths[proper]
        log_constant = p * np.log(lam) + gammaln(p / 2) - log(2) - p / 2 * log(pi) - gammaln(p)
        return float(log_constant.sum()) - self.value(theta)

    def _strengths(self) -> Array:
        return np.broadcast_to(np.asarray(self.strength, dtype=float), (self._n_groups(),))

    def _norms(self, theta: Array) -> Array:
        inside = self.groups >= 0
        squares = np.bincount(
            self.groups[inside], weights=theta[inside] ** 2, minlength=self._n_groups()
        )
        return np.asarray(np.sqrt(squares))

    def _n_groups(self) -> int:
        return int(self.groups.max(initial=-1)) + 1


PENALTIES: dict[str, type[Penalty]] = {
    "none": NoPenalty,
    "l2": L2,
    "l1": L1,
    "elastic_net": ElasticNet,
    "group": Group,
}


def soft_threshold(theta: Array, threshold: Strength) -> Array:
    """S(u, t) = sign(u) max(|u| − t, 0)."""
    return np.asarray(np.sign(theta) * np.maximum(np.abs(theta) - threshold, 0.0))


def _log_normaliser(l1: Strength, l2: Strength, theta: Array) -> float:
    """Σ_j log ∫ exp(−λ_j|x| − ½κ_j x²) dx, over the coefficients that are not free.

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


def _check_strength(name: str, strength: Strength) -> None:
    values = np.asarray(strength, dtype=float)
    wrong = values[~((values >= 0) & np.isfinite(values))]
    if wrong.size:
        raise InvalidInput(
            f"{name}={wrong.flat[0]:g} is not a strength; a penalty needs finite numbers of at "
            "least 0. Use 0 to leave a coefficient free."
        )
