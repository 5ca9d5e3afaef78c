"""Where to cut a continuous column into bins.

    edges e_1 < … < e_m:   code 0 for x < e_1,  j for e_j ≤ x < e_{j+1},  m for x ≥ e_m

Edges have equal width, equal frequency, or are found from the classes: the cut T of the
examples S into S₁, S₂ with the least mean class entropy is made, and each side is cut again, as
long as this shortens the description of the classes,

    Gain(T) > [log₂(N − 1) + log₂(3ᵏ − 2) − k H(S) + k₁ H(S₁) + k₂ H(S₂)] / N

for N examples of k classes in S, and k₁, k₂ classes in its parts.

References
----------
Fayyad & Irani, Multi-Interval Discretization of Continuous-Valued Attributes for
Classification Learning, IJCAI 1993, §3.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from likely._typing import Array, Codes
from likely.errors import InvalidInput, UnknownName
from likely.numerics.quantiles import QuantileSummary

Edges = Sequence[float] | Array
EdgesOption = Edges | Sequence[Edges] | Mapping[str | int, Edges] | None


def equal_width_edges(x: Array, n_bins: int, weight: Array | None = None) -> Array:
    """Edges that cut the range of the values present into ``n_bins`` equal parts."""
    x = x[~np.isnan(x)] if weight is None else x[~np.isnan(x) & (weight > 0)]
    if not x.size:
        return np.empty(0)
    low, high = x.min(), x.max()
    part = np.arange(1, n_bins) / n_bins
    edges = np.unique(low * (1 - part) + high * part)  # high − low could overflow
    return edges[(edges > low) & (edges <= high)]


def quantile_edges(x: Array, n_bins: int, weight: Array | None = None) -> Array:
    """Edges at the weighted quantiles 1/b, …, (b − 1)/b; empty bins are merged.

    A value that is several quantiles, or the smallest and one of them, has a share of at least 1/b,
    and a bin of its own: the next edge is at the next distinct value.
    """
    summary = QuantileSummary.of(x, weight, limit=None)
    if not summary.values.size:
        return np.empty(0)
    edges = summary.quantile(np.arange(1, n_bins) / n_bins)
    below = np.searchsorted(summary.values, edges, side="left")  # distinct values under each edge
    below, first, times = np.unique(below, return_index=True, return_counts=True)
    tied = below[(times > 1) | (below == 0)] + 1
    beyond = np.setdiff1d(tied[tied < summary.values.size], below)
    return np.sort(np.concatenate([edges[first[below > 0]], summary.values[beyond]]))


def supervised_edges(x: Array, codes: Codes, weight: Array | None, n_classes: int) -> Array:
    """Edges where the class entropy falls by more than the edge costs to describe.

    Missing x and unknown classes (code −1) are skipped.  One sort, then one vectorised
    evaluation of all cuts for each part.
    """
    kept = ~np.isnan(x) & (codes >= 0)
    weight = np.ones(x.size) if weight is None else weight
    kept &= weight > 0
    low, high, counts = _runs(x[kept], codes[kept], weight[kept], n_classes)
    below = np.concatenate([np.zeros((1, n_classes)), np.cumsum(counts, axis=0)])
    cuts: list[int] = []
    parts = [(0, len(counts))]
    while parts:
        start, stop = parts.pop()
        cut = _best_cut(below[start : stop + 1])
        if cut is not None:
            cuts.append(start + cut)
            parts += [(start, start + cut), (start + cut, stop)]
    after = np.array(sorted(cuts), dtype=np.intp)
    middle = high[after - 1] / 2 + low[after] / 2
    return np.where(middle > high[after - 1], middle, low[after])  # neighbours in float64


def _runs(x: Array, codes: Codes, weight: Array, n_classes: int) -> tuple[Array, Array, Array]:
    """First value, last value and class weights of each run of values that no best cut splits.

    A best cut lies between values of different classes (Fayyad & Irani, theorem 1).
    """
    values, position = np.unique(x, return_inverse=True)
    cell = position * n_classes + codes
    counts = np.bincount(cell, weights=weight, minlength=values.size * n_classes)
    counts = counts.reshape(values.size, n_classes)
    pure = np.where((counts > 0).sum(axis=1) == 1, counts.argmax(axis=1), -1)
    starts = np.flatnonzero((np.diff(pure, prepend=-2) != 0) | (pure < 0))
    ends = np.append(starts[1:], values.size) - 1
    merged = np.add.reduceat(counts, starts, axis=0) if values.size else counts
    return values[starts], values[ends[: starts.size]], merged


def _best_cut(below: Array) -> int | None:
    """Where to cut a part, given its cumulative class weights; None for no cut."""
    total = below[-1] - below[0]
    n = total.sum()
    if len(below) < 3 or n <= 1:
        return None
    left = below[1:-1] - below[0]
    right = total - left
    bits = _class_bits(left) + _class_bits(right)  # N₁ H(S₁) + N₂ H(S₂)
    cut = int(np.argmin(bits))
    whole = float(_class_bits(total))
    # a class without weight in a part leaves its running sum as it was, so 0 is exact
    k, k1, k2 = (int((part > 0).sum()) for part in (total, left[cut], right[cut]))
    entropies = (
        k * whole / n
        - k1 * float(_class_bits(left[cut])) / left[cut].sum()
        - k2 * float(_class_bits(right[cut])) / right[cut].sum()
    )
    log_three = k * math.log2(3) + math.log2(1 - 2 * 3.0**-k)  # log₂(3ᵏ − 2)
    price = math.log2(n - 1) + log_three - entropies
    return cut + 1 if whole - bits[cut] > price else None


def _class_bits(counts: Array) -> Array:
    """N H for rows of class weights, in bits."""
    n = counts.sum(axis=-1, keepdims=True)
    share = np.where(counts > 0, counts / n, 1.0)
    return -(counts * np.log2(share)).sum(axis=-1)


def given_edges(edges: EdgesOption, columns: Sequence[str]) -> list[Array | None]:
    """The edges the user gave for each column; None where the strategy decides."""
    if edges is None:
        return [None] * len(columns)
    if isinstance(edges, Mapping):
        chosen: list[Array | None] = [None] * len(columns)
        for key, sequence in edges.items():
            chosen[_column_index(key, columns)] = _increasing(sequence, key)
        return chosen
    if len(edges) and all(np.ndim(entry) == 1 for entry in edges):
        if len(edges) != len(columns):
            raise InvalidInput(
                f"There are edges for {len(edges)} columns; expected {len(columns)}, one sequence "
                "per column. Pass a mapping to give some columns only."
            )
        return [_increasing(e, name) for e, name in zip(edges, columns, strict=True)]
    return [_increasing(edges, name) for name in columns]


def _column_index(key: str | int, columns: Sequence[str]) -> int:
    if isinstance(key, int | np.integer) and -len(columns) <= key < len(columns):
        return int(key) % len(columns)
    if key not in columns:
        raise UnknownName("column", key, columns)
    return columns.index(str(key))


def _increasing(edges: Any, column: object) -> Array:
    array = np.asarray(edges, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all() or (np.diff(array) <= 0).any():
        raise InvalidInput(
            f"The edges of column {column!r} are {edges!r}; expected finite numbers that increase. "
            "Sort them, and leave out repetitions and infinities: the outer bins are open."
        )
    return array


def intervals_in_words(edges: Edges) -> list[str]:
    """What each bin holds: ``< 2.45``, ``2.45 to 4.75``, ``≥ 4.75``."""
    if not len(edges):
        return ["any"]
    written = written_edges(edges)
    middle = [f"{low} to {high}" for low, high in pairwise(written)]
    return [f"< {written[0]}", *middle, f"≥ {written[-1]}"]


def written_edges(edges: Edges) -> list[str]:
    """Edges with six digits; with all of them where six would show different edges as equal."""
    written = [f"{edge:g}" for edge in edges]
    return written if len(set(written)) == len(written) else [repr(float(e)) for e in edges]
