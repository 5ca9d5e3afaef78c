"""How sealed rows are scored: as all other rows are, and against scikit-learn."""

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
from likely.metrics import (
    Prediction,
    Truth,
    constant_prediction,
    metric_named,
    metrics_for,
    score_of,
)
from likely.metrics.prediction import IMPOSSIBLE
from likely.metrics.registry import LOSSES
from likely.numerics.intervals import Estimate, effective_rows, wilson
from likely.sealing.folder import SealFolder
from likely.special import LOG_FLOOR
from likely.storage.json import plain
from likely.workbench.data.task import Task, task_of, task_of_fit
from likely.workbench.final.final_scorer import TaskScorer, scorer_for, scorer_from
from likely.workbench.models.registry import entry_for
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.scoring.predictions import predict_for, truth_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
LABELS = np.array(["a", "b", "c"], dtype=object)[(X[:, 0] > 0) + (X[:, 1] > 0).astype(int)]
AMOUNTS = X @ [1.0, 2.0, 3.0] + RNG.normal(size=300)

THREE = Task("classes", "y", ("a", "b", "c"))
SCORER = {
    "log-loss": TaskScorer(THREE, LOSSES["log-loss"]),
    "error-rate": TaskScorer(THREE, LOSSES["error-rate"]),
    "mean-squared-error": TaskScorer(Task("real", "y"), LOSSES["mean-squared-error"]),
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


def sealed_with(table, tmp_path, judge="plain", **known):
    return SealFolder(likely.seal(table, "y", judge=judge, folder=tmp_path, **known).path)


def fitted(name, task, table):
    return Prepared(entry_for(name).build(task)).fit(table, "y")


def scored(scorer, said, y, y_train, groups=None):
    """Loss, gain and measures, as estimates."""
    told = scorer.score(said, y, y_train=y_train, level=0.95, groups=groups)
    told = json.loads(json.dumps(told | {"impossible_rows": told["impossible_rows"]}))
    gain = {"value": told["gain"], "interval": told["gain_interval"], "baseline": 0.0}
    measures = {line["metric"]: Estimate.from_json(line) for line in told["measures"]}
    return Estimate.from_json(told), Estimate.from_json(gain), measures


NUMBERS = [
    ("count", "glm-poisson"),
    ("count", "glm-negative-binomial"),
    ("count", "linear"),
    ("positive", "glm-gamma"),
    ("positive", "glm-inverse-gaussian"),
    ("positive", "glm-log-normal"),
    ("real", "linear"),
]


@pytest.mark.parametrize("groups", [None, np.arange(120) // 6], ids=["rows", "groups"])
@pytest.mark.parametrize(("kind", "name"), [*NUMBERS, ("binary", "logistic")])
def test_sealed_rows_have_the_score_of_held_out_rows(kind, name, groups, tmp_path):
    """The predictions are written to arrays before the labels are known, and read again."""
    table, new = some(kind), some(kind, seed=1)
    task = task_of(table, "y", kind=kind)
    model = fitted(name, task, table)
    scorer = scorer_for(model, sealed_with(table, tmp_path, kind=kind))
    said = scorer.predictions(model, new.drop_columns(["y"]))
    assert all(array.dtype.kind in "fU" for array in said.values())
    y, y_train = (rows.column("y").to_numpy(zero_copy_only=False) for rows in (new, table))
    loss, gain, measures = scored(scorer, said, y, y_train, groups)

    truth, training = truth_of(task, new), truth_of(task, table)
    held = score_of(
        metrics_for(kind),
        truth,
        predict_for(model, task, new),
        constant_prediction(training, truth),
        groups=groups,
    )
    assert list(measures) == list(held.estimates)
    for metric, estimate in held.estimates.items():
        expected = Estimate.from_json(plain(estimate.to_json()))  # which has no infinity
        assert_allclose(measures[metric], expected, rtol=1e-12)
    assert_allclose(gain, held.gain, rtol=1e-12)
    value, low, high, constant = held.main
    main = held.main if kind == "binary" else (-value, -high, -low, -constant)
    assert_allclose(loss, main, rtol=1e-12)
    assert_allclose(loss.baseline - loss.value, gain.value, rtol=1e-9)
    assert_allclose(scorer.losses(said, y).mean(), loss.value, rtol=1e-12)
    assert_allclose(scorer.estimated_loss({held.metric: value}), loss.value)


def test_what_a_family_thinks_impossible_has_a_price_in_every_score():
    scorer = TaskScorer(Task("positive", "y"), LOSSES["negative-log-likelihood"])
    family = '{"dispersion": 1.0, "name": "gamma", "settings": {}}'
    said = {"mean": np.array([-1.0, 1.0, 1.0]), "family": np.array([family])}
    y = np.array([1.0, 1.0, 2.0])
    assert_allclose(scorer.losses(said, y), [IMPOSSIBLE, 1.0, 2.0])
    loss, gain, measures = scored(scorer, said, y, np.array([1.0, 2.0, 4.0]))
    assert loss.value == pytest.approx((IMPOSSIBLE + 3) / 3)
    assert measures["log-likelihood"].value == -loss.value
    assert gain.value == pytest.approx(loss.baseline - loss.value)
    assert scorer.score(said, y, y_train=y, level=0.95)["impossible_rows"] == 1


@pytest.mark.parametrize("judge", ["ladder", "thresholdout"])
def test_judges_that_need_losses_from_0_up_get_squared_errors(judge, tmp_path):
    table = some("real")
    model = fitted("linear", task_of(table, "y"), table)
    scorer = scorer_for(model, sealed_with(table, tmp_path, judge))
    said = scorer.predictions(model, table.drop_columns(["y"]))
    assert scorer.name == "mean-squared-error"
    assert (scorer.losses(said, table.column("y").to_numpy()) >= 0).all()
    assert scorer.estimated_loss({"rmse": 2.0}) == 4.0
    assert scorer.estimated_loss({"r2": 0.5}) is None


def test_a_sealed_class_that_training_never_saw_counts_in_every_metric(tmp_path):
    table = some("binary")
    model = fitted("logistic", Task("binary", "y", ("no", "yes")), table)
    scorer = scorer_for(model, sealed_with(table, tmp_path))
    rows = table.drop_columns(["y"]).slice(0, 3)
    labels, y_train = np.array(["maybe", "no", "yes"]), table.column("y").to_numpy(False)
    said = scorer.predictions(model, rows)
    assert scorer.losses(said, labels)[0] == -LOG_FLOOR
    assert scorer.score(said, labels, y_train=y_train, level=0.95)["impossible_rows"] == 1
    loss, gain, measures = scored(scorer, said, labels, y_train)
    right = model.predict(rows) == labels
    assert measures["accuracy"].value == pytest.approx(right.mean())
    assert measures["log-loss"] == loss
    assert gain.value == pytest.approx(loss.baseline - loss.value)
    assert "f1" not in measures, "three classes are not two"


@pytest.mark.parametrize("kind", ["count", "positive", "real", "binary"])
@pytest.mark.parametrize("judge", ["plain", "ladder"])
def test_a_scorer_is_made_again_from_what_it_says_of_itself(kind, judge, tmp_path):
    table = some(kind)
    task = task_of(table, "y", kind=kind)
    model = fitted("linear" if kind != "binary" else "logistic", task, table)
    seal = sealed_with(table, tmp_path, judge, kind=kind)
    scorer = scorer_for(model, seal)
    again = scorer_from(json.loads(json.dumps(scorer.described())), seal)
    assert again == replace(scorer, task=replace(task, reason="", doubt=""))


def test_someones_own_scorer_cannot_be_made_again(tmp_path):
    seal = sealed_with(some("real"), tmp_path)
    assert scorer_from({"name": "someone's own"}, seal) is None
    assert scorer_from({"name": "log-loss"}, seal) is None


def test_a_model_without_a_target_is_refused():
    with pytest.raises(InvalidInput, match="GaussianMixture is neither a classifier"):
        task_of_fit(likely.GaussianMixture(), some("real"), "y")


@pytest.mark.parametrize("model", [LogisticRegression(), likely.SoftmaxRegression()])
def test_log_loss_agrees_with_scikit_learn(model):
    model.fit(X[:200], LABELS[:200])
    scorer = SCORER["log-loss"]
    losses = scorer.losses(scorer.predictions(model, X[200:]), LABELS[200:])
    expected = log_loss(LABELS[200:], model.predict_proba(X[200:]), labels=model.classes_)
    assert_allclose(losses.mean(), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "model", "dummy", "theirs", "y"),
    [
        ("log-loss", LogisticRegression(), DummyClassifier(strategy="prior"), None, LABELS),
        ("error-rate", RidgeClassifier(), DummyClassifier(), zero_one_loss, LABELS),
        ("mean-squared-error", LinearRegression(), DummyRegressor(), mean_squared_error, AMOUNTS),
    ],
)
def test_the_best_constant_is_scikit_learns_dummy(name, model, dummy, theirs, y):
    scorer = SCORER[name]
    dummy.fit(X[:200], y[:200])
    model.fit(X[:200], y[:200])
    said = scorer.predictions(model, X[200:])
    loss, gain, _ = scored(scorer, said, y[200:], y[:200])
    by_dummy = scorer.losses(scorer.predictions(dummy, X[200:]), y[200:])
    assert_allclose(loss.baseline, by_dummy.mean())
    assert_allclose(gain.value, (by_dummy - scorer.losses(said, y[200:])).mean())
    on_train = scorer.losses(scorer.predictions(dummy, X[:200]), y[:200])
    assert_allclose(scorer.constant_loss(y[:200]), on_train.mean())
    if theirs is not None:
        assert_allclose(loss.value, theirs(y[200:], model.predict(X[200:])))


def test_a_class_the_model_does_not_know_costs_the_floor():
    scorer = TaskScorer(Task("binary", "y", ("a", "b")), LOSSES["log-loss"])
    said = {"log_proba": np.log([[0.5, 0.5]])}
    assert scorer.losses(said, np.array(["z"])) == [-LOG_FLOOR]
    certain = {"log_proba": np.array([[0.0, -np.inf]])}
    assert scorer.losses(certain, np.array(["b"])) == [-LOG_FLOOR]
    labels = TaskScorer(scorer.task, LOSSES["error-rate"])
    assert labels.losses({"labels": np.array([0])}, np.array(["z"])) == [1.0]


def by_labels(wrong, constant_wrong=None):
    """The score of labels of which some are wrong, beside a constant of which others are."""
    wrong = np.asarray(wrong, dtype=np.int64)
    beside = np.zeros_like(wrong) if constant_wrong is None else np.asarray(constant_wrong)
    truth = Truth(np.zeros(len(wrong), dtype=np.int64), None, ("a", "b"), "binary")
    constant = Prediction.of_classes(np.log(np.where(beside[:, None] == [1, 0], 0.2, 0.8)))
    return truth, Prediction.of_labels(wrong), constant


def error_rate(wrong, groups=None, constant_wrong=None):
    found = score_of([metric_named("accuracy")], *by_labels(wrong, constant_wrong), groups=groups)
    return LOSSES["error-rate"].of(found.main), found.gain


@pytest.mark.parametrize("n", [1, 5, 20, 400])
def test_no_errors_in_n_rows_are_no_certainty(n):
    """The end is between the rule of three, 3/n, and the exact one of Clopper and Pearson."""
    none, _ = error_rate(np.zeros(n))
    assert none.low == 0.0
    exact = 1 - 0.025 ** (1 / n)
    assert 0.75 * exact < none.high <= min(1.0, 1.05 * exact)
    assert_allclose(error_rate(np.ones(n))[0].low, 1 - none.high)


def test_one_row_tells_nothing_but_the_range_of_the_loss():
    said, y = {"log_proba": np.log([[0.2, 0.8]])}, np.array(["a"])
    scorer = TaskScorer(Task("binary", "y", ("a", "b")), LOSSES["log-loss"])
    loss, _, _ = scored(scorer, said, y, np.array(["a", "b"]))
    assert loss[1:3] == (0.0, -LOG_FLOOR)
    said = {"mean": np.array([2.0])}
    loss, _, _ = scored(SCORER["mean-squared-error"], said, np.array([1.0]), np.array([1.0, 2.0]))
    assert loss[1:3] == (0.0, np.inf)


@pytest.mark.parametrize(("kind", "negative"), [("count", False), ("positive", True)])
def test_the_interval_of_a_density_may_go_below_0_and_that_of_a_mass_may_not(kind, negative):
    truth = Truth(np.array([1.0, 2.0, 1.0]), kind=kind)
    said = Prediction.of_numbers(truth.y, np.array([-1e-3, -1e-3, -2.0]))
    for groups in (None, np.arange(3)):
        found = score_of(
            metrics_for(kind), truth, said, constant_prediction(truth, truth), groups=groups
        )
        assert (LOSSES["negative-log-likelihood"].of(found.main).low < 0) is negative


def test_errors_that_groups_share_count_as_fewer_rows():
    wrong, groups = np.repeat([1, 0], 150), np.arange(20).repeat(15)
    found, _ = error_rate(wrong, groups)
    # at most as wide as twenty rows with t of 19 for z: every group is all right or all wrong
    expected = wilson(0.5, 20 * (1.968 / 2.093) ** 2, 0.95)
    assert_allclose(found[1:3], expected, atol=0.01)
    none, _ = error_rate(np.zeros(300), groups)
    assert none.high > wilson(0.0, 20, 0.95)[1], "no error does not show that rows are independent"


@pytest.mark.parametrize("name", list(SCORER))
def test_one_group_tells_nothing_but_the_range_of_the_loss(name):
    scorer, groups = SCORER[name], np.zeros(100, dtype=np.int64)
    y = AMOUNTS if name == "mean-squared-error" else LABELS
    model = {
        "log-loss": LogisticRegression(),
        "error-rate": RidgeClassifier(),
        "mean-squared-error": LinearRegression(),
    }[name].fit(X[:200], y[:200])
    said = scorer.predictions(model, X[200:])
    loss, gain, _ = scored(scorer, said, y[200:], y[:200], groups)
    highest = {"log-loss": -LOG_FLOOR, "error-rate": 1.0, "mean-squared-error": np.inf}
    assert loss[1:3] == (0.0, highest[name])
    assert gain.low < 0 < gain.high


def test_a_gain_is_paired():
    """Rows differ far more from each other than the model does from the constant on any row."""
    rng = np.random.default_rng(0)
    truth = Truth(rng.normal(size=400), kind="real")
    density = -rng.exponential(size=400)
    constant = Prediction.of_numbers(truth.y, density)
    said = Prediction.of_numbers(truth.y, density + 0.02 + 0.01 * rng.normal(size=400))
    found = score_of(metrics_for("real"), truth, said, constant)
    assert 0.018 < found.gain.low < found.gain.high < 0.022
    assert found.main.low < found.main.baseline, "which shows nothing"


@pytest.mark.parametrize("n", [1, 3, 10])
def test_a_gain_on_every_one_of_few_rows_is_no_certainty(n):
    _, gain = error_rate(np.zeros(n), constant_wrong=np.ones(n))
    assert gain.high == 1.0
    assert gain.low < 1 - 1 / (n + 2)
    assert (gain.low > 0) == (n > 1)


@pytest.mark.parametrize("groups", [None, np.arange(60) // 4])
def test_the_gain_in_errors_is_that_of_matched_proportions_after_two_more_rows(groups):
    """Agresti & Min, on the rows themselves, with half a row each of the differences ±1, 0, 0."""
    rng = np.random.default_rng(1)
    wrong, beside = (rng.random((2, 60)) < [[0.2], [0.3]]).astype(int)
    _, gain = error_rate(wrong, groups, beside)
    values = np.append(beside - wrong, [1.0, -1.0, 0.0, 0.0])
    n = 60.0
    if groups is not None:
        n = effective_rows((beside - wrong).astype(float), groups)
    weight = np.append(np.full(60, n / 60), np.full(4, 0.5))
    centre = np.average(values, weights=weight)
    spread = np.average(np.square(values - centre), weights=weight)
    half = 1.959963984540054 * np.sqrt(spread / weight.sum())
    assert_allclose(gain[:3], [(beside - wrong).mean(), centre - half, centre + half])


def test_the_gain_in_errors_covers_as_often_as_it_says():
    rng, covered = np.random.default_rng(0), 0
    for _ in range(1000):
        wrong, beside = (rng.random((2, 60)) < [[0.2], [0.3]]).astype(int)
        _, gain = error_rate(wrong, constant_wrong=beside)
        covered += gain.low <= 0.1 <= gain.high
    assert abs(covered / 1000 - 0.95) < 0.025  # chance has 0.007
