"""Compiled E and M step of a mixture of full Gaussians, for few features.

    z_ik = Wₖᵀ(x_i − m_k)        ℓ_ik = c_k − ½ ‖z_ik‖²
    r_ik = w_i exp(ℓ_ik − log Σ_c exp ℓ_ic)
    n_k = Σ r_ik        a_k = Σ r_ik z_ik        B_k = Σ r_ik z_ik z_ikᵀ

Rows are taken in tiles that stay in the cache, transposed, so that each inner loop runs over
rows and becomes vector instructions.  Sums in the whitened space are centred on the current
means; the caller turns them back.  Responsibilities are never stored for more than a tile.
"""

import numpy as np
from numba import njit

TILE = 128  # rows at a time: K·d·TILE numbers must stay in the second-level cache


VECTOR = {"reassoc", "contract", "nsz"}  # sums may be reordered into vector lanes


@njit(cache=True, nogil=True, fastmath=VECTOR)
def full_gaussian_expectation(X, weight, mean, W, constant, count, first, second):
    """Add n (K,), a (K, d) and the upper part of B (K, d, d); return Σ w log p(x).

    X (n, d), weight (n,), mean (K, d), W (K, d, d) upper triangular, constant (K,): float64,
    C-contiguous.  A row that is not finite makes the result nan.
    """
    n, d = X.shape
    n_components = mean.shape[0]
    columns = np.empty((d, TILE))
    centred = np.empty((d, TILE))
    Z = np.empty((n_components, d, TILE))
    r = np.empty((n_components, TILE))
    highest = np.empty(TILE)
    total = 0.0
    for start in range(0, n, TILE):
        m = min(TILE, n - start)
        for t in range(m):
            for j in range(d):
                columns[j, t] = X[start + t, j]
        for k in range(n_components):
            for j in range(d):
                for t in range(m):
                    centred[j, t] = columns[j, t] - mean[k, j]
            _whiten(centred, W[k], Z[k], r[k], constant[k], m)
        total += _normalise(r, highest, weight[start : start + m], m)
        for k in range(n_components):
            for t in range(m):
                count[k] += r[k, t]
            _accumulate(Z[k], r[k], centred[0], first[k], second[k], m)
    return total


@njit(cache=True, nogil=True, fastmath=VECTOR)
def _whiten(centred, W, Z, log_joint, constant, m):
    """Z = Wᵀ centred, four terms of each sum at a time; log_joint = constant − ½ Σ z²."""
    d = centred.shape[0]
    for t in range(m):
        log_joint[t] = 0.0
    for j in range(d):
        z = Z[j]
        for t in range(m):
            z[t] = 0.0
        i = 0
        while i + 4 <= j + 1:
            w0, w1, w2, w3 = W[i, j], W[i + 1, j], W[i + 2, j], W[i + 3, j]
            c0, c1, c2, c3 = centred[i], centred[i + 1], centred[i + 2], centred[i + 3]
            for t in range(m):
                z[t] += w0 * c0[t] + w1 * c1[t] + w2 * c2[t] + w3 * c3[t]
            i += 4
        while i <= j:
            w0, c0 = W[i, j], centred[i]
            for t in range(m):
                z[t] += w0 * c0[t]
            i += 1
        for t in range(m):
            log_joint[t] += z[t] * z[t]
    for t in range(m):
        log_joint[t] = constant - 0.5 * log_joint[t]


@njit(cache=True, nogil=True, fastmath=VECTOR)
def _accumulate(Z, r, weighted, first, second, m):
    """first += Σ r z, upper part of second += Σ r z zᵀ, four products at a time."""
    d = Z.shape[0]
    for i in range(d):
        z = Z[i]
        moved = 0.0
        for t in range(m):
            weighted[t] = r[t] * z[t]
            moved += weighted[t]
        first[i] += moved
        j = i
        while j + 4 <= d:
            z0, z1, z2, z3 = Z[j], Z[j + 1], Z[j + 2], Z[j + 3]
            s0 = s1 = s2 = s3 = 0.0
            for t in range(m):
                s0 += weighted[t] * z0[t]
                s1 += weighted[t] * z1[t]
                s2 += weighted[t] * z2[t]
                s3 += weighted[t] * z3[t]
            second[i, j] += s0
            second[i, j + 1] += s1
            second[i, j + 2] += s2
            second[i, j + 3] += s3
            j += 4
        while j < d:
            z0 = Z[j]
            s0 = 0.0
            for t in range(m):
                s0 += weighted[t] * z0[t]
            second[i, j] += s0
            j += 1


@njit(cache=True, nogil=True)
def _normalise(r, highest, weight, m):
    """Turn log-joints into weighted responsibilities; return Σ w log p(x)."""
    n_components = r.shape[0]
    total = 0.0
    for t in range(m):
        highest[t] = r[0, t]
    for k in range(1, n_components):
        for t in range(m):
            highest[t] = max(highest[t], r[k, t])
    for t in range(m):
        evidence = 0.0
        for k in range(n_components):
            r[k, t] = np.exp(r[k, t] - highest[t])
            evidence += r[k, t]
        share = weight[t] / evidence
        for k in range(n_components):
            r[k, t] *= share
        total += weight[t] * (highest[t] + np.log(evidence))
    return total
