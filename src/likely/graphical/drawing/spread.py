"""Graphs without a direction: neighbours are close, others far, and nothing overlaps.

    stress = Σ_{i<j} d_ij⁻² (‖x_i − x_j‖ − d_ij)²,  d_ij the length of the shortest path

Lattices become lattices and single cycles become circles.  A factor of two variables lies between
them, and a factor of one variable beside it, so that a factor graph of pairs looks as its field.

References
----------
Gansner, Koren & North, Graph drawing by stress majorization, 2004.
"""

from collections.abc import Sequence

import numpy as np

from likely._typing import Array
from likely.graphical.drawing.layered import Edges

GAP = 46.0  # between the shapes at the ends of an edge
BESIDE = 16.0  # between a variable and a factor of it alone
APART = 14.0  # the least between any two shapes
MOST_ON_CIRCLE = 12
STARTS, STEPS = 6, 150
MOST_COMPARED = 400  # edges up to which crossings choose between starts
PUSHES, EDGE_ROUNDS = 400, 40
SCALE_STEP = 1.05


def spread(sizes: Array, edges: Edges, squares: Sequence[bool], room: float) -> Array:
    """The centre of each node of a connected graph, (n, 2)."""
    near = neighbours_of(len(sizes), edges)
    joints = _joints(near, squares)
    if joints is None:
        places = _positions(sizes, edges, room)
    else:
        places = _with_joints(sizes, near, joints, room)
    return without_overlaps(places, sizes, edges, APART * room)


def neighbours_of(n: int, edges: Edges) -> list[list[int]]:
    """The neighbours of each node, in order."""
    near: list[list[int]] = [[] for _ in range(n)]
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    return [sorted(others) for others in near]


def _joints(near: list[list[int]], squares: Sequence[bool]) -> list[int] | None:
    """The squares, where each has one or two neighbours that are not squares; else nothing."""
    found = [i for i, square in enumerate(squares) if square]
    simple = all(
        len(near[i]) in (1, 2) and not any(squares[other] for other in near[i]) for i in found
    )
    return found if found and simple else None


def _with_joints(sizes: Array, near: list[list[int]], joints: list[int], room: float) -> Array:
    """Variables first; then factors of two between them, and factors of one beside them."""
    inner = [i for i in range(len(sizes)) if i not in set(joints)]
    at = {node: k for k, node in enumerate(inner)}
    pairs = [joint for joint in joints if len(near[joint]) == 2]
    links = [(at[i], at[other]) for i in inner for other in near[i] if i < other and other in at]
    links = list(dict.fromkeys([*links, *((at[near[j][0]], at[near[j][1]]) for j in pairs)]))
    extra = max((float(sizes[j].max()) for j in pairs), default=0.0) + GAP * room * 0.6
    places = np.zeros((len(sizes), 2))
    places[inner] = _positions(sizes[inner], links, room, extra)
    beside: dict[tuple[int, int], int] = {}
    for joint in pairs:
        a, b = near[joint]
        k = beside[a, b] = beside.get((a, b), -1) + 1
        along = places[b] - places[a]
        aside = np.array([-along[1], along[0]]) / max(np.hypot(*along), 1e-9)
        step = (k + 1) // 2 * (1 if k % 2 else -1) * (sizes[joint].max() + APART)
        places[joint] = (places[a] + places[b]) / 2 + step * aside
    taken = {i: [other for other in near[i] if len(near[other]) == 2] for i in inner}
    middle = places[inner].mean(axis=0)
    for joint in joints:
        if len(near[joint]) == 1:
            of = near[joint][0]
            direction = _free_direction(places[of], places[taken[of]], middle)
            reach = (sizes[of] + sizes[joint]) / 2 + BESIDE * room
            places[joint] = places[of] + direction * _distance(reach, direction)
            taken[of].append(joint)
    return places


def _free_direction(place: Array, others: Array, middle: Array) -> Array:
    """The middle of the widest angle between others, away from the middle if several are wide."""
    outward = place - middle
    away = float(np.arctan2(outward[1], outward[0])) if np.hypot(*outward) > 1 else -np.pi / 2
    used = sorted(float(np.arctan2(y, x)) % (2 * np.pi) for x, y in others - place)
    best = away
    if used:
        free = []
        for low, high in zip(used, [*used[1:], used[0] + 2 * np.pi], strict=True):
            centre = (low + high) / 2
            turned = abs((centre - away + np.pi) % (2 * np.pi) - np.pi)
            free.append((round(high - low, 6), -turned, centre))
        best = max(free)[2]
    return np.array([np.cos(best), np.sin(best)])


def _distance(reach: Array, direction: Array) -> float:
    """How far along a direction two boxes of these half sizes together are apart."""
    with np.errstate(divide="ignore"):
        return float(np.min(reach / np.abs(direction)))


# ── stars ────────────────────────────────────────────────────────────────────────────────────


def star_centre(n: int, edges: Edges) -> int | None:
    """The node that all others, and nothing else, are joined to."""
    near = neighbours_of(n, edges)
    middle = max(range(n), key=lambda i: len(near[i]))
    return middle if n > 2 and len(edges) == n - 1 == len(near[middle]) else None


def around_centre(sizes: Array, middle: int, room: float) -> Array:
    """The nodes of a star on an ellipse around its centre, closer where they are less wide."""
    others = [i for i in range(len(sizes)) if i != middle]
    reach = sizes[others] + APART * room
    angle = 2 * np.pi * np.arange(len(others)) / len(others)
    for _ in range(STEPS):
        needed = np.abs(np.sin(angle)) * reach[:, 0] + np.abs(np.cos(angle)) * reach[:, 1]
        between = (needed + np.roll(needed, 1)) / 2
        turned = np.cumsum(between) - between[0]
        angle = 2 * np.pi * turned / between.sum() - np.pi / 2
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    radius = float(needed.sum()) / (2 * np.pi) / 2
    places = np.zeros((len(sizes), 2))
    while True:
        places[others] = radius * ring
        overlap = (
            (sizes[:, None] + sizes[None]) / 2
            + APART * room
            - np.abs(places[:, None] - places[None])
        )
        meets = (overlap > 0).all(axis=2)
        if meets.sum() == len(sizes):  # each only itself
            return places
        radius *= SCALE_STEP


# ── positions ────────────────────────────────────────────────────────────────────────────────


def _positions(sizes: Array, edges: Edges, room: float, extra: float = 0.0) -> Array:
    """Centres by the form of the graph: a lattice, a circle, or the least stress."""
    n = len(sizes)
    width = float(sizes[:, 0].max())
    step = width + GAP * room + extra
    cells = lattice(n, edges)
    if cells is not None:
        return cells * [step, max(float(sizes[:, 1].max()) + GAP * room + extra, 0.75 * step)]
    turn = cycle(n, edges)
    if turn is None and 3 < n <= MOST_ON_CIRCLE and 3 * len(edges) > n * (n - 1):
        turn = list(range(n))  # most pairs are joined
    if turn is not None:
        angle = 2 * np.pi * np.arange(n) / n - np.pi / 2
        radius = step / (2 * np.sin(np.pi / n))
        places = np.zeros((n, 2))
        places[turn] = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return places
    return least_stress(n, edges, _lengths(sizes, edges, room, extra))


def _lengths(sizes: Array, edges: Edges, room: float, extra: float) -> Array:
    reach = sizes.mean(axis=1)
    ends = np.array(edges, dtype=int).reshape(len(edges), 2)
    return np.asarray(reach[ends].mean(axis=1) + GAP * room + extra)


def lattice(n: int, edges: Edges) -> Array | None:
    """The column and row of each node, if the graph is a rectangular lattice.

    The distances from two corners on one side give the place of every node.
    """
    near = neighbours_of(n, edges)
    corners = [i for i in range(n) if len(near[i]) == 2]
    if n < 4 or len(corners) != 4:
        return None
    first = _steps_from(corners[0], near)
    far = max(first[i] for i in corners)
    second = next((i for i in corners[1:] if first[i] < far), None)
    if second is None:
        return None
    other = _steps_from(second, near)
    width = first[second]
    column, row = (first + width - other) / 2, (first + other - width) / 2
    cells = np.stack([column, row], axis=1)
    height = row.max()
    whole = (cells == np.round(cells)).all() and len({tuple(cell) for cell in cells.tolist()}) == n
    n_links = (width + 1) * height + width * (height + 1)
    if not whole or (width + 1) * (height + 1) != n or n_links != len(edges):
        return None
    joined = all(np.abs(cells[a] - cells[b]).sum() == 1 for a, b in edges)
    return cells if joined else None


def cycle(n: int, edges: Edges) -> list[int] | None:
    """The nodes in order around it, if the graph is a single cycle."""
    near = neighbours_of(n, edges)
    if n < 3 or len(edges) != n or any(len(others) != 2 for others in near):
        return None
    turn = [0, near[0][0]]
    while len(turn) < n:
        a, b = near[turn[-1]]
        turn.append(b if a == turn[-2] else a)
    return turn if len(set(turn)) == n else None


def _steps_from(start: int, near: list[list[int]]) -> Array:
    """The number of edges to each node; −1 where there is no path."""
    steps = np.full(len(near), -1.0)
    steps[start] = 0
    waiting = [start]
    for node in waiting:
        for other in near[node]:
            if steps[other] < 0:
                steps[other] = steps[node] + 1
                waiting.append(other)
    return steps


# ── stress ───────────────────────────────────────────────────────────────────────────────────


def least_stress(n: int, edges: Edges, lengths: Array) -> Array:
    """Centres of the least stress, of several fixed starts the one with fewest crossings."""
    if n == 1:
        return np.zeros((1, 2))
    distance = _path_lengths(n, edges, lengths)
    rng = np.random.default_rng(0)
    starts = [_scaled_start(distance, rng), _circle_start(distance)]
    starts += [rng.normal(size=(n, 2)) * distance.mean() for _ in range(STARTS - len(starts))]
    compared = len(edges) <= MOST_COMPARED
    found = [_majorised(start, distance) for start in (starts if compared else starts[:1])]
    if not compared:
        return _turned(found[0])
    worth = [(straight_crossings(x, edges), _stress(x, distance)) for x in found]
    return _turned(found[min(range(len(found)), key=lambda k: worth[k])])


def _path_lengths(n: int, edges: Edges, lengths: Array) -> Array:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    ends = np.array(edges, dtype=int).reshape(len(edges), 2)
    graph = coo_array((lengths, (ends[:, 0], ends[:, 1])), shape=(n, n))
    return np.asarray(shortest_path(graph.tocsr(), directed=False))


def _scaled_start(distance: Array, rng: np.random.Generator) -> Array:
    """Classical scaling of the distances, a little disturbed so that no two places are equal."""
    square = distance**2
    centred = square - square.mean(axis=0) - square.mean(axis=1)[:, None] + square.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    places = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))
    places = places * np.where(places[0] < 0, -1.0, 1.0)  # eigenvectors have no sign
    return np.asarray(places + rng.normal(size=places.shape) * distance.mean() * 0.02)


def _circle_start(distance: Array) -> Array:
    angle = 2 * np.pi * np.arange(len(distance)) / len(distance)
    return distance.mean() * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _majorised(places: Array, distance: Array) -> Array:
    """Majorisation: each step minimises a quadratic bound of the stress."""
    n = len(distance)
    with np.errstate(divide="ignore"):
        weight = np.where(distance > 0, distance**-2.0, 0.0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    inverse = np.linalg.inv(laplacian + 1.0 / n) - 1.0 / n
    for _ in range(STEPS):
        length = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(length > 1e-9, weight * distance / length, 0.0)
        places = inverse @ ((np.diag(ratio.sum(axis=1)) - ratio) @ places)
    return places


def _stress(places: Array, distance: Array) -> float:
    length = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))
    with np.errstate(divide="ignore", invalid="ignore"):
        misfit = np.where(distance > 0, (length / distance - 1) ** 2, 0.0)
    return float(misfit.sum())


def _turned(places: Array) -> Array:
    """The longest direction across, and the first node in the upper left half."""
    places = places - places.mean(axis=0)
    _, _, axes = np.linalg.svd(places, full_matrices=False)
    turned = places @ axes.T
    return np.asarray(turned * np.where(turned[0] > 0, -1.0, 1.0))


def straight_crossings(places: Array, edges: Edges) -> int:
    """Pairs of straight edges, without a common end, that cross."""
    ends = np.array(edges, dtype=int).reshape(len(edges), 2)
    a, b = places[ends[:, 0]], places[ends[:, 1]]

    def side(p: Array, q: Array, r: Array) -> Array:
        u, v = q - p, r - p
        return np.asarray(np.sign(u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]))

    a1, b1, a2, b2 = a[:, None], b[:, None], a[None], b[None]
    cross = (side(a1, b1, a2) * side(a1, b1, b2) < 0) & (side(a2, b2, a1) * side(a2, b2, b1) < 0)
    shared = (ends[:, None, :, None] == ends[None, :, None, :]).any(axis=(2, 3))
    return int((cross & ~shared).sum()) // 2


# ── no overlaps ──────────────────────────────────────────────────────────────────────────────


def without_overlaps(places: Array, sizes: Array, edges: Edges, gap: float) -> Array:
    """Places moved until no boxes of these sizes meet, and as few edges as can be cross a box."""
    best, fewest = places, np.inf
    for _ in range(EDGE_ROUNDS):
        places = _separated(places, sizes, gap)
        push = _edge_pushes(places, sizes, edges, gap / 2)
        n_moved = int(push.any(axis=1).sum())
        if n_moved < fewest:
            best, fewest = places, n_moved
        if not n_moved:
            break
        places = places + push
    return best


def _separated(places: Array, sizes: Array, gap: float) -> Array:
    """Places moved apart, each pair along its shorter way, until no two boxes meet."""
    reach = (sizes[:, None] + sizes[None]) / 2 + gap
    while True:
        for _ in range(PUSHES):
            push = _pair_pushes(places, reach)
            if not push.any():
                return places
            places = places + push
        places = places * SCALE_STEP


def _pair_pushes(places: Array, reach: Array) -> Array:
    """How far each box moves to leave those it overlaps, half of each way."""
    apart = places[:, None] - places[None]
    overlap = reach - np.abs(apart)
    meets = (overlap > 1e-6).all(axis=2)
    np.fill_diagonal(meets, False)
    sideways = overlap[..., 0] <= overlap[..., 1]
    order = np.sign(np.arange(len(places))[:, None] - np.arange(len(places))[None])
    sign = np.where(apart == 0, order[..., None], np.sign(apart))
    push = np.zeros_like(apart)
    push[..., 0] = np.where(meets & sideways, sign[..., 0] * overlap[..., 0] / 2, 0)
    push[..., 1] = np.where(meets & ~sideways, sign[..., 1] * overlap[..., 1] / 2, 0)
    count = np.maximum(meets.sum(axis=1, keepdims=True), 1)
    return np.asarray(push.sum(axis=1) / np.sqrt(count)) * 1.01


def _edge_pushes(places: Array, sizes: Array, edges: Edges, gap: float) -> Array:
    """How far each box moves to leave the straight edges that run over it."""
    push = np.zeros_like(places)
    for a, b in edges:
        along = places[b] - places[a]
        length = max(float(np.hypot(*along)), 1e-9)
        unit = along / length
        aside = np.array([-unit[1], unit[0]])
        away = (places - places[a]) @ aside
        at = (places - places[a]) @ unit
        reach = np.abs(sizes / 2) @ np.abs(aside) + gap
        over = (np.abs(away) < reach - 1e-6) & (at > 0) & (at < length)
        over[[a, b]] = False
        sign = np.where(away >= 0, 1.0, -1.0)
        push += np.where(over, sign * (reach - np.abs(away)) * 0.55, 0.0)[:, None] * aside
    return push
