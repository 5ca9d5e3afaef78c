"""What all estimators share around a fit: seeds, refusals that change nothing, folds, warnings."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold

import likely
from likely.errors import BadCell, InvalidInput
from likely.inputs.estimators import (
    check_folds,
    column_needs,
    columns_named,
    folds_of,
    generator,
    refuse_single_rows,
    steps_of,
    unchanged_if_refused,
    warn_unless_converged,
)
from likely.solvers.minimise import Solution

CODES = np.array([0, 1, -1, 0, 1, 0, 1, -1, 0, 1])


class Some(BaseEstimator):
    """An estimator without a mind of its own."""


def test_a_seed_is_a_seed_in_every_form():
    assert generator(3).random() == generator(3).random() == np.random.default_rng(3).random()
    given = np.random.default_rng(0)
    assert generator(given) is given
    one, other = (generator(np.random.RandomState(0)).random() for _ in range(2))
    assert one == other


def test_an_estimator_is_as_it_was_after_a_refusal():
    model = likely.GLM()
    model.kept_ = 1
    with pytest.raises(InvalidInput), unchanged_if_refused(model):
        model.kept_, model.new_ = 2, 3
        raise InvalidInput("no")
    assert model.kept_ == 1
    assert not hasattr(model, "new_")


def test_a_search_that_stopped_early_says_so():
    stopped = Solution(None, False, "max_iter=3 was reached with a gap of 1", (1.0,), 1.0)
    with pytest.warns(ConvergenceWarning, match=r"Some\(\) did not converge: max_iter=3.*Raise"):
        warn_unless_converged(Some(), stopped)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_unless_converged(Some(), Solution(None, True, "", (1.0,), 0.0))


def test_a_complaint_about_a_cell_names_its_column():
    model = Some()
    model.n_features_in_ = 2
    with pytest.raises(InvalidInput, match=r"Row 3, column 'x1': no"), columns_named(model):
        raise BadCell("no", row=3, column=1)
    model.feature_names_in_ = np.array(["a", "b"], dtype=object)
    with pytest.raises(InvalidInput, match=r"Row 3, column 'b': no"), columns_named(model):
        raise BadCell("no", row=3, column=1)


@pytest.mark.parametrize("cv", [3, np.int64(3), KFold(3)])
def test_present_rows_are_held_out_once_and_absent_rows_never(cv):
    folds = folds_of(cv, np.zeros((10, 1)), None, codes=CODES)
    held = np.concatenate([rows for _, rows in folds])
    assert sorted(held.tolist()) == np.flatnonzero(CODES >= 0).tolist()
    for learn, rows in folds:
        assert not set(learn) & set(rows)
        assert (CODES[learn] >= 0).all()


def test_classes_are_shared_equally_and_a_seed_changes_the_folds():
    codes = np.repeat([0, 1], 20)
    for _, rows in folds_of(4, None, None, codes=codes):
        assert np.bincount(codes[rows]).tolist() == [5, 5]
    one, other = (folds_of(4, None, None, codes=codes, seed=seed)[0][1] for seed in (0, 1))
    assert one.tolist() != other.tolist()


@pytest.mark.parametrize("cv", [1, 0, True, "prefix", None])
def test_what_is_no_number_of_folds_is_refused(cv):
    with pytest.raises(InvalidInput, match=r"expected a number of folds.*or None. Use 5"):
        check_folds(cv, otherwise="None")


def test_a_class_of_one_row_is_refused_by_its_name():
    with pytest.raises(InvalidInput, match=r"Class 'b' has one row; folds need two.*or go home"):
        refuse_single_rows(np.array([0, 0, 1, -1]), np.array(["a", "b"]), otherwise="go home")
    refuse_single_rows(np.array([0, 0, 1, 1]), np.array(["a", "b"]), otherwise="go home")


@pytest.mark.parametrize(
    ("model", "scale", "categories"),
    [
        (likely.SoftmaxRegression(l2=0.0), False, True),
        (likely.MaxEntropy(), True, True),
        (likely.PlattScaling(likely.LogisticRegression()), True, True),
        (likely.PlattScaling(likely.NaiveBayes()), False, True),
        (likely.PenaltyPath(likely.LinearRegression()), True, True),
        (Ridge(), True, False),
        (GridSearchCV(likely.LogisticRegression(), {"l2": [0.1, 1.0]}), True, False),
    ],
)
def test_a_model_says_how_it_wants_its_columns_also_inside_another(model, scale, categories):
    assert column_needs(model)[:2] == (scale, categories)


@pytest.mark.parametrize(
    "model",
    [
        likely.FrankHall(likely.LogisticRegression()),
        likely.PenaltyPath(likely.SoftmaxRegression(), cv=2, n_penalties=2),
        likely.MaxEntropy(),
        likely.PlattScaling(likely.LogisticRegression(), cv=2),
    ],
)
def test_names_of_an_earlier_fit_are_forgotten(model):
    frame = pd.DataFrame({"a": np.arange(12.0), "b": 1.0})
    y = np.arange(12) % 2
    model.fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    model.fit(frame[["a"]].to_numpy(), y)
    assert model.n_features_in_ == 1
    assert not hasattr(model, "feature_names_in_")


def test_steps_are_those_of_a_search():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    assert steps_of(likely.NaiveBayes().fit(X, y)) == 0  # n_iter_ is 1, for scikit-learn
    assert steps_of(likely.LogisticRegression().fit(X, y)) >= 1
    assert steps_of(LogisticRegression().fit(X, y)) >= 1  # one number per class
    assert steps_of(RandomForestClassifier(n_estimators=2).fit(X, y)) == 0
