"""Entropies: SciPy, the identity that binds them, zeros, logits and units."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from likely import information
from likely.errors import UnknownName
from likely.special import log_softmax, softmax


def some_distributions(seed, n=6, size=4):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(size), n), rng.dirichlet(np.ones(size), n)


@given(st.integers(0, 999))
def test_divergence_is_cross_entropy_less_entropy(seed):
    p, q = some_distributions(seed)
    gap = information.cross_entropy(p, q) - information.entropy(p)
    assert_allclose(information.kl_divergence(p, q), gap, rtol=1e-10, atol=1e-12)
    assert (information.kl_divergence(p, q) > 0).all()
    assert_array_equal(information.kl_divergence(p, p), 0)


@given(st.integers(0, 999), st.floats(1e-12, 1e-6))
def test_divergence_between_near_equals_is_not_negative(seed, epsilon):
    p, q = some_distributions(seed)
    near = (1 - epsilon) * p + epsilon * q
    assert (information.kl_divergence(p, near) >= 0).all()


@pytest.mark.parametrize(("unit", "base"), [("nats", np.e), ("bits", 2)])
@pytest.mark.parametrize("axis", [0, 1])
def test_agrees_with_scipy(unit, base, axis):
    p, q = some_distributions(0)
    if axis == 0:
        p, q = p.T, q.T
    expected = stats.entropy(p, base=base, axis=axis)
    assert_allclose(information.entropy(p, axis, unit=unit), expected, rtol=1e-12)
    expected = stats.entropy(p, q, base=base, axis=axis)
    assert_allclose(information.kl_divergence(p, q, axis, unit=unit), expected, rtol=1e-12)


def test_zero_times_log_zero_is_zero():
    p, q = np.array([0.0, 1.0]), np.array([0.5, 0.5])
    assert information.entropy(p) == 0
    assert_allclose(information.kl_divergence(p, q, unit="bits"), 1)
    assert information.cross_entropy(q, p) == np.inf
    assert information.kl_divergence(q, p) == np.inf
    assert information.cross_entropy(p, p) == 0


def test_one_distribution_meets_a_batch():
    p, q = some_distributions(1)
    expected = [information.cross_entropy(p[0], row) for row in q]
    assert_allclose(information.cross_entropy(p[0], q), expected)


def test_logits_agree_with_probabilities():
    rng = np.random.default_rng(0)
    a, b = rng.normal(scale=3, size=(2, 5, 4))
    p, q = softmax(a), softmax(b)
    assert_allclose(information.entropy_of_logits(a), information.entropy(p))
    assert_allclose(information.cross_entropy_of_logits(p, b), information.cross_entropy(p, q))
    divergence = information.kl_divergence_of_logits(a, b)
    assert_allclose(divergence, information.kl_divergence(p, q), rtol=1e-10)


def test_logits_of_a_thousand_keep_their_cross_entropy():
    a = np.array([0.0, 1000.0])
    assert information.cross_entropy_of_logits([1.0, 0.0], a) == 1000
    assert information.entropy_of_logits(a) == 0
    assert information.kl_divergence_of_logits(a, a) == 0
    assert information.cross_entropy_of_logits([0.0, 1.0], [-np.inf, 0.0]) == 0


@given(st.floats(0, 1), st.floats(-30, 30))
def test_bernoulli_cross_entropy_is_that_of_two_outcomes(t, a):
    p, logits = np.array([t, 1 - t]), np.array([a, 0.0])
    expected = information.cross_entropy_of_logits(p, logits)
    ours = information.bernoulli_cross_entropy_of_logits(t, a)
    assert_allclose(ours, expected, rtol=1e-12, atol=1e-15)
    f = np.exp(log_softmax(logits))[0]
    assert_allclose(information.bernoulli_cross_entropy(t, f), expected, rtol=1e-3, atol=1e-9)


def test_bernoulli_cross_entropy_at_the_ends():
    t, f = np.array([0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0])
    assert_array_equal(information.bernoulli_cross_entropy(t, f), [0, 0, np.inf])
    a = np.array([-1000.0, 1000.0, -1000.0])
    assert_array_equal(information.bernoulli_cross_entropy_of_logits(t, a), [0, 0, 1000])
    assert_allclose(information.bernoulli_cross_entropy(0.5, 0.5, unit="bits"), 1)


def test_an_unknown_unit_is_refused():
    with pytest.raises(UnknownName, match="no unit 'bit'; choose one of bits, nats"):
        information.entropy([0.5, 0.5], unit="bit")
