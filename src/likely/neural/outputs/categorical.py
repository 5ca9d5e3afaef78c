"""Outputs of K classes with the softmax s: the cross-entropy, and the lectures' square error.

    cross-entropy    loss = ln Σ_k e^(η_k) − η_y        ∂/∂η = s(η) − t
    square error     loss = ½ ‖s(η) − t‖²               ∂/∂η = s ∘ (e − Σ_k s_k e_k), e = s − t

t is one-hot, or a row of probabilities.  The square error is no likelihood of classes, and its
slope vanishes where the softmax is sure, also of a wrong class.

References
----------
Bishop, Pattern Recognition and Machine Learning, §5.2.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.likelihoods.categorical import Categorical
from likely.neural.outputs.base import CATEGORICAL, LossAndSlope, Output, double
from likely.objectives.softmax import cross_entropy, cross_entropy_slope
from likely.special import log_softmax, softmax


class SoftmaxOutput(Output):
    """The contract of outputs with a softmax; y holds class numbers, or rows of t."""

    def __post_init__(self) -> None:
        Categorical(self.n_outputs)  # refuses fewer than two

    @property
    def n_classes(self) -> int:
        return self.n_outputs

    def check(self, y: Array) -> None:
        if np.ndim(y) == 1:
            Categorical(self.n_outputs).check(y)

    def target(self, y: Any) -> Array:
        return np.asarray(y, dtype=np.int64 if np.ndim(y) == 1 else np.float64)

    def constant(self, y: Array, weight: Array | None) -> Array:
        """ln of the classes' shares; half a row is added to each, so that none is 0."""
        if y.ndim == 1:
            count = np.bincount(y, weight, minlength=self.n_outputs)
        else:
            count = np.dot(np.ones(len(y)) if weight is None else weight, y)
        row = 1.0 if weight is None else min(1.0, weight.mean())  # a total of 1 is not one row
        eta = np.log(count + 0.5 * row)
        return np.asarray(eta - eta.mean())

    def mean(self, eta: Array, extra: Array) -> Array:
        return softmax(double(eta), axis=1)

    def log_probability(self, eta: Array, extra: Array) -> Array:
        return log_softmax(double(eta), axis=1)


@final
@dataclass(frozen=True)
class CategoricalOutput(SoftmaxOutput):
    """The cross-entropy."""

    n_outputs: int

    name = "categorical"
    compiled = CATEGORICAL

    def loss(self, y: Array, eta: Array, extra: Array) -> Array:
        return cross_entropy(y, double(eta))

    def loss_and_slope(self, y: Array, eta: Array, extra: Array) -> LossAndSlope:
        return LossAndSlope(*cross_entropy_slope(y, double(eta)), None)


@final
@dataclass(frozen=True)
class SquareErrorSoftmax(SoftmaxOutput):
    """½ ‖s(η) − t‖²."""

    n_outputs: int

    name = "square-error-softmax"
    in_nats = False

    def loss(self, y: Array, eta: Array, extra: Array) -> Array:
        return np.square(self._errors(y, eta)[1]).sum(axis=1) / 2

    def loss_and_slope(self, y: Array, eta: Array, extra: Array) -> LossAndSlope:
        s, error = self._errors(y, eta)
        slope = s * (error - (s * error).sum(axis=1, keepdims=True))
        return LossAndSlope(np.square(error).sum(axis=1) / 2, slope, None)

    def _errors(self, y: Array, eta: Array) -> tuple[Array, Array]:
        """s(η), and s(η) − t."""
        s = softmax(double(eta), axis=1)
        return s, s - (np.eye(self.n_outputs)[y] if y.ndim == 1 else y)
