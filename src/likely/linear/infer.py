"""The inference of a linear model at its estimate: two passes over the rows, and what they give.

    H = Σ w (dμ/dη)²/V(μ) x xᵀ      B = (H + P)⁻¹      C = ψ B H B, or B M B

``likely.linear.inference`` has the formulas; the sums are those of ``objectives/inference``.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import Blocks
from likely.likelihoods.base import Likelihood
from likely.linear.covariance import EXPONENTS, Bread, check_covariance, small_sample
from likely.linear.inference import Inference, touched_by
from likely.objectives.inference import (
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
        n_clusters=read.meat.codes.size if standard_errors == "clustered" else None,
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
    meat: Any  # a Total, ClusterScores, or None
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
