"""Shrinkage of a covariance matrix by the rule of Ledoit and Wolf.

    Σ* = (1 − s) Σ + s μI,   μ = tr Σ / d,   s = min(β, δ) / δ
    δ = ‖Σ − μI‖² / d        β = (Σ_i ‖z_i‖⁴ / n − ‖Σ‖²) / (n d)

The features are brought to unit variance first and back afterwards, so columns of any size
shrink alike.  Beside the covariance it needs one more sum over the rows, of ‖z‖⁴.

References
----------
Ledoit & Wolf, A well-conditioned estimator for large-dimensional covariance matrices, 2004.
"""

from typing import NamedTuple

import numpy as np

from likely._typing import Array


class Shrunk(NamedTuple):
    """The shrunk covariance and how much it was shrunk."""

    covariance: Array  # (d, d)
    shrinkage: float


def unit_scale(covariance: Array) -> Array:
    """The standard deviations, with 1 for constant columns; (d,)."""
    scale = np.sqrt(np.diag(covariance))
    return np.where(scale > 0, scale, 1.0)


def ledoit_wolf(covariance: Array, quartic: float, n: float) -> Shrunk:
    """Shrink Σ, given Σ_i ‖z_i‖⁴ of the centred rows in units of their standard deviation."""
    d = len(covariance)
    units = np.multiply.outer(unit_scale(covariance), unit_scale(covariance))
    S = covariance / units
    average = float(np.trace(S)) / d
    squares = float(np.sum(S**2))
    delta = (squares - 2 * average * float(np.trace(S)) + d * average**2) / d
    beta = min((quartic / n - squares) / (d * n), delta)
    s = 0.0 if beta <= 0 else beta / delta
    return Shrunk(((1 - s) * S + s * average * np.eye(d)) * units, s)
