"""Compiled coordinate descent on a small dense quadratic.

    minimise  ½ θᵀQθ − cᵀθ + Σ_j λ_j|θ_j| + Σ_g γ_g‖θ_g‖

This is the inner loop of the proximal Newton method: Q and c are totals over
blocks, so no row of data is read here.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def descend_coordinates(Q, c, l1, theta, tol, max_sweeps):
    """Overwrite ``theta`` with the minimiser; return the sweeps used, max_sweeps + 1 if too few.

    A sweep ends the descent when no move lowered the quadratic by more than ``tol``.
    Q (d, d) symmetric with positive diagonal; c, l1, theta (d,); all float64,
    C-contiguous, finite.  The caller checks; nothing is checked here.
    """
    residual = c - np.dot(Q, theta)  # −∇ of the smooth part, kept up to date
    for sweep in range(max_sweeps):
        largest_fall = 0.0
        for j in range(theta.size):
            pull = residual[j] + Q[j, j] * theta[j]
            new = np.sign(pull) * max(abs(pull) - l1[j], 0.0) / Q[j, j]
            move = new - theta[j]
            if move != 0.0:
                theta[j] = new
                for k in range(theta.size):
                    residual[k] -= move * Q[j, k]
                largest_fall = max(largest_fall, Q[j, j] * move * move)
        if largest_fall <= tol:
            return sweep + 1
    return max_sweeps + 1


@njit(cache=True, nogil=True)
def descend_groups(Q, c, l1, strength, first, curvature, theta, tol, max_sweeps):
    """The same for groups: coefficients first[g] to first[g + 1] are group g, of this ``strength``.

    A group moves to the minimum of a quadratic of its largest ``curvature``, which lies above the
    model.  Q (d, d); c, l1, theta (d,); strength, curvature (G,); first (G + 1,) of int64.
    """
    residual = c - np.dot(Q, theta)
    for sweep in range(max_sweeps):
        largest_fall = 0.0
        for g in range(strength.size):
            length = 0.0
            low, high, step = first[g], first[g + 1], 1.0 / curvature[g]
            new = np.empty(high - low)
            for j in range(low, high):
                pull = theta[j] + step * residual[j]
                new[j - low] = np.sign(pull) * max(abs(pull) - step * l1[j], 0.0)
                length += new[j - low] ** 2
            length = np.sqrt(length)
            kept = max(1.0 - step * strength[g] / length, 0.0) if length > 0.0 else 0.0
            fall = 0.0
            for j in range(low, high):
                move = kept * new[j - low] - theta[j]
                if move != 0.0:
                    theta[j] = kept * new[j - low]
                    for k in range(theta.size):
                        residual[k] -= move * Q[j, k]
                    fall += curvature[g] * move * move
            largest_fall = max(largest_fall, fall)
        if largest_fall <= tol:
            return sweep + 1
    return max_sweeps + 1
