"""Responsibilities: to which component an example belongs; labels are certain responsibilities.

    r_ik ≥ 0, the share of example i that belongs to component k, times its weight

One-hot rows are labels, soft labels come from an E step.  Labels are stored as integer codes,
soft labels as a dense matrix (n, K); the sums below take either.
"""

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array, Codes, Matrix
from likely.errors import BadCell

FAST_CELLS = 100_000  # in a block: below, the readable version is quicker than loading Numba


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
        if isinstance(X, np.ndarray) and X.size >= FAST_CELLS and X.dtype == np.float64:
            return _sums_by_label(responsibility, X)
        if not isinstance(X, np.ndarray) and X.nnz >= FAST_CELLS:
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
