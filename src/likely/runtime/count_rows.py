"""Counts or weights of words, row by row: the little of a sparse matrix that predictions need.

XM        (n, K) for a dense M (p, K)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

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
    def n_rows(self) -> int:
        return len(self.starts) - 1

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, self.n_columns

    @property
    def row_of_entry(self) -> Codes:
        """The row of each of the entries of ``data``."""
        return np.repeat(np.arange(self.n_rows), np.diff(self.starts))

    def sum(self, axis: int) -> Array:
        """Σ_j x_ij of each row, as of a matrix; the other axis is not needed."""
        assert axis == 1
        return self.row_sums(self.data)

    def row_sums(self, values: Array) -> Array:
        """The sums of values, one for each entry or row of them, over the entries of each row."""
        out = np.zeros((self.n_rows, *values.shape[1:]))
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
        out[self.row_of_entry, self.columns] = self.data
        return out

    def rows(self, start: int, stop: int) -> "CountRows":
        """Rows ``start`` to ``stop``."""
        first, last = self.starts[start], self.starts[stop]
        starts = self.starts[start : stop + 1] - first
        return CountRows(self.data[first:last], self.columns[first:last], starts, self.n_columns)

    def beside(self, other: "CountRows") -> "CountRows":
        """The columns of both, those of ``other`` behind these."""
        order = np.argsort(np.append(self.row_of_entry, other.row_of_entry), kind="stable")
        return CountRows(
            np.concatenate([self.data, other.data])[order],
            np.concatenate([self.columns, self.n_columns + other.columns])[order],
            self.starts + other.starts,
            self.n_columns + other.n_columns,
        )


@final
@dataclass(frozen=True, eq=False)
class NumbersAndWords:
    """Dense columns, and words behind them."""

    numbers: Array  # (n, p)
    words: CountRows

    def __getitem__(self, place: tuple[slice, Sequence[int]]) -> Any:
        """Some columns of all rows: dense ones, or all words, which an event model reads."""
        p, columns = self.numbers.shape[1], place[1]
        if all(j < p for j in columns):
            return self.numbers[:, list(columns)]
        if list(columns) == list(range(p, p + self.words.n_columns)):
            return self.words
        return self.toarray()[:, list(columns)]

    def toarray(self) -> Array:
        return np.concatenate([self.numbers, self.words.toarray()], axis=1)
