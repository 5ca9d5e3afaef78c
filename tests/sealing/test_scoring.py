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
from likely.intervals import wilson
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
    extras = SCORERS["log loss"].extras(certain, np.array(["b"]), 0.95, y_train=np.array(["a"]))
    assert extras == {"impossible_rows": 1}


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


def test_one_row_tells_nothing_but_the_range_of_the_loss():
    for name, high in (("log loss", -LOG_FLOOR), ("mean squared error", np.inf)):
        assert SCORERS[name].interval(np.array([2.0]), 0.95) == (2.0, 0.0, high)
    _, low, high = SCORERS["error rate"].interval(np.array([0.0]), 0.95)
    assert low == 0.0
    assert high > 0.7


@pytest.mark.parametrize("n", [1, 5, 20, 400])
def test_no_errors_in_n_rows_are_no_certainty(n):
    """Wilson's end at p̂ = 0 is z²/(n + z²)."""
    value, low, high = SCORERS["error rate"].interval(np.zeros(n), 0.95)
    z2 = 1.959963984540054**2
    assert (value, low) == (0.0, 0.0)
    assert_allclose(high, z2 / (n + z2))
    assert_allclose(SCORERS["error rate"].interval(np.ones(n), 0.95).low, n / (n + z2))


def test_wilsons_interval_is_that_of_statsmodels():
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    for right in (0, 3, 17, 40):
        theirs = proportion.proportion_confint(right, 40, alpha=0.1, method="wilson")
        assert_allclose(wilson(right / 40, 40, 0.9), theirs, atol=1e-12)


def test_an_interval_stays_where_the_loss_can_be():
    skewed = np.append(np.full(9, 1e-3), 5.0)
    assert mean_interval(skewed, 0.95).low < 0, "Student's own interval goes below 0"
    for name in ("log loss", "mean squared error"):
        assert SCORERS[name].interval(skewed, 0.95).low == 0.0
    assert SCORERS["log loss"].interval(np.array([30.0, 36.0]), 0.95).high == -LOG_FLOOR


@pytest.mark.parametrize(
    "column",
    [pa.array(["a", "b"]), pa.array(["a", "b"]).dictionary_encode(), pa.array([1, 2])],
)
def test_labels_are_arrays_of_values(column):
    assert values_of(pa.chunked_array([column])).tolist() == column.to_pylist()


def grouped(spread, seed=0):
    """Losses of 20 groups of 15 rows that share a part, and their groups."""
    rng = np.random.default_rng(seed)
    groups = np.arange(20).repeat(15)
    return np.exp(spread * rng.normal(size=20)[groups] + rng.normal(size=300)), groups


@pytest.mark.parametrize("name", ["log loss", "mean squared error"])
def test_losses_that_groups_share_have_the_interval_of_groups(name):
    losses, groups = grouped(1.0)
    value, low, high = SCORERS[name].interval(losses, 0.95, groups)
    per_group = np.array([(losses[groups == g] - value).sum() for g in range(20)])
    half = 2.093024054408263 * np.sqrt(20 / 19 * np.square(per_group).sum()) / 300  # t of 19
    assert_allclose([value, low, high], [losses.mean(), max(value - half, 0), value + half])
    assert half > 1.5 * (SCORERS[name].interval(losses, 0.95).high - value)


def test_errors_that_groups_share_count_as_fewer_rows():
    wrong, groups = np.repeat([1.0, 0.0], 150), np.arange(20).repeat(15)
    value, low, high = SCORERS["error rate"].interval(wrong, 0.95, groups)
    assert value == 0.5
    # at most as wide as twenty rows with t of 19 for z: every group is all right or all wrong
    assert_allclose([low, high], wilson(0.5, 20 * (1.968 / 2.093) ** 2, 0.95), atol=0.01)
    none = SCORERS["error rate"].interval(np.zeros(300), 0.95, groups)
    assert none.high > wilson(0.0, 20, 0.95)[1], "no error does not show that rows are independent"


@pytest.mark.parametrize("name", list(SCORERS))
def test_one_group_tells_nothing_but_the_range_of_the_loss(name):
    scorer, losses = SCORERS[name], np.array([0.0, 1.0, 1.0, 0.0])
    _, low, high = scorer.interval(losses, 0.95, np.zeros(4, dtype=np.int64))
    assert (low, high) == (scorer.lowest, scorer.highest)
    gain = scorer.gain(losses, np.ones(4), 0.95, np.zeros(4, dtype=np.int64))
    assert gain.low < 0 < gain.high


@pytest.mark.parametrize("name", ["log loss", "mean squared error"])
def test_a_gain_is_paired(name):
    """Rows differ far more from each other than the model does from the constant on any row."""
    rng = np.random.default_rng(0)
    constant = rng.exponential(size=400)
    losses = constant - 0.02 - 0.01 * rng.normal(size=400)
    scorer = SCORERS[name]
    value, low, high = scorer.gain(losses, constant, 0.95)
    assert_allclose([value, low, high], mean_interval(constant - losses, 0.95))
    assert 0.018 < low < high < 0.022
    assert scorer.interval(losses, 0.95).high > constant.mean(), "which shows nothing"


@pytest.mark.parametrize("n", [1, 3, 10])
def test_a_gain_on_every_one_of_few_rows_is_no_certainty(n):
    value, low, high = SCORERS["error rate"].gain(np.zeros(n), np.ones(n), 0.95)
    assert value == high == 1.0
    assert low < 1 - 1 / (n + 2)
    assert (low > 0) == (n > 1)


def test_the_gain_in_errors_covers_as_often_as_it_says():
    rng, covered, scorer = np.random.default_rng(0), 0, SCORERS["error rate"]
    for _ in range(1000):
        wrong, baseline = rng.random((2, 60)) < [[0.2], [0.3]]
        _, low, high = scorer.gain(wrong * 1.0, baseline * 1.0, 0.95)
        covered += low <= 0.1 <= high
    assert abs(covered / 1000 - 0.95) < 0.025  # chance has 0.007
