"""The contract of a layout of the design matrix: the few operations that models need.

    matmat(Θ)        XΘ                 (n,) or (n, K)
    rmatmat(R)       XᵀR                (p,) or (p, K)
    sandwich(d)      Xᵀ diag(d) X       (p, p), or on some columns; sandwiches(D) for several d
    row_quadratic(M) diag(X M Xᵀ)       (n,), for leverages
    stored()         what distributions read

Results are new arrays, float64 also where X is float32: blocks are added in float64.  A layout
hands large blocks to compiled loops, which trust the shapes of their arguments: a layout checks
them first (``for_columns``, ``for_rows``), whoever made them.

The sparse layout: rows that store only the cells that are not zero.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Self, final

import numpy as np

from likely._typing import Array, Matrix, NumbersAndCodes
from likely.errors import InvalidInput
from likely.numerics.additive import FAST_CELLS


def pays(n_cells: int) -> bool:
    """Whether a compiled loop pays for this many stored cells, and can be compiled."""
    return n_cells >= FAST_CELLS and _can_compile()


@cache
def _can_compile() -> bool:
    """Whether Numba is installed; ``likely.runtime`` predicts without it."""
    try:
        return find_spec("numba") is not None
    except ImportError:
        return False


def for_loop(values: Array, dtype: type = np.float64) -> Array:
    """An array as compiled loops need it: one dtype, C order, writable (others compile again)."""
    return np.require(values, dtype, ["C", "W"])


def refuse_other_length(what: str, found: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """Refuse an array that a compiled loop would read past its end."""
    if found != expected:
        raise InvalidInput(
            f"{what} has shape {found}; the design matrix needs {expected}. Give one number for "
            "each of its columns or rows; if the model is from a file, save the model again."
        )


class Design(ABC):
    """The contract of a layout."""

    @property
    @abstractmethod
    def n_rows(self) -> int: ...

    @property
    @abstractmethod
    def n_features(self) -> int:
        """The number of columns of the matrix."""

    @property
    @abstractmethod
    def nbytes(self) -> int: ...

    @abstractmethod
    def rows(self, start: int, stop: int) -> Self:
        """Rows ``start`` to ``stop``, as a view where the layout allows it."""

    @abstractmethod
    def taken(self, order: Array) -> Self:
        """The rows of these numbers, in their order, copied."""

    @abstractmethod
    def joined(self, others: Sequence[Self]) -> Self:
        """These rows and then those of the others, copied."""

    @abstractmethod
    def matmat(self, theta: Array) -> Array: ...

    @abstractmethod
    def rmatmat(self, residual: Array) -> Array: ...

    @abstractmethod
    def sandwich(self, d: Array, columns: Array | None = None) -> Array:
        """Xᵀ diag(d) X; on ``columns`` (distinct) alone, nothing (p, p) is built."""

    def sandwiches(self, D: Array, columns: Array | None = None) -> Iterator[Array]:
        """Xᵀ diag(d) X for each column d of D, one after another."""
        return (self.sandwich(d, columns) for d in np.ascontiguousarray(D.T))

    @abstractmethod
    def row_quadratic(self, M: Array) -> Array: ...

    @abstractmethod
    def stored(self) -> Matrix | NumbersAndCodes: ...

    def for_columns(self, theta: Array, n_axes: int = 1) -> Array:
        """An array for a compiled loop, with an entry for each column in its first axes."""
        expected = (self.n_features,) * n_axes
        refuse_other_length("An array of coefficients", theta.shape[:n_axes], expected)
        return for_loop(theta)

    def for_rows(self, values: Array) -> Array:
        """An array for a compiled loop, with an entry for each row."""
        refuse_other_length("An array of rows", values.shape[:1], (self.n_rows,))
        return for_loop(values)

    @property
    def n_centred(self) -> int:
        """How many columns ``centred`` changes: the first ones."""
        return 0

    def centred(self, centre: Array) -> "Design":
        """The numbers minus ``centre``, (n_centred,); sparse ones stay, to keep their zeros."""
        return self


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
