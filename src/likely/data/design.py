"""The layouts of a design matrix X, and the few verbs that a model needs of it.

    matmat(Θ)        XΘ                 (n,) or (n, K)
    rmatmat(R)       XᵀR                (p,) or (p, K)
    sandwich(d)      Xᵀ diag(d) X       (p, p), or on some columns
    row_quadratic(M) diag(X M Xᵀ)       (n,), for leverages
    stored()         what distributions read

A design never sees y.  To add a layout, write one class: the laws in
``tests/laws/test_layouts.py`` hold it equal to the dense matrix it stands for.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from likely._typing import Array, Codes, Columns, Matrix


class Design(ABC):
    """The contract of a layout."""

    @property
    @abstractmethod
    def n_rows(self) -> int: ...

    @property
    @abstractmethod
    def n_features(self) -> int:
        """The number of columns of the matrix this stands for."""

    @property
    @abstractmethod
    def nbytes(self) -> int: ...

    @abstractmethod
    def rows(self, start: int, stop: int) -> Self:
        """Rows ``start`` to ``stop``, as a view where the layout allows it."""

    @abstractmethod
    def matmat(self, theta: Array) -> Array: ...

    @abstractmethod
    def rmatmat(self, residual: Array) -> Array: ...

    @abstractmethod
    def sandwich(self, d: Array, columns: Array | None = None) -> Array: ...

    @abstractmethod
    def row_quadratic(self, M: Array) -> Array: ...

    @abstractmethod
    def stored(self) -> Matrix | Columns: ...


@final
@dataclass(frozen=True, eq=False)
class Dense(Design):
    """A plain array, (n, p)."""

    values: Array

    @property
    def n_rows(self) -> int:
        return int(self.values.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.values.shape[1])

    @property
    def nbytes(self) -> int:
        return int(self.values.nbytes)

    def rows(self, start: int, stop: int) -> "Dense":
        return Dense(self.values[start:stop])

    def matmat(self, theta: Array) -> Array:
        return np.dot(self.values, theta)

    def rmatmat(self, residual: Array) -> Array:
        return np.dot(self.values.T, residual)

    def sandwich(self, d: Array, columns: Array | None = None) -> Array:
        X = self.values if columns is None else self.values[:, columns]
        return np.dot(X.T, X * d[:, None])

    def row_quadratic(self, M: Array) -> Array:
        return np.einsum("ij,ij->i", np.dot(self.values, M), self.values)

    def stored(self) -> Matrix:
        return self.values


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
        return Csr(self.values[start:stop])

    def matmat(self, theta: Array) -> Array:
        return np.asarray(self.values @ theta)

    def rmatmat(self, residual: Array) -> Array:
        return np.asarray(self.values.T @ residual)

    def sandwich(self, d: Array, columns: Array | None = None) -> Array:
        X = self.values if columns is None else self.values[:, columns]
        return np.asarray((X.T @ X.multiply(d[:, None]).tocsr()).toarray())

    def row_quadratic(self, M: Array) -> Array:
        return np.asarray(self.values.multiply(self.values @ M).sum(axis=1)).ravel()

    def stored(self) -> Matrix:
        return self.values


@final
@dataclass(frozen=True, eq=False)
class Mixed(Design):
    """Numeric columns, then one indicator per category of each column of codes.

    The indicators are never expanded: a code picks a row of Θ, and a sandwich is a
    table of sums.  Code −1 (missing, or unseen) is a row of zeros.
    """

    numeric: Array  # (n, p)
    codes: Codes  # (n, q)
    sizes: tuple[int, ...]  # how many categories each column of codes has

    @property
    def n_rows(self) -> int:
        return int(self.codes.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.numeric.shape[1]) + sum(self.sizes)

    @property
    def nbytes(self) -> int:
        return int(self.numeric.nbytes + self.codes.nbytes)

    def rows(self, start: int, stop: int) -> "Mixed":
        return Mixed(self.numeric[start:stop], self.codes[start:stop], self.sizes)

    def matmat(self, theta: Array) -> Array:
        p = self.numeric.shape[1]
        eta = np.dot(self.numeric, theta[:p])
        for _, code, known, part in self._indicators():
            eta[known] += theta[part][code]
        return eta

    def rmatmat(self, residual: Array) -> Array:
        out = np.zeros((self.n_features, *residual.shape[1:]))
        out[: self.numeric.shape[1]] = np.dot(self.numeric.T, residual)
        for _, code, known, part in self._indicators():
            np.add.at(out[part], code, residual[known])
        return out

    def sandwich(self, d: Array, columns: Array | None = None) -> Array:
        p = self.numeric.shape[1]
        out = np.zeros((self.n_features, self.n_features))
        weighted = self.numeric * d[:, None]
        out[:p, :p] = np.dot(self.numeric.T, weighted)
        for column, code, known, part in self._indicators():
            np.add.at(out[part, :p], code, weighted[known])
            for other, _, _, other_part in self._indicators():
                both = (self.codes[:, column] >= 0) & (self.codes[:, other] >= 0)
                cells = (self.codes[both, column], self.codes[both, other])
                np.add.at(out[part, other_part], cells, d[both])
            out[:p, part] = out[part, :p].T
        return out if columns is None else out[np.ix_(columns, columns)]

    def row_quadratic(self, M: Array) -> Array:
        projected = self.matmat(M)  # (n, p): row i is x_iᵀM
        p = self.numeric.shape[1]
        out = np.einsum("ij,ij->i", self.numeric, projected[:, :p])
        for _, code, known, part in self._indicators():
            out[known] += projected[known, part.start + code.astype(np.intp)]  # int8 would wrap
        return out

    def stored(self) -> Columns:
        return Columns(self.numeric, self.codes)

    def _indicators(self) -> list[tuple[int, Codes, Array, slice]]:
        """Per column of codes: its number, its known codes, where they are known, their columns."""
        out = []
        start = self.numeric.shape[1]
        for column, size in enumerate(self.sizes):
            code = self.codes[:, column]
            known = code >= 0
            out.append((column, code[known], known, slice(start, start + size)))
            start += size
        return out


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

    def matmat(self, theta: Array) -> Array:
        return self.inner.matmat(theta[:-1]) + theta[-1]

    def rmatmat(self, residual: Array) -> Array:
        inner = self.inner.rmatmat(residual)
        return np.concatenate([inner, residual.sum(axis=0, keepdims=True)])

    def sandwich(self, d: Array, columns: Array | None = None) -> Array:
        out = np.empty((self.n_features, self.n_features))
        out[:-1, :-1] = self.inner.sandwich(d)
        out[-1, :-1] = out[:-1, -1] = self.inner.rmatmat(d)
        out[-1, -1] = d.sum()
        return out if columns is None else out[np.ix_(columns, columns)]

    def row_quadratic(self, M: Array) -> Array:
        cross = self.inner.matmat(M[:-1, -1] + M[-1, :-1])
        return self.inner.row_quadratic(M[:-1, :-1]) + cross + M[-1, -1]

    def stored(self) -> Matrix | Columns:
        return self.inner.stored()


@final
@dataclass(frozen=True, eq=False)
class Standardised(Design):
    """Another design, each column shifted and scaled, (x − centre) / scale, without a copy.

    A sparse inner design stays sparse: the shift enters each verb as a rank-one term.
    """

    inner: Design
    centre: Array  # (p,)
    scale: Array  # (p,), positive

    @property
    def n_rows(self) -> int:
        return self.inner.n_rows

    @property
    def n_features(self) -> int:
        return self.inner.n_features

    @property
    def nbytes(self) -> int:
        return self.inner.nbytes

    def rows(self, start: int, stop: int) -> "Standardised":
        return Standardised(self.inner.rows(start, stop), self.centre, self.scale)

    def matmat(self, theta: Array) -> Array:
        scaled = (theta.T / self.scale).T
        return self.inner.matmat(scaled) - np.dot(self.centre, scaled)

    def rmatmat(self, residual: Array) -> Array:
        shift = np.multiply.outer(self.centre, residual.sum(axis=0))
        return ((self.inner.rmatmat(residual) - shift).T / self.scale).T

    def sandwich(self, d: Array, columns: Array | None = None) -> Array:
        cross = np.multiply.outer(self.inner.rmatmat(d), self.centre)
        square = np.multiply.outer(self.centre, self.centre) * d.sum()
        out = self.inner.sandwich(d) - cross - cross.T + square
        out /= np.multiply.outer(self.scale, self.scale)
        return out if columns is None else out[np.ix_(columns, columns)]

    def row_quadratic(self, M: Array) -> Array:
        scaled = M / np.multiply.outer(self.scale, self.scale)
        linear = self.inner.matmat(np.dot(scaled + scaled.T, self.centre))
        constant = float(self.centre @ scaled @ self.centre)
        return self.inner.row_quadratic(scaled) - linear + constant

    def stored(self) -> Matrix | Columns:
        return self.inner.stored()
