"""What a model minimises, as a function of its parameters: for solvers, and for steps by hand.

    F(θ) = Σ_i w_i nll(y_i, η_i) + penalty(θ)
    of some rows A:    Σ_{i∈A} w_i nll(y_i, η_i) + (Σ_A w / Σ w) penalty(θ)
    as a mean:         the same, divided by the weight of its rows

The objectives of disjoint rows add up to that of all rows.  The mean has the same minimum as the
sum, and the mean over a batch drawn at random has the gradient of the whole for its expectation.

θ is one vector; a model stores coefficients and intercepts: see ``Packing``.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, final

import numpy as np

from likely._typing import Array
from likely.caching import cached_property
from likely.compute.executor import Executor, Serial
from likely.data.block import Block, Blocks, MappedBlocks, chosen_rows
from likely.errors import InvalidInput
from likely.names import lookup
from likely.objectives.batches import RowBatches
from likely.objectives.linear import Packing, Parameters, PenalisedSum
from likely.output.formatting import count
from likely.solvers.base import FirstOrder, FirstOrderObjective, SecondOrder, SmoothObjective

Reduction = Literal["sum", "mean"]
REDUCTIONS = {"sum": "sum", "mean": "mean"}


@final
@dataclass(frozen=True, eq=False, repr=False)
class ModelObjective(FirstOrderObjective, SmoothObjective):
    """The loss of a linear model on some rows, with its penalty; see ``objective`` of the models.

    Any solver minimises it (``likely.solvers.minimise``); ``gradient_step`` takes one step.  Every
    ``rows`` is the number of an example, several, a slice, or one Boolean for each example.

    Attributes
    ----------
    start : array of shape (n_parameters,)
        The constant model, where ``fit`` begins.
    reduction : {"sum", "mean"}
    packing : Packing
        The shapes of the parameters.

    Examples
    --------
    >>> from likely import LogisticRegression
    >>> from likely.differences import check_gradient
    >>> model = LogisticRegression(l2=1.0)
    >>> objective = model.objective([[0.0], [1.0], [2.0], [4.0]], [0, 1, 0, 1])
    >>> objective.gradient([0.0, 0.0])  # Σ (½ − y) x, Σ (½ − y)
    array([-1.5,  0. ])
    >>> objective.gradient([0.0, 0.0], rows=3)  # of one example
    array([-2. , -0.5])
    >>> check_gradient(objective.value, objective.gradient, [0.5, -1.0]) < 1e-6
    True
    """

    on: Callable[[Blocks, float, Executor], PenalisedSum]  # a share of the penalty
    blocks: Blocks  # of designs as they came, with an intercept
    executor: Executor
    packing: Packing
    start: Array
    write: Callable[[Array], Any]
    model: str  # the name of its class
    reduction: Reduction = "sum"
    position: Array | None = None  # of each row that was given, −1 where it was left out

    def __post_init__(self) -> None:
        lookup("reduction", self.reduction, REDUCTIONS)

    def __repr__(self) -> str:
        rows, parameters = count(self.n_rows, "row"), count(self.packing.size, "parameter")
        return f"<ModelObjective of {self.model}: {rows}, {parameters}, {self.reduction}>"

    def value(self, theta: Any, rows: Any = None) -> float:
        """F(θ), with the whole penalty."""
        theta, here = self.packing.checked(theta), self._on(rows)
        return here.value(theta) + here.penalty(theta)

    def loss(self, theta: Any, rows: Any = None) -> float:
        """Σ w nll (or its mean), without the penalty."""
        theta, here = self.packing.checked(theta), self._on(rows)
        if not here.allows(theta):
            return float("inf")
        return float(here.total(here.terms.value, theta).value)

    def gradient(self, theta: Any, rows: Any = None) -> Array:
        """∇F(θ); at a corner of an L1 or a group penalty, the shortest subgradient."""
        theta, here = self.packing.checked(theta), self._on(rows)
        smooth = here.first_order(theta).gradient
        return here.penalty_on.rough().least_subgradient(theta, smooth)

    def hessian(self, theta: Any, rows: Any = None) -> Array:
        """∇² of the smooth part; of links that are not canonical, Fisher's information."""
        return self._on(rows).second_order(self.packing.checked(theta)).hessian

    def pack(self, coef: Any, intercept: Any = 0.0) -> Array:
        """θ = [W b] as one vector, from ``coef_`` and ``intercept_``, or ``thresholds_``."""
        return self.packing.pack(coef, intercept)

    def unpack(self, theta: Any) -> Parameters:
        """Coefficients and intercepts (or thresholds), in the shapes of a fitted model."""
        return self.packing.unpack(theta)

    def fitted_model(self, theta: Any) -> Any:
        """The model with these parameters in place of fitted ones; it has no standard errors."""
        return self.write(self.packing.checked(theta))

    def stored_by(self, model: str, wrap: Callable[[Any], Any]) -> "ModelObjective":
        """Internal: the same, with a model that wraps the fitted one; ``model`` is its class."""
        write = self.write
        return replace(self, write=lambda theta: wrap(write(theta)), model=model)

    def first_order(self, theta: Array) -> FirstOrder:
        """F and ∇F, for a smooth solver."""
        return self._smooth.first_order(theta)

    def second_order(self, theta: Array) -> SecondOrder:
        """F, ∇F and ∇²F, for Newton's method."""
        return self._smooth.second_order(theta)

    def in_batches(self) -> RowBatches:
        """The sum of all rows in batches, for ``StochasticDescent`` and ``gradient_noise``."""
        if self.reduction != "sum":
            raise InvalidInput(
                f"reduction={self.reduction!r} was given to an objective in batches, which has "
                "means of its own; 'sum' was expected. Leave reduction out, and choose "
                "penalty_scaling of StochasticDescent."
            )
        return RowBatches(self._all, self.blocks)

    @property
    def composite(self) -> PenalisedSum:
        """f and a penalty with corners apart, for ``FISTA`` and ``ProximalNewton``."""
        return self._all

    @cached_property
    def weight(self) -> float:
        """Σ_i w_i."""
        return sum(_weight_of(block) for block in self.blocks)

    @cached_property
    def n_rows(self) -> int:
        """How many examples were given."""
        if self.position is not None:
            return len(self.position)
        return sum(block.n_rows for block in self.blocks)

    @cached_property
    def _all(self) -> PenalisedSum:
        return self._of(self.blocks, self.weight, self.executor)

    @property
    def _smooth(self) -> PenalisedSum:
        if self._all.penalty_on.rough().value(np.ones(self.packing.size)) > 0:
            raise InvalidInput(
                "The penalty has corners, which a smooth solver takes for slopes; a penalty "
                "without l1 or groups was expected. Give objective.composite to FISTA() or "
                "ProximalNewton()."
            )
        return self._all

    def _on(self, rows: Any) -> PenalisedSum:
        """The objective of some rows, with their share of the penalty."""
        if rows is None:
            return self._all
        numbers = self._numbers(rows)
        chosen: Blocks
        if numbers.size:
            chosen = chosen_rows(self.blocks, numbers)
        else:  # rows of weight 0 have left: the first one stands for them
            first = chosen_rows(self.blocks, np.zeros(1, dtype=np.intp))
            chosen = MappedBlocks(first, partial(_weighted_by, 0.0), first.n_features)
        return self._of(chosen, sum(_weight_of(block) for block in chosen), Serial())

    def _of(self, blocks: Blocks, weight: float, executor: Executor) -> PenalisedSum:
        if self.reduction == "sum":
            return self.on(blocks, weight / self.weight, executor)
        if not weight > 0:
            raise InvalidInput(
                "The rows have a total weight of 0; a mean needs a weight above 0. Leave rows of "
                "weight 0 out, or use reduction='sum'."
            )
        lighter = MappedBlocks(blocks, partial(_weighted_by, 1 / weight), blocks.n_features)
        return self.on(lighter, 1 / self.weight, executor)

    def _numbers(self, rows: Any) -> Array:
        numbers = numbers_of_rows(rows, self.n_rows)
        if self.position is None:
            return numbers
        there = self.position[numbers]
        return np.asarray(there[there >= 0])


def numbers_of_rows(rows: Any, n_rows: int) -> Array:
    """The numbers of the examples that ``rows`` names; at least one."""
    try:
        numbers = np.atleast_1d(np.arange(n_rows)[rows])
    except (IndexError, TypeError, ValueError) as error:
        raise InvalidInput(
            f"rows={rows!r} was given; numbers of examples from 0 to {n_rows - 1} were "
            "expected, a slice, or one Boolean for each. Use rows=slice(0, 10)."
        ) from error
    if not numbers.size:
        raise InvalidInput(
            f"rows={rows!r} names no example; at least one was expected. Use rows=None for all."
        )
    return numbers


def _weight_of(block: Block) -> float:
    return float(block.n_rows if block.weight is None else block.weight.sum())


def _weighted_by(factor: float, block: Block) -> Block:
    weight = np.ones(block.n_rows) if block.weight is None else block.weight
    return replace(block, weight=factor * weight)
