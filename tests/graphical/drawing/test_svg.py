"""SVG: well-formed, every label once, readable on dark pages, and no text wider than its box."""

from collections import Counter
from xml.etree import ElementTree

import pytest
from matplotlib.font_manager import FontProperties, findfont
from matplotlib.ft2font import FT2Font

from likely.graphical.drawing.diagram import Diagram, Edge, Node
from likely.graphical.drawing.shapes import text_width
from tests.graphical.drawing.some_diagrams import BY_HAND, STRANGE, random_directed

SVG = "{http://www.w3.org/2000/svg}"


def labels_of(diagram):
    found = [each.label for each in (*diagram.nodes, *diagram.plates)]
    return found + [each.label for each in (*diagram.edges, *diagram.arrows) if each.label]


@pytest.mark.parametrize("name", BY_HAND)
def test_it_is_well_formed_and_holds_every_label_once(name):
    diagram = BY_HAND[name]
    root = ElementTree.fromstring(diagram.svg)
    written = Counter(text.text for text in root.iter(f"{SVG}text"))
    assert written == Counter(labels_of(diagram))
    n_lines = len(diagram.edges) + len(diagram.arrows)
    assert len(list(root.iter(f"{SVG}path"))) == n_lines
    heads = sum(edge.directed for edge in diagram.edges) + len(diagram.arrows)
    assert len(list(root.iter(f"{SVG}polygon"))) == heads


def test_names_are_escaped_and_impossible_characters_replaced():
    assert "<b>" not in STRANGE.svg and "&lt;b&gt; &amp;" in STRANGE.svg
    root = ElementTree.fromstring(Diagram((Node("a\x00b\x1b[0m"),)).svg)
    assert [text.text for text in root.iter(f"{SVG}text")] == ["a\ufffdb\ufffd[0m"]


def test_it_needs_no_other_file_and_has_a_style_for_dark_pages():
    svg = BY_HAND["nested"].svg
    assert "prefers-color-scheme: dark" in svg
    assert "href" not in svg and "url(" not in svg and "<script" not in svg
    assert "<title>topics</title>" in svg


def test_an_observed_variable_is_shaded():
    assert Diagram((Node("x", shaded=True),)).svg.count("#cbd5e1") == 1
    assert Diagram((Node("x"),)).svg.count("#cbd5e1") == 0


def test_symbols_are_italic_and_names_are_not():
    assert Diagram((Node("x1"), Node("x2"))).svg.count("italic") == 2
    assert Diagram((Node("P38"), Node("Jnk"))).svg.count("italic") == 0
    assert Diagram((Node("θₖ"), Node("rain"))).svg.count("italic") == 1


def test_a_picture_of_fifty_nodes_is_small():
    assert len(random_directed(0).svg) < 60_000


def test_a_shape_is_what_its_kind_says():
    nodes = (Node("a"), Node("long name of it"), Node("f", "square"), Node("k", "dot"))
    root = ElementTree.fromstring(Diagram(nodes, (Edge("a", "f"),)).svg)
    assert len(list(root.iter(f"{SVG}circle"))) == 2
    assert [float(r.get("rx", 0)) for r in root.iter(f"{SVG}rect")] == [0, 18, 2]


@pytest.mark.parametrize(
    "text",
    ["alarm", "MINVOLSET", "WWW mmm", "x₁₂", "f(x1, x2)", "0.136, 0.075", "ÄÖÜ ß", "θₖⱼ", "→≤√"],
)
def test_text_is_no_wider_than_its_box(text):
    """DejaVu Sans is wider than Arial and Helvetica."""
    font = FT2Font(findfont(FontProperties(family="DejaVu Sans")))
    font.set_size(100, 72)
    font.set_text(text)
    assert font.get_width_height()[0] / 64 <= text_width(text, 100)


def test_its_size_is_in_attributes_so_that_programs_without_pages_draw_it():
    picture = ElementTree.fromstring(BY_HAND["nested"].svg)
    assert "style" not in picture.attrib
    assert picture.attrib["viewBox"] == f"0 0 {picture.attrib['width']} {picture.attrib['height']}"


def test_cairosvg_draws_the_whole_picture():
    cairosvg = pytest.importorskip("cairosvg", reason="CairoSVG is not installed")
    diagram = BY_HAND["nested"]
    header = cairosvg.svg2png(diagram.svg.encode())[16:24]
    size = [int.from_bytes(header[at : at + 4], "big") for at in (0, 4)]
    assert size == pytest.approx([diagram.drawing.width, diagram.drawing.height], abs=1)
