"""Cascades of logistic units: given, trained apart, trained together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from likely.differences import check_gradient
from likely.errors import InvalidInput
from likely.fitting.separation import separability
from likely.likelihoods import likelihood_of
from likely.special import expit
from likely.teaching.cascade import Cascade, CascadeObjective

XOR, LABEL = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0.0, 1, 1, 0])
GIVEN = Cascade([[20, 20], [-20, -20]], [-10, 30], coef=[20, 20], intercept=-30)


def test_the_hidden_units_separate_what_no_line_does():
    assert not separability(XOR, LABEL).separable
    assert separability(GIVEN.hidden(XOR), LABEL).separable
    assert_array_equal(GIVEN.decision(XOR) >= 0, LABEL)
    assert GIVEN.nll(XOR, LABEL) < 2e-4


def test_joint_training_puts_xor_right_from_some_of_ten_seeds():
    fits = [Cascade.fit_jointly(XOR, LABEL, seed=seed) for seed in range(10)]
    losses = np.array([fit.nll(XOR, LABEL) for fit in fits])
    assert losses.min() < 0.05
    best = fits[losses.argmin()]
    assert_array_equal(best.probability(XOR) > 0.5, LABEL)
    assert separability(best.hidden(XOR), LABEL).separable


def test_not_every_start_ends_well():
    losses = [Cascade.fit_jointly(XOR, LABEL, seed=seed).nll(XOR, LABEL) for seed in range(10)]
    assert max(losses) > 1.0


def test_a_seed_repeats_exactly():
    one, two = (Cascade.fit_jointly(XOR, LABEL, seed=1) for _ in range(2))
    assert_array_equal(one.hidden_coef, two.hidden_coef)
    assert_array_equal(one.coef, two.coef)


@given(seed=st.integers(0, 999), n_hidden=st.integers(1, 4), l2=st.sampled_from([0.0, 0.3]))
def test_the_gradient_goes_through_both_stages(seed, n_hidden, l2):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(12, 3)), rng.integers(0, 2, 12).astype(float)
    objective = CascadeObjective(X, y, n_hidden, l2)
    theta = rng.normal(size=objective.n_parameters)
    assert objective.n_parameters == n_hidden * 4 + n_hidden + 1
    assert (
        check_gradient(objective.value, lambda t: objective.first_order(t).gradient, theta) < 1e-6
    )
    assert_allclose(objective.first_order(theta).value, objective.value(theta), rtol=1e-14)


def test_one_unit_behind_the_other_is_written_out():
    cascade = Cascade([[2.0, -1.0]], [0.5], coef=[3.0], intercept=-1.0)
    x = np.array([[0.3, 0.7]])
    h = expit(2 * 0.3 - 0.7 + 0.5)
    assert_allclose(cascade.hidden(x), [[h]])
    assert_allclose(cascade.probability(x), [expit(3 * h - 1)])
    expected = likelihood_of("bernoulli").nll(np.ones(1), np.array([3 * h - 1]))
    assert_allclose(cascade.nll(x, [1]), expected.sum())


def test_labels_other_than_0_and_1_are_refused():
    with pytest.raises(InvalidInput, match="between 0 and 1; found 2"):
        Cascade.fit_jointly(XOR, [0, 1, 2, 0])
