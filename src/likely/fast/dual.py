"""Compiled dual coordinate descent for logistic regression with an L2 penalty.

    one row i:   z + a σ(z) = η_i + a p_i        a = w_i (‖x_i‖² + s²) / κ

z is the logit of the row's dual variable p_i, and η_i its linear predictor at the current β, which
follows every move: β ← β − w_i (p_i′ − p_i) x_i / κ.
"""

import numpy as np
from numba import njit

ROOT_STEPS = 20  # of a safeguarded Newton; two are usual
ENOUGH = 1e-2  # a last step below this part of the whole move ends the search for the root
ROUNDING = 1e-6  # steps shorter than this are Newton's own, or rounding; they do not circle


@njit(cache=True, nogil=True)
def _sigmoid(z):
    if z >= 0.0:
        return 1.0 / (1.0 + np.exp(-z))
    e = np.exp(z)
    return e / (1.0 + e)


@njit(cache=True, nogil=True)
def _balanced_logit(z, p, a, eta):
    """The root z′ of z′ + a σ(z′) = η + a p, from z = logit p; it is within a below η + a p."""
    target = eta + a * p
    low, high, whole = target - a, target, abs(eta - z)
    before, last = np.inf, np.inf  # steps that do not halve within two may go in circles
    for _ in range(ROOT_STEPS):
        excess = z + a * p - target
        if excess > 0.0:
            high = min(high, z)
        else:
            low = max(low, z)
        step = excess / (1.0 + a * p * (1.0 - p))
        z -= step
        if z < low or z > high or abs(step) > max(0.5 * before, ROUNDING):
            z = 0.5 * (low + high)
            step = high - low
        before, last = last, abs(step)
        p = _sigmoid(z)
        if abs(step) <= ENOUGH * whole:
            break
    return z


@njit(cache=True, nogil=True)
def sweep_rows(starts, columns, values, weight, offset, squares, order, logit, beta, b, ridge, s2):
    """Visit the rows in ``order``; overwrite ``logit`` and ``beta``; return b and the gap found.

    Rows are CSR: starts, columns int32 or int64, values float64.  s² is the square of the value
    that the intercept's column has while it has a proximal penalty; 0 leaves b as it is.
    The gap is Σ w_i [S(η) − S(z) − p(η − z)], S′ = σ, with every term as it was before its update,
    to second order.  The caller checks; nothing is checked here.
    """
    gap = 0.0
    for i in order:
        w = weight[i]
        if w == 0.0:
            continue
        start, stop = starts[i], starts[i + 1]
        e0, e1, e2, e3 = 0.0, 0.0, 0.0, 0.0  # four sums: one would wait for each addition
        whole = stop - (stop - start) % 4
        for q in range(start, whole, 4):
            e0 += values[q] * beta[columns[q]]
            e1 += values[q + 1] * beta[columns[q + 1]]
            e2 += values[q + 2] * beta[columns[q + 2]]
            e3 += values[q + 3] * beta[columns[q + 3]]
        for q in range(whole, stop):
            e0 += values[q] * beta[columns[q]]
        eta = offset[i] + b + ((e0 + e1) + (e2 + e3))
        z = logit[i]
        p = _sigmoid(z)
        gap += 0.5 * w * p * (1.0 - p) * (eta - z) ** 2
        z = _balanced_logit(z, p, w * (squares[i] + s2) / ridge, eta)
        logit[i] = z
        move = -w * (_sigmoid(z) - p) / ridge
        if move != 0.0:
            b += s2 * move
            for q in range(start, stop):
                beta[columns[q]] += move * values[q]
    return b, gap
