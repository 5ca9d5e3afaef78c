"""Laws of every metric where rows come in groups, and of its constant over folds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.metrics import METRICS, Truth, constant_prediction, score_of
from likely.metrics.prediction import Prediction
from likely.numerics.intervals import clipped
from tests.metric_data import every_metric, some_rows

every = pytest.mark.parametrize(("name", "kind"), every_metric())
NARROWER = 0.75  # of 20 groups' and 200 rows' t and z, and what a bootstrap leaves to chance


def ends(metric, truth, prediction, groups, level=0.95):
    constant = constant_prediction(truth, truth)
    return score_of([metric], truth, prediction, constant, groups=groups, level=level).main[:3]


@every
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 999), n_groups=st.integers(2, 30))
def test_the_interval_of_groups_holds_the_value(name, kind, seed, n_groups):
    truth, prediction = some_rows(kind, seed, weighted=True)
    groups = np.random.default_rng(seed).integers(0, n_groups, len(truth.y))
    value, low, high = ends(METRICS[name], truth, prediction, groups)
    assert low <= value <= high


@pytest.mark.parametrize(
    ("name", "kind"), [pair for pair in every_metric() if not METRICS[pair[0]].approximate]
)
def test_copied_rows_do_not_make_the_interval_narrower(name, kind):
    """Ten copies of each of 40 rows, in one group each: by rows it would be a third as wide."""
    metric = METRICS[name]
    truth, prediction = some_rows(kind, 3, 40)
    value, low, high = ends(metric, truth, prediction, None)
    index = np.arange(40).repeat(10)
    copied = ends(metric, truth.rows(index), prediction.rows(index), index)
    assert_allclose(copied[0], value, rtol=1e-9)
    assert copied[2] - copied[1] > NARROWER * (high - low)
    by_rows = ends(metric, truth.rows(index), prediction.rows(index), None)
    assert copied[2] - copied[1] > 2 * (by_rows[2] - by_rows[1])


@every
def test_one_group_leaves_the_whole_range(name, kind):
    metric = METRICS[name]
    truth, prediction = some_rows(kind, 3, 400)
    _, low, high = ends(metric, truth, prediction, np.zeros(400, dtype=np.int64))
    none = np.zeros(0, dtype=np.int64)
    nothing = metric.interval(metric.statistics(truth.rows(none), prediction.rows(none)))
    assert (low, high) == clipped(nothing, *metric.bounds(kind))
    assert high - low >= 1


@every
def test_a_row_of_weight_0_is_in_no_group(name, kind):
    metric = METRICS[name]
    truth, prediction = some_rows(kind, 4)
    groups, present = np.arange(60) // 5, np.arange(60) < 40
    weighted = Truth(truth.y, present.astype(float), truth.classes, kind)
    one = ends(metric, weighted, prediction, groups)
    other = ends(metric, truth.rows(present), prediction.rows(present), groups[present])
    assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def constant_of_folds(metric, truth, fold):
    """The value on all rows of constants that each were suggested by the other folds."""
    rows, parts = [], []
    for held in np.unique(fold):
        rows.append(np.flatnonzero(fold == held))
        parts.append(constant_prediction(truth.rows(fold != held), truth.rows(rows[-1])))
    truth = truth.rows(np.concatenate(rows))
    return score_of([metric], truth, None, Prediction.joined(parts)).main.value


MIXED = ("macro-f1", "calibration-error")  # constants of several folds may gain by differing


@pytest.mark.parametrize(
    ("name", "kind"), [pair for pair in every_metric() if pair[0] not in MIXED]
)
def test_the_constant_of_folds_is_not_that_of_hindsight(name, kind):
    """It was not fitted to the rows it is scored on, and so it is no better, to rounding."""
    metric = METRICS[name]
    truth, _ = some_rows(kind, 6, 90)
    found = constant_of_folds(metric, truth, np.arange(90) % 3)
    hindsight = metric.best_constant(truth, truth)
    worse = found - hindsight if metric.better == "lower" else hindsight - found
    assert np.isfinite(found)
    assert worse > -1e-12
    if name in ("log-loss", "brier", "rmse", "log-likelihood"):
        assert worse > 1e-6


def test_a_class_that_the_other_folds_lack_costs_the_floor():
    truth = Truth(np.array([0, 0, 1, 0]), None, ("a", "b"), "binary")
    found = constant_of_folds(METRICS["log-loss"], truth, np.array([0, 0, 1, 1]))
    floor = -np.log(np.finfo(float).eps)
    assert_allclose(found, (2 * np.log(2) + floor + 0.0) / 4, rtol=1e-9)


def test_the_auc_of_patients_covers_that_of_all_patients():
    """Each patient has a score and a risk of their own: rows of one are nearly one row."""
    rng, metric, covered = np.random.default_rng(0), METRICS["auc"], np.zeros(2)

    def drawn(n_groups, size):
        groups = np.arange(n_groups).repeat(size)
        score = rng.normal(size=n_groups)[groups]
        y = (score + rng.logistic(size=n_groups)[groups] > 0).astype(np.int64)
        p = 1 / (1 + np.exp(-score))
        log_p = np.log(np.column_stack([1 - p, p]))
        return Truth(y, None, ("a", "b"), "binary"), Prediction.of_classes(log_p), groups

    truth, prediction, _ = drawn(20_000, 1)
    real = metric.value(metric.statistics(truth, prediction))
    for _ in range(200):
        truth, prediction, groups = drawn(40, 8)
        for k, given_groups in enumerate((groups, None)):
            _, low, high = ends(metric, truth, prediction, given_groups)
            covered[k] += low <= real <= high
    by_group, by_row = covered / 200
    assert by_group > 0.9  # 0.95, chance has 0.015
    assert by_row < 0.75
