"""Worked examples of classifiers as graphs; the id is that of the specification's example."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely import LogisticRegression, NaiveBayes
from likely.graphical.model.bayesian_network import BayesianNetwork

COUNTS = {  # n: naive Bayes, reversed arrows, their table for y alone, logistic with a bias
    1: (3, 3, 2, 2),
    2: (5, 6, 4, 3),
    5: (11, 37, 32, 6),
    10: (21, 1034, 1024, 11),
    20: (41, 1048596, 1048576, 21),
}


def binary(n, rows=40, seed=0):
    """Binary features that depend on a binary class, every value in each class."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % 2
    X = (rng.random((rows, n)) < 0.3 + 0.4 * y[:, None]).astype(int)
    X[:4] = [[0] * n, [0] * n, [1] * n, [1] * n]
    return X, y


@pytest.mark.parametrize("n", COUNTS)
def test_factor_graph_parameter_counts(n):
    """factor_graph_parameter_counts: 1 + 2n, 2^n + n, and n + 1."""
    naive, reversed_arrows, of_y, logistic = COUNTS[n]
    X, y = binary(n)
    model = NaiveBayes("bernoulli").fit(X, y)
    graph = model.factor_graph()
    assert graph.n_parameters() == model.n_parameters() == naive
    names = [f"x{j}" for j in range(n)]
    backward = BayesianNetwork.from_edges(
        [(name, "y") for name in names], dict.fromkeys([*names, "y"], 2)
    )
    assert backward.n_parameters() == reversed_arrows
    assert backward.tables["y"].table[..., 1:].size == of_y
    if n <= 10:
        assert graph.reversed().n_parameters() == reversed_arrows
    for bias in (True, False):
        row = LogisticRegression(fit_intercept=bias).fit(X, y).factor_graph(X[:1])
        assert len(row.factors) == logistic - (not bias)


def test_features_are_independent_in_the_reversed_network_alone():
    X, y = binary(3)
    network = NaiveBayes("bernoulli").fit(X, y).factor_graph()
    backward = network.reversed()
    assert set(backward.edges) == {(name, "class") for name in ("x0", "x1", "x2")}
    for a, b in (("x0", "x1"), ("x1", "x2")):
        for graph, independent in ((network, False), (backward, True)):
            pair = graph.query([(a, b)])[a, b]
            product_of = np.outer(pair.sum(axis=1), pair.sum(axis=0))
            assert bool(np.allclose(pair, product_of, rtol=1e-12, atol=1e-12)) == independent
            assert graph.d_separated(a, b) == independent
    cell = {"x0": 1, "x1": 0, "x2": 1}
    same = [list(graph.query("class", cell)["class"].values()) for graph in (network, backward)]
    assert_allclose(*same, rtol=1e-12, atol=1e-12)  # P(y | x) is kept; P(x) is not
    rows = [
        dict(zip(("x0", "x1", "x2"), states, strict=True)) for states in product((0, 1), repeat=3)
    ]
    of_x = [np.exp(graph.query("class", rows).log_evidence) for graph in (network, backward)]
    assert_allclose([each.sum() for each in of_x], 1.0, rtol=1e-12, atol=1e-12)
    assert np.abs(of_x[0] - of_x[1]).max() > 0.01
