"""L-BFGS: its recursion is BFGS, its preconditioner a change of units, its memory bounded."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import cholesky

from likely.solvers.lbfgs import LBFGS, Pair, two_loops
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
    solution = minimise(LBFGS(), objective, np.zeros(2), max_iter=5)
    assert not solution.converged
