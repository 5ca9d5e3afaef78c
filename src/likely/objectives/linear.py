"""A penalised sum over examples, and that of every linear model with one predictor.

    f(θ) = Σ_blocks term(θ, block) + smooth penalty(θ)           F(θ) = f(θ) + rough penalty(θ)
    f(θ) = Σ_i w_i nll(y_i, x_iᵀθ + o_i) + ½ Σ_j κ_j θ_j²        F(θ) = f(θ) + Σ_j λ_j|θ_j|

The executor sums the blocks; the penalty is one more term, added once.

A likelihood sees only y and η; a design sees only vectors.  They are independent, so a new
likelihood works with sparse data, and a new layout works with every likelihood.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import inf, prod
from typing import Any, NamedTuple, Protocol, Self, TypeVar, final

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import Block, Blocks
from likely.errors import InvalidInput
from likely.numerics.additive import Additive, FieldwiseAdditive
from likely.penalties.base import Penalty
from likely.solvers.base import FirstOrder, FirstOrderObjective, SecondOrder, SmoothObjective
from likely.solvers.group_model import Grouping


class Loss(Protocol):
    """What the objective needs from a likelihood."""

    def nll(self, y: Array, eta: Array) -> Array: ...

    def derivatives(self, y: Array, eta: Array) -> tuple[Array, Array, Array]:
        """The loss, its slope and its curvature in η."""


Summary = TypeVar("Summary", bound=Additive)


@final
@dataclass(frozen=True, eq=False)
class Total(FieldwiseAdditive):
    """One number or array that adds."""

    value: Array | float


class Terms(NamedTuple):
    """What a block contributes at θ."""

    value: Callable[[Array, Block], Total]
    first_order: Callable[[Array, Block], FirstOrder]
    second_order: Callable[[Array, Block], SecondOrder]


class PenalisedSum(FirstOrderObjective, SmoothObjective):
    """The contract: a model gives its terms and its number of parameters.

    It is what every solver needs: value, gradient and Hessian of f, and λ, groups and the proximal
    map of the rough penalty.
    """

    penalty_on: Penalty  # one strength per entry of θ; 0 on intercepts and thresholds
    blocks: Blocks
    executor: Executor

    @property
    @abstractmethod
    def terms(self) -> Terms: ...

    @property
    @abstractmethod
    def size(self) -> int:
        """The length of θ."""

    def in_unit(self, unit: float | None) -> Self:
        """The same, with gaps in a unit."""
        return replace(self, unit=unit)  # type: ignore[type-var]  # every model is a dataclass

    @property
    def l1(self) -> Array:
        return self.penalty_on.corners(self.size)

    @property
    def groups(self) -> Grouping | None:
        group = self.penalty_on.grouped(self.size)
        return (
            None if group is None else Grouping(group.members(self.size), group.of_each(self.size))
        )

    def allows(self, theta: Array) -> bool:
        """Whether θ is a parameter of the model; f is inf where it is not."""
        return True

    def value(self, theta: Array) -> float:
        if not self.allows(theta):
            return inf
        return float(self.total(self.terms.value, theta).value) + self.smooth(theta)

    def first_order(self, theta: Array) -> FirstOrder:
        if not self.allows(theta):
            return FirstOrder(inf, np.zeros_like(theta))
        here = self.total(self.terms.first_order, theta)
        return FirstOrder(
            here.value + self.smooth(theta), here.gradient + self.smooth_gradient(theta)
        )

    def second_order(self, theta: Array) -> SecondOrder:
        if not self.allows(theta):
            return SecondOrder(inf, np.zeros_like(theta), np.eye(theta.size))
        terms = self.executor.sum(partial(self.terms.second_order, theta), self.blocks)
        return self.penalised(theta, terms)

    def penalised(self, theta: Array, here: SecondOrder) -> SecondOrder:
        """The sum over examples, and the smooth part of the penalty."""
        return SecondOrder(
            here.value + self.smooth(theta),
            here.gradient + self.smooth_gradient(theta),
            here.hessian + self.smooth_hessian(theta, np.arange(theta.size)),
        )

    def hessian_on(self, theta: Array, columns: Array) -> Array:
        return self.second_order(theta).hessian[np.ix_(columns, columns)]

    def penalty(self, theta: Array) -> float:
        return self.penalty_on.rough().value(theta)

    def prox(self, theta: Array, step: Array | float) -> Array:
        return self.penalty_on.rough().prox(theta, step)

    def smooth(self, theta: Array) -> float:
        """The smooth part of the penalty."""
        return self.penalty_on.value(theta) - self.penalty_on.rough().value(theta)

    def smooth_gradient(self, theta: Array) -> Array:
        return self.penalty_on.gradient(theta)

    def smooth_hessian(self, theta: Array, columns: Array) -> Array:
        return np.diag(self.penalty_on.curvature(theta)[columns])

    def total(self, term: Callable[..., Summary], theta: Array, *further: Array) -> Summary:
        """Σ over blocks of ``term(θ, *further, block)``."""
        return self.executor.sum(partial(term, theta, *further), self.blocks)


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


class Parameters(NamedTuple):
    """Coefficients and intercepts as a model stores them."""

    coef: Array
    intercept: Any  # of ordered classes, the thresholds; 0 where there is none


@final
@dataclass(frozen=True)
class Packing:
    """The shapes of θ and of what a model stores.

        θ = [W b], row by row     one row for each predictor: its coefficients, then its constants

    A predictor has an intercept for its constant, none, or the thresholds of ordered classes.  The
    reference class of a softmax has no row; its coefficients are 0.
    """

    coef_shape: tuple[int, ...]
    intercept_shape: tuple[int, ...]
    n_constants: int = 1  # of a predictor: its intercept, none, or thresholds
    reference: int | None = None  # the class without a row of θ

    @property
    def n_predictors(self) -> int:
        """Rows of coefficients, the reference included."""
        return self.coef_shape[0] if len(self.coef_shape) == 2 else 1

    @property
    def size(self) -> int:
        """The length of θ."""
        rows = self.n_predictors - (self.reference is not None)
        return rows * (self.coef_shape[-1] + self.n_constants)

    def pack(self, coef: Any, intercept: Any = 0.0) -> Array:
        """θ = [W b]."""
        W = self._filled("coef", coef, self.coef_shape).reshape(self.n_predictors, -1)
        b = self._filled("intercept", intercept, self.intercept_shape)
        if not self.n_constants and b.any():
            raise InvalidInput(
                f"intercept={intercept!r} was given; this model has none. Leave it out, or use "
                "fit_intercept=True."
            )
        rows = np.column_stack([W, b.reshape(self.n_predictors, -1)[:, : self.n_constants]])
        if self.reference is not None:
            rows = np.delete(rows - rows[self.reference], self.reference, axis=0)
        return np.ravel(rows)

    def unpack(self, theta: Any) -> Parameters:
        """W and b, in the shapes in which a model stores them."""
        rows = self.checked(theta).reshape(-1, self.coef_shape[-1] + self.n_constants)
        if self.reference is not None:
            rows = np.insert(rows, self.reference, 0.0, axis=0)
        coef, constants = np.split(rows, [self.coef_shape[-1]], axis=1)
        if not self.n_constants:
            constants = np.zeros(self.intercept_shape)
        intercept = np.array(constants).reshape(self.intercept_shape)
        return Parameters(np.array(coef).reshape(self.coef_shape), intercept[()])

    def checked(self, theta: Any) -> Array:
        """θ as numbers, of the right length."""
        values = np.asarray(theta, dtype=np.float64)
        if values.shape != (self.size,):
            raise InvalidInput(
                f"The parameters have shape {values.shape}; expected ({self.size},), as pack("
                "coef, intercept) returns them. Flatten them row by row: theta.ravel()."
            )
        return values

    def _filled(self, name: str, given: Any, shape: tuple[int, ...]) -> Array:
        values = np.asarray(given, dtype=np.float64)
        if values.ndim == 0 and not values:
            return np.zeros(shape)
        if self.n_predictors == 2 and 2 * values.size == prod(shape):
            values = np.outer([-0.5, 0.5], values)  # of two classes a model stores w₁ − w₀
        if values.size == prod(shape):
            return values.reshape(shape)
        raise InvalidInput(
            f"{name} has shape {values.shape}; expected {shape}. Give it as the fitted model has "
            f"it in {name}_."
        )
