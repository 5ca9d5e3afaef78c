"""The contract of penalties: a smooth part, a rough part, and the strengths that both have."""

from abc import ABC, abstractmethod
from numbers import Real
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput

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
        from likely.penalties.group import PenaltySum

        return PenaltySum((self, other))

    def __mul__(self, factor: float) -> "Penalty":
        """The penalty, ``factor`` times as strong."""
        return self.scaled(float(factor)) if isinstance(factor, Real) else NotImplemented

    __rmul__ = __mul__

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

    @abstractmethod
    def prox(self, theta: Array, step: Array | float) -> Array:
        """The proximal operator of the whole penalty."""

    @abstractmethod
    def log_prior(self, theta: Array) -> float: ...


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
