"""Graphs as people write them: states of any type, one row of a frame, answers at a prompt."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

import likely as lk
from likely.errors import ImpossibleEvidence, InvalidFile, InvalidInput, UnknownName


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
    assert network.most_probable(row)["x4"] == 1


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


# ── answers have the states that were declared ───────────────────────────────────────────────

TYPED = {"n": [10, 20], "flag": [False, True], "share": [0.5, 1.5], "word": ["a", "1"]}


def typed_network():
    tables = {name: [0.25, 0.75] for name in TYPED}
    return lk.BayesianNetwork.from_tables(TYPED, tables)


def test_answers_hold_the_states_that_were_declared():
    network = typed_network()
    for name, states in TYPED.items():
        assert list(network.query(name)[name]) == states
        best = network.most_probable()[name]
        assert best == states[1] and type(best) is type(states[1])
        assert network.most_probable([{}, {name: states[0]}])[name].tolist() == states[::-1]


def test_states_are_found_by_their_value_and_by_their_text():
    found = typed_network().query("n")["n"]
    assert found[10] == found["10"] == found.get("10") == found.get(10.0) == 0.25
    assert "20" in found and 20 in found and 30 not in found and found.get(30) is None
    with pytest.raises(UnknownName, match="choose one of 10, 20"):
        found[30]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of_answers_have_the_types_that_were_declared(library):
    network = typed_network()
    for frame in (
        network.sample(40, random_state=0, library=library),
        network.most_probable([{"n": 10}, {}]).to_frame(library),
    ):
        for name, states in TYPED.items():
            column = frame[name].to_pylist() if library == "pyarrow" else frame[name].to_list()
            assert {type(each) for each in column} == {type(states[0])}
            assert set(column) <= set(states)
    states = network.query("n").to_frame("pandas")["state"]
    assert states.tolist() == [10, 20]
    assert network.query(["n", "word"]).to_frame("pandas")["state"].tolist() == [
        "10",
        "20",
        "a",
        "1",
    ]


def test_states_of_several_types_are_text_in_a_frame_and_as_declared_elsewhere():
    network = lk.BayesianNetwork.from_tables({"a": ["x", 1]}, {"a": [0.2, 0.8]})
    assert network.most_probable()["a"] == 1
    assert set(network.sample(50, random_state=0, library="pandas")["a"]) == {"x", "1"}


def test_states_found_in_data_keep_their_types():
    rows = pd.DataFrame({"n": [3, 4, 4], "flag": [True, False, True], "word": ["u", "v", "v"]})
    network = lk.BayesianNetwork.from_data(rows)
    assert [each.values for each in network.variables] == [(3, 4), (False, True), ("u", "v")]
    assert network.sample(3, random_state=0, library="pandas").dtypes.equals(rows.dtypes)


@pytest.mark.parametrize("name", ["graph.json", "graph.likely"])
def test_files_keep_the_types_of_states(name, tmp_path):
    network, path = typed_network(), tmp_path / name
    if name.endswith("json"):
        lk.write_graph(network, path)
        back = lk.read_graph(path)
    else:
        lk.save(network, path)
        back = lk.load(path)
    assert [each.values for each in back.variables] == [tuple(each) for each in TYPED.values()]
    assert [type(each.values[0]) for each in back.variables] == [int, bool, float, str]


def test_values_in_a_file_that_are_not_its_states_are_refused(tmp_path):
    path = tmp_path / "graph.json"
    lk.write_graph(typed_network(), path)
    text = path.read_text().replace('"values": [10, 20]', '"values": [10, 30]')
    path.write_text(text)
    with pytest.raises(InvalidFile, match="10, 30 as text, and its states are 10, 20"):
        lk.read_graph(path)
    path.write_text(text.replace("[10, 30]", "[10, null]"))
    with pytest.raises(InvalidFile, match="no number, Boolean or text"):
        lk.read_graph(path)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_answers_about_one_row_are_frames_of_the_library_that_was_learned_from(library):
    rows = {"a": ["0", "1", "1", "0"], "b": ["x", "y", "y", "x"]}
    frame = pd.DataFrame(rows) if library == "pandas" else pl.DataFrame(rows)
    network = lk.BayesianNetwork.from_data(frame)
    for found in (network.query("a", {"b": "x"}), network.most_probable({"b": "x"})):
        assert type(found.to_frame()).__module__.startswith(library)
        assert type(found.to_frame("pyarrow")).__module__.startswith("pyarrow")


def test_answers_about_a_series_are_frames_of_its_library():
    network = lk.examples.five_variables()
    seen = pd.DataFrame({"x4": [1], "x2": [0]}).iloc[0]
    for found in (network.query("x1", seen), network.most_probable(seen)):
        assert isinstance(found.to_frame(), pd.DataFrame)
    for found in (network.query("x1", dict(seen)), network.most_probable()):
        assert isinstance(found.to_frame(), pa.Table)
