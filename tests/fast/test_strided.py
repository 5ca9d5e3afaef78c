"""Products and sums of tables by strides equal NumPy's broadcasting, for any axes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.fast.strided import (
    add,
    assign,
    exp_sum_onto,
    max_onto,
    merge_axes,
    multiply,
    sum_onto,
)


@st.composite
def tables(draw):
    """Axes of a table in any order, axes of another one among them, and their sizes."""
    n = draw(st.integers(1, 5))
    sizes = draw(st.lists(st.integers(2, 4), min_size=n, max_size=n))
    table_axes = draw(st.permutations(range(n)))
    other_axes = draw(st.permutations(range(n)))[: draw(st.integers(0, n))]
    return sizes, table_axes, other_axes, draw(st.integers(0, 2**32 - 1))


def plan_of(sizes, table_axes, other_axes):
    """A plan with one operation, its sections DIMS, SIZES and STRIDES behind their starts."""

    def ints(values):
        return np.array(values, dtype=np.int64)

    dims, cut, room = np.empty(2, dtype=np.int64), ints(0 * np.array(sizes)), len(sizes) + 1
    lengths, strides = np.empty((2, room), dtype=np.int64)
    end = merge_axes(
        ints([0]),
        ints([0, len(other_axes)]),
        ints(other_axes),
        ints([0, len(table_axes)]),
        ints(table_axes),
        ints(sizes),
        cut,
        1,
        dims,
        lengths,
        strides,
    )
    parts = dims, lengths[:end], strides[:end]
    starts = 4 + np.cumsum([0, *map(len, parts)])
    return np.concatenate([starts, *parts]).astype(np.int64)


def whole(other, table_axes, other_axes):
    """The other table with its axes where the table has them."""
    order = [other_axes.index(v) for v in table_axes if v in other_axes]
    shape = [other.shape[other_axes.index(v)] if v in other_axes else 1 for v in table_axes]
    return other.transpose(order).reshape(shape)


@pytest.mark.parametrize("verb", ["assign", "multiply", "add"])
@given(tables())
def test_a_table_takes_another(verb, drawn):
    sizes, table_axes, other_axes, seed = drawn
    rng = np.random.default_rng(seed)
    table = rng.random([sizes[v] for v in table_axes])
    other = rng.random([sizes[v] for v in other_axes])
    plan, count = plan_of(sizes, table_axes, other_axes), np.empty(9, dtype=np.int64)
    work = np.concatenate([[-1.0, -1.0], table.ravel(), [-1.0]])
    source = np.concatenate([[-2.0], other.ravel()])
    loop = {"assign": assign, "multiply": multiply, "add": add}[verb]
    loop(work, 2, source, 1, plan, 0, count)
    spread = whole(other, table_axes, other_axes)
    expected = {"assign": 0 * table + spread, "multiply": table * spread, "add": table + spread}
    assert_allclose(work[2:-1].reshape(table.shape), expected[verb], rtol=1e-14)
    assert work[[0, 1, -1]].tolist() == [-1.0, -1.0, -1.0]


@given(tables())
def test_a_table_is_summed_and_maximised(drawn):
    sizes, table_axes, other_axes, seed = drawn
    table = np.random.default_rng(seed).normal(size=[sizes[v] for v in table_axes])
    plan, count = plan_of(sizes, table_axes, other_axes), np.empty(9, dtype=np.int64)
    shape = [sizes[v] for v in other_axes]
    rest = tuple(i for i, v in enumerate(table_axes) if v not in other_axes)
    order = [[v for v in table_axes if v in other_axes].index(v) for v in other_axes]
    total, top, scaled = np.zeros(shape), np.full(shape, -np.inf), np.zeros(shape)
    sum_onto(total.reshape(-1), 0, table.ravel(), 0, plan, 0, count)
    max_onto(top.reshape(-1), 0, table.ravel(), 0, plan, 0, count)
    exp_sum_onto(scaled.reshape(-1), 0, top.reshape(-1), 0, table.ravel(), 0, plan, 0, count)
    assert_allclose(total, table.sum(axis=rest).transpose(order), rtol=1e-10, atol=1e-13)
    assert_allclose(top, table.max(axis=rest).transpose(order))
    expected = np.exp(table).sum(axis=rest).transpose(order)
    assert_allclose(np.exp(top) * scaled, expected, rtol=1e-13)


def test_axes_that_one_stride_serves_are_merged():
    plan = plan_of([2, 3, 4, 5], [0, 1, 2, 3], [1, 2])
    sizes, strides = plan[plan[1] : plan[2]], plan[plan[2] : plan[3]]
    assert sizes.tolist() == [2, 12, 5]
    assert strides.tolist() == [0, 1, 0]
