"""Functions of N(0, 1): by SciPy, which is compiled, or by the standard library without it.

    Φ(z) = ½ erfc(−z/√2)        ln Φ(z) = ln(1 − Φ(−z)) for z > 0
    ln Φ(z) = −z²/2 − ln(−z √2π) + ln(1 − 1/z² + 3/z⁴ − 15/z⁶ + …)        far below 0
    φ(z)/Φ(z) = √(2/π) / erfcx(−z/√2)

``likely.runtime`` predicts without SciPy; the functions then run number by number.

References
----------
Abramowitz & Stegun, Handbook of Mathematical Functions, 7.1.2 and 26.2.12.
"""

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from math import erfc, inf, isnan, log, log1p, nan, pi, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from likely._typing import Array

FAR = -20.0  # below, eight terms of the series have full precision


def ndtr(z: Array) -> Array:
    """Φ(z)."""
    special = _compiled()
    return _elementwise(_below, z) if special is None else special.ndtr(z)


def log_ndtr(z: Array) -> Array:
    """ln Φ(z), with full precision in both tails."""
    special = _compiled()
    return _elementwise(_log_below, z) if special is None else special.log_ndtr(z)


def ndtri(p: Array) -> Array:
    """Φ⁻¹(p); ±inf at 0 and 1."""
    special = _compiled()
    return _elementwise(_quantile, p) if special is None else special.ndtri(p)


def hazard(z: Array) -> Array:
    """φ(z)/Φ(z): the factor e^(−z²/2) of both never appears."""
    from scipy.special import erfcx

    return sqrt(2 / pi) / erfcx(np.multiply(-1 / sqrt(2), z))


@cache
def _compiled() -> Any:
    """SciPy's functions; None where it is not installed."""
    try:
        if find_spec("scipy") is None:
            return None
        import scipy.special
    except ImportError:
        return None
    return scipy.special


def _elementwise(function: Callable[[float], float], z: Array) -> Array:
    z = np.asarray(z, dtype=np.float64)
    return np.array([function(each) for each in z.ravel().tolist()]).reshape(z.shape)[()]


def _below(z: float) -> float:
    return erfc(-z / sqrt(2)) / 2


def _log_below(z: float) -> float:
    if z > 0:
        return log1p(-_below(-z))
    if z > FAR:
        return log(_below(z))
    if z == -inf or isnan(z):
        return z
    term = total = 1.0
    for k in range(1, 9):
        term *= -(2 * k - 1) / (z * z)
        total += term
    return -z * z / 2 - log(-z * sqrt(2 * pi)) + log(total)


def _quantile(p: float) -> float:
    if p in (0.0, 1.0):
        return inf if p else -inf
    return NormalDist().inv_cdf(p) if 0 < p < 1 else nan
