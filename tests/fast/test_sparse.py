"""Compiled sparse sandwiches equal the readable ones, for every layout of the cells."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from likely.data.layouts import base as loops
from likely.data.layouts.base import Csr
from likely.fast.sparse import add_transpose


def some_design(dtype=np.float64, index=np.int32, n=300, p=70):
    rng = np.random.default_rng(0)
    X = sparse.random_array((n, p), density=0.2, format="csr", rng=rng, dtype=dtype)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    return rng, Csr(X)


def both(monkeypatch, verb):
    """The readable result, then the compiled one."""
    monkeypatch.setattr(loops, "FAST_CELLS", 10**12)
    readable = verb()
    monkeypatch.setattr(loops, "FAST_CELLS", 0)
    return readable, verb()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("frozen", [False, True], ids=["writable", "read-only"])
def test_the_twins_are_equal(monkeypatch, dtype, index, frozen):
    rng, design = some_design(dtype, index)
    for part in (design.values.data, design.values.indices, design.values.indptr):
        part.setflags(write=not frozen)
    d, columns = rng.normal(size=300), rng.permutation(70)[:9]
    M, tall = rng.normal(size=(70, 70)), np.asfortranarray(rng.normal(size=(300, 4)))
    for verb in (
        lambda: design.rmatmat(d),
        lambda: design.rmatmat(tall),
        lambda: design.sandwich(d),
        lambda: design.sandwich(d, columns),
        lambda: design.rows(100, 217).sandwich(d[100:217]),
        lambda: design.row_quadratic(M),
    ):
        readable, compiled = both(monkeypatch, verb)
        assert_allclose(compiled, readable, rtol=1e-12, atol=1e-12)


def test_large_blocks_run_the_loop_and_small_ones_do_not(monkeypatch):
    called = []
    monkeypatch.setattr("likely.fast.sparse.add_half_sandwich", lambda *_: called.append("loop"))
    _, design = some_design()
    design.sandwich(np.ones(300))
    assert called == []
    monkeypatch.setattr(loops, "FAST_CELLS", design.values.nnz)
    design.sandwich(np.ones(300))
    assert called == ["loop"]


@pytest.mark.parametrize("size", [0, 1, 32, 33, 100])
def test_a_matrix_and_its_transpose_are_added_in_place(size):
    T = np.random.default_rng(0).normal(size=(size, size))
    expected = T + T.T
    add_transpose(T)
    assert_allclose(T, expected, rtol=0)
