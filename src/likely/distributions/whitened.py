"""The fast twin of a full Gaussian mixture's E and M sums: totals in the whitened space.

    z = Wᵀ(x − m),   W Wᵀ = Σ⁻¹        m' = m + R ᵀā,   S' = Rᵀ (B − n ā āᵀ) R,   R = W⁻¹

A compiled loop sums n, a = Σ r z and B = Σ r z zᵀ (``fast/mixture``), centred on the means of
the last step; here they are turned back into weight, mean and scatter.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dtrtri

from likely._typing import Array
from likely.cholesky import InverseRoot
from likely.distributions.gaussian import LOG_2PI
from likely.distributions.responsibility import for_loop

MOST_FEATURES = 64  # beyond, BLAS on whole blocks is as fast


class WhitenedSums(NamedTuple):
    """N_k, the new means and scatters, and Σ w log p(x)."""

    weight: Array  # N, (n_components,)
    mean: Array  # (n_components, d)
    scatter: Array  # (n_components, d, d)
    log_likelihood: float


def whitened_sums(
    mean: Array,
    factors: tuple[InverseRoot, ...],
    X: Array,
    log_mixing: Array,
    weight: Array | None,
) -> WhitenedSums | None:
    """One pass over a block; None where a cell is missing or a factor is not triangular."""
    from likely.fast.mixture import full_gaussian_expectation

    n_components, d = mean.shape
    if any(factor.rank < d for factor in factors):
        return None
    W = np.stack([factor.root for factor in factors])
    if np.tril(W, -1).any():
        return None
    log_determinant = np.array([factor.log_determinant for factor in factors])
    count, first = np.zeros(n_components), np.zeros((n_components, d))
    second = np.zeros((n_components, d, d))
    log_likelihood = full_gaussian_expectation(
        for_loop(X),
        np.ones(len(X)) if weight is None else for_loop(weight),
        for_loop(mean),
        W,
        log_mixing - 0.5 * (d * LOG_2PI + log_determinant),
        count,
        first,
        second,
    )
    if not np.isfinite(log_likelihood):
        return None
    return _turned_back(mean, W, count, first, second, log_likelihood)


def _turned_back(
    mean: Array, W: Array, count: Array, first: Array, second: Array, log_likelihood: float
) -> WhitenedSums:
    there = count[:, None] > 0
    shift = np.divide(first, count[:, None], out=np.zeros_like(first), where=there)
    new_mean, scatter = np.empty_like(first), np.empty_like(second)
    for k in range(len(count)):
        root = dtrtri(W[k], lower=0)[0]  # W is triangular, of unit diagonal up to scales
        centred = np.triu(second[k]) + np.triu(second[k], 1).T
        centred -= count[k] * np.multiply.outer(shift[k], shift[k])
        new_mean[k] = mean[k] + np.dot(shift[k], root)
        scatter[k] = np.dot(root.T, np.dot(centred, root))
    return WhitenedSums(count, new_mean, scatter, log_likelihood)
