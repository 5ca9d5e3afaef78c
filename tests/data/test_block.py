"""Blocks cover the rows once, in order, as often as they are asked."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from likely.data.block import (
    BLOCK_BYTES,
    MOST_ROWS,
    NOT_SHARED,
    ArrayBlocks,
    CountedBlocks,
    WholeGroups,
    block_rows,
    checked,
    first_rows,
    redesigned,
)
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Intercept
from likely.errors import InvalidInput


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
    assert block_rows(64_000, 10, 64_000 * 80) == 8000  # an eighth, so that workers share
    assert block_rows(16_000, 10, 16_000 * 80) == NOT_SHARED  # too few to share
    assert block_rows(500, 2, 500 * 16) == NOT_SHARED


def test_blocks_seen_in_another_way_have_everything_else_as_it_was():
    blocks = some_blocks(10, 4)
    seen = redesigned(blocks, Intercept, 3)
    assert (seen.n_features, seen.n_rows, seen.nbytes) == (3, 10, blocks.nbytes)
    for ours, theirs in zip(seen, blocks, strict=True):
        assert ours.X.n_features == 3
        assert_array_equal(ours.X.matmat(np.eye(3))[:, :2], theirs.X.values)
        for name in ("y", "weight", "offset", "group"):
            assert_array_equal(getattr(ours, name), getattr(theirs, name))
        assert ours.start == theirs.start


def test_a_pass_is_counted_when_it_begins():
    passes = []
    counted = CountedBlocks(some_blocks(10, 4), passes)
    assert (counted.n_features, counted.n_rows, passes) == (2, 10, [])
    next(iter(counted))
    assert len(list(counted)) == 3
    assert passes == [1.0, 1.0]


def test_responses_are_checked_block_by_block():
    def refuse_nine(block):
        if (block.target == 9).any():
            raise InvalidInput("found 9")

    sound = checked(some_blocks(10, 4), refuse_nine)
    assert (sound.n_features, sound.n_rows) == (2, 10)
    reading = iter(sound)
    assert [next(reading).start, next(reading).start] == [0, 4]
    with pytest.raises(InvalidInput, match="Counted from row 8: found 9"):
        next(reading)


def test_the_first_rows_of_each_block_are_copies_of_all_there_is():
    blocks = some_blocks(20, 8)
    some = first_rows(blocks, 0.5)
    assert (some.n_rows, some.n_features) == (10, 2)
    kept = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17]
    for name in ("y", "weight", "offset", "group"):
        assert_array_equal(getattr(some, name), getattr(blocks, name)[kept])
        assert not np.shares_memory(getattr(some, name), getattr(blocks, name))
    assert_array_equal(some.X.values, blocks.X.values[kept])
    assert not np.shares_memory(some.X.values, blocks.X.values)


def test_a_small_share_still_has_a_row_of_each_block():
    assert_array_equal(first_rows(some_blocks(10, 4), 0.01).y, [0, 4, 8])


def test_what_was_not_given_is_not_given_of_the_first_rows():
    some = first_rows(ArrayBlocks(Dense(np.zeros((6, 1))), rows_per_block=2), 0.5)
    assert some.y is some.weight is some.offset is some.group is None


@given(n=st.integers(1, 50), rows=st.integers(1, 60))
def test_whole_groups_are_never_cut(n, rows):
    inner = some_blocks(n, rows)
    blocks = WholeGroups(inner)
    assert (blocks.n_rows, blocks.n_features, blocks.nbytes) == (n, 2, inner.nbytes)
    made = list(blocks)
    assert_array_equal(np.concatenate([block.y for block in made]), inner.y)
    assert [block.start for block in made] == [int(block.y[0]) for block in made]
    groups = [set(block.group.tolist()) for block in made]
    assert sum(map(len, groups)) == len(set.union(*groups))
    assert all(block.n_rows < rows + 3 for block in made)
