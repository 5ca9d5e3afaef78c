"""The Tweedie response: its named members, its zeros, its series."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from likely.errors import InvalidInput
from likely.likelihoods import Gamma, Gaussian, InverseGaussian, Poisson, Tweedie, likelihood_of

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
