"""How well probabilities order rows: the area under the ROC curve, and average precision.

Over the levels v of the score, with pos_v and neg_v the weights of positive and negative rows, with
sums M and N:

    AUC = Σ_v pos_v (neg below v + ½ neg_v) / MN         ties count one half
    AP  = Σ_v (pos_v / M) · precision at or above v      v from the top down

The exact statistics keep the rows (their scores and classes).  The approximate ones are a histogram
of log-odds, which merges in constant memory: rows of one bin are ties, so the error of the AUC is
at most half the share of pairs in the same bin.

DeLong's variance is that of the mean of placement values; written as the sum of squared
influences ψᵢ of rows, it is valid for the mean over classes too.  The interval is symmetric in the
log-odds of the AUC.  For rows in groups, influences are summed in each group before they are
squared, as in Obuchowski (1997).  AP is treated as a proportion of M trials, with Wilson's
interval.

Where nearly all pairs are in order, the rows have no variance to estimate, so the ends are also at
least those of the score interval that takes the variance at the end itself (Newcombe's method 5,
with the variance of Hanley and McNeil):

    all A with |Â − A| ≤ z √V(A),   V(A) = A(1−A)/MN · (1 + (m−1)(1−A)/(2−A) + (m−1)A/(1+A)),
                                    m = (M+N)/2

References
----------
DeLong, DeLong & Clarke-Pearson (1988), Comparing the areas under ROC curves, Biometrics 44.
Hanley & McNeil (1982), The meaning and use of the area under a ROC curve, Radiology 143.
Newcombe (2006), Confidence intervals for an effect size measure based on the Mann–Whitney
statistic, part 2, Statistics in Medicine 25 (method 5).
Obuchowski (1997), Nonparametric analysis of clustered ROC curve data, Biometrics 53.
Boyd, Eng & Page (2013), Area under the precision-recall curve: point estimates and confidence
intervals, ECML (the binomial model of AP).
"""

from dataclasses import dataclass
from math import exp, log, nan, sqrt
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.kinds import CLASS_KINDS
from likely.metrics.base import Metric
from likely.metrics.prediction import Prediction, Truth
from likely.numerics.additive import Additive, FieldwiseAdditive
from likely.numerics.intervals import (
    Ends,
    group_totals,
    mean_of_independent,
    normal_quantile,
    student_quantile,
    wilson,
)

NEAR_ONE = 1e-9  # at 0 and 1 both sides of the equation of an end are 0
BINNED_LOG_ODDS = np.linspace(-20.0, 20.0, 4097)  # edges, 0.01 nats apart; the ends are open


class Levels(NamedTuple):
    """Distinct scores of one event, ascending."""

    positive: Array  # weight of rows where it happened
    negative: Array


@final
@dataclass(frozen=True, eq=False)
class RankedRows(Additive):
    """The rows themselves."""

    score: Array  # (n, n_events), log p of the event
    actual: Array  # (n, n_events)
    weight: Array  # (n,)

    def __add__(self, other: "RankedRows") -> "RankedRows":
        return RankedRows(
            np.concatenate([self.score, other.score]),
            np.concatenate([self.actual, other.actual]),
            np.concatenate([self.weight, other.weight]),
        )

    def levels(self) -> list[Levels]:
        return [self._event(k)[0] for k in range(self.score.shape[1])]

    def auc_deviation(self) -> float:
        """The standard error of the mean AUC, by the influence of each row on all events."""
        return sqrt(float(np.dot(self.weight, np.square(self._auc_influence()))))

    def clustered_auc_deviation(self, groups: Codes) -> float:
        """The standard deviation of the AUC of rows in groups, of which there are at least two."""
        totals = group_totals(self.weight * self._auc_influence(), groups)
        return sqrt(len(totals) / (len(totals) - 1) * float(np.square(totals).sum()))

    def _auc_influence(self) -> Array:
        """ψ of each row, the mean over events; NaN where no event has both kinds of rows."""
        total, used = np.zeros(len(self.weight)), 0
        for k in range(self.score.shape[1]):
            levels, place = self._event(k)
            if _has_both(levels):
                of_positive, of_negative = _influences(levels)
                total += np.where(self.actual[:, k], of_positive[place], of_negative[place])
                used += 1
        return total / used if used else np.full(len(total), nan)

    def _event(self, k: int) -> tuple[Levels, Array]:
        values, place = np.unique(self.score[:, k], return_inverse=True)
        actual = self.actual[:, k]
        positive = np.bincount(place, self.weight * actual, minlength=len(values))
        negative = np.bincount(place, self.weight * ~actual, minlength=len(values))
        return Levels(positive, negative), place


@final
@dataclass(frozen=True, eq=False)
class RankHistogram(FieldwiseAdditive):
    """Weights in bins of log-odds."""

    positive: Array  # (n_events, n_bins)
    negative: Array

    def levels(self) -> list[Levels]:
        return [Levels(*pair) for pair in zip(self.positive, self.negative, strict=True)]

    def auc_deviation(self) -> float:
        """A bound on the standard deviation, as if all events were perfectly correlated."""
        each = [_deviation(levels) for levels in self.levels() if _has_both(levels)]
        return float(np.mean(each)) if each else nan


def ranked_rows(truth: Truth, prediction: Prediction) -> RankedRows:
    """The scores by event: the second of two classes, or each of several classes."""
    events = _events(prediction)
    return RankedRows(prediction.log_p[:, events], truth.y[:, None] == events, truth.weights)


def rank_histogram(truth: Truth, prediction: Prediction) -> RankHistogram:
    n_bins = len(BINNED_LOG_ODDS) - 1
    sums: list[list[Array]] = [[], []]
    for k in _events(prediction):
        place = np.searchsorted(BINNED_LOG_ODDS[1:-1], _log_odds(prediction.log_p[:, k]), "right")
        for kind, rows in enumerate((truth.y == k, truth.y != k)):
            sums[kind].append(np.bincount(place, truth.weights * rows, minlength=n_bins))
    return RankHistogram(np.stack(sums[0]), np.stack(sums[1]))


class Ranking(Metric):
    """A metric of the ranking of rows; ``exact`` keeps all rows."""

    exact: bool
    better = "higher"

    @property
    def approximate(self) -> bool:  # type: ignore[override]  # a constant of other metrics
        return not self.exact

    def of_constant(self, constant: Prediction) -> Prediction:
        """One prediction for every row: constants of different folds do not rank rows."""
        return Prediction.of_classes(np.broadcast_to(constant.log_p[:1], constant.log_p.shape))

    def summary(self, truth: Truth, prediction: Prediction) -> Any:
        return (ranked_rows if self.exact else rank_histogram)(truth, prediction)


@final
@dataclass(frozen=True)
class AUC(Ranking):
    """The probability that a row of the class scores above one of another; ½ is chance.

    For several classes the mean of each against the rest, over those that occur.
    """

    exact: bool = True

    tasks = CLASS_KINDS

    @property
    def name(self) -> str:
        return "auc" if self.exact else "auc-approximate"

    @property
    def title(self) -> str:
        return "AUC" if self.exact else "AUC (approximate)"

    def value(self, statistics: RankedRows | RankHistogram) -> float:
        each = [_auc(levels) for levels in statistics.levels() if _has_both(levels)]
        return float(np.mean(each)) if each else nan

    def interval(self, statistics: RankedRows | RankHistogram, level: float = 0.95) -> Ends:
        here, deviation = self.value(statistics), statistics.auc_deviation()
        if np.isnan(here):
            return 0.0, 1.0
        z = normal_quantile(level)
        used = [levels for levels in statistics.levels() if _has_both(levels)]
        low, high = np.array([_score_ends(levels, z) for levels in used]).T
        own = mean_of_independent(np.array([_auc(levels) for levels in used]), low, high)
        return _outer(own, _about_auc(here, z * deviation))

    def clustered_interval(
        self, truth: Truth, prediction: Prediction, groups: Codes, level: float = 0.95
    ) -> Ends:
        n_groups = len(np.unique(groups))
        rows = ranked_rows(truth, prediction)
        fewer = super().clustered_interval(truth, prediction, groups, level)
        if n_groups < 2 or np.isnan(self.value(rows)):
            return fewer
        half = student_quantile(level, n_groups - 1) * rows.clustered_auc_deviation(groups)
        return _outer(fewer, _about_auc(self.value(rows), half))


@final
@dataclass(frozen=True)
class AveragePrecision(Ranking):
    """The mean precision at the rows of the second class; by chance, the share of the class."""

    exact: bool = True

    tasks = frozenset({"binary"})

    @property
    def name(self) -> str:
        return "average-precision" if self.exact else "average-precision-approximate"

    @property
    def title(self) -> str:
        return "average precision" if self.exact else "average precision (approximate)"

    def value(self, statistics: RankedRows | RankHistogram) -> float:
        positive, negative = (levels[::-1] for levels in statistics.levels()[0])
        if not positive.sum() > 0:
            return nan
        above = np.cumsum(positive)
        predicted = above + np.cumsum(negative)
        precision = np.divide(above, predicted, out=np.zeros_like(above), where=predicted > 0)
        return float(np.dot(positive, precision) / positive.sum())

    def interval(self, statistics: RankedRows | RankHistogram, level: float = 0.95) -> Ends:
        here = self.value(statistics)
        trials = float(statistics.levels()[0].positive.sum())
        return (0.0, 1.0) if np.isnan(here) else wilson(here, trials, level)


def _outer(one: Ends, other: Ends) -> Ends:
    return min(one[0], other[0]), max(one[1], other[1])


def _score_ends(levels: Levels, z: float) -> Ends:
    """Both A with |Â − A| = z √V(A); 0 or 1 where there is none on that side."""
    from scipy.optimize import brentq

    here, (m, n) = _auc(levels), (float(each.sum()) for each in levels)
    more = max((m + n) / 2 - 1, 0.0)

    def beyond(a: float) -> float:
        spread = 1 + more * (1 - a) / (2 - a) + more * a / (1 + a)
        return (here - a) ** 2 - z * z * a * (1 - a) / (m * n) * spread

    low = brentq(beyond, 0.0, here) if here > 0 and beyond(here) < 0 else None
    high = brentq(beyond, here, 1.0) if here < 1 and beyond(here) < 0 else None
    if here >= 1:
        low, high = brentq(beyond, 0.0, 1 - NEAR_ONE), 1.0
    elif here <= 0:
        low, high = 0.0, brentq(beyond, NEAR_ONE, 1.0)
    return 0.0 if low is None else float(low), 1.0 if high is None else float(high)


def _about_auc(here: float, half: float) -> Ends:
    """The interval of an AUC, symmetric in the log-odds; only the AUC itself at 0 and at 1."""
    if not (0 < here < 1 and half > 0):
        return here, here
    log_odds, half = log(here / (1 - here)), half / (here * (1 - here))
    return _expit(log_odds - half), _expit(log_odds + half)


def _events(prediction: Prediction) -> Array:
    k = prediction.log_p.shape[1]
    return np.array([1]) if k == 2 else np.arange(k)


def _log_odds(log_p: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(log_p - np.log(-np.expm1(np.minimum(log_p, 0.0))))


def _has_both(levels: Levels) -> bool:
    return bool(levels.positive.sum() > 0 and levels.negative.sum() > 0)


def _placements(levels: Levels) -> tuple[Array, Array]:
    """For each level, the share of negatives below it, and of positives above it."""
    positive, negative = levels
    below = np.cumsum(negative) - negative / 2
    above = positive.sum() - np.cumsum(positive) + positive / 2
    return below / negative.sum(), above / positive.sum()


def _auc(levels: Levels) -> float:
    below, _ = _placements(levels)
    return float(np.dot(levels.positive, below) / levels.positive.sum())


def _influences(levels: Levels) -> tuple[Array, Array]:
    """ψ of a positive and of a negative row at each level; Σ w ψ² is DeLong's variance."""
    below, above = _placements(levels)
    auc = _auc(levels)
    scale = [sqrt(1 / (m * max(m - 1, 1.0))) for m in (each.sum() for each in levels)]
    return (below - auc) * scale[0], (above - auc) * scale[1]


def _deviation(levels: Levels) -> float:
    of_positive, of_negative = _influences(levels)
    return sqrt(
        float(np.dot(levels.positive, of_positive**2) + np.dot(levels.negative, of_negative**2))
    )


def _expit(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))
