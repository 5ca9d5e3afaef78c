"""The covariance and the dispersion of an estimate, from factors of unit-diagonal matrices.

    H + P = D A D,  D² = diag(H + P)        A = LLᵀ        R = D⁻¹L⁻ᵀ        B = (H + P)⁻¹ = RRᵀ

A has ones on its diagonal for any units of the columns, so that a column in nanometres and one in
light years are treated alike.  Everything else is a product with R: ψ RRᵀ, R(RᵀHR)Rᵀ,
R(RᵀMR)Rᵀ.

The dispersion of a fit without standard errors takes one pass or two:

    ψ = χ²/(n − p)        p = tr (H + P)⁻¹H on the coefficients that are not 0

Without a ridge p is their number, and there is no second pass.

References
----------
Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, 2nd ed., §3.4.1.
Zou, Hastie & Tibshirani (2007), On the degrees of freedom of the lasso, Annals of Statistics 35.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from scipy.linalg import eigh

from likely._typing import Array
from likely.cholesky import InverseRoot, inverse_root, unit_diagonal
from likely.errors import InvalidInput, UnknownName
from likely.likelihoods.base import Likelihood
from likely.objectives.inference import (
    ClusterScores,
    fit_statistics,
    has_constant_variance,
)
from likely.objectives.linear import LinearObjective

COVARIANCES = ("model", "quasi", "HC0", "HC1", "HC2", "HC3", "clustered")
EXPONENTS = {"HC0": 0, "HC1": 0, "HC2": 1, "HC3": 2}  # of 1 − h
TOUCHED = 1e-6  # the part of a coefficient in a null direction above which it has no estimate

MOST_FOR_INFERENCE = 1000  # coefficients: their covariance is a matrix of that size
MOST_TO_FACTORISE = 3000  # coefficients under a ridge: their curvature is a matrix of that size


@final
@dataclass(frozen=True, eq=False)
class Bread:
    """B = (H + P)⁻¹ on the free coefficients, as a root, and RᵀHR, whose trace is tr(BH)."""

    root: Array  # R, (p, rank); rows of zeros for coefficients that were fixed at 0
    held: Array  # (p,), Boolean: not free
    null: Array  # (p, ·): directions that the data do not determine, for columns of length 1
    lengths: Array  # (p,): θ moves by null / lengths
    middle: Array  # RᵀHR, (rank, rank): the identity without a penalty

    @classmethod
    def of(cls, information: Array, curvature: Array, free: Array) -> "Bread":
        """``curvature`` is P, its diagonal or whole.

        ``free`` are the coefficients that were not fixed at 0: a mask or their indices.
        """
        p, H = len(information), information[np.ix_(free, free)]
        P = np.diag(curvature) if curvature.ndim == 1 else curvature
        inverse = _inverse_root(H + P[np.ix_(free, free)])
        root, null = np.zeros((p, inverse.rank)), np.zeros((p, inverse.null.shape[1]))
        held, lengths = np.full(p, True), np.ones(p)
        root[free], null[free] = inverse.root, inverse.null
        held[free], lengths[free] = False, inverse.scale
        middle = root.T @ information @ root if curvature.any() else np.eye(inverse.rank)
        return cls(root, held, null, lengths, middle)

    @property
    def n_parameters(self) -> float:
        """tr(BH)."""
        return float(np.trace(self.middle))

    def covariance(self, middle: Array, jacobian: Array) -> Array:
        """J R K Rᵀ Jᵀ, with nan for what was not estimated."""
        root = jacobian @ self.root
        found = root @ middle @ root.T
        unknown = self.held | self._is_lost(jacobian)
        found[unknown] = found[:, unknown] = np.nan
        found = (found + found.T) / 2
        np.fill_diagonal(found, np.maximum(np.diag(found), 0.0))  # below 0 by rounding alone
        return np.asarray(found)

    def _is_lost(self, jacobian: Array) -> Array:
        """Which entries of Jθ vary in a direction that the data do not determine."""
        moved = np.abs(jacobian @ (self.null / self.lengths[:, None]))
        units = np.max(np.abs(jacobian) / self.lengths, axis=1, keepdims=True, initial=0.0)
        return np.asarray((moved > TOUCHED * units).any(axis=1))

    def covariance_root(self, middle: Array, jacobian: Array) -> Array:
        """S = J R √K, (p, rank): xᵀSSᵀx is the variance of xᵀθ̂ for every x that the data determine.

        nan where K is nan, because there is no variance.
        """
        if not np.isfinite(middle).all():
            return np.full(self.root.shape, np.nan)
        return np.asarray(jacobian @ self.root @ square_root(middle))

    def spread(self, kind: str, meat: Any, *, n: float, dispersion: float) -> Array:
        """K of C = R K Rᵀ, by the kind of standard errors."""
        if kind in ("model", "quasi"):
            return self.model(dispersion)
        if kind == "clustered":
            return self.clustered(meat, n=n)
        factor = small_sample(n, n - self.n_parameters) if kind == "HC1" else 1.0
        return self.robust(meat.value, factor=factor)

    def model(self, dispersion: float) -> Array:
        """K of ψ BHB."""
        return dispersion * self.middle

    def robust(self, meat: Array, *, factor: float = 1.0) -> Array:
        """K of B M B."""
        return np.asarray(factor * (self.root.T @ meat @ self.root))

    def clustered(self, clusters: ClusterScores, *, n: float) -> Array:
        """K of B (Σ u_g u_gᵀ) B · G/(G − 1) · (n − 1)/(n − p)."""
        G = clusters.codes.size
        if G < 2:
            raise InvalidInput(
                f"standard_errors='clustered' was given with {G} cluster; two or more are needed. "
                "Use 'HC3', or give groups that differ."
            )
        moved = clusters.scores @ self.root
        factor = G / (G - 1) * small_sample(n - 1, n - self.n_parameters)
        return np.asarray(factor * (moved.T @ moved))


def small_sample(n: float, df_residual: float) -> float:
    """n/(n − p); nan without residual degrees of freedom."""
    return n / df_residual if df_residual > 0 else float("nan")


def _inverse_root(matrix: Array) -> InverseRoot:
    """R with RRᵀ = matrix⁻¹; nan where the matrix is not finite."""
    if np.isfinite(matrix).all():
        return inverse_root(matrix)
    p = len(matrix)
    return InverseRoot(np.full(matrix.shape, np.nan), np.nan, np.zeros((p, 0)), np.ones(p))


def square_root(covariance: Array) -> Array:
    """S with SSᵀ = covariance."""
    scale, unit = unit_diagonal(covariance)
    values, vectors = eigh(unit)
    return np.asarray(scale[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))


def kind_of_errors(estimator: Any) -> str | None:
    """The kind of standard errors that an estimator computes; None for none."""
    kind: str | None = vars(estimator).get("standard_errors")
    return kind


def check_covariance(covariance: str, n_groups: int | None = None) -> None:
    """Refuse an unknown kind of covariance, and clustered errors without clusters."""
    if covariance not in COVARIANCES:
        raise UnknownName("kind of standard errors", covariance, COVARIANCES)
    if covariance == "clustered" and n_groups is not None and n_groups < 2:
        raise InvalidInput(
            f"The kind 'clustered' of standard errors needs two clusters or more; found {n_groups}."
            " Pass the cluster of each example as groups to fit, or choose 'HC3'."
        )


class Dispersion(NamedTuple):
    """ψ, and for a Gaussian also RSS/n, which maximises the likelihood."""

    value: float
    at_maximum: float


def estimated_dispersion(
    likelihood: Likelihood,
    objective: LinearObjective,
    theta: Array,
    *,
    redundant: Sequence[int] = (),
) -> Dispersion:
    """ψ at an estimate, as in ``infer``; σ² for a Gaussian.

    1 where the family fixes it; nan without residual degrees of freedom, or with a ridge on
    too many coefficients for a matrix.
    """
    if likelihood.response.dispersion_is_known:
        return Dispersion(1.0, 1.0)
    fit = fit_statistics(likelihood, theta, objective.blocks, objective.executor)
    psi = fit.pearson * small_sample(1.0, fit.n - _n_parameters(objective, theta, redundant))
    return Dispersion(psi, fit.deviance / fit.n if has_constant_variance(likelihood) else psi)


def _n_parameters(objective: LinearObjective, theta: Array, redundant: Sequence[int]) -> float:
    held = np.isin(np.arange(theta.size), list(redundant))
    penalty = objective.penalty_on
    free = np.flatnonzero(~held & ~penalty.at_kink(theta))
    smooth = penalty.curvature(theta)[free]
    if not smooth.any() and penalty.grouped(theta.size) is None:
        return float(free.size)
    if free.size > MOST_TO_FACTORISE:
        return float("nan")
    information = objective.hessian_on(theta, free) - np.diag(smooth)
    curvature = penalty.hessian_on(theta, free)
    return Bread.of(information, curvature, np.arange(free.size)).n_parameters
