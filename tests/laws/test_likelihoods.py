"""What is true of every response, and of every response with every link that fits it."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import quad

from likely.differences import check_gradient
from likely.likelihoods import (
    RESPONSES,
    Bernoulli,
    Composition,
    LogNormal,
    NegativeBinomial,
    Tweedie,
    fits,
    likelihood_of,
)
from likely.links import LINKS, Power

FAMILIES = {
    **RESPONSES,
    "log-normal": LogNormal(0.5),
    "log-normal(0.25)": LogNormal(0.25),
    "negative-binomial": NegativeBinomial(1.0),
    "negative-binomial(0.3)": NegativeBinomial(0.3),
    "tweedie(1.2)": Tweedie(1.2),
    "tweedie(3)": Tweedie(3),
}
PAIRS = {
    f"{name}-{link_name}": likelihood_of(response, link)
    for name, response in FAMILIES.items()
    for link_name, link in LINKS.items()
    if fits(response, link)
}
CANONICAL = {
    **{
        name: likelihood_of(name)
        for name in ("gaussian", "bernoulli", "poisson", "exponential", "gamma", "inverse-gaussian")
    },
    "tweedie-power(-0.5)": likelihood_of(Tweedie(1.5), Power(-0.5)),
}
COUNTS = ("poisson", "negative-binomial")
every_response = pytest.mark.parametrize("response", FAMILIES.values(), ids=FAMILIES)
EXPONENTIAL = {name: each for name, each in FAMILIES.items() if each.exponential_family}
every_exponential = pytest.mark.parametrize("response", EXPONENTIAL.values(), ids=EXPONENTIAL)
every_pair = pytest.mark.parametrize("likelihood", PAIRS.values(), ids=PAIRS)
FUSED = {name: pair for name, pair in PAIRS.items() if not isinstance(pair, Composition)}
fused_pair = pytest.mark.parametrize("likelihood", FUSED.values(), ids=FUSED)
canonical = pytest.mark.parametrize("likelihood", CANONICAL.values(), ids=CANONICAL)
seeds = st.integers(0, 999)


def some_data(likelihood, seed, n=12):
    """η whose means are moderate, and y drawn from them."""
    rng = np.random.default_rng(seed)
    (low, high), (least, most) = likelihood.link.means, likelihood.response.means
    mean = rng.uniform(max(low, least, -3) + 0.1, min(high - 0.1, most - 0.1, 2.5), n)
    eta = likelihood.link.link(mean)
    return likelihood.sample(eta, rng), eta


def some_means(response):
    return np.array([0.3, 0.8]) if response.means.high == 1 else np.array([0.4, 2.5])


@every_pair
@given(seed=seeds)
def test_slope_is_the_derivative_of_nll(likelihood, seed):
    y, eta = some_data(likelihood, seed)
    error = check_gradient(
        lambda at: likelihood.nll(y, at).sum(),
        lambda at: likelihood.derivatives(y, at)[1],
        eta,
        epsilon=1e-6,  # some links bend sharply near η = 0
    )
    assert error < 1e-6


@canonical
@given(seed=seeds)
def test_curvature_is_the_second_derivative_for_canonical_links(likelihood, seed):
    y, eta = some_data(likelihood, seed)
    error = check_gradient(
        lambda at: likelihood.derivatives(y, at)[1].sum(),
        lambda at: likelihood.derivatives(y, at)[2],
        eta,
    )
    assert error < 1e-6


@every_pair
def test_curvature_is_the_variance_of_the_slope(likelihood):
    rng = np.random.default_rng(0)
    _, eta = some_data(likelihood, seed=1, n=3)
    eta = np.repeat(eta, 20_000).reshape(3, -1)
    _, slope, curvature = likelihood.derivatives(likelihood.sample(eta, rng), eta)
    squares = slope**2
    error = squares.std(axis=1) / np.sqrt(20_000)  # heavy tails make the fourth moment large
    assert (np.abs(squares.mean(axis=1) - curvature[:, 0]) < 5 * error).all()
    assert (np.abs(slope.mean(axis=1)) < 5 * np.sqrt(curvature[:, 0] / 20_000)).all()


@fused_pair
@given(seed=seeds)
def test_every_fused_form_equals_the_general_composition(likelihood, seed):
    y, eta = some_data(likelihood, seed)
    general = Composition(likelihood.response, likelihood.link)
    for ours, theirs in zip(
        likelihood.derivatives(y, eta), general.derivatives(y, eta), strict=True
    ):
        assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    assert_allclose(likelihood.nll(y, eta), general.nll(y, eta), rtol=1e-9, atol=1e-12)


@every_pair
def test_nll_differs_from_minus_log_prob_by_what_has_no_eta(likelihood):
    y, eta = some_data(likelihood, seed=3)
    other = likelihood.link.link(np.full(y.shape, 0.5))
    ours = likelihood.nll(y, eta) - likelihood.nll(y, other)
    log_prob = likelihood.response.log_prob
    theirs = log_prob(y, likelihood.mean(other)) - log_prob(y, likelihood.mean(eta))
    assert_allclose(ours, theirs, rtol=1e-8, atol=1e-10)


@every_pair
def test_extreme_eta_give_no_nan_and_an_invalid_one_an_infinite_nll(likelihood):
    eta = np.array([-1000.0, -30.0, 30.0, 1000.0])
    for y in (0.4, 1.0):
        values = likelihood.derivatives(np.full(4, y), eta)
        assert not np.isnan(values).any()
        low, high = likelihood.etas
        valid = (eta > low) & (eta < high)
        assert np.isposinf(values[0][~valid]).all()
        assert (values[1][~valid] == 0).all()
        assert (values[2] >= 0).all()


@every_pair
def test_eta_of_mean_is_undone_by_mean_and_finite_at_the_ends(likelihood):
    mean = some_means(likelihood.response) / 3
    assert_allclose(likelihood.mean(likelihood.eta_of_mean(mean)), mean)
    low, high = likelihood.link.means
    ends = np.array([max(low, -9.0), min(high, 9.0)])
    assert np.isfinite(likelihood.eta_of_mean(ends)).all()


@every_response
@pytest.mark.parametrize("dispersion", [1.0, 0.5])
def test_probabilities_total_one(response, dispersion):
    for mean in some_means(response):
        assert_allclose(total_probability(response, mean, dispersion), 1.0, atol=1e-7)


def total_probability(response, mean, dispersion):
    """Sums over the lattice of counts; an integral, and what lies at 0, for the rest."""
    if response.name == "bernoulli":
        lattice = np.linspace(0, 1, round(1 / dispersion) + 1)
        return np.exp(response.log_prob(lattice, mean, dispersion)).sum()
    if response.name in COUNTS:
        return np.exp(response.log_prob(dispersion * np.arange(600), mean, dispersion)).sum()
    low = max(response.means.low, -40.0)
    at_zero = 0.0
    if response.name == "tweedie" and 1 < response.power < 2:
        at_zero = float(np.exp(response.log_prob(0.0, mean, dispersion)))

    def density(t):  # y = low + t², so that a peak at 0 is not missed
        y = low + t * t
        return 2 * t * float(np.exp(response.log_prob(y, mean, dispersion))) if y > low else 0.0

    inner = quad(density, 0, 10, epsabs=1e-10, limit=300)[0]
    return at_zero + inner + quad(density, 10, inf if low == 0 else 60, epsabs=1e-9)[0]


@every_response
@pytest.mark.parametrize("dispersion", [1.0, 0.5])
def test_sampled_moments_match(response, dispersion):
    n = 40_000
    mean = np.repeat(some_means(response), n).reshape(2, n)
    y = response.sample(mean, np.random.default_rng(0), dispersion)
    response.check(y)
    variance = dispersion * response.variance(mean[:, 0])
    assert (np.abs(y.mean(axis=1) - mean[:, 0]) < 5 * np.sqrt(variance / n)).all()
    squares = (y - mean) ** 2
    error = squares.std(axis=1) / np.sqrt(n)
    assert (np.abs(squares.mean(axis=1) - variance) < 5 * error + 1e-12).all()


@every_response
@given(seed=seeds)
def test_deviance_is_twice_what_is_lost_against_the_best_mean(response, seed):
    likelihood = likelihood_of(response)
    y, eta = some_data(likelihood, seed)
    mean, other = likelihood.mean(eta), likelihood.mean(eta) * 0.8 + 0.1
    deviance, log_prob = response.deviance, response.log_prob
    assert (deviance(y, mean) >= -1e-12).all()
    lost = log_prob(y, mean) - log_prob(y, other)
    assert_allclose(deviance(y, other) - deviance(y, mean), 2 * lost, rtol=1e-8, atol=1e-8)


@every_exponential
@given(seed=seeds)
def test_deviance_is_zero_at_the_mean_and_twice_the_loss_elsewhere(response, seed):
    likelihood = likelihood_of(response)
    y, eta = some_data(likelihood, seed)
    mean = likelihood.mean(eta)
    assert_allclose(response.deviance(mean, mean), 0, rtol=1e-12, atol=1e-12)
    assert (response.deviance(y, mean) >= -1e-12).all()
    assert (response.deviance(mean, mean * 0.8 + 0.1) > 0).all()
    lost = response.log_prob(mean, mean) - response.log_prob(mean, mean * 0.8 + 0.1)
    assert_allclose(response.deviance(mean, mean * 0.8 + 0.1), 2 * lost, rtol=1e-9, atol=1e-9)


@every_exponential
def test_a_weight_is_an_inverse_dispersion(response):
    """n times the loss of a mean of n, but for what has no μ."""
    mean, y = some_means(response), np.full(2, 0.5)
    other = mean * 0.9
    n = 4
    ours = response.log_prob(y, mean, 1 / n) - response.log_prob(y, other, 1 / n)
    assert_allclose(
        ours, -n * (response.nll(y, mean) - response.nll(y, other)), rtol=1e-10, atol=1e-10
    )


@every_response
def test_bad_y_is_refused_with_its_value_and_position(response):
    bad = 2.0 if isinstance(response, Bernoulli) else -1.0
    bad = np.nan if response.name == "gaussian" else bad
    with pytest.raises(ValueError, match=rf"must be .*; found {bad:g} at example 1\. \w+"):
        response.check(np.array([0.5, bad]))
    response.check(np.array([0.5, 0.7]))
