"""The output of K ordered classes: one η, and thresholds b that are parameters, too.

loss = −ln P(Y = y | η, b)        ∂/∂free = ∂/∂b · ∂b/∂free
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.likelihoods.ordinal import Ordinal, free_of, thresholds_jacobian, thresholds_of
from likely.neural.outputs.base import LossAndSlope, Output, double


@final
@dataclass(frozen=True)
class OrdinalOutput(Output):
    """K ordered classes and one η; the thresholds are extra parameters, in their free form."""

    likelihood: Ordinal

    n_outputs = 1
    name = "ordinal"
    has_bias = False  # a constant in η moves all thresholds alike

    @property
    def n_extra(self) -> int:
        return self.likelihood.n_classes - 1

    @property
    def n_classes(self) -> int:
        return self.likelihood.n_classes

    def check(self, y: Array) -> None:
        self.likelihood.check(y)

    def target(self, y: Any) -> Array:
        return np.asarray(y, dtype=np.int64)

    def loss(self, y: Array, eta: Array, extra: Array) -> Array:
        return self.likelihood.nll(y, double(eta)[:, 0], thresholds_of(extra))

    def loss_and_slope(self, y: Array, eta: Array, extra: Array) -> LossAndSlope:
        found = self.likelihood.derivatives(y, double(eta)[:, 0], thresholds_of(extra))
        on_thresholds = np.zeros((len(y), self.n_classes + 1))  # b_{−1} and b_{K−1} are infinite
        rows = np.arange(len(y))
        on_thresholds[rows, y] += found.upper
        on_thresholds[rows, y + 1] += found.lower
        extra_slope = on_thresholds[:, 1:-1] @ thresholds_jacobian(extra)
        return LossAndSlope(found.nll, found.slope[:, None], extra_slope)

    def mean(self, eta: Array, extra: Array) -> Array:
        return self.likelihood.probability(double(eta)[:, 0], thresholds_of(extra))

    def log_probability(self, eta: Array, extra: Array) -> Array:
        return self.likelihood.log_probability(double(eta)[:, 0], thresholds_of(extra))

    def initial_extra(self, frequency: Array) -> Array:
        return free_of(self.likelihood.thresholds_of_frequencies(frequency))
