"""Derivatives checked against central differences.

    D_i(ε) = [f(θ + ε_i e_i) − f(θ − ε_i e_i)] / 2ε_i        ε_i = ε max(1, |θ_i|)
    ĝ_i = D_i(ε) + [D_i(ε) − D_i(2ε)] / 3                    exact up to ε⁴
    error = max_i (|g_i − ĝ_i| − doubt_i)₊ / max(|g_i|, |ĝ_i|)

Each entry has a scale of its own, so that a wrong sign of a small one is seen beside large ones.
Its doubt is what the differences cannot resolve: the rounding of f, and the absolute difference of
D_i(ε) and D_i(2ε).

References
----------
Nocedal & Wright, Numerical Optimization, 2nd ed., §8.1.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput

__all__ = [
    "check_gradient",
    "check_hessian",
]

MACHINE = float(np.finfo(np.float64).eps)
STEP = MACHINE ** (1 / 3)  # balances the truncation ε² against the rounding 1/ε
ROUNDINGS = 16.0  # in a value of f, which is a sum


def check_gradient(
    f: Callable[[Array], float],
    gradient: Callable[[Array], Array],
    theta: Array,
    *,
    epsilon: float = STEP,
) -> float:
    """The largest relative error of ``gradient`` as the derivative of ``f`` at ``theta``.

    Below 1e-6 the gradient is correct; a wrong sign of any entry gives about 2, unless the
    entry is lost in the rounding of f.  Costs 4d values of f.
    """
    theta = np.asarray(theta, dtype=np.float64)
    claimed = np.asarray(gradient(theta), dtype=np.float64)
    _same_shape("gradient", claimed.shape, theta.shape)
    size = _size_of_terms(claimed, theta)
    differences = _central_differences(lambda t: np.asarray(f(t)), theta, epsilon, size)
    return _largest_relative_error(claimed.ravel(), differences)


def check_hessian(
    gradient: Callable[[Array], Array],
    hessian: Callable[[Array], Array],
    theta: Array,
    *,
    epsilon: float = STEP,
) -> float:
    """The largest relative error of ``hessian`` as the derivative of ``gradient`` at ``theta``.

    ``hessian`` returns (d, d), also when ``theta`` is not flat.  Costs 4d gradients.
    """
    theta = np.asarray(theta, dtype=np.float64)
    claimed = np.asarray(hessian(theta), dtype=np.float64)
    _same_shape("Hessian", claimed.shape, (theta.size, theta.size))
    size = _size_of_terms(claimed, theta)
    differences = _central_differences(lambda t: np.ravel(gradient(t)), theta, epsilon, size)
    return _largest_relative_error(claimed.T, differences)


class _Differences(NamedTuple):
    """Estimates of derivatives, row i of ∂f/∂θ_i, and how far off they may be."""

    estimate: Array
    doubt: Array


def _size_of_terms(claimed: Array, theta: Array) -> float:
    """How large the terms of f are at least, also where they cancel: max |∂f| max(1, |θ|)."""
    return float(np.abs(claimed).max(initial=0.0) * max(1.0, np.abs(theta).max(initial=0.0)))


def _central_differences(
    f: Callable[[Array], Array], theta: Array, epsilon: float, size: float
) -> _Differences:
    """Extrapolated from two steps; what the smaller one misses is of the size of their difference.

    The doubt is that difference and the rounding of f, whose terms have at least this size.
    """
    estimates, doubts = [], []
    for i in range(theta.size):
        near, far = (_difference(f, theta, i, each * epsilon, size) for each in (1.0, 2.0))
        correction = (near.estimate - far.estimate) / 3
        estimates.append(near.estimate + correction)
        doubts.append(near.doubt + far.doubt + 3 * np.abs(correction))
    return _Differences(np.array(estimates), np.array(doubts))


def _difference(
    f: Callable[[Array], Array], theta: Array, i: int, epsilon: float, size: float
) -> _Differences:
    """One central difference, and the rounding in it."""
    up, down = theta.copy(), theta.copy()
    step = epsilon * max(1.0, abs(theta.flat[i]))
    up.flat[i] += step
    down.flat[i] -= step
    high, low = f(up), f(down)
    distance = up.flat[i] - down.flat[i]  # the step as stored
    size = float(max(size, np.abs(high).max(initial=0.0), np.abs(low).max(initial=0.0)))
    rounding = np.full(np.shape(high), ROUNDINGS * MACHINE * size / distance)
    return _Differences((high - low) / distance, rounding)


def _largest_relative_error(claimed: Array, differences: _Differences) -> float:
    """The largest error of an entry beyond its doubt, relative to that entry."""
    size = np.maximum(np.abs(claimed), np.abs(differences.estimate))
    in_claimed = ROUNDINGS * MACHINE * float(np.abs(claimed).max(initial=0.0))
    error = np.abs(claimed - differences.estimate) - differences.doubt - in_claimed
    error = np.where(np.isnan(error), np.inf, np.maximum(error, 0.0))
    ratio = np.divide(error, size, out=np.zeros_like(error), where=error > 0)
    return float(np.where(np.isnan(ratio), np.inf, ratio).max(initial=0.0))


def _same_shape(what: str, found: tuple[int, ...], expected: tuple[int, ...]) -> None:
    if found != expected:
        raise InvalidInput(
            f"The {what} has shape {found}; expected {expected}, from the shape of theta. "
            f"Return one entry of the {what} for each parameter."
        )
