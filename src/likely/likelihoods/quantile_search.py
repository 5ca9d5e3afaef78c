"""Quantiles of many distributions at once, by searching where their distribution functions cross.

    the least y with F(y) ≥ share,  low ≤ y ≤ high

Regula falsi, with the value at an end that stays halved (Illinois), and a bisection after every
three steps, so that flat parts of F cost little.

References
----------
Dowell & Jarratt (1971), A modified regula falsi method for computing the root of an equation,
BIT 11.
"""

from collections.abc import Callable

import numpy as np

from likely._typing import Array

CLOSE = 1e-8  # of a probability, and relative of y
STEPS = 200  # at most; a double has 53 digits and as many powers of two again


def search_quantiles(cdf: Callable[[Array], Array], share: float, low: Array, high: Array) -> Array:
    """The quantile of each row, between ``low``, where F < share, and ``high``, where F ≥ share."""
    low, high = np.array(low, dtype=float), np.array(high, dtype=float)
    below, above = cdf(low) - share, cdf(high) - share
    high = np.where(below >= 0, low, high)
    for step in range(STEPS):
        width = high - low
        moving = (width > CLOSE * np.maximum(np.abs(high), CLOSE)) & (above > CLOSE)
        if not moving.any():
            break
        with np.errstate(invalid="ignore", divide="ignore"):
            inside = low - below * width / (above - below)
        halfway = low + width / 2
        valid = (inside > low) & (inside < high) & (step % 3 < 2)
        middle = np.where(valid, inside, halfway)
        found = np.where(moving, cdf(middle) - share, above)
        up, down = moving & (found >= 0), moving & (found < 0)
        below = np.where(up, below / 2, np.where(down, found, below))
        above = np.where(down, above / 2, np.where(up, found, above))
        high, low = np.where(up, middle, high), np.where(down, middle, low)
    return high


def search_whole_quantiles(
    cdf: Callable[[Array], Array], share: float, low: Array, high: Array
) -> Array:
    """The quantile of each row among whole numbers, by bisection; F(low) < share ≤ F(high)."""
    low, high = np.array(low, dtype=float), np.array(high, dtype=float)
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        enough = cdf(middle) >= share
        moving = high - low > 1
        high = np.where(moving & enough, middle, high)
        low = np.where(moving & ~enough, middle, low)
    return high
