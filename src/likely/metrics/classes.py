"""Scores of class probabilities; all but the rank error are proper.

    log loss   −log p(yᵢ | xᵢ)                       at most that of p = 2⁻⁵²
    Brier      (p₁ − y)² of two classes; Σ_k (p_k − 1[y = k])² of more

Ordered classes have two scores of their own:

    ranked probability score   Σ_{k<K} (P(Y ≤ k) − 1[y ≤ k])² / (K − 1)        0 to 1
    rank error                 |median of the prediction − y|, in classes

References
----------
Epstein (1969), A scoring system for probability forecasts of ranked categories.
Gneiting & Raftery (2007), Strictly proper scoring rules, prediction, and estimation, JASA 102,
§3 and §4.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from likely._typing import Array, Codes
from likely.additive import FieldwiseAdditive
from likely.intervals import Ends, clipped
from likely.kinds import CLASS_KINDS, TargetKind
from likely.metrics.base import MeanOfRows, Metric
from likely.metrics.calibration import EQUAL_WIDTH, Bins, Parts, brier_parts, log_loss_parts
from likely.metrics.prediction import Prediction, Truth
from likely.moments import Moments
from likely.special import LOG_FLOOR

MOST_BRIER = 2.0  # of several classes, certain of a wrong one; of two classes it is 1
ORDERED: frozenset[TargetKind] = frozenset({"ordinal"})
HALF = 0.5 - 1e-12  # a sum of probabilities that should be one half may round below it


@final
@dataclass(frozen=True, eq=False)
class ScoreStatistics(FieldwiseAdditive):
    """The rows' scores, and calibration bins for taking them apart."""

    score: Moments
    bins: Bins


@dataclass(frozen=True)
class ProperScore(Metric):
    """The mean of a proper score per row.  ``edges`` are those of the bins of ``parts``."""

    edges: tuple[float, ...] = EQUAL_WIDTH

    better, tasks = "lower", CLASS_KINDS

    @abstractmethod
    def row_values(self, truth: Truth, prediction: Prediction) -> Array:
        """The score of each row, (n,)."""

    @abstractmethod
    def parts(self, statistics: ScoreStatistics) -> Parts:
        """Reliability, resolution, uncertainty, and what the bins leave over."""

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


@final
@dataclass(frozen=True)
class LogLoss(ProperScore):
    """Nats of surprise per row."""

    name, title = "log-loss", "log loss"

    def row_values(self, truth: Truth, prediction: Prediction) -> Array:
        return prediction.losses(truth)

    def interval(self, statistics: ScoreStatistics, level: float = 0.95) -> Ends:
        return clipped(statistics.score.ends(level), 0.0, -LOG_FLOOR)

    def parts(self, statistics: ScoreStatistics) -> Parts:
        return log_loss_parts(statistics.bins, self.value(statistics))


@final
@dataclass(frozen=True)
class Brier(ProperScore):
    """Squared distance of the probabilities from what happened."""

    name, title = "brier", "Brier score"

    def row_values(self, truth: Truth, prediction: Prediction) -> Array:
        p = np.exp(prediction.log_p)
        if p.shape[1] == 2:
            return np.square(p[:, 1] - truth.y)
        happened = np.take_along_axis(p, truth.y[:, None], axis=1)[:, 0]
        others = np.square(p).sum(axis=1) - np.square(happened)
        return others + np.square(1 - happened)

    def interval(self, statistics: ScoreStatistics, level: float = 0.95) -> Ends:
        most = 1.0 if len(statistics.bins.weight) == 1 else MOST_BRIER
        return clipped(statistics.score.ends(level), 0.0, most)

    def parts(self, statistics: ScoreStatistics) -> Parts:
        return brier_parts(statistics.bins, self.value(statistics))


@final
@dataclass(frozen=True)
class RankedProbability(MeanOfRows):
    """The squared distance of the cumulative probabilities from what happened."""

    name, title, better, tasks = "ranked-probability", "ranked probability score", "lower", ORDERED
    highest = 1.0

    def row_values(self, truth: Truth, prediction: Prediction) -> Array:
        below = np.cumsum(np.exp(prediction.log_p), axis=1)[:, :-1]  # P(Y ≤ k)
        happened = truth.y[:, None] <= np.arange(below.shape[1])
        return np.square(below - happened).sum(axis=1) / below.shape[1]


@final
@dataclass(frozen=True)
class RankError(MeanOfRows):
    """How many classes the median of the prediction is off."""

    name, title, better, tasks = "rank-error", "mean rank error", "lower", ORDERED

    def row_values(self, truth: Truth, prediction: Prediction) -> Array:
        below = np.cumsum(np.exp(prediction.log_p), axis=1)
        median = (below >= HALF).argmax(axis=1)
        return np.abs(median - truth.y).astype(np.float64)
