"""The table of candidates: each suits its tasks, builds, fits, and answers."""

import warnings

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

import likely
from likely.errors import InvalidInput, UnknownName
from likely.kinds import TARGET_KINDS
from likely.metrics import metrics_for
from likely.workbench.models import BASELINE, CANDIDATES, candidate_named, candidates_for
from likely.workbench.predictions import predict_for, truth_of
from likely.workbench.task import task_of

N = 120


def example(kind):
    """A table of two numbers and its task."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, 2))
    noisy = X[:, 0] + rng.normal(size=N)
    y = {
        "binary": np.where(noisy > 0, "yes", "no"),
        "classes": np.array(["a", "b", "c"])[np.digitize(noisy, [-0.5, 0.5])],
        "ordinal": np.array(["s", "m", "l"])[np.digitize(noisy, [-0.5, 0.5])],
        "count": rng.poisson(np.exp(1 + 0.5 * X[:, 0])),
        "positive": np.exp(noisy),
        "real": noisy,
    }[kind]
    table = pa.table({"u": X[:, 0], "v": X[:, 1], "y": pa.array(y)})
    order = ["s", "m", "l"] if kind == "ordinal" else None
    return table, task_of(table, "y", ordered=order, kind=None if order else kind)


def every_pair():
    return [
        (kind, name)
        for kind in TARGET_KINDS
        for name in CANDIDATES
        if kind in CANDIDATES[name].tasks
    ]


@pytest.mark.parametrize(("kind", "name"), every_pair())
def test_every_candidate_fits_its_tasks_and_every_metric_reads_its_answer(kind, name):
    table, task = example(kind)
    model = CANDIDATES[name].build(task, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", likely.errors.LikelyWarning)
        model.fit(table.select(["u", "v"]), table.column("y").to_numpy(zero_copy_only=False))
    prediction, truth = predict_for(model, task, table), truth_of(task, table)
    if task.has_classes:
        assert_allclose(np.exp(prediction.log_p).sum(axis=1), 1)
    for metric in metrics_for(task.kind):
        assert metric.suits(prediction), metric.name
        value, low, high, constant = metric.estimate(truth, truth, prediction)
        assert np.isfinite(constant)
        assert low <= value <= high or np.isinf(value), metric.name


@pytest.mark.parametrize("kind", TARGET_KINDS)
def test_the_baseline_is_first_and_something_rivals_it(kind):
    found = [candidate.name for candidate in candidates_for(kind)]
    assert found[0] == BASELINE
    assert len(found) >= 3
    assert set(found) <= {each.name for each in candidates_for(kind, everything=True)}


def test_the_baseline_reaches_the_best_constants_value():
    for kind in TARGET_KINDS:
        table, task = example(kind)
        model = CANDIDATES[BASELINE].build(task)
        model.fit(table.select(["u", "v"]), table.column("y").to_numpy(zero_copy_only=False))
        truth, prediction = truth_of(task, table), predict_for(model, task, table)
        main = metrics_for(task.kind)[0]
        assert_allclose(
            main.value(main.statistics(truth, prediction)), main.best_constant(truth, truth)
        )


def test_slow_candidates_are_tried_only_when_asked_for():
    slow = {name for name, candidate in CANDIDATES.items() if candidate.cost == "high"}
    assert slow
    for kind in TARGET_KINDS:
        assert not slow & {candidate.name for candidate in candidates_for(kind)}


def test_the_order_of_the_classes_reaches_the_model():
    _, task = example("ordinal")
    assert candidate_named("ordinal").build(task).order == ["s", "m", "l"]


def test_settings_overrule_and_reach_inside():
    _, task = example("binary")
    assert candidate_named("logistic").build(task, {"l2": 7.0}).l2 == 7.0
    path = candidate_named("logistic-lasso").build(task, {"model__tol": 1e-3, "n_penalties": 5})
    assert (path.model.tol, path.n_penalties) == (1e-3, 5)
    again = candidate_named("logistic-lasso").build(task)
    assert again.model is not path.model


def test_a_model_of_another_kind_of_task_is_refused_with_those_that_fit():
    _, task = example("real")
    with pytest.raises(InvalidInput, match=r"logistic is for binary targets; 'y' is real.*linear"):
        candidate_named("logistic").build(task)
    with pytest.raises(UnknownName, match="Did you mean 'lasso'"):
        candidate_named("lassoo")


def test_softmax_tells_two_classes_apart_where_it_is_asked_for_and_is_not_tried_unasked():
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.normal(size=60), "y": ["a", "b"] * 30})
    found = likely.compare(table, "y", ["logistic", "softmax"], folds=2, repeats=1)
    assert not found.failed
    assert found.task.kind == "binary"
    assert "softmax" not in [each.name for each in candidates_for("binary", everything=True)]
