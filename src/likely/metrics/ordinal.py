"""Metrics of ordered classes.

    ranked probability score   Σ_{k<K} (P(Y ≤ k) − 1[y ≤ k])² / (K − 1)        0 to 1, proper
    rank error                 |median of the prediction − y|, in classes

References
----------
Epstein (1969), A scoring system for probability forecasts of ranked categories.
Gneiting & Raftery (2007), Strictly proper scoring rules, prediction, and estimation, JASA 102, §4.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from likely._typing import Array
from likely.kinds import TargetKind
from likely.metrics.means import MeanOfRows
from likely.metrics.prediction import Prediction, Truth

ORDERED: frozenset[TargetKind] = frozenset({"ordinal"})
HALF = 0.5 - 1e-12  # a sum of probabilities that should be one half may round below it


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
