"""The contract of the output of a network: the loss of y given η, its slope, and the mean.

    J = Σ_i w_i loss(y_i, η_i)        loss = −ln p(y | η), less terms without η

Everything is computed in float64, so that a network in float32 loses no digits here; the loss of
classes is finite at |η| = 1000.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.likelihoods.base import Response
from likely.likelihoods.gaussian import Gaussian

# numbers of the losses that the compiled epoch knows, as in fast/network_losses.py
NOT_COMPILED, CATEGORICAL, BERNOULLI, GAUSSIAN, POISSON = -1, 0, 1, 2, 3


class LossAndSlope(NamedTuple):
    """The loss of each example and its derivatives."""

    loss: Array  # (n,)
    slope: Array  # ∂loss/∂η, (n, n_outputs)
    extra: Array | None  # ∂loss/∂extra, (n, n_extra); None where there are no extra parameters


class Output(ABC):
    """The last stage of a network.  Instances are values; eta is (n, n_outputs)."""

    n_outputs: int
    compiled: int = NOT_COMPILED

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    def n_extra(self) -> int:
        """How many parameters it has of its own, at the end of θ."""
        return 0

    @property
    def has_bias(self) -> bool:
        """Whether the last layer may have a bias; thresholds take its place."""
        return True

    @property
    def n_classes(self) -> int | None:
        """The number of classes; None for numbers."""
        return None

    @property
    def response(self) -> Response:
        """The response whose density y has; a square error is that of a Gaussian."""
        return Gaussian()

    @property
    def in_nats(self) -> bool:
        """Whether the loss is −log p of y; that of numbers lacks constants and the dispersion."""
        return self.n_classes is not None

    @abstractmethod
    def check(self, y: Array) -> None:
        """Refuse values of y that the response does not have."""

    def target(self, y: Any) -> Array:
        """y as the loss reads it: (n, n_outputs) in float64, or class numbers."""
        y = np.asarray(y, dtype=np.float64)
        return y.reshape(len(y), -1) if y.ndim == 1 else y

    @abstractmethod
    def loss(self, y: Array, eta: Array, extra: Array) -> Array:
        """The loss of each example, (n,)."""

    @abstractmethod
    def loss_and_slope(self, y: Array, eta: Array, extra: Array) -> LossAndSlope: ...

    @abstractmethod
    def mean(self, eta: Array, extra: Array) -> Array:
        """The mean of y, (n, n_outputs); of classes their probabilities, (n, n_classes)."""

    def log_probability(self, eta: Array, extra: Array) -> Array:
        """ln P(Y = k), (n, n_classes), for outputs of classes."""
        raise InvalidInput(
            f"A {self.name} output has no classes; class probabilities were asked for. "
            "Use mean instead."
        )

    def constant(self, y: Array, weight: Array | None) -> Array:
        """η of the best constant, (n_outputs,), from targets; 0 where the output knows none."""
        return np.zeros(self.n_outputs)

    def with_shape(self, y: Array, weight: Array | None) -> "Output":
        """This output, with a shape that is to be estimated set to that of the constant model."""
        return self

    def initial_extra(self, frequency: Array) -> Array:
        """Where extra parameters start; ``frequency`` is the weight of each class."""
        return np.zeros(0)


def double(eta: Array) -> Array:
    """η in float64."""
    return eta.astype(np.float64, copy=False)
