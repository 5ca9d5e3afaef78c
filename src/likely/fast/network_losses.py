"""The losses of a network's output and their slopes in η, compiled.

    categorical   ln Σ_k e^(η_k) − η_y        bernoulli   ln(1 + e^η) − yη
    gaussian      ½(η − y)²                   poisson     e^η − yη

The twin of ``neural.outputs``, in float64 whatever the type of η.
"""

import math

import numpy as np
from numba import njit

CATEGORICAL, BERNOULLI, GAUSSIAN, POISSON = 0, 1, 2, 3


@njit(cache=True, nogil=True, error_model="numpy")
def losses_and_slopes(kind, eta, codes, target, weight, rows, scale, slope):
    """Write scale · w_i ∂loss_i/∂η into ``slope`` (b, m); return Σ w_i loss_i and Σ w_i.

    ``rows`` (b,) are the places of the examples in codes, target and weight; a row of weight 0
    has loss and slope 0, even where they are infinite.
    """
    number = eta.dtype.type
    total, weighed = 0.0, 0.0
    for i in range(rows.size):
        row = rows[i]
        w = weight[row] if weight.size > 0 else 1.0
        if not w > 0.0:
            for k in range(eta.shape[1]):
                slope[i, k] = number(0.0)
            continue
        if kind == CATEGORICAL:
            loss = categorical(eta[i], codes[row], w * scale, slope[i])
        else:
            loss = 0.0
            for k in range(eta.shape[1]):
                each, pull = scalar(kind, np.float64(eta[i, k]), target[row, k])
                loss += each
                slope[i, k] = number(w * scale * pull)
        total += w * loss
        weighed += w
    return total, weighed


@njit(cache=True, nogil=True, error_model="numpy")
def categorical(eta, y, scale, slope):
    """The cross-entropy of class y; its slope, times ``scale``, is p − onehot(y)."""
    number = eta.dtype.type
    top = eta[0]
    for k in range(1, eta.size):
        top = max(top, eta[k])
    total = 0.0
    for k in range(eta.size):
        e = math.exp(np.float64(eta[k]) - np.float64(top))
        slope[k] = number(e)
        total += e
    others = 0.0
    factor = scale / total
    for k in range(eta.size):
        if k != y:
            p = np.float64(slope[k]) * factor
            others += p
            slope[k] = number(p)
    slope[y] = number(-others)  # p_y − 1 would cancel where p_y is near 1
    return math.log(total) + (np.float64(top) - np.float64(eta[y]))


@njit(cache=True, nogil=True, error_model="numpy")
def scalar(kind, eta, y):
    """The loss of a number and its slope."""
    if kind == GAUSSIAN:
        return 0.5 * (eta - y) * (eta - y), eta - y
    if kind == POISSON:
        mean = math.exp(eta)
        return mean - y * eta, mean - y
    e = math.exp(-abs(eta))  # at most 1
    nearer, farther = 1.0 / (1.0 + e), e / (1.0 + e)
    success, failure = (nearer, farther) if eta >= 0.0 else (farther, nearer)
    return max(eta, 0.0) - y * eta + math.log1p(e), (1.0 - y) * success - y * failure
