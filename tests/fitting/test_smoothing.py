"""Strengths by REML are the maximum of a marginal likelihood that is written out here."""

from dataclasses import astuple

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks
from likely.data.layouts.dense import Dense
from likely.fitting.driver import DesignRows
from likely.fitting.predictor import OnePredictor
from likely.fitting.smoothing import _tied, inverse_factor, smooth
from likely.likelihoods.responses import likelihood_of
from likely.penalties.base import ElasticNet
from likely.solvers.base import SecondOrder


def begun(X, y, response, weight=None):
    rows = DesignRows(ArrayBlocks(Dense(X), y, weight), Serial(), tuple)
    p = X.shape[1]
    specification = OnePredictor(
        rows,
        likelihood_of(response),
        lambda framing: ElasticNet(np.zeros(p + 1), np.append(np.ones(p), 0.0)),
    )
    return specification.begin(specification.problem())


def design(seed=0, n=120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    coef = np.r_[rng.normal(size=4), 0.2 * rng.normal(size=4)]
    return X, X @ coef, rng


GROUPS = np.array([0, 0, 0, 0, 1, 1, 1, 1, -1])


@pytest.mark.long
def test_of_a_gaussian_they_maximise_the_restricted_likelihood():
    """y − ȳ ~ N(0, φ(I + XΛ⁻¹Xᵀ)) on the space without the constant."""
    X, eta, rng = design()
    y = eta + rng.normal(size=len(X))
    n = len(y)
    basis = np.linalg.svd(np.ones((1, n)))[2][1:]  # orthogonal to the constant
    Z, r = basis @ X, basis @ y

    def loss(logs):
        strength = np.exp(logs[:2])[GROUPS[:-1]]
        cov = np.exp(logs[2]) * (np.eye(n - 1) + (Z / strength) @ Z.T)
        return -multivariate_normal(np.zeros(n - 1), cov).logpdf(r)

    best = minimize(loss, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9})
    problem, start = begun(X, y, "gaussian")
    found = smooth(problem, start, GROUPS, likelihood=likelihood_of("gaussian"))
    assert found.converged
    assert_allclose(found.strength, np.exp(best.x[:2]), rtol=2e-2)  # flat near the maximum
    assert_allclose(found.dispersion, np.exp(best.x[2]), rtol=1e-3)
    assert_allclose(loss(np.log([*found.strength, found.dispersion])), best.fun, rtol=1e-7)


def test_of_counts_the_fixed_point_holds_with_the_dispersion_of_the_rows():
    X, eta, rng = design(1, 400)
    y = rng.negative_binomial(2, 2 / (2 + np.exp(0.4 * eta))).astype(float)
    likelihood = likelihood_of("poisson")
    problem, start = begun(X, y, "poisson")
    found = smooth(problem, start, GROUPS, likelihood=likelihood, quasi=True)
    mean = np.exp(X @ found.theta[:-1] - X.mean(0) @ found.theta[:-1] + found.theta[-1])
    left = len(y) - found.edf.sum()
    assert_allclose(found.dispersion, np.sum((y - mean) ** 2 / mean) / left, rtol=1e-3)
    assert found.dispersion > 1.3
    for group, strength in enumerate(found.strength):
        mine = group == GROUPS
        squares = np.sum(found.theta[mine] ** 2)
        assert_allclose(strength, found.dispersion * found.edf[mine].sum() / squares, rtol=1e-2)
    fixed = smooth(*begun(X, y, "poisson"), GROUPS, likelihood=likelihood)
    assert fixed.dispersion == 1.0
    assert fixed.edf.sum() > found.edf.sum()  # noise taken for information


def test_a_group_without_information_shrinks_to_nothing():
    rng = np.random.default_rng(3)
    X = np.c_[rng.normal(size=(2000, 4)), np.zeros((2000, 4))]
    X[:, 4:] = rng.normal(size=(2000, 4)) * 1e-3
    y = X[:, 0] + rng.normal(size=2000)
    found = smooth(*begun(X, y, "gaussian"), GROUPS, likelihood=likelihood_of("gaussian"))
    assert found.edf[:4].sum() > 2
    assert found.edf[4:8].sum() < 3.5


def test_weight_two_is_the_row_twice():
    X, eta, rng = design(4)
    y = eta + rng.normal(size=len(X))
    likelihood = likelihood_of("gaussian")
    weight = rng.integers(1, 3, len(y)).astype(float)
    once = smooth(*begun(X, y, "gaussian", weight), GROUPS, likelihood=likelihood)
    again = np.repeat(np.arange(len(y)), weight.astype(int))
    twice = smooth(*begun(X[again], y[again], "gaussian"), GROUPS, likelihood=likelihood)
    assert_allclose(once.strength, twice.strength, rtol=1e-9)
    assert_allclose(once.dispersion, twice.dispersion, rtol=1e-9)


@pytest.mark.parametrize("y", [np.zeros(60), np.full(60, 5.0)])
def test_a_constant_response_is_fitted_without_a_coefficient(y):
    X = np.random.default_rng(0).normal(size=(60, 8))
    found = smooth(*begun(X, y, "gaussian"), GROUPS, likelihood=likelihood_of("gaussian"))
    assert np.isfinite(found.strength).all()
    assert_allclose(found.theta[:-1], 0.0, atol=1e-12)


def test_no_strength_is_below_the_least():
    X, eta, _ = design(5, 60)
    y = (eta > 0).astype(float)  # separated
    found = smooth(
        *begun(X, y, "bernoulli"), GROUPS, likelihood=likelihood_of("bernoulli"), least=0.3
    )
    assert (found.strength >= 0.3).all()
    assert found.dispersion == 1.0


def test_the_factor_of_an_inverse_holds_a_parameter_that_others_determine():
    H = np.array([[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    root = inverse_factor(H, np.zeros(3))
    assert_allclose(root.T @ root @ np.array([2.0, 2.0, 1.0]), [1.0, 0.0, 1.0], atol=1e-12)
    regular = inverse_factor(H, np.ones(3))
    assert_allclose(regular.T @ regular, np.linalg.inv(H + np.eye(3)), rtol=1e-12, atol=1e-14)


def test_a_tie_of_intercepts_is_one_quadratic_of_their_sum():
    """Its gradient and curvature are those of its value, by differences that are exact of squares.

    The loss of three classes, here with a column, does not change where all intercepts move.
    """
    rng = np.random.default_rng(0)
    free = np.array([True, True, True, False])
    root = rng.normal(size=(4, 4))
    root[:, :3] -= root[:, :3].mean(axis=1, keepdims=True)
    hessian, theta = root.T @ root, rng.normal(size=4)

    def added(at):
        plain = SecondOrder(at @ hessian @ at / 2, hessian @ at, hessian)
        tied = _tied(plain, at, free)
        return [a - b for a, b in zip(astuple(tied), astuple(plain), strict=True)]

    value, gradient, curvature = added(theta)
    steps = 0.1 * np.eye(4)
    up, down = (np.array([added(theta + s * step)[0] for step in steps]) for s in (1, -1))
    assert_allclose((up - down) / 0.2, gradient, atol=1e-9)
    turned = [(added(theta + step)[1] - added(theta - step)[1]) / 0.2 for step in steps]
    assert_allclose(turned, curvature, atol=1e-9)
    assert value > 0 and np.linalg.matrix_rank(hessian + curvature) > np.linalg.matrix_rank(hessian)
    assert added(np.array([1.0, 1.0, -2.0, 5.0]))[0] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_strengths_are_in_the_units_of_the_columns(scale):
    X, eta, rng = design(seed=3)
    y = eta + 0.01 * rng.normal(size=len(X))
    found = []
    for unit in (1.0, scale):
        problem, start = begun(unit * X, y, "gaussian")
        found.append(smooth(problem, start, GROUPS, likelihood=likelihood_of("gaussian")))
    assert_allclose(found[1].strength, scale**2 * found[0].strength, rtol=1e-4)
    assert_allclose(found[1].dispersion, found[0].dispersion, rtol=1e-6)
