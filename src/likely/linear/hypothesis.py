"""What a test of a hypothesis says.

p = P(T ≥ t)        T ~ χ²_q, or F_{q, n − p} where the dispersion is estimated
"""

from dataclasses import dataclass
from typing import final

from scipy.special import chdtrc, fdtrc

from likely.formatting import number, p_phrase


@final
@dataclass(frozen=True)
class HypothesisTest:
    """A statistic, what it follows if the hypothesis is true, and how rarely it is so large."""

    statistic: float
    distribution: str  # "chi2" or "F"
    df: int  # the number of constraints
    df_residual: float  # inf for χ²
    p: float

    def __str__(self) -> str:
        df = f"{self.df}" if self.distribution == "chi2" else f"{self.df}, {self.df_residual:g}"
        name = {"chi2": "χ²", "F": "F"}[self.distribution]
        return f"{name}({df}) = {number(self.statistic)}, {p_phrase(self.p)}"


def chi2_test(statistic: float, df: int) -> HypothesisTest:
    return HypothesisTest(
        statistic, "chi2", df, float("inf"), float(chdtrc(df, max(statistic, 0.0)))
    )


def f_test(statistic: float, df: int, df_residual: float) -> HypothesisTest:
    p = float(fdtrc(df, df_residual, max(statistic, 0.0)))
    return HypothesisTest(statistic, "F", df, df_residual, p)
