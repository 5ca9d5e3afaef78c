"""Penalties of single coefficients as priors: densities, worked examples, a refusal."""

from math import log

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.integrate import quad

from likely import LinearRegression
from likely.errors import InvalidInput
from likely.penalties import L1, L2, ElasticNet, Group, NoPenalty, soft_threshold


def test_worked_example_laplace_prior_negative_log():
    """D log(2b) + Σ|w| / b, with the factor D that the lecture's normaliser lacks."""
    w, b = np.array([0.5, -1.2, 2.0]), 0.7
    assert_allclose(-L1(1 / b).log_prior(w), 6.295130995577925, rtol=1e-10, atol=1e-12)
    assert_allclose(-L1(1 / b).log_prior(w), 3 * log(2 * b) + np.abs(w).sum() / b)


def test_the_gaussian_prior_has_precision_l2():
    theta, l2 = np.array([0.3, -1.0]), np.array([0.5, 4.0])
    expected = stats.norm(scale=1 / np.sqrt(l2)).logpdf(theta).sum()
    assert_allclose(L2(l2).log_prior(theta), expected)


@pytest.mark.parametrize("l1", [0.0, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("l2", [0.0, 0.01, 2.0])
def test_the_elastic_net_prior_integrates_to_1(l1, l2):
    if l1 == l2 == 0:
        assert ElasticNet(0.0, 0.0).log_prior(np.array([3.0])) == 0.0  # flat
        return
    prior = ElasticNet(l1, l2)
    half, _ = quad(lambda x: np.exp(prior.log_prior(np.array([x]))), 0, np.inf)
    assert_allclose(2 * half, 1.0, rtol=1e-6)


def test_an_almost_straight_elastic_net_is_the_laplace():
    theta = np.array([0.2, -3.0])
    assert_allclose(ElasticNet(2.0, 1e-300).log_prior(theta), L1(2.0).log_prior(theta))


def test_the_elastic_net_holds_ridge_and_lasso():
    theta = np.array([1.0, -2.0])
    assert ElasticNet(0.0, 3.0).value(theta) == L2(3.0).value(theta) == 7.5
    assert ElasticNet(3.0, 0.0).value(theta) == L1(3.0).value(theta) == 9.0
    assert NoPenalty().value(theta) == 0.0


def test_soft_thresholding_shrinks_towards_0_and_stops_there():
    assert_allclose(soft_threshold(np.array([3.0, -3.0, 0.5]), 1.0), [2.0, -2.0, 0.0])


@pytest.mark.parametrize("make", [L1, L2, lambda s: ElasticNet(1.0, s), lambda s: Group([0], s)])
@pytest.mark.parametrize("strength", [-1.0, np.array([1.0, np.nan])])
def test_a_strength_below_0_is_refused_with_advice(make, strength):
    with pytest.raises(InvalidInput, match=r"(-1|nan) is not a strength.*at least 0.*Use 0"):
        make(strength)


@pytest.mark.parametrize("noise", [0.25, 1.0, 9.0])
def test_the_noise_of_a_gaussian_response_is_in_the_strength_of_a_prior(noise):
    """Ridge: σ²/τ², the mode of N(y; Xβ, σ²) N(β; 0, τ²); lasso: σ²/b."""
    rng = np.random.default_rng(0)
    X, y, variance = rng.normal(size=(30, 2)), rng.normal(size=30), 0.5
    ridge = LinearRegression(penalty=L2.of_prior(variance, noise=noise), fit_intercept=False)
    mode = np.linalg.solve(X.T @ X / noise + np.eye(2) / variance, X.T @ y / noise)
    assert_allclose(ridge.fit(X, y).coef_, mode, rtol=1e-9)
    assert L1.of_prior(2.0, noise=noise).strengths.l1 == noise / 2.0


@pytest.mark.parametrize("strength", [{"a": 1.0}, "a", None, [1.0, "a"]])
@pytest.mark.parametrize("make", [L1, L2, ElasticNet])
def test_a_strength_that_is_no_number_is_refused(make, strength):
    with pytest.raises(
        InvalidInput, match=r"was given to a penalty; a number was expected.*mapping"
    ):
        make(strength)


def test_a_number_times_a_penalty_is_as_many_times_as_strong():
    theta = np.array([1.0, -2.0])
    for penalty in (L1(1.0), L2([1.0, 2.0]), ElasticNet(0.5, 2.0), L1(1.0) + L2(1.0)):
        for three in (3 * penalty, penalty * 3.0):
            assert three.value(theta) == 3 * penalty.value(theta)
    assert repr(3 * L1(1)) == "L1(l1=3.0)"
    with pytest.raises(InvalidInput, match="-1 is not a strength"):
        -1 * L1(1.0)
    with pytest.raises(TypeError):
        L1(1.0) * L2(1.0)
