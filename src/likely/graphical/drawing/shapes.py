"""A diagram with a place for everything: the shapes, lines and labels that are drawn.

Lengths are in pixels, x to the right and y downwards, as in SVG.

Lines from shape to shape: straight ones, bent ones, and whether they run over something.
A curve is a chain of cubic Béziers, (3 k + 1, 2): end, control, control, end, control, ….

As SVG it is one element that needs no other file, readable on light and dark pages.  Colours are
attributes, which every program understands; a style for dark pages overrides them.  Its rules name
classes that begin with ``likely-``, so that they change nothing else on a page.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array

FONT_SIZE = 15.0
SMALL_SIZE = 12.0  # labels of plates, edges and messages
LINE_HEIGHT = 1.3  # of the font size
# Widths of characters as shares of the font size, no smaller than those of Arial, Verdana and
# DejaVu Sans, so that text is never wider than its box.
WIDTHS = (
    ("il'|.,:;!ıj", 0.40),
    ('ftrIJ()[]{}/\\"-` ', 0.49),
    ("mwMW%@", 1.05),
    ("+<>=~^#¬±×→←−–", 0.88),
    ("…—", 1.05),
)
WIDTH_OF = {character: width for characters, width in WIDTHS for character in characters}
SUBSCRIPT, DIGIT, UPPER, OTHER, FULL = 0.50, 0.66, 0.85, 0.70, 1.05


TABLE = "table"  # the kind of a node with a bar for each state
HEAD, ROW, FOOT = 26.0, 17.0, 4.0  # heights: of its label, of a state, and below them
BAR, BAR_MARGIN, NUMBER = 70.0, 10.0, "0.000"  # widths: of a probability of 1, of a side; a number


class Place(NamedTuple):
    """A place in the picture."""

    x: float
    y: float


@final
@dataclass(frozen=True)
class Box:
    """A rectangle, and what is in it: ``part`` is node, edge, message or plate."""

    left: float
    top: float
    right: float
    bottom: float
    label: str = ""
    part: str = "node"

    @classmethod
    def around(
        cls, centre: Place, width: float, height: float, label: str = "", part: str = "node"
    ) -> "Box":
        x, y = centre
        return cls(x - width / 2, y - height / 2, x + width / 2, y + height / 2, label, part)

    @property
    def centre(self) -> Place:
        return Place((self.left + self.right) / 2, (self.top + self.bottom) / 2)

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    def overlaps(self, other: "Box") -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def grown(self, by: float) -> "Box":
        sides = (self.left - by, self.top - by, self.right + by, self.bottom + by)
        return Box(*sides, self.label, self.part)

    def moved(self, x: float, y: float) -> "Box":
        sides = (self.left + x, self.top + y, self.right + x, self.bottom + y)
        return Box(*sides, self.label, self.part)


@final
@dataclass(frozen=True)
class PlacedNode:
    """A node in its place; the label is centred in ``text``, which is the shape or beside it."""

    name: str
    kind: str
    shaded: bool
    shape: Box
    text: Box
    bars: tuple[tuple[str, float], ...] = ()  # states and their probabilities, below the text

    @property
    def box(self) -> Box:
        return enclosing((self.shape, self.text), self.text.label)


@final
@dataclass(frozen=True, eq=False)
class Line:
    """An edge in its place: cubic Bézier curves joined end to end, (3 k + 1, 2)."""

    curve: Array
    directed: bool


@final
@dataclass(frozen=True)
class Drawing:
    """Everything in its place, from (0, 0) to (width, height)."""

    width: float
    height: float
    shapes: tuple[PlacedNode, ...]
    lines: tuple[Line, ...]
    arrows: tuple[Line, ...]  # beside the lines: messages
    plates: tuple[Box, ...]
    labels: tuple[Box, ...]  # of edges, messages and plates
    n_lines_over_nodes: int = 0
    in_columns: bool = False

    def boxes(self) -> tuple[Box, ...]:
        """The rectangle of each node and of each label outside a node."""
        return (*(shape.box for shape in self.shapes), *self.labels)


def enclosing(boxes: Iterable[Box], label: str = "") -> Box:
    """The smallest box around all."""
    every = tuple(boxes)
    return Box(
        min(box.left for box in every),
        min(box.top for box in every),
        max(box.right for box in every),
        max(box.bottom for box in every),
        label,
    )


def text_width(text: str, size: float) -> float:
    """An upper bound on the width of a line of text."""
    return size * sum(_character_width(character) for character in text)


def _character_width(character: str) -> float:
    if character in WIDTH_OF:
        return WIDTH_OF[character]
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return FULL
    if unicodedata.decomposition(character).startswith(("<sub>", "<super>")):
        return SUBSCRIPT
    if character.isdigit():
        return DIGIT
    return UPPER if character.isupper() or not character.isalpha() else OTHER


def bars_width(bars: Sequence[tuple[str, float]]) -> float:
    """The width of a node with the names of its states, their bars and their probabilities."""
    names = max(text_width(state, SMALL_SIZE) for state, _ in bars)
    return names + BAR + text_width(NUMBER, SMALL_SIZE) + 4 * BAR_MARGIN


SAMPLES = 24  # points of each Bézier that are looked at
CLEARANCE = 4.0  # between a line and a shape that it passes
BULGES = (0.12, -0.12, 0.22, -0.22, 0.35, -0.35, 0.5, -0.5)  # of a detour, in lengths of the line
HALVINGS = 30


def straight(start: Array, end: Array) -> Array:
    """A straight line as a Bézier curve."""
    return start + np.linspace(0, 1, 4)[:, None] * (end - start)


def arc(start: Array, end: Array, bulge: float) -> Array:
    """A curve that swings out to its left by a share of its length."""
    along = end - start
    aside = np.array([along[1], -along[0]]) * bulge * 4 / 3
    return np.stack([start, start + along / 4 + aside, end - along / 4 + aside, end])


def smooth(points: Array) -> Array:
    """A curve through points whose y increases, straight where they are, without overshooting.

    (Slopes as in Fritsch & Carlson, 1980.)
    """
    steps = np.diff(points, axis=0)
    slope = steps[:, 0] / steps[:, 1]  # dx/dy
    inner = np.zeros(len(points))
    inner[0], inner[-1] = slope[0], slope[-1]
    before, after = slope[:-1], slope[1:]
    same = before * after > 0
    inner[1:-1][same] = 2 * before[same] * after[same] / (before[same] + after[same])
    chain = [points[:1]]
    for k, (_, height) in enumerate(steps):
        third = height / 3
        chain.append(points[k] + third * np.array([[inner[k], 1.0]]))
        chain.append(points[k + 1] - third * np.array([[inner[k + 1], 1.0]]))
        chain.append(points[k + 1 : k + 2])
    return np.concatenate(chain)


def sampled(curve: Array) -> Array:
    """Points along a curve, (n, 2)."""
    t = np.linspace(0, 1, SAMPLES)[:, None]
    pieces = [
        (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d
        for a, b, c, d in pieces_of(curve)
    ]
    return np.concatenate(pieces)


def pieces_of(curve: Array) -> list[Array]:
    """The Béziers of a curve, each (4, 2)."""
    return [curve[k : k + 4] for k in range(0, len(curve) - 1, 3)]


def n_hits(curve: Array, boxes: Array) -> int:
    """How many boxes (left, top, right, bottom) a curve runs over."""
    if not len(boxes):
        return 0
    points = sampled(curve)
    x, y = points[:, :1], points[:, 1:]
    left, top, right, bottom = (boxes + CLEARANCE * np.array([-1, -1, 1, 1])).T
    return int(((x > left) & (x < right) & (y > top) & (y < bottom)).any(axis=0).sum())


def best_curve(straight_line: Array, detours: Iterable[Array], boxes: Array) -> tuple[Array, int]:
    """The straight line if nothing is in its way, else the detour over the fewest boxes."""
    best, fewest = straight_line, n_hits(straight_line, boxes)
    for curve in detours:
        if not fewest:
            break
        hits = n_hits(curve, boxes)
        if hits < fewest:
            best, fewest = curve, hits
    return best, fewest


def box_array(boxes: Sequence[Box]) -> Array:
    """Boxes as rows (left, top, right, bottom)."""
    rows = [(box.left, box.top, box.right, box.bottom) for box in boxes]
    return np.array(rows, dtype=float).reshape(len(rows), 4)


def between_shapes(curve: Array, source: PlacedNode, target: PlacedNode, gap: float) -> Array:
    """The part of a curve from the border of one shape to the border of another."""
    return _from_border(_from_border(curve, source, 0.0)[::-1], target, gap)[::-1]


def _from_border(curve: Array, shape: PlacedNode, gap: float) -> Array:
    """A curve that starts in a shape, cut where it leaves it."""
    points = sampled(curve)
    outside = ~_inside(points, shape, gap)
    first = int(outside.argmax())
    if not outside.any() or first == 0:
        return curve
    piece, step = divmod(first, SAMPLES)
    low, high = max(step - 1, 0) / (SAMPLES - 1), step / (SAMPLES - 1)
    bezier = curve[3 * piece : 3 * piece + 4]
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _inside(_split(bezier, middle)[:1], shape, gap)[0]:
            low = middle
        else:
            high = middle
    return np.concatenate([_split(bezier, high), curve[3 * piece + 4 :]])


def _split(bezier: Array, t: float) -> Array:
    """The part of a Bézier after t.  (De Casteljau's algorithm.)"""
    rest = [bezier[3]]
    while len(bezier) > 1:
        bezier = bezier[:-1] + t * np.diff(bezier, axis=0)
        rest.append(bezier[-1])
    return np.array(rest[::-1])


def _inside(points: Array, shape: PlacedNode, gap: float) -> Array:
    """Whether points are in a shape, or nearer to it than a gap."""
    box = shape.shape
    dx, dy = np.abs(points - np.array(box.centre)).T
    if shape.kind in ("square", TABLE):
        return np.asarray(np.maximum(dx - box.width / 2, dy - box.height / 2) <= gap)
    core = (box.width - box.height) / 2  # a stadium: the points near a horizontal segment
    return np.asarray(np.hypot(np.maximum(dx - core, 0), dy) <= box.height / 2 + gap)


# ── SVG ─────────────────────────────────────────────────────────────────────────────────────


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


def svg_text(drawing: Drawing, title: str) -> str:
    """The picture as one SVG element."""
    labels = [shape.text.label for shape in drawing.shapes if shape.kind == "circle"]
    symbols = NUMBERED if all(NUMBERED.fullmatch(label) for label in labels) else SYMBOL
    line_style = (INK, 1.4)
    if drawing.in_columns:  # there are many lines between two columns
        line_style = (FAINT, 0.9 if len(drawing.lines) <= MANY_LINES else 0.6)
    width, height = _number(drawing.width), _number(drawing.height)
    dark = "".join(
        f".likely-fill-{NAMES[light]}{{fill:{dark}}}.likely-stroke-{NAMES[light]}{{stroke:{dark}}}"
        for light, dark in DARK.items()
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" class="likely-picture" role="img" '
        f'font-family="{SANS}">',
        f"<style>{ON_SCREEN}@media (prefers-color-scheme: dark){{{dark}}}</style>",
        *([f"<title>{_escaped(title)}</title>"] if title else []),
        f'<rect width="{width}" height="{height}" {_fill(PAPER)}/>',
        *(f'<rect {_sides(box)} rx="7" {_stroke(FAINT, 1.2)}/>' for box in drawing.plates),
        *(_line(line, *line_style) for line in drawing.lines),
        *(_line(line, ACCENT, 1.6) for line in drawing.arrows),
        *(_shape(shape, symbols) for shape in drawing.shapes),
        *(_label(box) for box in drawing.labels),
        "</svg>",
    ]
    return "\n".join(parts)


def _fill(colour: str) -> str:
    return f'fill="{colour}" class="likely-fill-{NAMES[colour]}"'


def _stroke(colour: str, width: float, fill: str = "") -> str:
    """The attributes of a border, and of what is within it."""
    classes = f"likely-fill-{NAMES[fill]} " if fill else ""
    return (
        f'fill="{fill or "none"}" stroke="{colour}" stroke-width="{width:g}" '
        f'class="{classes}likely-stroke-{NAMES[colour]}"'
    )


def _shape(shape: PlacedNode, symbols: re.Pattern[str]) -> str:
    box, text = shape.shape, _text(shape.text, FONT_SIZE, INK, symbols)
    if shape.kind == "dot":
        at = f'cx="{_number(box.centre.x)}" cy="{_number(box.centre.y)}"'
        return f'<circle {at} r="{_number(box.width / 2)}" {_fill(INK)}/>{text}'
    if shape.kind == "ellipsis":
        return text
    paint = _stroke(INK, 1.4, SHADE if shape.shaded else PAPER)
    if shape.kind == TABLE:
        return f'<rect {_sides(box)} rx="8" {paint}/>{text}{_bars(shape)}'
    if shape.kind == "square":
        return f'<rect {_sides(box)} rx="2" {paint}/>{text}'
    if abs(box.width - box.height) < 1e-6:
        at = f'cx="{_number(box.centre.x)}" cy="{_number(box.centre.y)}"'
        return f'<circle {at} r="{_number(box.width / 2)}" {paint}/>{text}'
    return f'<rect {_sides(box)} rx="{_number(box.height / 2)}" {paint}/>{text}'


def _bars(shape: PlacedNode) -> str:
    """A row for each state: its name, a bar as long as its probability, and the number."""
    box, left = shape.shape, shape.shape.left + BAR_MARGIN
    end = box.right - 2 * BAR_MARGIN - text_width(NUMBER, SMALL_SIZE)  # of a probability of 1
    parts = []
    for k, (state, probability) in enumerate(shape.bars):
        top = box.top + HEAD + k * ROW
        y, high = _number(top + ROW / 2 + 0.34 * SMALL_SIZE), ROW - 6
        whole = Box(end - BAR, top + 2, end, top + 2 + high)
        filled = Box(end - BAR, top + 2, end - BAR + BAR * probability, top + 2 + high)
        words = f'y="{y}" font-size="{SMALL_SIZE:g}" {_fill(INK)}'
        parts += [
            f'<text x="{_number(left)}" text-anchor="start" {words}>{_escaped(state)}</text>',
            f"<rect {_sides(whole)} {_stroke(FAINT, 0.6)}/>",
            f"<rect {_sides(filled)} {_fill(ACCENT)}/>",
            f'<text x="{_number(box.right - BAR_MARGIN)}" text-anchor="end" {words}>'
            f"{probability:.3f}</text>",
        ]
    return "".join(parts)


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
    return f'<path d="{_path(curve)}" {_stroke(colour, width)}/>{head}'


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
