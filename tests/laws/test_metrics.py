"""Laws of every metric: blocks add, weight 2 is the row twice, order does not matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.kinds import TARGET_KINDS
from likely.metrics import METRICS, Truth, metrics_for
from tests.metric_data import every_metric, some_rows

every = pytest.mark.parametrize(("name", "kind"), every_metric())


def read(metric, statistics):
    """Everything that a metric says."""
    return np.array([metric.value(statistics), *metric.interval(statistics)])


@every
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 999), cut=st.integers(0, 60))
def test_statistics_of_blocks_add(name, kind, seed, cut):
    metric = METRICS[name]
    truth, prediction = some_rows(kind, seed, weighted=True)
    whole = metric.statistics(truth, prediction)
    first, rest = np.arange(cut), np.arange(cut, 60)
    parts = metric.statistics(truth.rows(first), prediction.rows(first)) + metric.statistics(
        truth.rows(rest), prediction.rows(rest)
    )
    assert_allclose(read(metric, parts), read(metric, whole), rtol=1e-9, atol=1e-12)


@every
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 999))
def test_a_weight_of_2_is_the_row_twice_and_of_0_the_row_absent(name, kind, seed):
    metric = METRICS[name]
    truth, prediction = some_rows(kind, seed)
    weight = np.random.default_rng(seed).integers(0, 3, len(truth.y))
    weighted = Truth(truth.y, weight.astype(float), truth.classes, kind)
    index = np.repeat(np.arange(len(weight)), weight)
    one = metric.statistics(weighted, prediction)
    other = metric.statistics(truth.rows(index), prediction.rows(index))
    assert_allclose(read(metric, one), read(metric, other), rtol=1e-9, atol=1e-12)
    assert_allclose(
        metric.best_constant(weighted, weighted),
        metric.best_constant(truth.rows(index), truth.rows(index)),
        rtol=1e-12,
        atol=1e-12,  # the constant's R² and calibration error are 0
    )


@every
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 999))
def test_the_order_of_rows_does_not_matter(name, kind, seed):
    metric = METRICS[name]
    truth, prediction = some_rows(kind, seed, weighted=True)
    order = np.random.default_rng(seed).permutation(len(truth.y))
    one = metric.statistics(truth, prediction)
    other = metric.statistics(truth.rows(order), prediction.rows(order))
    assert_allclose(read(metric, one), read(metric, other), rtol=1e-9, atol=1e-12)


@every
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 999), level=st.sampled_from([0.5, 0.8, 0.95]))
def test_the_interval_holds_the_value_and_grows_with_the_level(name, kind, seed, level):
    metric = METRICS[name]
    statistics = metric.statistics(*some_rows(kind, seed))
    low, high = metric.interval(statistics, level)
    assert low <= metric.value(statistics) <= high
    wider = metric.interval(statistics, 0.99)
    assert wider[0] <= low and high <= wider[1]
    assert low < high


@every
def test_more_rows_make_the_interval_narrower(name, kind):
    metric = METRICS[name]
    widths = []
    for n in (60, 6000):
        low, high = metric.interval(metric.statistics(*some_rows(kind, 5, n)))
        widths.append(high - low)
    assert widths[1] < widths[0] / 3  # 1/10 for a rate of 1/√n


@every
def test_a_prediction_that_knows_something_beats_the_best_constant(name, kind):
    metric = METRICS[name]
    truth, prediction = some_rows(kind, 1, 4000)
    value = metric.value(metric.statistics(truth, prediction))
    constant = metric.best_constant(truth, truth)
    if name == "calibration-error":  # a constant knows nothing and is calibrated
        assert abs(constant) < 1e-12
        return
    if name == "log-likelihood":  # the example's density is not that of its numbers
        assert np.isfinite(constant)
        return
    assert value < constant if metric.better == "lower" else value > constant


@pytest.mark.parametrize("kind", TARGET_KINDS)
def test_the_main_metric_is_proper_and_names_are_unique(kind):
    found = metrics_for(kind)
    main = "log-loss" if kind in ("binary", "classes", "ordinal") else "log-likelihood"
    assert found[0].name == main
    assert not any(metric.approximate for metric in found)
    approximate = metrics_for(kind, in_memory=False)
    assert len(approximate) == len(found)
    assert len({metric.name for metric in approximate}) == len(found)
    assert len({metric.title for metric in found}) == len(found)
