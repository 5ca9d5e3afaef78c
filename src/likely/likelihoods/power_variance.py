"""The log link with a variance that is a power of the mean, V(μ) = μᵖ, 1 ≤ p ≤ 2.

    nll    = e^((2−p)η)/(2 − p) − y e^((1−p)η)/(1 − p)      −yη at p = 1, η at p = 2
    nll′   = e^((2−p)η) − y e^((1−p)η)
    E[nll″] = e^((2−p)η)

p = 1 is the Poisson, 2 the gamma and the exponential, and between them is the Tweedie.  No
mean is computed and no variance is a divisor, so nothing is nan at |η| = 1000.

References
----------
Jørgensen, The Theory of Dispersion Models, §4.1.
"""

from dataclasses import dataclass
from typing import final

from likely._typing import Array
from likely.likelihoods.base import Likelihood
from likely.links import bounded_exp
from likely.special import exp
from likely.storage.declarations import Between, Same


@final
@dataclass(frozen=True)
class PowerVarianceLog(Likelihood):
    """V(μ) = μᵖ with the log link, for p from 1 to 2."""

    saved_rules = (Between("power", 1.0, 2.0), Same("power", "response.power"))

    power: float

    def derivatives(self, y: Array, eta: Array) -> tuple[Array, Array, Array]:
        p = self.power
        size = exp((2 - p) * eta)  # μ^(2−p)
        up = size / (2 - p) if p != 2 else eta
        if p == 1:
            return up - y * eta, size - y, size
        pull = y * bounded_exp((1 - p) * eta)  # finite, as y may be 0
        return up + pull / (p - 1), size - pull, size
