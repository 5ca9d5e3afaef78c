"""Columns side by side, such as the layers of a network: their nodes, lines and captions.

The nodes of a column are as wide as the widest of them, and every column is centred in the height
of the tallest.  A line runs from the right side of a node to the left side of another, through
nothing but the space between two columns, so that no line is drawn over a node.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from likely._typing import Array
from likely.graphical.diagrams.curves import straight
from likely.graphical.diagrams.drawing import (
    LINE_HEIGHT,
    SMALL_SIZE,
    Box,
    Line,
    Place,
    PlacedNode,
    text_width,
)
from likely.graphical.diagrams.layered import Edges

NODE_GAP = 14.0  # between two nodes of a column
CAPTION_GAP = 18.0  # between captions, and between nodes and captions
LEAST_GAP = 90.0  # between two columns
STEEPEST = 2.4  # height to width of the lines between two columns


def column_places(
    columns: Sequence[Sequence[int]],
    captions: Sequence[str],
    sizes: Array,
    kinds: Sequence[str],
    room: float = 1.0,
) -> tuple[Array, Array, list[Box]]:
    """The centre and the size of each node, (n, 2), and the box of each caption that has text.

    A column without nodes is the space between its neighbours, and its caption is a line lower.
    ``room`` stretches the gaps.
    """
    sizes = _of_equal_width(columns, sizes, kinds)
    gap = NODE_GAP * room
    heights = [_height(sizes[list(column)], gap) for column in columns]
    filled = [k for k, column in enumerate(columns) if len(column)]
    x = _column_centres(columns, captions, sizes, heights, room)
    centres = np.zeros_like(sizes)
    for k in filled:
        y = -heights[k] / 2
        for node in columns[k]:
            aside = (sizes[list(columns[k]), 0].max() - sizes[node, 0]) / 2
            # a constant lies on the right: its lines would run over the nodes below it otherwise
            centres[node] = x[k] + (aside if kinds[node] == "dot" else 0.0), y + sizes[node, 1] / 2
            y += sizes[node, 1] + gap
    floor = max(heights, default=0.0) / 2 + CAPTION_GAP
    boxes = [_caption(captions[k], x[k], floor, lower=k not in filled) for k in range(len(columns))]
    return centres, sizes, [box for box in boxes if box.label]


def lines_between_columns(shapes: Sequence[PlacedNode], edges: Edges) -> list[Line]:
    """A straight line for each edge, from side to side; arrowheads would hide each other."""
    lines = []
    for a, b in edges:
        ends = [_side(shapes[a], towards=shapes[b]), _side(shapes[b], towards=shapes[a])]
        lines.append(Line(straight(*ends), directed=False))
    return lines


def _side(shape: PlacedNode, *, towards: PlacedNode) -> Array:
    """The middle of the side of a shape that faces another; of a dot, its centre."""
    x, y = shape.shape.centre
    if shape.kind != "dot":
        x = shape.shape.right if x < towards.shape.centre.x else shape.shape.left
    return np.array([x, y])


def _of_equal_width(columns: Sequence[Sequence[int]], sizes: Array, kinds: Sequence[str]) -> Array:
    """The sizes, with all shapes of a column as wide as its widest; constants as they are."""
    sizes = sizes.copy()
    for column in columns:
        shapes = [node for node in column if kinds[node] in ("circle", "square")]
        if shapes:
            sizes[shapes] = sizes[shapes].max(axis=0)
    return sizes


def _height(sizes: Array, gap: float) -> float:
    return float(sizes[:, 1].sum() + gap * max(len(sizes) - 1, 0))


def _column_centres(
    columns: Sequence[Sequence[int]],
    captions: Sequence[str],
    sizes: Array,
    heights: Sequence[float],
    room: float,
) -> dict[int, float]:
    """x of each column; columns without nodes are in the middle between their neighbours."""
    x: dict[int, float] = {}
    filled = [k for k, column in enumerate(columns) if len(column)]
    widths = [text_width(caption, SMALL_SIZE) for caption in captions]
    for place, k in enumerate(filled):
        width = float(sizes[list(columns[k]), 0].max())
        if place == 0:
            x[k], before = 0.0, width
            continue
        last = filled[place - 1]
        gap = room * max(LEAST_GAP, (heights[last] + heights[k]) / 2 / STEEPEST)
        between = max((widths[j] for j in range(last + 1, k)), default=0.0) + CAPTION_GAP
        beside = (widths[last] + widths[k]) / 2 + CAPTION_GAP
        x[k] = x[last] + max((before + width) / 2 + gap, between, beside)
        x |= dict.fromkeys(range(last + 1, k), (x[last] + x[k]) / 2)
        before = width
    for k in range(len(columns)):  # before the first and after the last there is nothing between
        x.setdefault(k, x[min(filled, key=lambda j: abs(j - k))] if filled else 0.0)
    return x


def _caption(caption: str, x: float, floor: float, *, lower: bool) -> Box:
    height = SMALL_SIZE * LINE_HEIGHT
    middle = Place(x, floor + height / 2 + (1.2 * height if lower else 0.0))
    box = Box.around(middle, text_width(caption, SMALL_SIZE), height)
    return replace(box, label=caption, part="column")
