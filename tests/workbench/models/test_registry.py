"""The registry: each model suits its targets, builds, fits, and answers."""

import re
import warnings

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression as SklearnLogistic
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

import likely
from likely.errors import InvalidInput, UnknownName
from likely.kinds import NUMBER_KINDS, TARGET_KINDS
from likely.likelihoods.responses import RESPONSES
from likely.metrics import constant_prediction, metrics_for, score_of
from likely.workbench.data.task import Task, task_of
from likely.workbench.models.registry import (
    BASELINE,
    MODELS,
    entries_for,
    entry_for,
    space_of,
)
from likely.workbench.scoring.predictions import predict_for, truth_of

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
    return [(kind, name) for kind in TARGET_KINDS for name in MODELS if kind in MODELS[name].suits]


@pytest.mark.parametrize(("kind", "name"), every_pair())
def test_every_model_fits_its_targets_and_every_metric_reads_its_answer(kind, name):
    table, task = example(kind)
    if MODELS[name].for_zeros and kind == "real":  # no amount is below 0
        amounts = np.maximum(table.column("y").to_numpy(), 0.0)
        table = table.set_column(2, "y", pa.array(amounts))
    model = MODELS[name].build(task, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", likely.errors.LikelyWarning)
        model.fit(table.select(["u", "v"]), table.column("y").to_numpy(zero_copy_only=False))
    prediction, truth = predict_for(model, task, table), truth_of(task, table)
    if task.has_classes:
        assert_allclose(np.exp(prediction.log_p).sum(axis=1), 1)
    metrics = metrics_for(task.kind)
    found = score_of(metrics, truth, prediction, constant_prediction(truth, truth)).estimates
    assert list(found) == [metric.name for metric in metrics]
    for name, (value, low, high, constant) in found.items():
        assert np.isfinite(constant)
        assert low <= value <= high or np.isinf(value), name


@pytest.mark.parametrize("kind", TARGET_KINDS)
def test_the_baseline_is_first_and_something_rivals_it(kind):
    found = [entry.name for entry in entries_for(kind)]
    assert found[0] == BASELINE
    assert len(found) >= 3
    assert set(found) <= {each.name for each in entries_for(kind, everything=True)}


def test_the_baseline_reaches_the_best_constants_value():
    for kind in TARGET_KINDS:
        table, task = example(kind)
        model = MODELS[BASELINE].build(task)
        model.fit(table.select(["u", "v"]), table.column("y").to_numpy(zero_copy_only=False))
        truth, prediction = truth_of(task, table), predict_for(model, task, table)
        main = metrics_for(task.kind)[0]
        assert_allclose(
            main.value(main.statistics(truth, prediction)), main.best_constant(truth, truth)
        )


def test_slow_models_are_tried_only_when_asked_for():
    slow = {name for name, entry in MODELS.items() if entry.cost == "high"}
    assert slow
    for kind in TARGET_KINDS:
        assert not slow & {entry.name for entry in entries_for(kind)}


def test_the_order_of_the_classes_reaches_the_model():
    _, task = example("ordinal")
    assert entry_for("ordinal").build(task).order == ["s", "m", "l"]


def test_settings_overrule_and_reach_inside():
    _, task = example("binary")
    assert entry_for("logistic").build(task, {"l2": 7.0}).l2 == 7.0
    path = entry_for("logistic-lasso").build(task, {"model__tol": 1e-3, "n_penalties": 5})
    assert (path.model.tol, path.n_penalties) == (1e-3, 5)
    again = entry_for("logistic-lasso").build(task)
    assert again.model is not path.model


def test_a_model_of_another_kind_of_task_is_refused_with_those_that_fit():
    _, task = example("real")
    with pytest.raises(
        InvalidInput, match=r"logistic is for two classes; the target 'y' holds numbers.*linear"
    ):
        entry_for("logistic").build(task)
    with pytest.raises(UnknownName, match="Did you mean 'lasso'"):
        entry_for("lassoo")


def test_softmax_tells_two_classes_apart_where_it_is_asked_for_and_is_not_tried_unasked():
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.normal(size=60), "y": ["a", "b"] * 30})
    found = likely.compare(table, "y", ["logistic", "softmax"], folds=2, repeats=1)
    assert not found.failed
    assert found.task.kind == "binary"
    assert "softmax" not in [each.name for each in entries_for("binary", everything=True)]


TREE = "sklearn.tree.DecisionTreeClassifier"


def two_classes(n=90):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    return pa.table({"x": x, "y": np.where(x + rng.normal(size=n) > 0, "a", "b")})


def test_an_import_path_is_compared_tuned_and_drawn_like_any_other_model():
    table = two_classes()
    found = likely.compare(table, "y", ["logistic", TREE], folds=3, repeats=1)
    assert {each.name for each in found.entries} == {"constant", "logistic", TREE}
    assert not found.failed
    study = likely.tune(table, "y", TREE, space={"max_depth": [1, 2]}, search="grid", folds=3)
    assert study.best_parameters_["max_depth"] in (1, 2)
    curve = likely.learning_curve(table, "y", TREE, of="max_depth", values=[1, 2], folds=3)
    assert all(not point.problem for point in curve.points)


def test_an_import_path_is_seeded_and_an_estimator_of_the_same_class_agrees():
    table = two_classes()
    by_path = likely.compare(table, "y", TREE, folds=3, repeats=1, seed=4)
    given = DecisionTreeClassifier(random_state=4)
    by_hand = likely.compare(table, "y", given, folds=3, repeats=1, seed=4)
    assert by_path[TREE].value == by_hand["DecisionTreeClassifier"].value


def test_a_path_without_a_space_and_one_without_probabilities_are_refused_with_advice():
    table = two_classes()
    with pytest.raises(InvalidInput, match=r"no default search space.*Declare.*max_depth"):
        likely.tune(table, "y", TREE)
    path = "sklearn.svm.LinearSVC"
    note = likely.compare(table, "y", [path, TREE], folds=2)[path].notes[0]
    assert re.search(r"no predict_proba.*PlattScaling\(LinearSVC\(\)\)", note)


def test_only_names_with_a_dot_that_are_not_registered_are_imported():
    with pytest.raises(UnknownName):
        entry_for("antigravity")
    assert not any(entry.is_foreign for entry in MODELS.values())
    assert not any("." in name for name in MODELS)


def test_an_estimator_has_the_space_of_the_registered_model_that_it_is_like():
    same = {
        "naive-bayes": likely.NaiveBayes(),
        "glm-poisson": likely.GLM(response="poisson"),
        "ridge": likely.PenaltyPath(likely.LinearRegression(), along="l2"),
        "lasso": likely.PenaltyPath(likely.LinearRegression(), along="l1"),
        "frank-hall": likely.FrankHall(likely.LogisticRegression()),
    }
    for name, estimator in same.items():
        assert space_of(estimator) == space_of(name), name
    assert space_of(likely.MaxEntropy()).names == ["l2"]
    for stranger in (SklearnLogistic(), likely.FrankHall(likely.NaiveBayes())):
        with pytest.raises(InvalidInput, match="has no default search space"):
            space_of(stranger)


def test_a_response_says_what_its_numbers_are():
    assert entry_for("glm").with_settings({"response": "poisson"}).first_kind == "count"
    assert entry_for(likely.GLM(response="gamma")).first_kind == "positive"
    assert entry_for(likely.GLM()).first_kind == "real"
    assert entry_for("linear").first_kind is None
    for response in RESPONSES.values():
        assert response.target_kind in NUMBER_KINDS


def test_every_entry_says_what_the_workbench_needs():
    for name, entry in MODELS.items():
        assert entry.summary.endswith("."), name
        assert entry.cost in ("low", "medium", "high")
        assert set(entry.settings) <= set(entry.defaults()), name
        tags = get_tags(entry.load()(**entry.arguments(None)))
        if entry.streams:
            assert tags.input_tags.allow_nan == entry.missing, name


@pytest.mark.parametrize(
    ("kind", "made", "response"),
    [
        ("binary", "NeuralNetworkClassifier", None),
        ("ordinal", "NeuralNetworkClassifier", None),
        ("real", "NeuralNetworkRegressor", None),
        ("positive", "NeuralNetworkRegressor", "gamma"),
        ("count", "NeuralNetworkRegressor", "negative-binomial"),
    ],
)
def test_one_name_is_the_network_that_suits_the_target(kind, made, response):
    classes = ("a", "b") if kind in ("binary", "ordinal") else ()
    task = Task(kind, "y", classes, classes if kind == "ordinal" else None)
    entry = MODELS["neural-network"]
    built = entry.build(task, {"hidden": (7,)}, seed=3)
    assert type(built).__name__ == made
    assert (built.response, built.hidden, built.random_state) == (response, (7,), 3)
    assert built.early_stopping and built.n_networks == 5
    if classes == ():
        assert entry.build(task, {"response": "gaussian"}).response == "gaussian"
        given = entry.with_settings({"response": "tweedie(1.5)"}).build(task)
        assert given.response == "tweedie(1.5)"
