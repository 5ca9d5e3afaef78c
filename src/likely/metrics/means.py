"""Metrics that are the mean of one number per row, with Student's interval."""

from abc import abstractmethod
from math import inf

from likely._typing import Array, Codes
from likely.intervals import Ends, clipped
from likely.metrics.base import Metric
from likely.metrics.prediction import Prediction, Truth
from likely.moments import Moments


class MeanOfRows(Metric):
    """A metric that is the mean of one number per row."""

    lowest = 0.0  # no value lies below …
    highest = inf  # … nor above

    @abstractmethod
    def row_values(self, truth: Truth, prediction: Prediction) -> Array:
        """The number of each row, (n,): what a paired comparison of two models subtracts."""

    def summary(self, truth: Truth, prediction: Prediction) -> Moments:
        return Moments.of(self.row_values(truth, prediction), truth.weights)

    def clustered_interval(
        self, truth: Truth, prediction: Prediction, groups: Codes, level: float = 0.95
    ) -> Ends:
        values = self.row_values(truth, prediction)
        return self.interval(Moments.of_groups(values, truth.weights, groups), level)

    def value(self, statistics: Moments) -> float:
        return statistics.first

    def interval(self, statistics: Moments, level: float = 0.95) -> Ends:
        return clipped(statistics.ends(level), self.lowest, self.highest)
