"""Plates: nodes on a lattice, so that the box around each plate holds its members and no others.

Nodes are placed one after the other, near those that they are joined to; of the partial
arrangements the best are kept (a beam search).  Plates may be nested, and may cross where they
share members.  The width of each column and the border of each plate then follow from

    x_j ≥ x_i + gap

between shapes and borders that must be apart: the longest path to each.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.graphical.drawing.layered import Edges
from likely.graphical.drawing.shapes import SMALL_SIZE, Box, text_width

BEAM, NARROWEST = 500, 8  # arrangements that are kept, over the number of nodes; at least
UPWARDS, LEFTWARDS, RIGHTWARDS, SLANTED = 1.2, 0.5, 0.35, 0.9  # costs of an edge beside its length
CROSSING, RUN_OVER = 5.0, 8.0
AREA = 0.2
COLUMN_GAP, ROW_GAP = 30.0, 26.0
PADDING, STRIP = 11.0, 19.0  # from a member to the border of its plate; of the plate's label
OUTSIDE = 12.0  # from the border of a plate to what does not belong to it

Cell = tuple[int, int]  # column, row


class Rectangle(NamedTuple):
    """The cells from the first to the last column and row, ends included."""

    left: int
    top: int
    right: int
    bottom: int

    def holds(self, cell: Cell) -> bool:
        return self.left <= cell[0] <= self.right and self.top <= cell[1] <= self.bottom

    def meets(self, other: "Rectangle") -> bool:
        return (
            self.left <= other.right
            and other.left <= self.right
            and self.top <= other.bottom
            and other.top <= self.bottom
        )


def around(cells: Iterable[Cell]) -> Rectangle:
    """The smallest rectangle that holds some cells."""
    columns, rows = zip(*cells, strict=True)
    return Rectangle(min(columns), min(rows), max(columns), max(rows))


def on_plates(
    cells: Sequence[Cell],
    sizes: Array,
    plates: Sequence[frozenset[int]],
    labels: Sequence[str],
    room: float,
) -> tuple[Array, list[Box]]:
    """The centre of each node (n, 2) in its cell, and the box around each plate."""
    columns, rows = zip(*cells, strict=True)
    spans = [around([cells[i] for i in plate]) for plate in plates]
    order = _outer_first(plates, spans)
    across = _Axis(
        np.array(columns), sizes[:, 0], [(s.left, s.right) for s in spans], COLUMN_GAP * room
    )
    down = _Axis(np.array(rows), sizes[:, 1], [(s.top, s.bottom) for s in spans], ROW_GAP * room)
    widths = [text_width(label, SMALL_SIZE) + PADDING for label in labels]
    x, left, right = across.solved(plates, order, 0.0, widths)
    y, top, bottom = down.solved(plates, order, STRIP, [0.0] * len(plates))
    boxes = [Box(*sides) for sides in zip(left, top, right, bottom, strict=True)]
    return np.stack([x[across.at], y[down.at]], axis=1), boxes


def _outer_first(plates: Sequence[frozenset[int]], spans: Sequence[Rectangle]) -> list[int]:
    """Plates that hold others before them; of plates that cross, the one of more cells first."""

    def size(k: int) -> tuple[int, int, int]:
        span = spans[k]
        cells = (span.right - span.left + 1) * (span.bottom - span.top + 1)
        return -len(plates[k]), -cells, k

    return sorted(range(len(plates)), key=size)


# ── cells ────────────────────────────────────────────────────────────────────────────────────


@final
@dataclass(frozen=True)
class _Partial:
    """Some of the nodes in their cells, and what their edges cost."""

    cells: tuple[Cell | None, ...]
    cost: float

    def total(self) -> float:
        span = around(cell for cell in self.cells if cell is not None)
        width, height = span.right - span.left + 1, span.bottom - span.top + 1
        return self.cost + AREA * width * height + 0.1 * AREA * height


def best_cells(n: int, edges: Edges, plates: Sequence[frozenset[int]]) -> list[Cell]:
    """The cell of each node in the best arrangement that was found."""
    order = _placing_order(n, edges, plates)
    first = [None if i != order[0] else (0, 0) for i in range(n)]
    beam = [_Partial(tuple(first), 0.0)]
    for node in order[1:]:
        found: dict[tuple[Cell | None, ...], _Partial] = {}
        for partial in beam:
            for cell in _free_cells(partial):
                cells = list(partial.cells)
                cells[node] = cell
                if _plates_hold(cells, plates):
                    cost = partial.cost + _added_cost(cells, node, edges)
                    found[_shifted(cells)] = _Partial(tuple(cells), cost)
        if not found:
            raise InvalidInput(
                "These plates cannot be drawn as boxes that hold their members and no others; "
                "plates that are nested or cross in one place were expected. Leave one out."
            )
        beam = sorted(found.values(), key=_Partial.total)[: max(BEAM // n, NARROWEST)]
    return [cell for cell in _shifted(beam[0].cells) if cell is not None]


def _placing_order(n: int, edges: Edges, plates: Sequence[frozenset[int]]) -> list[int]:
    """The node with most plates and edges first, then always the one most joined to those."""
    near: list[set[int]] = [set() for _ in range(n)]
    for a, b in edges:
        near[a].add(b)
        near[b].add(a)
    depth = [sum(i in plate for plate in plates) for i in range(n)]
    order: list[int] = []
    while len(order) < n:
        placed = set(order)
        rest = [i for i in range(n) if i not in placed]
        order.append(max(rest, key=lambda i: (len(near[i] & placed), depth[i], len(near[i]), -i)))
    return order


def _shifted(cells: Sequence[Cell | None]) -> tuple[Cell | None, ...]:
    """The same arrangement from column 0 and row 0 on."""
    span = around(cell for cell in cells if cell is not None)
    return tuple(cell and (cell[0] - span.left, cell[1] - span.top) for cell in cells)


def _free_cells(partial: _Partial) -> list[Cell]:
    """Cells without a node, in and around those with one."""
    taken = {cell for cell in partial.cells if cell is not None}
    span = around(taken)
    return [
        (column, row)
        for row in range(span.top - 1, span.bottom + 2)
        for column in range(span.left - 1, span.right + 2)
        if (column, row) not in taken
    ]


def _plates_hold(cells: Sequence[Cell | None], plates: Sequence[frozenset[int]]) -> bool:
    """Whether the box of each plate holds no other node, and plates without common members part."""
    spans = []
    for plate in plates:
        members = [cell for i in plate if (cell := cells[i]) is not None]
        spans.append(around(members) if members else None)
        span = spans[-1]
        if span is not None and any(
            cell is not None and i not in plate and span.holds(cell) for i, cell in enumerate(cells)
        ):
            return False
    return not any(
        one is not None and other is not None and not (plates[a] & plates[b]) and one.meets(other)
        for a, one in enumerate(spans)
        for b, other in enumerate(spans[:a])
    )


def _added_cost(cells: Sequence[Cell | None], node: int, edges: Edges) -> float:
    """The cost of the edges of a node to those placed before it, and of edges over it."""
    lines = [(a, b) for a, b in edges if cells[a] is not None and cells[b] is not None]
    cost = 0.0
    for a, b in lines:
        start, end = cells[a], cells[b]
        assert start is not None and end is not None  # lines have both ends placed
        new = node in (a, b)
        if new:
            cost += _edge_cost(start, end)
        for i, cell in enumerate(cells):
            if cell is not None and i not in (a, b) and (new or i == node):
                cost += RUN_OVER * _runs_over(start, end, cell)
        if new:
            cost += CROSSING * sum(
                node not in other and _cross(start, end, cells[other[0]], cells[other[1]])
                for other in lines
                if not {a, b} & set(other)
            )
    return cost


def _edge_cost(start: Cell, end: Cell) -> float:
    dx, dy = end[0] - start[0], end[1] - start[1]
    cost = float(dx * dx + dy * dy)
    if dx and dy:
        cost += SLANTED
    if dy < 0:
        cost += UPWARDS
    elif dy == 0:
        cost += LEFTWARDS if dx < 0 else RIGHTWARDS
    return cost


def _runs_over(start: Cell, end: Cell, cell: Cell) -> bool:
    """Whether a line passes within a third of a cell's centre."""
    along = (end[0] - start[0], end[1] - start[1])
    to = (cell[0] - start[0], cell[1] - start[1])
    square = along[0] ** 2 + along[1] ** 2
    t = (along[0] * to[0] + along[1] * to[1]) / square
    if not 0 < t < 1:
        return False
    return (to[0] - t * along[0]) ** 2 + (to[1] - t * along[1]) ** 2 < 0.12


def _cross(a: Cell, b: Cell, c: Cell | None, d: Cell | None) -> bool:
    if c is None or d is None:
        return False

    def side(p: Cell, q: Cell, r: Cell) -> int:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0


# ── lengths ──────────────────────────────────────────────────────────────────────────────────


@final
@dataclass(frozen=True, eq=False)
class _Axis:
    """Columns (or rows): where nodes and plates are among them, and how wide nodes are."""

    at: Array  # the column of each node
    sizes: Array
    spans: list[tuple[int, int]]  # the first and the last column of each plate
    gap: float

    def solved(
        self,
        plates: Sequence[frozenset[int]],
        order: Sequence[int],
        strip: float,
        least: Sequence[float],
    ) -> tuple[Array, list[float], list[float]]:
        """Positions of columns, and of the low and the high border of each plate.

        ``strip`` is the room for a label within a high border, and ``least`` its width.
        """
        n_columns, n_plates = int(self.at.max()) + 1, len(plates)
        low = range(n_columns, n_columns + n_plates)
        high = range(n_columns + n_plates, n_columns + 2 * n_plates)
        apart: list[tuple[int, int, float]] = []
        half = [self.sizes[self.at == c].max(initial=0.0) / 2 for c in range(n_columns)]
        apart += [(c, c + 1, half[c] + self.gap + half[c + 1]) for c in range(n_columns - 1)]
        for k, plate in enumerate(plates):
            apart.append((self.spans[k][1], high[k], least[k]))  # beside a line in the last column
            for i, column in enumerate(self.at.tolist()):
                reach = self.sizes[i] / 2
                if i in plate:
                    apart.append((low[k], column, PADDING + reach))
                    apart.append((column, high[k], reach + PADDING + strip))
                elif column < self.spans[k][0]:
                    apart.append((column, low[k], reach + OUTSIDE))
                elif column > self.spans[k][1]:
                    apart.append((high[k], column, OUTSIDE + reach))
        for a, outer in enumerate(order):
            for inner in order[a + 1 :]:
                apart += self._between(plates, outer, inner, strip, low, high)
        places = _longest_paths(n_columns + 2 * n_plates, apart)
        slack = _tightened(places, apart, low)
        return slack[:n_columns], list(slack[list(low)]), list(slack[list(high)])

    def _between(
        self,
        plates: Sequence[frozenset[int]],
        outer: int,
        inner: int,
        strip: float,
        low: range,
        high: range,
    ) -> list[tuple[int, int, float]]:
        """What two plates ask of each other's borders."""
        if not plates[outer] & plates[inner]:
            if self.spans[outer][1] < self.spans[inner][0]:
                return [(high[outer], low[inner], OUTSIDE)]
            if self.spans[inner][1] < self.spans[outer][0]:
                return [(high[inner], low[outer], OUTSIDE)]
            return []
        nested = plates[inner] <= plates[outer]
        asked = []
        if nested or self.spans[outer][0] == self.spans[inner][0]:
            asked.append((low[outer], low[inner], PADDING))
        if nested or self.spans[outer][1] == self.spans[inner][1]:
            asked.append((high[inner], high[outer], PADDING / 2 + strip))
        return asked


def _longest_paths(n: int, apart: Sequence[tuple[int, int, float]]) -> Array:
    """The least positions with x_j ≥ x_i + gap for every (i, j, gap)."""
    places = np.zeros(n)
    for _ in range(n + 1):
        moved = False
        for i, j, gap in apart:
            if places[j] < places[i] + gap - 1e-9:
                places[j] = places[i] + gap
                moved = True
        if not moved:
            break
    return places


def _tightened(places: Array, apart: Sequence[tuple[int, int, float]], low: range) -> Array:
    """Low borders as close to their members as they can be."""
    places = places.copy()
    for _ in low:
        for k in low:
            limits = [places[j] - gap for i, j, gap in apart if i == k]
            places[k] = min(limits)
    return places
