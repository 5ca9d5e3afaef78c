"""The Tweedie response: its named members, its zeros, its series."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from likely.errors import InvalidInput
from likely.likelihoods import (
    Gamma,
    Gaussian,
    InverseGaussian,
    Poisson,
    Tweedie,
    likelihood_of,
    tweedie,
)

Y, MEAN = np.array([1.0, 2.0, 5.0]), np.array([0.7, 2.5, 4.0])


@pytest.mark.parametrize(
    ("power", "named"), [(0, Gaussian()), (1, Poisson()), (2, Gamma()), (3, InverseGaussian())]
)
def test_named_powers_equal_the_named_responses(power, named):
    ours = Tweedie(power)
    assert (ours.means, ours.canonical) == (named.means, named.canonical)
    assert ours.dispersion_is_known == named.dispersion_is_known
    assert_allclose(ours.variance(MEAN), MEAN**power)
    assert_allclose(ours.deviance(Y, MEAN), named.deviance(Y, MEAN))
    assert_allclose(ours.log_prob(Y, MEAN, 0.5), named.log_prob(Y, MEAN, 0.5))
    eta = np.log(MEAN)
    ours_with_log = likelihood_of(ours, "log").derivatives(Y, eta)
    assert_allclose(ours_with_log, likelihood_of(named, "log").derivatives(Y, eta))


@pytest.mark.parametrize("power", [1.05, 1.5, 1.95])
@pytest.mark.parametrize("dispersion", [0.01, 0.6, 3.0])
def test_the_density_is_the_sum_over_the_number_of_amounts(power, dispersion):
    mean, y = 2.0, np.array([0.05, 1.0, 2.5, 6.0])
    rate = mean ** (2 - power) / (dispersion * (2 - power))
    shape, scale = (2 - power) / (power - 1), dispersion * (power - 1) * mean ** (power - 1)
    j = np.arange(1, 6000)
    amounts = stats.gamma(j * shape, scale=scale).logpdf(y[:, None])
    theirs = np.logaddexp.reduce(amounts + stats.poisson(rate).logpmf(j), axis=1)
    ours = Tweedie(power).log_prob(y, mean, dispersion)
    assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
    assert_allclose(Tweedie(power).log_prob(0.0, mean, dispersion), -rate)


def test_blocks_of_rows_do_not_change_the_density():
    y, mean = np.linspace(0, 9, 700), np.linspace(0.2, 3, 700)
    one_by_one = [Tweedie(1.4).log_prob(a, b, 0.8) for a, b in zip(y, mean, strict=True)]
    assert_allclose(Tweedie(1.4).log_prob(y, mean, 0.8), one_by_one, rtol=1e-12)


def test_the_share_of_exact_zeros_is_the_poissons():
    y = Tweedie(1.5).sample(np.full(20_000, 0.5), np.random.default_rng(0), 1.0)
    expected = np.exp(-2 * np.sqrt(0.5))
    assert abs((y == 0).mean() - expected) < 5 * np.sqrt(expected * (1 - expected) / 20_000)


@pytest.mark.parametrize("power", [0.5, -1.0, 2.5, np.nan])
def test_a_power_without_a_family_is_refused_with_advice(power):
    with pytest.raises(InvalidInput, match=r"between 1 and 2.*found .*Use 1\.5"):
        Tweedie(power)


# power, ψ, y, μ: log p(y) by mpmath, the whole series with 40 digits
EXACT = [
    (1.05, 3.0, 2.5, 2.0, -1.681026794325449),
    (1.05, 3.0, 0.3, 0.31, -25.30494208221134),
    (1.05, 0.05, 2.5, 2.0, -1.017450750048259),
    (1.05, 0.05, 0.3, 0.31, 1.192113250978739),
    (1.05, 0.001, 2.5, 2.0, -53.62307995167194),
    (1.05, 0.001, 0.3, 0.31, 2.99377627201856),
    (1.05, 1e-06, 2.5, 2.5012499999999998, 5.2093625427812),
    (1.05, 1e-06, 0.3, 0.30015, 6.581089353394888),
    (1.5, 3.0, 2.5, 2.0, -2.420318616908949),
    (1.5, 3.0, 0.3, 0.31, -1.475383150942078),
    (1.5, 0.05, 2.5, 2.0, -0.8993810881329684),
    (1.5, 0.05, 0.3, 0.31, 1.46736028173917),
    (1.5, 0.001, 2.5, 2.0, -37.55804858218255),
    (1.5, 0.001, 0.3, 0.31, 3.143292801164182),
    (1.5, 1e-06, 2.5, 2.5012499999999998, 5.104055058694753),
    (1.5, 1e-06, 0.3, 0.30015, 6.823365074791217),
    (1.95, 3.0, 2.5, 2.0, -2.595017007849514),
    (1.95, 3.0, 0.3, 0.31, -0.539561679328747),
    (1.95, 0.05, 2.5, 2.0, -0.8766402600307663),
    (1.95, 0.05, 0.3, 0.31, 1.738240673075978),
    (1.95, 0.001, 2.5, 2.0, -26.263797693986),
    (1.95, 0.001, 0.3, 0.31, 3.207483492989076),
    (1.95, 1e-06, 2.5, 2.5012499999999998, 4.964658183331563),
    (1.95, 1e-06, 0.3, 0.30015, 7.045069415284495),
]


@pytest.mark.parametrize(("power", "dispersion", "y", "mean", "exact"), EXACT)
def test_the_density_has_its_digits_at_any_dispersion(power, dispersion, y, mean, exact):
    """1e-12 in nats: where n* is a million, the series itself would lose seven digits."""
    assert abs(Tweedie(power).log_prob(y, mean, dispersion) - exact) < 1e-12


@pytest.mark.parametrize("power", [1.02, 1.3, 1.7, 1.98])
def test_spaced_points_and_every_number_give_one_density(power):
    """Dispersions on both sides of where the window counts as wide: log p runs on smoothly."""
    p, y = power, 1.7
    middle = y ** (2 - p) / ((2 - p) * 200.0)  # n* = 200
    around = middle * np.exp(np.linspace(-2e-4, 2e-4, 41))
    ours = Tweedie(power).log_prob(y, 1.75, around)
    smooth = np.polynomial.Polynomial.fit(around, ours, 3)(around)
    assert_allclose(ours, smooth, rtol=0, atol=1e-11)


def test_a_small_dispersion_costs_no_more_than_a_large_one():
    """At most a few hundred terms a row, counted by what is handed to the sum."""
    for dispersion in (1.0, 1e-2, 1e-4, 1e-8):
        peak = np.full(3, 2 / dispersion)
        spread = np.sqrt(peak / 2)
        wide = peak[0] >= tweedie.PEAK_OF_INTEGRAL and spread[0] >= tweedie.SPREAD_OF_INTEGRAL
        nodes = tweedie._spaced_nodes if wide else tweedie._whole_nodes
        assert nodes(peak, spread)[0].shape[1] < 400


@pytest.mark.parametrize("power", [1 + 1e-12, 1.0001, 1.3, 1.5, 1.7, 1.9999, 2 - 1e-12])
@pytest.mark.parametrize("mean", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("dispersion", [1e-300, 1e-9, 1.0, 1e9])
def test_a_quantile_is_found_in_few_terms(power, mean, dispersion, monkeypatch):
    """Of forged files, too, whose numbers of amounts have no bound."""
    terms = list[int]()
    gammainc = tweedie.gammainc
    monkeypatch.setattr(
        tweedie, "gammainc", lambda a, x: (terms.append(np.size(a)), gammainc(a, x))[1]
    )
    with np.errstate(all="ignore"):
        found = Tweedie(power).distribution(np.array([mean]), dispersion).ppf(0.975)
    assert max(terms, default=0) < 50_000
    assert found.shape == (1,)
    sd = np.sqrt(dispersion) * mean ** (power / 2)
    if mean >= 1 and 1e-7 * mean < sd < 1e-4 * mean:  # which a search of quantiles resolves
        assert_allclose((found - mean) / sd, 1.96, atol=0.2)


@pytest.mark.parametrize("power", [1.001, 1.2, 1.5, 1.8, 1.99])
def test_the_ways_to_a_distribution_function_agree(power, monkeypatch):
    shape = (2 - power) / (power - 1)
    for rate in (1.01 * 1e6 * (shape + 2) ** 2 / (shape * (shape + 1)), 2e5):
        mean, sd = rate * shape, np.sqrt(rate * shape * (shape + 1))
        y = mean + sd * np.linspace(-7, 7, 29)
        law = tweedie.CompoundDistribution(np.array(rate), shape, np.array(1.0))
        ours = law.cdf(y)
        with monkeypatch.context() as at:
            at.setattr(tweedie, "SMALL_SKEWNESS", 0.0)
            assert_allclose(ours, law.cdf(y), rtol=0, atol=1e-8)
            at.setattr(tweedie, "RATE_OF_INTEGRAL", np.inf)
            if rate == 2e5:  # of more, the terms of all n are rounded
                assert_allclose(ours, law.cdf(y), rtol=0, atol=1e-8)
