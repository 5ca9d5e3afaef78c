"""Functions as metrics: what they are given, which way is better, and the jackknife."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    log_loss,
    mean_absolute_error,
    roc_auc_score,
    root_mean_squared_error,
)

from likely.errors import InvalidInput, UnknownName
from likely.metrics import METRICS, CallableMetric, metric_for, metric_named, registry
from tests.metric_data import some_rows


def second(y, p):
    return roc_auc_score(y, p)


second.takes = "probabilities"


@pytest.mark.parametrize(
    ("function", "name", "kind"),
    [
        (accuracy_score, "accuracy", "classes"),
        (mean_absolute_error, "mae", "real"),
        (second, "auc", "binary"),
    ],
)
def test_a_function_gives_what_the_metric_of_that_name_gives(function, name, kind):
    rows = some_rows(kind, 3, 400)
    ours, theirs = METRICS[name], metric_named(function)
    one, other = ours.statistics(*rows), theirs.statistics(*rows)
    assert theirs.value(other) == pytest.approx(ours.value(one))
    width, expected = np.diff(theirs.interval(other)), np.diff(ours.interval(one))
    assert 0.5 * expected < width < 2 * expected  # 20 blocks: the spread of a spread is a sixth


def some_weighted(n=150):
    truth, prediction = some_rows("real", 3, n)
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2.0, n)
    return replace(truth, weight=weight), prediction, rng.integers(0, 12, n)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_function_that_is_a_mean_has_the_interval_of_the_metric(weighted):
    """An absolute error by hand is the built-in one, of rows and of groups."""

    def by_hand(y, said, sample_weight=None):
        return np.average(np.abs(y - said), weights=sample_weight)

    by_hand.better = "lower"
    truth, prediction, groups = some_weighted()
    truth = truth if weighted else replace(truth, weight=None)
    mae = METRICS["mae"]
    expected = mae.interval(mae.statistics(truth, prediction))
    in_groups = mae.clustered_interval(truth, prediction, groups)
    for function in (by_hand, mean_absolute_error):
        metric = metric_named(function)
        found = metric.interval(metric.statistics(truth, prediction))
        assert found == pytest.approx(expected, rel=1e-9)
        found = metric.clustered_interval(truth, prediction, groups)
        assert found == pytest.approx(in_groups, rel=1e-9)


def test_more_rows_than_can_be_scored_one_by_one_have_the_jackknife(monkeypatch):
    truth, prediction, _ = some_weighted()
    metric = metric_named(mean_absolute_error)
    statistics = metric.statistics(truth, prediction)
    by_rows = metric.interval(statistics)
    monkeypatch.setattr(registry, "MOST_ALONE", 100)
    by_blocks = metric.interval(statistics)
    assert by_blocks != pytest.approx(by_rows, rel=1e-9)
    assert 0.5 < np.diff(by_blocks) / np.diff(by_rows) < 2


@pytest.mark.slow
def test_the_jackknife_of_a_function_that_is_no_mean_covers_it():
    rng, inside = np.random.default_rng(0), 0
    metric = metric_named(root_mean_squared_error)
    for _ in range(300):
        truth, prediction = some_rows("real", int(rng.integers(1 << 30)), 60)
        truth = type(truth)(prediction.means + rng.normal(size=60), kind="real")
        low, high = metric.interval(metric.statistics(truth, prediction))
        inside += low <= 1.0 <= high
    assert 0.9 < inside / 300 < 0.99


def test_statistics_of_blocks_add():
    truth, prediction = some_rows("classes", 1, 60)
    metric = metric_named(accuracy_score)
    cut = [np.arange(20), np.arange(20, 60)]
    parts = [metric.statistics(truth.rows(r), prediction.rows(r)) for r in cut]
    whole = metric.statistics(truth, prediction)
    assert metric.interval(parts[0] + parts[1]) == metric.interval(whole)


def test_groups_are_left_out_whole():
    truth, prediction = some_rows("real", 2, 60)
    metric = metric_named(root_mean_squared_error)
    one = metric.clustered_interval(truth, prediction, np.zeros(60, dtype=int))
    assert one == (-np.inf, np.inf)
    alone = metric.clustered_interval(truth, prediction, np.arange(60))
    assert alone == metric.interval(metric.statistics(truth, prediction))


def test_a_function_that_fails_without_a_block_leaves_the_interval_open():
    truth, prediction = some_rows("binary", 2, 6)
    rows = np.array([int(truth.y.argmax()), *np.flatnonzero(truth.y == 0)])

    def of_both(y, said):
        if len(set(y)) < 2:
            raise ValueError("one class")
        return 0.7

    metric = metric_named(of_both)
    statistics = metric.statistics(truth.rows(rows), prediction.rows(rows))
    assert np.isfinite(metric.value(statistics))
    assert metric.interval(statistics) == (-np.inf, np.inf)


def test_the_name_says_which_way_is_better_unless_the_function_does():
    assert metric_named(accuracy_score).better == "higher"
    assert metric_named(log_loss).better == "lower"
    assert metric_named("sklearn.metrics.mean_absolute_error").better == "lower"

    def cost(y, mean):
        return float(np.mean(np.maximum(y - mean, 0)))

    cost.better = "lower"
    assert CallableMetric.of(cost).better == "lower"
    assert CallableMetric.of(cost).name == "cost"


def test_mistakes_are_refused():
    with pytest.raises(InvalidInput, match=r"sklearn.metrics.no_such cannot be imported"):
        metric_named("sklearn.metrics.no_such")
    with pytest.raises(InvalidInput, match="a function of the observed"):
        metric_named("numpy.pi")
    with pytest.raises(UnknownName, match="Did you mean 'accuracy'"):
        metric_named("acuracy")
    with pytest.raises(InvalidInput, match="rmse is not a metric of targets with two classes"):
        metric_for("binary", "rmse")
    with pytest.raises(InvalidInput, match="one number was expected"):
        metric = metric_named(lambda y, p: "good")
        metric.value(metric.statistics(*some_rows("real", 0)))
