"""Ascent equals descent, bit for bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from likely.differences import check_gradient
from likely.solvers import LBFGS, FixedStep, GradientDescent, maximise, minimise
from likely.solvers.base import FirstOrder, FirstOrderObjective
from likely.solvers.maximise import Negated
from tests.solver_objectives import random_logistic


class LogLikelihood(FirstOrderObjective):
    """ℓ(θ), written without reference to −ℓ."""

    def __init__(self, logistic):
        self.X, self.sign = logistic.X, logistic.sign

    def value(self, theta):
        return self.first_order(theta).value

    def first_order(self, theta):
        margin = self.sign * (self.X @ theta)
        wrong = 1 / (1 + np.exp(margin))
        return FirstOrder(-np.logaddexp(0, -margin).sum(), self.X.T @ (self.sign * wrong))


@pytest.mark.parametrize("solver", [FixedStep(0.01), GradientDescent(), LBFGS()], ids=str)
@given(seed=st.integers(0, 99))
def test_fifty_steps_up_and_fifty_down_visit_the_same_points(solver, seed):
    likelihood = LogLikelihood(random_logistic(seed))
    up, down = [], []
    rise = maximise(
        solver, likelihood, np.zeros(6), tol=0.0, max_iter=50, watch=lambda s: up.append(s.theta)
    )
    fall = minimise(
        solver,
        Negated(likelihood),
        np.zeros(6),
        tol=0.0,
        max_iter=50,
        watch=lambda s: down.append(s.theta),
    )
    assert_array_equal(up, down)
    assert len(up) == rise.n_iter + 1
    assert rise.trace == tuple(-value for value in fall.trace)
    assert rise.trace[-1] > rise.trace[0]


def test_ascent_by_hand_visits_the_same_points():
    """θ ← θ + t∇ℓ, written out."""
    likelihood, theta, seen = LogLikelihood(random_logistic(0)), np.zeros(6), []
    for _ in range(51):
        seen.append(theta)
        theta = theta + 0.01 * likelihood.first_order(theta).gradient
    visited = []
    maximise(
        FixedStep(0.01),
        likelihood,
        np.zeros(6),
        tol=0.0,
        max_iter=50,
        watch=lambda state: visited.append(state.theta),
    )
    assert_array_equal(visited, seen)


def test_the_negated_function_has_the_negated_gradient():
    negated = Negated(LogLikelihood(random_logistic(0)))
    theta = np.linspace(-1, 1, 6)
    assert check_gradient(negated.value, lambda t: negated.first_order(t).gradient, theta) < 1e-6
    assert negated.value(theta) > 0
