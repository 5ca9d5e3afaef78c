"""Permutation importance and partial effects: known answers, groups of columns, other libraries."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression as ForeignLinear

import likely
from likely import Importance, PartialEffects, partial_effects, permutation_importance
from likely.errors import InvalidInput, UnknownName


def table(n=400):
    rng = np.random.default_rng(1)
    size = rng.normal(10, 2, n)
    frame = pd.DataFrame(
        {
            "size": size,
            "size_in_feet": size * 3.28 + rng.normal(0, 0.01, n),
            "age": rng.normal(size=n),
            "town": rng.choice(["Ghent", "Mons", "Ypres"], n),
            "noise": rng.normal(size=n),
        }
    )
    y = size + frame["age"] + (frame["town"] == "Mons") + rng.normal(0, 0.5, n)
    return frame, y.to_numpy()


def test_the_increase_of_a_squared_error_is_twice_the_variance_that_a_column_adds():
    X = np.random.default_rng(0).normal(size=(4000, 2))
    y = 3 * X[:, 0]
    found = permutation_importance(ForeignLinear().fit(X, y), X, y, rows=None)
    assert found.names == ("x0", "x1")
    assert found.unit == "squared error"
    assert found.low[0] < 18 < found.high[0]  # 2 · 3² · Var(x)
    assert_allclose(found.increase[1], 0.0, atol=1e-10)


def test_every_row_of_an_exact_model_changes_as_enumeration_says():
    """Mean over all shifts of a column of 0 and 1: the log loss of a wrong or right cell."""
    X = pd.DataFrame({"a": [0, 1] * 20, "b": 0.5})
    y = np.array([0, 1] * 20)
    model = likely.NaiveBayes(event="bernoulli", smoothing=1.0).fit(X[["a"]], y)
    found = permutation_importance(model, X[["a"]], y, repeats=50)
    p = 21 / 22
    expected = 0.5 * np.log(p / (1 - p))  # half of the cells change
    assert found.low[0] < expected < found.high[0]
    assert_allclose(found.loss, -np.log(p))


def test_collinear_columns_are_also_shuffled_together():
    X, y = table()
    model = likely.Prepared(likely.LinearRegression(l2=1.0)).fit(X[:200], y[:200])
    found = permutation_importance(model, X[200:], y[200:])
    assert found.together == (("size", "size_in_feet"),)
    assert found.names[0] == "size + size_in_feet"
    alone = dict(zip(found.names, found.increase, strict=True))
    assert alone["size + size_in_feet"] > 1.5 * alone["size"]
    assert "shuffled together" in str(found)
    low = dict(zip(found.names, found.low, strict=True))
    assert low["noise"] <= 0 < low["age"]


@pytest.mark.parametrize("own", [True, False])
def test_models_of_any_library_have_an_importance(own):
    X, y = table()
    X, y = X.drop(columns=["town"]), y > np.median(y)
    model = likely.NaiveBayes() if own else RandomForestClassifier(20, random_state=0)
    model.fit(X[:200], y[:200])
    found = permutation_importance(model, X[200:], y[200:], columns=["age", "noise"])
    assert found.unit == "log loss"
    assert found.names == ("age", "noise")
    frame = found.to_frame("pandas")
    assert list(frame.columns) == ["column", "increase", "low", "high"]
    again = Importance.from_json(found.to_json())
    assert str(again) == str(found)


def test_some_rows_are_drawn_and_counted():
    X, y = table()
    model = likely.Prepared(likely.LinearRegression()).fit(X, y)
    found = permutation_importance(model, X, y, rows=50, repeats=1)
    assert found.n_rows == 50
    assert "50 of 400 rows were used" in found.notes[0]
    assert found.unit == "negative log-likelihood"


def test_an_unknown_column_is_refused():
    X, y = table(40)
    model = likely.Prepared(likely.LinearRegression()).fit(X, y)
    with pytest.raises(UnknownName, match=r"no column .sise.*.size."):
        permutation_importance(model, X, y, columns=["sise"])
    with pytest.raises(UnknownName, match="no column 'sise'"):
        partial_effects(model, X, "sise")


def test_the_effect_in_a_linear_model_is_its_line():
    X, y = table()
    model = likely.LinearRegression().fit(X[["size", "age"]], y)
    effect = partial_effects(model, X[["size", "age"]], "age", rows=None)["age"]
    slopes = np.diff(effect.mean[:, 0]) / np.diff(effect.values)
    assert_allclose(slopes, model.coef_[1], rtol=1e-10)
    assert effect.values[0] == X["age"].min()
    assert effect.values[-1] == X["age"].max()


def test_effects_of_categories_are_at_each_category():
    X, y = table()
    model = likely.Prepared(likely.LogisticRegression()).fit(X, y > np.median(y))
    found = partial_effects(model, X, ["town", "size"])
    assert set(found["town"].values) == {"Ghent", "Mons", "Ypres"}
    mons = found["town"].values.index("Mons")
    assert found["town"].mean[:, 1].argmax() == mons
    changed = X.assign(town="Mons")
    again = partial_effects(model, X, "town", rows=None)
    expected = model.predict_proba(changed).mean(axis=0)
    assert_allclose(again["town"].mean[again["town"].values.index("Mons")], expected)
    assert "Partial effects: mean probability" in str(found)
    kept = PartialEffects.from_json(found.to_json())
    assert str(kept) == str(found)
    assert len(found.to_frame("pandas")) == 3 + len(found["size"].values)


def test_a_date_has_no_effect_of_its_own():
    X, y = table(60)
    X["day"] = pd.date_range("2020-01-01", periods=60)
    model = likely.Prepared(likely.LinearRegression()).fit(X, y)
    with pytest.raises(InvalidInput, match="'day' holds dates"):
        partial_effects(model, X, "day")
    assert "day" in permutation_importance(model, X, y, repeats=1).names
