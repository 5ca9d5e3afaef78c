"""Exponential waiting times."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from likely.distributions.exponential import Exponential, ExponentialStatistics
from likely.errors import InvalidInput

X = np.array([[0.0, 2.0], [3.5, 0.0], [1.0, 0.25]])
MEMBER = Exponential(np.array([[0.5, 1.0], [4.0, 0.1]]))


def test_the_mean_is_time_over_examples():
    seen = ExponentialStatistics(np.array([[6.0, 1.0]]), np.array([[4.0]]))
    prior = Exponential.pseudo_statistics(2.0, (1, 2))
    assert_allclose(Exponential.from_statistics(seen).mean, [[1.5, 0.25]])
    assert_allclose(Exponential.from_statistics(seen + prior).mean, [[8 / 6, 3 / 6]])


@pytest.mark.parametrize("ask", ["log_prob", "contributions"])
def test_sparse_equals_dense(ask):
    assert_allclose(getattr(MEMBER, ask)(sparse.csr_array(X)), getattr(MEMBER, ask)(X), rtol=1e-12)


def test_a_feature_that_was_always_zero_keeps_a_density():
    member = Exponential.from_statistics(Exponential.statistics(np.zeros((3, 1)), np.ones((3, 1))))
    assert np.isfinite(member.log_prob(np.zeros((1, 1)))).all()
    assert member.log_prob(np.ones((1, 1)))[0, 0] < -1e100


def test_the_linear_form_is_the_log_density():
    form = MEMBER.linear_form()
    assert_allclose(X @ form.coef.T + form.intercept, MEMBER.log_prob(X))


def test_negative_times_are_refused():
    with pytest.raises(InvalidInput, match=r"Negative values.*found -2\. Use the Gaussian"):
        Exponential.check(np.array([[1.0, np.nan, -2.0]]))
