"""Whole tables: every row equals its own query, whichever tree and loop answers it."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.errors import GraphTooLarge
from likely.graphical.contract import Request
from likely.graphical.exact import row_propagation
from likely.graphical.exact.enumeration import Enumeration
from likely.graphical.exact.row_propagation import (
    RowLoops,
    _patterns,
    row_beliefs,
    row_families,
    row_most_probable,
    row_parts,
)
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.graph_evidence import GraphEvidence
from likely.graphical.model.variable import Variable
from tests.graphical.exact.test_junction_tree import grid
from tests.graphical.networks import drawn, with_gaps
from tests.graphical.random_graphs import possible, random_graph, random_network

SEEDS = st.integers(0, 100_000)
anew = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=15,
)


@pytest.fixture(params=["shared tree", "trees of their own"])
def trees(request, monkeypatch):
    """All rows in one tree, or a tree for each set of observed variables."""
    cells = 1e9 if request.param == "shared tree" else 1e-9
    monkeypatch.setattr(row_propagation, "PLANNING_CELLS", cells)


@pytest.fixture(params=["blocks", "single rows"])
def loops(request, monkeypatch):
    """Several rows at a time, or one after the other."""
    if request.param == "single rows":
        monkeypatch.setattr(row_propagation, "LARGE", 0)
    else:
        monkeypatch.setattr(row_propagation, "FEWEST", 4)
        monkeypatch.setattr(row_propagation, "MOST", 4)  # more than one block


def random_rows(graph, seed, n=13):
    """Rows of codes with gaps; some patterns of gaps occur more than once."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(v.n_states, size=n) for v in graph.variables], axis=1)
    gaps = rng.random(codes.shape) < rng.choice([0.3, 0.7])
    gaps[n // 2 :] = gaps[0]
    return np.where(gaps, -1, codes)


def evidence_of(graph, row):
    return GraphEvidence({name: int(c) for name, c in zip(graph.names, row, strict=True) if c >= 0})


def assert_rows_equal_enumeration(graph, codes):
    n, exact = len(codes), Enumeration()
    weight = np.random.default_rng(0).random(n)
    beliefs = row_beliefs(graph, codes, graph.names)
    best, score, unique = row_most_probable(graph, codes)[:3]
    scopes = tuple({factor.scope for factor in graph.factors})
    expected, can = [np.zeros(f.table.shape) for f in graph.factors], np.zeros(n, dtype=bool)
    total = 0.0
    for i, row in enumerate(codes):
        evidence = evidence_of(graph, row)
        can[i] = possible(graph, evidence)
        if not can[i]:
            assert beliefs.log_partition[i] == score[i] == -np.inf
            assert np.isnan([beliefs.marginals[name][i].sum() for name in graph.names]).all()
            assert (best[i] == -1).all() and not unique[i]
            continue
        answer = exact.answer(graph, Request(graph.names, scopes, evidence))
        assert beliefs.log_partition[i] == pytest.approx(answer.log_partition, rel=0, abs=1e-10)
        for name in graph.names:
            found = beliefs.marginals[name][i]
            assert_allclose(found, answer.marginals[name], rtol=0, atol=1e-10)
        for table, factor in zip(expected, graph.factors, strict=True):
            table += weight[i] * answer.joints[factor.scope]
        total += weight[i] * answer.log_partition
        codes_of_best = dict(zip(graph.names, best[i].tolist(), strict=True))
        assert codes_of_best.items() >= evidence.codes.items()
        found_best = exact.most_probable(graph, Request(evidence=evidence))
        top = graph._log_score(found_best.codes, evidence)
        assert unique[i] == found_best.unique
        assert score[i] == pytest.approx(top, rel=0, abs=1e-10)
        assert graph._log_score(codes_of_best, evidence) == pytest.approx(top, rel=0, abs=1e-10)
    counts, log_likelihood = row_families(graph, codes, weight)
    for table, expected_table in zip(counts, expected, strict=True):
        assert_allclose(table, expected_table, rtol=0, atol=1e-10)
    assert log_likelihood == pytest.approx(total if can.all() else -np.inf, rel=0, abs=1e-9)


@anew
@given(seed=SEEDS)
def test_rows_of_random_graphs(twin, trees, seed):
    graph = random_graph(seed, n=5)
    assert_rows_equal_enumeration(graph, random_rows(graph, seed))


@anew
@given(seed=SEEDS)
def test_compiled_loops(trees, loops, monkeypatch, seed):
    from likely.graphical.exact import cost as speed

    monkeypatch.setattr(speed, "FAST_WORK", 0.0)
    graph = random_graph(seed, n=6, n_factors=6)
    assert_rows_equal_enumeration(graph, random_rows(graph, seed))


@anew
@given(seed=SEEDS)
def test_rows_with_numbers_too_wide_for_linear_arithmetic(trees, loops, monkeypatch, seed):
    from likely.graphical.exact import cost as speed

    monkeypatch.setattr(speed, "FAST_WORK", 0.0)
    graph = random_graph(seed, n=4, zeros=0.2)
    wide = graph.with_factors(
        Factor(f.variables, 700.0 * f.log_table, scale="log") for f in graph.factors
    )
    assert_rows_equal_enumeration(wide, random_rows(graph, seed, n=6))


def test_rows_at_the_edge(twin, trees):
    a, b, one = Variable("a", 3), Variable("b", 2), Variable("one", 1)
    graphs = [
        FactorGraph([], [a]),
        FactorGraph([Factor([], 0.5)], [one, a]),
        FactorGraph([Factor([a, one, b], np.arange(6.0).reshape(3, 1, 2)), Factor([b], [1, 2])]),
        FactorGraph([Factor([a], [1, 0, 2]), Factor([b], [3, 4])]),
        FactorGraph([Factor([a, b], [[1, 2], [3, 3], [2, 2]])]),  # the best states of b are tied
    ]
    for graph in graphs:
        rows = np.full((3, len(graph.names)), -1)
        rows[1], rows[2, 0] = 0, graph.variables[0].n_states - 1
        assert_rows_equal_enumeration(graph, rows)
        nothing = row_beliefs(graph, rows[:0], graph.names)
        assert nothing.log_partition.shape == (0,)
        assert nothing.marginals[graph.names[0]].shape == (0, graph.variables[0].n_states)
        assert row_families(graph, rows[:0], np.zeros(0))[1] == 0.0
        assert row_most_probable(graph, rows[:0])[0].shape == (0, len(graph.names))


def test_a_row_without_weight_counts_for_nothing_even_if_it_is_impossible(twin):
    a, b = Variable("a", 2), Variable("b", 2)
    graph = FactorGraph([Factor([a, b], [[0.5, 0.0], [0.2, 0.3]])])
    codes = np.array([[0, 1], [1, -1]])
    (counts,), log_likelihood = row_families(graph, codes, np.array([0.0, 2.0]))
    assert_allclose(counts, [[0, 0], [0.8, 1.2]])
    assert log_likelihood == pytest.approx(2 * np.log(0.5))


def test_many_rows_in_threads_equal_single_queries():
    network = random_network(8, n=12, n_states=3)
    codes = with_gaps(drawn(network, 9000, 0), 0.4, 1)
    beliefs = row_beliefs(network, codes, network.names)
    counts, log_likelihood = row_families(network, codes, np.ones(len(codes)))
    best, score, _ = row_most_probable(network, codes)[:3]
    for row in (0, 4095, 4096, 8999):
        seen = {
            n: network.by_name[n].states[c]
            for n, c in zip(network.names, codes[row], strict=True)
            if c >= 0
        }
        alone = network.query(given=seen)
        assert beliefs.log_partition[row] == pytest.approx(alone.log_partition, abs=1e-10)
        for name in network.names:
            assert_allclose(beliefs.marginals[name][row], alone.marginal(name), rtol=0, atol=1e-10)
        top = network.most_probable(seen)
        assert score[row] == pytest.approx(top.log_score)
        assert [
            network.by_name[n].values[c] for n, c in zip(network.names, best[row], strict=True)
        ] == list(top.states.values())
    assert log_likelihood == pytest.approx(beliefs.log_partition.sum(), rel=1e-12)
    for factor, table in zip(network.factors, counts, strict=True):
        assert table.sum() == pytest.approx(9000)
        child = beliefs.marginals[factor.scope[-1]].sum(axis=0)
        assert_allclose(table.sum(axis=tuple(range(table.ndim - 1))), child, rtol=1e-9)


def test_few_variables_of_a_network_need_only_their_ancestors():
    """The others are a grid that no memory holds."""
    sheet = grid(25, 25)
    rng = np.random.default_rng(0)
    a, b = Variable("a", 2), Variable("b", 2)
    factors = [Factor([a], [0.3, 0.7]), Factor([a, b], [[0.9, 0.1], [0.4, 0.6]])]
    seen: list[Variable] = [b]
    for factor in sheet.factors:
        for variable in factor.variables:
            if variable.name not in {v.name for v in seen}:
                above = [seen[i] for i in rng.permutation(len(seen))[:4]]
                table = rng.dirichlet([1, 1], size=(2,) * len(above))
                factors.append(Factor([*above, variable], table))
                seen.append(variable)
    network = BayesianNetwork(factors)
    codes = np.full((4, len(network.names)), -1)
    codes[1:, 1] = [0, 1, 1]
    found = row_beliefs(network, codes, ["a"], 10_000)
    assert_allclose(found.marginals["a"][:, 1], [0.7, 0.28 / 0.55, 0.42 / 0.45, 0.42 / 0.45])
    with pytest.raises(GraphTooLarge):
        row_beliefs(network, codes, network.names, 10_000)


def test_rows_are_answered_where_only_their_own_trees_fit():
    graph = grid(20, 20)
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=(3, 400))
    codes[:, ::5] = -1
    codes[1, 3:30:7] = -1  # another pattern
    codes[2, :200] = -1
    limit = int(
        graph.junction_tree(
            {n: 0 for n, c in zip(graph.names, codes[2], strict=True) if c >= 0}
        ).bytes
        * 3
    )
    found = row_beliefs(graph, codes[:2], graph.names[:5], limit)
    assert np.isfinite(found.log_partition).all()
    with pytest.raises(GraphTooLarge):
        row_beliefs(graph, np.full((2, 400), -1), graph.names[:5], limit)


def test_rows_go_one_by_one_where_a_block_of_them_does_not_fit_into_memory():
    graph = random_network(1)
    codes = np.full((100, len(graph.variables)), -1, dtype=np.int32)
    tree, tables = graph.plans.common, graph.plans.tables
    blocks = [
        RowLoops(codes, np.arange(100), tree, tables, memory)._block
        for memory in (None, 10**9, 8 * tree.layout.n_numbers)
    ]
    assert blocks[0] == blocks[1] > 1
    assert blocks[2] == 1


def test_parts_cover_every_row_once():
    graph = grid(3, 3)
    rng = np.random.default_rng(0)
    codes = np.where(rng.random((5000, 9)) < 0.5, -1, 0)
    codes[:, 4] = 1  # observed in every row
    codes[1000:4000] = codes[0]  # a pattern with many rows
    parts = list(row_parts(graph, codes, None))
    rows = np.concatenate([part.rows for part in parts])
    assert sorted(rows) == list(range(5000))
    assert len(parts) > 1
    for tree, own in parts:
        cut = {name for name, free in zip(graph.names, tree.free, strict=True) if not free}
        everywhere = {graph.names[v] for v in np.flatnonzero((codes[own] >= 0).all(axis=0))}
        assert "1,1" in cut <= everywhere
    assert set(parts[0].rows) >= set(range(1000, 4000))


def test_few_rows_share_a_tree_though_their_patterns_differ():
    graph = grid(3, 3)
    codes = np.where(np.eye(9, dtype=bool), 0, -1)
    (part,) = row_parts(graph, codes, None)
    assert part.tree.free.all()
    assert len(part.rows) == 9


def test_patterns_of_more_variables_than_a_word_has_bits():
    rng = np.random.default_rng(1)
    kinds = rng.random((7, 150)) < 0.5
    of = rng.integers(7, size=300)
    pattern, counts = _patterns(kinds[of])
    assert sorted(counts) == sorted(np.bincount(of))
    for number in range(len(counts)):
        assert len(set(of[pattern == number])) == 1


def test_no_rows_have_no_parts():
    assert list(row_parts(grid(2, 2), np.zeros((0, 4)), None)) == []
    assert row_propagation.MOST_PATTERNS > 1
