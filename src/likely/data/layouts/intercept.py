"""The layouts of a design matrix X: one import for all of them, and the one that wraps another.

    Dense          a plain array                        Intercept     [x; 1]
    Centred        a plain array, centred
    Csr            sparse rows
    Mixed          numbers and category codes

``layouts/base.py`` has the operations.  A design never sees y.  To add a layout, write one class:
the laws in ``tests/laws/test_layouts.py`` check that it equals the dense matrix it represents.

Numeric columns and columns of category codes, side by side, the codes not expanded.

A code picks a row of Θ, and a sandwich is a table of sums.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import final

import numpy as np

from likely._typing import Array, Codes, Matrix, NumbersAndCodes
from likely.data.layouts.base import Csr, Design, for_loop, pays
from likely.data.layouts.dense import Centred, Dense

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


@final
@dataclass(frozen=True, eq=False)
class Mixed(Design):
    """Numeric columns, then one indicator per category of each column of codes.

    Code −1 (missing, or unseen) is a row of zeros.  The numeric columns may be
    centred, as in ``Centred``; indicators are not.
    """

    numeric: Array  # (n, p); beside words, sparse: families read it, and no product is asked for
    codes: Codes  # (n, q), from −1 to the column's size − 1
    sizes: tuple[int, ...]  # how many categories each column of codes has
    centre: Array | None = None  # (p,), of the numeric columns; None is 0

    @property
    def n_rows(self) -> int:
        return int(self.codes.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.numeric.shape[1]) + sum(self.sizes)

    @property
    def nbytes(self) -> int:
        words = not isinstance(self.numeric, np.ndarray)  # sparse rows: their cells count
        return int((self.numeric.data.nbytes if words else self.numeric.nbytes) + self.codes.nbytes)

    def rows(self, start: int, stop: int) -> "Mixed":
        numeric, codes = self.numeric[start:stop], self.codes[start:stop]
        return Mixed(numeric, codes, self.sizes, self.centre)

    def taken(self, order: Array) -> "Mixed":
        return Mixed(self.numeric[order], self.codes[order], self.sizes, self.centre)

    def joined(self, others: Sequence["Mixed"]) -> "Mixed":
        numeric = np.concatenate([self.numeric, *(other.numeric for other in others)])
        codes = np.concatenate([self.codes, *(other.codes for other in others)])
        return Mixed(numeric, codes, self.sizes, self.centre)

    def matmat(self, theta: Array) -> Array:
        eta = self._plain().matmat(theta[: self.numeric.shape[1]])
        if self._pays():
            from likely.fast.mixed import add_picked, add_picked_rows

            add = add_picked if theta.ndim == 1 else add_picked_rows
            add(*self._picks(), self.for_columns(theta), eta)
            return eta
        for _, code, known, part in self._indicators():
            eta[known] += theta[part][code]
        return eta

    def rmatmat(self, residual: Array) -> Array:
        out = np.zeros((self.n_features, *residual.shape[1:]))
        out[: self.numeric.shape[1]] = self._plain().rmatmat(residual)
        if self._pays():
            from likely.fast.mixed import sum_by_code, sum_rows_by_code

            add = sum_by_code if residual.ndim == 1 else sum_rows_by_code
            add(*self._picks(), self.for_rows(residual), out)
            return out
        for _, code, known, part in self._indicators():
            np.add.at(out[part], code, residual[known])
        return out

    def sandwich(self, d: Array, columns: Array | None = None) -> Array:
        if columns is not None:
            return self._sandwich_on(d, np.asarray(columns))
        p = self.numeric.shape[1]
        out = np.zeros((self.n_features, self.n_features))
        out[:p, :p] = self._plain().sandwich(d)
        if self._pays():
            from likely.fast.mixed import add_code_products

            add_code_products(*self._numbers(), *self._picks(), self.for_rows(d), out)
            return out
        weighted = self._numeric_centred() * d[:, None]
        for column, code, known, part in self._indicators():
            np.add.at(out[part, :p], code, weighted[known])
            for other, _, _, other_part in self._indicators():
                both = (self.codes[:, column] >= 0) & (self.codes[:, other] >= 0)
                cells = (self.codes[both, column], self.codes[both, other])
                np.add.at(out[part, other_part], cells, d[both])
            out[:p, part] = out[part, :p].T
        return out

    def row_quadratic(self, M: Array) -> Array:
        p = self.numeric.shape[1]
        if self._pays():
            from likely.fast.mixed import add_code_quadratic

            both = self.for_columns(M + M.T, 2)
            out = self._plain().row_quadratic(M[:p, :p])
            add_code_quadratic(*self._numbers(), *self._picks(), both, out)
            return out
        projected = self.matmat(M)  # (n, p): row i is x_iᵀM
        out = np.einsum("ij,ij->i", self._numeric_centred(), projected[:, :p])
        for _, code, known, part in self._indicators():
            out[known] += projected[known, part.start + code.astype(np.intp)]  # int8 would wrap
        return out

    def stored(self) -> NumbersAndCodes:
        return NumbersAndCodes(self.numeric, self.codes)

    @property
    def n_centred(self) -> int:
        return int(self.numeric.shape[1])

    def centred(self, centre: Array) -> "Mixed":
        return Mixed(self.numeric, self.codes, self.sizes, centre)

    def expanded(self) -> Dense:
        """The design with a column of 0 and 1 for each category: for few rows, BLAS is quicker."""
        values = np.zeros((self.n_rows, self.n_features))
        values[:, : self.numeric.shape[1]] = self._numeric_centred()
        for _, code, known, part in self._indicators():
            values[np.flatnonzero(known), part.start + code.astype(np.intp)] = 1.0
        return Dense(values)

    def sparse(self) -> Matrix:
        """The design as CSR rows, with a column for each category: for very many categories."""
        from scipy import sparse

        known = self.codes >= 0
        columns = (self.codes + np.array(self._starts(), dtype=np.int64))[known]
        starts = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        shape = (self.n_rows, self.n_features)
        indicators = sparse.csr_array((np.ones(columns.size), columns, starts), shape=shape)
        numbers = sparse.csr_array(self._numeric_centred())
        numbers.resize(shape)
        return sparse.csr_array(numbers + indicators)

    def _plain(self) -> Dense | Centred:
        """The numeric columns alone."""
        return Dense(self.numeric) if self.centre is None else Centred(self.numeric, self.centre)

    def _numeric_centred(self) -> Array:
        return self.numeric if self.centre is None else self.numeric - self.centre

    def _sandwich_on(self, d: Array, columns: Array) -> Array:
        """The sandwich of the design that has these columns only: other categories are unknown."""
        p = self.numeric.shape[1]
        kept = np.sort(columns)
        numbers = kept[kept < p]
        sizes, recoded = [], []
        for column, code, known, part in self._indicators():
            inside = kept[(kept >= part.start) & (kept < part.stop)] - part.start
            if inside.size:
                place = np.full(self.sizes[column], -1, dtype=np.int32)
                place[inside] = np.arange(inside.size)
                recoded.append(np.full(self.n_rows, -1, dtype=np.int32))
                recoded[-1][known] = place[code]
                sizes.append(int(inside.size))
        codes = np.stack(recoded, axis=1) if recoded else np.empty((self.n_rows, 0), np.int32)
        centre = None if self.centre is None else self.centre[numbers]
        part_design = Mixed(self.numeric[:, numbers], codes, tuple(sizes), centre)
        rank = np.searchsorted(kept, columns)
        return part_design.sandwich(d)[np.ix_(rank, rank)]

    def _indicators(self) -> list[tuple[int, Codes, Array, slice]]:
        """Per column of codes: its number, its known codes, where they are known, their columns."""
        out = []
        for column, (start, size) in enumerate(zip(self._starts(), self.sizes, strict=True)):
            code = self.codes[:, column]
            known = code >= 0
            out.append((column, code[known], known, slice(start, start + size)))
        return out

    def _starts(self) -> list[int]:
        """The first indicator of each column of codes."""
        return list(accumulate(self.sizes, initial=int(self.numeric.shape[1])))[:-1]

    def _pays(self) -> bool:
        return pays(self.numeric.size + self.codes.size)

    def _picks(self) -> tuple[Codes, Array]:
        """The codes and their first indicators, as loops need them."""
        return for_loop(self.codes, np.int32), np.array(self._starts(), dtype=np.int64)

    def _numbers(self) -> tuple[Array, Array]:
        """The numeric columns and their centre, as loops need them."""
        centre = np.zeros(self.numeric.shape[1]) if self.centre is None else self.centre
        return for_loop(self.numeric), for_loop(centre)
