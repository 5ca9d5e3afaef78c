"""Probabilities as bars in the nodes of a graph, and pictures as PNG and PDF."""

import re
from io import BytesIO

import numpy as np
import pytest

import likely as lk
from likely.errors import InvalidInput
from likely.graphical.drawing.diagram import Diagram, Node


def network():
    return lk.examples.five_variables()


def test_each_variable_has_a_bar_as_long_as_the_probability_of_each_state():
    given = {"x4": 1}
    diagram = network().draw(given=given, probabilities=True)
    beliefs = network().query(None, given)
    for node in diagram.nodes:
        assert node.shaded == (node.name == "x4")
        states = beliefs[node.name].values() if node.name in beliefs.marginals else (0.0, 1.0)
        assert [p for _, p in node.bars] == pytest.approx(list(states))
    widths = re.findall(r'width="([\d.]+)" height="11" fill="#1d4ed8"', diagram.svg)
    assert len(widths) == 10
    expected = [70 * p for node in diagram.nodes for _, p in node.bars]
    assert sorted(map(float, widths)) == pytest.approx(sorted(expected), abs=0.06)


def test_the_text_of_a_diagram_has_the_probabilities():
    lines = network().draw(probabilities=True).text.splitlines()
    assert lines[0] == "○ x1: 0 0.4000, 1 0.6000"


def test_boxes_with_bars_do_not_overlap():
    boxes = network().draw(probabilities=True).boxes()
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_of_many_states_the_most_probable_are_drawn_and_the_others_together():
    rng = np.random.default_rng(0)
    states = {"town": [f"t{k:02d}" for k in rng.geometric(0.3, 400)]}
    bars = lk.BayesianNetwork.from_data(states).draw(probabilities=True).nodes[0].bars
    assert len(bars) == 8
    assert bars[-1][0].endswith("others")
    assert sum(p for _, p in bars) == pytest.approx(1)


def test_names_without_states_are_refused_where_probabilities_are_asked_for():
    with pytest.raises(InvalidInput, match=r"given=\['x4'\] was given without states.*'x4': STATE"):
        network().draw(given=["x4"], probabilities=True)


@pytest.mark.parametrize("probabilities", [False, True])
def test_a_png_is_the_picture_and_has_ink_where_the_svg_has_shapes(tmp_path, probabilities):
    from matplotlib.image import imread

    diagram = network().draw(tmp_path / "n.png", probabilities=probabilities)
    pixels = imread(BytesIO((tmp_path / "n.png").read_bytes()))[..., :3]
    drawing = diagram.drawing
    sharp = pixels.shape[1] / drawing.width
    assert pixels.shape[0] == pytest.approx(sharp * drawing.height, abs=1)
    assert (pixels[0] == 1).all()  # white around it
    for shape in drawing.shapes:
        x, y = shape.shape.centre.x, shape.shape.bottom
        low, high = int(sharp * (y - 2)), int(sharp * (y + 2))
        assert pixels[low:high, int(sharp * x)].min() < 0.5  # its border


def test_a_pdf_is_written_and_other_suffixes_are_refused(tmp_path):
    diagram = Diagram((Node("Größe"), Node("$x$", "square")))
    assert diagram.save(tmp_path / "d.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(InvalidInput, match=r"ends in '.jpg'; one of .*\.png"):
        diagram.save(tmp_path / "d.jpg")
