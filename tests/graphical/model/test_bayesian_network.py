"""Bayesian networks: tables, edges, separation, conversions, counts, and what is refused."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chisquare

from likely.errors import CyclicGraph, InvalidInput, UnknownName
from likely.graphical.contract import Request
from likely.graphical.exact.elimination import Elimination
from likely.graphical.exact.enumeration import Enumeration, log_joint_table
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.graph_evidence import GraphEvidence
from likely.graphical.model.variable import Variable
from tests.graphical.random_graphs import random_network

RAIN = {"rain": ["no", "yes"], "wet": ["no", "yes"]}
TABLES = {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.2, 0.8]]}


def joint_of(graph):
    return np.exp(log_joint_table(graph, GraphEvidence(), None))


def test_tables_are_indexed_by_parents_then_the_variable():
    network = BayesianNetwork.from_tables(RAIN, TABLES, {"wet": ["rain"]})
    assert_allclose(joint_of(network), [[0.72, 0.08], [0.04, 0.16]], rtol=1e-12)
    assert network.parents == {"rain": (), "wet": ("rain",)}
    assert network.children == {"rain": ("wet",), "wet": ()}
    assert network.edges == (("rain", "wet"),)
    assert network.tables["wet"].scope == ("rain", "wet")
    same = BayesianNetwork.from_tables(RAIN, TABLES, {"wet": "rain"})
    assert same.edges == network.edges


@pytest.mark.parametrize("seed", range(5))
def test_the_joint_sums_to_one(seed):
    assert_allclose(joint_of(random_network(seed, n_states=3)).sum(), 1.0, rtol=1e-12)


def test_parents_come_before_children_in_the_order():
    states = dict.fromkeys("abcd", 2)
    network = BayesianNetwork.from_edges([("d", "a"), ("c", "d"), ("b", "d")], states)
    place = {name: i for i, name in enumerate(network.order)}
    assert all(place[parent] < place[child] for parent, child in network.edges)
    assert_allclose(joint_of(network), 1 / 16)


@pytest.mark.parametrize(
    "method", [Enumeration(), Elimination()], ids=["enumeration", "elimination"]
)
def test_sampled_frequencies_are_within_error(method):
    network = random_network(3, n=4)
    uniform = np.random.default_rng(6).random((20_000, 4))
    drawn = method.sample(network, Request(), uniform)
    cells = np.ravel_multi_index([drawn[name] for name in network.names], (2,) * 4)
    counts = np.bincount(cells, minlength=16)
    assert chisquare(counts, 20_000 * joint_of(network).ravel()).pvalue > 0.01


@pytest.mark.parametrize("seed", range(12))
def test_separation_in_the_graph_is_independence_in_the_joint(seed):
    """With random tables a pair is independent given others exactly where it is separated."""
    network = random_network(seed)
    joint = joint_of(network)
    for a, b in combinations(range(5), 2):
        others = [i for i in range(5) if i not in (a, b)]
        for size in range(4):
            for given in combinations(others, size):
                information = _conditional_mutual_information(joint, a, b, given)
                separated = network.d_separated(f"v{a}", f"v{b}", [f"v{i}" for i in given])
                assert separated == (information < 1e-13), (a, b, given, information)
                assert separated == network.d_separated(f"v{b}", f"v{a}", [f"v{i}" for i in given])


def test_a_variable_is_separated_from_what_is_given():
    network = BayesianNetwork.from_tables(RAIN, TABLES, {"wet": ["rain"]})
    assert network.d_separated("rain", "wet", ["wet"])
    assert not network.d_separated("rain", "rain")
    with pytest.raises(UnknownName, match=r"no variable 'snow'"):
        network.d_separated("rain", "snow")


@pytest.mark.parametrize("seed", range(5))
def test_other_forms_have_the_same_joint(seed):
    network = random_network(seed)
    for other in (network.factor_graph(), network.markov_field()):
        assert_allclose(joint_of(other), joint_of(network), rtol=1e-12)
        assert other.n_edges == sum(len(table.scope) for table in network.factors)
    assert type(network.factor_graph()).__name__ == "FactorGraph"


def test_the_moral_graph_joins_parents():
    states = dict.fromkeys("abc", 2)
    network = BayesianNetwork.from_edges([("a", "c"), ("b", "c")], states)
    assert network.markov_field().neighbours["a"] == ("b", "c")


def test_free_probabilities_are_counted():
    network = BayesianNetwork.from_edges([("a", "c"), ("b", "c")], {"a": 2, "b": 3, "c": 4})
    assert network.n_parameters() == 1 + 2 + 2 * 3 * 3
    assert network.n_parameters(full_joint=True) == 23


def test_a_cycle_is_refused_by_its_names():
    states = dict.fromkeys("abcd", 2)
    with pytest.raises(CyclicGraph, match=r"b → c → d → b|c → d → b → c|d → b → c → d") as refused:
        BayesianNetwork.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("d", "b")], states)
    assert sorted(refused.value.cycle) == ["b", "c", "d"]
    with pytest.raises(CyclicGraph, match=r"a → a"):
        BayesianNetwork.from_edges([("a", "a")], states)


def test_a_repeated_edge_is_refused():
    with pytest.raises(InvalidInput, match=r"edge a → b was given twice"):
        BayesianNetwork.from_edges([("a", "b"), ("a", "b")], {"a": 2, "b": 2})


def test_a_row_that_does_not_sum_to_one_is_named():
    wrong = TABLES | {"wet": [[0.9, 0.1], [0.2, 0.7]]}
    with pytest.raises(
        InvalidInput, match=r"'wet' sums to 0\.9 in the row rain=yes; 1 was expected"
    ):
        BayesianNetwork.from_tables(RAIN, wrong, {"wet": ["rain"]})
    with pytest.raises(InvalidInput, match=r"'rain' sums to 1\.1; 1 was expected"):
        BayesianNetwork.from_tables(RAIN, TABLES | {"rain": [0.9, 0.2]}, {"wet": ["rain"]})


def test_each_variable_has_one_table():
    a, b = Variable("a", 2), Variable("b", 2)
    with pytest.raises(InvalidInput, match=r"'a' has two tables; one was expected"):
        BayesianNetwork([Factor([a], [0.5, 0.5]), Factor([b, a], np.full((2, 2), 0.5))])
    with pytest.raises(InvalidInput, match=r"no table for a; one for every variable"):
        BayesianNetwork([Factor([a, b], np.full((2, 2), 0.5))])
    with pytest.raises(InvalidInput, match=r"no table for 'wet'"):
        BayesianNetwork.from_tables(RAIN, {"rain": [0.8, 0.2]})
    with pytest.raises(InvalidInput, match=r"has no variable; a conditional table"):
        BayesianNetwork([Factor([], 1.0)])
    with pytest.raises(UnknownName, match=r"no variable 'rian'.*Did you mean 'rain'"):
        BayesianNetwork.from_tables(RAIN, TABLES, {"wet": ["rian"]})


def test_a_long_chain_needs_no_recursion():
    names = [f"x{i}" for i in range(3000)]
    network = BayesianNetwork.from_edges(
        zip(names[:0:-1], names[-2::-1], strict=True), dict.fromkeys(names, 2)
    )
    assert network.order == tuple(reversed(names))
    assert network.is_tree


def _conditional_mutual_information(joint, a, b, given):
    """Σ p(a, b, c) log p(a, b, c) p(c) / p(a, c) p(b, c)."""

    def marginal(kept):
        others = tuple(i for i in range(joint.ndim) if i not in kept)
        return joint.sum(axis=others, keepdims=True)

    both = marginal({a, b, *given})
    apart = marginal({a, *given}) * marginal({b, *given}) / marginal(set(given))
    return float((both * np.log(both / apart)).sum())


def test_some_tables_are_replaced_by_name():
    network = BayesianNetwork.from_edges([("a", "b")], {"a": 2, "b": 2})
    other = network.with_tables({"b": [[0.9, 0.1], [0.2, 0.8]]})
    assert_allclose(other.tables["b"].table, [[0.9, 0.1], [0.2, 0.8]])
    assert_allclose(other.tables["a"].table, network.tables["a"].table)
    assert_allclose(network.with_tables([[0.3, 0.7], np.eye(2)]).tables["a"].table, [0.3, 0.7])
    with pytest.raises(UnknownName, match="no variable 'bb'"):
        network.with_tables({"bb": [0.5, 0.5]})
