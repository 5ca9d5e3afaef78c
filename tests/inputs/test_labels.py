"""Labels become classes and codes, in any wrapping; what is no label is refused."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator

from likely.errors import InvalidInput
from likely.inputs.labels import (
    COUNTED_RANGE,
    check_labels,
    codes_among,
    known_classes,
    refuse_one_class,
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
    with pytest.raises(
        InvalidInput, match=r"label 'd' in y does not exist.*known classes are a, b, c"
    ):
        codes_among(["a", "d"], classes)


def test_one_class_is_refused_by_its_plain_name():
    with pytest.raises(InvalidInput, match=r"Some needs at least 2 classes.*one class, 3\. Check"):
        refuse_one_class(np.array([3]), Some())
    refuse_one_class(np.array([3, 4]), Some())


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
