"""Access by column: data in memory, for solvers that iterate over columns.

    F(β, b) = Σ_i w_i nll(y_i, x_iᵀβ + b + o_i) + Σ_j λ_j|β_j| + ½ Σ_j κ_j β_j²

A dense X is kept in Fortran order, a sparse one as CSC; a copy is made only where the design has
another layout.  The gap is certified if the convex conjugate of the likelihood is known:

    Gaussian, identity     f*(r) = r²/2w + r y
    Bernoulli, logit       f*(r) = w h(y + r/w)        h(p) = p ln p + (1 − p) ln(1 − p)
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import cast, final

import numpy as np
from scipy import sparse
from scipy.special import xlog1py, xlogy

from likely._typing import Array, Matrix
from likely.caching import cached_property
from likely.data.block import ArrayBlocks, Blocks
from likely.data.layouts.base import Csr, Design
from likely.data.layouts.dense import Dense
from likely.errors import UnsupportedAccess
from likely.likelihoods.base import Likelihood
from likely.likelihoods.bernoulli import BernoulliLogit
from likely.likelihoods.gaussian import GaussianIdentity
from likely.solvers.coordinate_descent import ColumnObjective, Slopes
from likely.solvers.lasso_path import PathObjective


class ColumnStore(ABC):
    """X by columns."""

    n_columns: int

    @abstractmethod
    def times(self, beta: Array) -> Array:
        """Xβ."""

    @abstractmethod
    def transposed_times(self, R: Array) -> Array:
        """XᵀR, for R of shape (n,) or (n, k)."""

    @abstractmethod
    def change(self, columns: Array, moves: Array) -> Array:
        """X times the moves of a few columns."""

    @abstractmethod
    def on(self, columns: Array) -> Matrix:
        """X on a few columns."""

    @abstractmethod
    def curvatures(self, columns: Array, d: Array) -> Array:
        """Σ_i d_i x_ij²."""

    @abstractmethod
    def rows_of(self, columns: Array) -> Array:
        """Columns as the rows of a C-contiguous array."""

    @abstractmethod
    def descend(
        self,
        columns: Array,
        slopes: Slopes,
        beta: Array,
        l1: Array,
        l2: Array,
        centred: bool,
        share: float,
        max_sweeps: int,
    ) -> float:
        """Overwrite ``beta`` with the minimiser of the model on ``columns``; return the shift."""


@final
@dataclass(frozen=True, eq=False)
class DenseColumns(ColumnStore):
    transposed: Array  # (p, n), C-contiguous float64

    @property
    def n_columns(self) -> int:  # type: ignore[override]  # read-only here
        return int(self.transposed.shape[0])

    def times(self, beta: Array) -> Array:
        return np.asarray(np.dot(self.transposed.T, beta))

    def transposed_times(self, R: Array) -> Array:
        return np.asarray(np.dot(self.transposed, R))

    def change(self, columns: Array, moves: Array) -> Array:
        moving = np.flatnonzero(moves)
        return np.asarray(np.dot(moves[moving], self.transposed[columns[moving]]))

    def on(self, columns: Array) -> Matrix:
        return self.transposed[columns].T

    def curvatures(self, columns: Array, d: Array) -> Array:
        return np.asarray(np.dot(self.transposed[columns] ** 2, d))

    def rows_of(self, columns: Array) -> Array:
        return self.transposed[columns]

    def descend(
        self,
        columns: Array,
        slopes: Slopes,
        beta: Array,
        l1: Array,
        l2: Array,
        centred: bool,
        share: float,
        max_sweeps: int,
    ) -> float:
        from likely.fast.columns import descend_dense

        d, q = slopes.curvature, slopes.slope.copy()
        X = self.transposed
        return descend_dense(X, columns, d, q, beta, l1, l2, centred, share, max_sweeps)


@final
@dataclass(frozen=True, eq=False)
class SparseColumns(ColumnStore):
    X: Matrix  # CSC, float64

    @property
    def n_columns(self) -> int:  # type: ignore[override]  # read-only here
        return int(self.X.shape[1])

    def times(self, beta: Array) -> Array:
        return np.asarray(self.X @ beta)

    def transposed_times(self, R: Array) -> Array:
        return np.asarray(self.X.T @ R)

    def change(self, columns: Array, moves: Array) -> Array:
        from likely.fast.columns import add_csc_columns

        out = np.zeros(self.X.shape[0])
        add_csc_columns(self.X.indptr, self.X.indices, self.X.data, columns, moves, out)
        return out

    def on(self, columns: Array) -> Matrix:
        return self.X[:, columns]

    def curvatures(self, columns: Array, d: Array) -> Array:
        X = self.X[:, columns]
        squared = sparse.csc_array((np.square(X.data), X.indices, X.indptr), shape=X.shape)
        return np.asarray(squared.T @ d)

    def rows_of(self, columns: Array) -> Array:
        return np.asarray(self.X[:, columns].T.toarray(), order="C")

    def descend(
        self,
        columns: Array,
        slopes: Slopes,
        beta: Array,
        l1: Array,
        l2: Array,
        centred: bool,
        share: float,
        max_sweeps: int,
    ) -> float:
        from likely.fast.columns import descend_csc

        X, d, q = self.X, slopes.curvature, slopes.slope.copy()
        entries = X.indptr, X.indices, X.data
        return descend_csc(*entries, columns, d, q, beta, l1, l2, centred, share, max_sweeps)


STORES: Mapping[type[Design], Callable[[Matrix], ColumnStore]] = {
    Dense: lambda values: DenseColumns(np.ascontiguousarray(values.T, dtype=np.float64)),
    Csr: lambda values: SparseColumns(sparse.csc_array(values, dtype=np.float64)),
}


def columns_of(blocks: Blocks) -> ColumnStore:
    """X by columns; refused for a file, whose blocks are read by rows."""
    reads = "Coordinate descent reads columns"
    design = in_memory(blocks, STORES, reads=reads, instead="proximal-newton").X
    return STORES[type(design)](design.stored())


@final
@dataclass(frozen=True, eq=False)
class Columns(ColumnObjective):
    """A likelihood on columns in memory."""

    store: ColumnStore
    likelihood: Likelihood
    y: Array
    weight: Array
    offset: Array
    l1: Array
    l2: Array
    intercept: bool
    unit: float | None = None

    @classmethod
    def of(
        cls,
        likelihood: Likelihood,
        blocks: Blocks,
        *,
        l1: Array | float = 0.0,
        l2: Array | float = 0.0,
        intercept: bool = True,
    ) -> "Columns":
        """From data in memory; the design has no column for the intercept."""
        store, data = columns_of(blocks), cast(ArrayBlocks, blocks)
        n, p = data.n_rows, store.n_columns
        return cls(
            store=store,
            likelihood=likelihood,
            y=np.asarray(data.y, dtype=float),
            weight=filled(data.weight, 1.0, n),
            offset=filled(data.offset, 0.0, n),
            l1=np.array(np.broadcast_to(l1, p), dtype=float),
            l2=np.array(np.broadcast_to(l2, p), dtype=float),
            intercept=intercept,
        )

    def predictor(self, theta: Array) -> Array:
        p = self.store.n_columns
        return self.store.times(theta[:p]) + self.offset + theta[p:].sum()

    def slopes(self, eta: Array) -> Slopes:
        nll, slope, curvature = self.likelihood.derivatives(self.y, eta)
        value = float(np.dot(self.weight, nll))
        return Slopes(value, self.weight * slope, self.weight * curvature)

    def pulls(self, slope: Array) -> Array:
        return self.store.transposed_times(slope)

    def change(self, columns: Array, moves: Array) -> Array:
        return self.store.change(columns, moves)

    def on(self, columns: Array) -> Matrix:
        return self.store.on(columns)

    def curvatures(self, columns: Array, d: Array) -> Array:
        return self.store.curvatures(columns, d)

    def conjugate(self, slope: Array) -> float | None:
        known = CONJUGATES.get(type(self.likelihood))
        if known is None:
            return None
        return known(self.y, self.weight, slope) - float(np.dot(slope, self.offset))

    def descend(
        self, columns: Array, here: Slopes, beta: Array, *, share: float, max_sweeps: int
    ) -> tuple[Array, float]:
        target = beta.copy()
        l1, l2, centred = self.l1[columns], self.l2[columns], self.intercept
        shift = self.store.descend(columns, here, target, l1, l2, centred, share, max_sweeps)
        return target, shift


def gaussian_conjugate(y: Array, weight: Array, slope: Array) -> float:
    """Σ r²/2w + r y; an example of weight 0 has r = 0."""
    squares = np.divide(slope**2, weight, out=np.zeros_like(slope), where=weight > 0)
    return float(0.5 * squares.sum() + np.dot(slope, y))


def bernoulli_conjugate(y: Array, weight: Array, slope: Array) -> float:
    """Σ w h(y + r/w)."""
    p = np.clip(y + np.divide(slope, weight, out=np.zeros_like(slope), where=weight > 0), 0.0, 1.0)
    return float(np.dot(weight, xlogy(p, p) + xlog1py(1.0 - p, -p)))


CONJUGATES: Mapping[type[Likelihood], Callable[[Array, Array, Array], float]] = {
    GaussianIdentity: gaussian_conjugate,
    BernoulliLogit: bernoulli_conjugate,
}


@final
@dataclass(frozen=True, eq=False)
class LeastSquaresColumns(PathObjective):
    """Least squares on columns in memory, for ``lasso_path``."""

    store: ColumnStore
    y: Array  # net of the offset
    weight: Array

    @classmethod
    def of(cls, blocks: Blocks) -> "LeastSquaresColumns":
        store, data = columns_of(blocks), cast(ArrayBlocks, blocks)
        y, n = np.asarray(data.y, dtype=float), data.n_rows
        return cls(store, y - filled(data.offset, 0.0, n), filled(data.weight, 1.0, n))

    @property
    def n_columns(self) -> int:  # type: ignore[override]  # read-only here
        return self.store.n_columns

    @cached_property
    def _equal(self) -> bool:
        return bool((self.weight == 1.0).all())

    def pulls(self, R: Array) -> Array:
        weighted = R if self._equal else (self.weight * R.T).T
        return self.store.transposed_times(weighted)

    def rows_of(self, columns: Array) -> Array:
        return self.store.rows_of(columns)


def in_memory(
    blocks: Blocks, layouts: Collection[type[Design]], *, reads: str, instead: str
) -> ArrayBlocks:
    """The blocks, if they are views of one design of these layouts; refused for a file."""
    design = blocks.X if isinstance(blocks, ArrayBlocks) else None
    if type(design) not in layouts:
        what = type(blocks if design is None else design).__name__
        raise UnsupportedAccess(
            f"{reads}, which {what} cannot give. Use solver={instead!r}, which needs only sums."
        )
    return cast(ArrayBlocks, blocks)


def filled(values: Array | None, default: float, n: int) -> Array:
    """One number per example; ``default`` if none were given."""
    return np.full(n, default) if values is None else np.asarray(values, dtype=float)
