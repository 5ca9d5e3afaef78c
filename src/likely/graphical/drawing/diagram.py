"""A diagram: nodes, edges and plates, without a place for any of them.

Circles are variables, squares are factors and inputs that are given, dots are constants; what was
observed is shaded, and an ellipsis stands for nodes that are not drawn.  A plate is a box around
the nodes that are repeated together, with their number in its corner; the layers of a network are
columns.  How a diagram is arranged and drawn is decided elsewhere (``layout``, ``shapes``,
``dot``); the same diagram always gives the same picture.  As text it has a line for each node, with
what points to it, or is joined to it.

○ a circle   ● observed   □ a square   ■ a square that is observed   • a constant   ⋮ not shown

Symbols with subscripts and superscripts, as Unicode writes them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np

from likely.caching import cached_property
from likely.errors import InvalidInput, UnknownName
from likely.graphical.drawing.shapes import Box, Drawing, svg_text
from likely.output.control_characters import printable
from likely.output.formatting import count, one_line
from likely.storage.files import write_atomically

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

SUBSCRIPTS = str.maketrans("0123456789aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def subscripted(symbol: str, indices: Sequence[str]) -> str:
    """A symbol with the lower-case letters of its indices below it, if Unicode has all of them.

    >>> subscripted("x", ["N"]), subscripted("x", ["Q"])
    ('xₙ', 'x')
    """
    below = "".join(indices).lower()
    written = below.translate(SUBSCRIPTS)
    return symbol + written if not set(below) & set(written) else symbol


def superscripted(symbol: str, number: str) -> str:
    """A symbol with the digits of a number above it.

    >>> superscripted("h", "12")
    'h¹²'
    """
    return symbol + number.translate(SUPERSCRIPTS)


Kind = Literal["circle", "square", "dot", "ellipsis"]
Arrangement = Literal["auto", "layers", "spread"]

KINDS = ("circle", "square", "dot", "ellipsis")
ARRANGEMENTS = ("auto", "layers", "spread")
MOST_SHOWN = 150  # nodes of a picture that a notebook shows unasked
MOST_ARRANGED = 1000  # nodes for which places can be found
BY_MATPLOTLIB = (".png", ".pdf")
SHARPNESS = 2.5  # pixels of a PNG for one of the picture
POINTS_PER_INCH = 72
ALIGNED = {"start": "left", "middle": "center", "end": "right"}


@final
@dataclass(frozen=True)
class Node:
    """A circle, square, dot or ellipsis; ``label`` is written on it, by default its name.

    With ``bars``, states and their probabilities, it is a box with a bar for each.
    """

    name: str
    kind: Kind = "circle"
    label: str = ""
    shaded: bool = False
    bars: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UnknownName("kind of node", self.kind, KINDS)
        object.__setattr__(self, "label", self.label or self.name)


@final
@dataclass(frozen=True)
class Edge:
    """A line between two nodes, with an arrowhead at its target where it is directed."""

    source: str
    target: str
    directed: bool = True
    label: str = ""


@final
@dataclass(frozen=True)
class Plate:
    """A box around nodes that are repeated together; ``label`` is their number, such as N."""

    label: str
    members: tuple[str, ...]


@final
@dataclass(frozen=True)
class Arrow:
    """A small arrow beside an edge: a message from one node to its neighbour."""

    source: str
    target: str
    label: str = ""


@final
@dataclass(frozen=True)
class DiagramColumn:
    """Nodes that lie above each other, the first on top, and what is written below them.

    Without members it is the space between two columns, which can have a caption too.
    """

    caption: str
    members: tuple[str, ...] = ()


@final
@dataclass(frozen=True)
class Diagram:
    """Nodes, the edges between them, and the plates around them.

    ``arrangement`` is "layers" (arrows point down or to the right), "spread" (neighbours are
    close) or "auto".  With ``columns``, which hold every node once, the nodes lie in these columns
    from left to right instead.

    >>> rain, wet = Node("rain"), Node("wet", shaded=True)
    >>> print(Diagram((rain, wet), (Edge("rain", "wet"),)).text)
    ○ rain
    ● wet ← rain
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()
    plates: tuple[Plate, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    title: str = ""
    arrangement: Arrangement = "auto"
    columns: tuple[DiagramColumn, ...] = ()

    def __post_init__(self) -> None:
        if self.arrangement not in ARRANGEMENTS:
            raise UnknownName("arrangement", self.arrangement, ARRANGEMENTS)
        names = [node.name for node in self.nodes]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InvalidInput(
                f"Two nodes are called {twice!r}; different names were expected. Rename one."
            )
        known = set(names)
        _refuse_unknown(known, (end for edge in self.edges for end in (edge.source, edge.target)))
        _refuse_unknown(known, (member for plate in self.plates for member in plate.members))
        self._check_columns(names)
        for edge in self.edges:
            if edge.source == edge.target:
                raise InvalidInput(
                    f"An edge joins {edge.source!r} to itself; two nodes were expected. Remove it."
                )
        joined = [frozenset((edge.source, edge.target)) for edge in self.edges]
        if len(set(joined)) < len(joined):
            one, other = sorted(next(pair for pair in joined if joined.count(pair) > 1))
            raise InvalidInput(
                f"Two edges join {one!r} and {other!r}; at most one was expected. Remove one."
            )
        for arrow in self.arrows:
            if frozenset((arrow.source, arrow.target)) not in joined:
                raise InvalidInput(
                    f"There is a message from {arrow.source!r} to {arrow.target!r} and no edge "
                    "between them; messages pass along edges. Add the edge, or leave it out."
                )

    def _check_columns(self, names: list[str]) -> None:
        """Refuse columns that do not hold every node once."""
        placed = [member for column in self.columns for member in column.members]
        _refuse_unknown(set(names), placed)
        if self.columns and sorted(placed) != sorted(names):
            wrong = next(name for name in names if placed.count(name) != 1)
            raise InvalidInput(
                f"The node {wrong!r} is in {count(placed.count(wrong), 'column')}; each node was "
                "expected in exactly one. Correct the columns, or leave all of them out."
            )
        if self.columns and self.plates:
            raise InvalidInput(
                "The diagram has columns and plates; one of the two was expected. Leave out one."
            )

    def outermost(self, plates: Iterable[int]) -> Iterator[tuple[int, list[int]]]:
        """Those of some plates, by number, that lie in none of the others, with those in them."""
        members = {k: set(self.plates[k].members) for k in plates}
        rest = sorted(members, key=lambda k: -len(self.plates[k].members))
        while rest:
            outer, *rest = rest
            nested = [k for k in rest if members[k] <= members[outer]]
            rest = [k for k in rest if k not in nested]
            yield outer, nested

    @cached_property
    def drawing(self) -> Drawing:
        """Where everything is: shapes, lines and labels, in pixels."""
        from likely.graphical.drawing.layout import arranged

        if len(self.nodes) > MOST_ARRANGED:
            raise InvalidInput(
                f"The diagram has {count(len(self.nodes), 'node')}; a picture can hold "
                f"{MOST_ARRANGED:,}. Use .dot or .text, or draw a part of the graph."
            )
        return arranged(self)

    def boxes(self) -> tuple[Box, ...]:
        """The rectangle of each node and of each label outside a node; no two overlap."""
        return self.drawing.boxes()

    @cached_property
    def svg(self) -> str:
        """The picture, as one SVG element that needs no other file."""
        return svg_text(self.drawing, self.title)

    @cached_property
    def dot(self) -> str:
        """The diagram in the DOT language of Graphviz; ``read_dot`` reads it."""
        from likely.graphical.drawing.dot import dot_text

        return dot_text(self)

    @cached_property
    def text(self) -> str:
        """The diagram as lines of text: each node with what it depends on."""
        return _listing(self)

    def save(self, path: str | Path) -> Path:
        """Write the picture (.svg, .png, .pdf), the graph (.dot, .gv) or the text (.txt)."""
        path = Path(path)
        texts = {".svg": lambda: self.svg, ".dot": lambda: self.dot, ".txt": lambda: self.text}
        texts[".gv"] = texts[".dot"]
        suffix = path.suffix.lower()
        if suffix not in (*texts, *BY_MATPLOTLIB):
            forms = ", ".join((*texts, *BY_MATPLOTLIB))
            raise InvalidInput(
                f"{str(path)!r} ends in {path.suffix!r}; one of {forms} was expected. Save it as "
                ".svg, which browsers and slides can show."
            )
        if suffix in BY_MATPLOTLIB:
            write_atomically(path, _by_matplotlib(self.svg, suffix[1:]))
        else:
            write_atomically(path, f"{texts[suffix]().rstrip()}\n".encode())
        return path

    def _repr_svg_(self) -> str | None:
        """The picture for a notebook; none where there are too many nodes to read."""
        return self.svg if len(self.nodes) <= MOST_SHOWN else None

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        title = f" {self.title!r}" if self.title else ""
        plates = f", {count(len(self.plates), 'plate')}" if self.plates else ""
        nodes, edges = count(len(self.nodes), "node"), count(len(self.edges), "edge")
        return f"<Diagram{title}: {nodes}, {edges}{plates}>"


def _refuse_unknown(known: set[str], names: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            raise UnknownName("node", name, known)


SIGNS = {
    ("circle", False): "○",
    ("circle", True): "●",
    ("square", False): "□",
    ("square", True): "■",
}
INDENT = "  "


def _listing(diagram: Diagram) -> str:
    """Nodes in order, those of a plate below its heading; then the messages, in order."""
    labels = {node.name: one_line(printable(node.label)) for node in diagram.nodes}
    by_name = {node.name: node for node in diagram.nodes}
    lines = list[str]()
    for column in diagram.columns:
        lines += [one_line(printable(column.caption))] if column.caption else []
        lines += [f"{INDENT}{_node_line(diagram, labels, by_name[n])}" for n in column.members]
    if not diagram.columns:
        lines = _lines(diagram, labels, diagram.nodes, range(len(diagram.plates)), 0)
    for arrow in diagram.arrows:
        passed = f"{labels[arrow.source]} ⇢ {labels[arrow.target]}"
        lines.append(f"{passed}  {one_line(printable(arrow.label))}".rstrip())
    return "\n".join(lines)


def _lines(
    diagram: Diagram,
    labels: dict[str, str],
    nodes: Sequence[Node],
    plates: Iterable[int],
    depth: int,
) -> list[str]:
    """The nodes outside the plates, then each outermost plate with what is in it."""
    left, inner = nodes, list[str]()
    for k, nested in diagram.outermost(plates):
        outer, members = diagram.plates[k], set(diagram.plates[k].members)
        inside = [node for node in left if node.name in members]
        left = [node for node in left if node.name not in members]
        elsewhere = [labels[name] for name in outer.members if name not in {n.name for n in inside}]
        also = f" (and {', '.join(elsewhere)})" if elsewhere else ""
        inner.append(f"{INDENT * depth}plate {one_line(printable(outer.label))}{also}:")
        inner += _lines(diagram, labels, inside, nested, depth + 1)
    return [f"{INDENT * depth}{_node_line(diagram, labels, node)}" for node in left] + inner


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
    line += f" — {joined}" if joined else ""
    states = ", ".join(f"{one_line(printable(state))} {p:.4f}" for state, p in node.bars)
    return f"{line}: {states}" if states else line


# ── PNG and PDF: the SVG, drawn by Matplotlib; a unit of it is a point ────────────────────────────


def _by_matplotlib(svg: str, form: str) -> bytes:
    """The picture as a file, on white; its elements are the few that ``shapes`` writes."""
    from io import BytesIO
    from xml.etree.ElementTree import fromstring

    from matplotlib.figure import Figure

    from likely.output.pictures import readable, without_glyph_warnings

    root = fromstring(svg)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    figure = Figure(figsize=(width / POINTS_PER_INCH, height / POINTS_PER_INCH))
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, width), ylim=(height, 0))
    ax.axis("off")
    for order, element in enumerate(root):
        _draw_element(ax, element, order)
    readable(ax)
    file = BytesIO()
    with without_glyph_warnings():
        figure.savefig(file, format=form, dpi=SHARPNESS * POINTS_PER_INCH)
    return file.getvalue()


def _draw_element(ax: Any, element: "Element", order: int) -> None:
    """One element of the SVG on Matplotlib's axes, above the elements before it."""
    from matplotlib.patches import Circle, FancyBboxPatch, PathPatch, Polygon
    from matplotlib.path import Path as Outline

    of = element.attrib
    kind = element.tag.rpartition("}")[2]
    at = {key: float(of.get(key, 0.0)) for key in ("x", "y", "width", "height", "rx", "r")}
    paint: dict[str, Any] = {"fc": of.get("fill", "none"), "ec": of.get("stroke", "none")}
    paint |= {"zorder": order, "lw": float(of.get("stroke-width", 0.0))}
    if kind == "rect":
        style = f"round,pad=0,rounding_size={at['rx']}" if at["rx"] else "square,pad=0"
        corner, size = (at["x"], at["y"]), (at["width"], at["height"])
        ax.add_patch(FancyBboxPatch(corner, *size, boxstyle=style, **paint))
    elif kind == "circle":
        ax.add_patch(Circle((float(of["cx"]), float(of["cy"])), at["r"], **paint))
    elif kind == "polygon":
        corners = [tuple(map(float, point.split(","))) for point in of["points"].split()]
        ax.add_patch(Polygon(corners, **paint))
    elif kind == "path":
        points = np.array(re.findall(r"-?[\d.]+", of["d"]), dtype=float).reshape(-1, 2)
        step = Outline.CURVE4 if "C" in of["d"] else Outline.LINETO
        codes = [Outline.MOVETO, *[step] * (len(points) - 1)]
        ax.add_patch(PathPatch(Outline(points, codes), **paint))
    elif kind == "text":
        ax.text(
            at["x"],
            at["y"],
            element.text or "",
            size=float(of["font-size"]),
            color=of["fill"],
            ha=ALIGNED[of["text-anchor"]],
            style=of.get("font-style", "normal"),
            family="serif" if "font-style" in of else "sans-serif",
            zorder=order,
        )
