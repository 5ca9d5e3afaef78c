"""Checks at the door: tables, names, labels, weights."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from likely import NaiveBayes
from likely.errors import InvalidInput
from likely.solvers.minimise import Solution
from likely.validate import (
    COUNTED_RANGE,
    check_labels,
    check_names,
    check_table,
    check_weight,
    codes_among,
    is_frame,
    known_classes,
    refuse_one_class,
    warn_unless_converged,
)


class Some(BaseEstimator):
    """An estimator without a mind of its own."""


@given(st.lists(st.integers(-5, 5) | st.just(10 * COUNTED_RANGE), min_size=1, max_size=30))
def test_counted_labels_equal_sorted_labels(labels):
    y = np.array(labels)
    found = check_labels(y)
    classes, codes = np.unique(y, return_inverse=True)
    assert_array_equal(found.classes, classes)
    assert_array_equal(found.codes, codes)
    assert found.classes.dtype == y.dtype


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.uint16, np.int64, np.uint64])
def test_labels_of_any_integer_type_are_counted(dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    y = np.array([low, high, low, 3, high], dtype=dtype)
    found = check_labels(y)
    assert_array_equal(found.classes[found.codes], y)


@pytest.mark.parametrize(
    "labels",
    [["b", "a", "b"], [True, False, True], [2.0, 1.0, 2.0], np.array(["b", "a", "b"], "O")],
)
def test_labels_of_other_types_are_sorted(labels):
    found = check_labels(labels)
    assert_array_equal(found.codes, [1, 0, 1])
    assert_array_equal(found.classes[found.codes], labels)


@pytest.mark.parametrize(
    "wrap", [pd.Series, pl.Series, list, tuple, lambda y: np.array(y)[:, None]]
)
def test_labels_may_come_in_any_wrapping(wrap):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a column vector is flattened with a warning
        assert check_labels(wrap([3, 1, 3])).codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize("unlabelled", [-1, "?", np.nan])
def test_unlabelled_rows_have_the_code_minus_one(unlabelled):
    y = np.array(["a", unlabelled, "b"], dtype=object)
    found = check_labels(y, unlabelled=unlabelled)
    assert found.codes.tolist() == [0, -1, 1]
    assert found.classes.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0.0, np.nan], r"label of row 1 is missing.*unlabelled="),
        (np.array(["a", None], dtype=object), r"label of row 1 is missing"),
        ([0.3, 0.7], r"Unknown label type: continuous"),
        ([0, 1, 0], r"X has 2 rows and y has 3"),
    ],
)
def test_wrong_labels_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        check_labels(y, n_rows=2)


def test_labels_that_are_all_unknown_are_refused():
    with pytest.raises(InvalidInput, match=r"All 2 labels equal unlabelled=-1.*mixture"):
        check_labels([-1, -1], unlabelled=-1)
    with pytest.raises(InvalidInput, match=r"No row with a positive weight has a label"):
        known_classes(np.array([-1]), -1)
    assert known_classes(np.array([-1, 2]), -1).tolist() == [2]
    assert known_classes(np.array([-1, 2]), None).tolist() == [-1, 2]


def test_codes_among_known_classes():
    classes = np.array(["a", "b", "c"])
    assert codes_among(["c", "a"], classes).tolist() == [2, 0]
    with pytest.raises(InvalidInput, match=r"label 'd' in y does not exist.*known are a, b, c"):
        codes_among(["a", "d"], classes)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, -2.0], r"row 1 has -2; weights are finite and 0 or more"),
        ([np.nan, 1.0], r"row 0 has nan"),
        ([1.0, np.inf], r"row 1 has inf"),
        ([0.0, 0.0], r"at least one non-zero number; all 2 are 0"),
        ([1.0], r"shape \(1,\); X has 2 rows"),
        ([[1.0], [1.0]], r"shape \(2, 1\); X has 2 rows"),
    ],
)
def test_wrong_weights_are_refused(weight, message):
    with pytest.raises(InvalidInput, match=message):
        check_weight(weight, None, n_rows=2)


def test_weights_become_float64():
    assert check_weight(None, None, n_rows=2) is None
    assert check_weight([1, 0], None, n_rows=2).dtype == np.float64
    assert check_weight(2, None, n_rows=3).tolist() == [2.0, 2.0, 2.0]
    assert check_weight(pl.Series([1, 2]), None, n_rows=2).tolist() == [1.0, 2.0]


def test_tables_stay_what_they_are():
    assert is_frame(pd.DataFrame({"a": [1]}))
    assert not is_frame(np.eye(2))
    frame = pl.DataFrame({"a": [1.0]})
    assert check_table(Some(), frame, reset=True) is frame
    X = np.eye(2, dtype=np.float32)
    assert check_table(Some(), X, reset=True) is X
    assert check_table(Some(), sparse.csc_array(X), reset=True).format == "csr"
    assert check_table(Some(), [[1, None]], reset=True).dtype == np.float64
    assert check_table(Some(), np.array([["a", 1]], dtype=object), reset=True).dtype == object


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
    check_names(estimator, pd.DataFrame(np.eye(2), columns=["size", "colour"]), reset=True)
    assert estimator.feature_names_in_.tolist() == ["size", "colour"]
    assert estimator.n_features_in_ == 2
    with pytest.raises(InvalidInput, match=rf"(?s){message}"):
        check_names(estimator, pd.DataFrame(np.ones((1, len(names))), columns=names), reset=False)


def test_one_class_is_refused_by_its_plain_name():
    with pytest.raises(InvalidInput, match=r"Some needs at least 2 classes.*one class, 3\. Check"):
        refuse_one_class(np.array([3]), Some())
    refuse_one_class(np.array([3, 4]), Some())


def test_a_search_that_stopped_early_says_so():
    stopped = Solution(None, False, "max_iter=3 was reached with a gap of 1", (1.0,), 1.0)
    with pytest.warns(ConvergenceWarning, match=r"Some did not converge: max_iter=3.*Raise"):
        warn_unless_converged(Some(), stopped)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_unless_converged(Some(), Solution(None, True, "", (1.0,), 0.0))


@pytest.mark.parametrize(("dtype", "far"), [("i1", 100), ("i2", 20_000), ("u1", 200)])
def test_narrow_integer_labels_do_not_wrap(dtype, far):
    low = 0 if dtype == "u1" else -far
    y = np.repeat(np.array([low, 1, far], dtype), 4)
    found = check_labels(y)
    assert_array_equal(found.classes, [low, 1, far])
    assert_array_equal(found.codes, np.repeat([0, 1, 2], 4))


@pytest.mark.parametrize("gap", [np.nan, None, pd.NA], ids=["nan", "None", "NA"])
def test_a_gap_among_text_labels_is_a_gap_not_a_class(gap):
    labels = ["a", "b", gap, "a"]
    for y in (labels, pd.Series(labels, dtype=object)):
        with pytest.raises(InvalidInput, match="label of row 2 is missing"):
            check_labels(y)
        found = check_labels(y, unlabelled=np.float32("nan"))
        assert_array_equal(found.classes, ["a", "b"])
        assert_array_equal(found.codes, [0, 1, -1, 0])


def test_a_value_for_unlabelled_does_not_excuse_a_gap():
    with pytest.raises(InvalidInput, match="label of row 1 is missing"):
        check_labels([1.0, np.nan, 2.0], unlabelled=-1)
    found = check_labels(["a", "b", -1], unlabelled=-1)
    assert_array_equal(found.codes, [0, 1, -1])


def test_labels_of_several_types_are_refused():
    with pytest.raises(InvalidInput, match=r"several types \(int, str\).*all text"):
        check_labels(["a", 2, 0])


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


def test_weights_that_are_text_are_refused():
    with pytest.raises(InvalidInput, match="sample_weight must hold numbers"):
        NaiveBayes().fit(np.ones((2, 1)), [0, 1], sample_weight=["x", "y"])
