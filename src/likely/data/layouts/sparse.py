"""The sparse layout: rows that store only the cells that are not zero."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from likely._typing import Array, Matrix
from likely.data.layouts.base import Design, for_loop, pays


@final
@dataclass(frozen=True, eq=False)
class Csr(Design):
    """A ``scipy.sparse`` CSR array: zeros are not stored."""

    values: Matrix

    @property
    def n_rows(self) -> int:
        return int(self.values.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.values.shape[1])

    @property
    def nbytes(self) -> int:
        v = self.values
        return int(v.data.nbytes + v.indices.nbytes + v.indptr.nbytes)

    def rows(self, start: int, stop: int) -> "Csr":
        X = self.values
        starts = X.indptr[start : stop + 1]
        cells = slice(starts[0], starts[-1])
        part = type(X)((stop - start, X.shape[1]), dtype=X.dtype)  # given cells, it copies them
        part.data, part.indices, part.indptr = X.data[cells], X.indices[cells], starts - starts[0]
        return Csr(part)

    def taken(self, order: Array) -> "Csr":
        return Csr(self.values[order])

    def joined(self, others: Sequence["Csr"]) -> "Csr":
        from scipy.sparse import vstack

        return Csr(vstack([self.values, *(other.values for other in others)], format="csr"))

    def matmat(self, theta: Array) -> Array:
        return np.asarray(self.values @ theta)

    def rmatmat(self, residual: Array) -> Array:
        return np.asarray(self.values.T @ residual)

    def sandwich(self, d: Array, columns: Array | None = None) -> Array:
        if pays(self.values.nnz):
            return self._looped_sandwich(d, columns)
        X = self.values if columns is None else self.values[:, columns]
        return np.asarray((X.T @ X.multiply(d[:, None]).tocsr()).toarray())

    def row_quadratic(self, M: Array) -> Array:
        if pays(self.values.nnz):
            return self._looped_quadratic(M)
        return np.asarray(self.values.multiply(self.values @ M).sum(axis=1)).ravel()

    def stored(self) -> Matrix:
        return self.values

    def _looped_sandwich(self, d: Array, columns: Array | None) -> Array:
        from likely.fast.sparse import add_half_sandwich, add_transpose

        kept = np.arange(self.n_features) if columns is None else columns
        place = np.full(self.n_features, -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        out = np.zeros((len(kept), len(kept)))
        add_half_sandwich(*self._parts(), place, self.for_rows(d), out)
        add_transpose(out)
        return out

    def _looped_quadratic(self, M: Array) -> Array:
        from likely.fast.sparse import csr_row_quadratic

        out = np.empty(self.n_rows)
        csr_row_quadratic(*self._parts(), self.for_columns(M, 2), out)
        return out

    def _parts(self) -> tuple[Array, Array, Array]:
        X = self.values
        index = X.indptr.dtype.type
        return for_loop(X.indptr, index), for_loop(X.indices, index), for_loop(X.data)


def stores_twice(values: Matrix) -> bool:
    """Whether a row stores a cell twice; sorting a large matrix to find out would cost more."""
    if values.has_sorted_indices or not pays(values.nnz):
        return True
    from likely.fast.sparse import repeats_cells

    return bool(repeats_cells(values.indptr, values.indices, values.shape[1]))
