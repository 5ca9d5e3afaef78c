"""X as it was given: arrays, sparse arrays and frames, their names, their columns, their rows."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator

from likely import NaiveBayes
from likely.data.frames import as_table
from likely.errors import InvalidInput, UnknownName
from likely.inputs.tables import (
    check_names,
    check_table,
    is_frame,
    n_rows_of,
    own_columns,
    rows_at,
)

FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "x"], "w": [1, 0, 2]})


class Some(BaseEstimator):
    """An estimator without a mind of its own."""


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_names_are_taken_out_of_a_frame_and_arrays_are_left(make):
    frame = make(FRAME.to_dict("list"))
    given = np.arange(3)
    X, weight, other, none = own_columns(frame, "w", given, None)
    assert list(X.columns) == ["a", "b"]
    assert list(weight) == [1, 0, 2]
    assert other is given
    assert none is None
    with pytest.raises(UnknownName, match="choose one of a, b, w"):
        own_columns(frame, "ww")


def test_names_mean_nothing_beside_an_array():
    X = np.ones((3, 2))
    assert own_columns(X, "w") == (X, "w")


def test_tables_stay_what_they_are():
    assert is_frame(pd.DataFrame({"a": [1]}))
    assert not is_frame(np.eye(2))
    frame = pl.DataFrame({"a": [1.0]})
    assert check_table(Some(), frame, reset=True).native is frame
    X = np.eye(2, dtype=np.float32)
    assert check_table(Some(), X, reset=True).native is X
    assert check_table(Some(), sparse.csc_array(X), reset=True).native.format == "csr"
    assert check_table(Some(), [[1, None]], reset=True).native.dtype == np.float64
    text = np.array([["a", 1]], dtype=object)
    assert check_table(Some(), text, reset=True).native.dtype == object


@pytest.mark.parametrize(
    "X",
    [
        np.arange(6.0).reshape(3, 2),
        sparse.csr_array(np.eye(3)),
        FRAME,
        pl.from_pandas(FRAME),
        pa.Table.from_pandas(FRAME),
    ],
    ids=["array", "sparse", "pandas", "polars", "pyarrow"],
)
def test_rows_are_taken_from_any_table(X):
    kept = as_table(X).take(np.array([0, 2]))
    assert type(kept.native) is type(X)
    assert kept.n_rows == rows_at(X, np.array([0, 2])).shape[0] == 2
    assert_array_equal(kept.numbers(0), as_table(X).numbers(0)[[0, 2]])


def test_sizes_are_those_of_what_is_stored():
    assert as_table(np.zeros((3, 2))).nbytes == 48
    assert as_table(sparse.csr_array(np.eye(1000))).nbytes < 20_000
    assert as_table(FRAME).nbytes == 72


@pytest.mark.parametrize("event", ["auto", "categorical", "laplace", "poisson", "exponential"])
def test_infinities_are_refused_with_their_place(event):
    X = np.array([[1.0, 2.0], [1.0, np.inf]])
    with pytest.raises(InvalidInput, match=r"(?i)column .*1.*inf.*Remove the row, or replace"):
        NaiveBayes(event).fit(X, [0, 1])
    with pytest.raises(InvalidInput, match=r"(?i)column .*1.*inf.*Remove the row, or replace"):
        NaiveBayes(event).fit([[1.0, 2.0], [2.0, 1.0]], [0, 1]).predict(X)


def test_an_infinity_among_sparse_counts_is_refused_with_its_place():
    with pytest.raises(InvalidInput, match=r"Row 1, column 'x1': found inf"):
        NaiveBayes().fit(sparse.csr_array([[1.0, 0.0], [1.0, np.inf]]), [0, 1])


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["size", "colr"], r"unseen at fit time:\n- colr.*Was 'colour' renamed to 'colr'"),
        (["size"], r"now missing:\n- colour"),
        (["size", "colour", "age"], r"unseen at fit time:\n- age"),
        (["colour", "size"], r"in the same order"),
    ],
)
def test_changed_columns_are_refused(names, message):
    estimator = Some()
    first = pd.DataFrame(np.eye(2), columns=["size", "colour"])
    check_names(estimator, as_table(first), reset=True)
    assert estimator.feature_names_in_.tolist() == ["size", "colour"]
    assert estimator.n_features_in_ == 2
    changed = pd.DataFrame(np.ones((1, len(names))), columns=names)
    with pytest.raises(InvalidInput, match=rf"(?s){message}"):
        check_names(estimator, as_table(changed), reset=False)


def test_numbers_beside_text_in_a_list_stay_numbers():
    model = NaiveBayes().fit([[1.5, "a"], [2.5, "b"], [1.0, "a"]], [0, 1, 0])
    assert model.plan_.events == ("gaussian", "categorical")


def test_a_frame_may_have_numbers_for_names():
    frame = pd.DataFrame(np.arange(12.0).reshape(6, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(NaiveBayes().fit(frame, [0, 1] * 3).predict(frame)) == 6


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pd.DataFrame(np.ones((2, 2)), columns=["a", "a"]), "same name.*Rename"),
        (pl.DataFrame({"a": [1.0, 2.0]}).lazy(), r"lazy frame.*collect\(\)"),
    ],
    ids=["two names", "lazy"],
)
def test_frames_that_cannot_be_read_are_refused(X, message):
    with pytest.raises(InvalidInput, match=f"(?s){message}"):
        NaiveBayes().fit(X, [0, 1])


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ([1, 2, 3], list),
        ((1, 2, 3), list),
        (np.array([1, 2, 3]), np.ndarray.tolist),
        (pd.Series([1, 2, 3], index=[5, 5, 5]), pd.Series.tolist),
        (pd.Categorical([1, 2, 3]), list),
        (pl.Series([1, 2, 3]), pl.Series.to_list),
        (pa.array([1, 2, 3]), pa.Array.to_pylist),
        (pa.chunked_array([[1], [2, 3]]), pa.ChunkedArray.to_pylist),
        (pd.DataFrame({"a": [1, 2, 3]}, index=[0, 0, 0]), lambda rows: rows["a"].tolist()),
        (pl.DataFrame({"a": [1, 2, 3]}), lambda rows: rows["a"].to_list()),
        (pa.table({"a": [1, 2, 3]}), lambda rows: rows["a"].to_pylist()),
        (sparse.csr_array([[1], [2], [3]]), lambda rows: rows.toarray()[:, 0].tolist()),
    ],
    ids=lambda given: type(given).__module__,
)
def test_rows_are_taken_by_their_positions_from_whatever_holds_them(given, values):
    taken = rows_at(given, np.array([2, 0, 2]))
    assert values(taken) == [3, 1, 3]
    assert (n_rows_of(given), n_rows_of(taken)) == (3, 3)
    assert type(taken) is (list if type(given) is tuple else type(given))
