"""Factor graphs: their product, their shape as a graph, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.errors import ImpossibleEvidence, InvalidInput, UnknownName
from likely.graphical.exact.enumeration import log_joint_table
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.graph_evidence import GraphEvidence
from likely.graphical.model.variable import Variable
from tests.graphical.random_graphs import random_graph, random_tree

A, B, C = Variable("a", 2), Variable("b", 3), Variable("c", ["low", "high"])


def ones(*variables):
    return Factor(variables, np.ones([variable.n_states for variable in variables]))


def test_the_product_equals_the_dense_table():
    rng = np.random.default_rng(0)
    ab, bc, a = rng.random((2, 3)), rng.random((2, 3)), rng.random(2)
    graph = FactorGraph(
        [Factor([A, B], ab), Factor([C, B], np.log(bc), scale="log"), Factor([A], a)]
    )
    dense = np.einsum("ab,cb,a->abc", ab, bc, a)
    assert graph.names == ("a", "b", "c")
    assert_allclose(np.exp(log_joint_table(graph, GraphEvidence(), None)), dense, rtol=1e-12)
    value = graph.log_value({"a": 1, "b": 2, "c": "high"})
    assert_allclose(np.exp(value), dense[1, 2, 1], rtol=1e-12)


def test_edges_are_counted_by_scopes():
    graph = FactorGraph([ones(A, B), ones(B, C), ones(B)])
    assert graph.n_edges == 5
    assert graph.factors_of == {"a": (0,), "b": (0, 1, 2), "c": (1,)}
    assert graph.neighbours == {"a": ("b",), "b": ("a", "c"), "c": ("b",)}
    assert repr(graph) == "<FactorGraph: 3 variables, 3 factors, 5 edges>"


@pytest.mark.parametrize("seed", range(20))
def test_the_test_for_trees_agrees_with_counting_edges(seed):
    """A graph is a forest exactly if it has as many edges as nodes less trees."""
    for graph in (random_tree(seed), random_graph(seed, n=8, n_factors=1 + seed % 6)):
        assert graph.is_tree == (graph.n_edges == _n_nodes(graph) - _n_trees(graph))
    assert random_tree(seed).is_tree


def test_a_cycle_and_two_factors_over_one_pair_are_no_trees():
    assert not FactorGraph([ones(A, B), ones(B, C), ones(C, A)]).is_tree
    assert not FactorGraph([ones(A, B), ones(B, A)]).is_tree


def test_variables_may_be_in_no_factor():
    graph = FactorGraph([ones(B)], [A, B])
    assert graph.names == ("a", "b")
    assert graph.neighbours["a"] == ()


def test_a_configuration_needs_every_state():
    graph = FactorGraph([ones(A, B)])
    with pytest.raises(InvalidInput, match=r"no state for b; a state of every variable"):
        graph.log_value({"a": 1})
    with pytest.raises(UnknownName, match=r"no variable 'z'"):
        graph.log_value({"a": 1, "b": 0, "z": 1})


def test_a_product_that_is_zero_everywhere_has_no_probabilities():
    graph = FactorGraph([Factor([A], [0, 0]), ones(A, B)])
    assert graph.log_value({"a": 0, "b": 0}) == -np.inf
    for verb in (graph.joint, graph.normalised, lambda: graph.log_probability({"a": 0, "b": 0})):
        with pytest.raises(ImpossibleEvidence, match=r"Every configuration has the value 0"):
            verb()


def test_one_name_has_one_list_of_states():
    with pytest.raises(InvalidInput, match=r"'a' has the states x, y in f\(a\) and 0, 1 elsewhere"):
        FactorGraph([ones(A, B), ones(Variable("a", ["x", "y"]))])
    with pytest.raises(InvalidInput, match=r"f\(a, b\) depends on 'b', which is not among"):
        FactorGraph([ones(A, B)], [A])
    with pytest.raises(InvalidInput, match=r"Two variables are called 'a'"):
        FactorGraph([], [A, A])


def test_a_graph_with_other_factors_is_of_the_same_kind():
    graph = FactorGraph([ones(A, B)], [B, A], name="pair")
    other = graph.with_factors([ones(A)])
    assert (other.name, other.names, len(other.factors)) == ("pair", ("b", "a"), 1)


def _n_nodes(graph):
    return len(graph.variables) + len(graph.factors)


def _n_trees(graph):
    """Components of the graph of variables, with each factor's variables joined."""
    label = {name: i for i, name in enumerate(graph.names)}
    for factor in graph.factors:
        old = {label[name] for name in factor.scope}
        label = {name: min(old) if i in old else i for name, i in label.items()}
    return len(set(label.values()))
