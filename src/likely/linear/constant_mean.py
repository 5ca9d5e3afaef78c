"""The mean of each row under the constant model: one intercept, beside offsets.

g(μ_i) = b + o_i,  b by maximum likelihood        μ_i = ȳ without offsets
"""

import numpy as np

from likely._typing import Array
from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks, redesigned
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Intercept
from likely.likelihoods.base import Likelihood
from likely.objectives.linear import LinearObjective
from likely.penalties import NoPenalty
from likely.solvers.minimise import minimise
from likely.solvers.newton import Newton

TOL = 1e-14  # one parameter: exact costs one more step


def constant_mean(
    likelihood: Likelihood,
    y: Array,
    weight: Array,
    offset: Array | float = 0.0,
    *,
    intercept: bool = True,
) -> Array:
    """E[y] of each row under the constant model; without an intercept, of a predictor of 0."""
    if not intercept:
        return likelihood.mean(np.broadcast_to(offset, y.shape))
    mean = np.dot(weight, y) / weight.sum()
    if not np.any(offset):
        return np.full(len(y), mean)
    offsets = np.broadcast_to(np.asarray(offset, dtype=float), y.shape)
    rows = ArrayBlocks(Dense(np.empty((len(y), 0))), y, weight, offsets)
    blocks = redesigned(rows, Intercept, 1)
    unit = float(np.dot(weight, likelihood.response.deviance(y, np.full(len(y), mean)))) or None
    objective = LinearObjective(likelihood, NoPenalty(), blocks, Serial(), unit)
    start = np.atleast_1d(likelihood.eta_of_mean(np.asarray(mean)) - offsets.mean())
    found = minimise(Newton(), objective, start, tol=TOL)
    return likelihood.mean(float(found.theta[0]) + offsets)
