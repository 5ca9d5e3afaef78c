"""Square error with a sigmoid beside cross-entropy, on the same objective."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks
from likely.data.layouts.dense import Dense
from likely.differences import check_gradient, check_hessian
from likely.likelihoods import likelihood_of
from likely.objectives.linear import LinearObjective
from likely.penalties import NoPenalty
from likely.solvers import FixedStep, Newton, minimise
from likely.teaching import SquareErrorLogistic

SQUARE, CROSS = SquareErrorLogistic(), likelihood_of("bernoulli")


def objective(loss, X, y):
    return LinearObjective(loss, NoPenalty(), ArrayBlocks(Dense(X), y), Serial())


def some_data(seed, n=40):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, 2)), np.ones(n)])
    return X, (rng.random(n) < CROSS.mean(X @ [1.0, -1.0, 0.3])).astype(float)


@given(seed=st.integers(0, 999), scale=st.sampled_from([0.1, 1.0, 4.0]))
def test_the_gradient_is_that_of_the_total(seed, scale):
    X, y = some_data(seed)
    f = objective(SQUARE, X, y)
    theta = scale * np.random.default_rng(seed).normal(size=3)
    assert check_gradient(f.value, lambda t: f.first_order(t).gradient, theta) < 1e-6


def test_the_value_is_half_the_square():
    y, eta = np.array([1.0, 0.0, 1.0]), np.array([0.0, 2.0, -3.0])
    assert_allclose(SQUARE.nll(y, eta), (SQUARE.mean(eta) - y) ** 2 / 2, rtol=1e-14)


def test_nothing_is_lost_where_the_prediction_is_certain_and_right():
    """f − 1 = −e⁻⁴⁰ would be 0 in floating point."""
    loss, slope, _ = SQUARE.derivatives(np.ones(1), np.array([40.0]))
    assert_allclose(loss, np.exp(-80.0) / 2, rtol=1e-12)
    assert_allclose(slope, -np.exp(-80.0), rtol=1e-12)


def test_the_gradient_vanishes_where_the_prediction_is_entirely_wrong():
    y, eta = np.array([1.0, 0.0]), np.array([-40.0, 40.0])
    assert np.abs(SQUARE.derivatives(y, eta)[1]).max() < 1e-16
    assert_allclose(CROSS.derivatives(y, eta)[1], [-1.0, 1.0])


def test_a_hundred_equal_steps_from_far_off_lower_the_nll_more_with_cross_entropy():
    X, y, start = np.ones((1, 1)), np.ones(1), np.array([-10.0])
    nll = objective(CROSS, X, y).value
    ended = {
        name: minimise(FixedStep(0.5), objective(loss, X, y), start, tol=0.0, max_iter=100).theta
        for name, loss in {"square": SQUARE, "cross": CROSS}.items()
    }
    assert nll(start) - nll(ended["cross"]) > 9.9
    assert 0 < nll(start) - nll(ended["square"]) < 0.01


def test_it_is_not_convex_and_cross_entropy_is():
    X, y = some_data(0)
    line = np.linspace(-8, 8, 81)[:, None] * np.array([1.0, -1.0, 0.0])
    for loss, convex in [(SQUARE, False), (CROSS, True)]:
        value = np.array([objective(loss, X, y).value(theta) for theta in line])
        assert (np.diff(value, 2) >= -1e-12).all() == convex


def test_it_curves_downwards_where_the_error_is_above_two_thirds():
    eta, y = np.array([-1.0, -np.log(2) - 1e-3, -np.log(2) + 1e-3, 1.0]), np.ones(4)
    h = 1e-4
    second = (SQUARE.derivatives(y, eta + h)[1] - SQUARE.derivatives(y, eta - h)[1]) / (2 * h)
    assert (np.sign(second) == [-1, -1, 1, 1]).all()
    assert (SQUARE.derivatives(y, eta)[2] > 0).all()


def test_newton_fits_with_it_and_lands_near_the_likelihood():
    X, y = some_data(3, n=400)
    square = minimise(Newton(), objective(SQUARE, X, y), np.zeros(3), tol=1e-12)
    cross = minimise(Newton(), objective(CROSS, X, y), np.zeros(3), tol=1e-12)
    assert square.converged, square.reason
    gradient = objective(SQUARE, X, y).first_order(square.theta).gradient
    assert_allclose(gradient, 0, atol=1e-5)
    assert_allclose(square.theta, cross.theta, atol=0.5)  # two estimates of one truth
    assert not np.allclose(square.theta, cross.theta, atol=1e-3)


def test_the_curvature_is_exact_where_the_error_is_0():
    """Gauss–Newton leaves out (f − t) f″, which is 0 at t = f."""
    eta = np.array([-1.0, 0.3])
    y = SQUARE.mean(eta)
    error = check_hessian(
        lambda a: SQUARE.derivatives(y, a)[1],
        lambda a: np.diag(SQUARE.derivatives(y, a)[2]),
        eta,
    )
    assert error < 1e-6
