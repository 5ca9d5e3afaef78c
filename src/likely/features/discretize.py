"""Continuous columns as codes of bins.

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
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self, final

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array, Codes
from likely.errors import InvalidInput, UnknownName
from likely.inputs.estimators import Estimator
from likely.inputs.tables import read_numbers
from likely.inputs.targets import check_labels, check_weight
from likely.numerics.quantiles import QuantileSummary
from likely.output.description import Description, NamedColumn, NamedTable
from likely.output.formatting import count, html_table, text_table
from likely.storage.declarations import FITTED_COLUMNS, BinsOf, Increasing, SameCount, Saved

STRATEGIES = ("uniform", "quantile", "entropy")
SPARSE = (
    "most zeros of a sparse matrix would fall into one bin. Pass X.toarray(), or leave sparse "
    "columns as counts."
)
CATEGORY = "Leave the column out if it is a category (its values are codes already)"
Edges = Sequence[float] | Array
EdgesOption = Edges | Sequence[Edges] | Mapping[str | int, Edges] | None


class Discretizer(OneToOneFeatureMixin, TransformerMixin, Estimator):
    """Codes of bins: a value at an edge belongs to the bin above; missing stays missing.

    The codes are whole numbers in float64, so that NaN can stay among them.

    Parameters
    ----------
    strategy : {"quantile", "uniform", "entropy"}
        Bins of equal frequency, of equal width, or that separate the classes (needs y).
    n_bins : int
        Requested number of bins; "entropy" finds the number itself.  Edges with no example
        between them are merged, so a column may have fewer.  With "quantile", a value that fills a
        whole bin (many zeros) has one of its own.
    edges : None, sequence, list of sequences or mapping
        Increasing edges for every column, for each column, or by column name or index; columns
        that a mapping leaves out follow the strategy.

    Attributes
    ----------
    edges_ : list of n_features arrays
        The inner edges of each column; none for a column with one bin.
    n_bins_ : array of shape (n_features,)
    data_min_, data_max_ : arrays of shape (n_features,)
        The range of the data; it bounds the outer bins when codes are converted back to values.

    Examples
    --------
    >>> from likely.features.discretize import Discretizer
    >>> bins = Discretizer(edges=[1, 10, 50, 100]).fit([[0.0], [70.0]])
    >>> bins.transform([[0.5], [1.0], [99.0], [1e6]]).ravel()
    array([0., 1., 3., 4.])
    >>> print(bins.table())
    x0  (-inf,1)  [1,10)  [10,50)  [50,100)  [100,inf)
               0       1        2         3          4
    """

    saved: ClassVar = FITTED_COLUMNS | Saved(
        {"edges_": list[Array], "n_bins_": Codes},
        {"data_min_": Array, "data_max_": Array},
        rules=(
            Increasing("edges_"),
            SameCount("n_features_in_", "edges_", "n_bins_", "data_min_", "data_max_"),
            BinsOf("n_bins_", "edges_"),
        ),
    )

    def __init__(
        self, strategy: str = "quantile", n_bins: int = 5, *, edges: EdgesOption = None
    ) -> None:
        self.strategy = strategy
        self.n_bins = n_bins
        self.edges = edges

    def fit(self, X: Any, y: Any = None, sample_weight: Array | None = None) -> Self:
        """Find the edges of each column; ``y`` is used only by "entropy"."""
        self._check_arguments(y)
        X = self._numbers(X, reset=True)
        checked = check_weight(sample_weight, n_rows=len(X))
        weight = np.ones(len(X)) if checked is None else checked
        codes = _class_codes(y, X.shape[0]) if self.strategy == "entropy" else None
        present = weight > 0  # weight 0 is the row absent
        X, weight = X[present], weight[present]
        codes = None if codes is None else codes[present]
        names = self.get_feature_names_out().tolist()
        given = given_edges(self.edges, names)
        self.edges_ = [
            self._learned(X[:, j], codes, weight) if column is None else column
            for j, column in enumerate(given)
        ]
        self.n_bins_ = np.array([edges.size + 1 for edges in self.edges_])
        self.data_min_ = np.fmin.reduce(X, axis=0)  # NaN only where all are missing
        self.data_max_ = np.fmax.reduce(X, axis=0)
        return self

    def transform(self, X: Any) -> Array:
        """The code of each value, as float64; NaN stays NaN."""
        check_is_fitted(self)
        X = self._numbers(X, reset=False)
        codes = np.full(X.shape, np.nan)
        for j, edges in enumerate(self.edges_):
            seen = ~np.isnan(X[:, j])
            codes[seen, j] = np.searchsorted(edges, X[seen, j], side="right")
        return codes

    def inverse_transform(self, X: Any) -> Array:
        """A value in the middle of each code's bin, with the range of the data as outer ends."""
        check_is_fitted(self)
        codes = np.array(X, dtype=np.float64, ndmin=2)
        self._check_codes(codes)
        values = np.full(codes.shape, np.nan)
        for j, edges in enumerate(self.edges_):
            seen = ~np.isnan(codes[:, j])
            middle = _middles(edges, self.data_min_[j], self.data_max_[j])
            values[seen, j] = middle[codes[seen, j].astype(np.intp)]
        return values

    def table(self) -> "BinTable":
        """The intervals and codes of every column, to print."""
        check_is_fitted(self)
        return BinTable(tuple(self.get_feature_names_out().tolist()), tuple(self.edges_))

    def describe(self) -> Description:
        """The bins of every column."""
        check_is_fitted(self)
        names = self.get_feature_names_out().tolist()
        rows = tuple(
            (name, len(edges) + 1, ", ".join(intervals_in_words(edges)))
            for name, edges in zip(names, self.edges_, strict=True)
        )
        columns = (
            NamedColumn("column", "column"),
            NamedColumn("n_bins", "bins", "number"),
            NamedColumn("bins", "intervals"),
        )
        return Description(
            f"{type(self).__name__}: {count(len(rows), 'column')}",
            tables=(NamedTable("columns", columns, rows, noun="column"),),
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self.strategy == "entropy"
        return tags

    def _check_arguments(self, y: Any) -> None:
        if self.strategy not in STRATEGIES:
            raise UnknownName("strategy", self.strategy, STRATEGIES)
        if not isinstance(self.n_bins, int | np.integer) or self.n_bins < 2:
            raise InvalidInput(
                f"n_bins is {self.n_bins!r}; expected a whole number, 2 or more. "
                "Raise it, or leave the column out."
            )
        if self.strategy == "entropy" and y is None:
            raise InvalidInput(
                'Discretizer(strategy="entropy") requires y to be passed, but the target y is '
                'None; expected a class for each row. Pass y, or use strategy="quantile".'
            )

    def _numbers(self, X: Any, *, reset: bool) -> Array:
        """X as float64, with NaN for missing."""
        return read_numbers(self, X, reset=reset, sparse=SPARSE, category=CATEGORY)

    def _learned(self, x: Array, codes: Codes | None, weight: Array) -> Array:
        if codes is not None:
            return supervised_edges(x, codes, weight, int(codes.max()) + 1)
        find = equal_width_edges if self.strategy == "uniform" else quantile_edges
        return find(x, int(self.n_bins), weight)

    def _check_codes(self, codes: Array) -> None:
        if codes.ndim != 2 or codes.shape[1] != len(self.edges_):
            raise InvalidInput(
                f"Codes have shape {codes.shape}; expected {len(self.edges_)} columns, as in fit. "
                "Pass what transform returned."
            )
        bad = (codes < 0) | (codes >= self.n_bins_) | (codes != np.floor(codes))
        bad &= ~np.isnan(codes)
        if bad.any():
            i, j = np.argwhere(bad)[0]
            raise InvalidInput(
                f"Code {codes[i, j]:g} at row {i}, column {j} is not a bin; expected a whole "
                f"number from 0 to {self.n_bins_[j] - 1}. Pass what transform returned."
            )


@final
@dataclass(frozen=True, eq=False)
class BinTable:
    """The bins of each column: prints as one line of intervals above one line of codes."""

    columns: tuple[str, ...]
    edges: tuple[Array, ...]

    def intervals(self, column: int) -> list[str]:
        """The bins of one column as text, in the order of their codes."""
        written = written_edges(self.edges[column])
        lows, highs = ["-inf", *written], [*written, "inf"]
        brackets = ["(", *"[" * len(written)]
        return [f"{b}{lo},{hi})" for b, lo, hi in zip(brackets, lows, highs, strict=True)]

    def __str__(self) -> str:
        margin = max((len(name) for name in self.columns), default=0)
        lines = []
        for j, name in enumerate(self.columns):
            bins = self.intervals(j)
            codes = [str(code) for code in range(len(bins))]
            lines += text_table([name.ljust(margin), *bins], [["", *codes]], indent=0)
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [
            (name, str(code), text)
            for j, name in enumerate(self.columns)
            for code, text in enumerate(self.intervals(j))
        ]
        return html_table(("column", "code", "interval"), rows, words=(0, 2))


def _middles(edges: Array, low: float, high: float) -> Array:
    """A value inside each bin."""
    if not edges.size:
        return np.array([low / 2 + high / 2])
    low = low if low < edges[0] else np.nextafter(edges[0], -np.inf)  # also where low is NaN
    high = high if high > edges[-1] else edges[-1]
    ends = np.concatenate([[low], edges, [high]])
    middle = ends[:-1] / 2 + ends[1:] / 2
    middle[0] = min(middle[0], np.nextafter(edges[0], -np.inf))  # a half sum may round up
    return middle


def _class_codes(y: Any, n_rows: int) -> Codes:
    y = np.asarray(y)
    y = y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y
    if y.shape != (n_rows,):
        raise InvalidInput(
            f"y has shape {y.shape}; expected ({n_rows},), a class for each row of X. "
            "Pass one label per row."
        )
    if y.dtype.kind == "f" and not (y == np.floor(y)).all():
        raise InvalidInput(
            f"y holds {y[y != np.floor(y)][0]:g}; expected classes, not a continuous or missing "
            'target. Bin the target first, or use strategy="quantile".'
        )
    if y.dtype.kind == "O":
        missing = [label is None or (isinstance(label, float) and label != label) for label in y]
        if any(missing):
            raise InvalidInput(
                f"y is {y[missing.index(True)]} at row {missing.index(True)}; expected a class for "
                'each row. Remove the row, or use strategy="quantile".'
            )
    return check_labels(y, n_rows=n_rows).codes


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
