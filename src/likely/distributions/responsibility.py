"""Responsibilities: to which component an example belongs; labels are certain responsibilities.

    r_ik ≥ 0, the share of example i that belongs to component k, times its weight

One-hot rows are labels, soft labels come from an E step.  Labels are stored as integer codes,
soft labels as a dense matrix (n, K); the sums below take either.

Of labelled rows the distinct values of a column are a statistic, too: they tell the unit u in which
the column is recorded, and the variance of rounding to it.

    u = min { |a − b| : a ≠ b, both values of the column }        u²/12

A column of a few distinct values (an indicator, a count, a pixel) has such a unit.  No class can
be known to vary less than values within one unit of each other do, even if all its rows are equal.
In a direction v of several columns that is vᵀFv, F = diag(u²/12).
The distinct values of blocks are united, so the answer does not depend on the blocks; a column of
more than ``MOST_VALUES`` is read as continuous, and has no unit.

References
----------
Sheppard, On the calculation of the most probable values of frequency-constants, 1898 (u²/12).
"""

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array, Codes, Matrix
from likely.errors import BadCell
from likely.numerics.additive import FAST_CELLS
from likely.numerics.cholesky import ROUNDING

FEW_CLASSES = 50  # the readable version, which works on each in turn, keeps up
MOST_VALUES = 256  # of a column with a unit: a byte
CONTINUOUS = np.inf  # stands for the values of a column that has more of them
ON_GRID = 1e-3  # × u: how far from a multiple of u a gap may be, rounding to single precision too


@final
@dataclass(frozen=True, eq=False)
class Labels:
    """Certain responsibilities: example i belongs to component ``codes[i]`` (−1: to none)."""

    codes: Codes  # (n,)
    n_components: int
    weight: Array | None = None  # (n,); None is 1

    def dense(self) -> Array:
        """The labels as a matrix of responsibilities, (n, n_components)."""
        out = np.zeros((len(self.codes), self.n_components))
        known = np.flatnonzero(self.codes >= 0)
        out[known, self.codes[known]] = 1.0 if self.weight is None else self.weight[known]
        return out

    def weights(self) -> Array:
        return np.ones(len(self.codes)) if self.weight is None else self.weight

    def pays_to_compile(self, n_cells: int) -> bool:
        """Whether a compiled loop is quicker for a block of these cells."""
        return n_cells * max(1.0, self.n_components / FEW_CLASSES) >= FAST_CELLS


Responsibility = Labels | Array


class ObservedSums(NamedTuple):
    """Σ_i r_ik x_ij over the observed cells, and Σ_i r_ik of those cells."""

    sums: Array  # (n_components, n_features)
    weight: Array  # (n_components, 1), or (n_components, n_features) where cells are missing


def totals(responsibility: Responsibility) -> Array:
    """Σ_i r_ik, shape (n_components,)."""
    if isinstance(responsibility, Labels):
        known = responsibility.codes >= 0
        weight = None if responsibility.weight is None else responsibility.weight[known]
        codes = responsibility.codes[known]
        return np.bincount(codes, weight, responsibility.n_components).astype(float)
    return responsibility.sum(axis=0)


def weighted_sums(responsibility: Responsibility, X: Matrix) -> Array:
    """Σ_i r_ik x_ij, shape (n_components, n_features)."""
    if isinstance(responsibility, Labels):
        pays = responsibility.pays_to_compile(X.size if isinstance(X, np.ndarray) else X.nnz)
        if isinstance(X, np.ndarray) and pays and X.dtype == np.float64:
            return _sums_by_label(responsibility, X)
        if not isinstance(X, np.ndarray) and pays:
            return _sparse_sums_by_label(responsibility, X)
        if not isinstance(X, np.ndarray):
            return np.asarray((_indicator(responsibility) @ X).toarray())
        responsibility = responsibility.dense()
    if isinstance(X, np.ndarray):
        return np.dot(responsibility.T, X)
    return np.asarray((X.T @ responsibility).T)  # a sparse X stays on the left


def observed_sums(responsibility: Responsibility, X: Matrix) -> ObservedSums:
    """The sums over the observed cells; NaN is a missing cell, infinity is refused."""
    with np.errstate(invalid="ignore", over="ignore"):  # a sum that overflows is looked at below
        sums = weighted_sums(responsibility, X)
    if np.isfinite(sums).all():
        return ObservedSums(sums, totals(responsibility)[:, None])
    refuse_infinity(X)
    refuse_sparse_gaps(X)
    known = ~np.isnan(X)
    weight = weighted_sums(responsibility, known.astype(float))
    return ObservedSums(weighted_sums(responsibility, np.where(known, X, 0.0)), weight)


def refuse_infinity(X: Matrix) -> None:
    """Refuse the first infinite cell."""
    values = X if isinstance(X, np.ndarray) else X.data
    infinite = np.isinf(values)
    if infinite.any():
        row, column, _ = first_cell(X, infinite)
        raise BadCell(
            "found inf (infinity); features must be finite or missing. "
            "Remove the row, or replace the value by NaN.",
            row=row,
            column=column,
        )


def refuse_sparse_gaps(X: Matrix) -> None:
    """Refuse the first NaN that a sparse X stores."""
    if isinstance(X, np.ndarray):
        return
    gaps = np.isnan(X.data)
    if gaps.any():
        row, column, _ = first_cell(X, gaps)
        raise BadCell(
            "found NaN in a sparse matrix, whose cells must not be missing. "
            "Call X.toarray(), where a missing cell is summed out, or fill it.",
            row=row,
            column=column,
        )


def first_cell(X: Matrix, chosen: Array) -> tuple[int, int, float]:
    """Row, column and value of the first chosen cell: all of a dense X's, a CSR one's stored."""
    if isinstance(X, np.ndarray):
        row, column = (int(i) for i in np.argwhere(chosen)[0])
        return row, column, X[row, column]
    at = int(np.argmax(chosen))
    row = int(np.searchsorted(X.indptr, at, side="right")) - 1
    return row, int(X.indices[at]), X.data[at]


def _sums_by_label(labels: Labels, X: Array) -> Array:
    from likely.fast.counts import sum_by_label

    out = np.zeros((labels.n_components, X.shape[1]))
    sum_by_label(for_loop(X), for_loop(labels.codes, np.int64), for_loop(labels.weights()), out)
    return out


def _sparse_sums_by_label(labels: Labels, X: Matrix) -> Array:
    from likely.fast.counts import sum_csr_by_label

    out = np.zeros((labels.n_components, X.shape[1]))
    sum_csr_by_label(
        for_loop(X.indptr, np.int64),
        for_loop(X.indices, np.int64),
        for_loop(X.data),
        for_loop(labels.codes, np.int64),
        for_loop(labels.weights()),
        out,
    )
    return out


def for_loop(values: Array, dtype: type = np.float64) -> Array:
    """An array as compiled loops need it: one dtype, C order, writable (others compile again)."""
    return np.require(values, dtype, ["C", "W"])


def _indicator(labels: Labels) -> Matrix:
    """The responsibilities as a sparse matrix, (n_components, n)."""
    from scipy import sparse

    known = np.flatnonzero(labels.codes >= 0)
    weight = labels.weights()[known]
    cells = (labels.codes[known], known)
    return sparse.csr_array((weight, cells), shape=(labels.n_components, len(labels.codes)))


def distinct_values(X: Array, labels: Labels) -> Array:
    """The values of each column in the rows that count, in order, (m, n_features).

    nan follows the last of them; a column of more than ``MOST_VALUES`` holds ``CONTINUOUS``.
    """
    counted = (labels.codes >= 0) & (labels.weights() > 0)
    if X.size < FAST_CELLS:
        rows, few = np.asarray(X, dtype=float), 2 * MOST_VALUES
        found = _in_order(rows[:few][counted[:few]])
        if len(rows) <= few or (found[0] == CONTINUOUS).all():  # as most columns are seen to be
            return found
        return _in_order(np.concatenate([found, rows[few:][counted[few:]]]))
    from likely.fast.counts import distinct_by_column

    X = for_loop(X)
    values = np.full((X.shape[1], 4 * MOST_VALUES), np.nan)
    many = distinct_by_column(X, X.view(np.uint64), counted, MOST_VALUES, values)
    if many.all():
        return np.full((1, X.shape[1]), CONTINUOUS)
    values[many] = CONTINUOUS
    return _in_order(values.T)


def united(values: Array | None, others: Array | None) -> Array | None:
    """The distinct values of two blocks."""
    if values is None or others is None:
        return others if values is None else values
    if len(values) and (values[0] == CONTINUOUS).all():
        return values
    return _in_order(np.concatenate([values, others]))


def rounding_variance(values: Array | None) -> Array | float:
    """u²/12 of each column, (n_features,); 0 without a unit."""
    if values is None or len(values) < 2:
        return 0.0
    return _gaps_and_unit(values)[1] ** 2 / 12


def grid_variance(values: Array | None) -> Array | float:
    """u²/12 of columns whose gaps are multiples of u, (n_features,); 0 of others.

    The smallest gap of a few continuous numbers is no unit.  As the floor of a variance it is too
    small to matter; the inverse of a covariance of few rows would be all of it.
    """
    if values is None or len(values) < 2:
        return 0.0
    gap, unit = _gaps_and_unit(values)
    multiple = np.divide(gap, unit, out=np.zeros(gap.shape), where=(gap > 0) & (unit > 0))
    off = np.abs(multiple - np.round(multiple)) > ON_GRID
    return np.where(off.any(axis=0), 0.0, unit) ** 2 / 12


def _gaps_and_unit(values: Array) -> tuple[Array, Array]:
    """The gaps of each column, 0 where only rounding parts two values, and the smallest one."""
    with np.errstate(invalid="ignore"):  # of continuous columns
        gap = np.diff(values, axis=0)
    largest = np.nanmax(np.abs(values), axis=0, initial=0.0)
    apart = gap > ROUNDING * largest  # beyond what arithmetic leaves between equal numbers
    unit = np.min(gap, axis=0, where=apart, initial=np.inf)
    return np.where(apart, gap, 0.0), np.where(np.isfinite(unit), unit, 0.0)


def _in_order(values: Array) -> Array:
    # columns that are known to be continuous are not sorted
    many: Array = np.asarray(np.isinf(values).any(axis=0))
    found = np.sort(values[:, ~many], axis=0)  # nan last
    first = ~np.isnan(found)
    first[1:] &= found[1:] != found[:-1]
    count = first.sum(axis=0)
    few = count <= MOST_VALUES
    many[~many] = ~few
    if many.all():
        return np.full((1, values.shape[1]), CONTINUOUS)
    distinct = np.sort(np.where(first[:, few], found[:, few], np.nan), axis=0)
    out = np.full((int(count[few].max(initial=1)), values.shape[1]), np.nan)
    out[:, many] = CONTINUOUS
    out[: len(distinct), ~many] = distinct[: len(out)]
    return out
