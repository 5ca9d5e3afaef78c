"""Starts of a mixture: drawn at random, or given by the user.

Random starts do not depend on the order or repetition of rows:

    1.  distinct rows in lexicographic order, each with its total weight
    2.  k-means++: draw centres by inverse CDF, in proportion to weight × squared distance
    3.  a few steps of k-means; each cluster's statistics give the first parameters

Distances are between standardised numbers, one-hot categories and square roots of shares of
counts, so the unit of a column has no effect.  Above ``SUBSET`` rows the draw is from a
subset, chosen by hashed index.

A user gives labels y_i ∈ {0, …, K − 1} with r_ik = [y_i = k], soft labels with r_ik as they are, or
fitted parameters.

References
----------
Arthur & Vassilvitskii, k-means++: the advantages of careful seeding, 2007.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import NotFittedError, check_is_fitted

from likely._typing import Array, Codes, NumbersAndCodes
from likely.data.block import Blocks
from likely.data.hashed_splits import hashed_uniforms
from likely.data.schema import Schema
from likely.distributions import (
    Complement,
    DiagonalGaussian,
    Family,
    FullGaussian,
    Multinomial,
    ProductFamily,
)
from likely.errors import InvalidInput
from likely.numerics.moments import spread_beyond_rounding
from likely.objectives.components import Components

SUBSET = 20_000  # rows
SUBSET_CELLS = 2**23  # and cells: wide data draw from fewer rows
LLOYD_STEPS = 10
NOTHING = 1e-300  # an empty row or column divides by this instead of 0
SUBSET_SEED = 0  # the subset is the same for every start
STARTS = (  # entries of a mapping, by the names of the fitted attributes and of the formula
    ("weights", ("weights", "weights_", "mixing")),
    ("means", ("means", "means_", "mean")),
    ("covariances", ("covariances", "covariances_", "covariance")),
)


class Subset(NamedTuple):
    """Some rows in memory, and their coordinates for k-means."""

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
    if isinstance(stored, NumbersAndCodes):
        return NumbersAndCodes(stored.numeric[rows], stored.codes[rows])
    return stored[rows]


def _stacked(parts: list[Any]) -> Any:
    if isinstance(parts[0], NumbersAndCodes):
        return NumbersAndCodes(*(np.concatenate(list(each)) for each in zip(*parts, strict=True)))
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    from scipy import sparse

    return sparse.vstack(parts, format="csr")


def _dense(stored: Any) -> Array:
    """All columns side by side as numbers; NaN and −1 mean missing."""
    if isinstance(stored, NumbersAndCodes):
        return np.concatenate([stored.numeric, stored.codes], axis=1)
    return np.asarray(stored if isinstance(stored, np.ndarray) else stored.toarray(), dtype=float)


def _distinct_rows(stored: Any) -> tuple[Array, Codes]:
    """The distinct rows in lexicographic order, and the position of each row among them."""
    table = np.nan_to_num(_dense(stored).astype(float), nan=-np.finfo(float).max)
    _, first, place = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return first, place


def _places(stored: Any, rows: Array, family: Family, mass: Array) -> Array:
    """The rows as points, with distances that suit their event models."""
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
    mean = mean + np.dot(mass, np.where(known, X - mean, 0.0)) / weight
    centred = np.where(known, X - mean, 0.0)
    scale = spread_beyond_rounding(np.sqrt(np.dot(mass, centred**2) / weight), mean)
    return centred / np.where(scale > 0, scale, 1.0)


def _one_hot(codes: Codes) -> Array:
    """One column per code, all 0 for a missing one; different codes have distance 1."""
    size = int(codes.max(initial=0)) + 1
    return np.concatenate([np.eye(size), np.zeros((1, size))])[codes] / np.sqrt(2)


def kept_rows(sample_weight: Any) -> Array | None:
    """Which rows have weight, where weights are given row by row; the others are left out."""
    if sample_weight is None or isinstance(sample_weight, str):
        return None
    weight = np.asarray(sample_weight)
    return None if weight.ndim == 0 else weight > 0


def soft_rows(start: Any, n_components: int, n_rows: int, kept: Array | None) -> Array:
    """Responsibilities (n_rows, n_components) from labels or soft labels, checked."""
    rows = _array(start)
    if kept is not None and len(rows) == len(kept):
        rows = rows[kept]
    if len(rows) != n_rows:
        raise InvalidInput(
            f"start has {len(rows)} rows and X has {n_rows}; labels and soft labels are one per "
            "row of X. Give as many, or parameters instead."
        )
    soft = _indicators(rows, n_components) if rows.ndim == 1 else _shares(rows, n_components)
    empty = np.flatnonzero(soft.sum(axis=0) == 0)
    if empty.size:
        raise InvalidInput(
            f"start gives component {empty[0]} no row; every one of the {n_components} "
            "components needs some. Ask for fewer components, or give it rows."
        )
    return soft


def described_start(
    start: Mapping[str, Any], covariance: str, k: int, d: int
) -> tuple[Array, Array, Array]:
    """Mixing (K,), mean (K, d) and covariance of a mapping, checked."""
    names = {name: next((key for key in keys if key in start), None) for name, keys in STARTS}
    missing = [name for name, key in names.items() if key is None]
    if missing:
        raise InvalidInput(
            f"start lacks {', '.join(missing)}; it needs weights, means and covariances. "
            "Give all three, or labels of the rows."
        )
    shapes = {"full": (k, d, d), "tied": (d, d), "diagonal": (k, d), "spherical": (k,)}
    shape, variances = shapes[covariance], covariance in ("diagonal", "spherical")
    return (
        given_array(start, str(names["weights"]), (k,), positive=True),
        given_array(start, str(names["means"]), (k, d)),
        given_array(start, str(names["covariances"]), shape, positive=variances),
    )


def given_array(
    start: Mapping[str, Any], name: str, shape: tuple[int, ...], *, positive: bool = False
) -> Array:
    """One entry of a mapping as finite numbers of that shape; axes of length 1 may be omitted."""
    try:
        found = np.asarray(start[name], dtype=float)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"start[{name!r}] is not an array of numbers; shape {shape} was expected. Give numbers."
        ) from None
    long = [n for n in found.shape if n != 1]
    if long != [n for n in shape if n != 1]:
        raise InvalidInput(
            f"start[{name!r}] has shape {found.shape}; {shape} was expected, for n_components "
            "and the columns of X. Make them agree."
        )
    wrong = ~np.isfinite(found) | (positive & (found <= 0))
    if wrong.any():
        expected = "positive numbers were" if positive else "finite numbers were"
        raise InvalidInput(
            f"start[{name!r}] holds {found[wrong][0]:g}; {expected} expected. Give other "
            "numbers, or leave it out."
        )
    return found.reshape(shape)


def check_fitted_start(start: Any, *, n_features: int) -> None:
    """Refuse a model that is not fitted, or was fitted to other columns."""
    kind = type(start).__name__
    try:
        check_is_fitted(start)
    except NotFittedError:
        raise InvalidInput(
            f"start is a {kind} that is not fitted; its components were expected. Fit it first."
        ) from None
    if start.n_features_in_ != n_features:
        raise InvalidInput(
            f"start is a {kind} of {start.n_features_in_} columns and X has {n_features}; they "
            "must agree. Fit it to the same columns."
        )


def same_categories(one: Schema, other: Schema) -> bool:
    """Whether codes have the same meaning in both."""
    pairs = zip(one.categories, other.categories, strict=True)
    return one.as_codes == other.as_codes and all(
        a is None or b is None or np.array_equal(a, b) for a, b in pairs
    )


def refuse_other_starts(start: Any, expected: str) -> None:
    """Refuse an estimator, or a mapping, from which this mixture cannot start."""
    if callable(getattr(start, "fit", None)) or isinstance(start, Mapping):
        raise InvalidInput(
            f"start is a {type(start).__name__}; labels, soft labels or {expected} were expected. "
            "Give one of these; any classifier's labels are model.predict(X)."
        )


def _array(start: Any) -> Array:
    try:
        rows = np.asarray(start)
        found = f"{rows.ndim} dimensions"
    except ValueError:  # rows of different lengths
        rows, found = np.empty(()), "rows of different lengths"
    if rows.ndim not in (1, 2):
        raise InvalidInput(
            f"start is a {type(start).__name__} with {found}; labels (n,) or soft labels "
            "(n, n_components) of X were expected, or a fitted mixture. Give one of these."
        )
    return rows


def _indicators(labels: Array, n_components: int) -> Array:
    """Labels 0, …, K − 1 as one-hot rows."""
    advice = "np.unique(labels, return_inverse=True)[1] makes such labels of any others."
    expected = f"labels are whole numbers from 0 to {n_components - 1}, for n_components"
    if labels.dtype.kind not in "biuf":
        shown = repr(labels.tolist()[0]) if len(labels) else "nothing"
        raise InvalidInput(f"start holds {shown}; {expected}={n_components}. {advice}")
    bad = ~((labels >= 0) & (labels < n_components) & (labels == np.floor(labels)))
    if bad.any():
        row = int(bad.argmax())
        raise InvalidInput(
            f"start holds {labels[row]:g} at row {row}; {expected}={n_components}. {advice}"
        )
    return np.eye(n_components)[labels.astype(np.intp)]


def _shares(rows: Array, n_components: int) -> Array:
    """Soft rows as numbers, none negative or missing."""
    if rows.shape[1] != n_components:
        raise InvalidInput(
            f"start has {rows.shape[1]} components; n_components is {n_components}. "
            "Give one column per component."
        )
    if rows.dtype.kind not in "biuf":
        raise InvalidInput(
            f"start holds {rows.ravel().tolist()[0]!r}; soft labels are numbers, 0 or more. "
            "Give the probability of each component."
        )
    soft = rows.astype(float)
    bad = ~((soft >= 0) & (soft < np.inf)).all(axis=1)
    if bad.any():
        row = int(bad.argmax())
        raise InvalidInput(
            f"start holds {soft[row].tolist()} at row {row}; soft labels are finite and 0 or more. "
            "Fix the row."
        )
    return soft


def converted_gaussians(given: Components, kind: str) -> FullGaussian | DiagonalGaussian:
    """The Gaussians of another kind of covariance, converted to this kind."""
    mean: Array = given.distribution.mean  # type: ignore[attr-defined]  # it is Gaussian
    matrices: Array = given.distribution.covariance  # type: ignore[attr-defined]
    k, d = mean.shape
    matrices = np.broadcast_to(matrices, (k, d, d))
    if kind == "full":
        return FullGaussian(mean, matrices.copy())
    if kind == "tied":
        share = np.exp(given.log_mixing)
        return FullGaussian(mean, np.average(matrices, axis=0, weights=share)[None])
    variance = np.diagonal(matrices, axis1=1, axis2=2)
    return gaussians(mean, variance.mean(axis=1) if kind == "spherical" else variance, kind)


def gaussians(mean: Array, covariance: Array, kind: str) -> FullGaussian | DiagonalGaussian:
    """Gaussians with these means, and covariances of a kind, as the fit would have them."""
    if kind in ("full", "tied"):
        d = mean.shape[1]
        return FullGaussian.from_covariance(mean, covariance.reshape(-1, d, d))
    spherical = kind == "spherical"
    variance = covariance[:, None] if spherical else covariance
    return DiagonalGaussian(mean, np.broadcast_to(variance, mean.shape).copy(), spherical)
