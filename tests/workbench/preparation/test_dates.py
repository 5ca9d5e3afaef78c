"""Dates as time since the start, month and weekday."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import likely as lk
from likely.workbench.preparation.dates import MONTHS, WEEKDAYS, calendar_codes, nearest

N = 620
RNG = np.random.default_rng(0)
WHEN = pd.Series(pd.Timestamp("2021-01-04") + pd.to_timedelta(np.arange(N) * 2, unit="D"))
X = pd.DataFrame({"x": RNG.normal(size=N), "when": WHEN})
Y = (X["x"] + (WHEN.dt.month > 6) + RNG.normal(size=N) > 0.5).to_numpy()


def fitted(frame=X, model=None):
    return lk.Prepared(model or lk.LogisticRegression(l2=1.0)).fit(frame, Y[: len(frame)])


def test_months_and_weekdays_are_those_of_the_calendar():
    days = np.arange(-800.0, 20_000.0, 13) + 0.7
    dates = [dt.date(1970, 1, 1) + dt.timedelta(days=int(np.floor(day))) for day in days]
    assert_array_equal(calendar_codes(days, "month"), [date.month - 1 for date in dates])
    assert_array_equal(calendar_codes(days, "weekday"), [date.weekday() for date in dates])
    assert calendar_codes(np.array([np.nan]), "month").tolist() == [-1]


def test_a_month_that_was_not_seen_is_the_nearest_one():
    assert nearest(np.arange(12), [2, 3], 12).tolist() == [2, 2, 2, 3, 3, 3, 3, 3, 3, 2, 2, 2]
    assert nearest(np.array([-1, 5]), [0, 4], 7).tolist() == [-1, 4]


def test_a_date_becomes_days_month_and_weekday():
    model = fitted()
    made = model.prepare(X)
    assert made.column_names == ["x", "when days", "when month", "when weekday"]
    assert made["when month"].to_pylist() == [MONTHS[date.month - 1] for date in WHEN]
    assert made["when weekday"].to_pylist() == [WEEKDAYS[date.weekday()] for date in WHEN]
    said = dict(model.steps_)["when"]
    assert "days since 2021-01-04" in said and "'when month', 12 categories" in said
    free = lk.Prepared(lk.LogisticRegression(), scale=False).fit(X, Y)
    assert free.prepare(X)["when days"].to_pylist() == (2.0 * np.arange(N)).tolist()


def test_parts_that_never_vary_and_parts_of_few_rows_are_left_out():
    mondays = X.assign(when=pd.Timestamp("2021-01-04") + pd.to_timedelta(7 * np.arange(N), "D"))
    assert "when weekday" not in fitted(mondays).prepare(mondays).column_names
    january = X.assign(when=pd.Timestamp("2021-01-01") + pd.to_timedelta(np.arange(N) % 28, "D"))
    assert "when month" not in fitted(january).prepare(january).column_names
    few = X[:400:20]
    assert fitted(few).prepare(few).column_names == ["x", "when days"]
    assert "left out (too few rows of each)" in dict(fitted(few).steps_)["when"]
    same = X.assign(when=pd.Timestamp("2021-01-04"))
    assert fitted(same).prepare(same).column_names == ["x"]


def test_dates_after_the_training_rows_are_predicted():
    spring = X[:60].assign(when=WHEN[:60])
    later = X.assign(when=WHEN + pd.Timedelta("400D"))
    for model in (lk.LogisticRegression(l2=1.0), lk.NaiveBayes(), lk.DiscriminantAnalysis()):
        found = fitted(spring, model).predict_proba(later)
        assert np.isfinite(found).all() and np.allclose(found.sum(axis=1), 1)


ARROW = [
    pa.date32(),
    pa.date64(),
    pa.timestamp("s"),
    pa.timestamp("ns"),
    pa.timestamp("us", tz="UTC"),
]


@pytest.mark.parametrize("type_", ARROW, ids=str)
def test_every_type_of_date_gives_the_same_model(type_):
    column = pa.array(WHEN).cast(pa.timestamp("us")).cast(type_)
    table = pa.table({"x": X["x"], "when": column})
    assert_allclose(fitted(table).predict_proba(table), fitted().predict_proba(X), rtol=1e-9)


def test_polars_text_and_pandas_give_the_same_model():
    expected = fitted().predict_proba(X)
    assert_allclose(fitted(pl.from_pandas(X)).predict_proba(pl.from_pandas(X)), expected)
    text = X.assign(when=WHEN.dt.strftime("%Y-%m-%d"))
    assert_allclose(fitted(text).predict_proba(X), expected)


@pytest.mark.parametrize(
    "model", [lk.LogisticRegression(l2=1.0), lk.NaiveBayes(), lk.DiscriminantAnalysis()]
)
def test_missing_dates_are_filled_or_left_to_the_model(model, tmp_path):
    gaps = X.assign(when=WHEN.where(np.arange(N) % 9 > 0))
    found = fitted(gaps, model)
    assert np.isfinite(found.predict_proba(gaps)).all()
    if isinstance(model, lk.LogisticRegression):
        assert "when missing" in found.prepare(gaps).column_names
    lk.save(found, tmp_path / "model.likely")
    again = lk.load(tmp_path / "model.likely")
    assert_array_equal(again.predict_proba(gaps), found.predict_proba(gaps))


def test_times_of_day_are_hours_and_durations_are_days():
    times = [dt.time(k % 24, 30) for k in range(N)]
    table = pa.table(
        {
            "at": pa.array(times, pa.time64("us")),
            "took": pa.array([dt.timedelta(hours=12 * k) for k in range(N)], pa.duration("ms")),
        }
    )
    made = lk.Prepared(lk.LogisticRegression(), scale=False).fit(table, Y).prepare(table)
    assert_allclose(made["at"].to_numpy()[:3], [0.5, 1.5, 2.5])
    assert_allclose(made["took"].to_numpy()[:3], [0.0, 0.5, 1.0])


def test_columns_that_the_fit_did_not_have_or_dropped_are_not_asked_for():
    frame = X.assign(planet="Earth", client=[f"C{k:04d}" for k in range(N)])
    model = fitted(frame)
    expected = model.predict_proba(frame)
    assert_array_equal(model.predict_proba(frame.drop(columns=["planet", "client"])), expected)
    assert_array_equal(model.predict_proba(frame.assign(more=1)), expected)
    with pytest.raises(ValueError, match="now missing:\n- x"):
        model.predict(frame.drop(columns="x"))
