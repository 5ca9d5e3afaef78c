"""The contract of a metric: statistics of rows that add, and what is read off their sum.

    statistics(A ∪ B) = statistics(A) + statistics(B)
    value, interval = functions of the sum

A weight of 2 is the row twice; a weight of 0 is the row absent.  Rows that come in groups (a
patient's, a shop's) count as the fewer independent ones that they are worth.

To add a metric, write one class and list it in ``METRICS``: the laws in
``tests/laws/test_metrics.py`` read that list.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, Literal, NamedTuple, Self, final

import numpy as np

from likely._typing import Array, Codes
from likely.intervals import Ends, effective_rows
from likely.kinds import TargetKind
from likely.metrics.baseline import best_level, class_log_shares
from likely.special import LOG_FLOOR

Better = Literal["lower", "higher"]


@final
@dataclass(frozen=True, eq=False)
class Truth:
    """What happened: class codes, or numbers."""

    y: Array  # (n,) int64 codes from 0, or float64
    weight: Array | None = None  # (n,)
    classes: tuple[Any, ...] = ()  # none for numbers
    kind: TargetKind = "classes"

    @property
    def weights(self) -> Array:
        return np.ones(len(self.y)) if self.weight is None else self.weight

    def rows(self, index: Array) -> "Truth":
        """Some of the rows, by index or mask."""
        weight = None if self.weight is None else self.weight[index]
        return replace(self, y=self.y[index], weight=weight)


@final
@dataclass(frozen=True, eq=False)
class Prediction:
    """What a model said of the same rows."""

    log_proba: Array | None = None  # (n, K), in the order of the classes
    mean: Array | None = None  # (n,)
    log_density: Array | None = None  # (n,) log p(y_i | x_i); None where a model has no density
    unseen: tuple[Any, ...] = ()  # classes that the model had not seen

    @classmethod
    def of_classes(cls, log_proba: Array, unseen: tuple[Any, ...] = ()) -> Self:
        return cls(log_proba=log_proba, unseen=unseen)

    @classmethod
    def of_numbers(cls, mean: Array, log_density: Array | None = None) -> Self:
        return cls(mean=mean, log_density=log_density)

    @property
    def log_p(self) -> Array:
        assert self.log_proba is not None, "a metric of classes was asked about numbers"
        return self.log_proba

    @property
    def means(self) -> Array:
        assert self.mean is not None, "a metric of numbers was asked about classes"
        return self.mean

    def rows(self, index: Array) -> "Prediction":
        """Some of the rows, by index or mask."""
        return replace(
            self,
            log_proba=None if self.log_proba is None else self.log_proba[index],
            mean=None if self.mean is None else self.mean[index],
            log_density=None if self.log_density is None else self.log_density[index],
        )


class Estimate(NamedTuple):
    """A metric's value, its interval, and what the best constant reaches on the same rows."""

    value: float
    low: float
    high: float
    constant: float


class Metric(ABC):
    """A number that says how good predictions are.  Instances are stateless values."""

    approximate = False  # True where the statistics are a summary that loses something
    needs_density = False  # True where a model without log p(y | x) has no value

    @property
    @abstractmethod
    def name(self) -> str:
        """In the registry: ``log-loss``."""

    @property
    @abstractmethod
    def title(self) -> str:
        """In tables and pictures: ``log loss``."""

    @property
    @abstractmethod
    def better(self) -> Better: ...

    @property
    @abstractmethod
    def tasks(self) -> frozenset[TargetKind]:
        """The kinds of task that it suits."""

    @abstractmethod
    def summary(self, truth: Truth, prediction: Prediction) -> Any:
        """The statistics of rows that all count: no weight is 0."""

    @abstractmethod
    def value(self, statistics: Any) -> float: ...

    @abstractmethod
    def interval(self, statistics: Any, level: float = 0.95) -> Ends: ...

    def likeness(self, truth: Truth, prediction: Prediction) -> Array:
        """A number per row, which shows how alike the rows of a group are to this metric."""
        if prediction.log_proba is not None:
            return (truth.y == prediction.log_p.argmax(axis=1)).astype(np.float64)
        return np.square(truth.y - prediction.means)

    def clustered_interval(
        self, truth: Truth, prediction: Prediction, groups: Codes, level: float = 0.95
    ) -> Ends:
        """As ``interval``, of rows that come in groups; of one group the whole range."""
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

    def constant_statistics(self, training: Truth, truth: Truth) -> Any:
        """Those of the constant that the training rows suggest, on ``truth``."""
        return self.statistics(truth, constant_prediction(training, truth))

    def best_constant(self, training: Truth, truth: Truth) -> float:
        """The value on ``truth`` of the constant that the training rows suggest."""
        return self.value(self.constant_statistics(training, truth))

    def constant_of_folds(self, truth: Truth, fold: Codes) -> float:
        """The value on all rows of constants that each were suggested by the other folds."""
        parts = [
            self.constant_statistics(truth.rows(fold != held), truth.rows(fold == held))
            for held in np.unique(fold)
        ]
        return self.value(reduce(add, parts))

    def suits(self, prediction: Prediction) -> bool:
        """Whether the prediction says what the metric asks."""
        return not self.needs_density or prediction.log_density is not None

    def estimate(
        self,
        training: Truth,
        truth: Truth,
        prediction: Prediction,
        *,
        level: float = 0.95,
        groups: Codes | None = None,
    ) -> Estimate:
        """Everything about one set of rows at once; ``groups`` are of its rows."""
        statistics = self.statistics(truth, prediction)
        low, high = self.interval(statistics, level)
        if groups is not None:
            present = truth.weights > 0
            truth, prediction, groups = (
                truth.rows(present),
                prediction.rows(present),
                groups[present],
            )
            low, high = self.clustered_interval(truth, prediction, groups, level)
        return Estimate(self.value(statistics), low, high, self.best_constant(training, truth))


def constant_prediction(training: Truth, truth: Truth) -> Prediction:
    """Of the best constant (``likely.metrics.baseline``) for each row of ``truth``."""
    n = len(truth.y)
    present = training.weights > 0
    y, weight = training.y[present], training.weights[present]
    if training.classes:
        log_share = class_log_shares(y, weight, len(training.classes))
        return Prediction.of_classes(np.tile(np.maximum(log_share, LOG_FLOOR), (n, 1)))
    level = best_level(training.kind, y, weight)
    return Prediction.of_numbers(np.full(n, level.mean), level.log_density(truth.y))
