"""Access by row: logistic regression with an L2 penalty, for solvers that iterate over rows.

    F(β, b) = Σ_i w_i nll(y_i, x_iᵀβ + b + o_i) + ½ κ ‖β‖²

Rows are kept as a CSR matrix in memory, which is the design itself if it is CSR.
"""

from dataclasses import dataclass
from typing import cast, final

import numpy as np
from scipy import sparse

from likely._typing import Array, Matrix
from likely.caching import cached_property
from likely.data.block import ArrayBlocks, Blocks
from likely.data.layouts.base import Csr
from likely.data.layouts.dense import Dense
from likely.errors import InvalidInput
from likely.objectives.columns import filled, in_memory
from likely.solvers.dual_coordinate_descent import RowObjective

LAYOUTS = (Dense, Csr)


def rows_of(blocks: Blocks) -> Matrix:
    """X as CSR; refused for a file, whose blocks are read in order."""
    reads = "Dual coordinate descent reads rows in random order"
    design = in_memory(blocks, LAYOUTS, reads=reads, instead="lbfgs").X
    return sparse.csr_array(design.stored(), dtype=np.float64)


@final
@dataclass(frozen=True, eq=False)
class Rows(RowObjective):
    """X in memory, by rows; y in [0, 1]."""

    X: Matrix  # CSR, float64
    y: Array
    weight: Array
    offset: Array
    ridge: float
    intercept: bool
    unit: float | None = None

    @classmethod
    def of(cls, blocks: Blocks, *, ridge: float, intercept: bool = True) -> "Rows":
        """From data in memory; the design has no column for the intercept."""
        if not 0 < ridge < np.inf:
            raise InvalidInput(
                f"The L2 penalty is {ridge:g}, but dual coordinate descent needs one above 0. "
                "Give an l2 > 0, or use solver='newton'."
            )
        X, data = rows_of(blocks), cast(ArrayBlocks, blocks)
        return cls(
            X=X,
            y=np.asarray(data.y, dtype=float),
            weight=filled(data.weight, 1.0, X.shape[0]),
            offset=filled(data.offset, 0.0, X.shape[0]),
            ridge=float(ridge),
            intercept=intercept,
        )

    @cached_property
    def squares(self) -> Array:
        """‖x_i‖², one per row."""
        X = self.X
        squared = sparse.csr_array((np.square(X.data), X.indices, X.indptr), shape=X.shape)
        return np.asarray(squared @ np.ones(X.shape[1]))

    @property
    def mean_square(self) -> float:
        return float(self.squares.mean()) or 1.0

    def times(self, beta: Array) -> Array:
        return np.asarray(self.X @ beta)

    def transposed_times(self, r: Array) -> Array:
        return np.asarray(self.X.T @ r)

    def sweep(
        self, order: Array, logit: Array, beta: Array, b: float, s2: float
    ) -> tuple[float, float]:
        from likely.fast.dual import sweep_rows

        X, w, o = self.X, self.weight, self.offset
        return sweep_rows(
            X.indptr, X.indices, X.data, w, o, self.squares, order, logit, beta, b, self.ridge, s2
        )
