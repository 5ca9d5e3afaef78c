"""Derivatives checked against central differences.

    ĝ_i = [f(θ + ε_i e_i) − f(θ − ε_i e_i)] / 2ε_i        ε_i = ε max(1, |θ_i|)
    error = max_i |g_i − ĝ_i| / max(|g_i|, |ĝ_i|, floor)

The floor prevents differences that cannot be resolved from counting as errors: rounding of f,
and entries that are tiny compared with the largest.

References
----------
Nocedal & Wright, Numerical Optimization, 2nd ed., §8.1.
"""

from collections.abc import Callable

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput

__all__ = [
    "check_gradient",
    "check_hessian",
]

MACHINE = float(np.finfo(np.float64).eps)
STEP = MACHINE ** (1 / 3)  # balances the truncation ε² against the rounding 1/ε
RESOLVED = 1e-7  # the relative error that rounding alone may cause
TINY_BESIDE_LARGEST = 1e-4


def check_gradient(
    f: Callable[[Array], float],
    gradient: Callable[[Array], Array],
    theta: Array,
    *,
    epsilon: float = STEP,
) -> float:
    """The largest relative error of ``gradient`` as the derivative of ``f`` at ``theta``.

    Below 1e-6 the gradient is correct; a wrong sign gives about 2.  Costs 2d values of f.
    """
    theta = np.asarray(theta, dtype=np.float64)
    claimed = np.asarray(gradient(theta), dtype=np.float64)
    _same_shape("gradient", claimed.shape, theta.shape)
    differences = _central_differences(lambda t: np.asarray(f(t)), theta, epsilon)
    rounding = MACHINE * abs(float(f(theta))) / epsilon
    return _largest_relative_error(claimed.ravel(), differences, rounding)


def check_hessian(
    gradient: Callable[[Array], Array],
    hessian: Callable[[Array], Array],
    theta: Array,
    *,
    epsilon: float = STEP,
) -> float:
    """The largest relative error of ``hessian`` as the derivative of ``gradient`` at ``theta``.

    ``hessian`` returns (d, d), also when ``theta`` is not flat.  Costs 2d gradients.
    """
    theta = np.asarray(theta, dtype=np.float64)
    claimed = np.asarray(hessian(theta), dtype=np.float64)
    _same_shape("Hessian", claimed.shape, (theta.size, theta.size))
    differences = _central_differences(lambda t: np.ravel(gradient(t)), theta, epsilon)
    rounding = MACHINE * float(np.abs(gradient(theta)).max(initial=0.0)) / epsilon
    return _largest_relative_error(claimed.T, differences, rounding)


def _central_differences(f: Callable[[Array], Array], theta: Array, epsilon: float) -> Array:
    """Row i is ∂f/∂θ_i."""
    rows = []
    for i in range(theta.size):
        up, down = theta.copy(), theta.copy()
        step = epsilon * max(1.0, abs(theta.flat[i]))
        up.flat[i] += step
        down.flat[i] -= step
        rows.append((f(up) - f(down)) / (up.flat[i] - down.flat[i]))  # the step as stored
    return np.array(rows)


def _largest_relative_error(claimed: Array, differences: Array, rounding: float) -> float:
    size = np.maximum(np.abs(claimed), np.abs(differences))
    floor = max(rounding / RESOLVED, TINY_BESIDE_LARGEST * float(size.max(initial=0.0)))
    error = np.abs(claimed - differences)
    scale = np.maximum(size, floor)
    ratio = np.divide(error, scale, out=np.zeros_like(error), where=error != 0)
    return float(ratio.max(initial=0.0))


def _same_shape(what: str, found: tuple[int, ...], expected: tuple[int, ...]) -> None:
    if found != expected:
        raise InvalidInput(
            f"The {what} has shape {found}; expected {expected}, from the shape of theta. "
            f"Return one entry of the {what} for each parameter."
        )
