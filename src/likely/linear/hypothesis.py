"""The result of a hypothesis test.

p = P(T ≥ t)        T ~ χ²_q, or F_{q, n − p} where the dispersion is estimated
                    T ~ ½χ²_{q−1} + ½χ²_q where one of q constraints is at a boundary, such as α ≥ 0
"""

from dataclasses import dataclass
from typing import final

from scipy.special import chdtrc, fdtrc

from likely.formatting import number, p_phrase


@final
@dataclass(frozen=True)
class HypothesisTest:
    """A statistic, its distribution under the null hypothesis, and its p-value."""

    statistic: float
    distribution: str  # "chi2", "F" or "chi2-bar", the mixture of two χ² at an edge
    df: int  # the number of constraints
    df_residual: float  # inf for χ²
    p: float

    def __str__(self) -> str:
        df = f"{self.df}, {self.df_residual:g}" if self.distribution == "F" else f"{self.df}"
        name = {"chi2": "χ²", "F": "F", "chi2-bar": "half χ²"}[self.distribution]
        return f"{name}({df}) = {number(self.statistic)}, {p_phrase(self.p)}"


def chi2_test(statistic: float, df: int) -> HypothesisTest:
    return HypothesisTest(
        statistic, "chi2", df, float("inf"), float(chdtrc(df, max(statistic, 0.0)))
    )


def f_test(statistic: float, df: int, df_residual: float) -> HypothesisTest:
    p = float(fdtrc(df, df_residual, max(statistic, 0.0)))
    return HypothesisTest(statistic, "F", df, df_residual, p)


def boundary_test(statistic: float, df: int = 1) -> HypothesisTest:
    """The test of ``df`` constraints, one of which is at the boundary of the parameter's range."""
    t = max(statistic, 0.0)
    below = float(chdtrc(df - 1, t)) if df > 1 else float(t == 0)
    p = (below + float(chdtrc(df, t))) / 2
    return HypothesisTest(statistic, "chi2-bar", df, float("inf"), p)
