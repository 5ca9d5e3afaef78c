"""The one loop: when it stops, and what it says; ascent equals descent, bit for bit."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from likely.differences import check_gradient
from likely.errors import InvalidInput, LimitReached
from likely.output.progress import listening
from likely.solvers import (
    EM,
    FISTA,
    LBFGS,
    FirstOrder,
    FirstOrderObjective,
    FixedStep,
    GradientDescent,
    Negated,
    Newton,
    ProximalNewton,
    SecondOrder,
    SmoothObjective,
    Solver,
    State,
    gradient_step,
    maximise,
    minimise,
)
from likely.solvers.coordinate_descent import CoordinateDescent
from likely.solvers.dual_coordinate_descent import DualCoordinateDescent
from likely.solvers.stopping import Iterations
from tests.solver_objectives import random_logistic, random_quadratic


@dataclass(frozen=True)
class Halving(Solver):
    """θ ← θ/2 on f(θ) = θ², stuck below ``wall``."""

    wall: float = 0.0
    name = "halving"

    def init(self, objective, theta):
        value = objective(theta)
        stuck = "the wall is here" if theta < self.wall else ""
        return State(theta=theta, value=value, gap=value, stuck=stuck)

    def step(self, objective, state):
        return self.init(objective, state.theta / 2)


def square(theta):
    return theta**2


def test_it_stops_within_the_tolerance():
    found = minimise(Halving(), square, 1.0, tol=1e-3)
    assert found.converged
    assert found.gap <= 1e-3 < found.trace[-2]
    assert found.theta == 2.0**-5
    assert found.n_iter == 5
    assert found.trace == tuple(4.0**-i for i in range(6))
    assert found.reason == "the gap 9.8e-04 is within tol=0.001"


def test_a_start_at_the_optimum_takes_no_step():
    assert minimise(Halving(), square, 0.0).n_iter == 0


@pytest.mark.parametrize("max_iter", [0, 1, 4])
def test_it_stops_after_max_iter_steps(max_iter):
    found = minimise(Halving(), square, 1.0, tol=0.0, max_iter=max_iter)
    assert not found.converged
    assert found.n_iter == max_iter
    assert f"max_iter={max_iter} was reached with a gap of" in found.reason


def test_it_stops_where_no_step_is_possible():
    found = minimise(Halving(wall=0.3), square, 1.0, tol=0.0)
    assert not found.converged
    assert found.reason == "the wall is here"
    assert found.theta == 0.25


def test_every_step_is_reported_to_whoever_listens():
    heard = []
    with listening(heard.append):
        minimise(Halving(), square, 1.0, tol=0.0, max_iter=3)
    assert [said.what for said in heard] == ["halving step"] * 3
    assert heard[-1].detail == "objective 0.015625, gap 1.6e-02"


def test_a_watcher_sees_every_state_from_the_start():
    states = []
    found = minimise(Halving(), square, 1.0, tol=0.0, max_iter=3, watch=states.append)
    assert [state.theta for state in states] == [1.0, 0.5, 0.25, 0.125]
    assert tuple(state.value for state in states) == found.trace


def test_a_watcher_of_gradient_descent_keeps_loss_gradient_and_parameters():
    objective, states = random_quadratic(0, 3), []
    minimise(FixedStep(0.01), objective, np.ones(3), tol=0.0, max_iter=20, watch=states.append)
    assert len(states) == 21
    norms = [np.linalg.norm(state.gradient) for state in states]
    assert np.all(np.diff(norms) < 0)
    for state in states:
        assert_array_equal(state.gradient, objective.Q @ state.theta - objective.c)


def test_a_limit_that_is_reached_warns_unless_it_was_asked_for():
    with pytest.warns(LimitReached, match=r"max_iter=3 was reached.*Raise max_iter, or loosen"):
        found = minimise(Halving(), square, 1.0, tol=1e-9, max_iter=3)
    assert not found.converged
    asked = minimise(Halving(), square, 1.0, tol=1e-9, stop=Iterations(3))
    assert asked.stopped
    assert not asked.converged
    assert asked.theta == found.theta


def test_a_rule_and_a_tolerance_at_once_are_a_convergence():
    found = minimise(Halving(), square, 1.0, tol=1e-3, stop=Iterations(5))
    assert found.converged
    assert not found.stopped


class Quadratic:
    """An objective of its own kind, with f and ∇f alone."""

    def value(self, theta):
        return float(np.sum((theta - 3.0) ** 2))

    def gradient(self, theta):
        return 2.0 * (theta - 3.0)


class Curved(SmoothObjective):
    """An objective with second derivatives."""

    def second_order(self, theta):
        f = Quadratic()
        return SecondOrder(f.value(theta), f.gradient(theta), 2.0 * np.eye(theta.size))


OWN = [Quadratic(), (Quadratic().value, Quadratic().gradient), Curved()]


@pytest.mark.parametrize("solver", [LBFGS(), GradientDescent(), FixedStep(0.2)])
@pytest.mark.parametrize("given", OWN)
def test_any_value_and_gradient_are_minimised(solver, given):
    found = minimise(solver, given, [0, 7])
    assert found.converged
    np.testing.assert_allclose(found.theta, 3.0, rtol=0, atol=1e-4)


@pytest.mark.parametrize("given", OWN)
def test_one_step_of_any_value_and_gradient(given):
    np.testing.assert_array_equal(gradient_step(given, [0, 7], rate=0.25), [1.5, 5.0])


def test_minus_any_value_and_gradient_is_maximised():
    down = (lambda x: -Quadratic().value(x), lambda x: -Quadratic().gradient(x))
    found = maximise(LBFGS(), down, [0, 7])
    np.testing.assert_allclose(found.theta, 3.0, rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    ("solver", "given", "words"),
    [
        (FISTA(), Quadratic(), "FISTA was given a value and a gradient; it needs a penalty apart"),
        (ProximalNewton(), Curved(), "it needs a penalty apart from f.* Use LBFGS"),
        (CoordinateDescent(), Quadratic(), "that it can read column by column"),
        (DualCoordinateDescent(), Quadratic(), "that it can read row by row"),
        (EM(), Quadratic(), "it needs an ExpectationObjective"),
        (LBFGS(), Quadratic().value, r"it needs a value and a gradient. Give objective\(X, y\)"),
        (GradientDescent(), 3, "GradientDescent was given 3; it needs a value and a gradient"),
    ],
)
def test_what_a_solver_cannot_minimise_is_refused_in_words(solver, given, words):
    with pytest.raises(InvalidInput, match=words):
        minimise(solver, given, [0.0, 7.0])


def test_newtons_method_asks_for_second_derivatives_and_a_gradient_has_the_shape_of_theta():
    with pytest.raises(InvalidInput, match="Newton was given a value and a gradient; it needs"):
        minimise(Newton(), Quadratic(), [0.0])
    with pytest.raises(InvalidInput, match=r"gradient has shape \(1,\); expected \(2,\)"):
        minimise(LBFGS(), (Quadratic().value, lambda x: np.ones(1)), [0.0, 1.0])


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


@pytest.mark.parametrize("solver", ["lbfgs", LBFGS, Quadratic()])
def test_what_is_no_solver_is_refused_with_one_that_is(solver):
    with pytest.raises(InvalidInput, match=r"as its solver, .* Write minimise\(LBFGS\(\), obj"):
        minimise(solver, Quadratic(), [0.0])


@pytest.mark.parametrize("start", ["abc", None, [[0.0, 7.0]], np.zeros((2, 2)), {"theta": 1.0}])
def test_a_start_is_one_number_for_each_parameter(start):
    with pytest.raises(InvalidInput, match=r"(?s)The start is .*; one number for each parameter"):
        minimise(LBFGS(), Quadratic(), start)


@pytest.mark.parametrize("value", [None, "low", np.ones(2)])
def test_a_value_is_one_number(value):
    with pytest.raises(InvalidInput, match=r"The value is .*; one number was expected"):
        minimise(GradientDescent(), (lambda x: value, Quadratic().gradient), [0.0, 7.0])
