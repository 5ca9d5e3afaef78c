"""Totals of least squares over blocks: a Gram matrix, or a QR factor of the rows.

    ½ Σ_i w_i ‖y_i − x_iᵀΘ‖²        y (n,) or (n, m)

A free intercept, the last column, is eliminated exactly, so that a solution of minimum norm has
minimum norm in the coefficients only.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.data.block import Block
from likely.numerics.additive import FieldwiseAdditive
from likely.objectives.linear import Total, weighted
from likely.solvers.least_squares import GramTotals, LeastSquaresTotals


def block_gram(shift: Array, block: Block) -> GramTotals:
    """XᵀWX, XᵀW(y − shift) and the other totals; a shift near the mean keeps full precision."""
    y, weight = _response(shift, block), _weight(block)
    with np.errstate(over="ignore", invalid="ignore"):  # totals that are not finite are refused
        Wy = (weight * y.T).T
        return GramTotals(
            gram=block.X.sandwich(weight),
            moment=block.X.rmatmat(Wy),
            squares=np.asarray((Wy * y).sum(axis=0))[()],
            weight=float(weight.sum()),
        )


def block_factor(centre: Array, shift: Array, block: Block) -> LeastSquaresTotals:
    """The QR factor of the block's rows, which are copied and centred.

    ``centre`` has one entry per column used: one fewer leaves the intercept out.
    """
    X = block.X.matmat(np.eye(block.X.n_features)[:, : len(centre)]) - centre
    return LeastSquaresTotals.of(X, _response(shift, block), _weight(block))


@final
@dataclass(frozen=True, eq=False)
class ResidualTotals(FieldwiseAdditive):
    """XᵀW r and Σ w r² of r = y − Xθ."""

    moment: Array
    squares: Array | float


def block_residuals(theta: Array, extended: bool, block: Block) -> ResidualTotals:
    """The residuals at θ; ``extended`` uses the longest float type and copied rows."""
    y, weight = _response(np.zeros(()), block), _weight(block)
    if extended:
        X = block.X.matmat(np.eye(block.X.n_features)).astype(np.longdouble)
        left = y - np.dot(X, theta)
        return ResidualTotals(np.dot(X.T, (weight * left.T).T), np.dot(weight, np.square(left)))
    left = y - block.X.matmat(theta)
    return ResidualTotals(
        block.X.rmatmat((weight * left.T).T), np.asarray(np.dot(weight, np.square(left)))[()]
    )


def block_lengths(directions: Array, block: Block) -> Total:
    """Σ w (x_iᵀν)² of each direction ν, a column of ``directions``."""
    return Total(np.dot(_weight(block), np.square(block.X.matmat(directions))))


class Eliminated(NamedTuple):
    """Totals without the intercept, and what restores it: b = mean_y − mean_xᵀβ."""

    totals: GramTotals
    mean_x: Array
    mean_y: Array

    def intercept(self, coef: Array) -> Array:
        return np.asarray(self.mean_y - np.dot(self.mean_x, coef))


def without_intercept(totals: GramTotals) -> Eliminated:
    """The totals of columns and responses centred at their weighted means."""
    W = totals.gram[-1, -1]
    sums, response_sums = totals.gram[-1, :-1], totals.moment[-1]
    x, y = sums / np.sqrt(W), response_sums / np.sqrt(W)  # products of sums may overflow
    centred = replace(
        totals,
        gram=totals.gram[:-1, :-1] - np.multiply.outer(x, x),
        moment=totals.moment[:-1] - np.multiply.outer(x, y),
        squares=totals.squares - np.square(y),
    )
    return Eliminated(centred, sums / W, np.asarray(response_sums / W))


def as_they_are(totals: GramTotals) -> Eliminated:
    """Without a free intercept nothing is eliminated."""
    responses = totals.moment.shape[1:]
    return Eliminated(totals, np.zeros(len(totals.gram)), np.zeros(responses))


def _response(shift: Array, block: Block) -> Array:
    y = block.target - shift
    if block.offset is None:
        return y
    return y - block.offset if y.ndim == 1 else y - block.offset[:, None]


def _weight(block: Block) -> Array:
    return weighted(block.weight, np.ones(block.n_rows))
