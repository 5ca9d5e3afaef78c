"""Responses, weights and offsets: one finite number per row."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

import likely
from likely import NaiveBayes
from likely.errors import InvalidInput
from likely.inputs.numbers import check_numbers, check_response, check_weight

MODEL = likely.GLM()


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


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, np.nan], r"y contains NaN: row 1 has nan; a response is a finite number. Fix it"),
        ([-np.inf, 1.0], r"y contains infinity: row 0 has -inf; .* drop the row"),
        ([[1.0, 2.0], [3.0, np.inf]], r"y contains infinity: row 1 has inf"),
    ],
)
def test_a_response_that_is_not_finite_is_named_by_its_row(y, message):
    with pytest.raises(InvalidInput, match=message):
        check_response(y, n_rows=2, estimator=None, several=True)


def test_responses_whose_total_overflows_are_finite_all_the_same():
    assert check_response([1.7e308, 1.7e308], n_rows=2, estimator=None).tolist() == [1.7e308] * 2


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
        check_weight(weight, n_rows=2)


def test_weights_become_float64():
    assert check_weight(None, n_rows=2) is None
    assert check_weight([1, 0], n_rows=2).dtype == np.float64
    assert check_weight(2, n_rows=3).tolist() == [2.0, 2.0, 2.0]
    assert check_weight(pl.Series([1, 2]), n_rows=2).tolist() == [1.0, 2.0]


def test_weights_that_are_text_are_refused():
    with pytest.raises(InvalidInput, match="sample_weight must hold numbers"):
        NaiveBayes().fit(np.ones((2, 1)), [0, 1], sample_weight=["x", "y"])
