"""Layered places: the arrows of a directed graph all point down; the columns of a network.

    rank         min Σ (r_t − r_s)  over edges s → t,  r_t − r_s ≥ 1
    order        fewer crossings, by barycentres and by swapping neighbours
    coordinates  min Σ w (x_t − x_s)²  over edges, with room between neighbours in a rank

An edge over several ranks has a bend in each rank between, so that there is room for it.

Columns side by side, such as the layers of a network, are given: ``column_places``.  The nodes of a
column are as wide as the widest of them, and every column is centred in the height of the tallest.
A line runs from the right side of a node to the left side of another, through nothing but the space
between two columns, so that no line is drawn over a node.

References
----------
Sugiyama, Tagawa & Toda, Methods for visual understanding of hierarchical system structures, 1981.
Gansner, Koutsofios, North & Vo, A technique for drawing directed graphs, 1993.
"""

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.graphical.drawing.shapes import (
    LINE_HEIGHT,
    SMALL_SIZE,
    Box,
    Line,
    Place,
    PlacedNode,
    arc,
    smooth,
    straight,
    text_width,
)

Edges = Sequence[tuple[int, int]]

NODE_GAP, BEND_GAP, RANK_GAP = 20.0, 14.0, 44.0
FLATTEST = 0.16  # of an edge between ranks: the least rise for its run
MOST_RISE = 130.0
ORDER_SWEEPS, PLACE_SWEEPS = 24, 120
SLIGHT_BULGES = (0.06, -0.06, 0.12, -0.12)
MOST_SWAPPED = 500  # nodes and bends up to which neighbours are swapped
BEND_WEIGHTS = (1.0, 3.0, 30.0)  # of a link with no, one or two ends that are bends
OTHERS_STAY = 0.2  # how much nodes that are not moved over their children stay
CHAIN_WEIGHT = 24.0  # of a link to the only node below that is no leaf: chains are straight


class Placed(NamedTuple):
    """The centre of each node, (n, 2), and for each edge the ways round what is on its line."""

    centres: Array
    detours: list[list[Array]]


@final
@dataclass(frozen=True, eq=False)
class Layers:
    """Nodes and bends in ranks: the links join neighbouring ranks."""

    ranks: list[list[int]]  # from left to right
    links: list[tuple[int, int]]
    above: list[list[int]]
    below: list[list[int]]
    bends: list[list[int]]  # of each edge, from its source to its target
    n_nodes: int


def layered(sizes: Array, edges: Edges, room: float) -> Placed:
    """Nodes of given sizes (n, 2) in layers; ``room`` stretches the gaps."""
    layers = _ordered(_layers(len(sizes), edges))
    n = len(layers.above)
    wide = np.zeros((n, 2))
    wide[: len(sizes)] = sizes
    x = _across(layers, wide[:, 0], room)
    y, band = _down(layers, x, wide[:, 1], room)
    places = np.stack([x, y], axis=1)
    detours = [
        [
            *(
                [smooth(places[[a, *bends, b]])]
                if bends
                else [arc(places[a], places[b], bulge) for bulge in SLIGHT_BULGES]
            ),
            _way_between(places, wide[:, 1], band, (a, b), bends),
        ]
        for (a, b), bends in zip(edges, layers.bends, strict=True)
    ]
    return Placed(places[: len(sizes)], detours)


def _way_between(
    places: Array, heights: Array, band: Array, edge: tuple[int, int], bends: list[int]
) -> Array:
    """A curve that is vertical within ranks, so that it meets no node of any."""
    half = np.stack([np.zeros(len(band)), band], axis=1)
    points = [places[edge[0]] + np.array([0.0, heights[edge[0]] / 2])]
    for bend in bends:
        points += [places[bend] - half[bend], places[bend] + half[bend]]
    points.append(places[edge[1]] - np.array([0.0, heights[edge[1]] / 2]))
    return smooth(np.array(points))


# ── ranks ────────────────────────────────────────────────────────────────────────────────────


def rank_of(n: int, edges: Edges) -> list[int]:
    """The rank of each node, with edges as short as they can be."""
    if not edges:
        return [0] * n
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    rows = np.repeat(np.arange(len(edges)), 2)
    ends = np.array(edges).ravel()
    signs = np.tile([1.0, -1.0], len(edges))
    longer = coo_array((signs, (rows, ends)), shape=(len(edges), n))  # r_s − r_t ≤ −1
    pull = -np.asarray(longer.sum(axis=0)).ravel()
    found = linprog(pull, A_ub=longer.tocsr(), b_ub=-np.ones(len(edges)), bounds=(0, n))
    ranks = np.rint(found.x).astype(int)
    return list((ranks - ranks.min()).tolist())


def _layers(n: int, edges: Edges) -> Layers:
    rank = rank_of(n, edges)
    links: list[tuple[int, int]] = []
    bends: list[list[int]] = []
    for source, target in edges:
        chain = list(range(len(rank), len(rank) + rank[target] - rank[source] - 1))
        rank += range(rank[source] + 1, rank[target])
        path = [source, *chain, target]
        links += pairwise(path)
        bends.append(chain)
    above: list[list[int]] = [[] for _ in rank]
    below: list[list[int]] = [[] for _ in rank]
    for up, down in links:
        above[down].append(up)
        below[up].append(down)
    return Layers(_depth_first(rank, above, below), links, above, below, bends, n)


def _depth_first(
    rank: list[int], above: list[list[int]], below: list[list[int]]
) -> list[list[int]]:
    """A first order in each rank: trees have no crossings in it."""
    ranks: list[list[int]] = [[] for _ in range(max(rank) + 1)]
    seen: set[int] = set()
    for start in sorted(range(len(rank)), key=rank.__getitem__):
        waiting = [start]
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                ranks[rank[node]].append(node)
                waiting += [other for other in above[node][::-1] if other not in seen]
                waiting += [other for other in below[node][::-1] if other not in seen]
    return ranks


# ── order ────────────────────────────────────────────────────────────────────────────────────


def _ordered(layers: Layers) -> Layers:
    """The layers in the order with the fewest crossings that was found."""
    ranks = [list(rank) for rank in layers.ranks]
    best, fewest = [list(rank) for rank in ranks], n_crossings(layers, ranks)
    for sweep in range(ORDER_SWEEPS):
        if not fewest:
            break
        near = layers.above if sweep % 2 == 0 else layers.below
        for r in range(len(ranks)) if sweep % 2 == 0 else reversed(range(len(ranks))):
            _sort_by_barycentre(ranks, r, near, backwards=sweep % 4 >= 2)
        if len(layers.above) <= MOST_SWAPPED:
            _swap_neighbours(layers, ranks)
        now = n_crossings(layers, ranks)
        if now < fewest:
            best, fewest = [list(rank) for rank in ranks], now
    return Layers(best, layers.links, layers.above, layers.below, layers.bends, layers.n_nodes)


def _sort_by_barycentre(
    ranks: list[list[int]], r: int, near: list[list[int]], *, backwards: bool
) -> None:
    """Order a rank by the mean position of each node's neighbours; ties turn round at times."""
    position = {node: i for rank in ranks for i, node in enumerate(rank)}
    rank = ranks[r][::-1] if backwards else ranks[r]

    def mean(node: int) -> float:
        if not near[node]:
            return float(position[node])
        return sum(position[other] for other in near[node]) / len(near[node])

    ranks[r] = sorted(rank, key=mean)


def _swap_neighbours(layers: Layers, ranks: list[list[int]]) -> None:
    """Swap neighbours in a rank as long as that removes crossings."""
    position = {node: i for rank in ranks for i, node in enumerate(rank)}
    better = True
    while better:
        better = False
        for rank in ranks:
            for i in range(len(rank) - 1):
                a, b = rank[i], rank[i + 1]
                gain = sum(
                    _pair_crossings(near[a], near[b], position)
                    - _pair_crossings(near[b], near[a], position)
                    for near in (layers.above, layers.below)
                )
                if gain > 0:
                    rank[i], rank[i + 1] = b, a
                    position[a], position[b] = i + 1, i
                    better = True


def _pair_crossings(left: list[int], right: list[int], position: dict[int, int]) -> int:
    """Crossings of the links of two neighbours in a rank, the one to the left of the other."""
    return sum(position[a] > position[b] for a in left for b in right)


def n_crossings(layers: Layers, ranks: list[list[int]]) -> int:
    """Crossings of links between neighbouring ranks."""
    position = {node: i for rank in ranks for i, node in enumerate(rank)}
    total = 0
    for rank in ranks:
        passed: list[int] = []  # positions below of the links so far, sorted
        for node in rank:
            ends = sorted(position[other] for other in layers.below[node])
            total += sum(len(passed) - bisect_left(passed, end + 1) for end in ends)
            for end in ends:
                insort(passed, end)
    return total


# ── coordinates ──────────────────────────────────────────────────────────────────────────────


def _across(layers: Layers, widths: Array, room: float) -> Array:
    """x of each node and bend: block coordinate descent, one rank at a time, exactly."""
    n = layers.n_nodes
    weights: list[list[tuple[int, float]]] = [[] for _ in layers.above]
    for up, down in layers.links:
        chained = _is_chain(layers, up, down)
        weight = BEND_WEIGHTS[(up >= n) + (down >= n)] * (CHAIN_WEIGHT if chained else 1.0)
        weights[up].append((down, weight))
        weights[down].append((up, weight))
    gaps = [
        [
            (widths[a] + widths[b]) / 2 + room * (NODE_GAP if max(a, b) < n else BEND_GAP)
            for a, b in pairwise(rank)
        ]
        for rank in layers.ranks
    ]
    x = np.zeros(len(layers.above))
    for rank, gap in zip(layers.ranks, gaps, strict=True):
        x[rank] = np.concatenate([[0.0], np.cumsum(gap)]) - sum(gap) / 2
    order = list(range(len(layers.ranks)))
    for sweep in range(PLACE_SWEEPS):
        for r in order if sweep % 2 == 0 else order[::-1]:
            rank = layers.ranks[r]
            total = [sum(w for _, w in weights[i]) for i in rank]
            wanted = [
                sum(w * x[other] for other, w in weights[i]) / of if of else x[i]
                for i, of in zip(rank, total, strict=True)
            ]
            x[rank] = _spaced(wanted, [of or 1.0 for of in total], gaps[r])
    _over_children(layers, x, gaps)
    return x


def _is_chain(layers: Layers, up: int, down: int) -> bool:
    """Whether a link is the only one from its upper to other than leaves, and to its lower node."""
    below = [i for i in layers.below[up] if layers.below[i]]
    return below == [down] and len(layers.above[down]) == 1


def _spaced(wanted: Sequence[float], weight: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """The best x of one rank: min Σ w (x − wanted)², x_{i+1} − x_i ≥ gap.

    (Pool adjacent violators, on x less the gaps to its left.)
    """
    blocks: list[list[float]] = []  # weight, weighted mean, number of nodes
    offsets = [0.0, *accumulate(gaps)]
    for place, w, offset in zip(wanted, weight, offsets, strict=True):
        blocks.append([w, place - offset, 1])
        while len(blocks) > 1 and blocks[-2][1] >= blocks[-1][1]:
            more, mean, n = blocks.pop()
            left = blocks[-1]
            left[1] = (left[0] * left[1] + more * mean) / (left[0] + more)
            left[0] += more
            left[2] += n
    places = [mean for _, mean, n in blocks for _ in range(int(n))]
    return [place + offset for place, offset in zip(places, offsets, strict=True)]


def _over_children(layers: Layers, x: Array, gaps: list[list[float]]) -> None:
    """Move nodes over the middle of their children, or of the next in a chain, if only theirs."""
    for rank, gap in zip(layers.ranks[::-1], gaps[::-1], strict=True):
        wanted, weight = [], []
        for node in rank:
            below = layers.below[node]
            below = [i for i in below if _is_chain(layers, node, i)] or below
            if below and all(len(layers.above[i]) == 1 for i in below):
                wanted.append(float((x[below].min() + x[below].max()) / 2))
                weight.append(1.0)
            else:
                wanted.append(float(x[node]))
                weight.append(OTHERS_STAY)
        x[rank] = _spaced(wanted, weight, gap)


def _down(layers: Layers, x: Array, heights: Array, room: float) -> tuple[Array, Array]:
    """y of each node and bend, and half the height of its rank; long runs rise higher."""
    y, band = np.zeros(len(x)), np.zeros(len(x))
    place = 0.0
    for r, rank in enumerate(layers.ranks):
        half = max(heights[rank]) / 2
        if r:
            runs = [abs(x[up] - x[down]) for down in rank for up in layers.above[down]]
            rise = min(FLATTEST * max(runs, default=0.0), MOST_RISE)
            place += half + max(RANK_GAP * room, rise)
        y[rank], band[rank] = place, half
        place += half
    return y, band


UNIT_GAP = 14.0  # between two nodes of a column
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
    gap = UNIT_GAP * room
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
    return Box.around(middle, text_width(caption, SMALL_SIZE), height, caption, "column")
