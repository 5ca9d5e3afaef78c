"""How well a linear model fits: R², pseudo-R², criteria, and the test of all coefficients at once.

    R²           1 − RSS/TSS            TSS around the mean, or around 0 without an intercept
    adjusted R²  1 − (1 − R²)(n − p₀)/(n − p)
    D²           1 − D/D₀               R² in deviances
    McFadden     1 − ℓ/ℓ₀
    Cox–Snell    1 − exp(2(ℓ₀ − ℓ)/n)
    Nagelkerke   Cox–Snell divided by its largest value, 1 − exp(2ℓ₀/n)

The null model has p₀ parameters: the intercept (thresholds, intercepts of classes) and the offset,
or the offset alone without an intercept.  ℓ of a density has no largest value, so McFadden's and
Nagelkerke's measures are of discrete responses.

    all coefficients are 0    F(q, n − p) = (D₀ − D)/(q ψ̂)      ψ is estimated
                              χ²(q) = 2(ℓ − ℓ₀)                 ψ is known
                              Wald's test                       robust and clustered covariances

    p = P(T ≥ t)              T ~ χ²_q, or F_{q, n − p} where the dispersion is estimated
                              T ~ ½χ²_{q−1} + ½χ²_q where one constraint is at a boundary: α ≥ 0

The overdispersion α of a negative binomial may be estimated too:

    Var[y] = μ + αμ²        se(ln α̂) = √(1/−∂²ℓ/∂(ln α)²)        α̂ exp(± q se(ln α̂))
    α = 0, the Poisson:  T = 2(ℓ_NB − ℓ_Poisson)  ~  ½χ²₀ + ½χ²₁

α = 0 is at the boundary of the range of α, so T is 0 in half of the cases if counts are Poisson.

References
----------
McFadden (1974), Conditional logit analysis of qualitative choice behavior.  Cox & Snell (1989),
Analysis of Binary Data, 2nd ed., §6.2.  Nagelkerke (1991), A note on a general definition of the
coefficient of determination, Biometrika 78.
Self & Liang (1987), Asymptotic properties of maximum likelihood estimators and likelihood ratio
tests under nonstandard conditions, JASA 82, case 5.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import exp, isnan, log, nan
from typing import Any, final

import numpy as np
from scipy.special import chdtrc, fdtrc, ndtri

from likely.errors import InvalidInput
from likely.output.formatting import number, p_phrase

DISCRETE = ("bernoulli", "poisson", "negative-binomial", "classes")
SQUARES = ("gaussian", "log-normal")  # whose deviance is of squares, of y or of its logarithm
ROUNDING = 1e-7  # relative to η: squares and deviances of (1e-7)² are rounding
CLEARLY = 0.05  # p-value of χ² above which overdispersion may be chance
PERFECT = 1e-24  # of the mean square of η: what rounding leaves of squared residuals
SURE = 1e-7  # nats per observation: a null model that predicts so well leaves nothing to explain
WITH_MEAN_SQUARES = ("model", "quasi")  # kinds of covariance that believe the variance function


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


class GoodnessOfFit(ABC):
    """Measures of fit, from the deviances and log-likelihoods of a model and its null model."""

    n: float
    n_parameters: float
    n_null: float
    df_residual: float
    dispersion: float
    dispersion_is_known: bool
    log_likelihood: float
    null_log_likelihood: float
    deviance: float
    null_deviance: float
    pearson: float
    largest_eta: float
    unknown: Any
    response: str
    covariance_kind: str
    penalised: bool
    constants: tuple[int, ...]
    n_grouped: float
    alpha: Any
    firth_ratios: Any

    @property
    @abstractmethod
    def standard_errors(self) -> Any: ...

    @abstractmethod
    def wald_test(self, constraints: Any, value: Any = 0.0) -> HypothesisTest: ...

    @property
    def n_counted(self) -> float:
        """The number of parameters of the likelihood: an estimated α is one of them."""
        return self.n_parameters + (self.alpha is not None)

    @property
    def aic(self) -> float:
        """−2 log L + 2p; an estimated α is one of p, the dispersion is not counted."""
        return 2 * self.n_counted - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        return self.n_counted * log(self.n) - 2 * self.log_likelihood

    @property
    def deviance_explained(self) -> float:
        """1 − D/D₀: R² for a Gaussian response, around 0 without an intercept.

        nan where the null model leaves no deviance but rounding, as for a constant y.
        """
        unit = self.largest_eta if self.response in SQUARES else 1.0
        unit *= ROUNDING
        least = self.n * (unit * unit) if unit == unit else 0.0  # ** 2 raises where it overflows
        least = self.n * SURE if self.response in DISCRETE else least
        return 1 - self.deviance / self.null_deviance if self.null_deviance > least else nan

    @property
    def r_squared(self) -> float:
        """R² of a Gaussian response; nan for others, which have ``deviance_explained``."""
        return self.deviance_explained if self.response == "gaussian" else nan

    @property
    def adjusted_r_squared(self) -> float:
        """1 − (1 − R²)(n − p₀)/(n − p); nan with a penalty, whose p is only an effective number."""
        if self.penalised or not self.df_residual > 0:
            return nan
        return 1 - (1 - self.r_squared) * (self.n - self.n_null) / self.df_residual

    @property
    def mcfadden(self) -> float:
        """1 − ℓ/ℓ₀, for maximum likelihood estimates of a discrete response."""
        if not self._has_likelihood_ratio or self.n_grouped:
            return nan
        if not self.null_log_likelihood < -SURE * self.n:  # one value of y is certain
            return nan
        return 1 - self.log_likelihood / self.null_log_likelihood

    @property
    def cox_snell(self) -> float:
        """1 − exp(2(ℓ₀ − ℓ)/n), for maximum likelihood estimates of a discrete response."""
        if not self._has_likelihood_ratio:
            return nan
        ratio = self.null_log_likelihood - self.log_likelihood  # of maxima of nested models: ≤ 0
        return 1 - exp(min(2 * ratio / self.n, 0.0))

    @property
    def nagelkerke(self) -> float:
        """Cox and Snell's measure divided by the largest value that it can have."""
        if not self._has_likelihood_ratio or self.n_grouped:
            return nan
        largest = 1 - exp(min(2 * self.null_log_likelihood / self.n, 0.0))
        return self.cox_snell / largest if largest > SURE else nan

    @property
    def pearson_dispersion(self) -> float:
        """Pearson's χ² divided by the residual degrees of freedom: above 1 is overdispersion."""
        return self.pearson / self.df_residual if self.df_residual > 0 else nan

    def is_overdispersed(self, above: float = 1.0) -> bool:
        """Whether χ²/df of counts or proportions is above this, and not by chance (p < 0.05)."""
        single = self.response == "bernoulli" and not self.n_grouped
        if self.response not in DISCRETE or single or not self.pearson_dispersion > above:
            return False
        return bool(chdtrc(self.df_residual, self.pearson) < CLEARLY)

    @property
    def is_perfect(self) -> bool:
        """Whether the residuals of y, or of its logarithm, are no more than rounding."""
        if self.response not in SQUARES:
            return False
        unit = max(self.largest_eta, 1e-300)
        return self.deviance <= PERFECT * self.n * (unit * unit)  # ** 2 raises where it overflows

    def overall_test(self) -> HypothesisTest | None:
        """The test that all coefficients are 0, except intercepts and thresholds.

        None where there is none: with a penalty, without coefficients, or without data to spare.
        """
        q = self.n_parameters - self.n_null
        if self.penalised or self.firth_ratios is not None or not q > 0:
            return None
        if self.covariance_kind not in WITH_MEAN_SQUARES:
            return self._wald_test_of_all()
        if self.dispersion_is_known:
            ratio = 2 * (self.log_likelihood - self.null_log_likelihood)
            return None if isnan(ratio) else chi2_test(ratio, round(q))
        if not (self.df_residual > 0 and self.dispersion > 0):
            return None
        drop = (self.null_deviance - self.deviance) / self.dispersion
        return f_test(drop / q, round(q), self.df_residual)

    def _wald_test_of_all(self) -> HypothesisTest | None:
        """None where the covariance has too low a rank, as with few clusters."""
        if self.unknown is not None:  # separated, or determined by single rows
            return None
        errors = self.standard_errors
        tested = np.isfinite(errors)
        tested[list(self.constants)] = False
        if not tested.any():
            return None
        try:
            return self.wald_test(np.eye(errors.size)[tested])
        except InvalidInput:
            return None

    @property
    def _has_likelihood_ratio(self) -> bool:
        """Whether ℓ is at its maximum, and ℓ₀ is known, of a discrete response."""
        free = not self.penalised and self.firth_ratios is None
        return free and self.response in DISCRETE and not isnan(self.null_log_likelihood)


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
