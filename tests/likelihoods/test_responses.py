"""Responses by name, the links that fit them, and agreement with scipy.stats."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from likely.errors import InvalidInput, UnknownName
from likely.likelihoods import (
    RESPONSES,
    Composition,
    Gamma,
    LogNormal,
    NegativeBinomial,
    fitting_links,
    likelihood_of,
)
from likely.links import LINKS, Log, Power, UnitLink

MEAN, PSI = np.array([0.4, 0.9, 3.0]), 0.7
POSITIVE, COUNTS = np.array([0.2, 1.5, 4.0]), np.array([0.0, 2.0, 7.0])


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("gaussian", "identity"),
        ("bernoulli", "logit"),
        ("poisson", "log"),
        ("exponential", "inverse"),
        ("gamma", "inverse"),
        ("inverse-gaussian", "inverse-squared"),
        ("log-normal", "log"),
        ("negative-binomial", "log"),
        ("tweedie", "log"),
    ],
)
def test_no_link_is_the_responses_own(name, link):
    assert likelihood_of(name).link.name == link
    assert likelihood_of(name).response is RESPONSES[name]


def test_parts_are_taken_as_they_are():
    likelihood = likelihood_of(NegativeBinomial(0.2), Power(0.3))
    assert likelihood == Composition(NegativeBinomial(0.2), Power(0.3))
    assert likelihood_of(Gamma(), "log") == likelihood_of("gamma", Log())


@pytest.mark.parametrize(
    ("response", "link", "message"),
    [
        ("bernoulli", "sqrt", r"'sqrt' gives means in \(0, inf\); a bernoulli.*\(0, 1\).*logit"),
        ("bernoulli", "inverse", r"'inverse' gives.*a bernoulli.*Choose one of identity, log"),
        ("bernoulli", Power(0.5), "a bernoulli response needs"),
    ],
)
def test_a_link_whose_range_does_not_fit_is_refused_with_the_ones_that_do(response, link, message):
    with pytest.raises(InvalidInput, match=message):
        likelihood_of(response, link)


def test_misspelt_names_are_corrected():
    with pytest.raises(UnknownName, match=r"no link 'logitt'.*Did you mean 'logit'"):
        likelihood_of("bernoulli", "logitt")
    with pytest.raises(UnknownName, match=r"no response 'poison'.*Did you mean 'poisson'"):
        likelihood_of("poison")


def test_the_links_onto_the_unit_interval_fit_the_bernoulli():
    unit = [name for name, link in LINKS.items() if isinstance(link, UnitLink)]
    assert set(fitting_links(RESPONSES["bernoulli"])) == {*unit, "identity", "log"}
    assert set(unit) >= {"loglog", "cloglog", "logit", "probit", "cauchit"}


@pytest.mark.parametrize(
    ("name", "y", "theirs"),
    [
        ("gaussian", POSITIVE, stats.norm(MEAN, np.sqrt(PSI)).logpdf),
        ("gamma", POSITIVE, stats.gamma(1 / PSI, scale=PSI * MEAN).logpdf),
        ("inverse-gaussian", POSITIVE, stats.invgauss(MEAN * PSI, scale=1 / PSI).logpdf),
    ],
)
def test_log_prob_with_a_dispersion_agrees_with_scipy(name, y, theirs):
    assert_allclose(RESPONSES[name].log_prob(y, MEAN, PSI), theirs(y), rtol=1e-12)


@pytest.mark.parametrize(
    ("response", "y", "theirs"),
    [
        (RESPONSES["poisson"], COUNTS, stats.poisson(MEAN).logpmf),
        (RESPONSES["exponential"], POSITIVE, stats.expon(scale=MEAN).logpdf),
        (LogNormal(0.8), POSITIVE, stats.lognorm(0.8, scale=MEAN * np.exp(-0.32)).logpdf),
        (NegativeBinomial(0.4), COUNTS, stats.nbinom(2.5, 1 / (1 + 0.4 * MEAN)).logpmf),
    ],
    ids=["poisson", "exponential", "log-normal", "negative-binomial"],
)
def test_log_prob_at_dispersion_one_agrees_with_scipy(response, y, theirs):
    assert_allclose(response.log_prob(y, MEAN), theirs(y), rtol=1e-12)


def test_a_small_alpha_is_nearly_the_poisson():
    nearly, poisson = NegativeBinomial(1e-6), RESPONSES["poisson"]
    assert_allclose(nearly.log_prob(COUNTS, MEAN), poisson.log_prob(COUNTS, MEAN), rtol=1e-4)
    assert_allclose(nearly.deviance(COUNTS, MEAN), poisson.deviance(COUNTS, MEAN), rtol=1e-4)


@pytest.mark.parametrize("alpha", [0.0, -1.0, np.inf])
def test_an_alpha_that_is_not_positive_is_refused_with_advice(alpha):
    with pytest.raises(InvalidInput, match=r"alpha above 0, or 'estimate'; found .*'poisson'"):
        NegativeBinomial(alpha)


def test_zeros_are_refused_by_the_gamma_with_advice():
    with pytest.raises(InvalidInput, match=r"above 0; found 0 at example 2.*tweedie"):
        Gamma().check(np.array([1.0, 2.0, 0.0]))


def test_a_poisson_with_log_has_an_infinite_loss_where_its_mean_overflows():
    nll, slope, curvature = likelihood_of("poisson").derivatives(np.zeros(1), np.array([1000.0]))
    assert np.isposinf([nll, slope, curvature]).all()


def test_whole_number_and_boolean_y_and_single_precision_are_taken():
    for name in fitting_links(RESPONSES["bernoulli"]):
        likelihood = likelihood_of("bernoulli", name)
        eta = likelihood.eta_of_mean(np.array([0.57, 0.31])).astype(np.float32)
        expected = likelihood.derivatives(np.array([1.0, 0.0]), eta.astype(float))
        for y in (np.array([1, 0]), np.array([True, False])):
            assert_allclose(likelihood.derivatives(y, eta), expected, rtol=1e-5)


def test_what_is_neither_a_part_nor_a_name_is_refused_with_the_names():
    with pytest.raises(InvalidInput, match=r"The link is '\{\}', a dict; expected a Link.*logit"):
        likelihood_of("poisson", {})
    with pytest.raises(InvalidInput, match=r"The response is '3', a int; expected a Resp.*gamma"):
        likelihood_of(3)


@pytest.mark.parametrize("sigma", [0.0, -1.0, np.inf, "half"])
def test_a_sigma_that_is_not_positive_is_refused_with_advice(sigma):
    with pytest.raises(InvalidInput, match=r"sigma above 0, or 'estimate'; found .*LogNormal"):
        LogNormal(sigma)


def test_a_log_normal_is_named_with_its_sigma_and_as_others_write_it():
    assert likelihood_of("log_normal(0.5)").response == LogNormal(0.5)
    assert likelihood_of("lognormal").response == LogNormal()
    assert not LogNormal().shape_is_known
    with pytest.raises(InvalidInput, match=r"no sigma yet.*LogNormal\(0.5\)"):
        LogNormal().variance(MEAN)


def test_sigma_around_given_means_is_the_likeliest_also_where_it_is_tiny():
    rng = np.random.default_rng(0)
    for sigma in (1e-9, 0.5, 3.0):
        y = rng.lognormal(0.0, sigma, 50)
        weight, mean = rng.uniform(0.5, 2, 50), np.exp(np.full(50, 0.3 * sigma))
        found = LogNormal.around(y, mean, weight).sigma
        values = [weight @ LogNormal(s * found).log_prob(y, mean) for s in (0.999, 1, 1.001)]
        assert values[1] >= max(values)
