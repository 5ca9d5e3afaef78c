"""Full Gaussians with missing cells: expectations given what was observed.

    x_m | x_o ~ N( m_m + Σ_mo Σ_oo⁻¹ (x_o − m_o),  Σ_mm − Σ_mo Σ_oo⁻¹ Σ_om )

Rows are grouped by their pattern of missing cells; each pattern and component needs one
factorisation.  The expected scatter has the conditional covariance added once per row.

References
----------
Little & Rubin, Statistical Analysis with Missing Data, 3rd ed., §11.2.
"""

from collections.abc import Iterator

import numpy as np

from likely._typing import Array
from likely.cholesky import inverse_root
from likely.distributions.gaussian import LOG_2PI


def patterns(X: Array) -> Iterator[tuple[Array, Array]]:
    """(which columns are observed, which rows have exactly those), for each pattern in X."""
    observed = ~np.isnan(X)
    bits = np.packbits(observed, axis=1)  # an eighth of the bytes to sort, in the same order
    _, first, which = np.unique(bits, axis=0, return_index=True, return_inverse=True)
    for number, row in enumerate(first):
        yield observed[row], np.flatnonzero(which.ravel() == number)


def log_prob_of_observed(mean: Array, covariance: Array, X: Array) -> Array:
    """log p(x_o | k) with the missing cells integrated out; (n, n_components)."""
    out = np.zeros((len(X), len(mean)))
    for mask, rows in patterns(X):
        seen = X[np.ix_(rows, mask)]
        for k in range(len(mean)):
            factor = inverse_root(covariance[k][np.ix_(mask, mask)])
            z = np.dot(seen - mean[k, mask], factor.root)
            constant = factor.rank * LOG_2PI + factor.log_determinant
            out[rows, k] = -0.5 * (np.einsum("ij,ij->i", z, z) + constant)
    return out


def expected_moments(
    mean: Array, covariance: Array, X: Array, responsibility: Array
) -> tuple[Array, Array, Array]:
    """Weight (K, 1), mean (K, d) and scatter (K, d, d) of rows completed by expectation."""
    n_components, d = mean.shape
    weight = responsibility.sum(axis=0)[:, None]
    new_mean, scatter = np.zeros((n_components, d)), np.zeros((n_components, d, d))
    groups = list(patterns(X))
    for k in range(n_components):
        filled, spread = _completed(mean[k], covariance[k], X, responsibility[:, k], groups)
        if weight[k, 0] > 0:
            new_mean[k] = np.dot(responsibility[:, k], filled) / weight[k, 0]
        centred = filled - new_mean[k]
        scatter[k] = np.dot(centred.T, centred * responsibility[:, k, None]) + spread
    return weight, new_mean, scatter


def _completed(
    mean: Array, covariance: Array, X: Array, r: Array, groups: list[tuple[Array, Array]]
) -> tuple[Array, Array]:
    """X with missing cells at their conditional means, and Σ_i r_i (conditional covariance)."""
    filled, spread = X.copy(), np.zeros_like(covariance)
    for mask, rows in groups:
        if mask.all():
            continue
        gone = ~mask
        W = inverse_root(covariance[np.ix_(mask, mask)]).root
        gain = np.dot(np.dot(covariance[np.ix_(gone, mask)], W), W.T)  # Σ_mo Σ_oo⁻¹
        seen = X[np.ix_(rows, mask)]
        filled[np.ix_(rows, gone)] = mean[gone] + np.dot(seen - mean[mask], gain.T)
        conditional = covariance[np.ix_(gone, gone)] - np.dot(gain, covariance[np.ix_(mask, gone)])
        spread[np.ix_(gone, gone)] += r[rows].sum() * conditional
    return filled, spread
