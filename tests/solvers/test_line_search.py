"""Line searches deliver what they promise, also where rounding hides the decrease."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.solvers.base import FirstOrder, FirstOrderObjective
from likely.solvers.line_search import (
    ARMIJO,
    CURVATURE,
    Point,
    along,
    armijo_trials,
    armijo_with_slope,
    strong_wolfe,
)
from likely.solvers.newton import overshoots


def armijo(*arguments, **options):
    """The first step that delivers; None where none does."""
    return next(armijo_trials(*arguments, **options), None)


@dataclass(frozen=True)
class Curve(FirstOrderObjective):
    """log cosh(s(θ − 1)) + height: flat far away, steep in between."""

    s: float = 1.0
    height: float = 0.0
    noise: float = 0.0  # rounding, at its worst: everything but the start is that much higher
    start: float = -2.0

    def value(self, theta):
        return self.first_order(theta).value

    def first_order(self, theta):
        u = self.s * (theta - 1)
        value = float(np.logaddexp(u, -u).sum()) + self.height
        value += self.noise * (theta[0] != self.start)
        return FirstOrder(value, self.s * np.tanh(u))


def line(curve, theta=-2.0):
    at = along(curve, np.array([theta]), np.array([1.0]))
    return at, at(0.0)


scales = st.sampled_from([0.1, 1.0, 10.0, 100.0])
firsts = st.sampled_from([1e-6, 0.1, 1.0, 100.0])


@given(s=scales, first=firsts)
def test_a_point_of_strong_wolfe_satisfies_both_conditions(s, first):
    at, start = line(Curve(s))
    point = strong_wolfe(at, start, first=first)
    assert point.value <= start.value + ARMIJO * point.t * start.slope + 1e-12
    assert abs(point.slope) <= CURVATURE * abs(start.slope)
    assert point.t > 0


@given(s=scales, first=firsts)
def test_a_point_of_armijo_delivers_and_its_double_does_not(s, first):
    at, start = line(Curve(s))
    point = armijo(at, start.value, -start.slope, first=first)
    assert point.value <= start.value + ARMIJO * point.t * start.slope + 1e-12
    if point.t < first:
        assert at(2 * point.t).value > start.value + ARMIJO * 2 * point.t * start.slope


@given(s=scales, first=firsts)
def test_the_slope_keeps_a_step_from_overshooting(s, first):
    at, start = line(Curve(s))
    point = armijo_with_slope(at, start, first=first)
    assert point.value <= start.value
    assert point.slope <= (1 - 2 * ARMIJO) * abs(start.slope)


@pytest.mark.parametrize("search", [strong_wolfe, armijo_with_slope])
def test_rounding_does_not_stop_a_search_near_the_optimum(search):
    """At a height of 1e6 the fall of 1e-12 is invisible; the slope is not."""
    near = 1 - 1e-6
    at, start = line(Curve(height=1e6, noise=3e-8, start=near), theta=near)
    assert at(1e-6).value > start.value
    point = search(at, start, first=1e-6)
    assert point is not None
    assert abs(point.slope) < abs(start.slope)


def test_a_direction_uphill_finds_nothing():
    at = along(Curve(), np.array([3.0]), np.array([1.0]))
    start = at(0.0)
    assert armijo(at, start.value, 1.0) is None
    assert strong_wolfe(at, start) is None


def test_a_value_that_is_not_finite_is_stepped_back_from():
    class Wall(Curve):
        def first_order(self, theta):
            if theta[0] > 2:
                return FirstOrder(np.inf, np.array([np.inf]))
            return super().first_order(theta)

    at, start = line(Wall())
    assert armijo(at, start.value, -start.slope, first=50.0).theta[0] <= 2
    assert strong_wolfe(at, start, first=50.0).theta[0] <= 2


def test_trials_that_deliver_come_the_longest_first_and_when_asked_for():
    asked = []

    def at(t):
        asked.append(t)
        return Point(t, np.array([t]), (t - 0.5) ** 2, np.array([2 * t - 1]), 2 * t - 1)

    trials = armijo_trials(at, 0.25, 1.0, first=4.0)
    assert [next(trials).t, next(trials).t] == [0.5, 0.25]
    assert asked == [4.0, 2.0, 1.0, 0.5, 0.25]


def test_a_step_overshoots_if_the_next_one_leads_back_past_its_beginning():
    H, step = np.diag([4.0, 1.0]), np.array([1.0, 2.0])
    assert not overshoots(H, step, 100 * step)
    assert not overshoots(H, step, -step)
    assert overshoots(H, step, -1.01 * step)
    assert overshoots(H, step, np.array([-1e6, 2.0]))
    assert not overshoots(np.zeros((2, 2)), step, -9 * step)
