"""Columns that a prepared model must tell apart: dates, written numbers, codes, identifiers."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likely import (
    DiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
)
from likely.errors import InvalidInput, UnseenCategories
from likely.workbench.preparation.prepared import Prepared
from tests.workbench.preparation.prepared_tables import fitted, mixed


def test_text_of_dates_is_read_as_days():
    frame, y = mixed()
    text = frame.assign(since=frame["since"].dt.strftime("%Y-%m-%d"))
    model = Prepared(LogisticRegression()).fit(text, y)
    assert_array_equal(model.predict_proba(text), fitted().predict_proba(frame))
    assert_array_equal(model.predict_proba(frame), fitted().predict_proba(frame))
    with pytest.raises(
        InvalidInput, match=r"Column 'since' must hold dates.*which 'soon' is not; found text"
    ):
        model.predict(text[:2].assign(since="soon"))
    with pytest.raises(InvalidInput, match=r"Column 'since' must hold dates.*found numbers"):
        model.predict(text[:2].assign(since=3))


@pytest.mark.parametrize("form", ["{},{:03d}", "{}.{}%", "${}.{}", "{}{}"])
def test_numbers_written_as_text_are_refused_with_advice(form):
    frame, y = mixed()
    text = frame.assign(rooms=[form.format(1 + i % 50, i % 3) for i in range(300)])
    with pytest.raises(
        InvalidInput, match=r"'rooms' is text, but most.*Declare it: --number rooms.*--category"
    ):
        Prepared(LogisticRegression()).fit(text, y)
    named = text.assign(rooms=text["rooms"].astype("category"))
    assert "categories" in dict(Prepared(LogisticRegression()).fit(named, y).steps_)["rooms"]


def test_a_word_among_numbers_is_named():
    frame, y = mixed()
    text = frame.assign(rooms=["?" if i == 7 else str(i % 40) for i in range(300)])
    with pytest.raises(InvalidInput, match=r"such as '0', but not '\?'"):
        Prepared(LogisticRegression()).fit(text, y)


def test_codes_with_leading_zeros_are_categories():
    frame, y = mixed()
    model = Prepared(NaiveBayes()).fit(frame.assign(rooms=[f"0{i % 40}" for i in range(300)]), y)
    assert dict(model.steps_)["rooms"] == "40 categories"


def test_text_of_very_many_values_is_refused_with_advice():
    n = 3000
    frame = pd.DataFrame({"x": np.arange(n) / n, "words": [f"word {i % 1200}" for i in range(n)]})
    with pytest.raises(InvalidInput, match=r"'words' holds 1200 different texts.*Drop it"):
        Prepared(LinearRegression()).fit(frame, frame["x"])


def test_categories_that_are_numbers_in_another_file_are_still_known():
    frame = pd.DataFrame({"x": np.arange(40.0), "code": ["1", "2", "a", "b"] * 10})
    model = Prepared(LinearRegression()).fit(frame, np.arange(40) % 4)
    new = frame[:2].assign(code=[1, 2])
    assert_array_equal(model.predict(new), model.predict(frame[:2]))


def test_a_column_of_another_kind_is_refused_when_predicting():
    frame, _ = mixed()
    with pytest.raises(
        InvalidInput, match=r"Column 'age' must hold numbers.*which 'old' is not; found text"
    ):
        fitted().predict(frame[:3].assign(age="old"))
    empty = frame[:3].assign(age=pd.Series([None] * 3, dtype=object))
    assert len(fitted().predict(empty)) == 3


def test_an_unseen_category_is_for_the_model_to_judge():
    frame, _ = mixed()
    with pytest.warns(UnseenCategories, match="town='z'"):
        fitted().predict(frame[:3].assign(town="z"))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([[1], [2], [3]] * 20), r"'bad' holds list.*Convert"),
        (pa.array([1.0, np.inf, 3.0] * 20), r"Row 1, column 'bad': found inf"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(column, message):
    table = pa.table({"x": np.arange(60.0), "bad": column})
    with pytest.raises(InvalidInput, match=message):
        Prepared(LinearRegression()).fit(table, np.arange(60.0))


def test_a_file_is_refused_with_advice(tmp_path):
    with pytest.raises(InvalidInput, match="X is a file; Prepared takes rows in memory"):
        Prepared(LinearRegression()).fit(tmp_path / "rows.csv", "y")
    with pytest.raises(InvalidInput, match="X is a file; Prepared takes rows in memory"):
        fitted().predict("rows.csv")


def test_a_table_with_nothing_to_learn_from_is_refused():
    with pytest.raises(InvalidInput, match=r"No column of X is left.*every cell is missing.*Add"):
        Prepared(LinearRegression()).fit(pd.DataFrame({"empty": [None] * 5}), np.arange(5.0))


@pytest.mark.parametrize("model", [LinearRegression(), LinearRegression(l2=1.0)])
def test_a_table_where_nothing_varies_leaves_the_mean(model):
    frame = pd.DataFrame({"planet": ["Earth"] * 5, "empty": [None] * 5})
    assert_allclose(Prepared(model).fit(frame, np.arange(5.0)).predict(frame), 2.0)


def test_a_shrunk_discriminant_does_not_depend_on_units():
    frame, y = mixed()
    frame = frame[["age", "income", "rooms"]].dropna()
    y = y[frame.index]
    grown = frame.assign(income=1e6 * frame["income"])
    said = [
        Prepared(DiscriminantAnalysis(shrinkage=0.3)).fit(rows, y).predict_proba(rows)
        for rows in (frame, grown)
    ]
    assert_allclose(said[1], said[0], rtol=1e-6)
    assert np.ptp(said[0][:, 1]) > 0.1
