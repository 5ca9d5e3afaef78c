"""Activations and their slopes over a layer, compiled: the twin of ``special.ACTIVATIONS``.

    |a| < 0.625:  tanh a = a + a z P(z)/Q(z), z = a²      else  sign(a) (1 − 2/(e^(2|a|) + 1))
    softplus a = max(a, 0) + ln(1 + e^−|a|)

The system's tanh, log1p and expm1 take five times as long as its exp and log, from which all of
these are made, in the type of the layer, to a few units in the last place.

References
----------
Moshier, Methods and Programs for Mathematical Functions, 1989 (Cephes, tanh).
"""

import numpy as np
from numba import njit

IDENTITY, SIGMOID, TANH, RELU, SOFTPLUS = 0, 1, 2, 3, 4

NEAR_0 = 0.625  # where tanh is a rational function
P0, P1, P2 = -9.64399179425052238628e-1, -9.92877231001918586564e1, -1.61468768441708447952e3
Q0, Q1, Q2 = 1.12811678491632931402e2, 2.23548839060100448583e3, 4.84406305325125486048e3
SHORT = 0.01  # where 1 − e^−h is a power series: six terms have every digit


@njit(cache=True, nogil=True, error_model="numpy")
def activate(kind, a, bias, has_bias):
    """a ← g(a + b), (b, m) in place."""
    n, m = a.shape
    if has_bias:
        for i in range(n):
            for j in range(m):
                a[i, j] += bias[j]
    flat = a.reshape(n * m)
    number = a.dtype.type
    nothing, one = number(0.0), number(1.0)
    if kind == RELU:
        for k in range(flat.size):
            flat[k] = nothing if flat[k] < nothing else flat[k]  # nan stays nan
    elif kind == TANH:
        for k in range(flat.size):
            flat[k] = hyperbolic_tangent(flat[k], number)
    elif kind == SIGMOID:
        for k in range(flat.size):
            e = np.exp(-abs(flat[k]))  # at most 1
            flat[k] = (one if flat[k] >= nothing else e) / (one + e)
    elif kind == SOFTPLUS:
        for k in range(flat.size):
            e = np.exp(-abs(flat[k]))
            u = one + e
            # ln u of the rounded u, and what the rounding took away
            flat[k] = max(flat[k], nothing) + (np.log(u) + (e - (u - one)) / u)


@njit(cache=True, nogil=True, error_model="numpy")
def times_slope(kind, h, delta):
    """δ ← δ ∘ g′, with g′ from the output h."""
    number = h.dtype.type
    nothing, one = number(0.0), number(1.0)
    if kind == RELU:
        for k in range(h.size):
            delta[k] = delta[k] if h[k] > nothing else nothing
    elif kind == TANH:
        for k in range(h.size):
            delta[k] *= (one - h[k]) * (one + h[k])
    elif kind == SIGMOID:
        for k in range(h.size):
            delta[k] *= h[k] * (one - h[k])
    elif kind == SOFTPLUS:
        for k in range(h.size):
            delta[k] *= one_minus_exp(h[k], number)


@njit(cache=True, nogil=True, error_model="numpy")
def hyperbolic_tangent(a, number):
    """tanh a."""
    one, two = number(1.0), number(2.0)
    if abs(a) < number(NEAR_0):
        z = a * a
        top = (number(P0) * z + number(P1)) * z + number(P2)
        bottom = ((z + number(Q0)) * z + number(Q1)) * z + number(Q2)
        return a + a * z * (top / bottom)
    far = one - two / (np.exp(two * abs(a)) + one)
    return far if a > number(0.0) else -far


@njit(cache=True, nogil=True, error_model="numpy")
def one_minus_exp(h, number):
    """1 − e^−h for h ≥ 0, without loss where h is small."""
    if h < number(SHORT):
        one = number(1.0)
        inner = one - h * number(1 / 4) * (one - h * number(1 / 5) * (one - h * number(1 / 6)))
        return h * (one - h * number(1 / 2) * (one - h * number(1 / 3) * inner))
    return number(1.0) - np.exp(-h)
