"""The categorical response: derivatives, the bound on its curvature, stability, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.differences import check_gradient, check_hessian
from likely.errors import InvalidInput
from likely.likelihoods import Categorical, likelihood_of
from likely.special import log_softmax, softmax_jacobian

seeds = st.integers(0, 999)


def some_data(seed, n=5, K=4):
    rng = np.random.default_rng(seed)
    return rng.integers(0, K, n), 3 * rng.normal(size=(n, K))


@given(seed=seeds)
def test_slope_is_the_derivative_of_nll(seed):
    y, eta = some_data(seed)
    model = Categorical(4)
    nll, slope, probability = model.derivatives(y, eta)
    assert check_gradient(lambda at: model.nll(y, at).sum(), lambda _: slope, eta) < 1e-6
    assert_allclose(nll, -log_softmax(eta)[np.arange(5), y], rtol=1e-13, atol=1e-13)
    assert_allclose(probability.sum(axis=1), 1)
    assert_allclose(slope, probability - np.eye(4)[y], rtol=1e-14, atol=1e-14)


@given(seed=seeds)
def test_blocks_are_the_second_derivatives(seed):
    y, eta = some_data(seed, n=1)
    model = Categorical(4)
    blocks = model.curvature_blocks(eta)
    hessian = np.array([[blocks.block(k, other)[0] for other in range(4)] for k in range(4)])
    assert_allclose(hessian, softmax_jacobian(eta)[0], rtol=1e-15, atol=1e-15)
    gradient = lambda at: model.derivatives(y, at[None])[1][0]  # noqa: E731
    assert check_hessian(gradient, lambda _: hessian, eta[0]) < 1e-6
    direction = np.arange(4.0)[None]
    assert_allclose(blocks.times(direction), direction @ hessian, rtol=1e-14, atol=1e-14)


@given(seed=seeds, K=st.integers(2, 12))
def test_the_bound_is_above_every_curvature(seed, K):
    _, eta = some_data(seed, n=3, K=K)
    blocks = Categorical(K).curvature_blocks(eta)
    left = np.linalg.eigvalsh(blocks.bound - softmax_jacobian(eta))
    assert left.min() > -1e-12
    assert_allclose(blocks.bound @ np.ones(K), 0, rtol=1e-14, atol=1e-14)


def test_two_classes_equal_the_bernoulli_with_the_logit():
    a, y = np.linspace(-4, 4, 9), np.arange(9) % 2
    nll, slope, _ = Categorical(2).derivatives(y, np.column_stack([np.zeros(9), a]))
    other = likelihood_of("bernoulli").derivatives(y, a)
    assert_allclose(nll, other[0], rtol=1e-12)
    assert_allclose(slope[:, 1], other[1], rtol=1e-12)


def test_logits_of_a_thousand_are_exact():
    nll, slope, _ = Categorical(3).derivatives(
        np.array([0, 2]), np.array([[1000.0, 0, -1000], [1000, 0, -1000]])
    )
    assert_allclose(nll, [0, 2000])
    assert_allclose(slope, [[0, 0, 0], [1, 0, -1]])


def test_a_sure_and_right_class_keeps_its_small_slope():
    _, slope, _ = Categorical(2).derivatives(np.array([0]), np.array([[40.0, 0.0]]))
    assert_allclose(slope, [[-np.exp(-40), np.exp(-40)]], rtol=1e-12)


def test_sampled_frequencies_match():
    eta = np.tile([0.0, 1.0, -1.0], (20_000, 1))
    y = Categorical(3).sample(eta, np.random.default_rng(0))
    p = Categorical(3).mean(eta[:1])[0]
    assert_allclose(np.bincount(y, minlength=3) / 20_000, p, atol=0.02)


@pytest.mark.parametrize("bad", [3, -1, 0.5])
def test_a_class_that_is_not_there_is_refused(bad):
    with pytest.raises(InvalidInput, match=rf"from 0 to 2; found {bad:g} at example 1\. Number"):
        Categorical(3).check(np.array([0, bad]))


def test_one_class_is_refused():
    with pytest.raises(InvalidInput, match="2 or more classes; found 1"):
        Categorical(1)
