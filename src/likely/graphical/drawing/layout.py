"""Where everything goes: an arrangement, lines between the shapes, and room for each label.

Directed graphs and trees lie in layers, other graphs are spread, plates are put on a lattice, and
columns are as they were given.
A graph that falls into parts is arranged part by part.  If a label finds no free place, everything
is arranged again with more room.

Places for labels beside lines and in the corners of plates, where nothing else is.

A message is a small arrow beside its edge, to the right of its direction, and a label beyond it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.caching import cached_property
from likely.errors import InvalidInput
from likely.graphical.drawing.diagram import Diagram, Node
from likely.graphical.drawing.layered import (
    Edges,
    Placed,
    column_places,
    layered,
    lines_between_columns,
)
from likely.graphical.drawing.plate_grid import PADDING, STRIP, Cell, best_cells, on_plates
from likely.graphical.drawing.shapes import (
    BAR_MARGIN,
    BULGES,
    FONT_SIZE,
    FOOT,
    HEAD,
    LINE_HEIGHT,
    ROW,
    SMALL_SIZE,
    TABLE,
    Box,
    Drawing,
    Line,
    Place,
    PlacedNode,
    arc,
    bars_width,
    best_curve,
    between_shapes,
    box_array,
    enclosing,
    sampled,
    straight,
    text_width,
)
from likely.graphical.drawing.spread import around_centre, spread, star_centre
from likely.graphical.model.connected import connected_parts
from likely.output.formatting import count

LEAST_SIZE = 36.0  # of a circle or square
LARGEST_CIRCLE = 54.0  # up to here, all circles are as large as the widest label needs
INNER_MARGIN = 4.0  # between a label and the side of its circle
MARGIN = 14.0  # around the picture
DOT = 9.0
ARROW_GAP = 1.5  # between an arrowhead and the shape it points to
BETWEEN_PARTS = 40.0
WIDEST, TALLEST = 5.0, 2.2  # width to height, and height to width, before layers are given up
MORE_ROOM, ROOMIER, MOST_REPEATED = 1.25, 3, 150  # further tries, for so many nodes
MOST_ROOM = 20.0
CROWDED_ROOM = 4.0  # from here on, labels may lie on lines
LABELLED_ROOM = 1.6  # to begin with, where lines have labels


def arranged(diagram: Diagram) -> Drawing:
    """The diagram with a place for everything, and with no line over a node if that can be."""
    plan = _Plan(diagram)
    room = LABELLED_ROOM if plan.label_width or diagram.arrows else 1.0
    most = ROOMIER if len(diagram.nodes) <= MOST_REPEATED else 0
    tries: list[Drawing] = []
    while len(tries) <= most:
        if room > MOST_ROOM:
            raise InvalidInput(
                f"The labels of {count(len(diagram.arrows), 'message')} find no place beside the "
                "edges; a few for each edge were expected. Draw fewer at a time."
            )
        drawing = plan.drawn(room)
        tries += [] if drawing is None else [drawing]
        if drawing is not None and not drawing.n_lines_over_nodes:
            break
        room *= MORE_ROOM
    return min(tries, key=lambda each: each.n_lines_over_nodes)


@final
@dataclass(frozen=True)
class _Plan:
    """A diagram by the numbers of its nodes, with the size of each."""

    diagram: Diagram

    @cached_property
    def index(self) -> dict[str, int]:
        return {node.name: i for i, node in enumerate(self.diagram.nodes)}

    @cached_property
    def edges(self) -> list[tuple[int, int]]:
        return [(self.index[e.source], self.index[e.target]) for e in self.diagram.edges]

    @cached_property
    def sizes(self) -> Array:
        """The width and height of each node, (n, 2); short labels have circles of one size."""
        widths = [text_width(node.label, FONT_SIZE) for node in self.diagram.nodes]
        inside = [
            width
            for node, width in zip(self.diagram.nodes, widths, strict=True)
            if node.kind != "dot"
        ]
        widest = max(inside, default=0.0) + 2 * INNER_MARGIN
        common = widest if LEAST_SIZE < widest <= LARGEST_CIRCLE else LEAST_SIZE
        rows = [
            _node_size(node, width, common)
            for node, width in zip(self.diagram.nodes, widths, strict=True)
        ]
        return np.array(rows, dtype=float).reshape(len(rows), 2)

    @cached_property
    def members(self) -> list[frozenset[int]]:
        """The nodes of each plate."""
        return [
            frozenset(self.index[name] for name in plate.members) for plate in self.diagram.plates
        ]

    @cached_property
    def cells(self) -> list[Cell]:
        """The cell of each node, where there are plates."""
        return best_cells(len(self.diagram.nodes), self.edges, self.members)

    @cached_property
    def label_width(self) -> float:
        """The width of the widest label beside a line; twice, where both sides have one."""
        labels = [edge.label for edge in self.diagram.edges]
        labels += [arrow.label for arrow in self.diagram.arrows]
        ends = [frozenset((each.source, each.target)) for each in self.diagram.arrows]
        sides = 2 if len(set(ends)) < len(ends) else 1
        return sides * max((text_width(label, SMALL_SIZE) for label in labels), default=0.0)

    def drawn(self, room: float) -> Drawing | None:
        """The drawing; None where a label finds no place."""
        diagram, sizes = self.diagram, self.sizes
        captions, plates, detours = list[Box](), list[Box](), list[list[Array]]()
        if not diagram.nodes:
            return Drawing(2 * MARGIN, 2 * MARGIN, (), (), (), (), ())
        if diagram.columns:
            columns = [[self.index[name] for name in each.members] for each in diagram.columns]
            below = [each.caption for each in diagram.columns]
            kinds = [node.kind for node in diagram.nodes]
            centres, sizes, captions = column_places(columns, below, sizes, kinds, room)
        elif all(len(each) == len(diagram.nodes) for each in self.members):
            centres, detours = placed = self._in_parts(room)
            plates = _around_all(_extent(placed, sizes), len(self.members))
        else:
            labels = [plate.label for plate in diagram.plates]
            centres, plates = on_plates(self.cells, sizes, self.members, labels, room)
            detours = _arcs(centres, self.edges)
        shapes = [
            _shape(node, Place(*centre), size)
            for node, centre, size in zip(
                diagram.nodes, centres.tolist(), sizes.tolist(), strict=True
            )
        ]
        in_columns, n_over = bool(diagram.columns), 0
        if in_columns:
            lines = lines_between_columns(shapes, self.edges)
        else:
            lines, n_over = self._lines(shapes, detours)
        labelled = LabelledLines(diagram, shapes, lines, plates)
        found = label_places(labelled, free_of_lines=not in_columns and room < CROWDED_ROOM)
        if found is None:
            return None
        drawing = _from_origin(shapes, lines, found[1], plates, found[0] + captions)
        return replace(drawing, n_lines_over_nodes=n_over, in_columns=in_columns)

    def _lines(
        self, shapes: Sequence[PlacedNode], detours: list[list[Array]]
    ) -> tuple[list[Line], int]:
        """The line of each edge, and how often one runs over a node."""
        boxes = box_array([shape.box for shape in shapes])
        lines, n_over = [], 0
        for (a, b), ways, edge in zip(self.edges, detours, self.diagram.edges, strict=True):
            others = np.delete(boxes, [a, b], axis=0)
            start, end = (np.array(shapes[i].shape.centre) for i in (a, b))
            curve, hits = best_curve(straight(start, end), ways, others)
            n_over += hits
            gap = ARROW_GAP if edge.directed else 0.0
            lines.append(Line(between_shapes(curve, shapes[a], shapes[b], gap), edge.directed))
        return lines, n_over

    # ── parts ────────────────────────────────────────────────────────────────────────────────

    def _in_parts(self, room: float) -> Placed:
        """Each connected part by itself, then all of them side by side."""
        parts = connected_parts(len(self.diagram.nodes), self.edges)
        inside = [[k for k, (a, _) in enumerate(self.edges) if a in set(part)] for part in parts]
        placed = [self._part(part, links, room) for part, links in zip(parts, inside, strict=True)]
        boxes = [_extent(each, self.sizes[part]) for each, part in zip(placed, parts, strict=True)]
        centres = np.zeros((len(self.diagram.nodes), 2))
        detours: list[list[Array]] = [[] for _ in self.edges]
        shifts = _packed(boxes, BETWEEN_PARTS * min(room, 2.0))
        for each, part, links, shift in zip(placed, parts, inside, shifts, strict=True):
            centres[part] = each.centres + shift
            for k, ways in zip(links, each.detours, strict=True):
                detours[k] = [way + shift for way in ways]
        return Placed(centres, detours)

    def _part(self, part: list[int], links: list[int], room: float) -> Placed:
        """One connected part, in layers or spread."""
        at = {node: k for k, node in enumerate(part)}
        edges = [(at[self.edges[k][0]], at[self.edges[k][1]]) for k in links]
        sizes = self.sizes[part] + np.array([self.label_width, 0.0])  # room beside each line
        if self._in_layers(part, links, edges):
            placed = layered(sizes, edges, room)
            width, height = np.ptp(placed.centres, axis=0) + sizes.max(axis=0)
            if height > TALLEST * width:
                sideways = layered(sizes[:, ::-1], edges, room)
                placed = Placed(
                    sideways.centres[:, ::-1],
                    [[way[:, ::-1] for way in ways] for ways in sideways.detours],
                )
            middle = star_centre(len(part), edges)
            if width <= WIDEST * height or middle is None:
                return placed
            centres = around_centre(sizes, middle, room)
            return Placed(centres, _arcs(centres, edges))
        squares = [self.diagram.nodes[i].kind == "square" for i in part]
        centres = spread(sizes, edges, squares, room)
        return Placed(centres, _arcs(centres, edges))

    def _in_layers(self, part: list[int], links: list[int], edges: Edges) -> bool:
        wish = self.diagram.arrangement
        directed = any(self.diagram.edges[k].directed for k in links)
        if wish == "spread" or not (wish == "layers" or directed or len(links) < len(part)):
            return False
        above: dict[int, list[int]] = {}
        for a, b in edges:
            above.setdefault(b, []).append(a)
        try:
            TopologicalSorter(above).prepare()
        except CycleError:
            return False
        return True


def _node_size(node: Node, width: float, common: float) -> tuple[float, float]:
    if node.kind == "dot":  # its label is above it; the dot is in the middle
        return max(DOT, width), DOT + 2 * FONT_SIZE * LINE_HEIGHT
    if node.bars:
        high = HEAD + len(node.bars) * ROW + FOOT
        return max(width + 2 * BAR_MARGIN, bars_width(node.bars)), high
    if width + 2 * INNER_MARGIN <= common:
        return common, common
    return width + 0.8 * LEAST_SIZE, LEAST_SIZE


def _shape(node: Node, centre: Place, size: list[float]) -> PlacedNode:
    if node.kind == "dot":
        dot = Box.around(centre, DOT, DOT)
        above = Place(centre.x, centre.y - DOT / 2 - FONT_SIZE * LINE_HEIGHT / 2)
        text = Box.around(above, size[0], FONT_SIZE * LINE_HEIGHT, node.label)
        return PlacedNode(node.name, node.kind, True, dot, text)
    box = Box.around(centre, size[0], size[1], node.label)
    if node.bars:
        head = Place(centre.x, box.top + HEAD / 2)
        text = Box.around(head, size[0], HEAD, node.label)
        return PlacedNode(node.name, TABLE, node.shaded, box, text, node.bars)
    return PlacedNode(node.name, node.kind, node.shaded, box, box)


def _arcs(centres: Array, edges: Edges) -> list[list[Array]]:
    return [[arc(centres[a], centres[b], bulge) for bulge in BULGES] for a, b in edges]


def _extent(placed: Placed, sizes: Array) -> Box:
    """The box around the nodes of a part; detours stay within its layers or are near."""
    low = (placed.centres - sizes / 2).min(axis=0)
    high = (placed.centres + sizes / 2).max(axis=0)
    bends = [sampled(way) for ways in placed.detours for way in ways[:2]]
    every = np.concatenate([low[None], high[None], *bends])
    return Box(*every.min(axis=0).tolist(), *every.max(axis=0).tolist())


def _around_all(extent: Box, n_plates: int) -> list[Box]:
    """Boxes around everything, the first outermost."""
    boxes = [extent.grown(PADDING * (k + 1)) for k in range(n_plates)]
    below = [replace(box, bottom=box.bottom + STRIP * (k + 1)) for k, box in enumerate(boxes)]
    return below[::-1]


def _packed(boxes: Sequence[Box], gap: float) -> list[Array]:
    """How far each box moves so that all lie in rows, the largest first.

    If one is larger than all others together, they are in rows below it.
    """
    areas = [(box.width + gap) * (box.height + gap) for box in boxes]
    order = sorted(range(len(boxes)), key=lambda k: (-areas[k], k))
    largest = boxes[order[0]]
    limit = max(max(box.width for box in boxes), 1.6 * sum(areas) ** 0.5)
    if 2 * areas[order[0]] > sum(areas):
        limit = max(largest.width, sum(areas[1:]) ** 0.5)
    shifts = [np.zeros(2) for _ in boxes]
    x = y = tallest = 0.0
    for k in order:
        box = boxes[k]
        if x > 0 and x + box.width > limit:
            x, y, tallest = 0.0, y + tallest + gap, 0.0
        shifts[k] = np.array([x - box.left, y - box.top])
        x += box.width + gap
        tallest = max(tallest, box.height)
    return shifts


def _from_origin(
    shapes: Sequence[PlacedNode],
    lines: Sequence[Line],
    arrows: Sequence[Line],
    plates: Sequence[Box],
    labels: Sequence[Box],
) -> Drawing:
    """Everything moved so that the picture begins at (0, 0), with a margin around it."""
    bends = [sampled(line.curve) for line in (*lines, *arrows)]
    around = enclosing(
        [
            *(shape.box for shape in shapes),
            *plates,
            *labels,
            *(Box(*points.min(axis=0), *points.max(axis=0)) for points in bends),
        ]
    ).grown(MARGIN)
    x, y = -around.left, -around.top
    shift = np.array([x, y])
    return Drawing(
        around.width,
        around.height,
        tuple(
            replace(shape, shape=shape.shape.moved(x, y), text=shape.text.moved(x, y))
            for shape in shapes
        ),
        tuple(replace(line, curve=line.curve + shift) for line in lines),
        tuple(replace(line, curve=line.curve + shift) for line in arrows),
        tuple(plate.moved(x, y) for plate in plates),
        tuple(label.moved(x, y) for label in labels),
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
        free = [
            spot
            for spot in spots
            if not any(box.overlaps(other) for box in spot.reserved for other in taken)
        ]
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
            boxes = [_label_box(edge.label, *at, BESIDE, "edge") for at in _beside(line.curve)]
            yield [Spot(box, None, (box,)) for box in boxes]
    for arrow in diagram.arrows:
        curve = line_of[arrow.source, arrow.target]
        yield [_message_spot(arrow.label, *at) for at in _beside(curve)]


def _corners(label: str, plate: Box) -> list[Spot]:
    """The lower corners of a plate, the right one first."""
    width, height = text_width(label, SMALL_SIZE), SMALL_SIZE * LINE_HEIGHT
    middle = plate.bottom - CORNER / 2 - height / 2
    places = (plate.right - CORNER - width / 2, plate.left + CORNER + width / 2)
    boxes = [Box.around(Place(x, middle), width, height, label, "plate") for x in places]
    return [Spot(box, None, (box,)) for box in boxes]


def _beside(curve: Array) -> Iterator[tuple[Array, Array, Array]]:
    """Points along a curve, its direction there, and the direction away from it."""
    points = sampled(curve)
    for side in (1, -1):
        for share in ALONG:
            k = min(max(round(share * (len(points) - 1)), 1), len(points) - 2)
            along = points[k + 1] - points[k - 1]
            along = along / max(float(np.hypot(*along)), 1e-9)
            yield points[k], along, side * np.array([-along[1], along[0]])


def _message_spot(label: str, point: Array, along: Array, aside: Array) -> Spot:
    middle = point + ARROW_BESIDE * aside
    half = along * ARROW_LENGTH / 2
    line = Line(straight(middle - half, middle + half), True)
    reach = np.abs(half) + np.abs(aside) * ARROW_WIDTH / 2
    glyph = Box.around(Place(*middle.tolist()), *(2 * reach).tolist())
    if not label:
        return Spot(Box.around(Place(*middle.tolist()), 0, 0), line, (glyph,))
    away = ARROW_BESIDE + ARROW_WIDTH / 2 + BESIDE / 2
    box = _label_box(label, point, along, aside, away, "message")
    return Spot(box, line, (box.grown(LABEL_GAP), glyph))


def _label_box(label: str, point: Array, along: Array, aside: Array, away: float, part: str) -> Box:
    """The box of a label that touches a line's parallel at a distance."""
    width, height = text_width(label, SMALL_SIZE), SMALL_SIZE * LINE_HEIGHT
    centre = point + aside * (away + np.abs(aside) @ np.array([width, height]) / 2)
    return Box.around(Place(*centre.tolist()), width, height, label, part)
