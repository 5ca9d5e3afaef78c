"""The contract between examples in batches and stochastic training.

    F(θ) = Σ_i w_i L_i(θ) + R(θ)
    g    = (N / W B_k) Σ_{i∈I_k} w_i ∇L_i + c_k ∇R        W = Σ w, B_k examples in batch I_k

The mean of g over the batches of an epoch is ∇F / W for c_k = 1/W, whatever the weights are:
dividing by the weight of each batch instead would take the weights out again where batches are
small.  The penalty is scaled in one of three ways (``PENALTY_SCALINGS``):

    sum      c_k = 1 / W        the objective F / W, that of every other solver
    mean     c_k = 1            the objective (mean loss) + R
    epoch    c_k = B_k / N      R once in an epoch, as some lecture notes have it; the strength then
                                depends on the number of batches
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.solvers.base import FirstOrder
from likely.solvers.mini_batches import BatchPlan, batches

MOST_TRIED = 2048  # examples of a trial


class Batch(NamedTuple):
    """Some examples: how many, and Σ w L and Σ w ∇L at any θ, without the penalty."""

    n_rows: int
    first_order: Callable[[Array], FirstOrder]


class BatchedObjective(ABC):
    """A penalised sum over examples that can be read in batches."""

    unit: float | None = None  # of gaps

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """N, the number of examples with a weight above 0."""

    @property
    @abstractmethod
    def weight(self) -> float:
        """W = Σ w."""

    @abstractmethod
    def batches(self, plan: BatchPlan, seed: int, epoch: int) -> Iterator[Batch]:
        """The batches of an epoch."""

    @abstractmethod
    def trial_batches(self, size: int) -> list[Batch]:
        """Batches of a few examples from everywhere, on which learning rates are tried."""

    @abstractmethod
    def value(self, theta: Array) -> float:
        """F(θ)."""

    @abstractmethod
    def penalty_value(self, theta: Array) -> float:
        """R(θ)."""

    @abstractmethod
    def with_penalty(self, gradient: Array, theta: Array, share: float) -> Array:
        """``gradient`` + share ∇R; at a corner the shortest subgradient."""

    @property
    def units(self) -> Array | None:
        """Units of θ in which the curvature is about the same everywhere; None is 1."""
        return None

    def gradient_of(self, batch: Batch, theta: Array, share: float) -> tuple[float, Array]:
        """The mean loss of a batch and g, for c_k = ``share``."""
        here, factor = batch.first_order(theta), self.n_rows / (self.weight * batch.n_rows)
        gradient = self.with_penalty(factor * here.gradient, theta, share)
        return factor * here.value, gradient

    def trained_value(self, theta: Array, scaling: str, size: int) -> float:
        """What batches of ``size`` descend on: Σ w L + W c R, c the mean of c_k over an epoch.

        It is F only for the scaling "sum".
        """
        n_batches = ceil(self.n_rows / size)
        shares = {"sum": 1 / self.weight, "mean": 1.0, "epoch": 1 / n_batches}
        further = self.weight * shares[scaling] - 1 if scaling != "sum" else 0.0
        return self.value(theta) + further * self.penalty_value(theta)

    def share(self, scaling: str, batch: Batch) -> float:
        """c_k."""
        return PENALTY_SCALINGS[scaling](batch.n_rows, self.n_rows, self.weight)


PENALTY_SCALINGS: dict[str, Callable[[int, int, float], float]] = {
    "sum": lambda size, n_rows, weight: 1 / weight,
    "mean": lambda size, n_rows, weight: 1.0,
    "epoch": lambda size, n_rows, weight: size / n_rows,
}


@final
@dataclass(frozen=True, eq=False)
class ExampleLosses(BatchedObjective):
    """Any function of θ and of the numbers of examples, with an L1 and an L2 penalty.

    Attributes
    ----------
    first_order : callable
        From θ and an array of numbers, 0 to n_rows − 1, to Σ L and Σ ∇L of these examples.
    n_examples : int
    l1, l2 : float
        R = l1 ‖θ‖₁ + ½ l2 ‖θ‖², beside the sum of all losses.
    labels : array of codes, optional
        The class of each example, for ``BalancedBatches``.

    Examples
    --------
    >>> from likely.solvers import ExampleLosses, FirstOrder, StochasticDescent, minimise
    >>> y = np.array([1.0, 2.0, 3.0, 6.0])
    >>> def squares(theta, rows):
    ...     residual = theta - y[rows]
    ...     return FirstOrder(float(residual @ residual) / 2, np.array([residual.sum()]))
    >>> train = StochasticDescent(1.0, batch=1, schedule="inverse-time", epochs=3)
    >>> minimise(train, ExampleLosses(squares, 4), np.zeros(1), tol=0).n_iter
    3
    """

    first_order: Callable[[Array, Array], FirstOrder]
    n_examples: int
    l1: float = 0.0
    l2: float = 0.0
    labels: Codes | None = None

    @property
    def n_rows(self) -> int:
        return self.n_examples

    @property
    def weight(self) -> float:
        return float(self.n_examples)

    def batches(self, plan: BatchPlan, seed: int, epoch: int) -> Iterator[Batch]:
        for rows in plan.of_epoch(self.n_examples, seed, epoch, self.labels):
            yield self._batch(rows)

    def trial_batches(self, size: int) -> list[Batch]:
        some = np.linspace(0, self.n_examples - 1, min(self.n_examples, MOST_TRIED))
        return [self._batch(rows) for rows in batches(some.astype(np.intp), size)]

    def value(self, theta: Array) -> float:
        every = np.arange(self.n_examples)
        return float(self.first_order(theta, every).value) + self.penalty_value(theta)

    def penalty_value(self, theta: Array) -> float:
        return float(self.l1 * np.abs(theta).sum() + self.l2 * np.dot(theta, theta) / 2)

    def with_penalty(self, gradient: Array, theta: Array, share: float) -> Array:
        return np.asarray(gradient + share * (self.l1 * np.sign(theta) + self.l2 * theta))

    def _batch(self, rows: Array) -> Batch:
        return Batch(len(rows), lambda theta: self.first_order(theta, rows))
