"""Counts or weights of words, row by row: the little of a sparse matrix that predictions need.

XM        (n, K) for a dense M (p, K)
"""

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from likely._typing import Array, Codes


@final
@dataclass(frozen=True, eq=False)
class CountRows:
    """Row i has ``data[starts[i] : starts[i + 1]]`` in the ``columns`` of these places."""

    data: Array  # float64
    columns: Codes
    starts: Codes  # (n + 1,)
    n_columns: int

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.starts) - 1, self.n_columns

    def sum(self, axis: int) -> Array:
        """Σ_j x_ij of each row, as of a matrix; the other axis is not needed."""
        assert axis == 1
        return self.row_sums(self.data)

    def row_sums(self, values: Array) -> Array:
        """The sums of values, one for each entry or row of them, over the entries of each row."""
        out = np.zeros((len(self.starts) - 1, *values.shape[1:]))
        filled = np.flatnonzero(np.diff(self.starts))  # reduceat has no empty sums
        if filled.size:
            out[filled] = np.add.reduceat(values, self.starts[filled], axis=0)
        return out

    def __matmul__(self, M: Array) -> Array:
        return self.row_sums(self.data[:, None] * M[self.columns])

    def __ne__(self, other: object) -> "CountRows":  # type: ignore[override]  # as of a matrix
        return replace(self, data=(self.data != other).astype(np.float64))

    def toarray(self) -> Array:
        out = np.zeros(self.shape)
        row = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        out[row, self.columns] = self.data
        return out
