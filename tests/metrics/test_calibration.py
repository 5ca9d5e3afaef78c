"""Calibration error: a worked table, its bins, and an interval that knows of its bias."""

import numpy as np
from numpy.testing import assert_allclose

from likely.metrics import METRICS, Prediction, Truth
from likely.metrics.calibration import CalibrationError
from tests.metric_data import some_rows

METRIC = METRICS["calibration-error"]


def binary(y, p):
    with np.errstate(divide="ignore"):
        prediction = Prediction(log_proba=np.log(np.column_stack([1 - p, p])))
    return Truth(np.asarray(y), None, ("a", "b"), "binary"), prediction


def test_worked_example_two_bins():
    """8 rows said 0.75, half happened; 2 said 0.25, none happened: 0.8·0.25 + 0.2·0.25 = 0.25."""
    y = np.array([0, 1] * 4 + [0, 0])
    statistics = METRIC.statistics(*binary(y, np.repeat([0.75, 0.25], [8, 2])))
    assert_allclose(METRIC.value(statistics), 0.25)
    used = [point for point in METRIC.curve(statistics) if point.weight]
    assert [(point.low, point.weight, point.observed) for point in used] == [
        (0.2, 2.0, 0.0),
        (0.7, 8.0, 0.5),
    ]
    for point in used:
        assert point.interval[0] <= point.observed <= point.interval[1]


def test_certainty_falls_into_the_last_bin():
    statistics = METRIC.statistics(*binary([1, 0], np.array([1.0, 0.0])))
    assert statistics.weight[0, [0, -1]].tolist() == [1, 1]
    assert METRIC.value(statistics) == 0


def test_several_classes_are_judged_by_the_one_that_is_called():
    truth, prediction = some_rows("classes", 2, 500)
    p = np.exp(prediction.log_p)
    right = p.argmax(axis=1) == truth.y
    statistics = METRIC.statistics(truth, prediction)
    assert_allclose(statistics.observed.sum(), right.sum())
    assert_allclose(statistics.predicted.sum(), p.max(axis=1).sum())


def test_the_interval_of_a_calibrated_model_reaches_zero_though_its_error_does_not():
    rng = np.random.default_rng(0)
    reached = 0
    for _ in range(40):
        p = rng.random(500)
        statistics = METRIC.statistics(*binary((rng.random(500) < p).astype(int), p))
        assert METRIC.value(statistics) > 0.01
        reached += METRIC.interval(statistics)[0] == 0
    assert reached >= 36  # 39 expected of 40, at 97.5 % each


def test_the_interval_of_a_miscalibrated_model_does_not_and_covers():
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(100):
        p = rng.random(1000)
        happens = 0.5 + 0.4 * (p - 0.5)  # too sure on both sides: the error is 0.6·E|p − ½| = 0.15
        y = (rng.random(1000) < happens).astype(int)
        low, high = METRIC.interval(METRIC.statistics(*binary(y, p)))
        assert low > 0.05
        inside += low <= 0.15 <= high
    assert inside >= 88


def test_bins_by_quantiles_are_stated_and_equally_full():
    truth, prediction = some_rows("binary", 0, 400)
    metric = CalibrationError.on_quantiles(prediction, 5)
    assert len(metric.edges) == 6
    assert_allclose(metric.statistics(truth, prediction).weight[0], 80, atol=1)
