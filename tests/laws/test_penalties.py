"""Laws of penalties, for every entry of ``PENALTIES``."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from likely.differences import check_gradient
from likely.penalties import L1, L2, PENALTIES, ElasticNet, Group, NoPenalty

STRENGTHS = np.array([0.0, 0.3, 1.0, 2.5])
MEMBERS = {
    "none": NoPenalty(),
    "l2": L2(STRENGTHS),
    "l1": L1(STRENGTHS),
    "elastic_net": ElasticNet(STRENGTHS, STRENGTHS[::-1].copy()),
    "group": Group(np.array([-1, 0, 1, 0]), np.array([0.8, 1.7])),
}
every_penalty = pytest.mark.parametrize("name", PENALTIES)
coefficients = st.integers(-500, 500).map(lambda i: i / 100)
thetas = st.lists(coefficients, min_size=4, max_size=4).map(np.array)
steps = st.sampled_from([0.1, 1.0, 3.0])


def test_every_penalty_is_among_the_members():
    assert {name: type(member) for name, member in MEMBERS.items()} == PENALTIES


@every_penalty
@given(theta=thetas)
def test_the_gradient_is_the_derivative_of_the_smooth_part(name, theta):
    penalty = MEMBERS[name]

    def smooth(x):
        return penalty.value(x) - penalty.rough().value(x)

    # the rough part cancels in the difference, and leaves its rounding
    assert check_gradient(smooth, penalty.gradient, theta) < 1e-5
    assert_allclose(
        penalty.gradient(theta + 1.0) - penalty.gradient(theta), penalty.curvature(theta)
    )


@every_penalty
@given(theta=thetas)
def test_the_rough_part_has_no_smooth_part(name, theta):
    rough = MEMBERS[name].rough()
    assert_allclose(rough.gradient(theta), 0.0)
    assert rough.rough().value(theta) == rough.value(theta)


@every_penalty
@given(theta=thetas, step=steps, seed=st.integers(0, 999))
def test_prox_is_the_minimiser(name, theta, step, seed):
    """No point near it or far from it is lower, and strong convexity says by how much."""
    penalty = MEMBERS[name]
    best = penalty.prox(theta, step)

    def objective(x):
        return 0.5 * np.sum((x - theta) ** 2) + step * penalty.value(x)

    rng = np.random.default_rng(seed)
    for size in (1e-3, 0.1, 1.0, 10.0):
        other = best + size * rng.normal(size=4)
        rise = objective(other) - objective(best)
        assert rise >= 0.5 * np.sum((other - best) ** 2) - 1e-9


def numerical_minimiser(value, theta):
    """argmin ½‖x − θ‖² + value(x), a coordinate at a time, by roots of numerical slopes.

    Values alone would tell it to 1e-8 at best: near a minimum they differ by less than rounding.
    """
    x, e = theta.copy(), 1e-5
    for _ in range(30):
        for j in range(x.size):

            def rise(low, high, j=j):
                ends = [value(np.where(np.arange(x.size) == j, at, x)) for at in (low, high)]
                return (ends[1] - ends[0]) / (high - low)

            def slope(at, j=j, rise=rise):
                return at - theta[j] + rise(at - e, at + e)

            if rise(-e, 0.0) <= theta[j] <= rise(0.0, e):
                x[j] = 0.0
            else:
                x[j] = brentq(slope, 0.0, np.sign(theta[j]) * (abs(theta[j]) + 1), xtol=1e-14)
    return x


@every_penalty
def test_prox_is_what_a_numerical_minimiser_finds(name):
    """REG-10: to 1e-8."""
    penalty, theta = MEMBERS[name], np.array([1.5, -2.0, 0.4, 3.0])
    found = numerical_minimiser(lambda x: 0.7 * penalty.value(x), theta)
    assert_allclose(penalty.prox(theta, 0.7), found, rtol=0, atol=1e-8)


@every_penalty
@given(theta=thetas, smooth=thetas, zeros=st.sets(st.integers(0, 3)))
def test_the_least_subgradient_is_where_a_short_proximal_step_goes(name, theta, smooth, zeros):
    """(θ − prox(θ − t g))/t for t → 0, at corners and off them."""
    penalty = MEMBERS[name].rough()
    theta[list(zeros)] = 0.0
    t = 1e-7
    step = (theta - penalty.prox(theta - t * smooth, t)) / t
    assert_allclose(penalty.least_subgradient(theta, smooth), step, atol=2e-3)


@every_penalty
@given(a=thetas, b=thetas, step=steps)
def test_prox_brings_points_no_further_apart(name, a, b, step):
    penalty = MEMBERS[name]
    apart = np.linalg.norm(penalty.prox(a, step) - penalty.prox(b, step))
    assert apart <= np.linalg.norm(a - b) + 1e-12


@every_penalty
@given(a=thetas, b=thetas, part=st.floats(0, 1))
def test_the_value_is_convex(name, a, b, part):
    value = MEMBERS[name].value
    assert value(part * a + (1 - part) * b) <= part * value(a) + (1 - part) * value(b) + 1e-9


@every_penalty
@given(a=thetas, b=thetas)
def test_the_value_is_minus_the_log_prior_up_to_a_constant(name, a, b):
    penalty = MEMBERS[name]
    assert_allclose(
        penalty.value(a) - penalty.value(b),
        penalty.log_prior(b) - penalty.log_prior(a),
        atol=1e-10,
    )


@every_penalty
@given(theta=thetas, step=steps)
def test_strength_0_leaves_a_coefficient_free(name, theta, step):
    """The first coefficient of every member has strength 0, but for the l2 of the elastic net."""
    penalty = ElasticNet(STRENGTHS, STRENGTHS) if name == "elastic_net" else MEMBERS[name]
    assert penalty.prox(theta, step)[0] == theta[0]
    assert penalty.value(theta) == penalty.value(np.append(99.0, theta[1:]))


@every_penalty
@given(theta=thetas, share=st.sampled_from([0.1, 0.5, 2.0]))
def test_a_scaled_penalty_is_the_penalty_times_the_scale(name, theta, share):
    penalty = MEMBERS[name]
    assert_allclose(penalty.scaled(share).value(theta), share * penalty.value(theta))


@every_penalty
@given(theta=thetas)
def test_corners_are_the_strengths_of_absolute_values(name, theta):
    corners = MEMBERS[name].corners(theta.size)
    expected = {"l1": STRENGTHS, "elastic_net": STRENGTHS}.get(name, np.zeros(4))
    assert_allclose(corners, expected)
