"""Compiled coordinate descent on a small dense quadratic.

    minimise  ½ θᵀQθ − cᵀθ + Σ_j λ_j|θ_j|

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
