"""The objective of every linear model with one predictor: a penalised sum over examples.

    f(θ) = Σ_i w_i nll(y_i, x_iᵀθ + o_i) + ½ Σ_j κ_j θ_j²        F(θ) = f(θ) + Σ_j λ_j|θ_j|

A likelihood sees only y and η; a design sees only vectors.  They are independent, so a new
likelihood works with sparse data, and a new layout works with every likelihood.
"""

from dataclasses import dataclass
from functools import partial
from typing import Protocol, final

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks
from likely.objectives.penalised import PenalisedSum, Terms, Total
from likely.penalties import Penalty
from likely.solvers.base import FirstOrder, SecondOrder


class Loss(Protocol):
    """What the objective needs from a likelihood."""

    def nll(self, y: Array, eta: Array) -> Array: ...

    def derivatives(self, y: Array, eta: Array) -> tuple[Array, Array, Array]:
        """The loss, its slope and its curvature in η."""


def block_eta(theta: Array, block: Block) -> Array:
    """η = Xθ + o, (n,)."""
    eta = block.X.matmat(theta)
    return eta if block.offset is None else eta + block.offset


def weighted(weight: Array | None, values: Array) -> Array:
    """w_i v_i; no weight is a weight of 1."""
    return values if weight is None else weight * values


def weighted_sum(weight: Array | None, values: Array) -> float:
    """Σ w_i v_i, by np.dot, which releases the GIL."""
    return float(values.sum()) if weight is None else float(np.dot(weight, values))


def block_value(loss: Loss, theta: Array, block: Block) -> Total:
    return Total(weighted_sum(block.weight, loss.nll(block.target, block_eta(theta, block))))


def block_first_order(loss: Loss, theta: Array, block: Block) -> FirstOrder:
    nll, slope, _ = loss.derivatives(block.target, block_eta(theta, block))
    return FirstOrder(
        value=weighted_sum(block.weight, nll),
        gradient=block.X.rmatmat(weighted(block.weight, slope)),
    )


def block_second_order(loss: Loss, theta: Array, block: Block) -> SecondOrder:
    nll, slope, curvature = loss.derivatives(block.target, block_eta(theta, block))
    return SecondOrder(
        value=weighted_sum(block.weight, nll),
        gradient=block.X.rmatmat(weighted(block.weight, slope)),
        hessian=block.X.sandwich(weighted(block.weight, curvature)),
    )


def block_hessian_on(loss: Loss, theta: Array, columns: Array, block: Block) -> Total:
    curvature = loss.derivatives(block.target, block_eta(theta, block))[2]
    return Total(block.X.sandwich(weighted(block.weight, curvature), columns))


def block_hessian_times(loss: Loss, theta: Array, direction: Array, block: Block) -> Total:
    curvature = loss.derivatives(block.target, block_eta(theta, block))[2]
    moved = weighted(block.weight, curvature) * block.X.matmat(direction)
    return Total(block.X.rmatmat(moved))


@final
@dataclass(frozen=True, eq=False)
class LinearObjective(PenalisedSum):
    """One likelihood and one predictor."""

    likelihood: Loss
    penalty_on: Penalty
    blocks: Blocks
    executor: Executor
    unit: float | None = None

    @property
    def terms(self) -> Terms:
        return Terms(
            partial(block_value, self.likelihood),
            partial(block_first_order, self.likelihood),
            partial(block_second_order, self.likelihood),
        )

    @property
    def size(self) -> int:
        return self.blocks.n_features

    def hessian_on(self, theta: Array, columns: Array) -> Array:
        term = partial(block_hessian_on, self.likelihood)
        total = np.asarray(self.total(term, theta, columns).value)
        return total + self.smooth_hessian(theta, columns)

    def hessian_times(self, theta: Array, direction: Array) -> Array:
        term = partial(block_hessian_times, self.likelihood)
        total = np.asarray(self.total(term, theta, direction).value)
        return total + self.penalty_on.curvature(theta) * direction
