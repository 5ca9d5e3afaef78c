"""Arrangements: nothing overlaps, arrows point down, known forms look as they are."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likely.errors import InvalidInput
from likely.graphical.drawing.diagram import Arrow, Diagram, Edge, Node, Plate
from likely.graphical.drawing.shapes import n_hits, sampled
from likely.graphical.drawing.spread import cycle, lattice
from tests.graphical.drawing.some_diagrams import (
    BY_HAND,
    CROSSING,
    FIVE,
    FOUR_CYCLE,
    MESSAGES,
    NESTED,
    network,
    random_directed,
    random_undirected,
)


def assert_nothing_overlaps(diagram):
    boxes = diagram.boxes()
    n_labels = sum(bool(e.label) for e in (*diagram.edges, *diagram.arrows)) + len(diagram.plates)
    assert len(boxes) == len(diagram.nodes) + n_labels
    for one, other in combinations(boxes, 2):
        assert not one.overlaps(other), (one, other)
    drawing = diagram.drawing
    for box in boxes:
        assert min(box.left, box.top) >= 0
        assert box.right <= drawing.width and box.bottom <= drawing.height


def place_of(diagram):
    return {shape.name: shape.shape.centre for shape in diagram.drawing.shapes}


@pytest.mark.parametrize("name", BY_HAND)
def test_nothing_overlaps_in_small_diagrams(name):
    assert_nothing_overlaps(BY_HAND[name])


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 9999), n=st.integers(1, 12), per_node=st.floats(0, 2.5))
@pytest.mark.long
def test_nothing_overlaps_in_small_random_graphs(seed, n, per_node):
    assert_nothing_overlaps(random_directed(seed, n, per_node))
    assert_nothing_overlaps(random_undirected(seed, n, per_node, squares=True))


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.long
def test_nothing_overlaps_at_fifty_nodes(seed):
    assert_nothing_overlaps(random_directed(seed, 50, per_node=1.0 + seed))
    assert_nothing_overlaps(random_undirected(seed, 50, squares=seed > 0))


@pytest.mark.parametrize("name", ["asia", "child", "alarm"])
def test_nothing_overlaps_in_known_networks(name):
    diagram = network(name)
    if diagram is None:
        pytest.skip("the networks are not here")
    assert_nothing_overlaps(diagram)
    place = place_of(diagram)
    assert all(place[edge.source].y < place[edge.target].y for edge in diagram.edges)


@pytest.mark.parametrize("n", [5, 50])
def test_labels_of_messages_overlap_nothing(n):
    """On a chain of n variables and the factors between them, a message each way."""
    names = [f"{'f' if i % 2 else 'x'}{i}" for i in range(n)]
    nodes = tuple(Node(name, "square" if name[0] == "f" else "circle") for name in names)
    pairs = list(pairwise(names))
    edges = tuple(Edge(a, b, directed=False) for a, b in pairs)
    ways = pairs + [(b, a) for a, b in reversed(pairs)]
    arrows = tuple(Arrow(a, b, f"{k}: 0.25, 0.75") for k, (a, b) in enumerate(ways, start=1))
    assert_nothing_overlaps(Diagram(nodes, edges, arrows=arrows))


def test_the_same_diagram_is_the_same_picture():
    assert Diagram(FIVE.nodes, FIVE.edges).svg == FIVE.svg
    assert random_undirected(3, 20).svg == random_undirected(3, 20).svg


def test_arrows_point_down_and_a_tall_graph_lies_on_its_side():
    place = place_of(FIVE)
    assert all(place[edge.source].y < place[edge.target].y for edge in FIVE.edges)
    names = [f"z{i}" for i in range(9)]
    edges = tuple(Edge(a, b) for a, b in pairwise(names))
    chain = Diagram(tuple(Node(name) for name in names), edges)
    place = place_of(chain)
    assert all(place[a].x < place[b].x for a, b in pairwise(names))
    assert chain.drawing.width > chain.drawing.height


def test_a_tree_is_drawn_without_crossings():
    names = [f"v{i}" for i in range(31)]
    edges = tuple(Edge(names[(i - 1) // 2], names[i]) for i in range(1, 31))
    place = place_of(Diagram(tuple(Node(name) for name in names), edges))
    for parent, left, right in ((i, 2 * i + 1, 2 * i + 2) for i in range(15)):
        middle = (place[names[left]].x + place[names[right]].x) / 2
        assert place[names[parent]].x == pytest.approx(middle, abs=1.0)


def test_a_line_goes_round_a_node_that_is_in_its_way():
    """a → b → c lie in a column, and a → c passes b."""
    nodes = tuple(Node(name) for name in "abc")
    diagram = Diagram(nodes, (Edge("a", "b"), Edge("b", "c"), Edge("a", "c")))
    b = diagram.drawing.shapes[1].box
    sides = np.array([[b.left, b.top, b.right, b.bottom]])
    assert n_hits(diagram.drawing.lines[2].curve, sides) == 0


def test_lines_end_at_the_borders_of_their_shapes():
    for diagram in (FIVE, FOUR_CYCLE):
        shapes = {shape.name: shape.shape for shape in diagram.drawing.shapes}
        for edge, line in zip(diagram.edges, diagram.drawing.lines, strict=True):
            for end, name in ((line.curve[0], edge.source), (line.curve[-1], edge.target)):
                away = np.hypot(*(end - np.array(shapes[name].centre)))
                assert away == pytest.approx(shapes[name].width / 2, abs=2)


def test_four_in_a_cycle_are_a_square():
    place = place_of(FOUR_CYCLE)
    corners = [(round(p.x), round(p.y)) for p in place.values()]
    (left, top), (right, bottom) = corners[0], corners[2]
    assert corners == [(left, top), (right, top), (right, bottom), (left, bottom)]
    assert right - left > 40


def test_cycles_and_lattices_are_recognised():
    ring = [(0, 3), (3, 1), (1, 4), (4, 2), (2, 0)]
    assert cycle(5, ring) == [0, 2, 4, 1, 3]
    assert cycle(5, ring[:-1]) is None
    two_rings = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    assert cycle(6, two_rings) is None
    rows, columns = 3, 4
    across = [(4 * r + c, 4 * r + c + 1) for r in range(rows) for c in range(columns - 1)]
    down = [(4 * r + c, 4 * r + c + 4) for r in range(rows - 1) for c in range(columns)]
    cells = lattice(12, across + down)
    assert cells.tolist() == [[c, r] for r in range(rows) for c in range(columns)]
    assert lattice(12, [*across, *down, (0, 5)]) is None
    assert lattice(12, [*across[1:], *down, (0, 5)]) is None


def test_a_factor_of_two_lies_between_its_variables():
    nodes = (*FOUR_CYCLE.nodes, *(Node(f"f{i}", "square") for i in range(1, 5)))
    edges = [Edge(f"x{i}", f"f{i}", directed=False) for i in range(1, 5)]
    edges += [Edge(f"f{i}", f"x{i % 4 + 1}", directed=False) for i in range(1, 5)]
    place = place_of(Diagram(nodes, tuple(edges)))
    for i in range(1, 5):
        one, other = place[f"x{i}"], place[f"x{i % 4 + 1}"]
        assert place[f"f{i}"] == pytest.approx(((one.x + other.x) / 2, (one.y + other.y) / 2))


@pytest.mark.parametrize("diagram", [NESTED, CROSSING], ids=["nested", "crossing"])
def test_a_plate_holds_its_members_and_no_others(diagram):
    shapes = {shape.name: shape.box for shape in diagram.drawing.shapes}
    for plate, box in zip(diagram.plates, diagram.drawing.plates, strict=True):
        for name, shape in shapes.items():
            inside = (
                box.left < shape.left
                and shape.right < box.right
                and box.top < shape.top
                and shape.bottom < box.bottom
            )
            assert inside == (name in plate.members), (plate, name)
            assert inside or not box.overlaps(shape)


def test_a_nested_plate_is_within_the_other_and_disjoint_plates_are_apart():
    outer, inner, beside = NESTED.drawing.plates
    assert outer.left < inner.left and inner.right < outer.right
    assert outer.top < inner.top and inner.bottom < outer.bottom
    assert not outer.overlaps(beside)


def test_a_plate_around_a_whole_network_is_a_box_around_its_picture():
    bare = random_directed(1, 40)
    names = tuple(node.name for node in bare.nodes)
    diagram = Diagram(bare.nodes, bare.edges, (Plate("N", names), Plate("M", names)))
    assert_nothing_overlaps(diagram)
    outer, inner = diagram.drawing.plates
    assert outer.left < inner.left and inner.bottom < outer.bottom
    assert all(
        inner.left < shape.box.left and shape.box.right < inner.right
        for shape in diagram.drawing.shapes
    )


@pytest.mark.long
def test_nothing_overlaps_where_a_network_of_twenty_has_plates():
    bare = random_directed(0, 20, per_node=1.2, longest=4)
    names = [node.name for node in bare.nodes]
    plates = (Plate("N", tuple(names[8:])), Plate("M", tuple(names[14:])))
    assert_nothing_overlaps(Diagram(bare.nodes, bare.edges, plates))


def test_plates_that_no_boxes_can_show_are_refused():
    """Each pair of five nodes shares a plate: no rectangles hold just these pairs."""
    nodes = tuple(Node(name) for name in "abcdef")
    plates = tuple(Plate(a + b, (a, b)) for a, b in combinations("abcdef", 2))
    with pytest.raises(InvalidInput, match="cannot be drawn as boxes"):
        Diagram(nodes, (), plates).boxes()


def test_a_picture_of_thousands_of_nodes_is_refused_with_advice():
    diagram = Diagram(tuple(Node(f"v{i}") for i in range(2000)))
    with pytest.raises(InvalidInput, match=r"2,000 nodes; a picture can hold 1,000.*\.dot"):
        diagram.boxes()
    assert diagram._repr_svg_() is None
    assert diagram.text.count("\n") == 1999


def test_too_many_messages_on_one_edge_are_refused():
    arrows = tuple(Arrow("a", "b", f"message {k}") for k in range(60))
    with pytest.raises(InvalidInput, match=r"60 messages find no place.*Draw fewer"):
        Diagram((Node("a"), Node("b")), (Edge("a", "b"),), arrows=arrows).boxes()


def test_messages_are_beside_their_edges_and_lines_are_not_written_over():
    drawing = MESSAGES.drawing
    assert len(drawing.arrows) == len(MESSAGES.arrows)
    lines = np.concatenate([sampled(line.curve) for line in drawing.lines])
    for label in drawing.labels:
        x, y = lines.T
        over = (x > label.left) & (x < label.right) & (y > label.top) & (y < label.bottom)
        assert not over.any(), label
