"""Lengths, weights and known states of sequences: what is refused, and in which words."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from likely.errors import InvalidInput
from likely.generative.hidden_states import check_lengths, check_sequence_weight, check_states


def test_no_lengths_are_one_sequence():
    assert_array_equal(check_lengths(None, 7), [7])


@pytest.mark.parametrize("given", [[3, 2, 0], np.array([3.0, 2.0, 0.0]), pd.Series([3, 2, 0])])
def test_lengths_may_be_lists_floats_and_series_and_a_sequence_may_be_empty(given):
    found = check_lengths(given, 5)
    assert_array_equal(found, [3, 2, 0])
    assert found.dtype == np.int64


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([3, 3], r"adds up to 6 and X has 5 rows.*number of rows of each"),
        ([], r"lengths is \[\]; expected the number of rows of each sequence"),
        ([6, -1], r"lengths is \[6, -1\].*0 or more"),
        ([2.5, 2.5], r"whole numbers"),
        ([np.nan, 5], r"whole numbers"),
        (5, r"lengths is 5"),
        ([[5]], r"lengths is \[\[5\]\]"),
        (["5"], r"lengths is \['5'\]"),
        ([True, True], r"lengths is \[True, True\]"),
        (np.ones(20), r"adds up to 20"),
        (-np.ones(20), r"an array of shape \(20,\)"),
    ],
)
def test_other_lengths_are_refused(given, message):
    with pytest.raises(InvalidInput, match=message):
        check_lengths(given, 5)


def test_weights_are_one_per_sequence_or_equal_within_each():
    lengths = np.array([3, 0, 2])
    assert check_sequence_weight(None, lengths) is None
    assert_array_equal(check_sequence_weight([2.0, 9.0, 0.0], lengths), [2.0, 0.0, 0.0])
    assert_array_equal(check_sequence_weight([2, 2, 2, 1, 1], lengths), [2.0, 0.0, 1.0])
    assert_array_equal(check_sequence_weight(3.0, lengths), [3.0, 0.0, 3.0])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1.0, 2.0], r"shape \(2,\); expected one number for each of the 3 sequences"),
        ([1, 1, 2, 1, 1], r"differs within sequence 0.*one weight for each sequence"),
        ([1.0, 1.0, -1.0], r"row 3 has -1"),
        ([0.0, 5.0, 0.0], r"at least one non-zero"),
    ],
)
def test_other_weights_are_refused(given, message):
    with pytest.raises(InvalidInput, match=message):
        check_sequence_weight(given, np.array([3, 0, 2]))


def test_known_states_are_codes_and_missing_is_hidden():
    assert check_states(None, 2, 3) is None
    assert_array_equal(check_states([0, -1, 1], 2, 3), [0, -1, 1])
    assert_array_equal(check_states([0.0, np.nan, 1.0], 2, 3), [0, -1, 1])
    assert_array_equal(check_states(pd.Series([0, None, 1]), 2, 3), [0, -1, 1])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([0, 1], r"shape \(2,\) and X has 3 rows"),
        (["a", "b", "c"], r"shape \(3,\).*a number for each row: whole numbers from 0 to 1"),
        ([0, 1, 2], r"holds 2 at row 2.*Raise n_states"),
        ([0, 1, 0.5], r"holds 0\.5 at row 2"),
        ([0, 1, -2], r"holds -2 at row 2"),
        ([0, 0, -1], r"never says 1; every one of the 2 states"),
    ],
)
def test_other_states_are_refused(given, message):
    with pytest.raises(InvalidInput, match=message):
        check_states(given, 2, 3)
