"""Calibration: predicted probabilities in bins, compared with observed shares.

With n_b rows in bin b, their mean prediction p̄_b and observed share ō_b, and ō of all rows:

    Brier      = Σ (n_b/n)(p̄_b − ō_b)²     − Σ (n_b/n)(ō_b − ō)²     + ō(1 − ō)  + rest
    log loss   = Σ (n_b/n) KL(ō_b ‖ p̄_b)   − Σ (n_b/n) KL(ō_b ‖ ō)   + H(ō)      + rest
                 reliability                 resolution                uncertainty

The rest comes from the variation of predictions within a bin; it is 0 without variation.  Two
classes are one event, the second class; several are one event each, and their Brier parts add up.
The log loss of several classes is not a sum over events, so its parts are given for two classes
only.

Expected calibration error, the mean distance between the two:

    ECE = Σ_b (n_b/n) |p̄_b − ō_b|

Two classes: bins of the probability of the second.  More: bins of the largest probability, compared
with how often that class was observed.  By default ten bins of equal width.

Sampling alone makes the error positive, so the interval is the basic bootstrap's, which moves
down by the bias that resampling shows: (2·ECE − q_high, 2·ECE − q_low), extended to contain the
estimate.  Its low end is 0 where a calibrated model would have such an error as often, and its high
end is at least the error of a calibrated model by chance.  Cells are drawn as Poisson counts with
their totals as means, which is the Poisson bootstrap of their rows with the predictions of a cell
at their mean.

References
----------
Naeini, Cooper & Hauskrecht (2015), Obtaining well calibrated probabilities, AAAI, §4.
Davison & Hinkley, Bootstrap Methods and their Application, §5.2 (the basic interval).
Murphy (1973), A new vector partition of the probability score, J. Applied Meteorology 12.
Stephenson, Coelho & Jolliffe (2008), Two extra components in the Brier score decomposition.
Bröcker (2009), Reliability, sufficiency, and the decomposition of proper scores, QJRMS 135.
"""

from dataclasses import dataclass
from math import nan
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.information import bernoulli_cross_entropy
from likely.kinds import CLASS_KINDS
from likely.metrics.base import Metric
from likely.metrics.prediction import Prediction, Truth
from likely.numerics.additive import FieldwiseAdditive
from likely.numerics.intervals import Ends, wilson

N_BINS = 10
EQUAL_WIDTH = tuple(k / N_BINS for k in range(N_BINS + 1))
FEWEST = 1.0  # rows, or what rows in few groups are worth: with fewer, most draws would be empty
DRAWS = 1000  # of the bootstrap: ends move by about 3 % of the width from seed to seed


class ScoreParts(NamedTuple):
    """score = reliability − resolution + uncertainty + rest."""

    reliability: float  # what miscalibration costs
    resolution: float  # what telling rows apart gains
    uncertainty: float  # the score of the rows' own class shares
    rest: float  # from predictions that differ within a bin


class Bin(NamedTuple):
    """One point of a reliability diagram."""

    low: float
    high: float
    weight: float
    predicted: float  # mean; NaN of an empty bin
    observed: float
    interval: Ends  # Wilson's, of the observed share


@final
@dataclass(frozen=True, eq=False)
class Bins(FieldwiseAdditive):
    """Sums per event and bin."""

    weight: Array  # (n_events, n_bins)
    predicted: Array  # Σ w p
    observed: Array  # Σ w of rows where the event happened

    @classmethod
    def of(cls, truth: Truth, prediction: Prediction, edges: tuple[float, ...]) -> "Bins":
        """The sums by event: the second of two classes, or each of several classes."""
        p = np.exp(prediction.log_p)
        events = [1] if p.shape[1] == 2 else range(p.shape[1])
        parts = [binned(p[:, k], truth.y == k, truth.weights, edges) for k in events]
        return cls(*(np.stack(sums) for sums in zip(*parts, strict=True)))

    @property
    def predicted_share(self) -> Array:
        return _ratio(self.predicted, self.weight)

    @property
    def observed_share(self) -> Array:
        return _ratio(self.observed, self.weight)


def binned(p: Array, actual: Array, weight: Array, edges: tuple[float, ...]) -> list[Array]:
    """Σ w, Σ w p and Σ w·actual in each bin; the last one is closed above."""
    n_bins = len(edges) - 1
    place = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, n_bins - 1)
    sums = (weight, weight * p, weight * actual)
    return [np.bincount(place, weights=each, minlength=n_bins) for each in sums]


def quantile_edges(p: Array, n_bins: int = N_BINS) -> tuple[float, ...]:
    """Edges with equal numbers of predictions in each bin; fewer bins where many are equal."""
    inner = np.quantile(p, np.arange(1, n_bins) / n_bins)
    inside = np.unique(inner[(inner > 0) & (inner < 1)])
    return (0.0, *map(float, inside), 1.0)


def reliability_curve(
    bins: Bins, edges: tuple[float, ...], *, event: int = 0, level: float = 0.95
) -> list[Bin]:
    """The bins of one event, empty ones included."""
    predicted, observed = bins.predicted_share[event], bins.observed_share[event]
    return [
        Bin(
            edges[b],
            edges[b + 1],
            float(bins.weight[event, b]),
            float(predicted[b]),
            float(observed[b]),
            wilson(float(observed[b]), float(bins.weight[event, b]), level),
        )
        for b in range(len(edges) - 1)
    ]


def brier_parts(bins: Bins, score: float) -> ScoreParts:
    """The parts of the Brier score, added over the events."""
    n = bins.weight[0].sum()
    share = bins.weight / n
    overall = bins.observed.sum(axis=1, keepdims=True) / n
    predicted, observed = bins.predicted_share, bins.observed_share
    reliability = float(np.nansum(share * np.square(predicted - observed)))
    resolution = float(np.nansum(share * np.square(observed - overall)))
    uncertainty = float((overall * (1 - overall)).sum())
    return _with_rest(reliability, resolution, uncertainty, score)


def log_loss_parts(bins: Bins, score: float) -> ScoreParts:
    """The parts of the log loss of two classes; NaN for more."""
    if len(bins.weight) > 1:
        return ScoreParts(nan, nan, nan, nan)
    n, used = bins.weight[0].sum(), bins.weight[0] > 0
    share = bins.weight[0][used] / n
    overall = np.full(len(share), bins.observed[0].sum() / n)
    predicted, observed = bins.predicted_share[0][used], bins.observed_share[0][used]
    own = bernoulli_cross_entropy(observed, observed)
    reliability = float(np.dot(share, bernoulli_cross_entropy(observed, predicted) - own))
    resolution = float(np.dot(share, bernoulli_cross_entropy(observed, overall) - own))
    uncertainty = float(bernoulli_cross_entropy(overall[0], overall[0]))
    return _with_rest(reliability, resolution, uncertainty, score)


def _with_rest(
    reliability: float, resolution: float, uncertainty: float, score: float
) -> ScoreParts:
    rest = score - (reliability - resolution + uncertainty)
    return ScoreParts(reliability, resolution, uncertainty, rest)


def _ratio(total: Array, weight: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.asarray(total / weight)  # NaN of an empty bin


@final
@dataclass(frozen=True)
class CalibrationError(Metric):
    """ECE on given bins."""

    edges: tuple[float, ...] = EQUAL_WIDTH

    name, title, better, tasks = "calibration-error", "calibration error", "lower", CLASS_KINDS

    @classmethod
    def on_quantiles(cls, prediction: Prediction, n_bins: int = 10) -> "CalibrationError":
        """The error on bins that hold equal shares of these predictions."""
        return cls(quantile_edges(_confidence(prediction), n_bins))

    def likeness(self, truth: Truth, prediction: Prediction) -> Array:
        """The signed difference between each row's probability and its outcome."""
        return _actual(truth, prediction) - _confidence(prediction)

    def summary(self, truth: Truth, prediction: Prediction) -> Bins:
        right = _actual(truth, prediction)
        parts = binned(_confidence(prediction), right, truth.weights, self.edges)
        return Bins(*(sums[None] for sums in parts))

    def value(self, statistics: Bins) -> float:
        if not statistics.weight.sum() > 0:
            return nan
        return float(_error(statistics.weight, statistics.predicted, statistics.observed)[0])

    def interval(self, statistics: Bins, level: float = 0.95) -> Ends:
        weight, share = statistics.weight[0], np.nan_to_num(statistics.predicted_share[0])
        if weight.sum() < FEWEST:
            return 0.0, 1.0
        here = self.value(statistics)
        low, high = np.quantile(
            _drawn_errors(weight, share, statistics.observed[0]), [(1 - level) / 2, (1 + level) / 2]
        )
        by_chance = np.quantile(_drawn_errors(weight, share, weight * share), (1 + level) / 2)
        least = 0.0 if here <= by_chance else max(2 * here - float(high), 0.0)
        return min(least, here), max(2 * here - float(low), here, float(by_chance))

    def curve(self, statistics: Bins, level: float = 0.95) -> list[Bin]:
        """The bins with their intervals: a reliability diagram."""
        return reliability_curve(statistics, self.edges, level=level)


def _actual(truth: Truth, prediction: Prediction) -> Array:
    """Whether the class whose probability is binned was observed."""
    two = prediction.log_p.shape[1] == 2
    return np.asarray(truth.y == (1 if two else prediction.log_p.argmax(axis=1)))


def _confidence(prediction: Prediction) -> Array:
    log_p = prediction.log_p
    return np.exp(log_p[:, 1] if log_p.shape[1] == 2 else log_p.max(axis=1))


def _error(weight: Array, predicted: Array, observed: Array) -> Array:
    """Σ_b |Σ w p − Σ w o| / n for each row of sums."""
    return np.asarray(np.abs(predicted - observed).sum(axis=1) / weight.sum(axis=1))


def _drawn_errors(weight: Array, share: Array, observed: Array) -> Array:
    """Calibration errors of bootstrap draws from this table; equal totals give equal draws."""
    rng = np.random.default_rng(0)
    events = rng.poisson(observed, (DRAWS, len(weight)))
    total = events + rng.poisson(np.maximum(weight - observed, 0.0), events.shape)
    kept = total.sum(axis=1) > 0
    return _error(total[kept], (total * share)[kept], events[kept])
