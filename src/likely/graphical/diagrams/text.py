"""A diagram as lines of text, for a terminal: each node with what points to it, or is joined to it.

○ a circle   ● observed   □ a square   ■ a square that is observed   • a constant   ⋮ not shown
"""

from likely.control_characters import printable
from likely.formatting import one_line
from likely.graphical.diagrams.diagram import Diagram, Node, Plate

SIGNS = {
    ("circle", False): "○",
    ("circle", True): "●",
    ("square", False): "□",
    ("square", True): "■",
}
INDENT = "  "


def listing(diagram: Diagram) -> str:
    """Nodes in order, those of a plate below its heading; then the messages, in order."""
    labels = {node.name: one_line(printable(node.label)) for node in diagram.nodes}
    if diagram.columns:
        lines = _columns(diagram, labels)
    else:
        lines = _lines(diagram, labels, diagram.nodes, diagram.plates, 0)
    for arrow in diagram.arrows:
        passed = f"{labels[arrow.source]} ⇢ {labels[arrow.target]}"
        lines.append(f"{passed}  {one_line(printable(arrow.label))}".rstrip())
    return "\n".join(lines)


def _columns(diagram: Diagram, labels: dict[str, str]) -> list[str]:
    """The caption of each column, and below it the nodes."""
    by_name = {node.name: node for node in diagram.nodes}
    lines = list[str]()
    for column in diagram.columns:
        lines += [one_line(printable(column.caption))] if column.caption else []
        lines += [f"{INDENT}{_node_line(diagram, labels, by_name[n])}" for n in column.members]
    return lines


def _lines(
    diagram: Diagram,
    labels: dict[str, str],
    nodes: tuple[Node, ...],
    plates: tuple[Plate, ...],
    depth: int,
) -> list[str]:
    """The nodes outside the plates, then each outermost plate with what is in it."""
    lines = []
    left = nodes
    inner: list[str] = []
    rest = sorted(plates, key=lambda plate: -len(plate.members))
    while rest:
        outer, *rest = rest
        members = set(outer.members)
        inside = tuple(node for node in left if node.name in members)
        nested = tuple(plate for plate in rest if set(plate.members) <= members)
        rest = [plate for plate in rest if plate not in nested]
        left = tuple(node for node in left if node.name not in members)
        elsewhere = [labels[name] for name in outer.members if name not in {n.name for n in inside}]
        also = f" (and {', '.join(elsewhere)})" if elsewhere else ""
        inner.append(f"{INDENT * depth}plate {one_line(printable(outer.label))}{also}:")
        inner += _lines(diagram, labels, inside, nested, depth + 1)
    lines += [f"{INDENT * depth}{_node_line(diagram, labels, node)}" for node in left]
    return lines + inner


def _node_line(diagram: Diagram, labels: dict[str, str], node: Node) -> str:
    if node.kind == "ellipsis":
        return labels[node.name]
    sign = SIGNS.get((node.kind, node.shaded), "•")
    ends = []
    for edge in diagram.edges:
        if edge.target == node.name:
            note = f" ({printable(edge.label)})" if edge.label else ""
            ends.append((edge.directed, f"{labels[edge.source]}{note}"))
    arrows = ", ".join(text for directed, text in ends if directed)
    joined = ", ".join(text for directed, text in ends if not directed)
    line = f"{sign} {labels[node.name]}"
    line += f" ← {arrows}" if arrows else ""
    return line + (f" — {joined}" if joined else "")
