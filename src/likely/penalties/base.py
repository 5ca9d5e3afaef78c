"""Penalties on coefficients, and the priors they stand for.

    value(θ) = Σ_j λ_j |θ_j| + ½ Σ_j κ_j θ_j² + Σ_g γ_g ‖θ_g‖        λ: l1, κ: l2, γ: of groups

Minus the log density of the prior is the penalty plus a constant, so a penalised fit is the
mode of a posterior.  Strengths are on the scale of the *summed* log-likelihood; each is a
number or one number per coefficient, and 0 means no penalty (a flat, improper
prior, whose log density is taken as 0).

    prox(u, t) = argmin_θ ½‖θ − u‖² + t · value(θ)

References
----------
Parikh & Boyd, Proximal Algorithms, 2014, §6.5.  Li & Lin, The Bayesian elastic net, 2010.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import pi
from numbers import Real
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np
from scipy.special import erfcx

from likely._typing import Array
from likely.caching import cached_property
from likely.errors import InvalidInput
from likely.storage.declarations import InRange

if TYPE_CHECKING:
    from likely.penalties.group import Group

Strength = float | Array  # one for all coefficients, or one for each


class Strengths(NamedTuple):
    """What every penalty is made of; a number is for all coefficients or columns."""

    l1: Strength = 0.0
    l2: Strength = 0.0
    groups: tuple["Group", ...] = ()


class Penalty(ABC):
    """The contract of a penalty: smooth part + rough part, both convex."""

    @property
    @abstractmethod
    def strengths(self) -> Strengths: ...

    def __add__(self, other: "Penalty") -> "Penalty":
        return PenaltySum((self, other))

    def __mul__(self, factor: float) -> "Penalty":
        """The penalty, ``factor`` times as strong."""
        return self.scaled(float(factor)) if isinstance(factor, Real) else NotImplemented

    __rmul__ = __mul__

    @abstractmethod
    def value(self, theta: Array) -> float: ...

    def gradient(self, theta: Array) -> Array:
        """The gradient of the smooth part, ``value − rough().value``."""
        return np.asarray(self.strengths.l2 * theta)

    def curvature(self, theta: Array) -> Array:
        """The second derivatives of the smooth part, one per coefficient."""
        return np.asarray(self.strengths.l2 * np.ones_like(theta))

    @abstractmethod
    def rough(self) -> "Penalty":
        """The part without a gradient at 0, for objectives that take the smooth part in."""

    @abstractmethod
    def scaled(self, factor: float) -> "Penalty":
        """The penalty times ``factor``, for a part of the rows."""

    def corners(self, size: int) -> Array:
        """λ of the terms λ_j|θ_j|, one per coefficient; 0 where there is none."""
        return np.broadcast_to(np.asarray(self.strengths.l1, dtype=float), (size,))

    def grouped(self, size: int) -> "Group | None":
        """The terms γ_g‖θ_g‖ of that many coefficients; None where there is none."""
        return None

    def at_kink(self, theta: Array) -> Array:
        """Which coefficients are 0 where the penalty has no derivative, a mask."""
        group, corners = self.grouped(theta.size), (self.corners(theta.size) > 0) & (theta == 0)
        return corners if group is None else corners | group.whole_at_0(theta)

    def hessian_on(self, theta: Array, columns: Array) -> Array:
        """The second derivatives in some coefficients, none at a kink, (c, c)."""
        group, smooth = self.grouped(theta.size), np.diag(self.curvature(theta)[columns])
        return smooth if group is None else smooth + group.bend(theta, columns)

    def least_subgradient(self, theta: Array, smooth: Array) -> Array:
        """The shortest of the subgradients ``smooth`` + ∂rough(θ): 0 at an optimum, also there."""
        corners, group = self.corners(theta.size), self.grouped(theta.size)
        beyond = smooth + corners * np.sign(theta)
        least = np.where(theta != 0, beyond, soft_threshold(smooth, corners))
        return least if group is None else group.shortest(theta, least)

    def free(self, size: int) -> Array:
        """Which coefficients it leaves alone, a mask."""
        l2, group = np.broadcast_to(np.asarray(self.strengths.l2), (size,)), self.grouped(size)
        outside = (self.corners(size) == 0) & (l2 == 0)
        return outside if group is None else outside & (group.of_each(size) == 0)

    def prox(self, theta: Array, step: Array | float) -> Array:
        """The proximal operator of the whole penalty."""
        l1, l2, _ = self.strengths
        shrunk = soft_threshold(theta, step * np.asarray(l1))
        return np.asarray(shrunk / (1.0 + step * np.asarray(l2)))

    def log_prior(self, theta: Array) -> float:
        """The log density of the prior at θ."""
        l1, l2, _ = self.strengths
        return -_log_normaliser(l1, l2, theta) - self.value(theta)


def soft_threshold(theta: Array, threshold: Strength) -> Array:
    """S(u, t) = sign(u) max(|u| − t, 0)."""
    return np.asarray(np.sign(theta) * np.maximum(np.abs(theta) - threshold, 0.0))


def checked_strength(name: str, strength: Strength) -> Strength:
    """A number as it is, any others as an array; refused below 0."""
    try:
        if strength is None or isinstance(strength, str):
            raise TypeError("no number")
        values = np.asarray(strength, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"{name}={strength!r} was given to a penalty; a number was expected, or one for each "
            "coefficient. Use 1.0, or strengths by column name in l1 and l2 of a model, which take "
            "a mapping."
        ) from error
    wrong = values[~((values >= 0) & np.isfinite(values))]
    if wrong.size:
        raise InvalidInput(
            f"{name}={wrong.flat[0]:g} is not a strength; a penalty needs finite numbers of at "
            "least 0. Use 0 for no penalty."
        )
    if values.ndim:
        return values
    return values.item() if isinstance(strength, np.ndarray | np.generic) else strength


@final
@dataclass(frozen=True)
class NoPenalty(Penalty):
    """The flat prior: the posterior mode is the maximum of the likelihood."""

    @property
    def strengths(self) -> Strengths:
        return Strengths()

    def value(self, theta: Array) -> float:
        return 0.0

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

    saved_rules = (InRange("l2", "not negative"), InRange("l2", "finite"))

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

    def scaled(self, factor: float) -> Penalty:
        return L2(factor * np.asarray(self.l2))

    def rough(self) -> Penalty:
        return NoPenalty()


@final
@dataclass(frozen=True, eq=False)
class L1(Penalty):
    """Σ λ_j |θ_j|: Laplace priors of scale 1/λ, the lasso."""

    saved_rules = (InRange("l1", "not negative"), InRange("l1", "finite"))

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

    def scaled(self, factor: float) -> Penalty:
        return L1(factor * np.asarray(self.l1))

    def rough(self) -> Penalty:
        return self


@final
@dataclass(frozen=True, eq=False)
class ElasticNet(Penalty):
    """Σ λ_j |θ_j| + ½ Σ κ_j θ_j²: the prior is the product of the two, normalised."""

    saved_rules = (
        *(InRange(name, "not negative") for name in ("l1", "l2")),
        *(InRange(name, "finite") for name in ("l1", "l2")),
    )

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

    def scaled(self, factor: float) -> Penalty:
        return ElasticNet(factor * np.asarray(self.l1), factor * np.asarray(self.l2))

    def rough(self) -> Penalty:
        return L1(self.l1)


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


@final
@dataclass(frozen=True, eq=False)
class PenaltySum(Penalty):
    """Penalties that add: the elastic net with groups, or strengths for some columns more.

    A coefficient is in one group at most.
    """

    parts: tuple[Penalty, ...]

    @cached_property
    def strengths(self) -> Strengths:
        each = [part.strengths for part in self.parts]
        l1, l2 = (sum(np.asarray(s[i], dtype=float) for s in each) for i in (0, 1))
        return Strengths(l1, l2, tuple(group for s in each for group in s.groups))

    def grouped(self, size: int) -> "Group | None":
        groups = self.strengths.groups
        return groups[0].merged(groups, size) if groups else None

    def value(self, theta: Array) -> float:
        return sum(part.value(theta) for part in self.parts)

    def scaled(self, factor: float) -> Penalty:
        return PenaltySum(tuple(part.scaled(factor) for part in self.parts))

    def rough(self) -> Penalty:
        return PenaltySum(tuple(part.rough() for part in self.parts))

    def prox(self, theta: Array, step: Array | float) -> Array:
        group, l2 = self.grouped(theta.size), self.curvature(theta)
        if group is None:
            return super().prox(theta, step)
        return group.prox_with(theta, step, self.corners(theta.size), l2)

    def log_prior(self, theta: Array) -> float:
        l1, l2, groups = self.strengths
        if not groups:
            return ElasticNet(l1, l2).log_prior(theta)
        if np.any(l1) or np.any(l2):
            raise InvalidInput(
                "The prior of groups beside l1 or l2 has no density in closed form; groups or an "
                "elastic net alone were expected. Use value(theta), which differs by a constant."
            )
        merged = self.grouped(theta.size)
        return 0.0 if merged is None else merged.log_prior(theta)
