"""Metrics as statistics that add: each with a value, an interval and the best constant's value."""

from likely.evaluate.metrics.base import Estimate, Metric, Prediction, Truth, constant_prediction
from likely.evaluate.metrics.registry import METRICS, metric_named, metrics_for

__all__ = [
    "METRICS",
    "Estimate",
    "Metric",
    "Prediction",
    "Truth",
    "constant_prediction",
    "metric_named",
    "metrics_for",
]
