"""Whole tables of evidence: every row is answered as it would be alone, in the caller's library."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from likely.errors import GraphTooLarge, ImpossibleEvidence, InvalidInput, UnknownName
from likely.examples import five_variables, four_cycle
from likely.graphical.exact import plans
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.markov_field import MarkovField
from likely.graphical.model.table_beliefs import states_frame
from likely.graphical.model.variable import Variable
from likely.graphical.table_queries import _refuse_large_answer

ROWS = [{"x4": 1}, {}, {"x1": "0", "x5": "1"}, {"x4": 0, "x2": None}, {"x4": 1, "x3": ""}]

LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table.from_pylist}


def columns():
    return [{name: _text(row.get(name)) for name in ("x1", "x2", "x3", "x4", "x5")} for row in ROWS]


def _text(state):
    return None if state in (None, "") else str(state)


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_row_is_answered_as_it_would_be_alone(library):
    network = five_variables()
    frame = LIBRARIES[library](columns())
    beliefs = network.query(given=frame)
    for i, row in enumerate(ROWS):
        alone = network.query(given=row, method="enumeration")
        for name in network.names:
            assert_allclose(beliefs[name][i], list(alone[name].values()), rtol=0, atol=1e-12)
        assert_allclose(beliefs.log_evidence[i], alone.log_evidence, rtol=0, atol=1e-12)
    assert beliefs.exact
    assert beliefs.method == "junction-tree"
    assert list(beliefs) == list(network.names)
    shown = beliefs.to_frame()
    assert type(shown) is type(frame)
    assert list(pa.table(shown.to_dict("list") if library == "pandas" else shown).column_names) == [
        f"{name}={state}" for name in network.names for state in "01"
    ]


def test_a_list_of_mappings_is_a_table():
    network = five_variables()
    beliefs = network.query(["x1"], ROWS)
    assert_allclose(
        beliefs["x1"], network.query("x1", pd.DataFrame(columns()))["x1"], rtol=0, atol=1e-14
    )
    assert isinstance(beliefs.to_frame(), pa.Table)
    assert network.query("x1", [])["x1"].shape == (0, 2)
    with pytest.raises(InvalidInput, match=r"Row 1 of the evidence: There is no variable 'x6'"):
        network.query("x1", [{}, {"x6": 1}])
    with pytest.raises(InvalidInput, match=r"Row 0 .* 'x1' has no state '2'"):
        network.query("x1", [{"x1": 2}])


def test_numbers_and_booleans_match_states_by_their_text():
    network = five_variables()
    whole = network.query("x1", pl.DataFrame({"x4": [1, None, 0]}))["x1"]
    assert_allclose(network.query("x1", pd.DataFrame({"x4": [1.0, np.nan, 0.0]}))["x1"], whole)
    assert_allclose(network.query("x1", pl.DataFrame({"x4": ["1", None, "0"]}))["x1"], whole)


def test_a_cell_equal_to_a_state_is_that_state_and_no_missing_value():
    states = {"a": ["NA", "None", ""], "b": 2}
    tables = {"a": [0.2, 0.3, 0.5], "b": [[0.9, 0.1], [0.5, 0.5], [0.0, 1.0]]}
    network = BayesianNetwork.from_tables(states, tables, {"b": ["a"]})
    found = network.query("b", [{"a": "NA"}, {"a": ""}, {"a": None}])["b"]
    assert_allclose(found, [[0.9, 0.1], [0.0, 1.0], [0.33, 0.67]])


def test_joints_have_the_axes_that_were_asked_for():
    network = five_variables()
    asked = ["x2", ("x5", "x1"), ("x3", "x4", "x2")]
    beliefs = network.query(asked, ROWS)
    assert beliefs["x3", "x4", "x2"].shape == (len(ROWS), 2, 2, 2)
    for i, row in enumerate(ROWS):
        alone = network.query(asked, row, method="enumeration")
        for names in asked[1:]:
            assert_allclose(beliefs[names][i], alone[names], rtol=0, atol=1e-12)
    frame = beliefs.to_frame()
    assert frame.column_names[2:6] == ["x5=0, x1=0", "x5=0, x1=1", "x5=1, x1=0", "x5=1, x1=1"]
    assert_allclose(frame.column("x5=0, x1=1").to_numpy(), beliefs["x5", "x1"][:, 0, 1])
    with pytest.raises(UnknownName, match="no joint among the beliefs 'x1, x5'"):
        beliefs["x1", "x5"]
    with pytest.raises(UnknownName, match="no variable among the beliefs 'x3'"):
        beliefs["x3"]


def test_soft_evidence_holds_in_every_row():
    field = four_cycle()
    soft = {"x2": [0.2, 1.0], "x3": {"1": 3.0, "0": 0.0}}
    rows = [{}, {"x1": 1}, {"x2": 0}]
    beliefs = field.query(["x4", ("x1", "x2")], rows, soft=soft)
    best = field.most_probable(rows, soft=soft)
    for i, row in enumerate(rows):
        alone = field.query(["x4", ("x1", "x2")], row, soft=soft, method="enumeration")
        assert_allclose(beliefs["x4"][i], list(alone["x4"].values()), rtol=0, atol=1e-12)
        assert_allclose(beliefs["x1", "x2"][i], alone["x1", "x2"], rtol=0, atol=1e-12)
        assert_allclose(beliefs.log_evidence[i], alone.log_evidence, rtol=0, atol=1e-12)
        one = field.most_probable(row, soft=soft, method="enumeration")
        assert_allclose(best.log_score[i], one.log_score, rtol=0, atol=1e-12)
        assert_allclose(best.log_probability[i], one.log_probability, rtol=0, atol=1e-12)


def deterministic():
    """b repeats a, so that a ≠ b is impossible."""
    tables = {"a": [0.5, 0.5], "b": [[1.0, 0.0], [0.0, 1.0]], "c": [0.3, 0.7]}
    return BayesianNetwork.from_tables({"a": 2, "b": 2, "c": 2}, tables, {"b": ["a"]})


IMPOSSIBLE = [{"a": 0}, {"a": 0, "b": 1}, {"b": 1}, {"a": 1, "b": 0}]


@pytest.mark.parametrize("method", ["auto", "enumeration"])
def test_an_impossible_row_is_named_or_nan(method):
    network = deterministic()
    with pytest.raises(ImpossibleEvidence, match=r"row 1 has probability 0.*impossible='nan'") as e:
        network.query(given=IMPOSSIBLE, method=method)
    assert e.value.row == 1
    found = network.query(["c", ("a", "c")], IMPOSSIBLE, impossible="nan", method=method)
    assert_allclose(found["c"][[0, 2]], [[0.3, 0.7]] * 2)
    assert np.isnan(found["c"][[1, 3]]).all()
    assert np.isnan(found["a", "c"][[1, 3]]).all()
    assert_allclose(found.log_evidence, [np.log(0.5), -np.inf, np.log(0.5), -np.inf])
    with pytest.raises(ImpossibleEvidence, match="row 1"):
        network.most_probable(IMPOSSIBLE, method=method)
    best = network.most_probable(IMPOSSIBLE, impossible="nan", method=method)
    assert best["b"].tolist() == [0, None, 1, None]
    assert np.isnan(best.log_probability[[1, 3]]).all()
    with pytest.raises(UnknownName, match="choose one of nan, raise"):
        network.query(given=IMPOSSIBLE, impossible="skip")


def test_the_most_probable_configuration_of_every_row():
    network = five_variables()
    frame = pl.DataFrame(columns())
    best = network.most_probable(frame)
    assert isinstance(best.states, pl.DataFrame)
    assert best.states.columns == list(network.names)
    assert len(best) == len(ROWS)
    for i, row in enumerate(ROWS):
        alone = network.most_probable(row, method="enumeration")
        assert best.states.row(i, named=True) == alone.states
        assert_allclose(best.log_score[i], alone.log_score, rtol=0, atol=1e-12)
        assert_allclose(best.log_probability[i], alone.log_probability, rtol=0, atol=1e-12)
        assert best.unique[i] == alone.unique
    with pytest.raises(UnknownName, match="no variable 'x9'"):
        best["x9"]


@pytest.mark.parametrize("method", ["enumeration", "elimination", "tree"])
def test_a_method_that_is_named_answers_row_by_row(method):
    network = five_variables()
    together, named = (
        network.query(["x1", ("x2", "x3")], ROWS, method=m) for m in ("auto", method)
    )
    assert named.method == method
    assert_allclose(named["x1"], together["x1"], rtol=0, atol=1e-12)
    assert_allclose(named["x2", "x3"], together["x2", "x3"], rtol=0, atol=1e-12)
    best = network.most_probable(ROWS, method=method)
    assert_allclose(best.log_score, network.most_probable(ROWS).log_score, rtol=0, atol=1e-12)
    tied = BayesianNetwork.from_edges([("a", "b")], {"a": 2, "b": 2})
    assert tied.most_probable([{}, {"a": 0}, {"a": 0, "b": 1}], method=method).unique.tolist() == [
        *(False, False, True)
    ]


def test_a_column_that_is_no_variable_is_refused_with_the_nearest_one():
    with pytest.raises(InvalidInput, match=r"Column 'x_4' is no variable.*Did you mean 'x4'"):
        five_variables().query(given=pd.DataFrame({"x_4": [1]}))
    several = r"Columns 'id', 'day' are no variables.* frame.drop\(columns=\['id', 'day'\]\)"
    with pytest.raises(InvalidInput, match=several):
        five_variables().query(given=pd.DataFrame({"id": [1], "x1": [0], "day": [1]}))
    with pytest.raises(InvalidInput, match="'x4' has no state '7'"):
        five_variables().query(given=pd.DataFrame({"x4": [1, 7]}))


def test_an_answer_beyond_the_memory_is_refused_with_its_size():
    rows = [{}] * 1000
    with pytest.raises(GraphTooLarge, match=r"The answer for 1,000 rows needs about 32 kB.*fewer"):
        five_variables().query([("x1", "x2")], rows, memory="10kB")


def test_states_as_a_frame_with_gaps():
    variables = {"a": Variable("a", ["no", "yes"])}
    frame = states_frame(variables, {"a": np.array([1, -1, 0])}, "pandas")
    assert frame["a"].tolist()[::2] == ["yes", "no"]
    assert frame["a"].isna().tolist() == [False, True, False]


@st.composite
def graphs_with_rows(draw):
    """A small graph, perhaps in pieces and with zeros, and rows of evidence with gaps."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    variables = [Variable(f"v{i}", int(rng.integers(1, 4))) for i in range(rng.integers(1, 6))]
    factors = []
    for _ in range(rng.integers(1, 7)):
        scope = rng.choice(
            len(variables), size=rng.integers(0, min(3, len(variables)) + 1), replace=False
        )
        table = rng.random([variables[i].n_states for i in scope])
        table[rng.random(table.shape) < draw(st.sampled_from([0.0, 0.3]))] = 0.0
        factors.append(Factor([variables[i] for i in scope], table))
    rows = [
        {v.name: v.states[rng.integers(v.n_states)] for v in variables if rng.random() < 0.4}
        for _ in range(4)
    ]
    return FactorGraph(factors, variables), rows


@settings(max_examples=40, deadline=None)
@given(graphs_with_rows())
def test_tables_agree_with_enumeration_on_random_graphs(case):
    graph, rows = case
    asked = [*graph.names, tuple(graph.names[:3])]
    together, alone = (
        graph.query(asked, rows, impossible="nan", method=method)
        for method in ("auto", "enumeration")
    )
    assert_allclose(together.log_partition, alone.log_partition, rtol=0, atol=1e-10)
    for name in together:
        assert_allclose(together[name], alone[name], rtol=0, atol=1e-10)
    best = [graph.most_probable(rows, impossible="nan", method=m) for m in ("auto", "enumeration")]
    assert_allclose(best[0].log_score, best[1].log_score, rtol=0, atol=1e-10)
    assert_array_equal(best[0].unique, best[1].unique)


def test_log_evidence_of_a_field_subtracts_its_own_log_partition():
    field = MarkovField.from_potentials({"a": 2, "b": 2}, {("a", "b"): [[1, 2], [3, 4]]})
    found = field.query(given=[{"a": 1}, {}])
    assert_allclose(found.log_evidence, [np.log(0.7), 0.0], rtol=0, atol=1e-12)
    assert_array_equal(found.log_partition, found.log_evidence + field.log_partition())


def test_a_file_is_a_table(tmp_path):
    """Its cells are read as they are written: NA is a state where there is one, else missing."""
    network = BayesianNetwork.from_tables(
        {"a": ["NA", "x"], "b": 2}, {"a": [0.5, 0.5], "b": [[0.9, 0.1], [0.2, 0.8]]}, {"b": ["a"]}
    )
    path = tmp_path / "rows.csv"
    path.write_text("a,b\nNA,NA\nx,1.0\n,0\n")
    beliefs = network.query(given=path)
    assert_allclose(beliefs["a"], [[1, 0], [0, 1], [9 / 11, 2 / 11]])
    assert_allclose(beliefs["b"], [[0.9, 0.1], [0, 1], [1, 0]])
    assert_allclose(network.query(given=str(path))["b"], beliefs["b"])
    assert network.most_probable(path)["b"].tolist() == [0, 1, 0]


def test_the_index_of_a_pandas_frame_is_kept():
    network = five_variables()
    frame = pd.DataFrame({"x4": [1, 0, None]}, index=pd.Index(["u", "v", "w"], name="day"))
    for answer in (network.query("x1", frame).to_frame(), network.most_probable(frame).states):
        assert answer.index.equals(frame.index) and answer.index.name == "day"
    assert network.query("x1", frame).to_frame("polars").columns == ["x1=0", "x1=1"]
    assert network.query("x1", frame.reset_index(drop=True)).to_frame().index.tolist() == [0, 1, 2]
    assert network.query("x1", [{}, {}]).to_frame("pandas").index.tolist() == [0, 1]


@pytest.mark.parametrize("state", [0, 1])
def test_rows_that_all_observe_one_state_are_answered_as_each_alone(monkeypatch, state):
    monkeypatch.setattr(plans, "SLICING_CELLS", 0)  # the network is cut to what matters
    network = five_variables()
    for name in network.names:
        found = network.query("x1", [{name: state}] * 2)["x1"]
        alone = network.query("x1", {name: state}, method="enumeration")["x1"]
        assert_allclose(found, [list(alone.values())] * 2, rtol=0, atol=1e-12)


def test_joints_do_not_depend_on_the_scale_of_the_factors():
    field = four_cycle()
    tiny = field.with_factors(
        Factor(f.variables, f.log_table - 300.0, scale="log") for f in field.factors
    )
    asked, rows = [("x1", "x3"), ("x1", "x2", "x3", "x4")], [{}, {"x2": 1}]
    for names in asked:
        found, expected = (graph.query([names], rows)[names] for graph in (tiny, field))
        assert_allclose(found, expected, rtol=0, atol=1e-10)


def test_an_answer_that_just_fits_is_not_refused():
    network = five_variables()
    _refuse_large_answer(network, 10, [("x1",), ("x1", "x2")], 8 * 10 * (2 + 4))
    with pytest.raises(GraphTooLarge, match="The answer for 10 rows"):
        _refuse_large_answer(network, 10, [("x1",), ("x1", "x2")], 8 * 10 * (2 + 4) - 1)
