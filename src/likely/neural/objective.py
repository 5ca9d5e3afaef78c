"""The objective of a network as a function of θ: for L-BFGS, and for steps by hand.

    F(θ) = Σ_i w_i loss(y_i, η_i) + l1 Σ |w| + ½ l2 Σ w²          over weights, not biases
    of some rows A:    Σ_{i∈A} w_i loss(y_i, η_i) + (Σ_A w / Σ w) penalty(θ)

The loss of a row of weight 0 is 0, even where it would be infinite.  The objective is not convex
where there are hidden layers.  The gradient of l1 |w| at w = 0 is 0, the shortest subgradient of
the penalty alone.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array, Matrix
from likely.caching import cached_property
from likely.compute.executor import Executor, Serial
from likely.errors import InvalidInput
from likely.names import lookup
from likely.neural.architecture import Architecture, Layer
from likely.neural.outputs import Output
from likely.neural.propagation import Masks, backward, forward, predictor
from likely.objectives.linear import Total
from likely.objectives.model import REDUCTIONS, Reduction, numbers_of_rows
from likely.penalties import Strength
from likely.solvers.base import FirstOrder, FirstOrderObjective

CHUNK_CELLS = 2**19  # values of the widest layer at once: 4 MiB, which stays in the cache
FEWEST_ROWS = 256


class NetworkRows(NamedTuple):
    """Some examples as a network reads them."""

    X: Matrix  # dense or CSR
    y: Array  # class numbers, or (n, n_outputs)
    weight: Array | None = None  # None is 1 for every example

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def total_weight(self) -> float:
        """Σ_i w_i."""
        return float(self.n_rows if self.weight is None else self.weight.sum())

    def chosen(self, rows: Any) -> "NetworkRows":
        """The examples with these numbers, or those of a slice."""
        weight = None if self.weight is None else self.weight[rows]
        return NetworkRows(self.X[rows], self.y[rows], weight)


def weighted(weight: Array | None, each: Array) -> Array:
    """w_i times what each example has; 0 where w_i = 0, even if that is infinite."""
    if weight is None:
        return each
    column = weight.reshape(-1, *(1,) * (each.ndim - 1))
    return np.where(column > 0, column * np.where(column > 0, each, 0.0), 0.0)


@np.errstate(over="ignore", invalid="ignore")  # a loss that explodes is for the caller to see
def loss_total(
    architecture: Architecture, output: Output, theta: Array, rows: NetworkRows
) -> Total:
    """Σ_i w_i loss_i."""
    eta = predictor(architecture, theta, rows.X)
    loss = output.loss(rows.y, eta, architecture.extra(theta))
    return Total(float(weighted(rows.weight, loss).sum()))


@np.errstate(over="ignore", invalid="ignore")
def loss_first_order(
    architecture: Architecture,
    output: Output,
    theta: Array,
    rows: NetworkRows,
    masks: Masks | None = None,
) -> FirstOrder:
    """Σ_i w_i loss_i and its gradient."""
    trace = forward(architecture, theta, rows.X, masks)
    found = output.loss_and_slope(rows.y, trace.eta, architecture.extra(theta))
    slope = weighted(rows.weight, found.slope).astype(theta.dtype, copy=False)
    _, gradient = backward(architecture, theta, trace, slope)
    if found.extra is not None:
        architecture.extra(gradient)[...] = weighted(rows.weight, found.extra).sum(axis=0)
    return FirstOrder(float(weighted(rows.weight, found.loss).sum()), gradient)


def chunks(architecture: Architecture, rows: NetworkRows) -> Iterator[NetworkRows]:
    """Consecutive rows, as many at a time as the cache holds; the cut depends on sizes alone."""
    size = chunk_rows(architecture)
    for start in range(0, rows.n_rows, size):
        yield rows.chosen(slice(start, start + size))


def chunk_rows(architecture: Architecture) -> int:
    return max(FEWEST_ROWS, CHUNK_CELLS // max(architecture.sizes))


@np.errstate(over="ignore")
def penalty(architecture: Architecture, theta: Array, l1: Strength, l2: Strength) -> float:
    """Σ l1 |w| + ½ Σ l2 w² over weights; a strength is one number, or one for each parameter."""
    weights = theta.astype(np.float64, copy=False)
    total = 0.0
    for strength, each in ((l1, np.abs(weights)), (l2, 0.5 * np.square(weights))):
        own = architecture.penalised * strength
        total += float(np.dot(own[own > 0], each[own > 0]))  # 0 · inf is nan
    return total


@np.errstate(over="ignore")
def penalty_gradient(architecture: Architecture, theta: Array, l1: Strength, l2: Strength) -> Array:
    """l1 sign(w) + l2 w, and 0 for biases and extra parameters."""
    return np.asarray(architecture.penalised * (l1 * np.sign(theta) + l2 * theta))


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
