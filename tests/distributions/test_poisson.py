"""Poisson counts: the prior, zero rates, sparse equals dense, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from likely.distributions.poisson import Poisson, PoissonStatistics
from likely.errors import InvalidInput

X = np.array([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0], [1.0, 1.0, 7.0]])
MEMBER = Poisson(np.array([[0.5, 1.0, 2.0], [4.0, 0.1, 1.0]]))


@pytest.mark.parametrize("ask", ["log_prob", "log_score", "contributions"])
def test_sparse_equals_dense(ask):
    assert_allclose(getattr(MEMBER, ask)(sparse.csr_array(X)), getattr(MEMBER, ask)(X), rtol=1e-12)


def test_the_prior_is_imagined_examples_with_the_events_of_the_feature():
    """λ = (S + αm) / (n + α), whatever m is; half an event where there was none."""
    seen = PoissonStatistics(np.array([[3000.0, 0.0], [6000.0, 0.0]]), np.array([[3.0], [6.0]]))
    member = Poisson.from_statistics(seen + seen.prior_statistics(Poisson, 1.0, (2, 2)))
    assert_allclose(member.rate[:, 0], 1000.0)
    assert_allclose(member.rate[:, 1], [0.5 / 9 / 4, 0.5 / 9 / 7])


def test_pseudo_statistics_are_imagined_examples_with_one_event():
    """λ = (S + α) / (n + α), the mean of a Gamma(S + α, n + α)."""
    seen = PoissonStatistics(np.array([[6.0, 0.0]]), np.array([[2.0]]))
    prior = Poisson.pseudo_statistics(np.array([1.0, 0.5]), (1, 2))
    assert_allclose(Poisson.from_statistics(seen + prior).rate, [[7 / 3, 0.5 / 2.5]])


def test_a_rate_of_zero_excludes_events():
    member = Poisson(np.array([[0.0, 1.0]]))
    logs = member.log_prob(np.array([[0.0, 0.0], [1.0, 0.0]]))
    assert_allclose(logs, [[-1.0], [-np.inf]])
    shares = member.contributions(np.array([[0.0, 0.0], [1.0, 0.0]]))
    assert_allclose(shares.sum(axis=1), logs)
    none = PoissonStatistics(np.array([[0.0, 3.0]]), np.array([[5.0]]))
    assert np.isfinite(member.log_likelihood_of(none))


def test_a_component_without_examples_has_the_rate_of_the_others():
    empty = PoissonStatistics(np.zeros((1, 2)), np.zeros((1, 1)))
    assert_allclose(Poisson.from_statistics(empty).rate, [[1.0, 1.0]])
    beside = PoissonStatistics(np.array([[8.0, 2.0], [0.0, 0.0]]), np.array([[4.0], [0.0]]))
    assert_allclose(Poisson.from_statistics(beside).rate, [[2.0, 0.5], [2.0, 0.5]])


def test_the_linear_form_is_the_score():
    form = MEMBER.linear_form()
    assert_allclose(X @ form.coef.T + form.intercept, MEMBER.log_score(X))


@pytest.mark.parametrize("value", [-1.0, 0.5])
def test_what_is_no_count_is_refused(value):
    with pytest.raises(InvalidInput, match=rf"Negative or fractional.*found {value:g}\..*Gaussian"):
        Poisson.check(np.array([[1.0, np.nan, value]]))
