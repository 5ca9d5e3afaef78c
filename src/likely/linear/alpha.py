"""The estimated overdispersion α of a negative binomial: standard error, interval and test.

    Var[y] = μ + αμ²        se(ln α̂) = √(1/−∂²ℓ/∂(ln α)²)        α̂ exp(± q se(ln α̂))
    α = 0, the Poisson:  T = 2(ℓ_NB − ℓ_Poisson)  ~  ½χ²₀ + ½χ²₁

α = 0 is at the boundary of the range of α, so T is 0 in half of the cases if counts are Poisson.

References
----------
Self & Liang (1987), Asymptotic properties of maximum likelihood estimators and likelihood ratio
tests under nonstandard conditions, JASA 82, case 5.
"""

from dataclasses import dataclass
from math import exp, nan
from typing import final

from scipy.special import ndtri

from likely.linear.hypothesis import HypothesisTest, boundary_test


@final
@dataclass(frozen=True)
class AlphaEstimate:
    """α̂ by maximum likelihood.  At 0, where the Poisson fits better, it has no standard error."""

    alpha: float
    log_error: float  # the standard error of ln α̂; nan at 0
    ratio: float  # T; nan under a penalty, where it means nothing

    @property
    def standard_error(self) -> float:
        """α̂ se(ln α̂)."""
        return self.alpha * self.log_error if self.alpha > 0 else nan

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """α̂ exp(± q se(ln α̂)): symmetric in ln α, whose distribution is nearer to the normal."""
        reach = float(ndtri((1 + level) / 2)) * self.log_error
        return self.alpha * exp(-reach), self.alpha * exp(reach)

    @property
    def test(self) -> HypothesisTest | None:
        """The test of overdispersion; None with a penalty."""
        return None if self.ratio != self.ratio else boundary_test(self.ratio)
