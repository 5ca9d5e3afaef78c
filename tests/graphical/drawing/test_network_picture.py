"""The layered picture of a network: a line for each weight, from left to right, no overlap."""

from collections import Counter
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likely.errors import InvalidInput, UnknownName
from likely.graphical import network_picture
from likely.graphical.drawing.diagram import Diagram, DiagramColumn, Edge, Node, Plate
from likely.graphical.drawing.dot import read_dot
from likely.graphical.drawing.network_picture import MOST_DRAWN
from likely.graphical.drawing.shapes import sampled

SVG = "{http://www.w3.org/2000/svg}"
NAMED = network_picture(
    (4, 8, 8, 3),
    activations=["relu", "relu", "softmax"],
    inputs=["sepal length (cm)", "sepal width", "a name that is too long for its circle", "x"],
    outputs=["setosa", "versicolor", "virginica"],
)
SEVERAL = {
    "2-2-3": network_picture((2, 2, 3), biases=False, activations=["tanh", "softmax"]),
    "4-3-1": network_picture((4, 3, 1)),
    "784-100-10": network_picture((784, 100, 10), activations=["relu", "softmax"]),
    "named": NAMED,
    "no hidden layer": network_picture((3, 1), activations=["sigmoid"]),
    "only some biases": network_picture((3, 2, 2), biases=[False, True]),
}


def assert_nothing_overlaps(diagram):
    boxes = diagram.boxes()
    assert len(boxes) == len(diagram.nodes) + sum(bool(c.caption) for c in diagram.columns)
    for one, other in combinations(boxes, 2):
        assert not one.overlaps(other), (one, other)
    for box in boxes:
        assert min(box.left, box.top) >= 0
        assert box.right <= diagram.drawing.width and box.bottom <= diagram.drawing.height


@pytest.mark.parametrize("name", SEVERAL)
def test_nothing_overlaps(name):
    assert_nothing_overlaps(SEVERAL[name])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=2, max_size=6), st.booleans())
def test_nothing_overlaps_whatever_the_sizes(sizes, biases):
    assert_nothing_overlaps(network_picture(sizes, biases=biases))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, MOST_DRAWN), min_size=2, max_size=5), st.booleans())
def test_the_lines_are_the_parameters(sizes, biases):
    """Σ m_l m_{l+1} weights, and a bias of each unit after the inputs."""
    diagram = network_picture(sizes, biases=biases)
    n_weights = sum(a * b for a, b in pairwise(sizes))
    assert len(diagram.edges) == n_weights + (sum(sizes[1:]) if biases else 0)
    assert len(diagram.drawing.lines) == len(diagram.edges)


def test_four_inputs_three_hidden_units_and_one_output_have_fifteen_weights():
    assert len(network_picture((4, 3, 1), biases=False).edges) == 15
    assert len(network_picture((3, 3, 1), biases=True).edges) == 16


def test_layers_go_from_left_to_right_and_no_line_runs_over_a_node():
    for diagram in SEVERAL.values():
        place = {shape.name: shape for shape in diagram.drawing.shapes}
        for edge, line in zip(diagram.edges, diagram.drawing.lines, strict=True):
            start, end = place[edge.source], place[edge.target]
            assert start.shape.centre.x <= line.curve[0, 0] < line.curve[-1, 0]
            assert line.curve[-1, 0] == end.shape.left
            x, y = sampled(line.curve).T
            for other in diagram.drawing.shapes:
                box, ends = other.shape, (edge.source, edge.target)
                inside = (x > box.left) & (x < box.right) & (y > box.top) & (y < box.bottom)
                assert other.name in ends or not inside.any(), (edge, other)


def test_a_wide_layer_is_shortened_and_its_caption_has_the_true_numbers():
    diagram = SEVERAL["784-100-10"]
    captions = [column.caption for column in diagram.columns]
    assert captions == [
        "784 inputs",
        "78,400 weights, 100 biases",
        "100 hidden units, relu",
        "1,000 weights, 10 biases",
        "10 outputs, softmax",
    ]
    labels = [node.label for node in diagram.nodes]
    assert labels.count("⋮") == 2 and "x₇₈₄" in labels and "h₁₀₀" in labels
    assert not any("…" in end for edge in diagram.edges for end in (edge.source, edge.target))


def test_text_has_a_paragraph_for_each_layer():
    assert SEVERAL["2-2-3"].text.splitlines() == [
        "2 inputs",
        "  ● x₁",
        "  ● x₂",
        "4 weights",
        "2 hidden units, tanh",
        "  ○ h₁ ← x₁, x₂",
        "  ○ h₂ ← x₁, x₂",
        "6 weights",
        "3 outputs, softmax",
        "  ○ y₁ ← h₁, h₂",
        "  ○ y₂ ← h₁, h₂",
        "  ○ y₃ ← h₁, h₂",
    ]
    assert "  ⋮" in SEVERAL["784-100-10"].text.splitlines()


@pytest.mark.parametrize("name", SEVERAL)
def test_svg_is_well_formed_and_holds_every_label_once(name):
    diagram = SEVERAL[name]
    root = ElementTree.fromstring(diagram.svg)
    written = Counter(text.text for text in root.iter(f"{SVG}text"))
    captions = [column.caption for column in diagram.columns]
    assert written == Counter([*(node.label for node in diagram.nodes), *captions])
    assert len(list(root.iter(f"{SVG}path"))) == len(diagram.edges)


@pytest.mark.parametrize("name", SEVERAL)
def test_dot_is_read_back_as_it_was(name):
    assert read_dot(SEVERAL[name].dot) == SEVERAL[name]


def test_columns_of_other_files_that_miss_a_node_are_left_out():
    text = 'digraph { a -> b; subgraph column_0 { label="first"; a } }'
    assert read_dot(text).columns == ()


def test_labels_of_edges_find_a_place_between_columns():
    nodes = tuple(Node(name) for name in ("a", "b", "c"))
    edges = (Edge("a", "c", label="0.25"), Edge("b", "c", label="-1.5"))
    diagram = Diagram(
        nodes, edges, columns=(DiagramColumn("two", ("a", "b")), DiagramColumn("one", ("c",)))
    )
    boxes = diagram.boxes()
    assert {"0.25", "-1.5", "two", "one"} <= {box.label for box in boxes}
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            (DiagramColumn("", ("a",)),),
            "'b' is in 0 columns; each node was expected in exactly one",
        ),
        ((DiagramColumn("", ("a", "b")), DiagramColumn("", ("a",))), "'a' is in 2 columns"),
    ],
)
def test_columns_that_do_not_hold_every_node_once_are_refused(columns, message):
    with pytest.raises(InvalidInput, match=message):
        Diagram((Node("a"), Node("b")), columns=columns)


def test_unknown_members_and_plates_beside_columns_are_refused():
    with pytest.raises(UnknownName, match="There is no node 'c'"):
        Diagram((Node("a"),), columns=(DiagramColumn("", ("a", "c")),))
    with pytest.raises(InvalidInput, match="columns and plates; one of the two"):
        Diagram((Node("a"),), (), (Plate("N", ("a",)),), columns=(DiagramColumn("", ("a",)),))


@pytest.mark.parametrize("sizes", [(), (3,), (3, 0, 1)])
def test_what_is_no_network_is_refused(sizes):
    with pytest.raises(InvalidInput, match=r"at least two were expected, each of 1 unit or more"):
        network_picture(sizes)


def test_names_must_be_as_many_as_the_units():
    with pytest.raises(InvalidInput, match="3 inputs and 2 names of them; one name for each"):
        network_picture((3, 1), inputs=["a", "b"])
