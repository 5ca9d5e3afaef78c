"""Steepest descent: the textbook's fixed step, backtracking, and ascent as descent."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from likely.errors import InvalidInput
from likely.solvers.gradient_descent import FixedStep, GradientDescent, gradient_step
from likely.solvers.minimise import minimise
from likely.solvers.newton import Newton
from tests.solver_objectives import Quadratic, random_logistic, random_quadratic


@given(seed=st.integers(0, 999), part=st.sampled_from([0.1, 0.9, 1.9]))
def test_a_fixed_step_below_twice_the_inverse_curvature_descends(seed, part):
    objective = random_quadratic(seed, 3)
    t = part / np.linalg.eigvalsh(objective.Q).max()
    solution = minimise(FixedStep(t), objective, np.ones(3), tol=0.0, max_iter=30)
    assert solution.n_iter == 30 or solution.gap == 0
    assert (np.diff(solution.trace) <= 1e-12).all()


def test_a_fixed_step_that_is_too_long_diverges_and_says_so():
    objective = Quadratic(np.diag([1.0, 10.0]), np.ones(2))
    with np.errstate(over="ignore", invalid="ignore"):
        solution = minimise(FixedStep(0.3), objective, np.ones(2), max_iter=3000)
    assert not solution.converged
    assert "the step 0.3 is too long" in solution.reason
    assert solution.trace[-1] > solution.trace[0]


def test_ascent_on_the_likelihood_equals_descent_on_the_error():
    objective, t = random_logistic(0), 0.01
    descent = minimise(FixedStep(t), objective, np.zeros(6), tol=0.0, max_iter=50)
    theta = np.zeros(6)
    for _ in range(50):
        theta = theta + t * -objective.first_order(theta).gradient  # ∇ℓ = −∇f
    assert descent.n_iter == 50
    assert_array_equal(descent.theta, theta)


def test_reaches_the_ridge_solution():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    objective = Quadratic(X.T @ X + 0.5 * np.eye(3), X.T @ y)
    solution = minimise(GradientDescent(), objective, np.zeros(3), tol=1e-14, max_iter=500)
    assert solution.converged
    assert_allclose(solution.theta, np.linalg.solve(objective.Q, objective.c), atol=1e-6)


def test_reaches_what_newton_reaches():
    objective = random_logistic(1)
    ours = minimise(GradientDescent(), objective, np.zeros(6), tol=1e-12, max_iter=2000)
    theirs = minimise(Newton(), objective, np.zeros(6), tol=1e-14)
    assert_allclose(ours.theta, theirs.theta, atol=1e-5)


@pytest.mark.parametrize("condition", [10.0, 100.0])
def test_the_gap_holds_on_a_narrow_valley(condition):
    """Single steps zigzag across it and know nothing of the flat direction."""
    rng = np.random.default_rng(1)
    axes = np.linalg.qr(rng.normal(size=(10, 10)))[0]
    objective = Quadratic((axes * np.geomspace(1, condition, 10)) @ axes.T, rng.normal(size=10))
    solution = minimise(GradientDescent(), objective, np.ones(10), tol=1e-6, max_iter=5000)
    best = objective.value(np.linalg.solve(objective.Q, objective.c))
    assert solution.converged
    assert solution.trace[-1] - best <= 5e-6


def test_a_start_at_the_optimum_ends_at_once():
    solution = minimise(GradientDescent(), Quadratic(np.eye(2), np.ones(2)), np.ones(2))
    assert solution.converged
    assert solution.n_iter == 0


def test_a_start_without_a_value_is_reported():
    objective = Quadratic(np.eye(2), np.ones(2))
    solution = minimise(GradientDescent(), objective, np.full(2, np.nan))
    assert not solution.converged
    assert "start is not finite" in solution.reason


def test_steps_of_nearly_twice_the_inverse_curvature_are_not_accepted():
    """A lax Armijo rule takes them and crawls: 5,000 steps were not enough at condition 8."""
    objective = random_quadratic(215, 4)
    solution = minimise(GradientDescent(), objective, np.ones(4), tol=1e-12, max_iter=100)
    assert solution.converged, solution.reason


@pytest.mark.parametrize("rate", [-1.0, 0.0, float("nan"), float("inf")])
def test_a_step_that_does_not_go_downhill_is_refused(rate):
    objective = random_quadratic(0, 3)
    with pytest.raises(InvalidInput, match=f"rate={rate!r} .* above 0 was expected"):
        gradient_step(objective, np.ones(3), rate)
    with pytest.raises(InvalidInput, match=f"t={rate!r} .* above 0 was expected"):
        FixedStep(rate)
