"""DOT: what is written is read as the same diagram, and files of others are read as graphs."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.errors import InvalidFile
from likely.graphical.drawing.diagram import Arrow, Diagram, Edge, Node, Plate
from likely.graphical.drawing.dot import dot_text, read_dot
from tests.graphical.drawing.some_diagrams import BY_HAND, NESTED, random_directed

names = st.text(min_size=1, max_size=12)


@pytest.mark.parametrize("name", BY_HAND)
def test_a_diagram_is_read_back_as_it_was(name):
    assert read_dot(BY_HAND[name].dot) == BY_HAND[name]


def test_a_random_graph_is_read_back_as_it_was():
    assert read_dot(random_directed(0).dot) == random_directed(0)


@given(st.lists(names, min_size=2, max_size=6, unique=True), st.text(max_size=12), names)
def test_any_names_and_labels_are_read_back(called, label, plate):
    one, other, *_ = called
    diagram = Diagram(
        tuple(Node(name, shaded=len(name) > 3) for name in called),
        (Edge(one, other, directed=False, label=label),),
        (Plate(plate, (other, one)), Plate(label or "N", tuple(called))),
        (Arrow(other, one, label),),
        title=label,
        arrangement="spread",
    )
    assert read_dot(diagram.dot) == diagram


def test_a_word_of_the_language_may_be_a_name():
    called = ("node", "edge", "graph", "subgraph", "strict", "digraph")
    nodes = tuple(Node(name, "square", shaded=True) for name in called)
    diagram = Diagram(nodes, (Edge("node", "edge"),), (Plate("graph", ("node", "edge")),))
    assert read_dot(diagram.dot) == diagram


def test_each_label_is_written_once():
    written = re.findall(r'label="((?:[^"\\]|\\.)*)"', NESTED.dot)
    labels = [each.label for each in (*NESTED.nodes, *NESTED.plates)]
    assert sorted(written) == sorted(labels)


def test_a_nested_plate_is_a_cluster_within_a_cluster():
    assert re.search(r"subgraph cluster_0 \{[^}]*subgraph cluster_1 \{", NESTED.dot)


def test_files_of_others_are_read_as_graphs():
    text = """
    /* a comment */ strict digraph G { // another
      graph [rankdir=LR]; node [shape=box]; edge [color=red]
      rankdir = TB
      a -> b:port -> "c d" [label="two", weight=1.5]; # and another
      e [shape=box, style="filled,rounded"]
      subgraph cluster_x { label = "plate"; b; e }
      { rank=same; a e }
    }"""
    diagram = read_dot(text)
    assert [node.name for node in diagram.nodes] == ["a", "b", "c d", "e"]
    assert [(e.source, e.target, e.label) for e in diagram.edges] == [
        ("a", "b", "two"),
        ("b", "c d", "two"),
    ]
    assert diagram.nodes[3] == Node("e", "square", shaded=True)
    assert diagram.plates == (Plate("plate", ("b", "e")),)
    assert diagram.title == "G"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"DOT, line 1: the file ends where '\}' was expected"),
        ("graph {\n a -- \n", r"line 2: the file ends"),
        ("tree { a }", r"line 1: 'tree' was found where 'graph' or 'digraph' was expected"),
        ("graph {\n a -- ; }", r"line 2: ';' was found where a name was expected"),
        ("graph { a [label] }", r"'\]' was found where '=' was expected"),
        ("graph { a } b", r"'b' was found where the end of the file was expected"),
        ("graph { {a b} -- c }", "edges of whole subgraphs are not read"),
        ("graph { a [label=<b>] }", "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_line(text, message):
    with pytest.raises(InvalidFile, match=message):
        read_dot(text)


@pytest.mark.parametrize("opening", ["{", "subgraph cluster_1 {", "subgraph a {"])
def test_subgraphs_that_are_nested_too_deeply_are_refused(opening):
    def nested(depth):
        return f"graph {{ {opening * depth} a; {'}' * depth} }}"

    assert [node.name for node in read_dot(nested(100)).nodes] == ["a"]
    for depth in (101, 20_000):
        with pytest.raises(InvalidFile, match="100 subgraphs are open, which is the most"):
            read_dot(nested(depth))
    beside = f"graph {{ {(opening + ' a; }') * 300} }}"  # not in each other
    assert len(read_dot(beside).nodes) == 1


def test_the_number_of_a_cluster_may_have_any_number_of_digits():
    first, second = (
        f"subgraph cluster_{'9' * n} {{ {name} }}" for n, name in ((6000, "b"), (1, "a"))
    )
    plates = read_dot(f"graph {{ {first} {second} }}").plates
    assert [plate.members for plate in plates] == [("a",), ("b",)]


NAMES = [
    'a" -> "b',
    "a; b -- c",
    "node",
    "a\\",
    "\\N",
    "} digraph {",
    "/* b */",
    "// b",
    "a:b",
    "cluster_0",
    "x\ny",
    "<b>a</b>",
    "",
]


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_no_name_of_a_variable_adds_nodes_or_edges_to_a_file(name):
    drawn = Diagram(
        (Node(name, "circle", name, False), Node("other", "square", "other", True)),
        (Edge(name, "other", True, name),),
        (Plate(name, (name,)),),
    )
    again = read_dot(dot_text(drawn))
    assert (again.nodes, again.edges, again.plates) == (drawn.nodes, drawn.edges, drawn.plates)
