"""Shrinkage of a covariance matrix by the rule of Ledoit and Wolf.

    Σ* = (1 − s) Σ + s μI,   μ = tr Σ / d,   s = min(β, δ) / δ
    δ = ‖Σ − μI‖² / d        β = (Q / n − ‖Σ‖²) / (n d),   Q = Σ_i w_i ‖(x_i − m) / scale‖⁴

The features are scaled to unit variance first and scaled back afterwards, so columns of any scale
are shrunk alike.  In addition to the covariance it needs one more pass over the rows, for Q of each
class.

References
----------
Ledoit & Wolf, A well-conditioned estimator for large-dimensional covariance matrices, 2004.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.additive import FieldwiseAdditive
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks


class ShrunkCovariance(NamedTuple):
    """The shrunk covariance and the shrinkage."""

    covariance: Array  # (d, d)
    shrinkage: float


def unit_scale(covariance: Array) -> Array:
    """The standard deviations, with 1 for constant columns; (d,)."""
    scale = np.sqrt(np.diag(covariance))
    return np.where(scale > 0, scale, 1.0)


def ledoit_wolf(covariance: Array, quartic: float, n: float) -> ShrunkCovariance:
    """Shrink Σ, given Σ_i ‖z_i‖⁴ of the centred rows in units of their standard deviation."""
    d = len(covariance)
    units = np.multiply.outer(unit_scale(covariance), unit_scale(covariance))
    S = covariance / units
    average = float(np.trace(S)) / d
    squares = float(np.sum(S**2))
    delta = (squares - 2 * average * float(np.trace(S)) + d * average**2) / d
    beta = min((quartic / n - squares) / (d * n), delta)
    s = 0.0 if beta <= 0 else beta / delta
    return ShrunkCovariance(shrunk_by(covariance, s), s)


def shrunk_by(covariance: Array, shrinkage: float) -> Array:
    """Shrink Σ by a given share, in units of the standard deviations."""
    units = np.multiply.outer(unit_scale(covariance), unit_scale(covariance))
    S, d = covariance / units, len(covariance)
    average = float(np.trace(S)) / d
    return np.asarray(((1 - shrinkage) * S + shrinkage * average * np.eye(d)) * units)


@final
@dataclass(frozen=True, eq=False)
class FourthPowers(FieldwiseAdditive):
    sums: Array  # Q, (n_components,)


def block_fourth_powers(mean: Array, scale: Array, block: Block) -> FourthPowers:
    X, codes = np.asarray(block.X.stored(), dtype=float), block.y
    assert codes is not None  # discriminants always have labels
    z = (X - mean[codes]) / scale[codes]
    fourth = np.einsum("ij,ij->i", z, z) ** 2
    weight = fourth if block.weight is None else fourth * block.weight
    return FourthPowers(np.bincount(codes, weight, len(mean)))


def fourth_powers(mean: Array, scale: Array, blocks: Blocks, executor: Executor) -> Array:
    """One pass over labelled data, (n_components,)."""
    return executor.sum(partial(block_fourth_powers, mean, scale), blocks).sums
