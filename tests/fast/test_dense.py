"""Compiled products with centred columns: their definition, in both precisions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.data.layouts import base as loops
from likely.data.layouts.dense import Centred
from likely.fast.dense import centre_and_scale, centred_matvec, centred_rmatvec


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_loops_equal_their_definitions(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(3, 1, size=(50, 7)).astype(dtype)
    centre, theta, residual = rng.normal(size=7), rng.normal(size=7), rng.normal(size=50)
    exact = X.astype(float) - centre
    eta = np.full(50, 7.0)
    centred_matvec(X, centre, theta, eta)
    assert_allclose(eta, exact @ theta, rtol=1e-12)
    gradient = np.ones(7)
    centred_rmatvec(X, centre, residual, gradient)
    assert_allclose(gradient, 1 + exact.T @ residual, rtol=1e-12)
    Z = np.empty_like(X)
    centre_and_scale(X, centre, residual, Z)
    assert_allclose(Z, exact * residual[:, None], rtol=1e-12 if dtype is np.float64 else 1e-6)


def test_large_blocks_run_the_loops_and_small_ones_do_not(monkeypatch):
    called = []
    monkeypatch.setattr("likely.fast.dense.centred_matvec", lambda *_: called.append("loop"))
    design = Centred(np.ones((10, 3)), np.zeros(3))
    design.matmat(np.ones(3))
    assert called == []
    monkeypatch.setattr(loops, "FAST_CELLS", 30)
    design.matmat(np.ones(3))
    assert called == ["loop"]
