"""A drawing as SVG: one element that needs no other file, readable on light and dark pages.

Colours are attributes, which every program understands; a style for dark pages overrides them.
Its rules name classes that begin with ``likely-``, so that they change nothing else on a page.

A diagram as lines of text, for a terminal: each node with what points to it, or is joined to it.

○ a circle   ● observed   □ a square   ■ a square that is observed   • a constant   ⋮ not shown
"""

import re
from html import escape

import numpy as np

from likely._typing import Array
from likely.graphical.drawing.diagram import Diagram, Node, Plate
from likely.graphical.drawing.shapes import FONT_SIZE, SMALL_SIZE, Box, Line, PlacedNode, pieces_of
from likely.output.control_characters import printable
from likely.output.formatting import one_line

PAPER, INK, SHADE, FAINT, ACCENT = "#ffffff", "#1e293b", "#cbd5e1", "#64748b", "#1d4ed8"
DARK = {PAPER: "#0f172a", INK: "#e2e8f0", SHADE: "#475569", FAINT: "#94a3b8", ACCENT: "#93c5fd"}
NAMES = {PAPER: "paper", INK: "ink", SHADE: "shade", FAINT: "faint", ACCENT: "accent"}
SANS = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
SERIF = "'Times New Roman', Times, 'Liberation Serif', 'DejaVu Serif', serif"
# Mathematics: one letter of Latin or Greek, with subscripts or a superscript; and with digits
# after it, where all names are so.
SYMBOL = re.compile(r"[A-Za-zα-ωΑ-Ωϕϵ][₀-₉ₐ-ₜⱼᵢ₋²³⁻¹⁰⁴-⁹]*( − 1)?")
NUMBERED = re.compile(r"[A-Za-zα-ωΑ-Ωϕϵ][0-9₀-₉ₐ-ₜⱼᵢ₋²³⁻¹⁰⁴-⁹]*")
# Narrow pages shrink a picture.  As an attribute, height:auto would be the height 0 of CairoSVG.
ON_SCREEN = "@media screen{.likely-picture{max-width:100%;height:auto}}"
HEAD_LENGTH, HEAD_WIDTH = 9.0, 7.0
MANY_LINES = 60  # between columns, from which they are thinner
UNPRINTABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def svg_text(diagram: Diagram) -> str:
    """The picture of a diagram."""
    drawing = diagram.drawing
    labels = [node.label for node in diagram.nodes if node.kind == "circle"]
    symbols = NUMBERED if all(NUMBERED.fullmatch(label) for label in labels) else SYMBOL
    line_style = (INK, 1.4)
    if diagram.columns:  # there are many lines between two columns
        line_style = (FAINT, 0.9 if len(diagram.edges) <= MANY_LINES else 0.6)
    width, height = _number(drawing.width), _number(drawing.height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" class="likely-picture" role="img" '
        f'font-family="{SANS}">',
        f"<style>{ON_SCREEN}{_dark_style()}</style>",
        *([f"<title>{_escaped(diagram.title)}</title>"] if diagram.title else []),
        f'<rect width="{width}" height="{height}" {_fill(PAPER)}/>',
        *(_plate(box) for box in drawing.plates),
        *(_line(line, *line_style) for line in drawing.lines),
        *(_line(line, ACCENT, 1.6) for line in drawing.arrows),
        *(_shape(shape, symbols) for shape in drawing.shapes),
        *(_label(box) for box in drawing.labels),
        "</svg>",
    ]
    return "\n".join(parts)


def _dark_style() -> str:
    rules = "".join(
        f".likely-fill-{NAMES[light]}{{fill:{dark}}}.likely-stroke-{NAMES[light]}{{stroke:{dark}}}"
        for light, dark in DARK.items()
    )
    return f"@media (prefers-color-scheme: dark){{{rules}}}"


def _fill(colour: str) -> str:
    return f'fill="{colour}" class="likely-fill-{NAMES[colour]}"'


def _painted(fill: str, stroke: str, width: float) -> str:
    classes = f"likely-fill-{NAMES[fill]} likely-stroke-{NAMES[stroke]}"
    return f'fill="{fill}" stroke="{stroke}" stroke-width="{width:g}" class="{classes}"'


def _plate(box: Box) -> str:
    stroke = f'stroke="{FAINT}" stroke-width="1.2" class="likely-stroke-{NAMES[FAINT]}"'
    return f'<rect {_sides(box)} rx="7" fill="none" {stroke}/>'


def _shape(shape: PlacedNode, symbols: re.Pattern[str]) -> str:
    box, text = shape.shape, _text(shape.text, FONT_SIZE, INK, symbols)
    if shape.kind == "dot":
        at = f'cx="{_number(box.centre.x)}" cy="{_number(box.centre.y)}"'
        return f'<circle {at} r="{_number(box.width / 2)}" {_fill(INK)}/>{text}'
    if shape.kind == "ellipsis":
        return text
    paint = _painted(SHADE if shape.shaded else PAPER, INK, 1.4)
    if shape.kind == "square":
        return f'<rect {_sides(box)} rx="2" {paint}/>{text}'
    if abs(box.width - box.height) < 1e-6:
        at = f'cx="{_number(box.centre.x)}" cy="{_number(box.centre.y)}"'
        return f'<circle {at} r="{_number(box.width / 2)}" {paint}/>{text}'
    return f'<rect {_sides(box)} rx="{_number(box.height / 2)}" {paint}/>{text}'


def _label(box: Box) -> str:
    colour = {"message": ACCENT, "plate": FAINT}.get(box.part, INK)
    behind = "" if box.part == "plate" else f"<rect {_sides(box)} {_fill(PAPER)}/>"
    return f"{behind}{_text(box, SMALL_SIZE, colour)}"


def _text(box: Box, size: float, colour: str, symbols: re.Pattern[str] = SYMBOL) -> str:
    x, y = box.centre
    symbol = f' font-family="{SERIF}" font-style="italic"' if symbols.fullmatch(box.label) else ""
    size = size * 1.15 if symbol else size
    baseline = y + 0.34 * size  # half the height of a capital
    return (
        f'<text x="{_number(x)}" y="{_number(baseline)}" font-size="{size:g}" '
        f'text-anchor="middle"{symbol} {_fill(colour)}>{_escaped(box.label)}</text>'
    )


def _line(line: Line, colour: str, width: float) -> str:
    curve, head = line.curve, ""
    if line.directed:
        curve, corners = _with_head(curve)
        points = " ".join(f"{_number(x)},{_number(y)}" for x, y in corners.tolist())
        head = f'<polygon points="{points}" {_fill(colour)}/>'
    stroke = f'stroke="{colour}" stroke-width="{width:g}" class="likely-stroke-{NAMES[colour]}"'
    return f'<path d="{_path(curve)}" fill="none" {stroke}/>{head}'


def _with_head(curve: Array) -> tuple[Array, Array]:
    """The curve up to the arrowhead at its end, and the head's corners."""
    tip = curve[-1]
    along = tip - next((p for p in curve[-2::-1] if np.hypot(*(tip - p)) > 1e-3), tip - [0, 1])
    along = along / np.hypot(*along)
    aside = np.array([-along[1], along[0]]) * HEAD_WIDTH / 2
    back = tip - HEAD_LENGTH * along
    shortened = curve.copy()
    shortened[-1] = tip - 0.8 * HEAD_LENGTH * along
    if _is_straight(curve):
        shortened = curve[0] + np.linspace(0, 1, 4)[:, None] * (shortened[-1] - curve[0])
    return shortened, np.stack([tip, back + aside, back - aside])


def _path(curve: Array) -> str:
    def at(point: Array) -> str:
        return f"{_number(point[0])} {_number(point[1])}"

    if _is_straight(curve):
        return f"M {at(curve[0])} L {at(curve[-1])}"
    steps = [f"C {at(b)} {at(c)} {at(d)}" for _, b, c, d in pieces_of(curve)]
    return f"M {at(curve[0])} {' '.join(steps)}"


def _is_straight(curve: Array) -> bool:
    """Whether all points are on the line between the ends."""
    along, each = curve[-1] - curve[0], curve - curve[0]
    area = np.abs(along[0] * each[:, 1] - along[1] * each[:, 0])
    return bool((area <= 0.05 * max(float(np.hypot(*along)), 1e-9)).all())


def _sides(box: Box) -> str:
    return (
        f'x="{_number(box.left)}" y="{_number(box.top)}" '
        f'width="{_number(box.width)}" height="{_number(box.height)}"'
    )


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _escaped(text: str) -> str:
    """Text for XML; characters that XML does not allow are replaced."""
    return escape(UNPRINTABLE.sub("\ufffd", text))


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
