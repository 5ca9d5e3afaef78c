"""Graphs in files: what is saved comes back bit for bit, and a broken file is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import likely
from likely import examples
from likely.errors import InvalidFile, InvalidInput
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.conditional_graph import ConditionalGraph
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.markov_field import MarkovField
from likely.graphical.model.variable import Variable
from likely.storage.encoding import Decoder, Encoder
from likely.storage.graphs import GRAPHS
from likely.storage.model_file import load, save
from tests.storage.test_model_file import forge

A, B = Variable("a", ["NA", "<x>", ""]), Variable("b", 1)
GRAPHS_TO_SAVE = {
    "network": examples.five_variables(),
    "field": examples.four_cycle(),
    "plain": examples.four_cycle().factor_graph(),
    "normalised": examples.four_cycle().normalised(),
    "odd": FactorGraph(
        [Factor([A, B], [[0.1], [0.0], [1e-300]]), Factor([B, A], [[-np.inf, 0, 2]], scale="log")],
        [B, A, Variable("alone", ["x"])],
        name="π",
    ),
    "empty": FactorGraph([]),
    "conditional": ConditionalGraph(
        [Factor([B], [2.0], name="x")], given={"x": 0.5, "colour": "red"}
    ),
}


@pytest.mark.parametrize("name", GRAPHS_TO_SAVE)
def test_a_graph_comes_back_bit_for_bit(name, tmp_path):
    graph = GRAPHS_TO_SAVE[name]
    likely.save(graph, tmp_path / "graph.likely")
    back = likely.load(tmp_path / "graph.likely")
    assert type(back) is type(graph)
    assert (back.name, back.variables) == (graph.name, graph.variables)
    assert len(back.factors) == len(graph.factors)
    for one, other in zip(back.factors, graph.factors, strict=True):
        assert (one.name, one.scale, one.variables) == (other.name, other.scale, other.variables)
        assert_array_equal(one.stored, other.stored)
        assert not one.stored.flags.writeable
    if isinstance(graph, ConditionalGraph):
        assert back.given == graph.given


def test_how_a_network_was_learned_comes_back(tmp_path):
    rows = examples.five_variables().sample(60, random_state=0, library="pandas")
    rows.loc[::3, "x2"] = None
    learned = examples.five_variables().fit(rows, tol=1e-3)
    likely.save(learned, tmp_path / "graph.likely")
    back = likely.load(tmp_path / "graph.likely")
    assert str(back.fit_report) == str(learned.fit_report)
    assert back.fit_report.method == "em"
    assert back.fit_report.trace == learned.fit_report.trace


def test_how_the_edges_were_learned_comes_back_and_may_be_absent_in_older_files():
    rows = examples.five_variables().sample(60, random_state=0, library="pandas")
    learned = BayesianNetwork.from_data(rows, "chow-liu")
    encoder = Encoder("network")
    coded = encoder.value(learned.fit_report, "fit_report")
    back = Decoder(encoder.tensors).value(coded)
    assert back.structure == "chow-liu" and back.limits == learned.fit_report.limits
    fields = next(iter(coded.values()))[1]
    del fields["structure"], fields["limits"], fields["library"]
    older = Decoder(encoder.tensors).value(coded)
    assert (older.method, older.structure, older.limits) == ("counts", "", "")
    del fields["weight"]
    with pytest.raises(InvalidInput, match="The fields of FitReport were expected"):
        Decoder(encoder.tensors).value(coded)


def test_every_kind_of_graph_can_be_saved():
    assert set(GRAPHS.values()) == {FactorGraph, BayesianNetwork, MarkovField, ConditionalGraph}
    assert {type(graph) for graph in GRAPHS_TO_SAVE.values()} == set(GRAPHS.values())


def test_equal_graphs_make_equal_files(tmp_path):
    for name in ("one", "two"):
        likely.save(examples.five_variables(), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def coded_network():
    encoder = Encoder("Test")
    return encoder.model(examples.five_variables()), encoder.tensors


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["arguments"]["factors"][2].__setitem__(2, ["x9", "x3"]), "depends on 'x9'"),
        (lambda c: c["arguments"]["factors"][2].__setitem__(2, ["x3", "x1", "x2"]), "shape"),
        (lambda c: c["arguments"]["factors"].pop(), "There is no table for x5"),
        (lambda c: c["arguments"].pop("name"), "The arguments of BayesianNetwork"),
        (lambda c: c.__setitem__("class", "Pickle"), "names the estimator 'Pickle'"),
        (lambda c: c["arguments"].__setitem__("name", {"class": "Bernoulli"}), "is not text"),
        (lambda c: c["arguments"]["factors"][0].__setitem__(0, 3), "is not text"),
    ],
    ids=["variable", "shape", "table", "argument", "class", "name", "name of a factor"],
)
def test_a_graph_that_does_not_fit_together_is_refused(change, message):
    coded, tensors = coded_network()
    change(coded)
    with pytest.raises(InvalidInput, match=message):
        Decoder(tensors).model(coded)


def test_a_table_that_does_not_sum_to_one_is_refused():
    coded, tensors = coded_network()
    where = coded["arguments"]["factors"][0][3]["tensor"]
    with pytest.raises(InvalidInput, match=r"The table of 'x1' sums to 0.8"):
        Decoder({**tensors, where: 0.8 * tensors[where]}).model(coded)


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "graph.likely"
    likely.save(examples.four_cycle(), path)
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    with pytest.raises(InvalidFile, match="changed or damaged"):
        likely.load(path)


def test_a_classifier_of_a_given_network_comes_back(tmp_path):
    rows = examples.five_variables().sample(80, random_state=0, library="pandas")
    y = rows.pop("x1")
    model = likely.BayesianNetworkClassifier(examples.five_variables(), method="em", tol=1e-3)
    model.fit(rows[["x3", "x4", "x5"]], y)
    likely.save(model, tmp_path / "m.likely")
    back = likely.load(tmp_path / "m.likely")
    assert back.network.edges == model.network.edges
    assert back.n_iter_ == model.n_iter_ > 1
    some = rows[["x4"]]
    # readable or compiled loops, as the process has them
    assert_allclose(back.query(some, "x2")["x2"], model.query(some, "x2")["x2"], rtol=1e-12)


@pytest.mark.parametrize(
    ("attribute", "value", "message"),
    [
        ("class_states_", np.array([0, 2]), "The classes"),
        ("network_", examples.five_variables(), "not well formed"),
        ("n_features_in_", 1, "variables has 2 entries where 1"),
    ],
)
def test_a_classifier_whose_network_is_another_is_refused(attribute, value, message, tmp_path):
    X = np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 2.0], [1.0, 1.0]])
    model = likely.BayesianNetworkClassifier(discretize=None).fit(X, [0, 1, 0, 1])
    setattr(model, attribute, value)
    likely.save(model, tmp_path / "m.likely")
    with pytest.raises(InvalidFile, match=message):
        likely.load(tmp_path / "m.likely")


def test_a_classifier_with_fewer_states_than_codes_is_refused(tmp_path):
    X = np.array([["a", "u"], ["b", "v"], ["c", "u"], ["a", "v"]])
    y = [0, 1, 0, 1]
    model, other = (likely.BayesianNetworkClassifier().fit(rows, y) for rows in (X, X[:, ::-1]))
    model.network_ = other.network_
    likely.save(model, tmp_path / "m.likely")
    with pytest.raises(InvalidFile, match="Variable 'x0' has"):
        likely.load(tmp_path / "m.likely")


@pytest.mark.parametrize("state", [[1], {"dict": []}, 10**400])
def test_a_state_that_is_no_label_is_refused(tmp_path, state):
    graph = BayesianNetwork.from_edges([("a", "b")], {"a": 2, "b": 2})
    save(graph, tmp_path / "m.likely")
    path = tmp_path / "m.likely"
    forge(path, lambda head: head["arguments"]["variables"][0][1].insert(0, state))
    with pytest.raises(InvalidFile, match="as a state"):
        load(tmp_path / "m.likely")
