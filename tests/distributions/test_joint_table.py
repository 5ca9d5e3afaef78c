"""The full table of discrete features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likely.distributions.joint_table import JointTableFamily, combinations
from likely.distributions.responsibility import Labels
from likely.errors import InvalidInput

X = np.array([[0, 0], [1, 2], [1, 2], [0, 1]], dtype=np.int32)
FAMILY = JointTableFamily((2, 3))


def fit(alpha=0.0):
    prior = FAMILY.pseudo_statistics(alpha, (1, 2))
    return FAMILY.from_statistics(FAMILY.statistics(X, Labels(np.zeros(4, int), 1)) + prior)


def test_each_combination_has_its_own_probability():
    every = np.array([[a, b] for a in range(2) for b in range(3)])
    assert_array_equal(combinations(every, (2, 3))[:, 0], np.arange(6))
    assert_allclose(np.exp(fit().log_prob(every))[:, 0], [1 / 4, 1 / 4, 0, 0, 0, 1 / 2])
    assert_allclose(np.exp(fit(1.0).log_prob(every))[:, 0], np.array([2, 2, 1, 1, 1, 3]) / 10)


def test_smoothing_given_by_feature_is_averaged():
    by_feature = FAMILY.pseudo_statistics(np.array([0.5, 1.5]), (2, 2))
    assert_allclose(by_feature.counts, np.ones((2, 6)))


def test_parameters_are_those_of_the_table():
    """NB-7: Π V_j − 1, against Σ (V_j − 1) with the naive assumption."""
    assert fit().n_parameters == 2 * 3 - 1
    assert fit().n_features == 2


def test_samples_are_combinations_that_occur():
    draws = fit().sample(np.zeros(200, int), np.random.default_rng(0))
    assert {tuple(row) for row in draws.tolist()} == {(0, 0), (1, 2), (0, 1)}


def test_a_table_too_large_is_refused():
    with pytest.raises(InvalidInput, match=r"40 features has 1\.1e\+12 cells.*naive"):
        JointTableFamily((2,) * 40)


def test_missing_values_and_unknown_codes_are_refused():
    with pytest.raises(InvalidInput, match=r"complete rows.*naive"):
        FAMILY.check(np.array([[0, -1]]))
    with pytest.raises(InvalidInput, match="Feature 0 has categories 0 to 1; found 2"):
        FAMILY.check(np.array([[2, 0]]))
