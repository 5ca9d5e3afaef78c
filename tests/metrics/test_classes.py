"""Log loss and Brier: worked numbers, their parts, and what the impossible costs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.information import cross_entropy, entropy, kl_divergence
from likely.metrics import METRICS, Prediction, Truth
from likely.metrics.calibration import quantile_edges
from likely.metrics.classes import Brier, LogLoss
from likely.special import LOG_FLOOR
from tests.metric_data import some_rows

CLASSES = ("low", "mid", "high")


def of(y, p, classes=("a", "b"), kind="binary"):
    with np.errstate(divide="ignore"):
        return Truth(np.array(y), None, classes, kind), Prediction(log_proba=np.log(p))


def test_worked_example_the_loss_of_a_class_of_probability_six_tenths():
    """−ln 0.6 = 0.5108256238 (NUM-9)."""
    truth, prediction = of([1], np.array([[0.4, 0.6]]))
    metric = METRICS["log-loss"]
    assert_allclose(metric.value(metric.statistics(truth, prediction)), 0.5108256238, rtol=1e-9)


def test_log_loss_is_the_cross_entropy_and_exceeds_the_entropy_by_the_divergence():
    share, said = np.array([0.25, 0.75]), np.array([0.5, 0.5])
    truth, prediction = of([0, 1, 1, 1], np.tile(said, (4, 1)))
    metric = METRICS["log-loss"]
    value = metric.value(metric.statistics(truth, prediction))
    assert_allclose(value, cross_entropy(share, said))
    assert_allclose(value - entropy(share), kl_divergence(share, said))
    assert_allclose(metric.best_constant(truth, truth), entropy(share))


def test_worked_example_the_brier_score_of_two_and_of_three_classes():
    """(0.6 − 1)² = 0.16;  0.2² + 0.3² + (0.5 − 1)² = 0.38."""
    metric = METRICS["brier"]
    two = metric.statistics(*of([1], np.array([[0.4, 0.6]])))
    three = metric.statistics(*of([2], np.array([[0.2, 0.3, 0.5]]), tuple("abc"), "classes"))
    assert_allclose([metric.value(two), metric.value(three)], [0.16, 0.38])


def test_what_is_thought_impossible_costs_as_much_as_the_least_probability():
    metric = METRICS["log-loss"]
    truth, raw = of([1, 0], np.array([[1.0, 0.0], [0.5, 0.5]]))
    prediction = Prediction.of_classes(raw.log_p)
    assert prediction.n_impossible(truth) == 1
    bad = metric.statistics(truth, prediction)
    assert_allclose(metric.value(bad), (-LOG_FLOOR + np.log(2)) / 2)
    assert metric.interval(bad) == (0.0, -LOG_FLOOR)
    good = metric.statistics(*of([0, 1], np.array([[0.5, 0.5], [0.5, 0.5]])))
    assert_allclose(metric.value(bad + good), (-LOG_FLOOR + 3 * np.log(2)) / 4)


@pytest.mark.parametrize("kind", ["binary", "classes"])
def test_the_parts_of_the_brier_score_add_up_and_are_exact_for_predictions_in_steps(kind):
    truth, prediction = some_rows(kind, 3, 500)
    metric = METRICS["brier"]
    statistics = metric.statistics(truth, prediction)
    parts = metric.parts(statistics)
    total = parts.reliability - parts.resolution + parts.uncertainty + parts.rest
    assert_allclose(total, metric.value(statistics))
    assert min(parts[:3]) >= 0
    assert abs(parts.rest) < 0.05 * metric.value(statistics)
    if kind == "binary":
        steps = np.round(np.exp(prediction.log_p[:, 1]) * 10 - 0.5) / 10 + 0.05
        statistics = metric.statistics(*of(truth.y, np.column_stack([1 - steps, steps])))
        assert_allclose(metric.parts(statistics).rest, 0, rtol=1e-12, atol=1e-12)


def test_the_parts_of_the_log_loss_are_exact_for_predictions_in_steps():
    truth, prediction = some_rows("binary", 3, 500)
    steps = np.round(np.exp(prediction.log_p[:, 1]) * 10 - 0.5) / 10 + 0.05
    metric = METRICS["log-loss"]
    statistics = metric.statistics(*of(truth.y, np.column_stack([1 - steps, steps])))
    parts = metric.parts(statistics)
    assert_allclose(parts.rest, 0, rtol=1e-12, atol=1e-12)
    assert_allclose(parts.uncertainty, metric.best_constant(truth, truth))
    assert parts.reliability > 0 and parts.resolution > 0


def test_a_calibrated_prediction_has_no_reliability_part_and_a_constant_no_resolution():
    y = np.array([0, 1, 1, 1] * 25 + [0, 0, 0, 1] * 25)
    p = np.repeat([0.75, 0.25], 100)
    for metric in (METRICS["brier"], METRICS["log-loss"]):
        sharp = metric.parts(metric.statistics(*of(y, np.column_stack([1 - p, p]))))
        assert_allclose([sharp.reliability, sharp.rest], 0, rtol=1e-12, atol=1e-12)
        flat = metric.parts(metric.statistics(*of(y, np.full((200, 2), 0.5))))
        assert_allclose([flat.reliability, flat.resolution], 0, rtol=1e-12, atol=1e-12)


def test_quantile_bins_hold_equal_shares_and_can_be_used_for_the_parts():
    truth, prediction = some_rows("binary", 4, 400)
    p = np.exp(prediction.log_p[:, 1])
    edges = quantile_edges(p, 8)
    for metric in (Brier(edges), LogLoss(edges)):
        statistics = metric.statistics(truth, prediction)
        assert_allclose(statistics.bins.weight[0], 50, atol=1)
    assert quantile_edges(np.full(9, 0.5), 8) == (0.0, 0.5, 1.0)


def test_intervals_cover_the_expected_score_nineteen_times_in_twenty():
    rng = np.random.default_rng(0)
    p = 0.3
    expected = {"log-loss": float(entropy(np.array([p, 1 - p]))), "brier": p * (1 - p)}
    inside = dict.fromkeys(expected, 0)
    for _ in range(400):
        y = (rng.random(200) < p).astype(int)
        rows = of(y, np.tile([1 - p, p], (200, 1)))
        for name, value in expected.items():
            low, high = METRICS[name].interval(METRICS[name].statistics(*rows))
            inside[name] += low <= value <= high
    for name, count in inside.items():
        assert 0.92 <= count / 400 <= 0.98, name  # 0.95 ± 2.7 standard errors


def value(name, y, p):
    with np.errstate(divide="ignore"):
        prediction = Prediction(log_proba=np.log(np.atleast_2d(p)))
    truth = Truth(np.atleast_1d(y), None, CLASSES, "ordinal")
    return METRICS[name].value(METRICS[name].statistics(truth, prediction))


def test_worked_example_the_ranked_probability_score():
    """((0.2 − 0)² + (0.5 − 1)²)/2 = 0.145, of p = (0.2, 0.3, 0.5) where the middle happened."""
    assert_allclose(value("ranked-probability", 1, [0.2, 0.3, 0.5]), 0.145)


def test_a_near_miss_costs_less_than_a_far_one_where_the_log_loss_sees_no_difference():
    near, far = [0.1, 0.6, 0.3], [0.3, 0.6, 0.1]
    assert value("ranked-probability", 2, near) < value("ranked-probability", 2, far)
    assert_allclose(value("log-loss", 0, near), -np.log(0.1))
    assert value("ranked-probability", 0, [0, 0, 1]) == 1
    assert value("ranked-probability", 0, [1, 0, 0]) == 0


def test_it_is_proper():
    share = np.array([0.2, 0.5, 0.3])
    y = np.repeat([0, 1, 2], [20, 50, 30])
    truth = value("ranked-probability", y, np.tile(share, (100, 1)))
    for other in np.random.default_rng(0).dirichlet(np.ones(3), 50):
        assert value("ranked-probability", y, np.tile(other, (100, 1))) >= truth


def test_rank_errors_are_of_the_median_class():
    assert value("rank-error", 0, [0.2, 0.3, 0.5]) == 1  # P(Y ≤ mid) = ½
    assert value("rank-error", [0, 2], [[0.4, 0.25, 0.35], [0.1, 0.1, 0.8]]) == 0.5
