"""Newton's method: exact on a quadratic, monotone on a convex function, honest when stuck."""

from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.solvers.base import SecondOrder, SmoothObjective
from likely.solvers.minimise import minimise
from likely.solvers.newton import Newton


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
    solution = minimise(Newton(), Quadratic(np.diag([1.0, -1.0]), np.ones(2)), np.ones(2))
    assert not solution.converged
    assert "not positive definite" in solution.reason
