"""A diagram with a place for everything: the shapes, lines and labels that are drawn.

Lengths are in pixels, x to the right and y downwards, as in SVG.
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple, final

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
    def around(cls, centre: Place, width: float, height: float) -> "Box":
        x, y = centre
        return cls(x - width / 2, y - height / 2, x + width / 2, y + height / 2)

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
        return replace(
            self,
            left=self.left - by,
            top=self.top - by,
            right=self.right + by,
            bottom=self.bottom + by,
        )

    def moved(self, x: float, y: float) -> "Box":
        return replace(
            self,
            left=self.left + x,
            top=self.top + y,
            right=self.right + x,
            bottom=self.bottom + y,
        )


@final
@dataclass(frozen=True)
class PlacedNode:
    """A node in its place; the label is centred in ``text``, which is the shape or beside it."""

    name: str
    kind: str
    shaded: bool
    shape: Box
    text: Box

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
