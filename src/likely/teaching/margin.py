"""Losses of the margin: zero-one loss, and the surrogates that can be minimised in its place.

    m = s η,  s = 2y − 1 ∈ {−1, +1}

    zero-one          1{m < 0}            logistic   ln(1 + e⁻ᵐ)
    hinge             max(0, 1 − m)       squared    (1 − m)²
    sigmoid squared   (1 − σ(m))²

The class is 1 where η ≥ 0, so at η = 0 an example of class 0 is an error and one of class 1 is
not.  A surrogate falls through m = 0, so ``value / scale`` with scale = value(0) is at least the
zero-one loss.  For hinge and square the scale is 1.  The logistic loss needs ln 2: by itself it is
below 1 for m > −ln(e − 1) = −0.5413, although there m < 0 is an error.

To add a loss, write one class and list it in ``MARGIN_LOSSES``: the laws in
``tests/teaching/test_margin.py`` read that list.

References
----------
Bartlett, Jordan & McAuliffe, Convexity, classification, and risk bounds, 2006, §1.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import log
from typing import ClassVar, final

import numpy as np

from likely._typing import Array
from likely.special import expit, log_expit


class MarginLoss(ABC):
    """The contract: a function of the margin alone, and its two derivatives.

    With ``nll`` and ``derivatives`` it can take the place of a likelihood in an objective.
    """

    name: ClassVar[str]
    scale: ClassVar[float]  # value / scale is an upper bound of the zero-one loss
    convex: ClassVar[bool]

    @abstractmethod
    def value(self, margin: Array) -> Array: ...

    @abstractmethod
    def slope(self, margin: Array) -> Array:
        """d value / dm; at a kink, the slope on its right."""

    @abstractmethod
    def curvature(self, margin: Array) -> Array:
        """d² value / dm², or a non-negative substitute."""

    @property
    def bounds_zero_one(self) -> bool:
        """Whether the loss itself is an upper bound of the zero-one loss."""
        return self.scale >= 1

    def upper_bound(self, margin: Array) -> Array:
        """value / scale: at least 1 wherever the example is an error, and never negative."""
        return self.value(margin) / self.scale

    def nll(self, y: Array, eta: Array) -> Array:
        """The loss, under the name that objectives use."""
        return self.derivatives(y, eta)[0]

    def derivatives(self, y: Array, eta: Array) -> tuple[Array, Array, Array]:
        """The loss at margin (2y − 1)η, and its slope and curvature in η."""
        sign = np.subtract(np.multiply(2.0, y), 1.0)
        margin = sign * eta
        return self.value(margin), sign * self.slope(margin), self.curvature(margin)


@final
@dataclass(frozen=True)
class ZeroOne(MarginLoss):
    """The number of errors.  Its slope is 0 almost everywhere, so gradients cannot minimise it."""

    name = "zero-one"
    scale = 1.0
    convex = False

    def value(self, margin: Array) -> Array:
        """1{m < 0}: at 0 the decision is class 1, right for s = +1; ``derivatives`` knows s."""
        return np.where(np.less(margin, 0), 1.0, 0.0)[()]

    def slope(self, margin: Array) -> Array:
        return np.zeros_like(margin, dtype=float)

    def curvature(self, margin: Array) -> Array:
        return np.zeros_like(margin, dtype=float)

    def derivatives(self, y: Array, eta: Array) -> tuple[Array, Array, Array]:
        wrong = np.greater_equal(eta, 0) != np.greater(y, 0.5)
        return np.where(wrong, 1.0, 0.0)[()], self.slope(eta), self.curvature(eta)


@final
@dataclass(frozen=True)
class Logistic(MarginLoss):
    """ln(1 + e⁻ᵐ): −ln σ(η) for class 1 and −ln(1 − σ(η)) for class 0, the cross-entropy."""

    name = "logistic"
    scale = log(2)
    convex = True

    def value(self, margin: Array) -> Array:
        return -log_expit(margin)

    def slope(self, margin: Array) -> Array:
        return -expit(np.negative(margin))

    def curvature(self, margin: Array) -> Array:
        return expit(margin) * expit(np.negative(margin))


@final
@dataclass(frozen=True)
class Hinge(MarginLoss):
    """max(0, 1 − m), of the support vector machine: examples beyond m = 1 do not count."""

    name = "hinge"
    scale = 1.0
    convex = True

    def value(self, margin: Array) -> Array:
        return np.maximum(0.0, np.subtract(1.0, margin))

    def slope(self, margin: Array) -> Array:
        return np.where(np.less(margin, 1), -1.0, 0.0)[()]

    def curvature(self, margin: Array) -> Array:
        return np.zeros_like(margin, dtype=float)


@final
@dataclass(frozen=True)
class Squared(MarginLoss):
    """(1 − m)² = (s − η)²: least squares on labels ±1, which also penalises margins above 1."""

    name = "squared"
    scale = 1.0
    convex = True

    def value(self, margin: Array) -> Array:
        return np.subtract(1.0, margin) ** 2

    def slope(self, margin: Array) -> Array:
        return np.multiply(2.0, np.subtract(margin, 1.0))

    def curvature(self, margin: Array) -> Array:
        return np.full_like(margin, 2.0, dtype=float)


@final
@dataclass(frozen=True)
class SigmoidSquared(MarginLoss):
    """(1 − σ(m))², twice ``SquareErrorLogistic``: bounded, so flat where it is most wrong."""

    name = "sigmoid-squared"
    scale = 0.25
    convex = False

    def value(self, margin: Array) -> Array:
        return expit(np.negative(margin)) ** 2

    def slope(self, margin: Array) -> Array:
        return -2 * expit(margin) * expit(np.negative(margin)) ** 2

    def curvature(self, margin: Array) -> Array:
        """Gauss–Newton's, 2 (σ(m) σ(−m))²: the whole of it is negative for m < −ln 2."""
        return 2 * (expit(margin) * expit(np.negative(margin))) ** 2


MARGIN_LOSSES: dict[str, MarginLoss] = {
    loss.name: loss for loss in (ZeroOne(), Logistic(), Hinge(), Squared(), SigmoidSquared())
}
