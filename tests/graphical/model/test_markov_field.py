"""Markov fields: potentials and energies, cliques, blankets and temperature."""

from itertools import combinations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likely.errors import InvalidInput, UnknownName
from likely.graphical.contract import Request
from likely.graphical.exact.enumeration import Enumeration, log_joint_table
from likely.graphical.model.graph_evidence import GraphEvidence
from likely.graphical.model.markov_field import MarkovField

STATES = {"a": 2, "b": 2, "c": 2}


def probability_of(field):
    log_joint = log_joint_table(field, GraphEvidence(), None)
    return np.exp(log_joint - Enumeration().log_partition(field, Request()))


def random_field(seed, n=6, n_edges=7):
    """Pairs with random potentials, on a random undirected graph."""
    rng = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(n)]
    pairs = list(combinations(names, 2))
    chosen = [pairs[i] for i in rng.permutation(len(pairs))[:n_edges]]
    tables = {pair: rng.random((2, 2)) + 0.1 for pair in chosen}
    return MarkovField.from_potentials(dict.fromkeys(names, 2), tables)


@pytest.mark.parametrize("seed", range(5))
def test_probabilities_sum_to_one(seed):
    assert_allclose(probability_of(random_field(seed)).sum(), 1.0, rtol=1e-12)


@pytest.mark.parametrize("seed", range(15))
def test_cliques_are_the_largest_sets_of_neighbours(seed):
    field = random_field(seed, n=7, n_edges=4 + seed)
    assert field.cliques() == _cliques_one_by_one(field)


def test_cliques_agree_with_networkx():
    networkx = pytest.importorskip("networkx")
    for seed in range(10):
        field = random_field(seed, n=12, n_edges=30)
        graph = networkx.Graph()
        graph.add_nodes_from(field.names)
        graph.add_edges_from((a, b) for a in field.names for b in field.neighbours[a])
        theirs = {frozenset(clique) for clique in networkx.find_cliques(graph)}
        assert {frozenset(clique) for clique in field.cliques()} == theirs


@pytest.mark.parametrize("seed", range(6))
def test_a_variable_is_independent_of_the_rest_given_its_neighbours(seed):
    field = random_field(seed, n=5, n_edges=5)
    joint = probability_of(field)
    for i, name in enumerate(field.names):
        blanket = field.markov_blanket(name)
        rest = tuple(j for j, other in enumerate(field.names) if other not in (name, *blanket))
        given_all = joint / joint.sum(axis=i, keepdims=True)
        summed = joint.sum(axis=rest, keepdims=True)
        given_blanket = summed / summed.sum(axis=i, keepdims=True)
        assert_allclose(given_all, np.broadcast_to(given_blanket, joint.shape), rtol=1e-10)


def test_potentials_and_energies_are_one_field():
    """A potential of 0 is an infinite energy, and comes back as 0."""
    potentials = {"a": [1.0, 0.0], ("a", "b"): [[1.0, 2.0], [0.5, 3.0]]}
    field = MarkovField.from_potentials(STATES, potentials)
    again = MarkovField.from_energies(STATES, dict(field.energies))
    assert again.energies[0][1][1] == np.inf
    for factor, other in zip(field.factors, again.factors, strict=True):
        assert factor.scope == other.scope
        assert_allclose(other.table, factor.table, rtol=1e-12)


def test_the_energy_and_the_log_probability_differ_by_a_constant():
    field = random_field(1, n=4, n_edges=4)
    log_z = Enumeration().log_partition(field, Request())
    probability = probability_of(field)
    for cell in product(range(2), repeat=4):
        energy = field.energy(dict(zip(field.names, cell, strict=True)))
        assert_allclose(energy + np.log(probability[cell]), -log_z, rtol=1e-12)


def test_energies_are_divided_by_the_temperature():
    field = random_field(2, n=4, n_edges=4)
    cold = probability_of(field.at_temperature(0.5))
    assert_allclose(cold, probability_of(field) ** 2 / (probability_of(field) ** 2).sum())
    hard = MarkovField.from_potentials({"a": 2}, {"a": [0, 3]}).at_temperature(7.0)
    assert_array_equal(probability_of(hard), [0, 1])
    for temperature in (0, -1, np.nan, np.inf):
        with pytest.raises(InvalidInput, match=r"use a finite number above 0"):
            field.at_temperature(temperature)


def test_a_function_and_a_list_of_pairs_give_potentials():
    pairs = [("a", [1, 2]), (("a", "b"), lambda a, b: 3.0 if a == b else 1.0), ("a", [1, 2])]
    field = MarkovField.from_potentials(STATES, pairs)
    assert [factor.scope for factor in field.factors] == [("a",), ("a", "b"), ("a",)]
    assert field.energy({"a": 1, "b": 1, "c": 0}) == pytest.approx(-np.log(2 * 3 * 2))


def test_fields_that_cannot_be_used_are_refused():
    with pytest.raises(UnknownName, match=r"no variable 'z'"):
        MarkovField.from_potentials(STATES, {("a", "z"): np.ones((2, 2))})
    with pytest.raises(InvalidInput, match=r"holds something that is no number"):
        MarkovField.from_energies(STATES, {"a": ["low", "high"]})
    with pytest.raises(InvalidInput, match=r"holds inf at"):
        MarkovField.from_energies(STATES, {"a": [0.0, -np.inf]})
    with pytest.raises(UnknownName, match=r"no variable 'z'"):
        random_field(0).markov_blanket("z")


def _cliques_one_by_one(field):
    """All sets of mutual neighbours that no larger one contains, in the order of the names."""
    sets = [
        names
        for size in range(1, len(field.names) + 1)
        for names in combinations(field.names, size)
        if all(b in field.neighbours[a] for a, b in combinations(names, 2))
    ]
    place = {name: i for i, name in enumerate(field.names)}
    largest = [names for names in sets if not any(set(names) < set(other) for other in sets)]
    return sorted(largest, key=lambda names: [place[name] for name in names])
