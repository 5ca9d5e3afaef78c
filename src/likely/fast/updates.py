"""Update rules of stochastic training, compiled: the twin of ``likely.solvers.updates``.

The kinds, the order of ``hyper`` and the formulas are those of that module.  Numbers are rounded to
the type of θ before the loops, as NumPy does, so that float32 stays float32.
"""

import numpy as np
from numba import njit

CLIP_AT = 7
PLAIN, MOMENTUM, NESTEROV, ADAGRAD, RMSPROP, ADAM, ADAMW = 0, 1, 2, 3, 4, 5, 6


@njit(cache=True, nogil=True, error_model="numpy")
def update(kind, hyper, theta, gradient, slots, step, rate):
    """One step: overwrite ``theta`` (p,) and ``slots`` (n_slots, p), all of one type.

    ``hyper`` (8,) float64; ``step`` counts from 1; ``gradient`` (p,) is left as it is.
    """
    number = theta.dtype.type
    kept = number(clip_factor(hyper[CLIP_AT], gradient))
    if kind == PLAIN:
        descend(theta, gradient, kept, number(rate))
    elif kind in (MOMENTUM, NESTEROV):
        roll(theta, gradient, slots[0], kept, number(rate), number(hyper[0]), kind == NESTEROV)
    elif kind == ADAGRAD:
        one = number(1.0)
        scale(theta, gradient, slots[0], kept, number(rate), number(hyper[0]), one, one)
    elif kind == RMSPROP:
        decay, rest = number(hyper[1]), number(1.0 - hyper[1])
        scale(theta, gradient, slots[0], kept, number(rate), number(hyper[0]), decay, rest)
    else:
        shrink = rate * hyper[3] if kind == ADAMW else 0.0
        adapt(theta, gradient, slots[0], slots[1], kept, hyper, step, rate, number(shrink))


@njit(cache=True, nogil=True, error_model="numpy")
def clip_factor(norm, gradient):
    """c / ‖g‖ where the gradient is longer than c > 0, else 1."""
    if norm <= 0.0:
        return 1.0
    squares = 0.0
    for j in range(gradient.size):
        g = np.float64(gradient[j])
        squares += g * g
    length = np.sqrt(squares)
    return norm / length if length > norm else 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def descend(theta, gradient, kept, rate):
    """θ ← θ − η g."""
    for j in range(theta.size):
        theta[j] += -rate * (gradient[j] * kept)


@njit(cache=True, nogil=True, error_model="numpy")
def roll(theta, gradient, delta, kept, rate, momentum, ahead):
    """Δ ← −η g + ν Δ, and θ ← θ + Δ, or θ − η g + ν Δ."""
    if ahead:
        for j in range(theta.size):
            g = rate * (gradient[j] * kept)
            new = delta[j] * momentum - g
            delta[j] = new
            theta[j] += momentum * new - g
    else:
        for j in range(theta.size):
            new = delta[j] * momentum - rate * (gradient[j] * kept)
            delta[j] = new
            theta[j] += new


@njit(cache=True, nogil=True, error_model="numpy")
def scale(theta, gradient, squares, kept, rate, epsilon, decay, share):
    """s ← decay s + share g², and θ ← θ − η g / (√s + ε)."""
    for j in range(theta.size):
        g = gradient[j] * kept
        new = squares[j] * decay + share * (g * g)
        squares[j] = new
        theta[j] += -rate * g / (np.sqrt(new) + epsilon)


@njit(cache=True, nogil=True, error_model="numpy")
def adapt(theta, gradient, mean, squares, kept, hyper, step, rate, shrink):
    """Adam, with a θ that shrinks by ``shrink`` θ."""
    number = theta.dtype.type
    epsilon, beta1, beta2 = number(hyper[0]), number(hyper[1]), number(hyper[2])
    rest1, rest2 = number(1.0 - hyper[1]), number(1.0 - hyper[2])
    power = np.float64(step)  # a power of a whole number is rounded in another way
    length = number(rate / (1.0 - hyper[1] ** power))
    shrunk = number(np.sqrt(1.0 - hyper[2] ** power))
    for j in range(theta.size):
        g = gradient[j] * kept
        m = mean[j] * beta1 + rest1 * g
        v = squares[j] * beta2 + rest2 * (g * g)
        mean[j] = m
        squares[j] = v
        theta[j] += -length * m / (np.sqrt(v) / shrunk + epsilon) - shrink * theta[j]
