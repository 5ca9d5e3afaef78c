"""Places for labels beside lines and in the corners of plates, where nothing else is.

A message is a small arrow beside its edge, to the right of its direction, and a label beyond it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.caching import cached_property
from likely.graphical.diagrams.curves import sampled, straight
from likely.graphical.diagrams.diagram import Diagram
from likely.graphical.diagrams.drawing import (
    LINE_HEIGHT,
    SMALL_SIZE,
    Box,
    Line,
    Place,
    PlacedNode,
    text_width,
)

ALONG = tuple(0.5 + side * 0.05 * k for k in range(8) for side in (-1, 1)[: k + 1])  # of a line
BESIDE = 4.0  # between a line and a label
ARROW_BESIDE, ARROW_LENGTH, ARROW_WIDTH = 8.0, 26.0, 8.0
LABEL_GAP = 2.0  # around the label of a message
CORNER = 5.0  # between the label of a plate and its border


class Spot(NamedTuple):
    """A place for a label, and the arrow that goes with it."""

    label: Box
    arrow: Line | None
    reserved: tuple[Box, ...]  # what may not be overlapped


@final
@dataclass(frozen=True, eq=False)
class LabelledLines:
    """A diagram whose nodes, lines and plates have their places."""

    diagram: Diagram
    shapes: Sequence[PlacedNode]
    lines: Sequence[Line]
    plates: Sequence[Box]

    @cached_property
    def points(self) -> tuple[Array, Array]:
        """Points along all lines, (n, 2), and the line of each."""
        if not self.lines:
            return np.zeros((0, 2)), np.zeros(0, dtype=int)
        each = [sampled(line.curve) for line in self.lines]
        return np.concatenate(each), np.repeat(np.arange(len(each)), [len(p) for p in each])

    def n_lines_in(self, box: Box) -> int:
        """How many lines run through a box."""
        points, of = self.points
        x, y = points.T
        inside = (x > box.left) & (x < box.right) & (y > box.top) & (y < box.bottom)
        return len(set(of[inside].tolist()))


def label_places(
    labelled: LabelledLines, *, free_of_lines: bool
) -> tuple[list[Box], list[Line]] | None:
    """A box for each label outside a node, and the arrows of messages; None if one has no room."""
    taken = [shape.box for shape in labelled.shapes]
    labels: list[Box] = []
    arrows: list[Line] = []
    for spots in _all_spots(labelled):
        free = [spot for spot in spots if not _meets(spot.reserved, taken)]
        if not free:
            return None
        on_lines = [labelled.n_lines_in(spot.label) for spot in free]
        if free_of_lines and min(on_lines) and free[0].label.part != "plate":
            return None
        spot = free[on_lines.index(min(on_lines))]
        taken += spot.reserved
        labels += [spot.label] if spot.label.label else []
        arrows += [spot.arrow] if spot.arrow is not None else []
    return labels, arrows


def _meets(boxes: Sequence[Box], taken: Sequence[Box]) -> bool:
    return any(box.overlaps(other) for box in boxes for other in taken)


def _all_spots(labelled: LabelledLines) -> Iterator[list[Spot]]:
    """The places that each label may have, the best first."""
    diagram = labelled.diagram
    for plate, box in zip(diagram.plates, labelled.plates, strict=True):
        yield _corners(plate.label, box)
    line_of: dict[tuple[str, str], Array] = {}
    for edge, line in zip(diagram.edges, labelled.lines, strict=True):
        line_of[edge.source, edge.target] = line.curve
        line_of[edge.target, edge.source] = line.curve[::-1]
        if edge.label:
            yield [_edge_spot(edge.label, *at) for at in _beside(line.curve, sides=(1, -1))]
    for arrow in diagram.arrows:
        curve = line_of[arrow.source, arrow.target]
        yield [_message_spot(arrow.label, *at) for at in _beside(curve, sides=(1, -1))]


def _corners(label: str, plate: Box) -> list[Spot]:
    """The lower corners of a plate, the right one first."""
    width, height = text_width(label, SMALL_SIZE), SMALL_SIZE * LINE_HEIGHT
    middle = plate.bottom - CORNER / 2 - height / 2
    places = (plate.right - CORNER - width / 2, plate.left + CORNER + width / 2)
    boxes = [Box.around(Place(x, middle), width, height) for x in places]
    named = [replace(box, label=label, part="plate") for box in boxes]
    return [Spot(box, None, (box,)) for box in named]


def _beside(curve: Array, sides: Sequence[int]) -> Iterator[tuple[Array, Array, Array]]:
    """Points along a curve, its direction there, and the direction away from it."""
    points = sampled(curve)
    for side in sides:
        for share in ALONG:
            k = min(max(round(share * (len(points) - 1)), 1), len(points) - 2)
            along = points[k + 1] - points[k - 1]
            along = along / max(float(np.hypot(*along)), 1e-9)
            yield points[k], along, side * np.array([-along[1], along[0]])


def _edge_spot(label: str, point: Array, along: Array, aside: Array) -> Spot:
    box = replace(_label_box(label, point, aside, BESIDE), part="edge")
    return Spot(box, None, (box,))


def _message_spot(label: str, point: Array, along: Array, aside: Array) -> Spot:
    middle = point + ARROW_BESIDE * aside
    half = along * ARROW_LENGTH / 2
    line = Line(straight(middle - half, middle + half), True)
    reach = np.abs(half) + np.abs(aside) * ARROW_WIDTH / 2
    glyph = Box.around(Place(*middle.tolist()), *(2 * reach).tolist())
    if not label:
        return Spot(Box.around(Place(*middle.tolist()), 0, 0), line, (glyph,))
    box = _label_box(label, point, aside, ARROW_BESIDE + ARROW_WIDTH / 2 + BESIDE / 2)
    return Spot(replace(box, part="message"), line, (box.grown(LABEL_GAP), glyph))


def _label_box(label: str, point: Array, aside: Array, away: float) -> Box:
    """The box of a label that touches a line's parallel at a distance."""
    size = np.array([text_width(label, SMALL_SIZE), SMALL_SIZE * LINE_HEIGHT])
    centre = point + aside * (away + np.abs(aside) @ size / 2)
    return replace(Box.around(Place(*centre.tolist()), *size.tolist()), label=label)
