"""Metrics as statistics that add: each with a value, an interval and the best constant's value."""

from likely.metrics.base import Estimate, Metric, Prediction, Truth, constant_prediction
from likely.metrics.registry import METRICS, metric_named, metrics_for

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
