"""Diagrams: what they refuse, how they are saved, and their text."""

import pytest

from likely.errors import InvalidInput, UnknownName
from likely.graphical import read_dot
from likely.graphical.drawing.diagram import Arrow, Diagram, Edge, Node, Plate
from tests.graphical.drawing.some_diagrams import CROSSING, FIVE, FOUR_CYCLE, MESSAGES, NESTED

A, B = Node("a"), Node("b")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (((A, A),), "Two nodes are called 'a'"),
        (((A, B), (Edge("a", "c"),)), "no node 'c'"),
        (((A, B), (Edge("a", "a"),)), "joins 'a' to itself"),
        (((A, B), (Edge("a", "b"), Edge("b", "a"))), "Two edges join 'a' and 'b'"),
        (((A, B), (), (Plate("N", ("a", "x")),)), "no node 'x'"),
        (((A, B), (), (), (Arrow("a", "b"),)), "no edge between them"),
    ],
)
def test_a_diagram_that_does_not_fit_together_is_refused(parts, message):
    with pytest.raises(InvalidInput, match=message):
        Diagram(*parts)


def test_unknown_kinds_are_refused_with_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'circle'"):
        Node("a", "circel")
    with pytest.raises(UnknownName, match="no arrangement 'round'"):
        Diagram((A,), arrangement="round")


def test_it_is_saved_by_the_suffix(tmp_path):
    assert FIVE.save(tmp_path / "five.svg").read_text() == f"{FIVE.svg}\n"
    assert read_dot(FIVE.save(tmp_path / "five.dot").read_text()) == FIVE
    assert FIVE.save(str(tmp_path / "five.TXT")).read_text() == f"{FIVE.text}\n"
    with pytest.raises(InvalidInput, match=r"ends in '\.jpg'; one of \.svg.*Save it as \.svg"):
        FIVE.save(tmp_path / "five.jpg")


def test_text_lists_each_node_and_each_edge_once():
    assert FIVE.text.splitlines() == ["○ x1", "○ x2", "○ x3 ← x1", "● x4 ← x1, x2", "○ x5 ← x2"]
    assert FOUR_CYCLE.text.splitlines() == ["○ x1 — x4", "○ x2 — x1", "○ x3 — x2", "○ x4 — x3"]
    assert MESSAGES.text.splitlines()[-1] == "x2 ⇢ f5  15a: 0.1536, 0.1575"


def test_text_shows_plates_as_paragraphs():
    assert NESTED.text.splitlines() == [
        "• α",
        "plate M:",
        "  ○ θₘ ← α",
        "  plate N:",
        "    ○ zₘₙ ← θₘ",
        "    ● wₘₙ ← zₘₙ, φₖ",
        "plate K:",
        "  ○ φₖ",
    ]
    assert CROSSING.text.splitlines()[-3:] == ["plate J (and x):", "  plate K:", "    ○ θ ← "[:-3]]


def test_text_cannot_control_a_terminal():
    assert "\x1b" not in Diagram((Node("\x1b]0;title\x07"),)).text


def test_it_says_its_size():
    assert repr(NESTED) == "<Diagram 'topics': 5 nodes, 4 edges, 3 plates>"
    assert str(FIVE) == FIVE.text
