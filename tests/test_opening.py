"""Data at the public door: a frame's own columns, responses, offsets, and rows that are absent."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import likely
from likely.errors import InvalidInput, UnknownName
from likely.opening import (
    check_numbers,
    check_response,
    generator,
    nbytes_of,
    own_columns,
    present,
    rows_of,
    unchanged_if_refused,
)

MODEL = likely.GLM()
FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "x"], "w": [1, 0, 2]})


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


@pytest.mark.parametrize(
    "X", [np.arange(6.0).reshape(3, 2), sparse.csr_array(np.eye(3)), FRAME, pl.from_pandas(FRAME)]
)
def test_rows_of_weight_zero_are_absent(X):
    kept, weight = present(X, np.array([1.0, 0.0, 2.0]))
    assert kept.shape[0] == 2
    assert_array_equal(weight, [1, 2])
    assert present(X, None) == (X, None) or present(X, None)[0] is X
    assert rows_of(X, np.array([False, False, True])).shape[0] == 1


def test_responses_are_one_finite_number_per_row():
    assert check_response([1, 2], n_rows=2, estimator=MODEL).dtype == np.float64
    assert check_response(pd.Series([1, 2]), n_rows=2, estimator=MODEL).shape == (2,)
    both = check_response(np.ones((2, 3)), n_rows=2, estimator=MODEL, several=True)
    assert both.shape == (2, 3)
    for y, expected in (
        (None, "requires y to be passed"),
        (["a", "b"], "y must hold numbers.*Use a classifier"),
        ([1.0, np.nan], "contains NaN"),
        ([1.0, 2.0, 3.0], "3"),
        (np.ones((2, 3)), "1d array"),
    ):
        with pytest.raises(ValueError, match=expected):
            check_response(y, n_rows=2, estimator=MODEL)


def test_offsets_are_one_finite_number_per_row_or_one_for_all():
    assert_allclose(check_numbers(2, "offset", n_rows=3), 2.0)
    assert_allclose(check_numbers(pl.Series([1, 2]), "offset", n_rows=2), [1, 2])
    for values, positive, expected in (
        ([1.0], False, r"shape \(1,\); X has 2 rows"),
        ([1.0, np.inf], False, "offset of row 1 is inf"),
        ([0.0, 1.0], True, "row 0 is 0; it must be finite and above 0"),
        (["a", "b"], False, "offset must hold numbers"),
    ):
        with pytest.raises(InvalidInput, match=expected):
            check_numbers(values, "offset", n_rows=2, positive=positive)


def test_a_seed_is_a_seed_in_every_form():
    assert generator(3).random() == generator(3).random() == np.random.default_rng(3).random()
    given = np.random.default_rng(0)
    assert generator(given) is given
    one, other = (generator(np.random.RandomState(0)).random() for _ in range(2))
    assert one == other


def test_sizes_are_those_of_what_is_stored():
    assert nbytes_of(np.zeros((3, 2))) == 48
    assert nbytes_of(sparse.csr_array(np.eye(1000))) < 20_000
    assert nbytes_of(FRAME) == 72


def test_an_estimator_is_as_it_was_after_a_refusal():
    model = likely.GLM()
    model.kept_ = 1
    with pytest.raises(InvalidInput), unchanged_if_refused(model):
        model.kept_, model.new_ = 2, 3
        raise InvalidInput("no")
    assert model.kept_ == 1
    assert not hasattr(model, "new_")


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, np.nan], r"y contains NaN: row 1 has nan; a response is a finite number. Mend it"),
        ([-np.inf, 1.0], r"y contains infinity: row 0 has -inf; .* drop the row"),
        ([[1.0, 2.0], [3.0, np.inf]], r"y contains infinity: row 1 has inf"),
    ],
)
def test_a_response_that_is_not_finite_is_named_by_its_row(y, message):
    with pytest.raises(InvalidInput, match=message):
        check_response(y, n_rows=2, estimator=None, several=True)


def test_responses_whose_total_overflows_are_finite_all_the_same():
    assert check_response([1.7e308, 1.7e308], n_rows=2, estimator=None).tolist() == [1.7e308] * 2
