"""Cells become codes of states and come back as the values they were."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from likely import BayesianNetworkClassifier
from likely.errors import InvalidInput
from likely.graphical.model.bayesian_network import BayesianNetwork

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
