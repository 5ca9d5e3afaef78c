"""Expected calibration error: how far probabilities are from how often things happen.

    ECE = Σ_b (n_b/n) |p̄_b − ō_b|

Two classes: bins of the probability of the second.  More: bins of the largest probability, beside
how often that class was right.  By default ten bins of equal width.

Sampling alone makes the error positive, so the interval is the basic bootstrap's, which moves
down by the bias that resampling shows: (2·ECE − q_high, 2·ECE − q_low), made to hold the estimate.
Its low end is 0 where a calibrated model would as likely show such an error, and its high end is
what one shows by chance at least.  Cells are drawn as
Poisson counts about their totals, which is the Poisson bootstrap of their rows with the
predictions of a cell at their mean.

References
----------
Naeini, Cooper & Hauskrecht (2015), Obtaining well calibrated probabilities, AAAI, §4.
Davison & Hinkley, Bootstrap Methods and their Application, §5.2 (the basic interval).
"""

from dataclasses import dataclass
from math import nan
from typing import final

import numpy as np

from likely._typing import Array
from likely.intervals import Ends
from likely.kinds import CLASS_KINDS
from likely.metrics.base import Metric
from likely.metrics.bins import (
    EQUAL_WIDTH,
    Bin,
    Bins,
    binned,
    quantile_edges,
    reliability_curve,
)
from likely.metrics.prediction import Prediction, Truth

FEWEST = 1.0  # rows, or what rows in few groups are worth: with less, hardly a draw has a row
DRAWS = 1000  # of the bootstrap: ends move by about 3 % of the width from seed to seed


@final
@dataclass(frozen=True)
class CalibrationError(Metric):
    """ECE on stated bins."""

    edges: tuple[float, ...] = EQUAL_WIDTH

    name, title, better, tasks = "calibration-error", "calibration error", "lower", CLASS_KINDS

    @classmethod
    def on_quantiles(cls, prediction: Prediction, n_bins: int = 10) -> "CalibrationError":
        """With bins that hold equal shares of these predictions."""
        return cls(quantile_edges(_confidence(prediction), n_bins))

    def likeness(self, truth: Truth, prediction: Prediction) -> Array:
        """How far each row's probability is from what happened, with the sign."""
        return _happened(truth, prediction) - _confidence(prediction)

    def summary(self, truth: Truth, prediction: Prediction) -> Bins:
        right = _happened(truth, prediction)
        parts = binned(_confidence(prediction), right, truth.weights, self.edges)
        return Bins(*(sums[None] for sums in parts))

    def value(self, statistics: Bins) -> float:
        if not statistics.weight.sum() > 0:
            return nan
        return float(_error(statistics.weight, statistics.predicted, statistics.observed)[0])

    def interval(self, statistics: Bins, level: float = 0.95) -> Ends:
        weight, said = statistics.weight[0], np.nan_to_num(statistics.predicted_share[0])
        if weight.sum() < FEWEST:
            return 0.0, 1.0
        here = self.value(statistics)
        low, high = np.quantile(
            _drawn_errors(weight, said, statistics.observed[0]), [(1 - level) / 2, (1 + level) / 2]
        )
        by_chance = np.quantile(_drawn_errors(weight, said, weight * said), (1 + level) / 2)
        least = 0.0 if here <= by_chance else max(2 * here - float(high), 0.0)
        return min(least, here), max(2 * here - float(low), here, float(by_chance))

    def curve(self, statistics: Bins, level: float = 0.95) -> list[Bin]:
        """The bins with their intervals: a reliability diagram."""
        return reliability_curve(statistics, self.edges, level=level)


def _happened(truth: Truth, prediction: Prediction) -> Array:
    """Whether the class whose probability is binned did."""
    two = prediction.log_p.shape[1] == 2
    return np.asarray(truth.y == (1 if two else prediction.log_p.argmax(axis=1)))


def _confidence(prediction: Prediction) -> Array:
    log_p = prediction.log_p
    return np.exp(log_p[:, 1] if log_p.shape[1] == 2 else log_p.max(axis=1))


def _error(weight: Array, predicted: Array, observed: Array) -> Array:
    """Σ_b |Σ w p − Σ w o| / n for each row of sums."""
    return np.asarray(np.abs(predicted - observed).sum(axis=1) / weight.sum(axis=1))


def _drawn_errors(weight: Array, said: Array, observed: Array) -> Array:
    """Calibration errors of tables drawn about this one; the same for the same totals."""
    rng = np.random.default_rng(0)
    happened = rng.poisson(observed, (DRAWS, len(weight)))
    total = happened + rng.poisson(np.maximum(weight - observed, 0.0), happened.shape)
    kept = total.sum(axis=1) > 0
    return _error(total[kept], (total * said)[kept], happened[kept])
