"""Compiled E and M step of a mixture of full Gaussians, for rows with missing cells.

With Λ = Σ⁻¹, c = x − m (0 in missing cells), y = Λc and A = Λ_mm of the missing cells:

    c_m ← −A⁻¹ y_m        ℓ_ik = b_k − ½ [ cᵀy − y_mᵀ A⁻¹ y_m + log|A| − n_m log 2π ]
    n_k = Σ r_ik        a_k = Σ r_ik c        B_k = Σ r_ik (c cᵀ + A⁻¹ in the missing cells)

The sums are centred on the means of the last step; the caller moves them.
"""

import numpy as np
from numba import njit

VECTOR = {"reassoc", "contract", "nsz"}  # sums may be reordered into vector lanes
LOG_2PI = np.log(2 * np.pi)


@njit(cache=True, nogil=True, fastmath=VECTOR)
def gappy_gaussian_expectation(X, weight, mean, precision, constant, count, first, second):
    """Add n (K,), a (K, d) and B (K, d, d); return Σ w log p of the observed cells.

    X (n, d) with NaN, weight (n,), mean (K, d), precision (K, d, d) positive definite, constant
    (K,): float64, C-contiguous.  The result is not finite where a row is impossible.
    """
    n, d = X.shape
    n_components = mean.shape[0]
    gone = np.empty(d, dtype=np.int64)
    centred = np.empty((n_components, d))
    inverse = np.empty((n_components, d, d))
    root, y, share = np.empty((d, d)), np.empty(d), np.empty(n_components)
    total = 0.0
    for i in range(n):
        m = 0
        for j in range(d):
            if np.isnan(X[i, j]):
                gone[m] = j
                m += 1
        top = -np.inf
        for k in range(n_components):
            for j in range(d):
                centred[k, j] = 0.0 if np.isnan(X[i, j]) else X[i, j] - mean[k, j]
            square = _multiply(precision[k], centred[k], y)
            square += _complete(precision[k], y, gone[:m], root, inverse[k], centred[k])
            share[k] = constant[k] - 0.5 * (square - m * LOG_2PI)
            top = max(top, share[k])
        evidence = 0.0
        for k in range(n_components):
            share[k] = np.exp(share[k] - top)
            evidence += share[k]
        total += weight[i] * (top + np.log(evidence))
        for k in range(n_components):
            r = weight[i] * share[k] / evidence
            count[k] += r
            _accumulate(r, centred[k], first[k], second[k])
            for a in range(m):
                for b in range(m):
                    second[k, gone[a], gone[b]] += r * inverse[k, a, b]
    return total


@njit(cache=True, nogil=True, fastmath=VECTOR)
def _multiply(matrix, c, y):
    """y = matrix · c; return cᵀy."""
    square = 0.0
    for i in range(len(c)):
        total = 0.0
        for j in range(len(c)):
            total += matrix[i, j] * c[j]
        y[i] = total
        square += total * c[i]
    return square


@njit(cache=True, nogil=True, fastmath=VECTOR)
def _accumulate(r, c, first, second):
    for i in range(len(c)):
        weighted = r * c[i]
        first[i] += weighted
        for j in range(len(c)):
            second[i, j] += weighted * c[j]


@njit(cache=True, nogil=True)
def _complete(precision, y, gone, root, inverse, c):
    """Set c_m = −A⁻¹y_m and ``inverse`` = A⁻¹; return log|A| − y_mᵀA⁻¹y_m, by Cholesky's factor."""
    m = len(gone)
    total = 0.0
    for a in range(m):
        for b in range(a + 1):
            left = precision[gone[a], gone[b]]
            for q in range(b):
                left -= root[a, q] * root[b, q]
            if a > b:
                root[a, b] = left / root[b, b]
            else:
                root[a, a] = np.sqrt(left)
                total += np.log(left)
    for a in range(m):  # the factor becomes its own inverse, row by row
        root[a, a] = 1.0 / root[a, a]
        for b in range(a):
            left = 0.0
            for q in range(b, a):
                left += root[a, q] * root[q, b]
            root[a, b] = -left * root[a, a]
    for a in range(m):
        for b in range(a + 1):
            left = 0.0
            for q in range(a, m):
                left += root[q, a] * root[q, b]
            inverse[a, b] = inverse[b, a] = left
    for a in range(m):
        left = 0.0
        for b in range(m):
            left += inverse[a, b] * y[gone[b]]
        c[gone[a]] = -left
        total -= left * y[gone[a]]
    return total
