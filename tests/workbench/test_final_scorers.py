"""How sealed rows are scored: losses against scikit-learn, densities, and intervals that cover."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import log_loss, mean_squared_error, zero_one_loss

import likely
from likely.errors import InvalidInput
from likely.intervals import mean_interval, wilson
from likely.metrics import metric_named
from likely.special import LOG_FLOOR
from likely.workbench.final_scorers import (
    IMPOSSIBLE,
    DensityScorer,
    ErrorRateScorer,
    LogLossScorer,
    SquaredErrorScorer,
    estimated_loss,
    places,
    scorer_from,
    scorer_of,
    usual_scorer,
)
from likely.workbench.models import entry_for
from likely.workbench.predictions import predict_for, truth_of
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.task import Task, task_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
LABELS = np.array(["a", "b", "c"], dtype=object)[(X[:, 0] > 0) + (X[:, 1] > 0).astype(int)]
AMOUNTS = X @ [1.0, 2.0, 3.0] + RNG.normal(size=300)

SCORER = {
    scorer.name: scorer for scorer in (LogLossScorer(), ErrorRateScorer(), SquaredErrorScorer())
}


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
    assert estimated_loss(scorer, {"log-likelihood": value}) == -value


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
    assert estimated_loss(scorer, {"rmse": 2.0}) == 4.0


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
    low, _ = DensityScorer(Task(kind, "y")).interval(np.array([1e-3, 1e-3, 2.0]), 0.95)
    assert (low < 0) is negative


def test_a_density_without_its_kind_cannot_be_scored_and_others_without_a_task_can():
    assert scorer_from({"name": "negative log-likelihood"}) is None
    assert scorer_from({"name": "someone's own"}) is None
    for name, scorer in SCORER.items():
        assert scorer_from({"name": name}) == scorer


def test_a_model_without_a_target_is_refused():
    with pytest.raises(InvalidInput, match="GaussianMixture is neither a classifier"):
        usual_scorer(likely.GaussianMixture(), some("real"), None)


@pytest.mark.parametrize("model", [LogisticRegression(), likely.SoftmaxRegression()])
def test_log_loss_agrees_with_scikit_learn(model):
    model.fit(X[:200], LABELS[:200])
    scorer = SCORER["log loss"]
    losses = scorer.losses(scorer.predictions(model, X[200:]), LABELS[200:])
    expected = log_loss(LABELS[200:], model.predict_proba(X[200:]), labels=model.classes_)
    assert_allclose(losses.mean(), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "model", "dummy", "theirs", "y"),
    [
        ("log loss", LogisticRegression(), DummyClassifier(strategy="prior"), None, LABELS),
        ("error rate", RidgeClassifier(), DummyClassifier(), zero_one_loss, LABELS),
        ("mean squared error", LinearRegression(), DummyRegressor(), mean_squared_error, AMOUNTS),
    ],
)
def test_the_best_constant_is_scikit_learns_dummy(name, model, dummy, theirs, y):
    scorer = SCORER[name]
    dummy.fit(X[:200], y[:200])
    by_dummy = scorer.losses(scorer.predictions(dummy, X[200:]), y[200:])
    assert_allclose(scorer.constant_losses(y[:200], y[200:]), by_dummy)
    if theirs is not None:
        model.fit(X[:200], y[:200])
        losses = scorer.losses(scorer.predictions(model, X[200:]), y[200:])
        assert_allclose(losses.mean(), theirs(y[200:], model.predict(X[200:])))


def test_a_class_the_model_does_not_know_costs_the_floor():
    assert places(np.array(["b", "z"]), np.array(["a", "b"])).tolist() == [1, -1]
    predictions = {"log_proba": np.log([[0.5, 0.5]]), "classes": np.array(["a", "b"])}
    assert SCORER["log loss"].losses(predictions, np.array(["z"])) == [-LOG_FLOOR]
    certain = {"log_proba": np.array([[0.0, -np.inf]]), "classes": np.array(["a", "b"])}
    assert SCORER["log loss"].losses(certain, np.array(["b"])) == [-LOG_FLOOR]
    extras = SCORER["log loss"].extras(certain, np.array(["b"]), 0.95, y_train=np.array(["a"]))
    assert extras == {"impossible_rows": 1}


def test_one_row_tells_nothing_but_the_range_of_the_loss():
    for name, high in (("log loss", -LOG_FLOOR), ("mean squared error", np.inf)):
        assert SCORER[name].interval(np.array([2.0]), 0.95) == (0.0, high)
    low, high = SCORER["error rate"].interval(np.array([0.0]), 0.95)
    assert low == 0.0
    assert high > 0.7


@pytest.mark.parametrize("n", [1, 5, 20, 400])
def test_no_errors_in_n_rows_are_no_certainty(n):
    """Wilson's end at p̂ = 0 is z²/(n + z²)."""
    low, high = SCORER["error rate"].interval(np.zeros(n), 0.95)
    z2 = 1.959963984540054**2
    assert low == 0.0
    assert_allclose(high, z2 / (n + z2))
    assert_allclose(SCORER["error rate"].interval(np.ones(n), 0.95)[0], n / (n + z2))


def test_an_interval_stays_where_the_loss_can_be():
    skewed = np.append(np.full(9, 1e-3), 5.0)
    assert mean_interval(skewed, 0.95)[0] < 0, "Student's own interval goes below 0"
    for name in ("log loss", "mean squared error"):
        assert SCORER[name].interval(skewed, 0.95)[0] == 0.0
    assert SCORER["log loss"].interval(np.array([30.0, 36.0]), 0.95)[1] == -LOG_FLOOR


def grouped(spread, seed=0):
    """Losses of 20 groups of 15 rows that share a part, and their groups."""
    rng = np.random.default_rng(seed)
    groups = np.arange(20).repeat(15)
    return np.exp(spread * rng.normal(size=20)[groups] + rng.normal(size=300)), groups


@pytest.mark.parametrize("name", ["log loss", "mean squared error"])
def test_losses_that_groups_share_have_the_interval_of_groups(name):
    losses, groups = grouped(1.0)
    value, (low, high) = losses.mean(), SCORER[name].interval(losses, 0.95, groups)
    per_group = np.array([(losses[groups == g] - value).sum() for g in range(20)])
    half = 2.093024054408263 * np.sqrt(20 / 19 * np.square(per_group).sum()) / 300  # t of 19
    assert_allclose([low, high], [max(value - half, 0), value + half])
    assert half > 1.5 * (SCORER[name].interval(losses, 0.95)[1] - value)


def test_errors_that_groups_share_count_as_fewer_rows():
    wrong, groups = np.repeat([1.0, 0.0], 150), np.arange(20).repeat(15)
    low, high = SCORER["error rate"].interval(wrong, 0.95, groups)
    # at most as wide as twenty rows with t of 19 for z: every group is all right or all wrong
    assert_allclose([low, high], wilson(0.5, 20 * (1.968 / 2.093) ** 2, 0.95), atol=0.01)
    _, high = SCORER["error rate"].interval(np.zeros(300), 0.95, groups)
    assert high > wilson(0.0, 20, 0.95)[1], "no error does not show that rows are independent"


@pytest.mark.parametrize("name", list(SCORER))
def test_one_group_tells_nothing_but_the_range_of_the_loss(name):
    scorer, losses = SCORER[name], np.array([0.0, 1.0, 1.0, 0.0])
    low, high = scorer.interval(losses, 0.95, np.zeros(4, dtype=np.int64))
    assert (low, high) == (scorer.lowest, scorer.highest)
    low, high = scorer.gain_interval(losses, np.ones(4), 0.95, np.zeros(4, dtype=np.int64))
    assert low < 0 < high


@pytest.mark.parametrize("name", ["log loss", "mean squared error"])
def test_a_gain_is_paired(name):
    """Rows differ far more from each other than the model does from the constant on any row."""
    rng = np.random.default_rng(0)
    constant = rng.exponential(size=400)
    losses = constant - 0.02 - 0.01 * rng.normal(size=400)
    scorer = SCORER[name]
    low, high = scorer.gain_interval(losses, constant, 0.95)
    assert_allclose([low, high], mean_interval(constant - losses, 0.95))
    assert 0.018 < low < high < 0.022
    assert scorer.interval(losses, 0.95)[1] > constant.mean(), "which shows nothing"


@pytest.mark.parametrize("n", [1, 3, 10])
def test_a_gain_on_every_one_of_few_rows_is_no_certainty(n):
    low, high = SCORER["error rate"].gain_interval(np.zeros(n), np.ones(n), 0.95)
    assert high == 1.0
    assert low < 1 - 1 / (n + 2)
    assert (low > 0) == (n > 1)


def test_the_gain_in_errors_covers_as_often_as_it_says():
    rng, covered, scorer = np.random.default_rng(0), 0, SCORER["error rate"]
    for _ in range(1000):
        wrong, baseline = rng.random((2, 60)) < [[0.2], [0.3]]
        low, high = scorer.gain_interval(wrong * 1.0, baseline * 1.0, 0.95)
        covered += low <= 0.1 <= high
    assert abs(covered / 1000 - 0.95) < 0.025  # chance has 0.007
