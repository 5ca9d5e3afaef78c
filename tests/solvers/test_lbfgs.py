"""L-BFGS: its recursion is BFGS, its preconditioner a change of units, its memory bounded."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import cholesky

from likely.errors import LimitReached
from likely.solvers.lbfgs import LBFGS, Pair, PerClass, Triangular, robust_factor, two_loops
from likely.solvers.minimise import minimise, search
from tests.solver_objectives import Quadratic, random_logistic, random_quadratic


@given(seed=st.integers(0, 999), d=st.integers(1, 5))
def test_two_loops_equal_the_matrix_update(seed, d):
    """B ← (I − ρsyᵀ) B (I − ρysᵀ) + ρssᵀ."""
    rng = np.random.default_rng(seed)
    Q = random_quadratic(seed, d).Q
    pairs = tuple(Pair(s, Q @ s) for s in rng.normal(size=(3, d)))
    B = 0.7 * np.eye(d)
    for s, y in pairs:
        left = np.eye(d) - np.outer(s, y) / (s @ y)
        B = left @ B @ left.T + np.outer(s, s) / (s @ y)
    g = rng.normal(size=d)
    assert_allclose(two_loops(g, pairs, 0.7), B @ g, rtol=1e-6, atol=1e-8)


def test_no_more_pairs_are_kept_than_asked_for():
    objective = random_logistic(0)
    _, state = search(LBFGS(memory=3), objective, np.full(6, 2.0), tol=1e-12)
    assert len(state.pairs) == 3


def test_the_exact_hessian_as_preconditioner_solves_a_quadratic_in_one_step():
    objective = random_quadratic(3, 6)
    factor = cholesky(objective.Q, lower=True)
    solution = minimise(LBFGS(preconditioner=factor), objective, np.ones(6), tol=1e-12)
    assert solution.n_iter == 1
    assert_allclose(solution.theta, np.linalg.solve(objective.Q, objective.c), atol=1e-8)


def test_a_preconditioner_changes_the_path_and_not_the_end():
    objective = random_logistic(2)
    factor = cholesky(objective.second_order(np.zeros(6)).hessian, lower=True)
    plain = minimise(LBFGS(), objective, np.zeros(6), tol=1e-13)
    helped = minimise(LBFGS(preconditioner=factor), objective, np.zeros(6), tol=1e-13)
    assert helped.n_iter < plain.n_iter
    assert_allclose(helped.theta, plain.theta, atol=1e-6)


def test_the_gap_counts_directions_the_memory_misses():
    rng = np.random.default_rng(1)
    axes = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    objective = Quadratic((axes * np.geomspace(1, 1e4, 30)) @ axes.T, 10 * rng.normal(size=30))
    solution = minimise(LBFGS(), objective, np.ones(30), tol=1e-6, max_iter=2000)
    best = objective.value(np.linalg.solve(objective.Q, objective.c))
    assert solution.converged
    assert solution.trace[-1] - best <= 2e-6 * abs(best)


def test_a_function_without_a_minimum_is_not_called_solved():
    objective = Quadratic(np.zeros((2, 2)), np.ones(2))
    with pytest.warns(LimitReached, match="max_iter=5"):
        solution = minimise(LBFGS(), objective, np.zeros(2), max_iter=5)
    assert not solution.converged


def class_quadratic(seed, n_classes=3, p=4):
    """½ Σ_k θ_kᵀQθ_k − cᵀθ: the same Q for every class."""
    part = random_quadratic(seed, p)
    rng = np.random.default_rng(seed)
    return part.Q, Quadratic(np.kron(np.eye(n_classes), part.Q), rng.normal(size=n_classes * p))


@given(seed=st.integers(0, 99))
def test_one_factor_for_each_class_is_the_factor_of_the_block_diagonal(seed):
    Q, objective = class_quadratic(seed)
    each = PerClass(cholesky(Q, lower=True), 3)
    whole = Triangular(cholesky(objective.Q, lower=True))
    v = np.random.default_rng(seed + 1).normal(size=12)
    for name in ("whiten", "back", "forward"):
        assert_allclose(getattr(each, name)(v), getattr(whole, name)(v), rtol=1e-8, atol=1e-10)


def test_an_array_is_its_triangular_preconditioner():
    objective = random_logistic(4)
    factor = cholesky(objective.second_order(np.zeros(6)).hessian, lower=True)
    one = minimise(LBFGS(preconditioner=factor), objective, np.zeros(6))
    other = minimise(LBFGS(preconditioner=Triangular(factor)), objective, np.zeros(6))
    assert one.trace == other.trace


def test_a_factor_for_each_class_solves_equal_quadratics_in_one_step():
    Q, objective = class_quadratic(5)
    solver = LBFGS(preconditioner=PerClass.of(Q, 3))
    solution = minimise(solver, objective, np.ones(12), tol=1e-10)
    assert solution.converged
    best = objective.value(np.linalg.solve(objective.Q, objective.c))
    assert_allclose(solution.trace[1], best, rtol=1e-8)


def test_units_that_leave_out_how_classes_compete_certify_nothing_at_once():
    """The factor is a million times too large, so the first decrements are a million too small."""
    Q, objective = class_quadratic(6)
    solver = LBFGS(preconditioner=PerClass.of(1e6 * Q, 3))
    solution, state = search(solver, objective, np.ones(12), tol=1e-6, max_iter=200)
    best = objective.value(np.linalg.solve(objective.Q, objective.c))
    assert solver.init(objective, np.ones(12)).gap == np.inf
    assert solution.converged
    assert state.value - best <= 1e-5 * abs(best)


def test_columns_that_are_zero_or_repeat_others_have_a_factor():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(20, 3)) * [1.0, 1e8, 1e-8]
    X = np.column_stack([X, X[:, 0], np.zeros(20)])
    L = robust_factor(X.T @ X)
    assert np.isfinite(L).all()
    assert (np.diag(L) > 0).all()
    scale = np.linalg.norm(X, axis=0)
    scale[-1] = 1.0
    expected = X.T @ X + np.diag([0.0, 0, 0, 0, 1])
    assert_allclose(
        L @ L.T / np.outer(scale, scale), expected / np.outer(scale, scale), rtol=1e-9, atol=1e-9
    )
