"""Diagrams of graphs: Bayesian networks, Markov fields and factor graphs, with what was observed.

directed       an arrow from each parent to its child
undirected     a line between variables that share a factor
factor-graph   a square for each factor, and a line to each variable that it depends on

The junction tree of a graph has a box for each clique, with its variables, and a line to the clique
that it hangs on, with those that both have.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likely.errors import InvalidInput, UnknownName
from likely.graphical.drawing.diagram import Arrow, Diagram, Edge, Node, subscripted
from likely.graphical.model.factor import factor_names
from likely.graphical.model.graph_evidence import known_variables
from likely.graphical.model.variable import state_text
from likely.names import known_name
from likely.output.formatting import listed, short_number, shortened

if TYPE_CHECKING:
    from likely.graphical.exact.messages import Message
    from likely.graphical.model.bayesian_network import BayesianNetwork
    from likely.graphical.model.factor_graph import FactorGraph

FACTOR_GRAPH = "factor-graph"
MOST_VALUES = 4  # of a message that are written beside its arrow
MOST_BARS, LONGEST_STATE = 8, 16  # states of a variable, and letters of a state
MOST_NAMES = 6  # of the variables of a clique that are written in its box


def graph_picture(
    graph: "FactorGraph",
    given: Iterable[str] | Mapping[str, object] = (),
    messages: "Iterable[Message] | None" = None,
    kind: str | None = None,
    *,
    probabilities: bool = False,
) -> Diagram:
    """The diagram of a graph; messages are drawn on its factor graph, in their order.

    With ``probabilities``, each variable has a bar for each of its states.
    """
    if kind is None:
        kind = graph.pictures[0] if messages is None else FACTOR_GRAPH
    chosen = known_name("kind of picture of this graph", kind, graph.pictures)
    names = (given,) if isinstance(given, str) else given
    observed = frozenset(known_variables(graph.by_name, names))
    if messages is None:
        diagram = PICTURES[chosen](graph, observed)
        return _with_probabilities(diagram, graph, given) if probabilities else diagram
    if chosen != FACTOR_GRAPH:
        raise UnknownName("kind of picture with messages", kind, [FACTOR_GRAPH])
    return _with_messages(PICTURES[chosen](graph, observed), tuple(messages))


def _with_probabilities(
    diagram: Diagram, graph: "FactorGraph", given: Iterable[str] | Mapping[str, object]
) -> Diagram:
    """The diagram with P(x | given) of each variable; of many states, of the most probable."""
    names = [given] if isinstance(given, str) else list(given)
    if names and not isinstance(given, Mapping):
        raise InvalidInput(
            f"given={names} was given without states, which probabilities=True needs. Write "
            f"given={{{names[0]!r}: STATE}}."
        )
    beliefs = graph.query(list(graph.names), given or None)
    bars = {}
    for name in graph.names:
        states = {state_text(state): p for state, p in beliefs[name].items()}
        shown = sorted(states, key=lambda state: -states[state])[: MOST_BARS - 1]
        if len(states) > MOST_BARS:
            rest = 1.0 - sum(states[state] for state in shown)
            kept = {state: p for state, p in states.items() if state in shown}
            states = {**kept, f"{len(states) - len(shown)} others": max(rest, 0.0)}
        bars[name] = tuple((shortened(state, LONGEST_STATE), p) for state, p in states.items())
    nodes = tuple(replace(node, bars=bars.get(node.name, ())) for node in diagram.nodes)
    return replace(diagram, nodes=nodes)


def _with_messages(diagram: Diagram, messages: Sequence["Message"]) -> Diagram:
    """The diagram with an arrow for each message, and with factors of evidence that send one."""
    known = {node.name for node in diagram.nodes}
    evidence = dict.fromkeys(
        (end, other)
        for message in messages
        for end, other in ((message.source, message.target), (message.target, message.source))
        if end not in known
    )
    return replace(
        diagram,
        nodes=(*diagram.nodes, *(Node(name, "square") for name, _ in evidence)),
        edges=(*diagram.edges, *(Edge(*ends, directed=False) for ends in evidence)),
        arrows=tuple(Arrow(each.source, each.target, _message_label(each)) for each in messages),
    )


def clique_picture(
    cliques: Sequence[Sequence[str]],
    parent: Sequence[int | None],
    separators: Sequence[Sequence[str]],
) -> Diagram:
    """Cliques and the tree that joins them; ``parent`` is the clique that each hangs on."""
    nodes = [
        Node(f"clique {k}", "square", listed(names, MOST_NAMES)) for k, names in enumerate(cliques)
    ]
    edges = [
        Edge(f"clique {above}", f"clique {k}", False, listed(separator, MOST_NAMES))
        for k, (above, separator) in enumerate(zip(parent, separators, strict=True))
        if above is not None
    ]
    return Diagram(tuple(nodes), tuple(edges), arrangement="layers")


def _directed(graph: "BayesianNetwork", observed: frozenset[str]) -> Diagram:
    edges = tuple(Edge(parent, child) for parent, child in graph.edges)
    return Diagram(_circles(graph, observed), edges, title=graph.name)


def _undirected(graph: "FactorGraph", observed: frozenset[str]) -> Diagram:
    place = {name: i for i, name in enumerate(graph.names)}
    edges = tuple(
        Edge(name, other, directed=False)
        for name, others in graph.neighbours.items()
        for other in others
        if place[name] < place[other]
    )
    return Diagram(_circles(graph, observed), edges, title=graph.name)


def _factor_graph(graph: "FactorGraph", observed: frozenset[str]) -> Diagram:
    names = factor_names(graph.names, [factor.title for factor in graph.factors])
    squares = tuple(
        Node(name, "square", factor.name or subscripted("f", str(j)))
        for j, (name, factor) in enumerate(zip(names, graph.factors, strict=True), start=1)
    )
    edges: list[Edge] = []
    for name, factor in zip(names, graph.factors, strict=True):
        edges += [Edge(variable, name, directed=False) for variable in factor.scope[:-1]]
        # the last variable below its factor: in a Bayesian network it is the child
        edges += [Edge(name, variable, directed=False) for variable in factor.scope[-1:]]
    return Diagram(
        (*_circles(graph, observed), *squares),
        tuple(edges),
        title=graph.name,
        arrangement="layers" if "directed" in graph.pictures else "auto",
    )


def _circles(graph: "FactorGraph", observed: frozenset[str]) -> tuple[Node, ...]:
    return tuple(Node(name, shaded=name in observed) for name in graph.names)


def _message_label(message: "Message") -> str:
    """The message's own label, and its values where they are few and not lost to rounding."""
    values = np.asarray(message.values, dtype=float).ravel()
    lost = not values.any() and np.max(message.log_values) < 0
    if values.size > MOST_VALUES or lost or (values == np.inf).any():
        return message.label
    return f"{message.label}: {', '.join(short_number(value, 3) for value in values)}"


PICTURES: Mapping[str, Callable[[Any, frozenset[str]], Diagram]] = {
    "directed": _directed,
    "undirected": _undirected,
    FACTOR_GRAPH: _factor_graph,
}
