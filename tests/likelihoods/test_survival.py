"""Class, cumulative and survival probabilities of ordered classes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from likely.likelihoods import (
    cumulative_of_survival,
    survival_differences,
    survival_of_classes,
    survival_of_cumulative,
)


@given(seed=st.integers(0, 999), K=st.integers(2, 100))
def test_classes_and_survival_undo_each_other(seed, K):
    p = np.random.default_rng(seed).dirichlet(np.ones(K), size=4)
    survival = survival_of_classes(p)
    assert survival.shape == (4, K - 1)
    back = survival_differences(survival)
    assert_allclose(back.difference, p, atol=1e-14)
    assert back.non_monotone.size == 0 or back.largest_rise < 1e-15
    cumulative = cumulative_of_survival(survival)
    assert_allclose(cumulative, np.cumsum(p, axis=1)[:, :-1], atol=1e-14)
    assert_allclose(survival_of_cumulative(cumulative), survival, atol=1e-15)


def test_a_rising_survival_is_reported_and_clipped():
    found = survival_differences(np.array([[0.9, 0.5], [0.4, 0.6], [0.2, 0.1]]))
    assert_array_equal(found.non_monotone, [1])
    assert_allclose(found.largest_rise, 0.2)
    assert_allclose(found.difference.sum(axis=1), 1)
    assert_allclose(found.difference[1], [0.6, -0.2, 0.6])
    assert_allclose(found.probability()[1], [0.5, 0, 0.5])
    assert_allclose(found.probability()[0], [0.1, 0.4, 0.5])


def test_one_example_may_be_a_vector():
    assert_allclose(survival_differences([0.7, 0.2]).difference, [0.3, 0.5, 0.2])
