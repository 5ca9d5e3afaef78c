"""A compiled dual sweep equals its readable definition."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import expit, logit

from likely.fast.dual import _balanced_logit, sweep_rows

seeds = st.integers(0, 9999)


@example(z=-18.0, eta=3.0, a=1e4)  # Newton alone goes from one side to the other and back
@given(z=st.floats(-30, 30), eta=st.floats(-50, 50), a=st.sampled_from([1e-3, 0.5, 10.0, 1e4]))
def test_the_root_is_within_a_hundredth_of_the_way(z, eta, a):
    """Newton ends when its last step was below 1 % of the whole move, and converges beyond it."""
    target = eta + a * expit(z)
    root = brentq(lambda t: t + a * expit(t) - target, target - a - 1, target + 1, xtol=1e-13)
    found = _balanced_logit(z, expit(z), a, eta)
    assert abs(found - root) <= 0.01 * abs(eta - z) + 1e-9


@given(seed=seeds, s2=st.sampled_from([0.0, 0.3]))
def test_a_sweep_keeps_beta_and_b_in_step_with_the_logits(seed, s2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(9, 6)) * (rng.random((9, 6)) < 0.6)
    w, o, start = rng.random(9), rng.normal(size=9), rng.normal(size=9)
    w[3] = 0.0
    C, z, beta = sparse.csr_array(X), start.copy(), rng.normal(size=6)
    before, squares = beta.copy(), (X**2).sum(axis=1)
    order = rng.permutation(9)
    b, gap = sweep_rows(C.indptr, C.indices, C.data, w, o, squares, order, z, beta, 0.2, 0.7, s2)
    moved = w * (expit(z) - expit(start))
    assert z[3] == start[3]
    assert gap > 0
    assert_allclose(beta, before - X.T @ moved / 0.7, rtol=1e-10, atol=1e-12)
    assert_allclose(b, 0.2 - s2 * moved.sum() / 0.7, rtol=1e-10, atol=1e-12)


@given(seed=seeds)
def test_a_visited_row_is_in_balance(seed):
    """After its move, logit p_i = η_i: the dual is at its largest in p_i."""
    rng = np.random.default_rng(seed)
    x, p = rng.normal(size=7), rng.random()
    C, z, beta = sparse.csr_array(x[None]), np.array([logit(p)]), rng.normal(size=7)
    one = np.ones(1)
    for _ in range(20):
        sweep_rows(
            C.indptr, C.indices, C.data, one, 0 * one, np.array([x @ x]), np.array([0]), z, beta,
            0.0, 1.0, 0.0,
        )  # fmt: skip
    assert_allclose(z[0], x @ beta, atol=1e-8)
