"""Small whole numbers counted in one pass: the same fit as by two passes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likely import NaiveBayes
from likely.compute.executor import Serial, Threads
from likely.data.block import ArrayBlocks
from likely.data.layouts.dense import Dense
from likely.objectives import value_counts as module
from likely.objectives.value_counts import CAP, count_values


@pytest.fixture(autouse=True)
def small_data_count_too(monkeypatch):
    monkeypatch.setattr(module, "FAST_CELLS", 1)


def some_values(seed=0, n=500, d=4, high=5):
    rng = np.random.default_rng(seed)
    return rng.integers(0, high, (n, d)), rng.integers(0, 3, n)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("executor", [Serial(), Threads(2)], ids=["serial", "threads"])
def test_counts_are_the_histograms_of_each_class(dtype, executor):
    X, y = some_values()
    blocks = ArrayBlocks(Dense(X.astype(dtype)), y, rows_per_block=77)
    counted = count_values(blocks, 3, executor)
    assert counted.sizes() == (5, 5, 5, 5)
    for k in range(3):
        expected = [np.bincount(X[y == k, j], minlength=CAP) for j in range(4)]
        assert_array_equal(counted.counts[k], expected)


def test_rows_without_a_label_are_not_counted():
    X, y = some_values()
    y[::2] = -1
    counted = count_values(ArrayBlocks(Dense(X), y), 3, Serial())
    assert counted.counts.sum() == 4 * (y >= 0).sum()


@pytest.mark.parametrize("value", [-1, CAP, 2**40, 7])
def test_other_values_or_gaps_do_not_fit(value):
    X, y = some_values()
    X[3, 2] = value
    assert count_values(ArrayBlocks(Dense(X), y), 3, Serial()).sizes() is None


@pytest.mark.parametrize("value", [0, 4, 7, 100, -3])
def test_the_fit_does_not_depend_on_the_path(monkeypatch, value):
    X, y = some_values()
    X[3, 2] = value
    one_pass = NaiveBayes(event="categorical").fit(X, y)
    monkeypatch.setattr(module, "FAST_CELLS", 10**12)
    two_passes = NaiveBayes(event="categorical").fit(X, y)
    assert one_pass.schema_.sizes == two_passes.schema_.sizes
    assert_allclose(one_pass.predict_log_proba(X), two_passes.predict_log_proba(X), rtol=1e-13)
