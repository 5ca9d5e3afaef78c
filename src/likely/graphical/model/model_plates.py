"""Plate diagrams of models: what is observed for each row, and the parameters that rows share.

    p(y | x, θ)         the inputs x are given (squares), not modelled; the response y is
    p(y) p(x | y, θ)    classes and features are both modelled

Parameters are outside the plate of the rows (n = 1, …, N), those of each class or component in a
plate of their own (k = 1, …, K), and those of each column in another (j = 1, …, J).  Settings that
are not learned are dots.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from likely.graphical.drawing.diagram import Diagram, Edge, Node, Plate

ROWS, STEPS, COLUMNS, CLASSES, CUTS = "N", "T", "J", "K", "K − 1"
PENALTY, SMOOTHING = "λ", "α"
JOINT_EVENTS = ("multinomial", "complement")
SMOOTHED_EVENTS = ("bernoulli", "categorical", "complement", "multinomial", "poisson")


class PlateParameter(NamedTuple):
    """A parameter by its symbol, and the plate in which it is repeated, if it is."""

    symbol: str
    plate: str = ""


class ComponentParameters(NamedTuple):
    """The parameters of p(x | k): one for each column, or for all together."""

    parameters: tuple[PlateParameter, ...]
    per_column: bool = False
    smoothed: bool = False


def conditional_plate(
    title: str,
    parameters: Sequence[PlateParameter],
    *,
    penalised: bool = False,
    given: str = "xₙ",
) -> Diagram:
    """A model of y given x; a penalty is on its first parameter."""
    x, y = Node(given, "square", shaded=True), Node("yₙ", shaded=True)
    circles = [Node(each.symbol) for each in parameters]
    diagram = Diagram(
        (x, y, *circles),
        (Edge(given, "yₙ"), *(Edge(each.symbol, "yₙ") for each in parameters)),
        (Plate(ROWS, (given, "yₙ")), *_plates_of(parameters)),
        title=title,
    )
    return with_penalty(diagram) if penalised else diagram


def with_penalty(diagram: Diagram) -> Diagram:
    """The diagram of a model with a penalty on its first parameter, if there is none yet."""
    if any(node.name == PENALTY for node in diagram.nodes):
        return diagram
    first = next(node.name for node in diagram.nodes if node.kind == "circle" and not node.shaded)
    return replace(
        diagram,
        nodes=(*diagram.nodes, Node(PENALTY, "dot")),
        edges=(*diagram.edges, Edge(PENALTY, first)),
    )


def component_plate(
    title: str, component: Node, of: ComponentParameters, *, prior_is_given: bool = False
) -> Diagram:
    """A model of x within classes (observed) or components (hidden), and of their shares π."""
    x = Node("xₙⱼ" if of.per_column else "xₙ", shaded=True)
    names = [each.symbol for each in of.parameters]
    nodes = [Node("π", "dot" if prior_is_given else "circle"), component, x, *map(Node, names)]
    edges = [Edge("π", component.name), Edge(component.name, x.name)]
    edges += [Edge(name, x.name) for name in names]
    plates = [Plate(ROWS, (component.name, x.name)), *_plates_of(of.parameters)]
    if of.per_column:
        plates.append(Plate(COLUMNS, (x.name, *names)))
    if of.smoothed:
        nodes.append(Node(SMOOTHING, "dot"))
        edges.append(Edge(SMOOTHING, names[0]))
    return Diagram(tuple(nodes), tuple(edges), tuple(plates), title=title)


def event_parameters(event: object, smoothing: object) -> ComponentParameters:
    """The parameters of an event model of the columns, by its name if it has one."""
    name = event if isinstance(event, str) else ""
    smoothed = name in SMOOTHED_EVENTS and bool(np.any(np.asarray(smoothing) != 0))
    if name in JOINT_EVENTS:  # one draw for all columns
        return ComponentParameters((PlateParameter("θₖ", CLASSES),), smoothed=smoothed)
    symbols = ("μₖⱼ", "σ²ₖⱼ") if name == "gaussian" else ("θₖⱼ",)
    parameters = tuple(PlateParameter(symbol, CLASSES) for symbol in symbols)
    return ComponentParameters(parameters, per_column=True, smoothed=smoothed)


def gaussian_parameters(covariance: str) -> ComponentParameters:
    """The parameters of Gaussians: a mean for each component, a covariance for each or for all."""
    spread = PlateParameter("Σ") if covariance == "tied" else PlateParameter("Σₖ", CLASSES)
    return ComponentParameters((PlateParameter("μₖ", CLASSES), spread))


def chain_plate(title: str, event: object, covariance: str) -> Diagram:
    """Hidden states in sequences: each depends on the one before it, and its row depends on it."""
    joint = ComponentParameters((PlateParameter("θₖ", CLASSES),))
    parameters = (gaussian_parameters(covariance) if event == "gaussian" else joint).parameters
    nodes = [Node("π"), Node("A"), Node("zₙₜ₋₁"), Node("zₙₜ"), Node("xₙₜ", shaded=True)]
    edges = [Edge("π", "zₙₜ₋₁"), Edge("A", "zₙₜ"), Edge("zₙₜ₋₁", "zₙₜ"), Edge("zₙₜ", "xₙₜ")]
    plates = [Plate(ROWS, ("zₙₜ₋₁", "zₙₜ", "xₙₜ")), Plate(STEPS, ("zₙₜ", "xₙₜ"))]
    return Diagram(
        (*nodes, *(Node(each.symbol) for each in parameters)),
        (*edges, *(Edge(each.symbol, "xₙₜ") for each in parameters)),
        (*plates, *_plates_of(parameters)),
        title=title,
    )


def learned_network_plate(title: str, *, naive: bool, smoothed: bool) -> Diagram:
    """A network whose edges are learned: each column depends on the class, and on another column.

    ``naive`` leaves out the other column.
    """
    nodes = [Node("π"), Node("yₙ", shaded=True), Node("xₙⱼ", shaded=True), Node("θⱼ")]
    edges = [Edge("π", "yₙ"), Edge("yₙ", "xₙⱼ"), Edge("θⱼ", "xₙⱼ")]
    if not naive:
        nodes.append(Node("xₙᵢ", shaded=True))
        edges += [Edge("yₙ", "xₙᵢ"), Edge("xₙᵢ", "xₙⱼ")]
    if smoothed:
        nodes.append(Node(SMOOTHING, "dot"))
        edges.append(Edge(SMOOTHING, "θⱼ"))
    rows = tuple(node.name for node in nodes if node.shaded)
    plates = (Plate(ROWS, rows), Plate(COLUMNS, ("xₙⱼ", "θⱼ")))
    return Diagram(tuple(nodes), tuple(edges), plates, title=title)


def network_plate(title: str, diagram: Diagram) -> Diagram:
    """A Bayesian network of the columns, all observed in each row."""
    shaded = tuple(replace(node, shaded=True) for node in diagram.nodes)
    names = tuple(node.name for node in shaded)
    return Diagram(shaded, diagram.edges, (Plate(ROWS, names),), title=title)


def _plates_of(parameters: Sequence[PlateParameter]) -> list[Plate]:
    """A plate for each set of parameters that are repeated together."""
    labels = dict.fromkeys(each.plate for each in parameters if each.plate)
    return [
        Plate(label, tuple(each.symbol for each in parameters if each.plate == label))
        for label in labels
    ]
