"""Newton's method: exact on a quadratic, monotone on a convex function, honest when stuck."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.errors import LimitReached
from likely.solvers.base import SecondOrder, SmoothObjective
from likely.solvers.minimise import minimise, search
from likely.solvers.newton import Newton
from tests.solver_objectives import rare_logistic


@dataclass(frozen=True)
class Quadratic(SmoothObjective):
    Q: np.ndarray
    c: np.ndarray

    def second_order(self, theta):
        value = 0.5 * theta @ self.Q @ theta - self.c @ theta
        return SecondOrder(float(value), self.Q @ theta - self.c, self.Q)


@dataclass(frozen=True)
class LogCosh(SmoothObjective):
    """Σ log cosh θ: whole Newton steps overshoot from afar."""

    def second_order(self, theta):
        value = np.logaddexp(theta, -theta).sum()
        return SecondOrder(float(value), np.tanh(theta), np.diag(1 - np.tanh(theta) ** 2))


@given(seed=st.integers(0, 999), d=st.integers(1, 6))
def test_one_step_solves_a_quadratic(seed, d):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(d, d))
    objective = Quadratic(A @ A.T + np.eye(d), rng.normal(size=d))
    solution = minimise(Newton(), objective, np.zeros(d), tol=1e-12)
    assert solution.converged
    assert solution.n_iter <= 1
    assert_allclose(solution.theta, np.linalg.solve(objective.Q, objective.c), atol=1e-8)


@given(start=st.floats(-4, 4))
def test_the_trace_never_rises(start):
    solution = minimise(Newton(), LogCosh(), np.array([start]), tol=1e-12)
    assert solution.converged
    assert_allclose(solution.theta, 0.0, atol=1e-5)
    assert (np.diff(solution.trace) <= 1e-12).all()


def test_a_saddle_is_reported_not_hidden():
    """At the saddle itself nothing tells where to go; off it, f falls without end."""
    saddle = Quadratic(np.diag([1.0, -1.0]), np.zeros(2))
    solution = minimise(Newton(), saddle, np.zeros(2))
    assert not solution.converged
    assert "not positive definite" in solution.reason
    with pytest.warns(LimitReached, match="max_iter=30"):
        falling = minimise(Newton(), saddle, np.array([1.0, 1e-3]), max_iter=30)
    assert not falling.converged
    assert falling.trace[-1] < falling.trace[0] - 1


@dataclass(frozen=True)
class Rosenbrock(SmoothObjective):
    """100(y − x²)² + (1 − x)²: not convex above the valley; the minimum is (1, 1)."""

    def second_order(self, theta):
        x, y = theta
        value = 100 * (y - x**2) ** 2 + (1 - x) ** 2
        gradient = np.array([-400 * x * (y - x**2) - 2 * (1 - x), 200 * (y - x**2)])
        hessian = np.array([[1200 * x**2 - 400 * y + 2, -400 * x], [-400 * x, 200.0]])
        return SecondOrder(float(value), gradient, hessian)


@given(x=st.floats(-2, 2), y=st.floats(-1, 5))
def test_a_hessian_that_is_not_positive_definite_is_damped(x, y):
    """OPT-14: from anywhere, also where the curvature is negative."""
    start = np.array([x, y])
    solution = minimise(Newton(), Rosenbrock(), start, tol=1e-14, max_iter=200)
    assert solution.converged, solution.reason
    assert_allclose(solution.theta, 1.0, atol=1e-5)
    assert (np.diff(solution.trace) <= 1e-9).all()


def test_no_search_ends_on_a_damped_step():
    """cos has a maximum at 0, where the gradient is nearly 0 and the gap would look small."""

    @dataclass(frozen=True)
    class Cosine(SmoothObjective):
        def second_order(self, theta):
            return SecondOrder(
                float(np.cos(theta[0])), -np.sin(theta), np.array([[-np.cos(theta[0])]])
            )

    solution = minimise(Newton(), Cosine(), np.array([1e-7]), tol=1e-10, max_iter=100)
    assert solution.converged
    assert_allclose(solution.trace[-1], -1.0, rtol=1e-9, atol=1e-9)


def test_a_step_into_a_flat_tail_is_halved():
    """The first whole step lowers f, and ends where the group's curvature is e⁻³⁵."""
    objective, start, optimum = rare_logistic()
    first = Newton().init(objective, start)
    beyond = objective.second_order(start + first.direction)
    assert beyond.value < first.value
    assert Newton().step(objective, first).value < beyond.value
    solution = minimise(Newton(intercepts=1), objective, start, tol=1e-14)
    assert solution.converged, solution.reason
    assert_allclose(solution.theta, optimum, rtol=1e-6)


def test_a_held_column_with_a_gradient_is_no_convergence():
    """log cosh 400 has the slope 1 and no curvature that a double can hold."""
    solution = minimise(Newton(), LogCosh(), np.array([1.0, 400.0]))
    assert not solution.converged
    assert solution.gap == np.inf
    assert "flat in parameter 1" in solution.reason


def test_a_column_that_another_explains_is_held_and_the_search_converges():
    """Exactly, or to seven digits: the difference could lower f, but by less than counts."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 50))
    for other in (x, x + 1e-7 * rng.normal(size=50)):
        X = np.column_stack([x, other])
        objective = Quadratic(X.T @ X, X.T @ y)
        state = Newton().init(objective, np.zeros(2))
        assert state.held == (1,)
        solution = minimise(Newton(), objective, np.zeros(2), tol=1e-10)
        assert solution.converged, solution.reason
        assert_allclose(solution.theta, [x @ y / (x @ x), 0.0])


def test_a_column_is_not_held_by_a_leap():
    """29 : 0 instead of 29 : 1: f falls for ever, and the search goes where d still shows it."""
    objective, start, _ = rare_logistic()
    separated = replace(objective, sign=np.where(objective.X[:, 0] > 0.5, 1.0, objective.sign))
    _, state = search(Newton(intercepts=1), separated, start, tol=1e-8)
    assert state.held == ()
    assert_allclose(state.direction[0], 1.0, atol=0.01)


def test_the_damped_direction_has_the_sizes_of_the_eigenvalues():
    """Of f = 2x² − ¼y² the direction is −|H|⁻¹g: down the valley, and away from the ridge."""

    @dataclass(frozen=True)
    class Saddle(SmoothObjective):
        def second_order(self, theta):
            H = np.diag([4.0, -0.5])
            return SecondOrder(float(theta @ H @ theta / 2), H @ theta, H)

    state = Newton().init(Saddle(), np.array([1.0, 1.0]))
    assert_allclose(state.direction, [-1.0, 1.0], rtol=1e-12)
    assert state.gap == np.inf
