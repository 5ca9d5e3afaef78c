"""What the specification asks of graphs and no other test holds to the letter.

Each test names its capability.
"""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

import likely as lk
from likely.examples import five_variables, four_cycle
from tests.graphical.random_graphs import enumerated, named, possible, random_evidence, random_graph

METHODS = ("tree", "junction-tree", "elimination", "enumeration")
IMAGE = np.array([[0.1, 0.2, 0.9], [0.2, 0.4, 0.8], [0.1, 0.9, 0.7]])
UNEQUAL = 0.35


def segmentation(image):
    """Labels 0 and 1 of pixels: (pixel − label)², and an energy for each unequal pair."""
    rows, columns = image.shape
    energies = {
        f"{i} {j}": [image[i, j] ** 2, (image[i, j] - 1) ** 2]
        for i, j in product(range(rows), range(columns))
    }
    unequal = [[0, UNEQUAL], [UNEQUAL, 0]]
    right = {(f"{i} {j}", f"{i} {j + 1}"): unequal for i in range(rows) for j in range(columns - 1)}
    down = {(f"{i} {j}", f"{i + 1} {j}"): unequal for i in range(rows - 1) for j in range(columns)}
    return lk.MarkovField.from_energies(dict.fromkeys(energies, 2), energies | right | down)


@pytest.mark.parametrize("method", ["auto", "junction-tree", "elimination", "enumeration"])
def test_binary_segmentation_3x3(method):
    """GM-12: the lowest energy of 512 labellings is 1.81, and its labelling is the only one."""
    field = segmentation(IMAGE)
    found = field.minimise_energy(method=method)
    assert_allclose(found.energy, 1.81, rtol=0, atol=1e-12)
    labels = [[int(found.states[f"{i} {j}"]) for j in range(3)] for i in range(3)]
    assert labels == [[0, 0, 1], [0, 0, 1], [0, 1, 1]]
    assert (found.exact, found.unique, found.lower_bound) == (True, True, found.energy)


def test_the_four_cycle_is_a_product_of_unary_and_pairwise_potentials():
    """GM-10: (1/Z) Π φ_u Π Ψ_v, from potentials instead of energies, is the same joint."""
    field = four_cycle()
    potentials = [(f.scope, f.table) for f in sorted(field.factors, key=lambda f: len(f.scope))]
    assert [len(scope) for scope, _ in potentials] == [1] * 4 + [2] * 4
    again = lk.MarkovField.from_potentials(dict.fromkeys(field.names, 2), potentials)
    assert_allclose(again.joint(), field.joint(), rtol=0, atol=1e-12)
    assert_allclose(again.joint().sum(), 1.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_the_marginals_of_five_variables(method):
    """INF-1, INF-2, INF-10: prior, posterior and the best configuration, by each method."""
    network = five_variables()
    prior = network.query(method=method)
    expected = {"x1": 0.4, "x2": 0.7, "x3": 0.5, "x4": 0.582, "x5": 0.585}
    for name, value in expected.items():
        assert_allclose(prior.marginal(name), [value, 1 - value], rtol=0, atol=1e-12)
    posterior = network.query(given={"x4": 1}, method=method)
    expected = {"x1": 4 / 19, "x2": 98 / 209, "x3": 77 / 190, "x5": 87 / 190}
    for name, value in expected.items():
        assert_allclose(posterior.marginal(name), [value, 1 - value], rtol=0, atol=1e-12)
    assert_allclose(np.exp(posterior.log_evidence), 0.418, rtol=0, atol=1e-12)
    best = network.most_probable({"x4": 1}, method=method)
    assert set(best.states.values()) == {1}
    assert_allclose(np.exp(best.log_score), 0.09072, rtol=0, atol=1e-12)
    assert_allclose(np.exp(best.log_probability), 0.09072 / 0.418, rtol=0, atol=1e-12)


def test_the_junction_tree_of_the_four_cycle_equals_enumeration():
    """INF-14: two cliques of three variables; marginals, log Z and the best configuration."""
    field = four_cycle()
    tree = field.junction_tree()
    assert (len(tree.cliques), tree.width) == (2, 2)
    assert tree.has_running_intersection
    expected = enumerated(field)
    found = field.query(method="junction-tree")
    assert_allclose(found.log_partition, expected.log_partition, rtol=0, atol=1e-12)
    for name in field.names:
        assert_allclose(found.marginal(name), expected.marginals[name], rtol=0, atol=1e-12)
    best = field.most_probable(method="junction-tree")
    assert dict(best.states) == dict(field.most_probable(method="enumeration").states)


def test_junction_trees_of_200_random_graphs_equal_enumeration():
    """INF-14: with cycles, zeros, evidence and likelihoods; sums and maxima."""
    n_cycles = n_possible = 0
    for seed in range(200):
        graph = random_graph(seed)
        n_cycles += not graph.is_tree
        evidence = random_evidence(graph, seed)
        known = named(graph, evidence)
        tree = graph.junction_tree(known["given"])
        assert tree.has_running_intersection
        if not possible(graph, evidence):
            assert graph.log_partition(**known, method="junction-tree") == -np.inf
            continue
        n_possible += 1
        expected = enumerated(graph, evidence)
        found = graph.query(**known, method="junction-tree")
        assert_allclose(found.log_partition, expected.log_partition, rtol=0, atol=1e-10)
        for name in graph.names:
            assert_allclose(found.marginal(name), expected.marginals[name], rtol=0, atol=1e-10)
        best = graph.most_probable(**known, method="junction-tree")
        reference = graph.most_probable(**known, method="enumeration")
        assert_allclose(best.log_score, reference.log_score, rtol=0, atol=1e-10)
        assert best.unique == reference.unique
    assert n_cycles > 150
    assert n_possible > 100


def test_adjacent_cliques_agree_on_their_separator():
    """INF-14."""
    n_separators = 0
    for seed in range(80):
        graph = random_graph(seed, zeros=0.0)
        tree = graph.junction_tree()
        beliefs = graph.query([tuple(names) for names in tree.cliques], method="junction-tree")
        for clique, above, shared in zip(tree.cliques, tree.parent, tree.separators, strict=True):
            if above is None:
                continue
            n_separators += 1
            sides = []
            for names in (clique, tree.cliques[above]):
                away = tuple(i for i, name in enumerate(names) if name not in shared)
                table = beliefs[tuple(names)].sum(axis=away)
                kept = [name for name in names if name in shared]
                sides.append(table.transpose([kept.index(name) for name in shared]))
            assert_allclose(sides[0], sides[1], rtol=0, atol=1e-12)
    assert n_separators > 60


def test_auto_is_exact_and_names_its_method():
    """GM-12, INF-4: a tree by messages; a graph with cycles by a junction tree."""
    assert five_variables().query().method == "tree"
    assert four_cycle().query().method == "junction-tree"
    assert four_cycle().query(given={"x1": 0}).method == "tree"
    assert four_cycle().minimise_energy().exact
