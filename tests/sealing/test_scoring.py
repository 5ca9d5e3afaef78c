"""Scores against scikit-learn, and intervals that cover."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import log_loss, mean_squared_error, zero_one_loss
from sklearn.svm import LinearSVC

import likely
from likely.errors import InvalidInput
from likely.sealing.scoring import (
    LOG_FLOOR,
    SCORERS,
    mean_interval,
    places,
    scorer_for,
    values_of,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
LABELS = np.array(["a", "b", "c"], dtype=object)[(X[:, 0] > 0) + (X[:, 1] > 0).astype(int)]
AMOUNTS = X @ [1.0, 2.0, 3.0] + RNG.normal(size=300)


@pytest.mark.parametrize("model", [LogisticRegression(), likely.SoftmaxRegression()])
def test_log_loss_agrees_with_scikit_learn(model):
    model.fit(X[:200], LABELS[:200])
    scorer = SCORERS["log loss"]
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
    scorer = SCORERS[name]
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
    assert SCORERS["log loss"].losses(predictions, np.array(["z"])) == [-LOG_FLOOR]
    certain = {"log_proba": np.array([[0.0, -np.inf]]), "classes": np.array(["a", "b"])}
    assert SCORERS["log loss"].losses(certain, np.array(["b"])) == [-LOG_FLOOR]
    assert SCORERS["log loss"].extras(certain, np.array(["b"]), 0.95) == {"impossible_rows": 1}


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (likely.NaiveBayes(), "log loss"),
        (LinearSVC(), "error rate"),
        (likely.GLM("poisson"), "mean squared error"),
    ],
)
def test_the_scorer_follows_from_the_model(model, name):
    assert scorer_for(model).name == name


def test_a_model_without_a_target_is_refused():
    with pytest.raises(InvalidInput, match="GaussianMixture is neither a classifier"):
        scorer_for(likely.GaussianMixture())


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_cover_as_often_as_they_say(level):
    draws = np.random.default_rng(1).exponential(size=(2000, 80))
    covered = [low <= 1.0 <= high for _, low, high in (mean_interval(d, level) for d in draws)]
    # skew costs about 0.02 at n = 80; chance 0.01
    assert abs(np.mean(covered) - level) < 0.03


def test_one_row_has_no_width():
    assert mean_interval(np.array([2.0]), 0.95) == (2.0, 2.0, 2.0)


@pytest.mark.parametrize(
    "column",
    [pa.array(["a", "b"]), pa.array(["a", "b"]).dictionary_encode(), pa.array([1, 2])],
)
def test_labels_are_arrays_of_values(column):
    assert values_of(pa.chunked_array([column])).tolist() == column.to_pylist()
