"""Rows go to trees: many with one pattern to their own, the others to one that serves all."""

import numpy as np

from likely.graphical.exact import row_propagation as module
from likely.graphical.exact.row_propagation import _patterns, row_parts
from tests.graphical.exact.test_junction_tree import grid


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
    assert module.MOST_PATTERNS > 1
