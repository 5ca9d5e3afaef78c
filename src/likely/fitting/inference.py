"""Inference for a linear model: standard errors, tests and intervals.

    H = Σ w (dμ/dη)²/V(μ) x xᵀ      P = diag(curvature of the penalty)      B = (H + P)⁻¹
    C = ψ B H B                     "model": ψH⁻¹ without a penalty; "quasi": ψ is estimated
      = B M B                       "HC0"–"HC3", "clustered": M is computed from the observed scores
    t and F with G − 1 degrees of freedom where errors are clustered in G groups
    ψ = χ²/(n − p),  p = tr(BH)     1 where the family fixes it

    se_j = √C_jj        z_j = θ̂_j/se_j        θ̂_j ± q se_j
    Wald              (Rθ̂ − v)ᵀ(RCRᵀ)⁻¹(Rθ̂ − v)
    likelihood ratio  2(log L₁ − log L₀), or (D₀ − D₁)/ψ̂ where ψ is estimated
    mean at x         g⁻¹(xᵀθ̂ + o ± q √(xᵀCx))

Without a penalty p is the number of coefficients; with one it is their effective number.  H is the
expected information for every link.  A penalised C is the spread of the estimate around its own
mean, which is biased by the penalty.

The likelihood ratio test of two nested models:

    ψ known       2(log L₁ − log L₀)          as χ² with q = p₁ − p₀
    ψ estimated   (D₀ − D₁)/(q ψ̂₁)            as F with q and n − p₁, exact for a Gaussian
    Firth         2(log L*₁ − log L*₀)        as χ²₁: L* is the penalised likelihood, of all columns
    α too         2(log L₁ − log L₀)          as ½χ²_{q−1} + ½χ²_q: a negative binomial against the
                                              Poisson, with α = 0 at the boundary

References
----------
McCullagh & Nelder, Generalized Linear Models, 2nd ed., §2.3, §2.5, §8.3 and §9.2.
Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, 2nd ed., §3.4.1 (tr BH).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isclose, isnan, nan
from typing import Any, NoReturn, Protocol, final

import numpy as np
from scipy.linalg import eigh
from scipy.special import ndtr, ndtri, stdtr, stdtrit
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.data.layouts.base import Design
from likely.errors import InvalidInput, UnknownName
from likely.fitting.goodness import (
    AlphaEstimate,
    GoodnessOfFit,
    HypothesisTest,
    boundary_test,
    chi2_test,
    f_test,
)
from likely.links import Link
from likely.numerics.cholesky import inverse_root, unit_diagonal
from likely.numerics.intervals import refuse_level
from likely.storage.declarations import Covariance, Difference, InRange, OneOf, Places, SameCount

TOUCHED = 1e-6  # the part of a coefficient in a null direction above which it has no estimate
SMALLEST = 1e-300
SAME_DATA = 1e-6  # relative: two fits to one table agree this well on its null model


@final
@dataclass(frozen=True, eq=False)
class Inference(GoodnessOfFit):
    """An estimate and its uncertainty.  Numbers, arrays and text, which are saved as they are."""

    saved_rules = (
        SameCount(1, "theta.shape", "firth_ratios.shape"),
        SameCount(2, "covariance.shape", "root.shape", "unknown.shape"),
        SameCount("names", "theta", "covariance.shape.0", "covariance.shape.1", "firth_ratios"),
        SameCount("names", "root.shape.0", "unknown.shape.0"),
        InRange("theta", "finite"),
        Covariance("covariance", "root", "redundant", "excluded"),
        InRange("n", "positive"),
        InRange("n", "finite"),
        InRange("n_parameters", "not negative"),
        InRange("n_parameters", "finite"),
        InRange("n_null", "not infinite"),
        Difference("df_residual", "n", "n_parameters"),
        OneOf("distribution", "z", "t"),
        InRange("n_clusters", "at least 2"),
        *(Places(path, "names") for path in ("redundant", "excluded", "alone", "constants")),
    )

    theta: Array  # (p,): the intercept last, where there is one
    covariance: Array  # (p, p); nan where a coefficient was not estimated
    names: tuple[str, ...]  # (p,)
    dispersion: float  # ψ
    dispersion_is_known: bool
    n: float  # Σ w
    n_parameters: float  # tr(BH): the number of coefficients, or under a penalty fewer
    df_residual: float
    log_likelihood: float
    null_log_likelihood: float
    deviance: float
    null_deviance: float
    pearson: float  # χ²
    largest_eta: float
    covariance_kind: str = "model"
    distribution: str = "z"  # of (θ̂_j − θ_j)/se: "z" the normal, "t" Student's
    penalised: bool = False
    redundant: tuple[int, ...] = ()  # a column that others determine: fixed at 0
    excluded: tuple[int, ...] = ()  # set to 0 by the kinks of a penalty
    root: Array | None = None  # S with C = SSᵀ, (p, r), where ``covariance`` has nan
    alpha: AlphaEstimate | None = None  # of a negative binomial, if it was estimated
    saturated_nll: float = nan  # Σ w nll of a model that knows every y
    firth_ratios: Array | None = None  # (p,) T of each coefficient, by the penalised likelihood
    n_grouped: float = 0  # rows that are proportions of trials: df and χ² are those of groups
    n_at_edge: float = 0  # Σ w of rows whose mean is at the edge of what the response can have
    n_clusters: int | None = None  # of clustered standard errors
    response: str = ""  # the name of the family, or "classes"
    n_null: float = nan  # parameters of the null model; nan where it is not nested in this one
    unknown: Array | None = None  # (p, k): directions of θ in which its variance is not known
    alone: tuple[int, ...] = ()  # coefficients that single rows determine, under HC2 and HC3
    constants: tuple[int, ...] = ()  # where the intercept, or intercepts or thresholds, are in θ

    def without_errors(self, n_at_edge: float) -> "Inference":
        """The estimate without its covariance: an optimum at the boundary has none."""
        unknown = np.full_like(self.covariance, np.nan)
        return replace(self, covariance=unknown, root=unknown, n_at_edge=n_at_edge)

    def without_errors_along(self, directions: Array) -> "Inference":
        """The estimate without a variance in these directions, (p, k), of θ."""
        moved = touched_by(directions)
        covariance = np.array(self.covariance)
        root = square_root(covariance) if self.root is None else self.root
        covariance[moved] = covariance[:, moved] = np.nan
        known = [] if self.unknown is None else [self.unknown]
        unknown = np.column_stack([*known, directions])
        return replace(self, covariance=covariance, root=root, unknown=unknown)

    @property
    def df_tests(self) -> float:
        """Degrees of freedom of t and F: n − p, or clusters − 1."""
        return self.df_residual if self.n_clusters is None else self.n_clusters - 1.0

    @property
    def standard_errors(self) -> Array:
        return np.sqrt(np.diag(self.covariance))

    @property
    def z(self) -> Array:
        """θ̂/se, to be compared with ``distribution``."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.theta / self.standard_errors)

    @property
    def p(self) -> Array:
        """P(|Z| ≥ |z|) if the coefficient were 0."""
        return 2 * self._cumulative(-np.abs(self.z))

    def quantile(self, level: float) -> float:
        """Half the width of an interval of that level, in standard errors."""
        refuse_level(level)
        upper = (1 + level) / 2
        return float(ndtri(upper) if self.distribution == "z" else stdtrit(self.df_tests, upper))

    def interval(self, level: float = 0.95) -> Array:
        """θ̂ ± q se, (p, 2)."""
        reach = self.quantile(level) * self.standard_errors
        return np.column_stack([self.theta - reach, self.theta + reach])

    def wald_test(
        self, constraints: str | Sequence[str] | Array, value: Any = 0.0
    ) -> HypothesisTest:
        """Rθ = value: W = (Rθ̂ − v)ᵀ(R C Rᵀ)⁻¹(Rθ̂ − v), as χ²; or W/q as F where t is used.

        ``constraints`` is R (q, p), or the names of the coefficients that equal ``value``.
        """
        R = self._constraints(constraints)
        missing = np.isnan(self.standard_errors)
        if R[:, missing].any():
            j = int(np.flatnonzero(missing & R.any(axis=0))[0])
            why = "was not estimated" if self.unknown is None else "has no standard error"
            raise InvalidInput(
                f"{self.names[j]!r} {why}; a Wald test needs its standard error. "
                "Leave it out of the constraints."
            )
        off = R @ self.theta - np.broadcast_to(np.asarray(value, dtype=float), R.shape[:1])
        root = inverse_root(R @ np.nan_to_num(self.covariance) @ R.T).root
        if root.shape[1] < len(R):
            raise InvalidInput(
                f"{len(R)} constraints were given, of which {root.shape[1]} can be tested; a Wald "
                "test needs them to be independent. Drop the others."
            )
        return self._tested(float(np.square(off @ root).sum()), len(R))

    def eta_standard_errors(self, design: Design) -> Array:
        """√(xᵀCx) for new rows, (n,).

        A coefficient fixed at 0 adds nothing; columns that are only estimable together add
        their joint variance.
        """
        if self.root is None and not np.isfinite(self.covariance).all():
            raise InvalidInput(
                "Some coefficients have no standard error; an interval needs those of all. Fit the "
                "model without a penalty that sets coefficients to 0."
            )
        root = square_root(self.covariance) if self.root is None else self.root
        parts = np.abs(design.matmat(root))
        size = parts.max(axis=1, initial=SMALLEST)  # whose square may overflow, far outside the fit
        errors = size * np.sqrt(np.square(parts / size[:, None]).sum(axis=1))
        if self.unknown is None:
            return errors
        units = np.maximum(np.abs(self.unknown).max(axis=0), 1e-300)
        moved = np.abs(design.matmat(np.ascontiguousarray(self.unknown / units)))
        return np.where((moved > TOUCHED).any(axis=1), np.nan, errors)

    def mean_interval(self, eta: Array, eta_se: Array, *, link: Link, level: float = 0.95) -> Array:
        """The mean at the ends of η ± q se, the smaller first: (n, 2)."""
        reach = self.quantile(level) * eta_se
        ends = np.clip(np.column_stack([eta - reach, eta + reach]), *link.etas)
        with np.errstate(divide="ignore"):  # 1/0, an end of the valid η
            return np.sort(link.inverse(ends), axis=1)

    def _cumulative(self, z: Array) -> Array:
        return np.asarray(ndtr(z) if self.distribution == "z" else stdtr(self.df_tests, z))

    def _tested(self, statistic: float, q: int) -> HypothesisTest:
        if self.distribution == "z":
            return chi2_test(statistic, q)
        return f_test(statistic / q, q, self.df_tests)

    def _constraints(self, constraints: str | Sequence[str] | Array) -> Array:
        given = np.atleast_1d(np.asarray(constraints))
        if given.dtype.kind in "UO":
            return np.eye(self.theta.size)[[self._position(str(name)) for name in given]]
        R = np.atleast_2d(given).astype(float)
        if R.shape[1] != self.theta.size:
            raise InvalidInput(
                f"The constraints have {R.shape[1]} columns; the model has {self.theta.size} "
                "coefficients, the intercept last. Give one column for each."
            )
        return R

    def _position(self, name: str) -> int:
        if name not in self.names:
            raise UnknownName("coefficient", name, self.names)
        if self.names.count(name) > 1:
            raise InvalidInput(
                f"{name!r} names {self.names.count(name)} coefficients; a test needs one of them. "
                "Give a contrast matrix, one column per coefficient, or rename a column."
            )
        return self.names.index(name)


def square_root(covariance: Array) -> Array:
    """S with SSᵀ = covariance."""
    scale, unit = unit_diagonal(covariance)
    values, vectors = eigh(unit)
    return np.asarray(scale[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))


def touched_by(directions: Array) -> Array:
    """Which entries of θ vary in some of these directions, (p,)."""
    size = np.abs(directions)
    return np.asarray((size > TOUCHED * size.max(axis=0, initial=0.0)).any(axis=1))


class Inferred(Protocol):
    """A fitted model."""

    @property
    def inference_(self) -> Inference | None: ...


def inference_of(fitted: Inference | Inferred) -> Inference:
    """The inference of a fitted model, or the one given; a model without one is refused."""
    found = fitted if isinstance(fitted, Inference) else vars(fitted).get("inference_")
    return refuse_without_errors(fitted) if found is None else found


def refuse_without_errors(model: Any) -> NoReturn:
    """For a fitted model whose ``inference_`` is None, or that never has one."""
    check_is_fitted(model)
    name = type(model).__name__
    if "inference_" not in vars(model):
        raise InvalidInput(
            f"{name} has no inference_; a test or a summary needs the standard errors of a linear "
            "model. Use LinearRegression, GLM, LogisticRegression, SoftmaxRegression, MaxEntropy "
            "or OrdinalRegression."
        )
    solution = model.solution_
    if not solution.solver:
        raise InvalidInput(
            f"The coefficients of this {name} were not estimated from rows: {solution.reason}. "
            "Standard errors need a fit: call fit(X, y)."
        )
    if vars(model).get("standard_errors", "model") is None:
        raise InvalidInput(
            f"This {name} was fitted with standard_errors=None, which computes none. Fit it with "
            "standard_errors='model'."
        )
    coef = np.asarray(model.coef_)
    if "classes_" not in vars(model) and coef.ndim == 2 and len(coef) > 1:
        raise InvalidInput(
            f"This {name} was fitted to {len(coef)} responses; standard errors are of one. "
            "Fit one column of y at a time."
        )
    raise InvalidInput(
        f"This {name} has {coef.size:,} coefficients; standard errors are for 1,000 parameters at "
        "most, whose covariance is a matrix of that size. Fit fewer columns."
    )


def likelihood_ratio_test(
    smaller: Inference | Inferred, larger: Inference | Inferred
) -> HypothesisTest:
    """Whether the larger of two nested models fits better than expected by chance.

    χ² where the dispersion is known, F where it is estimated; a negative binomial whose α was
    estimated is also tested against the Poisson.
    """
    small, large = inference_of(smaller), inference_of(larger)
    _check_nested(small, large)
    if large.firth_ratios is not None or small.firth_ratios is not None:
        return _firth_test(small, large)
    q = round(large.n_counted - small.n_counted)
    if large.dispersion_is_known:
        ratio = 2 * (large.log_likelihood - small.log_likelihood)
        freed = large.alpha is not None and small.alpha is None
        return boundary_test(ratio, q) if freed else chi2_test(ratio, q)
    drop = (small.deviance - large.deviance) / large.dispersion
    return f_test(drop / q, q, large.df_residual)


def _firth_test(small: Inference, large: Inference) -> HypothesisTest:
    """The test by the penalised likelihood, which a Firth fit has for each coefficient."""
    if large.firth_ratios is None or small.firth_ratios is None:
        raise InvalidInput(
            "One of the models was fitted with firth=True and the other was not; their likelihoods "
            "cannot be compared. Fit both with firth=True."
        )
    if any(re.fullmatch(r"x\d+", name) for name in large.names):
        raise InvalidInput(
            "The columns of the models have no names but their positions (x0, x1, …), so it is not "
            "known which one the smaller model lacks. Fit both models to data frames, or read the "
            "test of each coefficient from summary()."
        )
    extra = [j for j, name in enumerate(large.names) if name not in small.names]
    ratio = float(large.firth_ratios[extra[0]]) if len(extra) == 1 else float("nan")
    if isnan(ratio):
        raise InvalidInput(
            f"The models differ by {len(extra)} coefficients; a Firth fit of at most 50 "
            "coefficients has the penalised likelihood ratio test of each one alone. Test them one "
            "by one, or use wald_test."
        )
    return chi2_test(ratio, 1)


def _check_nested(small: Inference, large: Inference) -> None:
    if small.penalised or large.penalised:
        raise InvalidInput(
            "A likelihood ratio test was asked of a penalised fit; it needs maximum likelihood "
            "estimates. Fit both models with l1=0 and l2=0."
        )
    if small.n != large.n or not _same_null(small, large):
        raise InvalidInput(
            f"The models were fitted to different data (n={small.n:g} and {large.n:g}, null "
            f"deviances {small.null_deviance:g} and {large.null_deviance:g}). "
            "Fit both to the same rows, weights, offset and response."
        )
    if large.n_counted <= small.n_counted:
        raise InvalidInput(
            f"The smaller model has {small.n_counted:g} parameters and the larger "
            f"{large.n_counted:g}; the larger must have more. Pass the smaller one first."
        )
    extra = sorted(set(small.names) - set(large.names))
    if small.alpha is not None and large.alpha is None:
        extra.append("alpha")
    if extra:
        raise InvalidInput(
            f"The smaller model has {extra[0]!r}, which the larger one lacks; a likelihood ratio "
            "test needs nested models. Add it to the larger one, or compare their AIC."
        )


def _same_null(small: Inference, large: Inference) -> bool:
    """Whether the null models agree; those of a Poisson and a negative binomial do not."""
    if (small.alpha is None) != (large.alpha is None):
        return True
    if ("intercept" in small.names) != ("intercept" in large.names):
        return True  # of different null models: they do not identify the data
    nulls = (small.null_deviance, large.null_deviance)
    if small.alpha is not None:  # their deviances are each at its own α
        nulls = (small.null_log_likelihood, large.null_log_likelihood)
    return isnan(sum(nulls)) or isclose(*nulls, rel_tol=SAME_DATA)
