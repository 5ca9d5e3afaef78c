"""The inference at an estimate: covariance and dispersion, by factors of unit-diagonal matrices.

    H = Σ w (dμ/dη)²/V(μ) x xᵀ      B = (H + P)⁻¹      C = ψ B H B, or B M B

Two passes over the rows give the sums, which are those of ``objectives/inference``;
``fitting/inference`` has the formulas.

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
from dataclasses import dataclass, replace
from functools import partial
from math import inf, nan
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import Blocks
from likely.errors import InvalidInput, UnknownName
from likely.fitting.inference import TOUCHED, Inference, square_root, touched_by
from likely.likelihoods.base import Likelihood
from likely.numerics.cholesky import InverseRoot, inverse_root
from likely.objectives.inference import (
    ClusterScores,
    FitStatistics,
    LoneRows,
    Term,
    block_cluster_scores,
    block_log_likelihood,
    block_lone_rows,
    block_meat,
    block_null_log_likelihood,
    block_several,
    fit_statistics,
    gaussian_log_likelihood,
    has_constant_variance,
    null_dispersion,
    null_model,
)
from likely.objectives.linear import PenalisedSum, Total

COVARIANCES = ("model", "quasi", "HC0", "HC1", "HC2", "HC3", "clustered")
EXPONENTS = {"HC0": 0, "HC1": 0, "HC2": 1, "HC3": 2}  # of 1 − h
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

    def spread(
        self, kind: str, meat: Total | ClusterScores | None, *, n: float, dispersion: float
    ) -> Array:
        """K of C = R K Rᵀ, by the kind of standard errors."""
        if meat is None:
            return self.model(dispersion)
        if isinstance(meat, ClusterScores):
            return self.clustered(meat, n=n)
        factor = small_sample(n, n - self.n_parameters) if kind == "HC1" else 1.0
        return self.robust(np.asarray(meat.value), factor=factor)

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


def kind_of_errors(estimator: object) -> str | None:
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

    value: Any  # a number, or one for each response
    at_maximum: Any


def estimated_dispersion(
    likelihood: Likelihood,
    objective: PenalisedSum,
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


def _n_parameters(objective: PenalisedSum, theta: Array, redundant: Sequence[int]) -> float:
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


def infer(
    likelihood: Likelihood,
    theta: Array,
    information: Array | Bread,
    penalty_curvature: Array,
    names: Sequence[str],
    blocks: Blocks,
    executor: Executor,
    *,
    standard_errors: str = "model",
    distribution: str = "z",
    redundant: Sequence[int] = (),
    at_kink: Array | None = None,
    penalised: bool | None = None,
    n_groups: int | None = None,
    jacobian: Array | None = None,
    intercept: bool = True,
) -> Inference:
    """The inference at an estimate, in at most two passes, and a search if there is an offset.

    ``information`` is H without the penalty, or was computed from a factor of it.  ``redundant``
    coefficients were fixed at 0, and those that a penalty set to 0, where it has a kink, have no
    standard error either.  ``jacobian`` is that of the user's θ by this one, where the blocks are
    centred.  Without an ``intercept`` the null model is a predictor of 0.
    """
    check_covariance(standard_errors, n_groups)
    held = np.isin(np.arange(theta.size), list(redundant))
    excluded = (np.zeros(theta.size, dtype=bool) if at_kink is None else at_kink) & ~held
    bread = information
    if not isinstance(bread, Bread):
        bread = Bread.of(bread, penalty_curvature, ~held & ~excluded)
    read = _read(likelihood, theta, bread, standard_errors, blocks, executor, intercept=intercept)
    to_user = np.eye(theta.size) if jacobian is None else jacobian
    psi = read.dispersion
    if standard_errors == "quasi":
        psi = read.fit.pearson * small_sample(1.0, read.fit.n_judged - bread.n_parameters)
    middle = bread.spread(standard_errors, read.meat, n=read.fit.n, dispersion=psi)
    found = bread.covariance(middle, to_user)
    whole = bool(np.isfinite(found).all())
    inference = replace(
        _inference(likelihood, to_user @ theta, found, names, bread, read),
        root=None if whole else bread.covariance_root(middle, to_user),
        covariance_kind=standard_errors,
        distribution="t" if standard_errors == "clustered" else distribution,
        n_clusters=read.meat.codes.size if isinstance(read.meat, ClusterScores) else None,
        penalised=bool(np.any(penalty_curvature)) if penalised is None else penalised,
        redundant=tuple(int(j) for j in redundant),
        excluded=tuple(np.flatnonzero(excluded).tolist()),
        **_null_model(likelihood, intercept=intercept),
        constants=(theta.size - 1,) if intercept else (),
    )
    if read.lone is not None and len(read.lone.rows):
        return _without_lone(inference, to_user @ bread.root @ (bread.root.T @ read.lone.rows.T))
    if standard_errors != "quasi":
        return inference
    return replace(inference, dispersion=psi, dispersion_is_known=False)


def _without_lone(inference: Inference, directions: Array) -> Inference:
    """Without the errors of what rows of leverage 1 determine: B x, of these rows x."""
    alone = tuple(np.flatnonzero(touched_by(directions)).tolist())
    return replace(inference.without_errors_along(directions), alone=alone)


def _null_model(likelihood: Likelihood, *, intercept: bool) -> dict[str, Any]:
    """The number of its parameters; without an intercept 0 may be no valid predictor."""
    if intercept or likelihood.etas == (-inf, inf):
        return {"n_null": float(intercept)}
    return {"null_log_likelihood": nan, "null_deviance": nan}


class _Read(NamedTuple):
    """What was computed from the data."""

    fit: FitStatistics
    null_nll: float
    null_log_likelihood: float  # at a dispersion of its own
    dispersion: float
    log_likelihood: float
    meat: Total | ClusterScores | None
    lone: LoneRows | None = None


def _read(
    likelihood: Likelihood,
    theta: Array,
    bread: Bread,
    standard_errors: str,
    blocks: Blocks,
    executor: Executor,
    *,
    intercept: bool,
) -> _Read:
    fit = fit_statistics(likelihood, theta, blocks, executor)
    null = null_model(likelihood, fit, blocks, executor, intercept=intercept)
    psi, log_likelihood, terms = 1.0, fit.log_likelihood, []
    at_null = log_likelihood - (null.nll - fit.nll)
    if not likelihood.response.dispersion_is_known:
        psi = fit.pearson * small_sample(1.0, fit.n_judged - bread.n_parameters)
        if has_constant_variance(likelihood):
            log_likelihood = gaussian_log_likelihood(fit.n, fit.deviance)
            at_null = gaussian_log_likelihood(fit.n, 2 * null.nll)
        else:
            of_null = null_dispersion(likelihood, null, fit, blocks, executor)
            terms.append(partial(block_log_likelihood, likelihood, theta, psi))
            terms.append(partial(block_null_log_likelihood, likelihood, null, of_null))
    meat = _meat_term(likelihood, theta, bread, standard_errors)
    if not terms and not meat:
        return _Read(fit, null.nll, at_null, psi, log_likelihood, None)
    second = executor.sum(partial(block_several, (*terms, *meat)), blocks).parts
    if terms:
        log_likelihood, at_null = float(second[0].value), float(second[1].value)
    own = (*second[len(terms) :], None, None)
    return _Read(fit, null.nll, at_null, psi, log_likelihood, *own[:2])


def _meat_term(
    likelihood: Likelihood, theta: Array, bread: Bread, standard_errors: str
) -> tuple[Term, ...]:
    if standard_errors in ("model", "quasi"):
        return ()
    if standard_errors == "clustered":
        return (partial(block_cluster_scores, likelihood, theta),)
    exponent = EXPONENTS[standard_errors]
    meat = partial(block_meat, likelihood, theta, bread.root, exponent)
    return (meat, partial(block_lone_rows, likelihood, theta, bread.root)) if exponent else (meat,)


def _inference(
    likelihood: Likelihood,
    theta: Array,
    covariance: Array,
    names: Sequence[str],
    bread: Bread,
    read: _Read,
) -> Inference:
    return Inference(
        theta=theta,
        covariance=covariance,
        names=tuple(names),
        dispersion=read.dispersion,
        dispersion_is_known=likelihood.response.dispersion_is_known,
        n=read.fit.n,
        n_parameters=bread.n_parameters,
        df_residual=read.fit.n_judged - bread.n_parameters,
        n_grouped=read.fit.n_rows if read.fit.grouped else 0.0,
        log_likelihood=read.log_likelihood,
        null_log_likelihood=read.null_log_likelihood,
        deviance=read.fit.deviance,
        null_deviance=read.fit.deviance + 2 * (read.null_nll - read.fit.nll),
        pearson=read.fit.pearson,
        saturated_nll=read.fit.nll - read.fit.deviance / 2,
        largest_eta=read.fit.largest_eta,
        response=likelihood.response.name,
    )
