"""Dense layouts: a plain array, and one whose columns are centred.

    Xᵀ diag(d) X = ZᵀZ,    Z = diag(√d) X    (d ≥ 0)

A product of a matrix with its own transpose costs half of a general one.  Two float32 matrices
are multiplied in float32, one and a vector in float64; results are float64.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from likely._typing import Array, Matrix
from likely.data.layouts.base import Design, pays


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

    def taken(self, order: Array) -> "Dense":
        return Dense(self.values[order])

    def joined(self, others: Sequence["Dense"]) -> "Dense":
        return Dense(np.concatenate([self.values, *(other.values for other in others)]))

    def matmat(self, theta: Array) -> Array:
        return _product(self.values, theta)

    def rmatmat(self, residual: Array) -> Array:
        return _transposed_product(self.values, residual)

    def sandwich(self, d: Array, columns: Array | None = None) -> Array:
        X = self.values if columns is None else self.values[:, columns]
        if not d.min(initial=0.0) >= 0:  # nan too
            return _as_float64(np.dot(X.T, X * _like(X, d)[:, None]))
        Z = X * _like(X, np.sqrt(d))[:, None]
        return _as_float64(np.dot(Z.T, Z))

    def sandwiches(self, D: Array, columns: Array | None = None) -> Iterator[Array]:
        X = self if columns is None else Dense(self.values[:, columns])
        return (X.sandwich(d) for d in np.ascontiguousarray(D.T))

    def row_quadratic(self, M: Array) -> Array:
        return np.einsum("ij,ij->i", np.dot(self.values, M), self.values)

    def stored(self) -> Matrix:
        return self.values

    @property
    def n_centred(self) -> int:
        return self.n_features

    def centred(self, centre: Array) -> "Centred":
        return Centred(self.values, centre)


@final
@dataclass(frozen=True, eq=False)
class Centred(Design):
    """A centred array, X − c, for columns whose spread is small compared with their mean.

    The difference is taken cell by cell, before anything is multiplied: XᵀX − ccᵀn cancels to
    noise for a column such as a year, or a time in seconds.
    """

    values: Array  # (n, p)
    centre: Array  # (p,)

    @property
    def n_rows(self) -> int:
        return int(self.values.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.values.shape[1])

    @property
    def nbytes(self) -> int:
        return int(self.values.nbytes)

    def rows(self, start: int, stop: int) -> "Centred":
        return Centred(self.values[start:stop], self.centre)

    def taken(self, order: Array) -> "Centred":
        return Centred(self.values[order], self.centre)

    def joined(self, others: Sequence["Centred"]) -> "Centred":
        values = np.concatenate([self.values, *(other.values for other in others)])
        return Centred(values, self.centre)

    def matmat(self, theta: Array) -> Array:
        if theta.ndim == 1 and self._loops():
            from likely.fast.dense import centred_matvec

            eta = np.empty(self.n_rows)
            centred_matvec(self.values, self.for_columns(self.centre), self.for_columns(theta), eta)
            return eta
        return _product(self._centred(), theta)

    def rmatmat(self, residual: Array) -> Array:
        if residual.ndim == 1 and self._loops():
            from likely.fast.dense import centred_rmatvec

            out = np.zeros(self.n_features)
            centred_rmatvec(
                self.values, self.for_columns(self.centre), self.for_rows(residual), out
            )
            return out
        return _product(self._centred().T, residual)

    def sandwich(self, d: Array, columns: Array | None = None) -> Array:
        if columns is not None:
            return Centred(self.values[:, columns], self.centre[columns]).sandwich(d)
        if not d.min(initial=0.0) >= 0:
            return Dense(self._centred()).sandwich(d)
        Z = self._scaled(np.sqrt(d))
        return _as_float64(np.dot(Z.T, Z))

    def sandwiches(self, D: Array, columns: Array | None = None) -> Iterator[Array]:
        X = self if columns is None else Centred(self.values[:, columns], self.centre[columns])
        return Dense(X._centred()).sandwiches(D)

    def row_quadratic(self, M: Array) -> Array:
        return Dense(self._centred()).row_quadratic(M)

    def stored(self) -> Matrix:
        return self.values

    def _loops(self) -> bool:
        """Whether compiled loops can read X without a copy, which would cost too much."""
        X = self.values
        whole = X.flags.c_contiguous and X.flags.writeable
        return pays(X.size) and whole and X.dtype in (np.float32, np.float64)

    def _centred(self) -> Array:
        """X − c; a float32 X is subtracted from in float64, then rounded."""
        return (self.values - self.centre).astype(_working(self.values), copy=False)

    def _scaled(self, factor: Array) -> Array:
        """diag(factor) (X − c), the one temporary of a sandwich."""
        if self._loops():
            from likely.fast.dense import centre_and_scale

            Z = np.empty_like(self.values)
            centre_and_scale(self.values, self.for_columns(self.centre), self.for_rows(factor), Z)
            return Z
        Z = self._centred()
        Z *= _like(Z, factor)[:, None]
        return Z


def _product(X: Array, other: Array) -> Array:
    """X · other: in float64 for a vector, in X's precision for several right-hand sides."""
    if other.ndim == 2 and X.dtype == np.float64:  # BLAS is a quarter faster the other way round
        return np.dot(np.ascontiguousarray(other.T), X.T).T
    return _as_float64(np.dot(X, other if other.ndim == 1 else _like(X, other)))


def _transposed_product(X: Array, other: Array) -> Array:
    """Xᵀ · other, in the precision of X · other; (otherᵀ X)ᵀ takes two thirds of the time."""
    if other.ndim == 1:
        return _as_float64(np.dot(X.T, other))
    return _as_float64(np.dot(np.ascontiguousarray(_like(X, other).T), X).T)


def _working(X: Array) -> type:
    return np.float32 if X.dtype == np.float32 else np.float64


def _like(X: Array, values: Array) -> Array:
    """``values`` in the precision that X is multiplied in."""
    return values.astype(_working(X), copy=False)


def _as_float64(values: Array) -> Array:
    return values.astype(np.float64, copy=False)
