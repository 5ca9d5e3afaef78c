"""The Bernoulli response: far tails of every link, and proportions as binomial counts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from likely.likelihoods import Bernoulli, likelihood_of


def test_the_logit_is_exact_at_a_thousand():
    eta, y = np.array([1000.0, 1000.0, -1000.0, -1000.0]), np.array([1.0, 0.0, 1.0, 0.0])
    nll, slope, curvature = likelihood_of("bernoulli").derivatives(y, eta)
    assert_allclose(nll, [0, 1000, 1000, 0])
    assert_allclose(slope, [0, 1, -1, 0])
    assert_allclose(curvature, 0)


def test_a_confident_and_right_logit_keeps_its_small_slope():
    nll, slope, _ = likelihood_of("bernoulli").derivatives(np.ones(1), np.array([40.0]))
    assert_allclose([nll[0], -slope[0]], np.exp(-40.0), rtol=1e-12)


def test_the_probit_is_exact_at_thirty():
    eta, y = np.array([30.0, -30.0]), np.array([0.0, 1.0])
    nll, slope, curvature = likelihood_of("bernoulli", "probit").derivatives(y, eta)
    mills = np.exp(stats.norm.logpdf(30) - stats.norm.logsf(30))
    assert_allclose(nll, -stats.norm.logsf(30), rtol=1e-12)
    assert_allclose(slope, [mills, -mills], rtol=1e-10)
    assert_allclose(curvature, stats.norm.pdf(30) * mills, rtol=1e-10)


@pytest.mark.parametrize(("link", "sign"), [("cloglog", 1.0), ("loglog", -1.0)])
def test_log_log_links_meet_the_log_link_in_their_slow_tail(link, sign):
    """Where the rarer outcome has probability e⁻³⁰, nll is 30 and its slope is 1."""
    y = np.array([1.0]) if sign > 0 else np.array([0.0])
    nll, slope, _ = likelihood_of("bernoulli", link).derivatives(y, np.array([-30.0 * sign]))
    assert_allclose(nll, 30, rtol=1e-12)
    assert_allclose(slope, -sign, rtol=1e-12)


def test_swapping_the_outcomes_turns_loglog_into_cloglog():
    eta, y = np.linspace(-3, 3, 7), np.array([0.0, 1, 1, 0, 1, 0, 1])
    ours = likelihood_of("bernoulli", "loglog").derivatives(y, eta)
    theirs = likelihood_of("bernoulli", "cloglog").derivatives(1 - y, -eta)
    for one, other, sign in zip(ours, theirs, (1, -1, 1), strict=True):
        assert_allclose(one, sign * other)


def test_proportions_with_dispersion_one_over_trials_are_binomial():
    trials, successes, p = np.array([5, 12, 1]), np.array([2, 12, 0]), np.array([0.3, 0.9, 0.4])
    ours = Bernoulli().log_prob(successes / trials, p, 1 / trials)
    assert_allclose(ours, stats.binom(trials, p).logpmf(successes), rtol=1e-12, atol=1e-12)


def test_sampled_proportions_are_whole_numbers_of_successes():
    y = Bernoulli().sample(np.full(50, 0.4), np.random.default_rng(0), 1 / 7)
    assert_allclose(7 * y, np.rint(7 * y), rtol=1e-12, atol=1e-12)
    assert len(np.unique(y)) > 3


def test_certainty_costs_nothing_when_right_and_everything_when_wrong():
    ends = np.array([0.0, 1.0])
    assert_allclose(Bernoulli().deviance(ends, ends), 0)
    assert np.isposinf(Bernoulli().deviance(ends, 1 - ends)).all()
