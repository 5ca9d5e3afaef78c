"""Least squares from totals: blocks add, the three ways agree, deficient columns are named."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.numerics.additive import pairwise_total
from likely.solvers.least_squares import (
    GramTotals,
    LeastSquaresTotals,
    solve_minimum_norm,
    solve_normal_equations,
    solve_qr,
)

WAYS = {
    "normal equations": lambda X, y, w: solve_normal_equations(GramTotals.of(X, y, w)),
    "QR": lambda X, y, w: solve_qr(LeastSquaresTotals.of(X, y, w)),
    "minimum norm": lambda X, y, w: solve_minimum_norm(LeastSquaresTotals.of(X, y, w)),
}
every_way = pytest.mark.parametrize("way", WAYS)
seeds = st.integers(0, 999)


def some_data(seed, n=30, d=4, responses=()):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(n, *responses)), rng.uniform(0.5, 2, n)


def weighted_reference(X, y, w):
    root = np.sqrt(w)
    return np.linalg.lstsq(root[:, None] * X, (root * y.T).T, rcond=None)[0]


@every_way
@given(seed=seeds)
def test_equals_numpy(way, seed):
    X, y, w = some_data(seed)
    answer = WAYS[way](X, y, w)
    assert answer.method == way
    assert (answer.rank, answer.redundant) == (4, ())
    assert_allclose(answer.theta, weighted_reference(X, y, w), rtol=1e-10, atol=1e-10)
    assert_allclose(answer.residual_squares, w @ (y - X @ answer.theta) ** 2)
    assert_allclose(X.T @ (w * (y - X @ answer.theta)), 0.0, rtol=1e-10, atol=1e-10)


@every_way
def test_several_responses_are_fitted_at_once(way):
    X, y, w = some_data(0, responses=(3,))
    answer = WAYS[way](X, y, w)
    assert_allclose(answer.theta, weighted_reference(X, y, w), rtol=1e-10, atol=1e-10)
    assert_allclose(answer.residual_squares, w @ (y - X @ answer.theta) ** 2)


@pytest.mark.parametrize("totals", [GramTotals, LeastSquaresTotals])
@given(seed=seeds, cut=st.integers(0, 30), responses=st.sampled_from([(), (2,)]))
def test_totals_of_blocks_add(totals, seed, cut, responses):
    X, y, w = some_data(seed, responses=responses)
    solve = solve_qr if totals is LeastSquaresTotals else solve_normal_equations
    halves = [slice(0, cut), slice(cut, 30)]
    parts = pairwise_total(totals.of(X[half], y[half], w[half]) for half in halves)
    whole = totals.of(X, y, w)
    assert_allclose(parts.weight, whole.weight)
    assert_allclose(solve(parts).theta, solve(whole).theta, rtol=1e-9, atol=1e-9)
    assert_allclose(solve(parts).residual_squares, solve(whole).residual_squares, rtol=1e-8)


def test_worked_example_linear_and_ridge_closed_form():
    A, y = np.column_stack([np.ones(5), np.arange(5.0)]), np.array([1.0, 2.9, 5.2, 6.8, 9.1])
    qr, gram = LeastSquaresTotals.of(A, y, np.ones(5)), GramTotals.of(A, y, np.ones(5))
    assert_allclose(solve_qr(qr).theta, [0.98, 2.01], rtol=1e-12, atol=1e-12)
    ridges = {
        (0.5, 0.5): [0.9077490774907764, 2.000738007380073],
        (0.0, 0.5): [1.1714285714285726, 1.9142857142857137],  # the bias is free
    }
    for l2, expected in ridges.items():
        prior = LeastSquaresTotals.ridge(np.array(l2), qr)
        assert_allclose(solve_qr(qr + prior).theta, expected, rtol=1e-10, atol=1e-10)
        assert_allclose(
            solve_normal_equations(gram, np.array(l2)).theta, expected, rtol=1e-10, atol=1e-10
        )


@every_way
@given(seed=seeds)
def test_dependent_columns_give_the_least_norm_and_are_named(way, seed):
    X, y, w = some_data(seed, d=3)
    X = np.column_stack([X[:, 0], X[:, 1], X[:, 0] - 2 * X[:, 1], X[:, 2], np.zeros(30)])
    answer = WAYS[way](X, y, w)
    assert answer.method == "minimum norm"
    assert (answer.rank, answer.redundant) == (3, (2, 4))
    # the Gram matrix has lost half the digits
    tolerance = 1e-6 if way == "normal equations" else 1e-10
    assert_allclose(answer.theta, weighted_reference(X, y, w), atol=tolerance)
    assert_allclose(answer.residual_squares, w @ (y - X @ answer.theta) ** 2, rtol=1e-6)


@pytest.mark.parametrize("way", ["QR", "minimum norm"])
@given(seed=seeds)
def test_more_columns_than_rows_give_the_least_norm(way, seed):
    X, y, w = some_data(seed, n=3, d=6)
    answer = WAYS[way](X, y, w)
    assert answer.rank == 3
    assert len(answer.redundant) == 3
    assert_allclose(answer.theta, np.linalg.pinv(X) @ y, atol=1e-8)
    assert_allclose(answer.residual_squares, 0.0, rtol=1e-12, atol=1e-12)


@every_way
def test_units_of_columns_do_not_change_the_rank(way):
    X, y, w = some_data(0)
    scale = np.array([1e8, 1.0, 1e-8, 1e4])
    answer, plain = WAYS[way](X * scale, y, w), WAYS[way](X, y, w)
    assert answer.rank == 4
    assert_allclose(answer.theta * scale, plain.theta, rtol=1e-8)
    assert_allclose(answer.condition, plain.condition, rtol=1e-6)


def test_qr_keeps_the_digits_that_normal_equations_lose():
    rng = np.random.default_rng(0)
    t = np.linspace(0, 1, 50)
    X, truth = np.vander(t, 9), rng.normal(size=9)
    w, y = np.ones(50), X @ truth
    by_qr = np.abs(solve_qr(LeastSquaresTotals.of(X, y, w)).theta - truth).max()
    by_gram = np.abs(solve_normal_equations(GramTotals.of(X, y, w)).theta - truth).max()
    assert by_qr < 1e-8
    assert by_gram > 10 * by_qr


def test_the_ridge_solution_tends_to_the_least_norm():
    X, y, w = some_data(1, n=3, d=5)
    totals = LeastSquaresTotals.of(X, y, w)
    ridge = solve_qr(totals + LeastSquaresTotals.ridge(np.full(5, 1e-10), totals))
    assert_allclose(ridge.theta, solve_minimum_norm(totals).theta, atol=1e-6)


@every_way
def test_without_a_column_all_is_left_over(way):
    X, y, w = some_data(0, d=0)
    answer = WAYS[way](X, y, w)
    assert answer.theta.shape == (0,)
    assert (answer.rank, answer.redundant, answer.condition) == (0, (), 1.0)
    assert_allclose(answer.residual_squares, w @ y**2)
