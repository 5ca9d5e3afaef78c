"""Graphs for networkx, where it is installed, and what is said where it is not."""

import builtins

import pytest

from likely.errors import InvalidInput
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.variable import Variable

A, B, C = Variable("a", ["no", "yes"]), Variable("b", 3), Variable("c", 2)
NETWORK = BayesianNetwork(
    [
        Factor([A], [0.1, 0.9]),
        Factor([B], [0.2, 0.3, 0.5]),
        Factor([A, B, C], [[[0.5, 0.5]] * 3] * 2),
    ],
    name="v",
)


def test_a_network_is_directed():
    networkx = pytest.importorskip("networkx")
    graph = NETWORK.to_networkx()
    assert isinstance(graph, networkx.DiGraph)
    assert graph.name == "v"
    assert set(graph.edges) == {("a", "c"), ("b", "c")}
    assert graph.nodes["a"]["states"] == ("no", "yes")
    assert graph.nodes["c"]["factor"] is NETWORK.tables["c"]
    assert networkx.is_directed_acyclic_graph(graph)


def test_a_field_joins_neighbours():
    pytest.importorskip("networkx")
    graph = NETWORK.markov_field().to_networkx()
    assert not graph.is_directed()
    assert {frozenset(edge) for edge in graph.edges} == {
        frozenset(pair) for pair in ("ab", "ac", "bc")
    }


def test_a_factor_graph_is_bipartite():
    networkx = pytest.importorskip("networkx")
    graph = NETWORK.factor_graph().to_networkx()
    assert networkx.is_bipartite(graph)
    assert set(graph.nodes) == {"a", "b", "c", 0, 1, 2}
    assert graph.number_of_edges() == NETWORK.n_edges
    assert graph.nodes[2]["factor"] is NETWORK.factors[2]


def test_where_networkx_is_not_installed_the_message_says_so(monkeypatch):
    whole = builtins.__import__

    def without(name, *others, **named):
        if name == "networkx":
            raise ImportError(name)
        return whole(name, *others, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InvalidInput, match=r"networkx is not installed.*pip install networkx"):
        NETWORK.to_networkx()
