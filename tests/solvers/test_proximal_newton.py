"""Proximal Newton: Newton without a penalty, small Hessians with one, honest when it cannot."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from likely.solvers.minimise import minimise
from likely.solvers.newton import Newton
from likely.solvers.proximal_newton import (
    SMALLEST_SET,
    ProximalNewton,
    minimise_model,
    working_set,
)
from tests.solver_objectives import (
    Logistic,
    Quadratic,
    random_logistic,
    random_quadratic,
    rare_logistic,
)


def wide_logistic(n=100, d=400, *, offset=0.0, l1=6.0):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(n, d)) + offset, np.ones(n)])
    sign = np.where(X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    return Logistic(X, sign, np.zeros(d + 1), np.append(np.full(d, l1), 0.0))


def assert_balanced(objective, theta):
    g, l1 = objective.first_order(theta).gradient, objective.l1
    assert (np.abs(g) <= l1 + 1e-5).all()
    assert_allclose(g[theta != 0], -(l1 * np.sign(theta))[theta != 0], atol=1e-5)


def test_without_a_penalty_it_is_newton():
    objective = random_logistic(0)
    ours = minimise(ProximalNewton(), objective, np.zeros(6), tol=1e-12)
    theirs = minimise(Newton(), objective, np.zeros(6), tol=1e-12)
    assert_allclose(ours.trace, theirs.trace)
    assert_allclose(ours.gap, theirs.gap, rtol=1e-3)


def test_one_step_solves_a_quadratic():
    objective = random_quadratic(0, 5, l1=0.3)
    solution = minimise(ProximalNewton(), objective, np.ones(5), tol=1e-12)
    assert solution.n_iter == 1
    assert_balanced(objective, solution.theta)


def test_hessians_are_asked_for_on_few_columns():
    objective = wide_logistic()
    solution = minimise(ProximalNewton(), objective, np.zeros(401), tol=1e-12)
    assert solution.converged, solution.reason
    assert 0 < np.count_nonzero(solution.theta) < 100
    assert max(len(columns) for columns in objective.seen) <= 2 * SMALLEST_SET
    assert_balanced(objective, solution.theta)


def test_nothing_is_certified_while_a_column_that_wants_in_is_outside():
    objective = wide_logistic(l1=0.5)
    g = objective.first_order(np.zeros(401)).gradient
    assert (np.abs(g) > objective.l1).sum() > SMALLEST_SET
    state = ProximalNewton().init(objective, np.zeros(401))
    assert len(state.columns) == SMALLEST_SET
    assert state.gap == np.inf
    assert np.isfinite(state.fall)


def test_columns_far_from_0_do_not_slow_it_down():
    """The free intercept is eliminated from the model, which centres the columns."""
    near, far = wide_logistic(d=30), wide_logistic(d=30, offset=1e4)
    a = minimise(ProximalNewton(), near, np.zeros(31), tol=1e-10)
    b = minimise(ProximalNewton(), far, np.zeros(31), tol=1e-10)
    assert b.converged, b.reason
    assert b.n_iter <= a.n_iter + 3
    assert_allclose(a.theta[:-1], b.theta[:-1], atol=1e-4)


def test_repeated_columns_are_certified_all_the_same():
    """All 250 want in by a hair; the working set grows until it holds them."""
    objective = wide_logistic(d=500, l1=2.0)
    objective.X[:, 1:250] = objective.X[:, [0]]
    solution = minimise(ProximalNewton(), objective, np.zeros(501), tol=1e-12)
    assert solution.converged, solution.reason
    assert solution.n_iter <= 10
    assert_balanced(objective, solution.theta)


def test_a_column_of_zeros_keeps_its_coefficient_at_0():
    objective = wide_logistic(d=5, l1=1.0)
    objective.X[:, 2] = 0.0
    solution = minimise(ProximalNewton(), objective, np.zeros(6), tol=1e-10)
    assert solution.converged, solution.reason
    assert solution.theta[2] == 0.0


def test_the_working_set_takes_the_strongest_pulls_first():
    theta, l1 = np.array([0.0, 0.0, 0.0, 2.0, 0.0]), np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    gradient = np.array([5.0, 0.9, -3.0, -1.0, 0.0])
    assert_array_equal(working_set(theta, gradient, l1, 9)[0], [0, 2, 3, 4])
    columns, whole = working_set(theta, gradient, l1, 3)
    assert_array_equal(columns, [0, 3, 4])
    assert not whole


@given(seed=st.integers(0, 999), free=st.integers(0, 5))
def test_the_model_is_minimised_with_free_and_penalised_coefficients(seed, free):
    objective = random_quadratic(seed, 5)
    l1 = np.where(np.arange(5) < free, 0.0, 0.4)
    theta, ended = minimise_model(objective.Q, objective.c, l1, np.ones(5), 1e-20)
    assert ended
    assert_balanced(Quadratic(objective.Q, objective.c, l1), theta)


def test_a_narrow_valley_ends_by_jumps_along_the_face():
    """κ = 1e10: coordinate descent alone would take millions of sweeps."""
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 20)))[0]
    Q = (axes * np.geomspace(1e-6, 1e4, 20)) @ axes.T
    c, l1 = np.random.default_rng(1).normal(size=20), np.full(20, 0.01)
    theta, ended = minimise_model((Q + Q.T) / 2, c, l1, np.zeros(20), 1e-16)
    assert ended
    assert (np.abs(Q @ theta - c) <= 0.01 + 1e-3).all()


def test_a_saddle_is_reported_not_hidden():
    for l1 in (np.zeros(2), np.ones(2)):
        objective = Quadratic(np.diag([1.0, -1.0]), np.ones(2), l1)
        solution = minimise(ProximalNewton(), objective, np.ones(2))
        assert not solution.converged
        assert "not positive definite" in solution.reason


@pytest.mark.parametrize("l1", [0.0, 1e-3, 0.5])
def test_a_step_into_a_flat_tail_is_halved(l1):
    objective, start, optimum = rare_logistic(l1)
    solution = minimise(ProximalNewton(), objective, start, tol=1e-14)
    assert solution.converged, solution.reason
    assert_allclose(solution.theta, optimum, rtol=1e-6)
