"""A penalised sum over blocks of rows, read in batches for stochastic training.

Rows are read in windows of fixed size of their index, from an array or from a file, shuffled inside
a window, and cut into batches; what is left at the end of a window joins the next.  So an array and
a file of the same rows, in blocks of any size, give the same batches.  Rows of weight 0 are left
out.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np

from likely._typing import Array
from likely.caching import cached_property
from likely.data.block import (
    ArrayBlocks,
    Block,
    Blocks,
    all_in_memory,
    between_rows,
    first_rows,
    in_windows,
    joined_rows,
    taken_rows,
)
from likely.errors import UnsupportedAccess
from likely.numerics.additive import FieldwiseAdditive
from likely.objectives.linear import PenalisedSum
from likely.solvers.batched import MOST_TRIED, Batch, BatchedObjective
from likely.solvers.mini_batches import BatchPlan, ShuffledBatches, epoch_order


@final
@dataclass(frozen=True, eq=False)
class RowTotals(FieldwiseAdditive):
    """Σ w, and how many rows have a weight above 0."""

    weight: float
    n_rows: int


def block_totals(block: Block) -> RowTotals:
    if block.weight is None:
        return RowTotals(float(block.n_rows), block.n_rows)
    return RowTotals(float(block.weight.sum()), int(np.count_nonzero(block.weight)))


@final
@dataclass(frozen=True, eq=False)
class RowBatches(BatchedObjective):
    """The objective of a model, in batches of its rows."""

    whole: PenalisedSum  # of all rows
    start_blocks: Blocks  # some rows from everywhere
    scales: Array | None = None  # units of θ
    unit: float | None = None
    passes: list[float] | None = None  # grows with every epoch in memory; files count themselves

    @cached_property
    def _totals(self) -> RowTotals:
        return self.whole.executor.sum(partial(block_totals), self.whole.blocks)

    @property
    def n_rows(self) -> int:
        return self._totals.n_rows

    @property
    def weight(self) -> float:
        return self._totals.weight

    @property
    def units(self) -> Array | None:
        return self.scales

    def value(self, theta: Array) -> float:
        return self.whole.value(theta) + self.whole.penalty(theta)

    def penalty_value(self, theta: Array) -> float:
        return self.whole.penalty_on.value(theta)

    def with_penalty(self, gradient: Array, theta: Array, share: float) -> Array:
        if not share:
            return gradient
        smooth = gradient + share * self.whole.penalty_on.gradient(theta)
        if not self._is_rough:
            return np.asarray(smooth)
        return self.whole.penalty_on.scaled(share).rough().least_subgradient(theta, smooth)

    @cached_property
    def _is_rough(self) -> bool:
        return self.whole.penalty(np.ones(self.whole.size)) > 0

    def batches(self, plan: BatchPlan, seed: int, epoch: int) -> Iterator[Batch]:
        if isinstance(plan, ShuffledBatches):
            shuffled = self._shuffled(plan, seed, epoch)
            return (self._batch(block) for block in cut_into_batches(shuffled, plan.size))
        return self._drawn(plan, seed, epoch)

    def trial_batches(self, size: int) -> list[Batch]:
        rows = all_in_memory(self.start_blocks)
        if rows is None:  # of a file, only the first of each block
            rows = first_rows(self.start_blocks, min(1.0, MOST_TRIED / self.n_rows))
        some = with_weight(rows.between(0, rows.n_rows))
        places = np.linspace(0, some.n_rows - 1, min(some.n_rows, MOST_TRIED)).astype(np.intp)
        order = places[epoch_order(len(places), 0, 0)]
        return [self._batch(block) for block in cut_into_batches([taken_rows(some, order)], size)]

    def _shuffled(self, plan: ShuffledBatches, seed: int, epoch: int) -> Iterator[Block]:
        """The rows of an epoch, window by window."""
        rows = self.whole.blocks if self._in_memory is None else self._in_memory
        self._count_a_pass()
        for window in in_windows(rows, plan.window):
            if plan.shuffle:
                first, n = window.start, window.n_rows
                order = epoch_order(n, seed, epoch, window=plan.window, first=first)
                window = taken_rows(window, order)
            yield with_weight(window)

    def _drawn(self, plan: BatchPlan, seed: int, epoch: int) -> Iterator[Batch]:
        """Batches that need all rows at once."""
        if self._in_memory is None:
            raise UnsupportedAccess(
                f"{type(plan).__name__} draws rows from all of them, and the rows are a file; "
                "rows in memory were expected. Use batch=32, which shuffles inside windows."
            )
        self._count_a_pass()
        kept = with_weight(self._in_memory.between(0, self._in_memory.n_rows))
        labels = kept.target if kept.y is not None and kept.target.dtype.kind in "iub" else None
        for numbers in plan.of_epoch(kept.n_rows, seed, epoch, labels):
            yield self._batch(taken_rows(kept, numbers))

    @cached_property
    def _in_memory(self) -> ArrayBlocks | None:
        return all_in_memory(self.whole.blocks)

    def _count_a_pass(self) -> None:
        if self.passes is not None and self._in_memory is not None:
            self.passes.append(1.0)

    def _batch(self, block: Block) -> Batch:
        first_order = self.whole.terms.first_order
        return Batch(block.n_rows, lambda theta: first_order(theta, block))


def with_weight(block: Block) -> Block:
    """The rows of a block with a weight above 0."""
    if block.weight is None or block.weight.all():
        return block
    return taken_rows(block, np.flatnonzero(block.weight))


def cut_into_batches(blocks: Iterable[Block], size: int) -> Iterator[Block]:
    """Consecutive batches; the rows at the end of a block join those of the next."""
    left: list[Block] = []
    for block in blocks:
        if not block.n_rows:
            continue
        low = 0
        if left:
            low = min(size - left[0].n_rows, block.n_rows)
            left = [joined_rows([*left, between_rows(block, 0, low)])]
            if left[0].n_rows < size:
                continue
            yield left[0]
        last = low + (block.n_rows - low) // size * size
        for start in range(low, last, size):
            yield between_rows(block, start, start + size)
        left = [between_rows(block, last, block.n_rows)] if last < block.n_rows else []
    yield from left
