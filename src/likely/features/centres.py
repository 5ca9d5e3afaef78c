"""Where basis functions sit, and how wide they are.

    one column          quantiles, from the lowest to the highest value
    several columns     rows, each drawn with probability ∝ w · (distance to the nearest so far)²
    width               the mean distance from a centre to its nearest neighbour

Draws do not depend on the order of rows, nor on whether a row is repeated or has weight 2.

References
----------
Arthur & Vassilvitskii, k-means++: the advantages of careful seeding, SODA 2007, §2.
Moody & Darken, Fast learning in networks of locally-tuned processing units, 1989, §3.
"""

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from likely._typing import Array
from likely.errors import InvalidInput
from likely.quantiles import QuantileSummary


def quantile_centres(x: Array, n_centres: int, weight: Array) -> Array:
    """Different quantiles of a column at equal steps; of a column of ties, fewer."""
    summary = QuantileSummary.of(x, weight, limit=None)
    steps = np.linspace(0, 1, n_centres) if n_centres > 1 else np.array([0.5])
    return np.unique(summary.quantile(steps))


def seeded_centres(X: Array, n_centres: int, weight: Array, rng: np.random.Generator) -> Array:
    """Different rows of X far from one another, (m, d); all of them if there are fewer."""
    rows, code = np.unique(X, axis=0, return_inverse=True)
    total = np.bincount(np.ravel(code), weights=weight, minlength=len(rows))
    if len(rows) <= n_centres:
        return rows
    chosen: list[int] = []
    pull = total.copy()
    nearest = np.full(len(rows), np.inf)
    for _ in range(n_centres):
        reach = np.cumsum(pull)
        chosen.append(int(np.searchsorted(reach, rng.random() * reach[-1], side="right")))
        latest = cdist(rows, rows[chosen[-1:]], "sqeuclidean").ravel()
        _refuse_overflow(latest)
        nearest = np.minimum(nearest, latest)
        pull = total * nearest
    return rows[np.sort(chosen)]


def given_points(centres: Any, n_columns: int) -> Array:
    """The user's centres as points, (m, d)."""
    points = _finite(centres)
    points = points[:, None] if points.ndim == 1 and n_columns == 1 else points
    if points.ndim != 2 or points.shape[1] != n_columns or not len(points):
        raise InvalidInput(
            f"centres has shape {np.shape(centres)}; expected (n_centres, {n_columns}), a point a "
            "row. Give points with as many numbers as X has columns, or a number of centres."
        )
    return points


def given_numbers(centres: Any, n_columns: int) -> list[Array]:
    """The user's centres for each column: one list for all, or one for each."""
    apart = [np.ndim(entry) for entry in centres]
    lists = [centres] * n_columns if not any(apart) else list(centres)
    if len(lists) != n_columns or (any(apart) and not all(apart)):
        raise InvalidInput(
            f"There are centres for {len(lists)} columns; expected one list for all, or "
            f"{n_columns}, one a column. Give as many lists as X has columns."
        )
    return [np.unique(_finite(each)) for each in lists]


def typical_gap(centres: Array, X: Array, weight: Array) -> float:
    """The mean distance to the nearest neighbour; around one centre, the spread of the rows.

    1 where all of that is 0.
    """
    apart = cdist(centres, centres)
    np.fill_diagonal(apart, np.inf)
    gap = float(apart.min(axis=1).mean())
    if not 0 < gap < np.inf:
        squares = cdist(X, centres[:1], "sqeuclidean").ravel()
        gap = float(np.sqrt(np.average(squares, weights=weight))) if len(X) else 0.0
    return gap if 0 < gap < np.inf else 1.0


def _refuse_overflow(squares: Array) -> None:
    if not np.isfinite(squares).all():
        raise InvalidInput(
            "Squared distances between rows of X overflow (numbers beyond about 1e150); centres "
            "are drawn by them. Divide the largest columns by a constant, or give the centres."
        )


def _finite(values: Any) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise InvalidInput(
            f"centres holds {array[~np.isfinite(array)][0]}; expected finite numbers. "
            "Remove it, or give a number of centres."
        )
    return array
