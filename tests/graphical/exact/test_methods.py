"""The registry of methods, which one auto takes, and samples by name."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.errors import GraphTooLarge, InvalidInput, UnknownName
from likely.graphical import contract
from likely.graphical.contract import Request
from likely.graphical.methods import (
    INFERENCE,
    answer,
    log_partition,
    most_probable,
    sample,
)
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.graph_evidence import GraphEvidence
from likely.graphical.model.variable import Variable
from tests.graphical.exact.test_junction_tree import grid
from tests.graphical.random_graphs import random_graph, random_network, random_tree


@pytest.mark.parametrize("name", INFERENCE)
def test_every_method_gives_the_same_answers(name):
    graph = random_tree(5, zeros=0.0)
    evidence = GraphEvidence({graph.names[0]: 0})
    request = Request(graph.names, (graph.names[:2],), evidence)
    called, found = answer(graph, request, name)
    assert called == name
    _, expected = answer(graph, request, "enumeration")
    for each in graph.names:
        assert_allclose(found.marginals[each], expected.marginals[each], rtol=0, atol=1e-10)
    assert_allclose(
        found.joints[graph.names[:2]], expected.joints[graph.names[:2]], rtol=1e-10, atol=1e-10
    )
    assert log_partition(graph, Request(evidence=evidence), name) == pytest.approx(
        expected.log_partition, abs=1e-10
    )
    asked = Request(evidence=evidence)
    assert most_probable(graph, asked, name)[1].codes == most_probable(graph, asked)[1].codes


def test_names_of_methods_are_checked():
    graph = random_tree(0)
    with pytest.raises(UnknownName, match=r"no method of inference 'junktion-tree'.*Did you mean"):
        graph.query(method="junktion-tree")
    assert random_graph(1, zeros=0.0).query(method="junction_tree").method == "junction-tree"


@pytest.mark.long
def test_auto_goes_on_to_elimination_for_a_few_variables_that_fit():
    graph = grid(8, 60)
    eliminated = answer(graph, Request(("0,0",)), "elimination")[1]
    limit = int(graph.junction_tree().bytes / 2)
    name, found = answer(graph, Request(("0,0",), (), memory=limit))
    assert name == "elimination"
    assert_allclose(found.marginals["0,0"], eliminated.marginals["0,0"], rtol=1e-12, atol=1e-12)
    with pytest.raises(GraphTooLarge, match=r"junction tree"):
        answer(graph, Request(graph.names, (), memory=limit))
    pairs = tuple((f"0,{j}", f"0,{j + 1}") for j in range(5))
    assert answer(graph, Request(("0,0",), pairs[:1], memory=limit))[0] == "elimination"
    assert answer(graph, Request(graph.names[:7], pairs[:1], memory=limit))[0] == "elimination"
    with pytest.raises(GraphTooLarge, match=r"junction tree"):  # ten, which are too many
        answer(graph, Request(graph.names[:5], pairs, memory=limit))
    with pytest.raises(GraphTooLarge, match=r"junction tree"):  # and not what elimination needs
        answer(graph, Request(("0,0",), (), memory=10_000))


def test_samples_are_reproducible_in_any_blocks(monkeypatch):
    graph = random_graph(2, zeros=0.0)
    seen = GraphEvidence({"v0": 0})
    whole = sample(graph, Request(evidence=seen, random_state=7), 300)
    monkeypatch.setattr(contract, "BLOCK", 6 * 50)
    parts = sample(graph, Request(evidence=seen, random_state=7), 300)
    assert all(whole[name].tolist() == parts[name].tolist() for name in graph.names)
    assert all(len(codes) == 0 for codes in sample(graph, Request(evidence=seen), 0).values())
    with pytest.raises(InvalidInput, match=r"n_samples=-1"):
        sample(graph, Request(evidence=seen), -1)


def test_a_network_is_drawn_in_order_without_a_tree_and_in_blocks_of_any_size(monkeypatch):
    network = random_network(4, n=6, n_states=3)
    whole = sample(network, Request(random_state=7, memory=1), 130)
    monkeypatch.setattr(contract, "BLOCK", 6 * 50)
    parts = sample(network, Request(random_state=7), 130)
    assert all(whole[name].tolist() == parts[name].tolist() for name in network.names)
    assert all(len(codes) == 130 for codes in parts.values())
    with pytest.raises(GraphTooLarge):
        sample(network, Request(random_state=7, memory=1), 130, "junction-tree")


def test_a_network_is_sampled_from_parents_to_children():
    network = random_network(4, n=6, n_states=3)
    drawn = sample(network, Request(random_state=0), 40_000)
    beliefs = network.query()
    for name in network.names:
        share = np.bincount(drawn[name], minlength=3) / 40_000
        assert_allclose(share, beliefs.marginal(name), atol=0.015)
    slow = sample(network, Request(random_state=0), 10, "junction-tree")
    assert set(slow) == set(network.names)


def test_states_of_probability_0_are_never_drawn():
    network = BayesianNetwork.from_tables(
        {"a": 4, "b": 3},
        {"a": [0, 0.5, 0.5, 0], "b": [[1, 0, 0], [0, 0.5, 0.5], [0, 1, 0], [1, 0, 0]]},
        {"b": ["a"]},
    )
    for uniform in (np.zeros((1, 2)), np.full((1, 2), np.nextafter(1, 0))):
        codes = network.ancestral_sample(uniform)
        assert codes["a"][0] in (1, 2)
        assert codes["b"][0] in (1, 2)


# ── what a network knows of itself ───────────────────────────────────────────────────────────


def test_a_network_with_exact_tables_has_log_z_0_at_once():
    network = random_network(0, n=4)
    assert network.log_partition() == 0.0
    a = Variable("a", 2)
    rounded = BayesianNetwork([Factor([a], [0.3333333, 0.6666666])])
    assert rounded.log_partition() == pytest.approx(np.log(0.9999999), rel=1e-6)


def test_barren_variables_are_left_out_where_the_tree_is_large(monkeypatch):
    """A wide sheet of descendants: what is asked about its roots needs none of them."""
    rng = np.random.default_rng(0)
    roots = [Variable(f"r{i}", 2) for i in range(30)]
    sheet = [Variable(f"s{i}", 2) for i in range(100)]
    factors = [Factor([v], rng.dirichlet([1, 1])) for v in roots]
    for variable in sheet:
        above = [roots[i] for i in rng.permutation(30)[:3]]
        factors.append(Factor([*above, variable], rng.dirichlet([1, 1], size=(2, 2, 2))))
    network = BayesianNetwork(factors)
    assert network.junction_tree().bytes > 10_000_000
    one = network.query(["r0", "s5"], {"s7": 1}, memory="1MB")
    assert one.method == "junction-tree"
    parents = {"s7", "s5", "r0", *network.parents["s7"], *network.parents["s5"]}
    small = FactorGraph([f for f in network.factors if f.scope[-1] in parents])
    expected = small.query(["r0", "s5"], {"s7": 1}, method="enumeration")
    for name in ("r0", "s5"):
        assert_allclose(one.marginal(name), expected.marginal(name), rtol=0, atol=1e-12)
    assert one.log_evidence == pytest.approx(expected.log_partition, abs=1e-10)
    assert network.log_partition({"s7": 1}, memory="1MB") == pytest.approx(one.log_partition)
    with pytest.raises(GraphTooLarge):
        network.query(memory="1MB")


def test_rows_that_do_not_sum_to_1_keep_every_table():
    a, b = Variable("a", 2), Variable("b", 2)
    network = BayesianNetwork(
        [Factor([a], [0.5, 0.5]), Factor([a, b], [[0.4999999, 0.5], [0.5, 0.5]])]
    )
    expected = network.query("a", method="enumeration").marginal("a")
    assert_allclose(network.query("a").marginal("a"), expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("n_samples", [1.5, "two", None, True, -1])
def test_a_number_of_samples_that_is_none_is_refused(n_samples):
    graph = random_tree(5)
    with pytest.raises(InvalidInput, match="a whole number from 0 up was expected"):
        sample(graph, Request(), n_samples)
    assert all(len(codes) == 2 for codes in sample(graph, Request(), np.int64(2)).values())
