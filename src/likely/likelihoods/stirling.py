"""The remainder of Stirling's formula for ln Γ, which avoids cancellation.

ln Γ(x) = (x − ½) ln x − x + ½ ln 2π + r(x)        r(x) = 1/12x − 1/360x³ + 1/1260x⁵ − …
"""

import numpy as np

from likely._typing import Array
from likely.links import LOG_SQRT_2PI
from likely.special import lgamma

STIRLING = 60.0  # from here on four terms of the series are exact to a double's last digit


def lgamma_rest(x: Array | float) -> Array:
    """r(x), for x > 0."""
    x = np.asarray(x, dtype=np.float64)
    inverse = 1 / np.maximum(x, STIRLING)
    square = np.square(inverse)
    far = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    if not (x < STIRLING).any():
        return far
    near = np.minimum(x, STIRLING)
    exact = lgamma(near) - (near - 0.5) * np.log(near) + near - LOG_SQRT_2PI
    return np.where(x < STIRLING, exact, far)[()]
