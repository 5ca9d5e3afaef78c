"""Laws of penalties, for every entry of ``PENALTIES``."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.differences import check_gradient
from likely.penalties import L1, L2, PENALTIES, ElasticNet, Group, NoPenalty, PenaltySum

STRENGTHS = np.array([0.0, 0.3, 1.0, 2.5])
MEMBERS = {
    "none": NoPenalty(),
    "l2": L2(STRENGTHS),
    "l1": L1(STRENGTHS),
    "elastic-net": ElasticNet(STRENGTHS, STRENGTHS[::-1].copy()),
    "group": Group(np.array([-1, 0, 1, 0]), np.array([0.8, 1.7])),
    "sum": PenaltySum(
        (Group([[1, 3]], 0.8), L1(0.5 * STRENGTHS), L2(STRENGTHS), L1(0.5 * STRENGTHS))
    ),
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
        penalty.gradient(theta + 1.0) - penalty.gradient(theta),
        penalty.curvature(theta),
        rtol=1e-10,
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


def lowest(function, start):
    """A search along the axes and between them, in long doubles: 1e-9 in θ is 1e-18 in f."""
    best, step = np.array(start, dtype=np.longdouble), np.longdouble(1)
    ways = np.array([way for way in np.ndindex(3, 3, 3, 3) if way != (1, 1, 1, 1)]) - 1
    lowest = function(best)
    while step > 1e-10:
        values = np.array([function(best + step * way) for way in ways])
        if values.min() < lowest:
            best, lowest = best + step * ways[values.argmin()], values.min()
        else:
            step /= 2
    return best


def value_by_hand(name, x):
    """Σ λ|x| + ½ Σ κx² + Σ γ‖x_g‖ of the members, in the precision of x."""
    l1 = STRENGTHS * (name in ("l1", "elastic-net", "sum"))
    l2 = {"l2": STRENGTHS, "sum": STRENGTHS, "elastic-net": STRENGTHS[::-1]}.get(name, 0 * l1)
    groups = {"group": [([1, 3], 0.8), ([2], 1.7)], "sum": [([1, 3], 0.8)]}.get(name, [])
    rough = np.sum(l1 * np.abs(x)) + np.sum(l2 * x**2) / 2
    return rough + sum(np.longdouble(s) * np.sqrt(np.sum(x[g] ** 2)) for g, s in groups)


@every_penalty
@pytest.mark.parametrize("theta", [[1.5, -2.0, 0.4, 3.0], [-0.3, 0.2, 2.6, -0.1]])
def test_prox_is_what_a_numerical_minimiser_finds(name, theta):
    theta = np.array(theta)
    found = lowest(lambda x: np.sum((x - theta) ** 2) / 2 + value_by_hand(name, x) / 2, theta)
    assert_allclose(MEMBERS[name].prox(theta, 0.5), found.astype(float), atol=1e-8, rtol=0)
    assert_allclose(MEMBERS[name].value(theta), float(value_by_hand(name, theta)), rtol=1e-14)


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
    penalty = L1(STRENGTHS) + L2(STRENGTHS) if name == "sum" else MEMBERS[name]
    assert_allclose(
        penalty.value(a) - penalty.value(b),
        penalty.log_prior(b) - penalty.log_prior(a),
        rtol=1e-10,
        atol=1e-10,
    )


@every_penalty
@given(theta=thetas, step=steps)
def test_strength_0_leaves_a_coefficient_free(name, theta, step):
    """The first coefficient of every member has strength 0, but for the l2 of the elastic net."""
    penalty = ElasticNet(STRENGTHS, STRENGTHS) if name == "elastic-net" else MEMBERS[name]
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
    rough = {"l1": STRENGTHS, "elastic-net": STRENGTHS, "sum": STRENGTHS}
    expected = rough.get(name, np.zeros(4))
    assert_allclose(corners, expected)


@every_penalty
@given(theta=thetas)
def test_second_derivatives_are_those_of_the_value_where_it_has_them(name, theta):
    """By differences in the gradient of the whole value, away from kinks."""
    penalty = MEMBERS[name]
    away = np.where(np.abs(theta) < 0.2, 0.7, theta)
    h, eye = 1e-4, np.eye(4)

    def second(i, j):
        shifts = [(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]
        return sum(
            sign * penalty.value(away + h * (a * eye[i] + b * eye[j])) for a, b, sign in shifts
        ) / (4 * h * h)

    expected = [[second(i, j) for j in range(4)] for i in range(4)]
    assert_allclose(penalty.hessian_on(away, np.arange(4)), expected, atol=1e-5)


@every_penalty
def test_kinks_and_free_coefficients_are_known(name):
    penalty, zero = MEMBERS[name], np.zeros(4)
    for j in range(4):
        step = 1e-6 * np.eye(4)[j]
        kink = penalty.value(zero + step) + penalty.value(zero - step) > 1e-8
        assert penalty.at_kink(zero)[j] == kink
        assert penalty.free(4)[j] == (penalty.value(step) == 0)
