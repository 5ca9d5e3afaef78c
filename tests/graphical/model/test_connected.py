"""Connected parts of undirected graphs, and forests."""

import numpy as np
import pytest

from likely.graphical.model.connected import connected_parts, is_forest

nx = pytest.importorskip("networkx")


@pytest.mark.parametrize("seed", range(30))
def test_parts_and_forests_are_those_of_networkx(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    graph = nx.gnm_random_graph(n, int(rng.integers(0, n + 1)), seed=seed)
    edges = list(graph.edges)
    expected = sorted(map(sorted, nx.connected_components(graph)))
    assert sorted(map(sorted, connected_parts(n, edges))) == expected
    assert is_forest(n, edges) == nx.is_forest(graph)


def test_nothing_is_a_forest():
    assert is_forest(0, []) and connected_parts(0, []) == []
