"""The contract of a metric: statistics of rows that add, and values computed from their sum.

    statistics(A ∪ B) = statistics(A) + statistics(B)
    value, interval = functions of the sum

A weight of 2 is the row twice; a weight of 0 leaves the row out.  Rows that come in groups (a
patient's, a shop's) count as their smaller effective number of independent rows.

To add a metric, write one class and list it in ``METRICS``: the laws in
``tests/laws/test_metrics.py`` read that list.
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from math import inf
from typing import Any, Literal

import numpy as np

from likely._typing import Array, Codes
from likely.kinds import TargetKind
from likely.metrics.baseline import constant_prediction
from likely.metrics.prediction import Prediction, RowValues, Truth
from likely.numerics.intervals import Ends, clipped, effective_rows

Better = Literal["lower", "higher"]


class Metric(ABC):
    """A number that measures the quality of predictions.  Instances are stateless values."""

    approximate = False  # True where the statistics are a summary that loses something
    needs_density = False  # True where a model without log p(y | x) has no value
    needs_probabilities = True  # False where predicted classes are enough

    @property
    @abstractmethod
    def name(self) -> str:
        """The name in the registry: ``log-loss``."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The name in tables and pictures: ``log loss``."""

    @property
    @abstractmethod
    def better(self) -> Better: ...

    @property
    @abstractmethod
    def tasks(self) -> frozenset[TargetKind]:
        """The kinds of target that the metric suits."""

    @abstractmethod
    def summary(self, truth: Truth, prediction: Prediction) -> Any:
        """The statistics of rows that all count: no weight is 0."""

    @abstractmethod
    def value(self, statistics: Any) -> float: ...

    @abstractmethod
    def interval(self, statistics: Any, level: float = 0.95) -> Ends: ...

    def likeness(self, truth: Truth, prediction: Prediction) -> Array:
        """A number per row, which measures how similar the rows of a group are for this metric."""
        if prediction.mean is None:
            return (truth.y == prediction.predicted).astype(np.float64)
        return np.square(truth.y - prediction.means)

    def clustered_interval(
        self, truth: Truth, prediction: Prediction, groups: Codes, level: float = 0.95
    ) -> Ends:
        """The interval for rows that come in groups; the whole range where there is one group."""
        weight = truth.weights
        worth = effective_rows(self.likeness(truth, prediction), groups, level, weight)
        fewer = replace(truth, weight=weight * (worth / weight.sum()))
        return self.interval(self.statistics(fewer, prediction), level)

    def statistics(self, truth: Truth, prediction: Prediction) -> Any:
        """A summary of these rows, ``Additive``: those of disjoint rows add."""
        if truth.weight is not None and not (truth.weight > 0).all():
            present = truth.weight > 0
            truth, prediction = truth.rows(present), prediction.rows(present)
        return self.summary(truth, prediction)

    def of_constant(self, constant: Prediction) -> Prediction:
        """The prediction of the best constant as this metric needs it."""
        return constant

    def best_constant(self, training: Truth, truth: Truth) -> float:
        """The value on ``truth`` of the best constant of the training rows."""
        constant = self.of_constant(constant_prediction(training, truth))
        return self.value(self.statistics(truth, constant))

    def suits(self, prediction: Prediction) -> bool:
        """Whether the prediction has what the metric needs."""
        if prediction.labels is not None:
            return not self.needs_probabilities
        return not self.needs_density or prediction.log_density is not None

    def bounds(self, kind: TargetKind) -> Ends:
        """The smallest and the largest possible value for a kind of target."""
        return -inf, inf

    def ends(
        self,
        statistics: Any,
        truth: Truth,
        prediction: Prediction,
        *,
        level: float = 0.95,
        groups: Codes | None = None,
    ) -> Ends:
        """The interval: of rows by their statistics, of rows in groups by the rows themselves."""
        if groups is None:
            return self.interval(statistics, level)
        present = truth.weights > 0
        return self.clustered_interval(
            truth.rows(present), prediction.rows(present), groups[present], level
        )


class MeanOfRows(Metric):
    """A metric that is the mean of one number per row, or a function of that mean."""

    lowest = 0.0  # no value lies below …
    highest = inf  # … nor above

    @abstractmethod
    def row_values(self, truth: Truth, prediction: Prediction) -> Array:
        """The number of each row, (n,), or with the size of a surprise, (n, 3)."""

    def summary(self, truth: Truth, prediction: Prediction) -> RowValues:
        return RowValues.of(self.row_values(truth, prediction), truth.weights)

    def clustered_interval(
        self, truth: Truth, prediction: Prediction, groups: Codes, level: float = 0.95
    ) -> Ends:
        values = self.row_values(truth, prediction)
        return self.interval(RowValues.of_groups(values, truth.weights, groups), level)

    def value(self, statistics: RowValues) -> float:
        return statistics.first

    def interval(self, statistics: RowValues, level: float = 0.95) -> Ends:
        """That of a mean loss: the upper end allows for one more bad row."""
        return clipped(statistics.loss_ends(level), self.lowest, self.highest)
