"""The contract of an objective with kinks, which certifies its own gap.

A smooth solver uses the decrease predicted by a quadratic model as its gap.  At a kink the
model is wrong: a search may stall far from the optimum with a gap of 0.
"""

from abc import ABC, abstractmethod

from likely._typing import Array
from likely.solvers.base import Measured


class Kinked(Measured, ABC):
    """f(θ) with kinks."""

    @abstractmethod
    def gap(self, theta: Array) -> float:
        """f(θ) − min f at most; inf where no bound is known."""
