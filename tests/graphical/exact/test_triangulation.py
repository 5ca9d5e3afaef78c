"""Elimination orders and their cliques: chordal graphs, trees of cliques, equal twins."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.graphical.exact import triangulation
from likely.graphical.exact.triangulation import (
    RULES,
    TREE_RULES,
    TooManyCells,
    _fast_clique_tree,
    clique_tree,
    fast_elimination,
    readable_elimination,
    triangulate,
)


def lists(n, edges):
    """The neighbours of each of n variables, end to end."""
    near = [
        sorted({b for a, b in edges if a == v} | {a for a, b in edges if b == v}) for v in range(n)
    ]
    starts = np.cumsum([0, *map(len, near)])
    return starts.astype(np.int64), np.array([u for own in near for u in own], dtype=np.int64)


def grid(rows, columns):
    cells = [(i, j) for i in range(rows) for j in range(columns)]
    number = {cell: v for v, cell in enumerate(cells)}
    right = [(number[i, j], number[i, j + 1]) for i, j in cells if j + 1 < columns]
    return len(cells), right + [(number[i, j], number[i + 1, j]) for i, j in cells if i + 1 < rows]


def cliques(tree):
    return [
        frozenset(tree.members[a:b].tolist())
        for a, b in zip(tree.starts, tree.starts[1:], strict=False)
    ]


def assert_is_clique_tree(tree, n, edges):
    """Every edge in a clique, cliques maximal, separators with the parent, running intersection."""
    found = cliques(tree)
    assert all(any({a, b} <= clique for clique in found) for a, b in edges)
    assert not any(a <= b for a, b in combinations(found, 2))
    assert not any(b <= a for a, b in combinations(found, 2))
    for k, above in enumerate(tree.parent):
        members = tree.members[tree.starts[k] : tree.starts[k + 1]].tolist()
        own, separator = members[: tree.n_own[k]], set(members[tree.n_own[k] :])
        assert [int(tree.home[v]) for v in own] == [k] * len(own)
        assert own
        if above < 0:
            assert not separator
        else:
            assert above > k
            assert separator == found[k] & found[above]
    tops = [
        sum(
            v in found[k] and (above < 0 or v not in found[above])
            for k, above in enumerate(tree.parent)
        )
        for v in range(n)
    ]
    assert tops == [1] * n


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 12))
    pairs = list(combinations(range(n), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    states = draw(st.lists(st.integers(2, 5), min_size=n, max_size=n))
    return n, edges, np.log(states)


@pytest.mark.parametrize("rule", range(len(RULES)), ids=RULES)
@given(graph=graphs(), n_held=st.integers(0, 12))
def test_twins_give_the_same_order_and_leave_the_held_variables(rule, graph, n_held):
    n, edges, log_states = graph
    held = np.arange(n) < n_held
    starts, others = lists(n, edges)
    readable, fast = (
        eliminate(starts, others, log_states, rule, held=held)
        for eliminate in (readable_elimination, fast_elimination)
    )
    assert fast.order.tolist() == readable.order.tolist()
    assert sorted(fast.order.tolist()) == list(range(min(n_held, n), n))
    assert [sorted(own) for own in fast.around()] == list(readable.around())


@pytest.mark.parametrize("rule", range(len(TREE_RULES)), ids=TREE_RULES)
@given(graph=graphs())
def test_twins_give_the_same_tree_of_cliques(rule, graph):
    n, edges, log_states = graph
    starts, others = lists(n, edges)
    readable = clique_tree(readable_elimination(starts, others, log_states, rule))
    assert_is_clique_tree(readable, n, edges)
    fast = _fast_clique_tree(starts, others, log_states, rule)
    for a, b in zip(readable, fast, strict=True):
        assert a.tolist() == b.tolist()


def test_trees_get_no_new_edge(twin):
    rng = np.random.default_rng(0)
    edges = [(int(rng.integers(v)), v) for v in range(1, 60)]
    tree = triangulate(*lists(60, edges), np.log(np.full(60, 3.0)))
    assert set(cliques(tree)) == {frozenset(edge) for edge in edges}


def test_the_sum_of_separators_is_that_of_the_maximum_spanning_tree():
    n, edges = grid(4, 5)
    tree = triangulate(*lists(n, edges), np.log(np.full(n, 2.0)))
    found = cliques(tree)
    joined, weight = {0}, 0  # Prim
    while len(joined) < len(found):
        size, k = max(
            (len(found[i] & found[j]), j) for i in joined for j in set(range(len(found))) - joined
        )
        joined.add(k)
        weight += size
    assert weight == sum(np.diff(tree.starts) - tree.n_own)


def test_a_grid_has_the_width_of_its_shorter_side(twin):
    n, edges = grid(4, 9)
    tree = triangulate(*lists(n, edges), np.log(np.full(n, 2.0)))
    assert_is_clique_tree(tree, n, edges)
    assert np.diff(tree.starts).max() == 5


@given(graph=graphs())
def test_the_smallest_of_all_rules_is_kept(graph):
    n, edges, log_states = graph
    starts, others = lists(n, edges)
    with_all = [
        _fast_clique_tree(starts, others, log_states, rule) for rule in range(len(TREE_RULES))
    ]
    smallest = min(tree.log_total(log_states) for tree in with_all)
    found = triangulate(starts, others, log_states).log_total(log_states)
    assert found <= max(smallest, np.log(triangulation.ENOUGH_CELLS)) + 1e-9


def test_shuffles_never_give_a_larger_tree(monkeypatch):
    n, edges = grid(9, 9)
    log_states = np.log(np.full(n, 2.0))
    shuffled = triangulate(*lists(n, edges), log_states)
    monkeypatch.setattr(triangulation, "MOST_SHUFFLES", 0)
    plain = triangulate(*lists(n, edges), log_states)
    monkeypatch.undo()
    assert shuffled.log_total(log_states) <= plain.log_total(log_states)
    assert_is_clique_tree(shuffled, n, edges)
    monkeypatch.setattr(triangulation, "SHUFFLE_CELLS", 1e-3)
    assert_is_clique_tree(triangulate(*lists(n, edges), log_states), n, edges)


def test_a_clique_beyond_any_memory_stops_the_planning(twin):
    n = 80
    edges = list(combinations(range(n), 2))
    with pytest.raises(TooManyCells):
        triangulate(*lists(n, edges), np.log(np.full(n, 2.0)))


def test_a_hub_with_very_many_neighbours_is_planned_at_once():
    n = 30_000
    starts = np.append(0, np.append(n - 1, n - 1 + np.arange(1, n)))
    others = np.append(np.arange(1, n), np.zeros(n - 1))
    tree = triangulate(starts.astype(np.int64), others.astype(np.int64), np.log(np.full(n, 2.0)))
    assert len(tree.parent) == n - 1
    assert np.diff(tree.starts).max() == 2


def test_no_variables_have_no_cliques():
    tree = triangulate(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
    assert len(tree.parent) == 0
