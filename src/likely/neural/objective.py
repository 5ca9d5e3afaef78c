"""The objective of a network as a function of θ: for L-BFGS, and for steps by hand.

    F(θ) = Σ_i w_i loss(y_i, η_i) + l1 Σ |w| + ½ l2 Σ w²          over weights, not biases
    of some rows A:    Σ_{i∈A} w_i loss(y_i, η_i) + (Σ_A w / Σ w) penalty(θ)

The loss of a row of weight 0 is 0, even where it would be infinite.  The objective is not convex
where there are hidden layers.  The gradient of l1 |w| at w = 0 is 0, the shortest subgradient of
the penalty alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.caching import cached_property
from likely.compute.executor import Executor, Serial
from likely.errors import InvalidInput
from likely.names import lookup
from likely.neural.architecture import Architecture, Layer
from likely.neural.formulas import (
    NetworkRows,
    chunks,
    loss_first_order,
    loss_total,
    penalty,
    penalty_gradient,
)
from likely.neural.outputs import Output
from likely.objectives.model import REDUCTIONS, Reduction, numbers_of_rows
from likely.penalties.base import Strength
from likely.solvers.base import FirstOrder, FirstOrderObjective


@final
@dataclass(frozen=True, eq=False)
class NetworkObjective(FirstOrderObjective):
    """The loss of a network on some rows, with its penalty; see ``objective`` of the networks.

    Any solver minimises it (``likely.solvers.minimise``); ``gradient_step`` takes one step.
    ``rows`` are the number of an example, several, a slice, or one Boolean for each example.

    Attributes
    ----------
    start : array of shape (n_parameters,)
        Where ``fit`` begins.
    reduction : {"sum", "mean"}
        Of the rows: the sum of their losses with the penalty, or that divided by their weight.
    architecture : Architecture
        The layers: ``pack`` and ``unpack`` turn them into θ and back.

    Examples
    --------
    >>> from likely import NeuralNetworkRegressor
    >>> from likely.differences import check_gradient
    >>> from likely.solvers import LBFGS, minimise
    >>> model = NeuralNetworkRegressor((2,), activation="tanh", l2=0.1, random_state=0)
    >>> objective = model.objective([[0.0], [1.0], [2.0], [4.0]], [0.0, 1.0, 1.5, 1.0])
    >>> check_gradient(objective.value, objective.gradient, objective.start) < 1e-6
    True
    >>> best = minimise(LBFGS(), objective, objective.start)
    >>> objective.value(best.theta) < objective.value(objective.start)
    True
    """

    architecture: Architecture
    output: Output
    data: NetworkRows
    l1: Strength = 0.0  # one number, or one for each parameter
    l2: Strength = 0.0
    executor: Executor = field(default_factory=Serial)
    unit: float | None = None
    reduction: Reduction = "sum"
    start: Array = field(default_factory=lambda: np.zeros(0))
    write: Callable[[Array], Any] | None = None

    def __post_init__(self) -> None:
        lookup("reduction", self.reduction, REDUCTIONS)

    def value(self, theta: Any, rows: Any = None) -> float:
        """F(θ), with the whole penalty; inf where it overflows."""
        theta, chosen = self._checked(theta), self._chosen(rows)
        total = self._loss(theta, chosen) + self._share(chosen) * self._penalty(theta)
        return total / self._divisor(chosen)

    def loss(self, theta: Any, rows: Any = None) -> float:
        """Σ w loss (or its mean), without the penalty."""
        chosen = self._chosen(rows)
        return self._loss(self._checked(theta), chosen) / self._divisor(chosen)

    def first_order(self, theta: Array) -> FirstOrder:
        """F and ∇F, for a solver."""
        return self._first_order(theta, self.data)

    def gradient(self, theta: Any, rows: Any = None) -> Array:
        """∇F(θ)."""
        return self._first_order(self._checked(theta), self._chosen(rows)).gradient

    @property
    def n_rows(self) -> int:
        return self.data.n_rows

    @cached_property
    def weight(self) -> float:
        """Σ_i w_i."""
        total = self.data.total_weight
        if not total > 0:
            raise InvalidInput(
                "The examples have a total weight of 0; expected a weight above 0. Give a positive "
                "sample_weight to some of them."
            )
        return total

    def _loss(self, theta: Array, rows: NetworkRows) -> float:
        term = partial(loss_total, self.architecture, self.output, theta)
        return _inf_for_nan(self.executor.sum(term, chunks(self.architecture, rows)).value)

    def _penalty(self, theta: Array) -> float:
        return penalty(self.architecture, theta, self.l1, self.l2)

    def _first_order(self, theta: Array, rows: NetworkRows) -> FirstOrder:
        term = partial(loss_first_order, self.architecture, self.output, theta)
        here = self.executor.sum(term, chunks(self.architecture, rows))
        share, below = self._share(rows), self._divisor(rows)
        slope = penalty_gradient(self.architecture, theta, self.l1, self.l2)
        return FirstOrder(
            (_inf_for_nan(here.value) + share * self._penalty(theta)) / below,
            (here.gradient + share * slope) / below,
        )

    def pack(self, layers: Sequence[Any], extra: Any = ()) -> Array:
        """θ of (weight, bias) pairs, one for each layer."""
        return self.architecture.pack(layers, extra)

    def unpack(self, theta: Any) -> list[Layer]:
        """The weights and biases of each layer."""
        return self.architecture.unpack(self._checked(theta))

    def fitted_model(self, theta: Any) -> Any:
        """The model with these parameters in place of fitted ones."""
        if self.write is None:
            raise InvalidInput(
                "This objective was made without a model; one of a model's objective(X, y) was "
                "expected. Give theta to initialise, with max_epochs=0."
            )
        return self.write(self._checked(theta))

    def _checked(self, theta: Any) -> Array:
        """θ as numbers with a fraction: a gradient like whole ones would be cut."""
        theta = np.asarray(theta)
        if theta.shape != (self.architecture.n_parameters,):
            raise InvalidInput(
                f"theta has shape {theta.shape}; expected ({self.architecture.n_parameters},), one "
                "number for each parameter. Use architecture.pack for layers."
            )
        return theta if theta.dtype.kind == "f" else theta.astype(np.float64)

    def _divisor(self, rows: NetworkRows) -> float:
        """1 of a sum; the weight of the rows of a mean."""
        if self.reduction == "sum":
            return 1.0
        total = self.weight if rows is self.data else rows.total_weight
        if not total > 0:
            raise InvalidInput(
                "The rows have a total weight of 0; a mean needs a weight above 0. Leave rows of "
                "weight 0 out, or use reduction='sum'."
            )
        return total

    def _share(self, rows: NetworkRows) -> float:
        """The part of the penalty that these rows have."""
        return 1.0 if rows is self.data else rows.total_weight / self.weight

    def _chosen(self, rows: Any) -> NetworkRows:
        return self.data if rows is None else self.data.chosen(numbers_of_rows(rows, self.n_rows))


def _inf_for_nan(value: Array | float) -> float:
    """A sum that overflowed in both directions is no value to search near."""
    return inf if np.isnan(value) else float(value)
