"""Queries of graphs by name: beliefs, configurations, energies, and networks made from answers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.errors import ImpossibleEvidence, InvalidInput, UnknownName
from likely.graphical.exact.enumeration import log_joint_table
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.graph_evidence import GraphEvidence
from likely.graphical.model.variable import Variable
from tests.graphical.model.test_markov_field import random_field
from tests.graphical.random_graphs import enumerated, random_graph, random_network

RAIN = BayesianNetwork.from_tables(
    {"rain": ["no", "yes"], "wet": ["no", "yes"]},
    {"rain": [0.8, 0.2], "wet": [[1.0, 0.0], [0.25, 0.75]]},
    {"wet": ["rain"]},
)


def naive_bayes(n, seed=0):
    """y → x_1, …, x_n with random tables."""
    rng = np.random.default_rng(seed)
    states = {"y": 2} | {f"x{i}": 2 for i in range(n)}
    tables = {"y": rng.dirichlet([1, 1])}
    tables |= {f"x{i}": rng.dirichlet([1, 1], size=2) for i in range(n)}
    return BayesianNetwork.from_tables(states, tables, {f"x{i}": ["y"] for i in range(n)})


def test_beliefs_are_asked_and_read_by_name():
    beliefs = RAIN.query(["rain", ("wet", "rain")], {"wet": "no"})
    assert list(beliefs) == ["rain", ("wet", "rain")]
    assert beliefs["rain"] == pytest.approx({"no": 0.8 / 0.85, "yes": 0.05 / 0.85})
    assert_allclose(beliefs["wet", "rain"], [[0.8 / 0.85, 0.05 / 0.85], [0, 0]])
    assert beliefs.log_evidence == pytest.approx(np.log(0.85))
    assert beliefs.exact
    assert RAIN.query("rain").log_evidence == pytest.approx(0.0)
    assert list(RAIN.query()) == ["rain", "wet"]
    assert str(RAIN.query("rain")).splitlines() == [
        "  variable  state  probability",
        "  rain      no          0.8000",
        "            yes         0.2000",
    ]


def test_unnormalised_graphs_know_the_probability_of_evidence():
    graph = random_graph(3, zeros=0.0)
    seen = GraphEvidence({"v0": 0})
    expected = enumerated(graph, seen).log_partition - enumerated(graph).log_partition
    assert_allclose(graph.query("v1", {"v0": 0}).log_evidence, expected, rtol=1e-10)
    p = graph.joint()
    assert_allclose(p.sum(), 1.0, rtol=1e-10)
    assert_allclose(
        np.exp(log_joint_table(graph.normalised(), GraphEvidence(), None)), p, rtol=1e-10
    )
    states = dict.fromkeys(graph.names, 0)
    assert_allclose(np.exp(graph.log_probability(states)), p[(0,) * p.ndim], rtol=1e-10)


def test_messages_know_the_probability_of_evidence():
    beliefs = RAIN.messages(given={"wet": "no"}).beliefs()
    assert beliefs.log_evidence == pytest.approx(np.log(0.85))


def test_the_most_probable_configuration_has_a_probability():
    best = RAIN.most_probable({"wet": "no"})
    assert best.states == {"rain": "no", "wet": "no"}
    assert best.log_score == pytest.approx(np.log(0.8))
    assert best.log_probability == pytest.approx(np.log(0.8 / 0.85))
    assert best.unique
    assert best["rain"] == "no"
    with pytest.raises(UnknownName, match=r"no variable 'snow'"):
        best["snow"]
    tied = FactorGraph([Factor([Variable("a", 2)], [1, 1])]).most_probable()
    assert "Another configuration has the same score" in str(tied)


def test_what_cannot_be_asked_is_refused():
    with pytest.raises(ImpossibleEvidence, match=r"The evidence has probability 0"):
        RAIN.query("rain", {"rain": "no", "wet": "yes"})
    assert RAIN.log_partition({"rain": "no", "wet": "yes"}) == -np.inf
    with pytest.raises(UnknownName, match=r"no variable 'rian'.*Did you mean 'rain'"):
        RAIN.query("rian")
    with pytest.raises(InvalidInput, match=r"Two variables are called 'rain'"):
        RAIN.query([("rain", "rain")])
    both = r"Use \['rain', 'wet'\] for each alone, or \[\('rain', 'wet'\)\] for their joint"
    with pytest.raises(InvalidInput, match=both):
        RAIN.query(RAIN.names)
    assert list(RAIN.query(("wet",))) == ["wet"]
    with pytest.raises(UnknownName, match=r"no variable among the beliefs 'wet'"):
        RAIN.query("rain")["wet"]
    with pytest.raises(UnknownName, match=r"no joint among the beliefs 'wet, rain'"):
        RAIN.query("rain")["wet", "rain"]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_reversed_arrows_make_features_independent(n):
    """P(y | x) Π P(x_i) has the same marginals; features depend on each other only before."""
    network = naive_bayes(n)
    turned = network.reversed()
    assert turned.parents["y"] == tuple(f"x{i}" for i in range(n))
    assert turned.n_parameters() == n + 2**n
    assert network.n_parameters() == 1 + 2 * n
    features = tuple(f"x{i}" for i in range(n))
    before, after = (net.query([features])[features] for net in (network, turned))
    product = np.ones(())
    for name in features:
        marginal = network.query(name).marginal(name)
        assert_allclose(turned.query(name).marginal(name), marginal, rtol=1e-10)
        product = np.multiply.outer(product, marginal)
    assert_allclose(after, product, rtol=1e-10)
    assert n == 1 or np.abs(before - product).max() > 1e-3
    given = turned.query("y", dict.fromkeys(features, 1)).marginal("y")
    assert_allclose(given, network.query("y", dict.fromkeys(features, 1)).marginal("y"), rtol=1e-10)


def test_a_reversed_row_that_cannot_occur_is_even():
    """rain=no makes wet=yes impossible; the reversed table has a row for each state of wet."""
    turned = RAIN.reversed()
    assert_allclose(turned.tables["rain"].table[1], [0, 1])
    never = BayesianNetwork.from_tables(
        {"a": 2, "b": 2}, {"a": [1, 0], "b": [[1, 0], [0.5, 0.5]]}, {"b": ["a"]}
    )
    assert_allclose(never.reversed().tables["a"].table, [[1, 0], [0.5, 0.5]])


def test_other_networks_change_when_reversed():
    network = random_network(1)
    turned = network.reversed()
    assert set(turned.edges) == {(b, a) for a, b in network.edges}
    assert_allclose(turned.joint().sum(), 1.0, rtol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_the_lowest_energy_is_not_above_any_state(seed):
    field = random_field(seed, n=7, n_edges=10)
    found = field.minimise_energy()
    assert found.exact
    assert found.lower_bound == found.energy == pytest.approx(field.energy(found.states))
    rng = np.random.default_rng(seed)
    for cell in rng.integers(0, 2, (1000, 7)):
        assert found.energy <= field.energy(dict(zip(field.names, cell, strict=True))) + 1e-12
    seen = field.minimise_energy({"v0": 1})
    assert seen.states["v0"] == 1
    assert seen.energy >= found.energy
