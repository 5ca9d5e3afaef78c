"""Scores of classes: of their probabilities, and of the most probable one.

The scores of probabilities are proper, except the rank error:

    log loss   −log p(yᵢ | xᵢ)                       at most that of p = 2⁻⁵²
    Brier      (p₁ − y)² for two classes; Σ_k (p_k − 1[y = k])² for more

Ordered classes have two further scores:

    ranked probability score   Σ_{k<K} (P(Y ≤ k) − 1[y ≤ k])² / (K − 1)        0 to 1
    rank error                 |median of the prediction − y|, in classes

Scores of the most probable class are computed from one table of counts:

    C_kl = Σ w over rows of class k predicted as l          r_k = Σ_l C_kl,   c_l = Σ_k C_kl

    accuracy            Σ C_kk / n                  also micro F₁, with one label per row
    balanced accuracy   mean over classes of C_kk / r_k
    F₁ of class k       2 C_kk / (r_k + c_k)        macro: their mean
    κ                   (p_o − p_e)/(1 − p_e),      p_o = Σ C_kk / n,  p_e = Σ r_k c_k / n²

The mean of a score has Student's interval, whose upper end allows for one more surprise
(``metrics.surprise``).  Proportions have Wilson's interval: accuracy, each recall, and F₁ =
2J/(1 + J) through the share J = C_kk/(r_k + c_k − C_kk).  Kappa and macro F₁ are smooth functions
of the table and have that of the delta method, with a variance computed after adding z²
pseudo-observations that agree by chance only, so that a perfect table does not give an interval of
width 0.

References
----------
Epstein (1969), A scoring system for probability forecasts of ranked categories.
Gneiting & Raftery (2007), Strictly proper scoring rules, prediction, and estimation, JASA 102,
§3 and §4.
Fleiss, Cohen & Everitt (1969), Large sample standard errors of kappa, Psychological Bulletin 72.
Agresti & Coull (1998), Approximate is better than "exact", American Statistician 52.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import nan, sqrt
from typing import final

import numpy as np

from likely._typing import Array, Codes
from likely.kinds import CLASS_KINDS, TargetKind
from likely.metrics.base import MeanOfRows, Metric
from likely.metrics.calibration import EQUAL_WIDTH, Bins, ScoreParts, brier_parts, log_loss_parts
from likely.metrics.prediction import Prediction, RowValues, Truth, with_surprise
from likely.numerics.additive import FieldwiseAdditive
from likely.numerics.intervals import (
    Ends,
    clipped,
    mean_of_independent,
    normal_quantile,
    wilson,
)
from likely.special import LOG_FLOOR

MOST_BRIER = 2.0  # of several classes, certain of a wrong one; of two classes it is 1
ORDERED: frozenset[TargetKind] = frozenset({"ordinal"})
HALF = 0.5 - 1e-12  # a sum of probabilities that should be one half may round below it


@final
@dataclass(frozen=True, eq=False)
class ScoreStatistics(FieldwiseAdditive):
    """The rows' scores, and calibration bins for their decomposition."""

    score: RowValues
    bins: Bins


@dataclass(frozen=True)
class ProperScore(Metric):
    """The mean of a proper score per row.  ``edges`` are those of the bins of ``parts``."""

    edges: tuple[float, ...] = EQUAL_WIDTH

    better, tasks = "lower", CLASS_KINDS

    @abstractmethod
    def by_class(self, prediction: Prediction) -> Array:
        """The score of each row for each class that may happen, (n, K)."""

    @abstractmethod
    def parts(self, statistics: ScoreStatistics) -> ScoreParts:
        """Reliability, resolution, uncertainty, and the rest within bins."""

    def row_values(self, truth: Truth, prediction: Prediction) -> Array:
        """The score of each row, and what a surprise would cost: (n, 3)."""
        return with_surprise(self.by_class(prediction), truth, prediction)

    def summary(self, truth: Truth, prediction: Prediction) -> ScoreStatistics:
        score = RowValues.of(self.row_values(truth, prediction), truth.weights)
        return ScoreStatistics(score, Bins.of(truth, prediction, self.edges))

    def clustered_interval(
        self, truth: Truth, prediction: Prediction, groups: Codes, level: float = 0.95
    ) -> Ends:
        values = self.row_values(truth, prediction)
        score = RowValues.of_groups(values, truth.weights, groups)
        return self.interval(replace(self.statistics(truth, prediction), score=score), level)

    def value(self, statistics: ScoreStatistics) -> float:
        return statistics.score.first


@final
@dataclass(frozen=True)
class LogLoss(ProperScore):
    """The mean of −log p of the observed class, in nats per row."""

    name, title = "log-loss", "log loss"

    def by_class(self, prediction: Prediction) -> Array:
        return -prediction.log_p

    def interval(self, statistics: ScoreStatistics, level: float = 0.95) -> Ends:
        return clipped(statistics.score.loss_ends(level), 0.0, -LOG_FLOOR)

    def parts(self, statistics: ScoreStatistics) -> ScoreParts:
        return log_loss_parts(statistics.bins, self.value(statistics))


@final
@dataclass(frozen=True)
class Brier(ProperScore):
    """Squared distance of the probabilities from the outcome."""

    name, title = "brier", "Brier score"

    def by_class(self, prediction: Prediction) -> Array:
        p = np.exp(prediction.log_p)
        if p.shape[1] == 2:
            return np.square(p[:, ::-1])  # 1 − p of the class, without cancellation
        others = np.square(p).sum(axis=1, keepdims=True) - np.square(p)
        return np.asarray(others + np.square(1 - p))

    def interval(self, statistics: ScoreStatistics, level: float = 0.95) -> Ends:
        most = 1.0 if len(statistics.bins.weight) == 1 else MOST_BRIER
        return clipped(statistics.score.loss_ends(level), 0.0, most)

    def parts(self, statistics: ScoreStatistics) -> ScoreParts:
        return brier_parts(statistics.bins, self.value(statistics))


@final
@dataclass(frozen=True)
class RankedProbability(MeanOfRows):
    """The squared distance of the cumulative probabilities from the outcome."""

    name, title, better, tasks = "ranked-probability", "ranked probability score", "lower", ORDERED
    highest = 1.0

    def row_values(self, truth: Truth, prediction: Prediction) -> Array:
        below = np.cumsum(np.exp(prediction.log_p), axis=1)[:, :-1]  # P(Y ≤ k)
        n, cuts = below.shape
        under, over = np.zeros((n, cuts + 1)), np.zeros((n, cuts + 1))
        under[:, 1:] = np.cumsum(np.square(below), axis=1)  # of cuts below the class
        over[:, :-1] = np.cumsum(np.square(1 - below)[:, ::-1], axis=1)[:, ::-1]
        return with_surprise((under + over) / cuts, truth, prediction)


@final
@dataclass(frozen=True)
class RankError(MeanOfRows):
    """The distance, in classes, between the median of the prediction and the true class."""

    name, title, better, tasks = "rank-error", "mean rank error", "lower", ORDERED

    def row_values(self, truth: Truth, prediction: Prediction) -> Array:
        below = np.cumsum(np.exp(prediction.log_p), axis=1)
        median = (below >= HALF).argmax(axis=1)
        distance = np.abs(median[:, None] - np.arange(below.shape[1])).astype(np.float64)
        return with_surprise(distance, truth, prediction)


@final
@dataclass(frozen=True, eq=False)
class Confusion(FieldwiseAdditive):
    """The confusion matrix: rows are true classes, columns predicted classes."""

    counts: Array  # (K, K)

    @property
    def n(self) -> float:
        return float(self.counts.sum())

    @property
    def actual(self) -> Array:
        return np.asarray(self.counts.sum(axis=1))

    @property
    def predicted(self) -> Array:
        return np.asarray(self.counts.sum(axis=0))

    @property
    def right(self) -> Array:
        return np.diagonal(self.counts)

    def recall(self) -> Array:
        """C_kk / r_k; NaN for a class that does not occur."""
        return _share(self.right, self.actual)

    def precision(self) -> Array:
        """C_kk / c_k; NaN for a class that was never predicted."""
        return _share(self.right, self.predicted)

    def f1(self) -> Array:
        """F1 of each class; NaN where it neither occurs nor was predicted."""
        return _share(2 * self.right, self.actual + self.predicted)

    def f1_intervals(self, level: float = 0.95) -> list[Ends]:
        trials = self.actual + self.predicted - self.right
        return [
            _f1_ends(float(t), float(n), level) for t, n in zip(self.right, trials, strict=True)
        ]


def confusion_of(truth: Truth, prediction: Prediction) -> Confusion:
    """The table of true and predicted classes; the first of equally probable ones is predicted."""
    k = len(truth.classes) if prediction.log_proba is None else prediction.log_p.shape[1]
    cell = truth.y * k + prediction.predicted
    return Confusion(np.bincount(cell, weights=truth.weights, minlength=k * k).reshape(k, k))


class FromConfusion(Metric):
    """A metric that is a function of the table."""

    better = "higher"
    needs_probabilities = False

    def summary(self, truth: Truth, prediction: Prediction) -> Confusion:
        return confusion_of(truth, prediction)


@final
@dataclass(frozen=True)
class Accuracy(FromConfusion):
    """The share of correct predictions."""

    name, title, tasks = "accuracy", "accuracy", CLASS_KINDS

    def value(self, statistics: Confusion) -> float:
        return float(statistics.right.sum() / statistics.n) if statistics.n else nan

    def interval(self, statistics: Confusion, level: float = 0.95) -> Ends:
        return wilson(self.value(statistics), statistics.n, level)


@final
@dataclass(frozen=True)
class BalancedAccuracy(FromConfusion):
    """The mean recall of the classes that occur."""

    name, title, tasks = "balanced-accuracy", "balanced accuracy", CLASS_KINDS

    def value(self, statistics: Confusion) -> float:
        recall = statistics.recall()
        return float(recall[statistics.actual > 0].mean()) if statistics.n else nan

    def interval(self, statistics: Confusion, level: float = 0.95) -> Ends:
        seen = np.flatnonzero(statistics.actual > 0)
        if not seen.size:
            return 0.0, 1.0
        recall, n = statistics.recall()[seen], statistics.actual[seen]
        ends = [wilson(float(p), float(m), level) for p, m in zip(recall, n, strict=True)]
        low, high = np.array(ends).T
        return mean_of_independent(recall, low, high)


@final
@dataclass(frozen=True)
class F1(FromConfusion):
    """The harmonic mean of precision and recall of the second of two classes."""

    name, title, tasks = "f1", "F₁", frozenset({"binary"})

    def value(self, statistics: Confusion) -> float:
        return float(statistics.f1()[1])

    def interval(self, statistics: Confusion, level: float = 0.95) -> Ends:
        return statistics.f1_intervals(level)[1]

    def of_constant(self, constant: Prediction) -> Prediction:
        """The prediction of the second class for every row: no constant has a better F1."""
        return Prediction.of_classes(np.tile([-np.inf, 0.0], (len(constant.log_p), 1)))


@final
@dataclass(frozen=True)
class MacroF1(FromConfusion):
    """The mean F₁ of the classes that occur or were predicted."""

    name, title, tasks = "macro-f1", "macro F₁", CLASS_KINDS

    def value(self, statistics: Confusion) -> float:
        f1 = statistics.f1()
        return float(f1[~np.isnan(f1)].mean()) if statistics.n else nan

    def interval(self, statistics: Confusion, level: float = 0.95) -> Ends:
        ends = _delta_method(statistics, self.value(statistics), _macro_f1_slope, level)
        return clipped(ends, 0.0, 1.0)


@final
@dataclass(frozen=True)
class Kappa(FromConfusion):
    """Cohen's κ: agreement beyond chance."""

    name, title, tasks = "kappa", "Cohen's κ", CLASS_KINDS

    def value(self, statistics: Confusion) -> float:
        if not statistics.n:
            return nan
        n = statistics.n
        agreed = float(statistics.right.sum()) / n
        chance = float(np.dot(statistics.actual / n, statistics.predicted / n))
        return (agreed - chance) / (1 - chance) if chance < 1 else nan

    def interval(self, statistics: Confusion, level: float = 0.95) -> Ends:
        ends = _delta_method(statistics, self.value(statistics), _kappa_slope, level)
        return clipped(ends, -1.0, 1.0)


def _delta_method(
    confusion: Confusion, value: float, slope: Callable[[Array], Array], level: float
) -> Ends:
    """value ± z √(Var[slope] / n), the variance over the cells of the table."""
    z, n = normal_quantile(level), confusion.n
    if not n or np.isnan(value):
        return -np.inf, np.inf
    chance = np.outer(confusion.actual, confusion.predicted) / n**2
    p = (confusion.counts + z**2 * chance) / (n + z**2)
    g = slope(p)
    variance = float((p * np.square(g)).sum() - (p * g).sum() ** 2)
    half = z * sqrt(max(variance, 0.0) / n)
    return value - half, value + half


def _kappa_slope(p: Array) -> Array:
    """∂κ/∂p_kl; ∂p_e/∂p_kl = c_k + r_l."""
    r, c = p.sum(axis=1), p.sum(axis=0)
    left = max(1 - float(np.dot(r, c)), np.finfo(float).tiny)  # 1 − p_e
    wrong = 1 - float(np.trace(p))
    return (np.eye(len(p)) * left - wrong * (c[:, None] + r[None, :])) / left**2


def _macro_f1_slope(p: Array) -> Array:
    """∂/∂p_kl of the mean of 2 p_kk/(r_k + c_k)."""
    size = p.sum(axis=1) + p.sum(axis=0)
    used = size > 0
    size = np.where(used, size, 1.0)
    loss = 2 * np.diagonal(p) / size**2
    g = np.diag(2 / size * used) - loss[:, None] - loss[None, :]
    return np.asarray(g / used.sum())


def _f1_ends(right: float, trials: float, level: float) -> Ends:
    low, high = wilson(right / trials if trials else nan, trials, level)
    return 2 * low / (1 + low), 2 * high / (1 + high)


def _share(part: Array, whole: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.asarray(part / whole)
