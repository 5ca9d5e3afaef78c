"""The class among the variables: its name, and labels that are states."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from likely.errors import InvalidInput, UnknownName
from likely.examples import five_variables
from likely.generative.bayesian_network_classifier import (
    labels_of_states,
    target_among,
    target_name,
    without_target,
)
from likely.graphical.model.variable import Variable


@pytest.mark.parametrize(
    ("states", "seen", "expected"),
    [
        (["b", "a"], np.array(["a"]), ["a", "b"]),
        (["2", "10", "1"], np.array([10, 2]), [1, 2, 10]),
        (["True", "False"], np.array([True]), [False, True]),
        (["0.5", "1"], np.array([0.5]), [0.5, 1.0]),
    ],
    ids=["text", "int", "bool", "float"],
)
def test_labels_have_the_type_of_y(states, seen, expected):
    labels = labels_of_states(Variable("y", states), seen)
    assert_array_equal(labels, expected)
    assert labels.dtype.kind == seen.dtype.kind


def test_states_that_are_no_labels_of_that_type_are_refused():
    with pytest.raises(InvalidInput, match=r"state 'other' .* labels in y are of type int"):
        labels_of_states(Variable("y", ["1", "other"]), np.array([1]))
    with pytest.raises(UnknownName, match="'y' has no state '3'"):
        labels_of_states(Variable("y", ["1", "2"]), np.array([1, 3]))


def test_the_variable_of_a_network_that_is_the_class():
    network, others = five_variables(), ("x1", "x2", "x3", "x5")
    assert target_among(network, None, [0, 1], others) == "x4"
    assert target_among(network, None, pd.Series([0], name="x2"), ("x1",)) == "x2"
    assert target_among(network, "x3", None, ()) == "x3"
    with pytest.raises(InvalidInput, match=r"none is known to be the class.*target="):
        target_among(network, None, [0, 1], ("x1", "x2"))
    with pytest.raises(UnknownName, match="for target 'x6'"):
        target_among(network, "x6", None, ())
    with pytest.raises(InvalidInput, match="no column has"):
        target_name(None, [0, 1], ("class", "target", "label"))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_column_of_labels_is_taken_out_of_a_frame(make):
    rest, labels = without_target(make({"a": [1, 2, 3], "y": [7, None, 3]}), "y", np.array([3, 7]))
    assert list(rest.columns) == ["a"]
    assert_array_equal(labels, [1, -1, 0])
    words = make({"y": ["b", None, "a"]})
    assert_array_equal(without_target(words, "y", np.array(["a", "b"])).labels, [1, -1, 0])
    assert without_target(make({"a": [1]}), "y", np.array([0, 1])).labels is None
