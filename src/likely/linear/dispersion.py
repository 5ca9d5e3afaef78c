"""The dispersion of a fit whose coefficients have no standard errors, from one pass or two.

    ψ = χ²/(n − p)        p = tr (H + P)⁻¹H on the coefficients that are not 0

Without a ridge p counts them, and there is no second pass.

References
----------
Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, 2nd ed., §3.4.1.
Zou, Hastie & Tibshirani (2007), On the degrees of freedom of the lasso, Annals of Statistics 35.
"""

from collections.abc import Sequence

import numpy as np

from likely._typing import Array
from likely.likelihoods.base import Likelihood
from likely.linear.covariance import Bread, small_sample
from likely.objectives.inference import fit_statistics
from likely.objectives.linear import LinearObjective

MOST_TO_FACTORISE = 3000  # coefficients under a ridge: their curvature is a matrix of that size


def estimated_dispersion(
    likelihood: Likelihood,
    objective: LinearObjective,
    theta: Array,
    *,
    redundant: Sequence[int] = (),
) -> float:
    """ψ at an estimate, as ``infer`` has it; σ² of a Gaussian.

    1 where the family fixes it; nan where nothing is left to judge by, or where a ridge is on
    more coefficients than a matrix is kept for.
    """
    if likelihood.response.dispersion_is_known:
        return 1.0
    fit = fit_statistics(likelihood, theta, objective.blocks, objective.executor)
    return fit.pearson * small_sample(1.0, fit.n - _n_parameters(objective, theta, redundant))


def _n_parameters(objective: LinearObjective, theta: Array, redundant: Sequence[int]) -> float:
    held = np.isin(np.arange(theta.size), list(redundant))
    free = np.flatnonzero(~held & ((objective.l1 == 0) | (theta != 0)))
    curvature = objective.penalty_on.curvature(theta)[free]
    if not curvature.any():
        return float(free.size)
    if free.size > MOST_TO_FACTORISE:
        return float("nan")
    information = objective.hessian_on(theta, free) - np.diag(curvature)
    return Bread.of(information, curvature, np.arange(free.size)).n_parameters
