"""Small whole numbers, counted by class in the same pass that finds out what they are.

    counts_kjv = Σ_i [y_i = k][x_ij = v],   0 ≤ v < CAP

Categorical models need a column's categories before its counts, which is two passes.  When
every value is a small whole number one pass gives both: a value that never occurs has no
counts.  Anything else (a negative or a large value) makes ``fits`` of the summary
false, and the caller makes two passes.
"""

from dataclasses import dataclass
from functools import partial
from typing import Self, final

import numpy as np

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.block import ArrayBlocks, Block
from likely.distributions.categorical import CategoricalStatistics
from likely.numerics.additive import FAST_CELLS, Additive

CAP = 64  # a power of two
PADDING = 16  # counts between two columns' tables: one cache line
TABLE_BYTES = 2**20  # of all counts: they must stay in the cache


@final
@dataclass(frozen=True, eq=False)
class ValueCounts(Additive):
    """Counts of the values 0 … CAP − 1, and whether they cover the data."""

    counts: Array  # (n_components, n_features, CAP)
    fits: bool

    def __add__(self, other: Self) -> Self:
        return type(self)(self.counts + other.counts, self.fits and other.fits)

    def sizes(self) -> tuple[int, ...] | None:
        """How many values each column has, when they are 0, 1, … without a gap; else None."""
        seen = self.counts.sum(axis=0) > 0
        sizes = seen.sum(axis=1)
        highest = seen.shape[1] - np.argmax(seen[:, ::-1], axis=1)
        if not self.fits or (sizes == 0).any() or (sizes != highest).any():
            return None
        return tuple(int(size) for size in sizes)

    def statistics(self, sizes: tuple[int, ...]) -> CategoricalStatistics:
        tables = [self.counts[:, j, :size] for j, size in enumerate(sizes)]
        return CategoricalStatistics(np.concatenate(tables, axis=1).astype(float), sizes)


def count_values(blocks: ArrayBlocks, n_components: int, executor: Executor) -> ValueCounts | None:
    """The counts of an array of integers; None where this would be slow."""
    X = np.asarray(blocks.X.stored())
    table = 4 * n_components * X.shape[1] * (CAP + PADDING)
    quick = X.dtype in (np.int32, np.int64) and X.flags.c_contiguous and X.flags.writeable
    if table > TABLE_BYTES or not quick or X.size < FAST_CELLS or blocks.weight is not None:
        return None
    return executor.sum(partial(block_value_counts, n_components), blocks)


def block_value_counts(n_components: int, block: Block) -> ValueCounts:
    from likely.fast.counts import count_small_values

    X, stride = np.asarray(block.X.stored()), CAP + PADDING
    labels = np.ascontiguousarray(block.y, dtype=np.int64)
    counts = np.zeros((n_components, X.shape[1] * stride), dtype=np.uint32)
    fits = count_small_values(X, labels, CAP, stride, counts)
    by_column = counts.reshape(n_components, X.shape[1], stride)[:, :, :CAP]
    return ValueCounts(by_column.astype(np.int64), bool(fits))
