"""Frank and Hall's reduction: two classes, each cut, crossings, orders, weights, refusals."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import accuracy_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from likely import NaiveBayes
from likely.calibrate.platt import PlattScaling
from likely.errors import AlphabeticalOrder, InvalidInput
from likely.linear.frank_hall import FrankHall

GRADES = ["poor", "fair", "good", "fine"]


def graded(seed=0, n=300):
    """Rows, and grades that rise along one direction."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    height = X @ [1.0, -1.0, 0.5] + rng.logistic(size=n)
    return X, np.array(GRADES)[np.digitize(height, [-1.0, 0.0, 1.5])]


def plain():
    return LogisticRegression(C=np.inf, tol=1e-10, max_iter=500)


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
def test_passes_the_checks_of_scikit_learn():
    results = check_estimator(FrankHall(NaiveBayes()), on_fail=None, on_skip=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert failed == {}
    assert sum(r["status"] == "passed" for r in results) >= 61


@pytest.mark.parametrize("estimator", [NaiveBayes(), LogisticRegression()], ids=["ours", "theirs"])
def test_with_two_classes_it_is_the_base_learner(estimator):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :3]
    base = estimator.fit(X, y)
    model = FrankHall(estimator).fit(X, y)
    assert_allclose(model.predict_proba(X), base.predict_proba(X), rtol=1e-15, atol=1e-15)
    assert_array_equal(model.predict(X), base.predict(X))


def test_each_cut_is_a_binary_fit_to_whether_y_is_above():
    X, y = graded()
    model = FrankHall(plain(), order=GRADES).fit(X, y)
    assert model.classes_.tolist() == GRADES
    above = [plain().fit(X, np.isin(y, GRADES[j + 1 :])) for j in range(3)]
    gamma = np.column_stack([cut.predict_proba(X)[:, 1] for cut in above])
    for ours, theirs in zip(model.estimators_, above, strict=True):
        assert_allclose(ours.coef_, theirs.coef_)
    whole = np.setdiff1d(np.arange(len(X)), model.crossings(X))
    proba = model.predict_proba(X)[whole]
    assert_allclose(proba[:, 0], 1 - gamma[whole, 0])
    assert_allclose(proba[:, 1:3], (gamma[:, :2] - gamma[:, 1:])[whole])
    assert_allclose(proba[:, 3], gamma[whole, 2])


def test_survival_that_rises_is_clipped_counted_and_made_to_total_one():
    X, y = graded()
    model = FrankHall(DecisionTreeClassifier(max_depth=3), order=GRADES).fit(X, y)
    gamma = np.column_stack([cut.predict_proba(X)[:, 1] for cut in model.estimators_])
    rises = (np.diff(gamma, axis=1) > 0).any(axis=1)
    assert 0 < rises.sum() < len(X)
    assert_array_equal(model.crossings(X), np.flatnonzero(rises))
    proba = model.predict_proba(X)
    assert (proba >= 0).all()
    assert_allclose(proba.sum(axis=1), 1)
    assert (proba[rises] == 0).any(axis=1).all()
    assert_allclose(np.exp(model.predict_log_proba(X)), proba)


def test_the_expected_rank_counts_from_one():
    X, y = graded()
    model = FrankHall(NaiveBayes(), order=GRADES).fit(X, y)
    assert_allclose(model.expected_rank(X), model.predict_proba(X) @ [1, 2, 3, 4])
    low, high = model.expected_rank([[-1.5, 1.5, -0.7], [1.5, -1.5, 0.7]])
    assert 1 < low < 1.5
    assert 3.5 < high < 4


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_order_of_a_categorical_column_of_the_frame_is_used(library):
    X, y = graded()
    frame = pd.DataFrame(X, columns=list("abc"))
    grade = pd.Categorical(y, GRADES, ordered=True)
    both = frame.assign(grade=grade)
    if library == "polars":
        frame = pl.from_pandas(frame)
        both = frame.with_columns(pl.Series("grade", y, dtype=pl.Enum(GRADES)))
    model = FrankHall(NaiveBayes()).fit(both, "grade")
    assert model.classes_.tolist() == GRADES
    assert model.feature_names_in_.tolist() == list("abc")
    by_array = FrankHall(NaiveBayes(), order=GRADES).fit(X, y)
    assert_allclose(model.predict_proba(frame), by_array.predict_proba(X))
    assert model.score(frame, y) == accuracy_score(y, by_array.predict(X))


def test_weight_two_is_the_row_twice_and_weight_zero_the_row_absent():
    X, y = graded()
    weight = np.random.default_rng(1).integers(0, 3, len(y)) * (y != "fine")
    weighted = FrankHall(NaiveBayes(), order=GRADES).fit(X, y, sample_weight=weight)
    index = np.repeat(np.arange(len(y)), weight)
    repeated = FrankHall(NaiveBayes(), order=GRADES).fit(X[index], y[index])
    assert weighted.classes_.tolist() == GRADES[:3]
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-12, atol=1e-12)


def test_a_classifier_without_probabilities_is_refused_and_a_calibrated_one_is_not():
    X, y = graded()
    with pytest.raises(InvalidInput, match=r"RidgeClassifier has no predict_proba.*PlattScaling"):
        FrankHall(RidgeClassifier()).fit(X, y)
    assert FrankHall(PlattScaling(RidgeClassifier()), order=GRADES).fit(X, y).score(X, y) > 0.4


def test_weights_that_the_estimator_does_not_take_are_refused():
    X, y = graded()
    with pytest.raises(InvalidInput, match=r"KNeighborsClassifier\.fit does not take it"):
        FrankHall(KNeighborsClassifier(), order=sorted(set(y))).fit(
            X, y, sample_weight=np.ones(len(y))
        )


def test_words_without_an_order_are_sorted_with_a_warning():
    X, y = graded()
    with pytest.warns(AlphabeticalOrder, match="alphabetical order: "):
        model = FrankHall(NaiveBayes()).fit(X, y)
    assert model.classes_.tolist() == sorted(set(y))


def test_one_class_is_refused():
    with pytest.raises(InvalidInput, match="only one class, 'good'"):
        FrankHall(NaiveBayes()).fit([[0.0], [1.0]], ["good", "good"])
