"""Metrics as additive statistics, the scores computed from them, and the best constant."""

from likely.metrics.base import Metric
from likely.metrics.baseline import BestConstant, constant_prediction
from likely.metrics.prediction import Prediction, Truth
from likely.metrics.registry import METRICS, CallableMetric, metric_for, metric_named, metrics_for
from likely.metrics.score import Score, ScoreTotals, mean_score, score_of
from likely.numerics.intervals import Estimate

__all__ = [
    "METRICS",
    "BestConstant",
    "CallableMetric",
    "Estimate",
    "Metric",
    "Prediction",
    "Score",
    "ScoreTotals",
    "Truth",
    "constant_prediction",
    "mean_score",
    "metric_for",
    "metric_named",
    "metrics_for",
    "score_of",
]
