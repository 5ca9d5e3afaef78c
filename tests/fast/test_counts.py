"""Compiled sums by label equal the readable ones, for every layout a caller may bring."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from likely.distributions import Labels
from likely.distributions import responsibility as module
from likely.distributions.responsibility import for_loop, weighted_sums


def read_only(X):
    X = X.copy()
    X.setflags(write=False)
    return X


@pytest.mark.parametrize(
    "layout",
    [np.ascontiguousarray, np.asfortranarray, read_only, sparse.csr_array],
    ids=["c", "fortran", "read-only", "csr"],
)
def test_sums_by_label_equal_the_product_with_one_hot_rows(monkeypatch, layout):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.4, (200, 7)).astype(float)
    labels = Labels(rng.integers(-1, 3, 200), 3, rng.random(200))
    expected = labels.dense().T @ X
    monkeypatch.setattr(module, "FAST_CELLS", 1)
    assert_allclose(weighted_sums(labels, layout(X)), expected, rtol=1e-13)
    monkeypatch.setattr(module, "FAST_CELLS", 10**12)
    assert_allclose(weighted_sums(labels, layout(X)), expected, rtol=1e-13)


def test_arrays_for_loops_are_of_one_kind_and_not_copied_without_need():
    plain = np.zeros((3, 2))
    assert for_loop(plain) is plain
    for other in (plain.T, plain.astype(np.float32), read_only(plain)):
        made = for_loop(other)
        assert made.dtype == np.float64
        assert made.flags.c_contiguous
        assert made.flags.writeable
