"""Graphs as people write them: states of any type, one row of a frame, answers at a prompt."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import likely as lk
from likely.errors import ImpossibleEvidence, InvalidInput, UnknownName


def test_a_function_gets_the_states_as_they_were_given():
    spins = {"a": [-1, 1], "b": [-1, 1]}
    field = lk.MarkovField.from_energies(spins, {("a", "b"): lambda a, b: -0.3 * a * b})
    agree = 1 / (1 + np.exp(-0.6))
    assert_allclose(field.joint(), [[agree / 2, (1 - agree) / 2], [(1 - agree) / 2, agree / 2]])
    truth = lk.MarkovField.from_potentials({"a": [False, True]}, {"a": lambda a: 3.0 if a else 1})
    assert_allclose(truth.query("a")["a"][True], 0.75)
    counted = lk.MarkovField.from_potentials({"a": 2}, {"a": lambda a: 3.0 if a == 1 else 1.0})
    assert_allclose(counted.query("a")["a"]["1"], 0.75)
    with pytest.raises(InvalidInput, match="a function of states, such as 'x'"):
        lk.MarkovField.from_potentials({"a": ["x", "y"]}, {"a": lambda a: a - 1})


def test_a_state_is_found_by_number_and_by_name():
    network = lk.BayesianNetwork.from_tables({"t": [36, 38]}, {"t": [0.9, 0.1]})
    belief = network.query("t")["t"]
    assert belief[38] == belief[38.0] == belief["38"] == pytest.approx(0.1)
    with pytest.raises(UnknownName, match="state '40'"):
        belief[40]


def test_one_row_of_a_frame_is_evidence():
    network = lk.examples.five_variables()
    row = pd.DataFrame({"x4": [1], "x5": [np.nan]}).iloc[0]
    assert_allclose(network.query("x1", row).marginal("x1"), [4 / 19, 15 / 19])
    assert network.most_probable(row)["x4"] == "1"


def test_lists_and_tuples_of_names():
    network = lk.examples.five_variables()
    assert_allclose(
        network.query([["x1", "x2"]])["x1", "x2"], network.query([("x1", "x2")])["x1", "x2"]
    )
    assert network.d_separated("x3", "x5", "x2") is network.d_separated("x3", "x5", ["x2"])


def test_no_rows_give_an_empty_frame():
    frame = lk.examples.five_variables().query("x1", pd.DataFrame({"x4": [1]}).iloc[:0]).to_frame()
    assert list(frame.columns) == ["x1=0", "x1=1"] and len(frame) == 0


def test_answers_and_tables_print_their_numbers():
    network = lk.examples.five_variables()
    assert "0.2105" in repr(network.query("x1", {"x4": 1}))
    assert "0.4000" in str(network.query("x1", [{"x4": 1}, {}]))
    assert "x4=1" in str(network.tables["x4"]) and "0.9" in str(network.tables["x4"])
    assert "4 edges, 10 parameters" in repr(network)


def test_what_is_no_factor_or_variable_is_named():
    with pytest.raises(InvalidInput, match="from_edges"):
        lk.BayesianNetwork([("a", "b")])
    with pytest.raises(InvalidInput, match=r"Variable\('a', 2\)"):
        lk.graphical.Factor(["a"], [1.0, 2.0])


def test_a_graph_without_a_possible_configuration_is_not_blamed_on_evidence():
    nothing = lk.MarkovField.from_potentials({"a": 2}, {"a": [0.0, 0.0]})
    with pytest.raises(ImpossibleEvidence, match="Every configuration has the value 0"):
        nothing.query("a")
    assert nothing.log_partition() == -np.inf
