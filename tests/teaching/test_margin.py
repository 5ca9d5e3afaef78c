"""Losses of the margin: derivatives, upper bounds, ties, and training with each."""

from math import e, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq

from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks
from likely.data.layouts.intercept import Dense
from likely.likelihoods import likelihood_of
from likely.objectives.linear import LinearObjective
from likely.penalties import L2
from likely.solvers import LBFGS, minimise
from likely.teaching import MARGIN_LOSSES, SquareErrorLogistic

GRID = np.linspace(-50, 50, 10_001)
every_loss = pytest.mark.parametrize("loss", MARGIN_LOSSES.values(), ids=MARGIN_LOSSES)
KINKS = {"zero-one": [0.0], "hinge": [1.0]}


@every_loss
@given(margin=st.floats(-20, 20))
def test_the_slope_is_the_derivative(loss, margin):
    if any(abs(margin - kink) < 1e-3 for kink in KINKS.get(loss.name, [])):
        return
    h = 1e-5 * max(1.0, abs(margin))
    rise = (loss.value(margin + h) - loss.value(margin - h)) / (2 * h)
    size = max(1.0, float(loss.value(margin)))
    assert_allclose(loss.slope(np.float64(margin)), rise, atol=1e-8 * size)


@pytest.mark.parametrize("name", ["logistic", "squared"])
def test_the_curvature_is_the_derivative_of_the_slope_where_it_claims_to_be(name):
    loss, m, h = MARGIN_LOSSES[name], np.linspace(-5, 5, 41), 1e-5
    rise = (loss.slope(m + h) - loss.slope(m - h)) / (2 * h)
    assert_allclose(loss.curvature(m), rise, atol=1e-8)


@every_loss
def test_the_scaled_loss_bounds_zero_one_on_ten_thousand_margins(loss):
    """For either sign: at m = 0 an example of class 0 is an error."""
    for y in (0.0, 1.0):
        eta = (2 * y - 1) * GRID
        errors = MARGIN_LOSSES["zero-one"].nll(np.full(GRID.size, y), eta)
        scaled = loss.nll(np.full(GRID.size, y), eta) / loss.scale
        assert (scaled >= errors).all()
    assert (loss.upper_bound(GRID) >= 0).all()


@every_loss
def test_no_smaller_scale_would_do_less_harm(loss):
    """Multiplied by any part of 1/scale, the loss is below 1 at m = 0."""
    if loss.name != "zero-one":
        assert_allclose(loss.value(0.0), loss.scale)


def test_the_logistic_loss_needs_its_scale():
    logistic = MARGIN_LOSSES["logistic"]
    assert not logistic.bounds_zero_one
    assert [MARGIN_LOSSES[name].bounds_zero_one for name in ("hinge", "squared")] == [True, True]
    reaches_one = brentq(lambda m: logistic.value(m) - 1, -2, 0, xtol=1e-14)
    assert_allclose(reaches_one, -log(e - 1), rtol=1e-10, atol=1e-12)
    between = np.linspace(-0.5413, 0, 100, endpoint=False)
    assert (logistic.value(between) < 1).all()


@pytest.mark.parametrize("name", MARGIN_LOSSES)
def test_convexity_is_as_claimed(name):
    loss, m = MARGIN_LOSSES[name], np.linspace(-8, 8, 401)
    middle = loss.value((m[:-2] + m[2:]) / 2)
    chord = (loss.value(m[:-2]) + loss.value(m[2:])) / 2
    assert (middle <= chord + 1e-12).all() == loss.convex


def test_a_tie_is_an_error_for_class_0_alone():
    zero_one = MARGIN_LOSSES["zero-one"]
    loss, slope, curvature = zero_one.derivatives(np.array([0.0, 1.0]), np.zeros(2))
    assert_array_equal(loss, [1.0, 0.0])
    assert_array_equal([slope, curvature], np.zeros((2, 2)))


@given(seed=st.integers(0, 999))
def test_the_logistic_loss_is_the_cross_entropy(seed):
    rng = np.random.default_rng(seed)
    y, eta = rng.integers(0, 2, 20).astype(float), rng.normal(scale=10, size=20)
    ours = MARGIN_LOSSES["logistic"].derivatives(y, eta)
    for mine, theirs in zip(ours, likelihood_of("bernoulli").derivatives(y, eta), strict=True):
        assert_allclose(mine, theirs, rtol=1e-12)


def test_the_square_of_the_sigmoid_is_twice_the_square_error():
    y, eta = np.array([0.0, 1.0, 1.0, 0.0]), np.array([-3.0, -1.0, 0.5, 9.0])
    ours = MARGIN_LOSSES["sigmoid-squared"].derivatives(y, eta)
    for mine, half in zip(ours, SquareErrorLogistic().derivatives(y, eta), strict=True):
        assert_allclose(mine, 2 * half, rtol=1e-12)


@pytest.mark.parametrize("name", ["logistic", "hinge", "squared", "sigmoid-squared"])
def test_a_linear_classifier_can_be_trained_with_any_surrogate(name):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(200, 2)), np.ones(200)])
    y = (X @ [2.0, -1.0, 0.5] + 0.3 * rng.normal(size=200) > 0).astype(float)
    objective = LinearObjective(
        MARGIN_LOSSES[name], L2(np.array([0.1, 0.1, 0.0])), ArrayBlocks(Dense(X), y), Serial()
    )
    solution = minimise(LBFGS(), objective, np.zeros(3), max_iter=200)
    errors = MARGIN_LOSSES["zero-one"].nll(y, X @ solution.theta).mean()
    assert errors < 0.06
    bound = MARGIN_LOSSES[name].nll(y, X @ solution.theta).mean() / MARGIN_LOSSES[name].scale
    assert errors <= bound
