"""Tables of states as codes: what is a state, what is missing, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from likely.errors import InvalidInput
from likely.graphical.model.evidence_table import codes_of_frame, distinct_rows, row_keys
from likely.graphical.model.variable import Variable

WET = Variable("wet", ["no", "yes"])
GAUGE = Variable("gauge", [1, 2, 3])
FLAG = Variable("flag", [False, True])
LAB = Variable("lab", ["NA", "None", "low"])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_are_found_by_name_and_states_by_text(frame):
    data = frame({"gauge": [3.0, 1.0, None], "wet": ["yes", None, "no"]})
    assert_array_equal(codes_of_frame([WET, GAUGE], data), [[1, 2], [-1, 0], [0, -1]])


@pytest.mark.parametrize("values", [[1, 2, 3], [1.0, 2.0, 3.0], ["1", "2", "3"]])
def test_whole_numbers_match_by_their_text(values):
    assert_array_equal(codes_of_frame([GAUGE], pa.table({"gauge": values})).ravel(), [0, 1, 2])


@pytest.mark.parametrize("dtype", [object, "boolean", "boolean[pyarrow]"])
def test_booleans_match_by_their_text_also_beside_a_null(dtype):
    column = pd.Series([True, None, False], dtype=dtype)
    assert_array_equal(codes_of_frame([FLAG], pd.DataFrame({"flag": column})).ravel(), [1, -1, 0])


def test_states_called_na_and_none_are_states_and_blanks_are_missing():
    data = pa.table({"lab": ["NA", "None", "low", None, "", "  "]})
    assert_array_equal(codes_of_frame([LAB], data).ravel(), [0, 1, 2, -1, -1, -1])
    blank = Variable("lab", ["", "low"])
    assert_array_equal(codes_of_frame([blank], pa.table({"lab": ["low", ""]})).ravel(), [1, 0])


def test_a_variable_without_a_column_is_missing_in_every_row():
    data = pa.table({"wet": ["no", "yes"]})
    assert_array_equal(codes_of_frame([GAUGE, WET], data), [[-1, 0], [-1, 1]])


def test_an_unknown_state_is_refused_by_row_and_column_with_the_nearest():
    data = pa.table({"gauge": [1, 1, 1], "wet": ["yes", "no", "yess"]})
    with pytest.raises(InvalidInput, match=r"Row 2, column 'wet': .*'yess'.*Did you mean 'yes'"):
        codes_of_frame([GAUGE, WET], data)


def test_a_category_that_no_row_has_is_not_refused():
    column = pd.Categorical(["no", "yes"], categories=["maybe", "no", "yes"])
    assert_array_equal(codes_of_frame([WET], pd.DataFrame({"wet": column})).ravel(), [0, 1])


def test_a_column_that_is_no_variable_is_refused_with_the_nearest():
    with pytest.raises(InvalidInput, match=r"Column 'guage' is no variable.*Did you mean 'gauge'"):
        codes_of_frame([WET, GAUGE], pa.table({"guage": [1]}))


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint8])
def test_whole_numbers_in_an_array_are_codes(dtype):
    codes = np.array([[0, 1], [1, 0]], dtype=dtype)
    found = codes_of_frame([WET, Variable("x", 2)], codes)
    assert_array_equal(found, codes)
    assert found.dtype == np.int32


def test_codes_outside_the_states_are_refused():
    with pytest.raises(InvalidInput, match=r"Row 1, column 'wet': the code 2 .*0 to 1"):
        codes_of_frame([WET], np.array([[0], [2]]))
    with pytest.raises(InvalidInput, match=r"code -2"):
        codes_of_frame([WET], np.array([[0], [-2]]))
    with pytest.raises(InvalidInput, match=r"code 4294967296"):
        codes_of_frame([WET], np.array([[2**32]]))


def test_numbers_of_two_meanings_are_refused():
    with pytest.raises(InvalidInput, match=r"'gauge' are 1, 2, 3.*two meanings.*data frame"):
        codes_of_frame([GAUGE], np.array([[1], [2]]))


def test_text_and_booleans_in_an_array_are_states():
    found = codes_of_frame([WET, GAUGE], np.array([["yes", 2], [None, 3.0]], dtype=object))
    assert_array_equal(found, [[1, 1], [-1, 2]])
    assert_array_equal(codes_of_frame([FLAG], np.array([[True], [False]])), [[1], [0]])


def test_an_array_has_a_column_for_each_variable():
    with pytest.raises(InvalidInput, match=r"array has 1 columns.*2 variables"):
        codes_of_frame([WET, FLAG], np.array([[0]]))


def test_no_rows_are_no_codes():
    assert codes_of_frame([WET], pa.table({"wet": pa.array([], pa.string())})).shape == (0, 1)
    assert codes_of_frame([WET], np.empty((0, 1), dtype=int)).shape == (0, 1)


@pytest.mark.parametrize("n_columns", [3, 60])
def test_distinct_rows_are_sorted_and_keep_the_weight(n_columns):
    rng = np.random.default_rng(0)
    codes = np.repeat(rng.integers(-1, 3, (20, n_columns)), 3, axis=0).astype(np.int32)
    weight = rng.random(len(codes))
    order = rng.permutation(len(codes))
    rows, total = distinct_rows(codes[order], (3,) * n_columns, weight[order])
    expected, place = np.unique(codes, axis=0, return_inverse=True)
    assert_array_equal(rows, expected)
    np.testing.assert_allclose(total, np.bincount(place.ravel(), weight))
    assert len(np.unique(row_keys(codes, (3,) * n_columns))) == len(expected)


@pytest.mark.parametrize("states", [["FALSE", "TRUE"], ["false", "true"], ["False", "True"]])
def test_booleans_are_the_states_that_are_spelt_like_them(states):
    variable = Variable("flag", states)
    assert_array_equal(codes_of_frame([variable], pa.table({"flag": [True, False]})), [[1], [0]])
    assert variable.code(True) == 1


def test_a_boolean_of_two_spellings_is_refused():
    with pytest.raises(InvalidInput, match="'flag' has no state 'True'"):
        Variable("flag", ["true", "TRUE"]).code(True)
