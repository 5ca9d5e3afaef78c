"""Prepared tables in the runtime: dates, times and durations without Arrow."""

from datetime import UTC, date, datetime, time, timedelta, timezone

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import likely as lk
import likely.runtime
from likely.data.categories import CodedValues
from likely.errors import InvalidInput
from likely.runtime.predictor import days_of_texts
from likely.workbench.preparation.cells import days_of_text

N = 700
DAYS = [date(2022, 1, 1) + timedelta(days=i) for i in range(N)]
RNG = np.random.default_rng(0)
SIZE = RNG.normal(size=N)
Y = np.where(SIZE + [day.month / 4 for day in DAYS] > 1.6, "yes", "no")


def factor(texts):
    return CodedValues(np.arange(len(texts), dtype=np.int32), np.array(texts, dtype=object))


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A model of dates, whose months and weekdays have columns of their own."""
    path = tmp_path_factory.mktemp("dates") / "model.likely"
    table = pa.table({"day": DAYS, "size": SIZE})
    model = lk.Prepared(lk.LogisticRegression()).fit(table, Y)
    assert len(model.prepare(table).column_names) > 2
    lk.save(model, path)
    return model, likely.runtime.load(path)


LATER = [date(2025, 3, 7), None, date(1999, 12, 31), date(2022, 6, 1)]


@pytest.mark.parametrize(
    "days",
    [
        LATER,
        [None if day is None else day.isoformat() for day in LATER],
        [None if day is None else datetime(day.year, day.month, day.day, 13, 5) for day in LATER],
        np.array(LATER, dtype="datetime64[D]"),
        [None] * 4,
    ],
    ids=["dates", "text", "datetimes", "numpy", "missing"],
)
def test_dates_of_every_form_are_read_as_in_the_library(days, pair):
    model, predictor = pair
    rows = {"day": days, "size": SIZE[:4]}
    kind = {"type": pa.string()} if isinstance(days[0], str) else {}
    expected = model.predict_proba(pa.table({"day": pa.array(days, **kind), "size": SIZE[:4]}))
    assert_array_equal(predictor.predict_proba(rows), expected)


def test_times_with_a_zone_are_those_of_the_library(pair):
    model, predictor = pair
    east = timezone(timedelta(hours=5, minutes=30))
    stamps = [datetime(2023, 1, 1, 2, 0, tzinfo=east), datetime(2023, 1, 1, 2, 0, tzinfo=UTC)]
    expected = model.predict_proba(pa.table({"day": pa.array(stamps), "size": SIZE[:2]}))
    assert_array_equal(predictor.predict_proba({"day": stamps, "size": SIZE[:2]}), expected)


@pytest.mark.parametrize("day", ["yesterday", "2022-13-01", "29.2.2024", "2022-1-1", "20220101"])
def test_text_that_is_no_date_is_refused(day, pair):
    with pytest.raises(InvalidInput, match="'day' must hold dates, as in the fit, which"):
        pair[1].predict({"day": [day], "size": [1.0]})


def test_numbers_are_no_dates(pair):
    with pytest.raises(InvalidInput, match="'day' must hold dates"):
        pair[1].predict({"day": [19000], "size": [1.0]})


STAMPS = st.datetimes(datetime(1600, 1, 1), datetime(2200, 1, 1))


@given(st.lists(STAMPS, min_size=1, max_size=4), st.sampled_from([" ", "T"]))
def test_days_of_text_are_those_of_arrow(stamps, separator):
    texts = list({stamp.isoformat(separator) for stamp in stamps})
    assert_array_equal(days_of_texts(factor(texts), "day"), days_of_text(factor(texts)))


@pytest.mark.parametrize(
    "text",
    [
        "2024-02-29",
        "2024-02-29 13:05",
        "2024-02-29T13:05:59",
        "2024-02-29 13:05:59.25",
        "2024-02-29 13:05:59.123456",
        "2024-02-29T13:05:59Z",
        "2024-02-29 13:05:59+05:30",
        "2024-02-29 13:05-0800",
        "2024-02-29 13:05:59+01",
        "0001-01-01",
    ],
)
def test_forms_of_dates_are_those_of_arrow(text):
    assert_array_equal(days_of_texts(factor([text]), "day"), days_of_text(factor([text])))


def test_dates_with_and_without_a_zone_do_not_mix():
    texts = ["2024-02-29 13:05", "2024-02-29 13:05Z"]
    assert days_of_text(factor(texts)) is None
    with pytest.raises(InvalidInput, match="with a time zone and others without"):
        days_of_texts(factor(texts), "day")


def test_times_of_day_and_durations_are_numbers(tmp_path):
    clocks = [time(i % 24, i % 60, 7, i) for i in range(60)]
    lengths = [timedelta(hours=i, microseconds=i) for i in range(60)]
    table = pa.table({"clock": clocks, "length": lengths})
    model = lk.Prepared(lk.LinearRegression(l2=0.1)).fit(table, np.arange(60.0))
    lk.save(model, tmp_path / "model.likely")
    predictor = likely.runtime.load(tmp_path / "model.likely")
    rows = {"clock": clocks, "length": lengths}
    assert_array_equal(predictor.predict(rows), model.predict(table))
    rows = {"clock": clocks, "length": np.array(lengths, dtype="timedelta64[us]")}
    assert_array_equal(predictor.predict(rows), model.predict(table))


def test_ordered_categories_keep_their_reference(tmp_path):
    kind = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    values = np.array(["low", "mid", "high"])[np.arange(60) % 3]
    X = pd.DataFrame({"grade": pd.Categorical(values, dtype=kind), "x": SIZE[:60]})
    model = lk.Prepared(lk.LinearRegression()).fit(X, np.arange(60) % 7)
    lk.save(model, tmp_path / "model.likely")
    predictor = likely.runtime.load(tmp_path / "model.likely")
    rows = {"grade": values.tolist(), "x": SIZE[:60]}
    assert_array_equal(predictor.predict(rows), model.predict(X))


def test_booleans_may_be_numbers_or_missing(tmp_path):
    flags = [bool(i % 3) for i in range(60)]
    X = pd.DataFrame({"flag": flags, "x": SIZE[:60]})
    model = lk.Prepared(lk.NaiveBayes()).fit(X, np.arange(60) % 2)
    lk.save(model, tmp_path / "model.likely")
    predictor = likely.runtime.load(tmp_path / "model.likely")
    expected = model.predict_proba(X)
    assert_array_equal(predictor.predict_proba({"flag": flags, "x": SIZE[:60]}), expected)
    whole = {"flag": [int(flag) for flag in flags], "x": SIZE[:60]}
    assert_array_equal(predictor.predict_proba(whole), expected)
    with pytest.raises(InvalidInput, match="held true and false in the fit; found 2"):
        predictor.predict_proba({"flag": [2], "x": [0.0]})
