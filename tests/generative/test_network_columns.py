"""Cells become codes of states and come back as the values they were."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from likely import BayesianNetworkClassifier
from likely.errors import InvalidInput, UnknownName
from likely.examples import five_variables
from likely.generative.bayesian_network_classifier import (
    labels_of_states,
    target_among,
    target_name,
    without_target,
)
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.variable import Variable

LABELS = [0, 1, 0, 1, 0, 1]


def columns_of(frame, **settings):
    model = BayesianNetworkClassifier(structure="naive-bayes", **settings).fit(frame, LABELS)
    return model, model.columns_


def test_codes_follow_the_columns_whatever_is_binned():
    frame = pd.DataFrame(
        {
            "number": [0.0, 1.0, 0.0, 1.0, np.nan, 1.0],
            "word": ["b", "a", None, "a", "b", "b"],
            "also": [9.0, 2.0, 9.0, 2.0, 9.0, 2.0],
            "flag": [True, False, True, True, False, False],
        }
    )
    model, columns = columns_of(frame)
    assert [variable.name for variable in columns.variables] == list(frame.columns)
    assert columns.sizes == (2, 2, 2, 2)
    expected = [
        [0, 1, 1, 1],
        [1, 0, 0, 0],
        [0, -1, 1, 1],
        [1, 0, 0, 1],
        [-1, 1, 1, 0],
        [1, 1, 0, 0],
    ]
    assert_array_equal(columns.codes(model, frame), expected)
    back = columns.rows(np.array(expected), "pandas")
    assert_array_equal(back["word"].to_numpy(dtype=object)[[0, 1, 3]], ["b", "a", "a"])
    assert back["word"].isna().tolist() == [False, False, True, False, False, False]
    assert np.isnan(back["number"][4])
    assert back["also"][0] > 5 > back["also"][1]
    assert_array_equal(columns.values(3, np.array([1, 0])), [True, False])


def test_values_with_the_same_text_are_different_states():
    frame = pd.DataFrame({"odd": np.array([1, "1", 1, "1", 1, "1"], dtype=object)})
    _, columns = columns_of(frame)
    assert columns.variables[0].states == ("1", "'1'")


def test_booleans_are_states_by_their_names_also_with_gaps():
    for values in ([True, False] * 3, [True, False, None] * 2):
        _, columns = columns_of(pl.DataFrame({"flag": values}))
        assert columns.variables[0].states == ("False", "True")


def test_a_frame_with_some_columns_leaves_the_others_missing():
    frame = pl.DataFrame({"a": ["x", "y"] * 3, "b": [1.0, 2.0] * 3, "c": [True, False] * 3})
    model, columns = columns_of(frame)
    some = columns.codes_of_some(model, frame.select("c", "a"))
    assert_array_equal(some[:2], [[0, -1, 1], [1, -1, 0]])
    assert_array_equal(columns.codes_of_some(model, frame)[:2], columns.codes(model, frame)[:2])
    in_pandas = columns.codes_of_some(model, pd.DataFrame({"b": [2.0]}))
    assert_array_equal(in_pandas, [[-1, 1, -1]])


def test_columns_without_names_are_the_variables_in_their_order():
    network = BayesianNetwork.from_edges(
        [("y", "a"), ("y", "b")], {"y": 2, "a": 3, "b": ["5", "7"]}
    )
    model = BayesianNetworkClassifier(network, target="y")
    X = np.array([[0, 5], [1, 7], [2, 5], [0, 7], [1, 5], [2, np.nan]])
    model.fit(X, LABELS)
    assert_array_equal(model.columns_.codes(model, X)[:, 1], [0, 1, 0, 1, 0, -1])
    drawn, labels = model.sample(20, random_state=0)
    assert set(drawn[:, 1]) <= {5.0, 7.0}
    assert set(labels) <= {0, 1}
    with pytest.raises(InvalidInput, match="X has 1 columns without names; the network has 2"):
        model.fit(X[:, :1], LABELS)


# ── The class among the variables: its name, and labels that are states ───────────────────────────


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
