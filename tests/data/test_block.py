"""Blocks cover the rows once, in order, as often as they are asked."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from likely.data.block import BLOCK_BYTES, FEWEST_ROWS, MOST_ROWS, ArrayBlocks, block_rows
from likely.data.design import Dense


def some_blocks(n, rows_per_block=None):
    return ArrayBlocks(
        Dense(np.arange(2.0 * n).reshape(n, 2)),
        y=np.arange(n),
        weight=np.arange(n) + 0.5,
        offset=-np.arange(n),
        group=np.arange(n) // 3,
        rows_per_block=rows_per_block,
    )


@given(n=st.integers(1, 50), rows=st.integers(1, 60))
def test_blocks_cover_the_rows_in_order(n, rows):
    blocks = some_blocks(n, rows)
    made = list(blocks)
    for name in ("y", "weight", "offset", "group"):
        joined = np.concatenate([getattr(block, name) for block in made])
        assert_array_equal(joined, getattr(blocks, name))
    assert_array_equal(np.vstack([block.X.values for block in made]), blocks.X.values)
    assert [block.start for block in made] == list(range(0, n, rows))
    assert all(block.n_rows == rows for block in made[:-1])


def test_blocks_can_be_read_twice():
    blocks = some_blocks(10, 4)
    first = [block.y.tolist() for block in blocks]
    assert first == [block.y.tolist() for block in blocks] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_blocks_are_views():
    blocks = some_blocks(10, 4)
    assert all(np.shares_memory(block.X.values, blocks.X.values) for block in blocks)


def test_what_is_not_given_is_none():
    (block,) = ArrayBlocks(Dense(np.zeros((3, 1))))
    assert block.y is block.weight is block.offset is block.group is None


def test_no_rows_are_no_blocks():
    assert list(ArrayBlocks(Dense(np.empty((0, 2))))) == []


def test_block_sizes_follow_the_rule():
    assert block_rows(10**7, 10, 10**7 * 80) == BLOCK_BYTES // 80
    assert block_rows(10**7, 1, 10**7 * 8) == MOST_ROWS
    assert block_rows(10**6, 5000, 10**6 * 40_000) == 5000  # a block is not wider than tall
    assert block_rows(16_000, 10, 16_000 * 80) == 2000  # an eighth, so that workers share
    assert block_rows(500, 2, 500 * 16) == FEWEST_ROWS
