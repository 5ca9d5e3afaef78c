"""Random starts of a mixture that depend on the rows, not on their order or repetition.

    1.  distinct rows in lexicographic order, each with its total weight
    2.  k-means++: draw centres by inverse CDF, in proportion to weight × squared distance
    3.  a few steps of k-means; each cluster's statistics give the first parameters

Distances are between standardised numbers, one-hot categories and square roots of shares of
counts, so the unit of a column does not matter.  Above ``SUBSET`` rows the draw is from a
subset, chosen by hashed index.

References
----------
Arthur & Vassilvitskii, k-means++: the advantages of careful seeding, 2007.
"""

from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array, Codes, Columns
from likely.data.block import Blocks
from likely.data.split import hashed_uniforms
from likely.distributions import Complement, Family, Multinomial, ProductFamily
from likely.errors import InvalidInput

SUBSET = 20_000  # rows
SUBSET_CELLS = 2**23  # and cells: wide data draw from fewer rows
LLOYD_STEPS = 10
NOTHING = 1e-300  # an empty row or column divides by this instead of 0
SUBSET_SEED = 0  # the subset is the same for every start


class Subset(NamedTuple):
    """Some rows in memory, and where they lie for k-means."""

    stored: Any  # what distributions read
    weight: Array  # (n,)
    points: Array  # distinct places, (m, d)
    place: Codes  # of each row among the points, (n,)
    mass: Array  # weight of each point, (m,)


def draw_subset(blocks: Blocks, family: Family) -> Subset:
    """All rows when they are few, else about ``SUBSET`` of them, chosen by hashed index."""
    stored, weight = _gathered(blocks, _wanted_share(blocks))
    distinct, place = _distinct_rows(stored)
    mass = np.bincount(place.ravel(), weight, minlength=len(distinct))
    points = _places(stored, distinct, family, mass)
    return Subset(stored, weight, points, place.ravel(), mass)


def draw_labels(subset: Subset, n_components: int, rng: np.random.Generator) -> Codes:
    """A cluster for each row of the subset, by k-means++ and a few steps of k-means."""
    if len(subset.points) < n_components:
        raise InvalidInput(
            f"n_components={n_components} but there are only {len(subset.points)} distinct rows. "
            "Ask for fewer components, or give more data."
        )
    centres = subset.points[_seeds(subset, n_components, rng)]
    nearest = _nearest(subset.points, centres)
    for _ in range(LLOYD_STEPS):
        centres = _centres(subset, nearest, centres)
        moved = _nearest(subset.points, centres)
        settled = np.array_equal(moved, nearest)
        if settled or len(np.unique(moved)) < n_components:  # never lose a component
            break
        nearest = moved
    return nearest[subset.place]


def _seeds(subset: Subset, n_components: int, rng: np.random.Generator) -> list[int]:
    """Positions of the first centres; far points are more likely."""
    points, chance = subset.points, subset.mass.copy()
    squared = np.full(len(points), np.inf)
    chosen: list[int] = []
    for _ in range(n_components):
        cumulative = np.cumsum(chance)
        i = int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))
        chosen.append(min(i, len(points) - 1))
        distance = np.sum((points - points[chosen[-1]]) ** 2, axis=1)
        squared = np.minimum(squared, distance)
        squared[chosen] = 0.0
        chance = subset.mass * squared
        if not chance.any():  # the rest coincide: any of them
            chance = np.where(np.isin(np.arange(len(points)), chosen), 0.0, 1.0)
    return chosen


def _nearest(points: Array, centres: Array) -> Codes:
    distance = -2 * np.dot(points, centres.T) + np.einsum("kj,kj->k", centres, centres)
    return distance.argmin(axis=1)


def _centres(subset: Subset, nearest: Codes, earlier: Array) -> Array:
    """The weighted mean of each cluster; an empty one stays where it was."""
    out = earlier.copy()
    for k in range(len(earlier)):
        rows = nearest == k
        if rows.any():
            out[k] = np.average(subset.points[rows], axis=0, weights=subset.mass[rows])
    return out


def _wanted_share(blocks: Blocks) -> float:
    if blocks.n_rows is None:
        return 1.0  # cut off at ``SUBSET`` while reading
    rows = min(SUBSET, max(1000, SUBSET_CELLS // max(1, blocks.n_features)))
    return min(1.0, rows / max(1, blocks.n_rows))


def _gathered(blocks: Blocks, share: float) -> tuple[Any, Array]:
    parts, weights, n_rows = [], [], 0
    for block in blocks:
        rows = np.arange(block.n_rows)
        if share < 1.0:
            rows = rows[hashed_uniforms(block.start, block.n_rows, SUBSET_SEED) < share]
        stored = block.X.stored()
        parts.append(stored_rows(stored, rows))
        weights.append(np.ones(len(rows)) if block.weight is None else block.weight[rows])
        n_rows += len(rows)
        if n_rows >= 2 * SUBSET:
            break
    return _stacked(parts), np.concatenate(weights)


def stored_rows(stored: Any, rows: Array) -> Any:
    if isinstance(stored, Columns):
        return Columns(stored.numeric[rows], stored.codes[rows])
    return stored[rows]


def _stacked(parts: list[Any]) -> Any:
    if isinstance(parts[0], Columns):
        return Columns(*(np.concatenate(list(each)) for each in zip(*parts, strict=True)))
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    from scipy import sparse

    return sparse.vstack(parts, format="csr")


def _dense(stored: Any) -> Array:
    """All columns side by side as numbers; NaN and −1 stand for missing."""
    if isinstance(stored, Columns):
        return np.concatenate([stored.numeric, stored.codes], axis=1)
    return np.asarray(stored if isinstance(stored, np.ndarray) else stored.toarray(), dtype=float)


def _distinct_rows(stored: Any) -> tuple[Array, Codes]:
    """The first row of each kind, in lexicographic order, and each row's place among them."""
    table = np.nan_to_num(_dense(stored).astype(float), nan=-np.finfo(float).max)
    _, first, place = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return first, place


def _places(stored: Any, rows: Array, family: Family, mass: Array) -> Array:
    """The rows as points whose distances make sense for their event models."""
    if not isinstance(family, ProductFamily):
        return _standardised(_dense(stored_rows(stored, rows)), mass)
    pieces = []
    for part in family.parts:
        own = part.selection.of(stored_rows(stored, rows))
        if part.selection.coded:
            pieces += [_one_hot(own[:, j]) for j in range(own.shape[1])]
        elif part.family in (Multinomial, Complement):
            counts = _dense(own)
            pieces.append(np.sqrt(counts / np.maximum(counts.sum(axis=1, keepdims=True), NOTHING)))
        else:
            pieces.append(_standardised(_dense(own), mass))
    return np.concatenate(pieces, axis=1)


def _standardised(X: Array, mass: Array) -> Array:
    known = ~np.isnan(X)
    filled = np.where(known, X, 0.0)
    weight = np.maximum(np.dot(mass, known), NOTHING)
    mean = np.dot(mass, filled) / weight
    centred = np.where(known, X - mean, 0.0)
    scale = np.sqrt(np.dot(mass, centred**2) / weight)
    return centred / np.where(scale > 0, scale, 1.0)


def _one_hot(codes: Codes) -> Array:
    """One column per code, a missing one nowhere; two different codes are 1 apart."""
    size = int(codes.max(initial=0)) + 1
    return np.concatenate([np.eye(size), np.zeros((1, size))])[codes] / np.sqrt(2)
