"""Small cliques below large ones: fewer passes over large tables, the same tree otherwise."""

import numpy as np
from numpy.testing import assert_allclose

from likely.graphical.exact.junction_tree import LARGE, SHARE, with_products
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.variable import Variable
from tests.graphical.exact.test_junction_tree import grid


def all_pairs(n):
    """One clique of n binary variables with a factor for each pair."""
    rng = np.random.default_rng(0)
    variables = [Variable(f"v{i}", 2) for i in range(n)]
    return FactorGraph(
        [
            Factor([variables[i], variables[j]], rng.random((2, 2)))
            for i in range(n)
            for j in range(i)
        ]
    )


def test_factors_of_a_large_clique_move_to_small_ones():
    tree = all_pairs(15).junction_tree()
    wider = with_products(tree)
    assert tree.n_cliques == 1 < wider.n_cliques
    passes = len(wider.hosted[-1]) + len(wider.children[-1])
    assert passes < len(tree.hosted[0]) / 2
    assert sorted(f for own in wider.hosted for f in own) == list(range(105))
    assert wider.cells[:-1].max() <= tree.cells[0] / SHARE
    assert (wider.n_own[:-1] == 0).all()
    for k, own in enumerate(wider.hosted):
        for f in own:
            scope = tree.scopes.axes[tree.scopes.starts[f] : tree.scopes.starts[f + 1]]
            assert set(scope.tolist()) <= set(wider.clique_axes[k])


def test_children_hang_on_small_cliques_that_have_their_separator():
    tree = grid(15, 15).junction_tree()
    wider = with_products(tree)
    assert wider.n_cliques > tree.n_cliques
    sets = [set(axes) for axes in wider.clique_axes]
    for k, above in enumerate(wider.above):
        separator = set(wider.clique_axes[k][wider.n_own[k] :])
        assert above < 0 or (above > k and separator <= sets[above])
    assert sorted(map(sorted, tree.cliques)) == sorted(
        sorted(names) for names, n in zip(wider.cliques, wider.n_own, strict=True) if n
    )


def test_small_trees_stay_as_they_are():
    tree = grid(3, 3).junction_tree()
    assert tree.cells.max() < LARGE
    assert tree.for_loops is tree


def test_answers_stay_the_same_where_they_matter():
    graph = all_pairs(15)
    beliefs = graph.query()
    expected = graph.query(method="enumeration")
    for name in graph.names:
        assert_allclose(beliefs.marginal(name), expected.marginal(name), rtol=0, atol=1e-12)
    assert (
        beliefs.log_partition == expected.log_partition
        or abs(beliefs.log_partition - expected.log_partition) < 1e-10
    )
