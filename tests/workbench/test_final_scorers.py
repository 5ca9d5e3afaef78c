"""How sealed rows are scored: densities that are written down, and classes not seen before."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from likely.metrics import metric_named
from likely.workbench.final_scorers import (
    IMPOSSIBLE,
    DensityScorer,
    promised_by,
    scorer_from,
    scorer_of,
)
from likely.workbench.models import entry_for
from likely.workbench.predictions import predict_for, truth_of
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.task import Task, task_of


def some(kind, n=120, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = {
        "count": lambda: rng.poisson(np.exp(2 + 0.5 * x)),
        "positive": lambda: rng.gamma(3, np.exp(0.5 * x)),
        "real": lambda: x + rng.normal(size=n),
        "binary": lambda: np.where(x + rng.normal(size=n) > 0, "yes", "no"),
    }[kind]()
    return pa.table({"x": x, "y": pa.array(y.tolist())})


NUMBERS = [
    ("count", "glm-poisson"),
    ("count", "glm-negative-binomial"),
    ("count", "linear"),
    ("positive", "glm-gamma"),
    ("positive", "glm-inverse-gaussian"),
    ("real", "linear"),
]


@pytest.mark.parametrize(("kind", "name"), NUMBERS)
def test_the_mean_loss_is_the_metric_of_the_comparison(kind, name):
    """Written to arrays before the labels are known, and read again, the family is the same."""
    table = some(kind)
    task = task_of(table, "y", kind=kind)
    model = Prepared(entry_for(name).build(task)).fit(table, "y")
    new = some(kind, seed=1)
    scorer = scorer_of(task, model, "plain")
    said = scorer.predictions(model, new.drop_columns(["y"]))
    assert all(array.dtype.kind in "fU" for array in said.values())
    losses = scorer.losses(said, new.column("y").to_numpy())
    metric = metric_named("log-likelihood")
    value = metric.value(metric.statistics(truth_of(task, new), predict_for(model, task, new)))
    assert_allclose(losses.mean(), -value, rtol=1e-12)
    assert promised_by(scorer, {"log-likelihood": value}) == -value


def test_what_a_family_denies_costs_much_and_not_infinity():
    table = some("positive")
    task = task_of(table, "y", kind="positive")
    model = Prepared(entry_for("linear").build(task)).fit(table, "y")
    scorer = scorer_of(task, model, "plain")
    said = {
        "mean": np.array([-1.0]),
        "family": np.array(['{"name": "gamma", "own": {}, "dispersion": 1.0}']),
    }
    assert_allclose(scorer.losses(said, np.array([1.0])), [IMPOSSIBLE])


@pytest.mark.parametrize("judge", ["ladder", "thresholdout"])
def test_judges_that_need_losses_from_0_up_get_squared_errors(judge):
    table = some("real")
    task = task_of(table, "y")
    model = Prepared(entry_for("linear").build(task)).fit(table, "y")
    scorer = scorer_of(task, model, judge)
    said = scorer.predictions(model, table.drop_columns(["y"]))
    assert scorer.name == "mean squared error"
    assert (scorer.losses(said, table.column("y").to_numpy()) >= 0).all()
    assert promised_by(scorer, {"rmse": 2.0}) == 4.0


def test_a_sealed_class_that_training_never_saw_is_counted_and_left_out_of_the_metrics():
    table = some("binary")
    task = Task("binary", "y", ("no", "yes"))
    model = Prepared(entry_for("logistic").build(task)).fit(table, "y")
    scorer = scorer_of(task, model, "plain")
    X = table.drop_columns(["y"]).slice(0, 3)
    labels = np.array(["maybe", "no", "yes"])
    said = scorer.predictions(model, X)
    extras = scorer.extras(said, labels, 0.95, y_train=table.column("y").to_numpy())
    assert extras["impossible_rows"] == 1
    right = np.mean(model.predict(X)[1:] == labels[1:])
    assert extras["measures"]["accuracy"]["value"] == pytest.approx(right)


@pytest.mark.parametrize(("kind", "name"), NUMBERS)
def test_the_log_likelihood_is_among_the_metrics_beside_the_best_constant(kind, name):
    table, new = some(kind), some(kind, seed=1)
    task = task_of(table, "y", kind=kind)
    model = Prepared(entry_for(name).build(task)).fit(table, "y")
    scorer = scorer_of(task, model, "plain")
    y, y_train = (rows.column("y").to_numpy() for rows in (new, table))
    said = scorer.predictions(model, new.drop_columns(["y"]))
    told = scorer.extras(said, y, 0.95, y_train=y_train)["measures"]["log-likelihood"]
    assert_allclose(told["value"], -scorer.losses(said, y).mean())
    assert_allclose(told["constant"], -scorer.constant_losses(y_train, y).mean())


@pytest.mark.parametrize("kind", ["count", "positive", "real", "binary"])
@pytest.mark.parametrize("judge", ["plain", "ladder"])
def test_a_scorer_is_made_again_from_what_it_says_of_itself(kind, judge):
    table = some(kind)
    task = task_of(table, "y", kind=kind)
    model = Prepared(entry_for("linear" if kind != "binary" else "logistic").build(task))
    scorer = scorer_of(task, model.fit(table, "y"), judge)
    told = json.loads(json.dumps(scorer.described()))
    again = scorer_from(told)
    assert type(again) is type(scorer)
    assert again.name == scorer.name
    assert again.task == replace(task, reason="")


@pytest.mark.parametrize(("kind", "negative"), [("count", False), ("positive", True)])
def test_the_interval_of_a_density_may_go_below_0_and_that_of_a_mass_may_not(kind, negative):
    low = DensityScorer(Task(kind, "y")).interval(np.array([1e-3, 1e-3, 2.0]), 0.95).low
    assert (low < 0) is negative
