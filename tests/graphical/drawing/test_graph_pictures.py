"""Pictures of networks, fields and factor graphs, with evidence and with messages."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from likely.errors import InvalidInput, UnknownName
from likely.graphical.drawing.diagram import Arrow, Edge
from likely.graphical.drawing.dot import read_dot
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.graphical.model.markov_field import MarkovField
from likely.graphical.model.variable import Variable

FIVE = BayesianNetwork.from_edges(
    [("x1", "x3"), ("x1", "x4"), ("x2", "x4"), ("x2", "x5")],
    {f"x{i}": 2 for i in range(1, 6)},
    name="five variables",
)
CYCLE = MarkovField.from_potentials(
    {f"x{i}": 2 for i in range(1, 5)},
    [(f"x{i}", np.ones(2)) for i in range(1, 5)]
    + [((f"x{i}", f"x{i % 4 + 1}"), np.ones((2, 2))) for i in range(1, 5)],
)


@dataclass(frozen=True)
class Sent:
    source: str
    target: str
    label: str
    values: np.ndarray
    log_values: np.ndarray = field(default_factory=lambda: np.zeros(2))


def pairs(diagram):
    return {(edge.source, edge.target) for edge in diagram.edges}


def test_a_network_has_arrows_and_observed_variables_are_shaded():
    diagram = FIVE.draw(given={"x4": "1"})
    assert pairs(diagram) == set(FIVE.edges)
    assert all(edge.directed for edge in diagram.edges)
    assert [node.name for node in diagram.nodes if node.shaded] == ["x4"]
    assert diagram.title == "five variables"
    assert FIVE.draw(given="x4") == diagram


def test_a_field_has_lines_between_neighbours():
    diagram = CYCLE.draw()
    assert pairs(diagram) == {("x1", "x2"), ("x2", "x3"), ("x3", "x4"), ("x1", "x4")}
    assert not any(edge.directed for edge in diagram.edges)
    moral = FIVE.draw(kind="undirected")
    assert pairs(moral) == {*FIVE.edges, ("x1", "x2")}


def test_a_factor_graph_has_a_square_for_each_factor_and_an_edge_for_each_scope():
    """GM-5 and GM-10: 5 factors and 9 edges, 8 factors and 12 edges."""
    for graph, n_factors, n_edges in ((FIVE, 5, 9), (CYCLE, 8, 12)):
        diagram = graph.draw(kind="factor_graph")
        squares = [node for node in diagram.nodes if node.kind == "square"]
        assert len(squares) == n_factors and len(diagram.edges) == n_edges
        assert [node.label for node in squares][:2] == ["f₁", "f₂"]
    assert FIVE.factor_graph().draw() != FIVE.draw()


def test_factors_of_the_same_name_are_different_nodes():
    a, b = Variable("a", 2), Variable("b", 2)
    table = np.ones((2, 2))
    graph = FactorGraph([Factor((a, b), table), Factor((a, b), table), Factor((a,), [1, 1])])
    named = FactorGraph([Factor((a,), [1, 1], name="a"), Factor((), 2.0, name="1/Z")])
    assert [node.name for node in graph.draw().nodes][2:] == ["f(a, b)", "f(a, b) (2)", "f(a)"]
    assert [node.name for node in named.draw().nodes] == ["a", "a (2)", "1/Z"]
    assert [node.label for node in named.draw().nodes] == ["a", "a", "1/Z"]


def test_messages_are_arrows_on_the_factor_graph():
    sent = [
        Sent("x5", "f(x2, x5)", "1a", np.ones(2)),
        Sent("f(x2, x5)", "x2", "2a", np.array([0.3, 0.7])),
        Sent("soft(x2)", "x2", "2b", np.array([0.1234567, 1e-12])),
        Sent("x2", "f(x2)", "3a", np.arange(9)),
        Sent("f(x1)", "x1", "3b", np.zeros(2), np.array([-800.0, -900.0])),
        Sent("x1", "f(x1, x3)", "4a", np.zeros(2)),
    ]
    diagram = FIVE.draw(messages=iter(sent), given=["x4"])
    assert diagram.arrows[0] == Arrow("x5", "f(x2, x5)", "1a: 1, 1")
    assert [arrow.label for arrow in diagram.arrows[1:]] == [
        "2a: 0.3, 0.7",
        "2b: 0.123, 1e-12",
        "3a",  # too many to write
        "3b",  # lost to rounding
        "4a: 0, 0",  # logs
    ]
    assert Edge("soft(x2)", "x2", directed=False) in diagram.edges
    assert read_dot(diagram.dot) == diagram
    boxes = diagram.boxes()
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_the_messages_of_inference_are_drawn():
    """INF-9: eight messages towards x3, where x4 was seen."""
    messages = FIVE.messages("x3", {"x4": "1"})
    diagram = messages.draw()
    assert diagram == FIVE.draw(messages=messages, given=["x4"])
    assert [(a.source, a.target) for a in diagram.arrows] == [
        (message.source, message.target) for message in messages
    ]
    assert len(diagram.arrows) == 8
    assert diagram.arrows[-1].label == "6a: 0.25, 0.25"


def test_a_picture_is_saved_and_shown(tmp_path):
    diagram = FIVE.draw(tmp_path / "five.svg")
    assert (tmp_path / "five.svg").read_text().strip() == diagram.svg == FIVE._repr_svg_()
    wide = MarkovField.from_potentials({f"x{i}": 2 for i in range(1000)}, {})
    assert wide._repr_svg_() is None
    assert repr(wide).startswith("<MarkovField: 1,000 variables")


@pytest.mark.parametrize(
    ("graph", "settings", "message"),
    [
        (CYCLE, {"kind": "directed"}, "no kind of picture of this graph 'directed'"),
        (FIVE, {"kind": "factors"}, "Did you mean 'factor-graph'"),
        (FIVE, {"given": ["x9"]}, "no variable 'x9'"),
        (FIVE, {"messages": [], "kind": "directed"}, "picture with messages 'directed'"),
    ],
)
def test_unknown_choices_are_refused(graph, settings, message):
    with pytest.raises(UnknownName, match=message):
        graph.draw(**settings)


def test_a_message_between_nodes_that_are_not_joined_is_refused():
    with pytest.raises(InvalidInput, match="no edge between them"):
        FIVE.draw(messages=[Sent("x1", "x2", "1a", np.ones(2))])
