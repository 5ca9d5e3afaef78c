"""Lines from shape to shape: straight ones, bent ones, and whether they run over something.

A curve is a chain of cubic Béziers, (3 k + 1, 2): end, control, control, end, control, ….
"""

from collections.abc import Iterable, Sequence

import numpy as np

from likely._typing import Array
from likely.graphical.drawing.shapes import Box, PlacedNode

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
    if shape.kind == "square":
        return np.asarray(np.maximum(dx - box.width / 2, dy - box.height / 2) <= gap)
    core = (box.width - box.height) / 2  # a stadium: the points near a horizontal segment
    return np.asarray(np.hypot(np.maximum(dx - core, 0), dy) <= box.height / 2 + gap)
