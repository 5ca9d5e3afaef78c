"""Compiled descents over columns and over a Gram matrix equal their readable definitions."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from likely.fast.columns import add_csc_columns, descend_csc, descend_dense, descend_gram

seeds = st.integers(0, 9999)


def some_model(seed, n=12, p=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.6) + 0.1
    return X, rng.random(n) + 0.1, rng.normal(size=n), rng.normal(size=p)


def sweep(X, d, q, beta, l1, l2, centred):
    """One visit to each column, t being at its best before every one."""
    beta, u = beta.copy(), np.zeros(len(q))
    for j in range(X.shape[1]):
        t = -np.sum(q + d * u) / d.sum() if centred else 0.0
        x = X[:, j] - (d @ X[:, j] / d.sum() if centred else 0.0)
        h = d @ x**2 + l2
        pull = h * beta[j] - X[:, j] @ (q + d * (u + t)) - l2 * beta[j]
        new = np.sign(pull) * max(abs(pull) - l1, 0) / h
        u += X[:, j] * (new - beta[j])
        beta[j] = new
    return beta, u, (-np.sum(q + d * u) / d.sum() if centred else 0.0)


@given(seed=seeds, centred=st.booleans(), l2=st.sampled_from([0.0, 0.5]))
def test_one_sweep_equals_its_definition_in_both_layouts(seed, centred, l2):
    X, d, q, start = some_model(seed)
    beta, u, t = sweep(X, d, q, start, 0.4, l2, centred)
    every, l1, ridge = np.arange(5), np.full(5, 0.4), np.full(5, l2)
    C = sparse.csc_array(X)
    sparse_beta, sparse_q = start.copy(), q.copy()
    entries = C.indptr, C.indices, C.data
    sparse_t = descend_csc(*entries, every, d, sparse_q, sparse_beta, l1, ridge, centred, -1.0, 1)
    dense_beta, dense_q = start.copy(), q.copy()
    rows = np.ascontiguousarray(X.T)
    dense_t = descend_dense(rows, every, d, dense_q, dense_beta, l1, ridge, centred, -1.0, 1)
    assert_allclose(sparse_beta, beta, rtol=1e-10, atol=1e-12)
    assert_allclose(dense_beta, beta, rtol=1e-10, atol=1e-12)
    assert_allclose([sparse_t, dense_t], t, rtol=1e-10, atol=1e-12)
    assert_allclose(sparse_q, q + d * u, rtol=1e-10, atol=1e-12)
    assert_allclose(dense_q, q + d * u, rtol=1e-10, atol=1e-12)


@given(seed=seeds)
def test_the_gram_descent_ends_with_balanced_forces_and_its_pulls_kept(seed):
    X, _, y, _ = some_model(seed)
    room = np.zeros((9, 9))  # larger than needed
    room[:5, :5] = X.T @ X
    q, beta, l1, l2 = X.T @ y, np.zeros(5), np.full(5, 0.4), np.full(5, 0.1)
    c = q.copy()
    used = descend_gram(room, q, c, beta, l1, l2, y @ y, 1e-12, 100_000)
    assert used <= 100_000
    assert_allclose(c, q - X.T @ X @ beta, rtol=1e-10, atol=1e-10)
    force = c - 0.1 * beta
    assert (np.abs(force) <= 0.4 + 1e-4).all()
    assert_allclose(force[beta != 0], 0.4 * np.sign(beta[beta != 0]), atol=1e-4)


def test_too_few_sweeps_are_told():
    X, _, y, _ = some_model(1)
    q, l1 = X.T @ y, np.full(5, 0.01)
    used = descend_gram(X.T @ X, q, q.copy(), np.zeros(5), l1, 0 * l1, y @ y, -1.0, 3)
    assert used == 4


def test_columns_are_added_in_any_order():
    X = some_model(2)[0]
    C, out = sparse.csc_array(X), np.ones(12)
    moves = np.array([2.0, 0.0, -1.0])
    add_csc_columns(C.indptr, C.indices, C.data, np.array([4, 1, 0]), moves, out)
    assert_allclose(out, 1.0 + 2 * X[:, 4] - X[:, 0])
