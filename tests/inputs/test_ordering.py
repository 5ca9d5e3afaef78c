"""The order of classes: given, categorical or sorted."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from likely.errors import AlphabeticalOrder, InvalidInput
from likely.inputs.labels import ordered_classes

LEVELS = ["low", "middle", "high"]
Y = ["high", "low", "middle", "low"]
DICTIONARY = pa.DictionaryArray.from_arrays([2, 0, 1, 0], LEVELS, ordered=True)


@pytest.mark.parametrize(
    ("y", "order"),
    [
        (Y, LEVELS),
        (np.array(Y), tuple(LEVELS)),
        (pd.Series(Y), np.array(LEVELS)),
        (pd.Categorical(Y, LEVELS, ordered=True), None),
        (pd.Series(pd.Categorical(Y, LEVELS, ordered=True)), None),
        (pl.Series(Y, dtype=pl.Enum(LEVELS)), None),
        (pa.chunked_array([DICTIONARY]), None),
    ],
    ids=["list", "array", "series", "Categorical", "pandas", "polars", "arrow"],
)
def test_the_order_is_the_one_given_or_that_of_the_categories(y, order):
    classes, codes = ordered_classes(y, order)
    assert classes.tolist() == LEVELS
    assert codes.tolist() == [2, 0, 1, 0]


@pytest.mark.parametrize(
    "y", [Y, pd.Series(pd.Categorical(Y, LEVELS)), pl.Series(Y, dtype=pl.Categorical)]
)
def test_labels_without_an_order_are_sorted(y):
    with pytest.warns(AlphabeticalOrder, match="high < low < middle; give the order"):
        assert ordered_classes(y).classes.tolist() == ["high", "low", "middle"]


def test_numbers_and_two_words_are_sorted_without_a_warning():
    assert ordered_classes([10, 9, 10, 11]).classes.tolist() == [9, 10, 11]
    assert ordered_classes(["yes", "no"]).classes.tolist() == ["no", "yes"]


def test_an_order_that_is_given_rules_over_that_of_the_categories():
    y = pd.Series(pd.Categorical(Y, LEVELS, ordered=True))
    assert ordered_classes(y, LEVELS[::-1]).classes.tolist() == LEVELS[::-1]


@given(st.lists(st.integers(-5, 5), min_size=1), st.permutations(range(-5, 6)))
def test_codes_lead_back_to_the_labels_and_rise_with_the_order(y, order):
    classes, codes = ordered_classes(y, order)
    assert_array_equal(classes[codes], y)
    assert classes.tolist() == [label for label in order if label in y]


def test_classes_without_a_row_are_left_out():
    y = pd.Series(pd.Categorical(["low", "high"], LEVELS, ordered=True))
    assert ordered_classes(y).classes.tolist() == ["low", "high"]
    classes, codes = ordered_classes(Y, LEVELS, weight=np.array([0.0, 1.0, 1.0, 0.0]))
    assert classes.tolist() == ["low", "middle"]
    assert codes.tolist() == [-1, 0, 1, 0]


def test_a_label_that_is_not_in_the_order_is_named():
    with pytest.raises(InvalidInput, match=r"label 'middle'; the order is low, high\. Add"):
        ordered_classes(Y, ["low", "high"])


def test_a_label_that_is_in_the_order_twice_is_named():
    with pytest.raises(InvalidInput, match="names 'low' twice"):
        ordered_classes(Y, [*LEVELS, "low"])
