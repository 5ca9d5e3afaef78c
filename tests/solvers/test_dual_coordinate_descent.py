"""Dual coordinate descent: the optimum, the certificate, the free intercept, and a reference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from likely.data.block import ArrayBlocks
from likely.data.layouts.base import Csr
from likely.data.layouts.dense import Dense
from likely.objectives.rows import Rows
from likely.solvers.dual_coordinate_descent import DualCoordinateDescent, balancing_shift
from likely.solvers.minimise import minimise
from likely.solvers.newton import Newton
from tests.solver_objectives import Logistic

seeds = st.integers(0, 9999)
few = settings(max_examples=10)


def some_data(seed, n=80, p=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.5)
    return X, (rng.random(n) < expit(2 * X[:, 0] + 0.7)).astype(float)


def rows(X, y, *, weight=None, offset=None, ridge=0.5, intercept=True):
    blocks = ArrayBlocks(Csr(sparse.csr_array(X)), y, weight, offset)
    return Rows.of(blocks, ridge=ridge, intercept=intercept)


def solve(objective, *, tol=1e-13, seed=0, max_iter=300):
    start = np.zeros(objective.X.shape[1] + objective.intercept)
    return minimise(DualCoordinateDescent(seed), objective, start, tol=tol, max_iter=max_iter)


def newton(X, y, ridge, intercept):
    X = np.column_stack([X, np.ones(len(y))]) if intercept else X
    l2 = np.full(X.shape[1], ridge)
    l2[X.shape[1] - intercept :] = 0.0
    return minimise(Newton(), Logistic(X, 2 * y - 1, l2), np.zeros(X.shape[1]), tol=1e-15)


@pytest.mark.parametrize("intercept", [False, True])
@few
@given(seed=seeds, ridge=st.sampled_from([0.05, 1.0, 20.0]))
def test_it_agrees_with_newton(intercept, seed, ridge):
    X, y = some_data(seed)
    best = newton(X, y, ridge, intercept)
    found = solve(rows(X, y, ridge=ridge, intercept=intercept))
    assert found.converged, found.reason
    assert_allclose(found.theta, best.theta, atol=1e-6)
    assert_allclose(found.trace[-1], best.trace[-1], rtol=1e-8)


@pytest.mark.parametrize("intercept", [False, True])
@few
@given(seed=seeds)
def test_the_gap_bounds_the_distance_to_the_optimum_at_every_step(intercept, seed):
    X, y = some_data(seed, n=40, p=60)
    objective, solver = rows(X, y, ridge=0.1, intercept=intercept), DualCoordinateDescent()
    best = newton(X, y, 0.1, intercept).trace[-1]
    state = solver.init(objective, np.full(60 + intercept, 0.3))
    for _ in range(6):
        scale = max(1.0, abs(state.value))
        assert state.gap * scale >= state.value - best - 1e-11 * scale
        state = solver.step(objective, state)
    assert state.gap < 1e-4


@few
@given(seed=seeds)
def test_a_weight_of_two_is_a_row_twice_and_of_zero_none(seed):
    X, y = some_data(seed)
    weight = np.random.default_rng(seed).integers(0, 3, 80)
    twice = np.repeat(np.arange(80), weight)
    weighted, repeated = solve(rows(X, y, weight=weight)), solve(rows(X[twice], y[twice]))
    assert_allclose(weighted.theta, repeated.theta, atol=1e-6)
    assert_allclose(weighted.trace[-1], repeated.trace[-1], rtol=1e-9)


@few
@given(seed=seeds)
def test_a_proportion_is_its_successes_and_failures(seed):
    X, _ = some_data(seed)
    share = np.random.default_rng(seed).choice([0.0, 0.25, 0.5, 1.0], 80)
    whole = solve(rows(X, share))
    both = np.vstack([X, X]), np.repeat([1.0, 0.0], 80)
    apart = solve(rows(*both, weight=np.concatenate([share, 1 - share])))
    assert_allclose(whole.theta, apart.theta, atol=1e-5)


def test_a_constant_offset_moves_the_intercept_only():
    X, y = some_data(3)
    plain, moved = solve(rows(X, y)), solve(rows(X, y, offset=np.full(80, -0.7)))
    assert_allclose(moved.theta[:-1], plain.theta[:-1], atol=1e-6)
    assert_allclose(moved.theta[-1], plain.theta[-1] + 0.7, atol=1e-6)


def test_the_order_of_the_rows_does_not_change_the_answer():
    X, y = some_data(4)
    first, second = solve(rows(X, y), seed=1), solve(rows(X, y), seed=2)
    assert first.trace[1:-1] != second.trace[1:-1]
    assert_allclose(first.theta, second.theta, atol=1e-6)
    assert solve(rows(X, y), seed=1).trace == first.trace


def test_a_start_at_the_optimum_stays_there():
    X, y = some_data(5)
    objective = rows(X, y)
    best = solve(objective).theta
    again = minimise(DualCoordinateDescent(), objective, best, tol=1e-12)
    assert again.n_iter == 0
    assert_allclose(again.theta, best, atol=1e-5)  # ½κ‖Δ‖² is at most the two gaps, 1e-12 of F


def test_it_agrees_with_liblinear_on_sparse_rows():
    X, y = some_data(6, n=300, p=500)
    theirs = LogisticRegression(
        C=2.0, solver="liblinear", dual=True, fit_intercept=False, tol=1e-10, max_iter=10_000
    ).fit(X, y)
    found = solve(rows(X, y, intercept=False))
    assert_allclose(found.theta, theirs.coef_[0], atol=1e-5)


def test_dense_rows_give_the_same():
    X, y = some_data(7)
    dense = Rows.of(ArrayBlocks(Dense(X), y), ridge=0.5)
    assert_allclose(solve(dense).theta, solve(rows(X, y)).theta, rtol=1e-12, atol=1e-12)


def test_columns_and_rows_of_zeros_do_no_harm():
    X, y = some_data(8)
    X[:, 2], X[5] = 0.0, 0.0
    found = solve(rows(X, y))
    assert found.converged, found.reason
    assert found.theta[2] == 0.0
    assert_allclose(found.theta, newton(X, y, 0.5, True).theta, atol=1e-6)


@given(seed=seeds, scale=st.sampled_from([0.1, 1.0, 30.0, 1000.0]))
def test_the_balancing_shift_makes_the_slopes_sum_to_zero(seed, scale):
    X, y = some_data(seed)
    if y.min() == y.max():
        y[0] = 1 - y[0]
    eta = scale * np.random.default_rng(seed).normal(size=80)
    objective = rows(X, y)
    shift = balancing_shift(eta, objective)
    assert abs((expit(eta + shift) - y).sum()) <= 1e-9
