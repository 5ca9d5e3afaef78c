"""The trees of a factor graph and the steps of their messages."""

import pytest

from likely.errors import InvalidInput
from likely.graphical.exact.message_passing import forest_of, letters


def test_steps_count_from_the_leaves():
    """x0 – f0 – x1 – f1 – x2, with one more factor at x1."""
    forest = forest_of([[0, 1], [1, 2], [1]], ["x0", "x1", "x2", "f0", "f1", "f2"], 3, root=2)
    assert forest.roots == [2]
    towards = [(node, parent) for node, parent in enumerate(forest.parent) if parent >= 0]
    labels = dict(forest.labelled(towards))
    assert labels == {(0, 3): "1b", (5, 1): "1c", (3, 1): "2b", (1, 4): "3b", (4, 2): "4b"}
    both = dict(forest.labelled([*towards, *((b, a) for a, b in towards)]))
    assert len(set(both.values())) == 10
    assert both[2, 4] == "1a"
    assert both.items() >= labels.items()
    assert both[1, 5] == "3c"


def test_each_message_comes_after_those_it_waits_for():
    scopes = [[0, 1, 2], [2, 3], [3], [4, 3], [5, 6]]
    names = [f"n{i}" for i in range(12)]
    forest = forest_of(scopes, names, 7, None)
    assert forest.roots == [0, 5]
    edges = [(a, b) for a, near in enumerate(forest.neighbours) for b in near]
    order = [edge for edge, _ in forest.labelled(edges)]
    assert sorted(order) == sorted(edges)
    for place, (source, target) in enumerate(order):
        waits_for = [(other, source) for other in forest.neighbours[source] if other != target]
        assert all(order.index(edge) < place for edge in waits_for)


def test_letters_go_on_after_z():
    assert [letters(i) for i in (0, 1, 25, 26, 27, 51, 52, 701, 702)] == [
        *("a", "b", "z", "aa", "ab", "az", "ba", "zz", "aaa")
    ]


def test_a_cycle_is_named():
    names = ["a", "b", "c", "d", *"FGHI"]
    with pytest.raises(
        InvalidInput, match=r"has a cycle through [bcd], [bcd], [bcd]; messages need"
    ):
        forest_of([[0, 1], [1, 2], [2, 3], [3, 1]], names, 4, None)
    with pytest.raises(InvalidInput, match=r"has a cycle through (a, b|b, a); .* junction tree"):
        forest_of([[0, 1], [1, 0]], names, 2, None)
