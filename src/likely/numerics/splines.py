"""Cubic B-splines, evaluated as the cubics that they are between knots."""

from math import factorial
from typing import final

import numpy as np
from scipy.interpolate import BSpline

from likely._typing import Array

CUBIC = 3


@final
class CubicSplines:
    """The k splines of k + 4 knots; between two of the inner knots four are above 0."""

    def __init__(self, knots: Array) -> None:
        self.knots, self.size = knots, len(knots) - CUBIC - 1
        self.inner = knots[CUBIC:-CUBIC]  # from the first to the last all splines add up to 1
        whole = BSpline(knots, np.eye(self.size), CUBIC)
        self.pieces = np.zeros((CUBIC + 1, len(self.inner) - 1, CUBIC + 1))
        for place, power in enumerate(range(CUBIC, -1, -1)):  # Taylor's series at each knot
            at_knots = whole(self.inner[:-1], power) / factorial(power)
            for i, row in enumerate(at_knots):
                self.pieces[place, i] = row[i : i + CUBIC + 1]

    def __call__(self, x: Array) -> Array:
        """(n, k), of x from the first to the last of the inner knots."""
        piece = np.searchsorted(self.inner[1:-1], x, side="right")
        along = (x - self.inner[piece])[:, None]
        own = np.zeros((len(x), CUBIC + 1))
        for factor in self.pieces:  # Horner's rule
            own *= along
            own += factor[piece]
        out = np.zeros(len(x) * self.size)
        first = np.arange(0, out.size, self.size) + piece
        out[first[:, None] + np.arange(CUBIC + 1)] = own
        return out.reshape(len(x), self.size)
