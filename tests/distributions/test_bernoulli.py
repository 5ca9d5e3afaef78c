"""The Bernoulli event model: its score, its logits, its edges, a refusal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from likely.differences import check_gradient, check_hessian
from likely.distributions.bernoulli import Bernoulli, BernoulliStatistics, log_prob_of_logits
from likely.errors import InvalidInput


def some_data(seed, n=40, n_features=4, n_components=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, n_features)).astype(float)
    return X, rng.dirichlet(np.ones(n_components), size=n)


@given(seed=st.integers(0, 999))
def test_the_score_is_the_derivative_of_the_likelihood(seed):
    """NB-4: by central differences, and negative curvature at every interior p (EST-5)."""
    statistics = Bernoulli.statistics(*some_data(seed))
    p = np.random.default_rng(seed).uniform(0.1, 0.9, (3, 4))

    def value(p):
        return Bernoulli(p).log_likelihood_of(statistics)

    def score(p):
        return Bernoulli(p).score(statistics)

    def curvature(p):
        s, failures = statistics.successes, statistics.failures
        return np.diag((-s / p**2 - failures / (1 - p) ** 2).ravel())

    assert check_gradient(value, score, p) < 1e-6
    assert check_hessian(score, curvature, p) < 1e-6
    assert (np.diag(curvature(p)) < 0).all()


def test_the_score_is_zero_at_the_maximum():
    statistics = Bernoulli.statistics(*some_data(0))
    assert_allclose(
        Bernoulli.from_statistics(statistics).score(statistics), 0.0, rtol=1e-10, atol=1e-10
    )


def test_logits_stay_finite_where_probabilities_cannot():
    """DIST-1: log p at logit ±1000."""
    logits, x = np.array([1000.0, -1000.0, 1000.0, -1000.0]), np.array([1.0, 1.0, 0.0, 0.0])
    assert_allclose(log_prob_of_logits(x, logits), [0.0, -1000.0, -1000.0, 0.0], rtol=1e-15)
    moderate = np.array([[-2.0, 0.0, 3.0]])
    member = Bernoulli.from_logits(moderate)
    one = np.array([[1.0, 0.0, 1.0]])
    assert_allclose(member.log_prob(one)[0, 0], log_prob_of_logits(one, moderate).sum(), rtol=1e-12)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_certain_features_exclude_what_they_must(layout):
    member = Bernoulli(np.array([[0.0, 1.0, 0.5], [0.5, 0.5, 0.5]]))
    X = layout(np.array([[0.0, 1.0, 1.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    half = 3 * np.log(0.5)
    assert_allclose(member.log_prob(X), [[half / 3, half], [-np.inf, half], [-np.inf, half]])


def test_soft_counts_that_round_above_the_trials_stay_probabilities():
    r = np.random.default_rng(3).dirichlet(np.ones(5), size=1001)
    statistics = Bernoulli.statistics(np.ones((1001, 1)), r)
    nudged = BernoulliStatistics(statistics.successes * (1 + 1e-15), statistics.trials)
    member = Bernoulli.from_statistics(nudged)
    assert (member.probability <= 1).all()
    assert np.isfinite(member.log_prob(np.ones((1, 1)))).all()
    assert np.isfinite(member.log_likelihood_of(nudged))


def test_a_component_without_trials_is_undecided():
    empty = BernoulliStatistics(np.zeros((1, 2)), np.zeros((1, 1)))
    assert_array_equal(Bernoulli.from_statistics(empty).probability, [[0.5, 0.5]])


def test_smoothing_may_differ_by_feature():
    """EST-4: (α_d + N_kd) / (2α_d + N_k)."""
    seen = BernoulliStatistics(np.array([[3.0, 0.0]]), np.array([[4.0]]))
    prior = Bernoulli.pseudo_statistics(np.array([1.0, 10.0]), (1, 2))
    assert_allclose(Bernoulli.from_statistics(seen + prior).probability, [[4 / 6, 10 / 24]])


def test_the_linear_form_gives_the_log_odds_of_components():
    X, r = some_data(1)
    member = Bernoulli.from_statistics(Bernoulli.statistics(X, r))
    form = member.linear_form()
    assert form.terms == "x"
    assert_allclose(X @ form.coef.T + form.intercept, member.log_prob(X))


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_counts_are_refused_with_advice(layout):
    with pytest.raises(InvalidInput, match=r"must be 0 or 1; found 2\..*multinomial"):
        Bernoulli.check(layout(np.array([[0.0, 2.0]])))


def test_missing_cells_pass_the_check():
    Bernoulli.check(np.array([[0.0, 1.0, np.nan]]))


@pytest.mark.parametrize("logit", [-1000.0, -40.0, -1.0, 0.0, 1.0, 36.0, 40.0, 1000.0])
def test_a_logit_is_kept(logit):
    """DIST-1: log p(0) = −40 at a logit of 40, where p rounds to 1."""
    member = Bernoulli.from_logits([[logit]])
    x = np.array([[0.0], [1.0], [np.nan]])
    expected = np.array([[-np.logaddexp(0.0, logit)], [-np.logaddexp(0.0, -logit)], [0.0]])
    assert_allclose(member.log_prob(x), expected, rtol=1e-14, atol=1e-300 + 1e-16 * abs(logit))
    assert_allclose(member.log_prob(x[:2]), expected[:2], rtol=1e-14, atol=1e-13)
    assert_allclose(member.contributions(x)[:, 0], expected, rtol=1e-14)
    assert_allclose(member.linear_form().coef, [[logit]], rtol=1e-300, atol=1e-300)
    assert_allclose(member.variance, np.exp(expected[:1] + expected[1:2]))
    counts = BernoulliStatistics(np.array([[2.0]]), np.array([[5.0]]))
    assert_allclose(member.log_likelihood_of(counts), 2 * expected[1, 0] + 3 * expected[0, 0])


def test_an_infinite_logit_is_certain():
    member = Bernoulli.from_logits([[np.inf, -np.inf]])
    assert_array_equal(member.log_prob(np.array([[1.0, 0.0], [0.0, 0.0]])), [[0.0], [-np.inf]])
