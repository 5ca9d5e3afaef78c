"""Intervals of means of few rows do not exclude a rare large loss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import t

from benchmarks.interval_coverage import coverage
from likely.metrics import METRICS, Prediction, Truth
from likely.metrics.prediction import RowValues
from likely.numerics.intervals import about_mean, about_mean_with_surprise, wilson


def certain(n, p):
    """Rows whose class was predicted with probability p, all of them rightly."""
    truth = Truth(np.arange(n) % 2, None, ("a", "b"), "binary")
    right = np.where(truth.y[:, None] == np.arange(2), p, 1 - p)
    return truth, Prediction.of_classes(np.log(right))


def test_69_tiny_losses_do_not_exclude_a_rare_large_one():
    """The sealed log loss 0.00068 had the interval 0 to 0.0015 beside a cross-validated 0.0118."""
    metric = METRICS["log-loss"]
    statistics = metric.statistics(*certain(69, 0.99932))
    low, high = metric.interval(statistics)
    assert metric.value(statistics) == pytest.approx(0.00068, rel=1e-3)
    assert 0 <= low <= metric.value(statistics)
    assert high > 0.0118
    assert high == pytest.approx(3 * -np.log(0.00068) / 69, rel=0.05)  # the rule of three


@pytest.mark.parametrize("name", ["log-loss", "brier"])
def test_many_rows_without_a_surprise_leave_little_room_for_one(name):
    metric = METRICS[name]
    few, many = (metric.interval(metric.statistics(*certain(n, 0.999))) for n in (100, 10_000))
    assert few[1] > 50 * many[1] > 0


def test_the_interval_is_that_of_the_rows_and_of_one_more():
    values = np.random.default_rng(0).exponential(size=30)
    scatter = np.square(values - values.mean()).sum()
    found = about_mean_with_surprise(values.mean(), scatter, 30, 9.0)
    more = np.append(values, 9.0)
    high = more.mean() + t.ppf(0.975, 30) * more.std(ddof=1) / np.sqrt(31)
    assert_allclose(found, [about_mean(values.mean(), scatter, 30)[0], high])
    mirrored = about_mean_with_surprise(-values.mean(), scatter, 30, -9.0)
    assert_allclose(mirrored, [-high, -found[0]])


def test_one_error_in_100_rows_does_not_exclude_one_in_a_thousand():
    """Wilson's own lower end is 0.0018."""
    assert wilson(0.01, 100)[0] < 0.001
    assert wilson(0.99, 100)[1] > 0.999


def test_extreme_rows_of_blocks_add_with_ties():
    values = np.array([[1.0, 5.0], [3.0, 5.0], [2.0, 4.0], [3.0, 1.0]])
    whole = RowValues.of(values, np.ones(4))
    parts = RowValues.of(values[:1], np.ones(1)) + RowValues.of(values[1:], np.ones(3))
    assert_allclose(whole.most, [[3, 5], [3, 5]])
    assert_allclose(whole.least, [[1, 5], [3, 1]])
    assert_allclose(parts.most, whole.most)
    assert_allclose(parts.least, whole.least)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "n", "n_groups"),
    [
        ("usual", 50, None),
        ("rare", 100, None),
        ("nearly perfect", 500, None),
        ("nearly perfect", 600, 30),
        ("usual", 600, 30),
        ("Gaussian", 100, None),
        ("counts", 500, None),
    ],
)
def test_intervals_hold_the_expected_value_as_often_as_they_say(case, n, n_groups):
    """At least 0.93, less three standard errors; above 0.99 only where surprises are rare."""
    found = coverage(case, n, n_groups=n_groups, samples=500, population=200_000)
    assert min(found.values()) > 0.93 - 3 * 0.0115, found


@pytest.mark.parametrize("name", ["r2", "poisson-deviance-explained"])
def test_the_share_that_is_explained_has_no_interval_above_1(name):
    y = np.random.default_rng(0).poisson(9.0, 20).astype(float)
    truth, prediction = Truth(y, kind="count"), Prediction.of_numbers(y + 0.1)
    low, high = METRICS[name].interval(METRICS[name].statistics(truth, prediction))
    assert low < METRICS[name].value(METRICS[name].statistics(truth, prediction)) < high <= 1
