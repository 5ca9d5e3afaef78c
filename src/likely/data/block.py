"""The data, cut into blocks that are read in order, as often as needed.

    rows of a block = clip(4 MiB / bytes per row, max(1024, p), 65536), at most n/8 above 4096

The cut depends on the data alone, never on the number of workers, so a fit does
not depend on them either.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import final

import numpy as np

from likely._typing import Array
from likely.data.layouts.base import Design
from likely.errors import BadCell, InvalidInput

BLOCK_BYTES = 4 * 2**20  # stays in the second-level cache with its temporaries
FEWEST_ROWS = 1024
MOST_ROWS = 65536
NOT_SHARED = 4096  # rows: to hand fewer to another worker costs more than it saves


@final
@dataclass(frozen=True, eq=False)
class Block:
    """Some consecutive examples."""

    X: Design
    y: Array | None = None  # responses, class codes (−1 unknown) or soft labels
    weight: Array | None = None  # None is 1 for every example
    offset: Array | None = None
    group: Array | None = None
    start: int = 0  # the index of the first example

    @property
    def n_rows(self) -> int:
        return self.X.n_rows

    @property
    def target(self) -> Array:
        """y, where the caller knows that there is one."""
        assert self.y is not None
        return self.y


class Blocks(ABC):
    """A re-iterable sequence of blocks: each pass gives the same ones in the same order."""

    n_features: int
    n_rows: int | None  # None when only a pass over the data would tell
    nbytes: int | None

    @abstractmethod
    def __iter__(self) -> Iterator[Block]: ...


@final
@dataclass(frozen=True, eq=False)
class ArrayBlocks(Blocks):
    """Blocks of data in memory: views of it, nothing is copied."""

    X: Design
    y: Array | None = None
    weight: Array | None = None
    offset: Array | None = None
    group: Array | None = None
    rows_per_block: int | None = None  # None is the rule above

    @property
    def n_features(self) -> int:  # type: ignore[override]  # read-only here
        return self.X.n_features

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        return self.X.n_rows

    @property
    def nbytes(self) -> int:  # type: ignore[override]
        return self.X.nbytes

    @property
    def target(self) -> Array:
        """y, where the caller knows that there is one."""
        assert self.y is not None
        return self.y

    def __iter__(self) -> Iterator[Block]:
        size = self.rows_per_block or block_rows(self.n_rows, self.n_features, self.nbytes)
        for start in range(0, self.n_rows, size):
            yield self.between(start, min(start + size, self.n_rows))

    def between(self, start: int, stop: int) -> Block:
        """Rows ``start`` to ``stop`` as one block."""

        whole = Block(self.X, self.y, self.weight, self.offset, self.group)
        return between_rows(whole, start, stop)


@final
@dataclass(frozen=True, eq=False)
class WholeGroups(Blocks):
    """Blocks of data in memory, cut only between groups, whose rows are consecutive."""

    inner: ArrayBlocks

    @property
    def n_features(self) -> int:  # type: ignore[override]  # read-only here
        return self.inner.n_features

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        return self.inner.n_rows

    @property
    def nbytes(self) -> int:  # type: ignore[override]
        return self.inner.nbytes

    def __iter__(self) -> Iterator[Block]:
        assert self.inner.group is not None  # the caller groups the rows
        ends = np.append(np.flatnonzero(np.diff(self.inner.group)) + 1, self.n_rows)
        size = self.inner.rows_per_block or block_rows(self.n_rows, self.n_features, self.nbytes)
        start = 0
        while start < self.n_rows:
            stop = int(ends[np.searchsorted(ends, min(start + size, self.n_rows))])
            yield self.inner.between(start, stop)
            start = stop


@final
@dataclass(frozen=True, eq=False)
class MappedBlocks(Blocks):
    """Blocks that change, or check, each of other blocks as it is read."""

    inner: Blocks
    change: Callable[[Block], Block]
    n_features: int

    @property
    def n_rows(self) -> int | None:  # type: ignore[override]  # read-only here
        return self.inner.n_rows

    @property
    def nbytes(self) -> int | None:  # type: ignore[override]
        return self.inner.nbytes

    def __iter__(self) -> Iterator[Block]:
        return map(self.change, self.inner)


@final
@dataclass(frozen=True, eq=False)
class CountedBlocks(Blocks):
    """Blocks that count how often all of them were read."""

    inner: Blocks
    passes: list[float]  # one entry per pass that began

    @property
    def n_features(self) -> int:  # type: ignore[override]  # read-only here
        return self.inner.n_features

    @property
    def n_rows(self) -> int | None:  # type: ignore[override]
        return self.inner.n_rows

    @property
    def nbytes(self) -> int | None:  # type: ignore[override]
        return self.inner.nbytes

    def __iter__(self) -> Iterator[Block]:
        self.passes.append(1.0)
        return iter(self.inner)


def redesigned(blocks: Blocks, change: Callable[[Design], Design], n_features: int) -> MappedBlocks:
    """The blocks with each design seen in another way: centred, or with an intercept."""
    return MappedBlocks(blocks, partial(_redesigned, change), n_features)


def checked(blocks: Blocks, check: Callable[[Block], None]) -> MappedBlocks:
    """The blocks, each checked as it is read; errors count rows from the start of the data."""
    return MappedBlocks(blocks, partial(_checked, check), blocks.n_features)


def _redesigned(change: Callable[[Design], Design], block: Block) -> Block:
    return replace(block, X=change(block.X))


def _checked(check: Callable[[Block], None], block: Block) -> Block:
    try:
        check(block)
    except BadCell as error:
        raise error.moved(row=block.start + error.row) from None
    except InvalidInput as error:
        raise InvalidInput(f"Counted from row {block.start}: {error}") from None
    return block


def first_rows(blocks: Blocks, share: float) -> ArrayBlocks:
    """The first rows of each block, copied: a subset that depends little on the row order."""
    return _together([_copied(block, 0, max(1, int(share * block.n_rows))) for block in blocks])


def chosen_rows(blocks: Blocks, rows: Array) -> ArrayBlocks:
    """The rows of these numbers, copied: in rising order, and as often as they are named."""
    rows, parts = np.sort(rows), list[Block]()
    for block in blocks:
        low, high = np.searchsorted(rows, [block.start, block.start + block.n_rows])
        here = rows[low:high] - block.start
        runs = np.split(here, np.flatnonzero(np.diff(here) != 1) + 1) if here.size else []
        parts += [_copied(block, int(run[0]), int(run[-1]) + 1) for run in runs]
    return _together(parts)


def all_in_memory(blocks: Blocks) -> ArrayBlocks | None:
    """The rows as they are after every change, where arrays are behind them; None for a file."""
    if isinstance(blocks, ArrayBlocks):
        return blocks
    if isinstance(blocks, CountedBlocks | WholeGroups):
        return all_in_memory(blocks.inner)
    inner = all_in_memory(blocks.inner) if isinstance(blocks, MappedBlocks) else None
    if inner is None or not isinstance(blocks, MappedBlocks):
        return None
    whole = blocks.change(inner.between(0, inner.n_rows))
    return ArrayBlocks(whole.X, whole.y, whole.weight, whole.offset, whole.group)


def taken_rows(block: Block, order: Array) -> Block:
    """The rows of a block with these numbers, counted from its first, in this order, copied."""

    def pick(array: Array | None) -> Array | None:
        return None if array is None else array[order]

    return Block(
        X=block.X.taken(order),
        y=pick(block.y),
        weight=pick(block.weight),
        offset=pick(block.offset),
        group=pick(block.group),
        start=block.start,
    )


def between_rows(block: Block, start: int, stop: int) -> Block:
    """Rows ``start`` to ``stop`` of a block, counted from its first, as a view."""

    def cut(array: Array | None) -> Array | None:
        return None if array is None else array[start:stop]

    return Block(
        X=block.X.rows(start, stop),
        y=cut(block.y),
        weight=cut(block.weight),
        offset=cut(block.offset),
        group=cut(block.group),
        start=block.start + start,
    )


def in_windows(blocks: Blocks, size: int) -> Iterator[Block]:
    """The rows in blocks of ``size`` of them, whatever the blocks are; the last is smaller."""
    if isinstance(blocks, ArrayBlocks):
        for start in range(0, blocks.n_rows, size):
            yield blocks.between(start, min(start + size, blocks.n_rows))
        return
    waiting: list[Block] = []
    for block in blocks:
        low = 0
        while low < block.n_rows:
            missing = size - sum(part.n_rows for part in waiting)
            high = min(low + missing, block.n_rows)
            waiting.append(between_rows(block, low, high))
            if high - low == missing:
                yield joined_rows(waiting)
                waiting = []
            low = high
    if waiting:
        yield joined_rows(waiting)


def joined_rows(parts: list[Block]) -> Block:
    """Consecutive blocks as one."""
    if len(parts) == 1:
        return parts[0]
    whole = _together(parts)
    return replace(whole.between(0, whole.n_rows), start=parts[0].start)


def _together(parts: list[Block]) -> ArrayBlocks:
    first, others = parts[0], parts[1:]
    return ArrayBlocks(
        X=first.X.joined([part.X for part in others]),
        y=_joined([part.y for part in parts]),
        weight=_joined([part.weight for part in parts]),
        offset=_joined([part.offset for part in parts]),
        group=_joined([part.group for part in parts]),
        rows_per_block=max(1, min(MOST_ROWS, -(-sum(part.n_rows for part in parts) // 2))),
    )


def _copied(block: Block, first: int, stop: int) -> Block:
    def cut(array: Array | None) -> Array | None:
        return None if array is None else array[first:stop].copy()

    return Block(
        X=deepcopy(block.X.rows(first, stop)),  # a view would keep the whole block of a file
        y=cut(block.y),
        weight=cut(block.weight),
        offset=cut(block.offset),
        group=cut(block.group),
        start=block.start + first,
    )


def _joined(arrays: list[Array | None]) -> Array | None:
    return np.concatenate(arrays) if arrays[0] is not None else None  # type: ignore[arg-type]  # all or none


def block_rows(n_rows: int, n_features: int, nbytes: int) -> int:
    """How many rows a block has: a function of the data's shape and nothing else."""
    per_row = max(1, nbytes // max(1, n_rows))
    rows = min(max(BLOCK_BYTES // per_row, FEWEST_ROWS, n_features), MOST_ROWS)
    return max(1, min(rows, max(-(-n_rows // 8), NOT_SHARED)))
