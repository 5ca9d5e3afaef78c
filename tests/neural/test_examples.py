"""Rows of training: windows of an array and of a file are the same rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from likely.data.block import ArrayBlocks, Block
from likely.data.layouts.base import Csr
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Mixed
from likely.errors import InvalidInput
from likely.neural.architecture import Architecture
from likely.neural.engine import EngineSettings, ReadableEngine
from likely.neural.examples import (
    ExamplesInFile,
    ExamplesInMemory,
    finite_matrix,
    in_memory,
    matrix_of,
)
from likely.neural.outputs import output_of
from likely.solvers.updates import Plain

N = 23


def names():
    return ("a", "b")


def data(seed=0):
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 3, N).astype(float)
    return rng.normal(size=(N, 2)), rng.integers(0, 2, N), weight


def both(rows_per_block=5):
    """The same rows in memory and in blocks, as a file has them; rows of weight 0 are left out."""
    X, y, weight = data()
    blocks = ArrayBlocks(Dense(X), y, weight, rows_per_block=rows_per_block)
    there = weight > 0
    memory = in_memory(ArrayBlocks(Dense(X[there]), y[there], weight[there]), names, np.float64)
    return memory, ExamplesInFile.of(blocks, names, np.float64)


@pytest.mark.parametrize("size", [1, 4, 5, 7, 100])
@pytest.mark.parametrize("rows_per_block", [1, 5, 23])
def test_pieces_of_a_file_are_those_of_an_array(size, rows_per_block):
    memory, file = both(rows_per_block)
    mask = np.arange(memory.n_rows) % 3 > 0
    for one, other in ((memory, file), (memory.where(mask), file.where(mask))):
        assert_array_equal(one.y, other.y)
        assert_array_equal(one.weight, other.weight)
        pieces = zip(one.columns(size), other.columns(size), strict=True)
        for (mine, X), (theirs, same) in pieces:
            assert mine.start == theirs.start
            assert_array_equal(X, same)


def test_losses_of_a_file_are_those_of_an_array():
    memory, file = both()
    output = output_of(n_classes=2)
    architecture = Architecture.of(2, (3,), 1)
    engine = ReadableEngine(EngineSettings(architecture, output, Plain(), 10, dtype=np.float64))
    theta = np.random.default_rng(1).normal(size=architecture.n_parameters)
    losses = [each.prepared(engine, 4).loss(theta) for each in (memory, file)]
    assert_allclose(losses[1], losses[0], rtol=1e-12)
    assert_array_equal(file.prepared(engine, 4).whole().X, memory.prepared(engine, 4).whole().X)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_two_sets_are_joined_with_their_weights(layout):
    X, y, weight = data()
    one = ExamplesInMemory(layout(X), y)
    other = ExamplesInMemory(layout(X), y, weight)
    union = one.joined(other)
    assert union.n_rows == 2 * N
    assert_array_equal(union.weight, np.concatenate([np.ones(N), weight]))
    assert one.joined(one).weight is None
    assert union.X.shape == (2 * N, 2)


def test_categories_are_columns_of_0_and_1_dense_or_sparse(monkeypatch):
    design = Mixed(np.array([[1.5], [0.0]]), np.array([[1, 0], [-1, 2]]), (2, 3))
    expected = np.array([[1.5, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 1]])
    assert_array_equal(matrix_of(design), expected)
    monkeypatch.setattr("likely.neural.examples.MOST_DENSE", 3)
    rows = matrix_of(design)
    assert sparse.issparse(rows)
    assert_array_equal(rows.toarray(), expected)


@pytest.mark.parametrize("layout", [Dense, lambda X: Csr(sparse.csr_array(X))])
def test_a_cell_that_cannot_be_used_is_named(layout):
    X, _, _ = data()
    finite_matrix(Block(layout(1e17 * X)), names, np.float32)
    for value, dtype, message in (
        (np.nan, np.float32, "NaN: row 3, column 'b'"),
        (-1e19, np.float32, "Column 'b' holds numbers whose squares overflow in float32"),
        (1e160, np.float64, "Column 'b' holds numbers whose squares overflow in float64"),
    ):
        X[3, 1] = value
        with pytest.raises(InvalidInput, match=message):
            finite_matrix(Block(layout(X)), names, dtype)


def test_single_precision_rows_are_checked_without_a_warning():
    """The largest double is no single: comparing the two must not overflow."""
    X = np.array([[0.5, 2.0], [1.0, 3.0]], dtype=np.float32)
    block = Block(Dense(X))
    found = finite_matrix(block, lambda: ["a", "b"], np.float64)
    assert found.tolist() == X.tolist()
