"""Proper scores of class probabilities.

    log loss   −log p(yᵢ | xᵢ)                       inf where the model denied what happened
    Brier      (p₁ − y)² of two classes; Σ_k (p_k − 1[y = k])² of more

References
----------
Gneiting & Raftery (2007), Strictly proper scoring rules, prediction, and estimation, JASA 102, §3.
"""

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from likely._typing import Array, Codes
from likely.additive import FieldwiseAdditive
from likely.intervals import Ends, clipped
from likely.kinds import CLASS_KINDS
from likely.metrics.base import Metric
from likely.metrics.bins import EQUAL_WIDTH, Bins, Parts, brier_parts, log_loss_parts
from likely.metrics.prediction import Prediction, Truth
from likely.moments import Moments

MOST_BRIER = 2.0  # of several classes, certain of a wrong one; of two classes it is 1


@final
@dataclass(frozen=True, eq=False)
class ScoreStatistics(FieldwiseAdditive):
    """The rows' scores, and calibration bins for taking them apart."""

    score: Moments
    bins: Bins


@final
@dataclass(frozen=True)
class LogLoss(Metric):
    """Nats of surprise per row.  ``edges`` are those of the bins of ``parts``."""

    edges: tuple[float, ...] = EQUAL_WIDTH

    name, title, better, tasks = "log-loss", "log loss", "lower", CLASS_KINDS

    def row_values(self, truth: Truth, prediction: Prediction) -> Array:
        return prediction.losses(truth)

    def summary(self, truth: Truth, prediction: Prediction) -> ScoreStatistics:
        score = Moments.of(self.row_values(truth, prediction), truth.weights)
        return ScoreStatistics(score, Bins.of(truth, prediction, self.edges))

    def clustered_interval(
        self, truth: Truth, prediction: Prediction, groups: Codes, level: float = 0.95
    ) -> Ends:
        values = self.row_values(truth, prediction)
        score = Moments.of_groups(values, truth.weights, groups)
        return self.interval(replace(self.statistics(truth, prediction), score=score), level)

    def value(self, statistics: ScoreStatistics) -> float:
        return statistics.score.first

    def interval(self, statistics: ScoreStatistics, level: float = 0.95) -> Ends:
        return clipped(statistics.score.ends(level), 0.0, np.inf)

    def parts(self, statistics: ScoreStatistics) -> Parts:
        """Reliability, resolution, uncertainty, and what the bins leave over."""
        return log_loss_parts(statistics.bins, self.value(statistics))


@final
@dataclass(frozen=True)
class Brier(Metric):
    """Squared distance from what happened.  ``edges`` are those of the bins of ``parts``."""

    edges: tuple[float, ...] = EQUAL_WIDTH

    name, title, better, tasks = "brier", "Brier score", "lower", CLASS_KINDS

    def row_values(self, truth: Truth, prediction: Prediction) -> Array:
        p = np.exp(prediction.log_p)
        if p.shape[1] == 2:
            return np.square(p[:, 1] - truth.y)
        happened = np.take_along_axis(p, truth.y[:, None], axis=1)[:, 0]
        others = np.square(p).sum(axis=1) - np.square(happened)
        return others + np.square(1 - happened)

    def summary(self, truth: Truth, prediction: Prediction) -> ScoreStatistics:
        score = Moments.of(self.row_values(truth, prediction), truth.weights)
        return ScoreStatistics(score, Bins.of(truth, prediction, self.edges))

    def clustered_interval(
        self, truth: Truth, prediction: Prediction, groups: Codes, level: float = 0.95
    ) -> Ends:
        values = self.row_values(truth, prediction)
        score = Moments.of_groups(values, truth.weights, groups)
        return self.interval(replace(self.statistics(truth, prediction), score=score), level)

    def value(self, statistics: ScoreStatistics) -> float:
        return statistics.score.first

    def interval(self, statistics: ScoreStatistics, level: float = 0.95) -> Ends:
        most = 1.0 if len(statistics.bins.weight) == 1 else MOST_BRIER
        return clipped(statistics.score.ends(level), 0.0, most)

    def parts(self, statistics: ScoreStatistics) -> Parts:
        """Reliability, resolution, uncertainty, and what the bins leave over."""
        return brier_parts(statistics.bins, self.value(statistics))
