"""Permutation importance and partial effects: known answers, groups of columns, other libraries."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression as ForeignLinear
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

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


def test_a_date_that_the_model_does_not_split_has_no_effect_of_its_own():
    X, y = table(60)
    X["day"] = pd.date_range("2020-01-01", periods=60)
    model = make_pipeline(FunctionTransformer(as_days), ForeignLinear()).fit(X, y)
    with pytest.raises(InvalidInput, match="'day' holds dates"):
        partial_effects(model, X, "day")
    split = likely.Prepared(likely.LinearRegression()).fit(X, y)
    assert "day" in permutation_importance(split, X, y, repeats=1).names


def as_days(X):
    return (X[["day"]] - pd.Timestamp("2020-01-01")) / pd.Timedelta(days=1)


DAYS = 4 * 365
LENGTHS = {"time": 0.01, "July": 5.0, "Sunday": -2.0}


def visits(as_text=False):
    """Two visits a day: a trend, more in July, fewer on Sundays."""
    when = pd.Series(pd.date_range("2019-01-01", periods=DAYS).repeat(2))
    y = LENGTHS["time"] * np.arange(DAYS).repeat(2)
    y = y + LENGTHS["July"] * (when.dt.month == 7) + LENGTHS["Sunday"] * (when.dt.day_of_week == 6)
    x = np.random.default_rng(0).normal(size=2 * DAYS)
    return pd.DataFrame({"when": when.astype(str) if as_text else when, "x": x}), y + x


@pytest.mark.parametrize("as_text", [False, True])
def test_a_date_has_an_effect_of_time_of_month_and_of_weekday_each_alone(as_text):
    X, y = visits(as_text)
    model = likely.Prepared(likely.LinearRegression()).fit(X, y)
    found = partial_effects(model, X, "when", points=5, rows=None)
    assert [each.column for each in found.effects] == ["when", "when month", "when weekday"]
    assert [each.kind for each in found.effects] == ["date", "calendar", "calendar"]
    time, month, weekday = found.effects
    assert time.values[0] == "2019-01-01" and list(time.values) == sorted(time.values)
    days = (np.array(time.values, "M8[D]") - np.datetime64("2019-01-01")).astype(float)
    assert_allclose(time.mean[:, 0] - time.mean[0, 0], LENGTHS["time"] * days, atol=1e-8)
    assert month.values[0] == "January" and month.values[-1] == "December"
    assert_allclose(np.delete(month.mean, 6) - month.mean[0], 0.0, atol=1e-8)
    assert_allclose(month.mean[6] - month.mean[0], LENGTHS["July"], atol=1e-8)
    assert weekday.values[0] == "Monday"
    assert_allclose(weekday.mean[6] - weekday.mean[0], LENGTHS["Sunday"], atol=1e-8)
    again = PartialEffects.from_json(found.to_json())
    assert str(again) == str(found) and again["when"].kind == "date"


def test_the_times_of_a_date_are_drawn_on_an_axis_of_time_and_months_in_their_order():
    import matplotlib as mpl

    mpl.use("agg")
    X, y = visits()
    model = likely.Prepared(likely.LinearRegression()).fit(X, y)
    axes = partial_effects(model, X, "when", rows=50).plot().ravel()
    line = axes[0].get_lines()[0].get_xdata()
    assert line.dtype.kind == "M" and (np.diff(line) > np.timedelta64(0)).all()
    shown = [text.get_text() for text in axes[1].get_xticklabels()]
    assert shown[:3] == ["Jan", "Feb", "Mar"]
    assert [text.get_text() for text in axes[2].get_xticklabels()][:2] == ["Mon", "Tue"]
    mpl.pyplot.close("all")


def test_the_effects_that_a_run_keeps_have_the_parts_of_a_date(tmp_path):
    from likely.workbench.data.opening import dataset
    from likely.workbench.scoring.column_effects import held_out_effects

    X, y = visits(as_text=True)
    rows = dataset(X.assign(y=y), "y")
    model = likely.Prepared(likely.LinearRegression())
    found = held_out_effects(model, rows.with_task(model))
    assert found is not None
    named = [each.column for each in found.effects.effects]
    assert {"when", "when month", "when weekday"} <= {*named}
