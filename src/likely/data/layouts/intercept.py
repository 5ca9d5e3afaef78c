"""The layouts of a design matrix X: one import for all of them, and the one that wraps another.

    Dense          a plain array                        Intercept     [x; 1]
    Centred        a plain array, centred
    Csr            sparse rows
    Mixed          numbers and category codes

``layouts/base.py`` has the operations.  A design never sees y.  To add a layout, write one class:
the laws in ``tests/laws/test_layouts.py`` check that it equals the dense matrix it represents.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from likely._typing import Array, Matrix, NumbersAndCodes
from likely.data.layouts.base import Design
from likely.data.layouts.dense import Centred, Dense
from likely.data.layouts.mixed import Mixed
from likely.data.layouts.sparse import Csr

__all__ = ["Centred", "Csr", "Dense", "Design", "Intercept", "Mixed"]


@final
@dataclass(frozen=True, eq=False)
class Intercept(Design):
    """Another design with a column of ones appended: x̃ = [x; 1]."""

    inner: Design

    @property
    def n_rows(self) -> int:
        return self.inner.n_rows

    @property
    def n_features(self) -> int:
        return self.inner.n_features + 1

    @property
    def nbytes(self) -> int:
        return self.inner.nbytes

    def rows(self, start: int, stop: int) -> "Intercept":
        return Intercept(self.inner.rows(start, stop))

    def taken(self, order: Array) -> "Intercept":
        return Intercept(self.inner.taken(order))

    def joined(self, others: Sequence["Intercept"]) -> "Intercept":
        return Intercept(self.inner.joined([other.inner for other in others]))

    def matmat(self, theta: Array) -> Array:
        eta = self.inner.matmat(theta[:-1])
        eta += theta[-1]
        return eta

    def rmatmat(self, residual: Array) -> Array:
        inner = self.inner.rmatmat(residual)
        return np.concatenate([inner, residual.sum(axis=0, keepdims=True)])

    def sandwich(self, d: Array, columns: Array | None = None) -> Array:
        inner, order = self._places(columns)
        part, sums = self.inner.sandwich(d, inner), self.inner.rmatmat(d)
        return _bordered(part, sums if inner is None else sums[inner], float(d.sum()), order)

    def sandwiches(self, D: Array, columns: Array | None = None) -> Iterator[Array]:
        inner, order = self._places(columns)
        sums = self.inner.rmatmat(D)[slice(None) if inner is None else inner].T
        parts = self.inner.sandwiches(D, inner)
        return (_bordered(*each, order) for each in zip(parts, sums, D.sum(axis=0), strict=True))

    def _places(self, columns: Array | None) -> tuple[Array | None, Array | None]:
        """The columns of the inner design, and where each column is after them."""
        if columns is None:
            return None, None
        inside = columns < self.n_features - 1
        return columns[inside], np.where(inside, np.cumsum(inside) - 1, inside.sum())

    def row_quadratic(self, M: Array) -> Array:
        cross = self.inner.matmat(M[:-1, -1] + M[-1, :-1])
        return self.inner.row_quadratic(M[:-1, :-1]) + cross + M[-1, -1]

    def stored(self) -> Matrix | NumbersAndCodes:
        return self.inner.stored()


def _bordered(part: Array, sums: Array, total: float, order: Array | None) -> Array:
    """A sandwich with that of a column of ones at its end, in the order asked for."""
    out = np.empty((len(sums) + 1, len(sums) + 1))
    out[:-1, :-1] = part
    out[-1, :-1] = out[:-1, -1] = sums
    out[-1, -1] = total
    return out if order is None else out[order[:, None], order]
