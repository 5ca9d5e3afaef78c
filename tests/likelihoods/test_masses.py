"""The mass of a whole number under every response: one scale for counts, amounts and numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.likelihoods import (
    RESPONSES,
    Gamma,
    Gaussian,
    InverseGaussian,
    LogNormal,
    NegativeBinomial,
    Poisson,
    Tweedie,
)
from likely.likelihoods.predictive import PredictiveFamily

WHOLE = np.arange(0.0, 400.0)
CONTINUOUS = {
    name: response
    for name, response in {**RESPONSES, "log-normal": LogNormal(0.3)}.items()
    if response.target_kind != "count" and not response.has_trials
}
COUNTS = {"poisson": Poisson(), "negative-binomial": NegativeBinomial(0.5)}
every_continuous = pytest.mark.parametrize("response", CONTINUOUS.values(), ids=CONTINUOUS)


@every_continuous
def test_masses_of_whole_numbers_total_one(response):
    dispersion = 1.0 if response.dispersion_is_known else 0.02
    mean = np.full(len(WHOLE), 20.0)
    y = WHOLE if response.means.low == 0 else WHOLE - 100
    assert_allclose(np.exp(response.log_mass(y, mean, dispersion)).sum(), 1.0, rtol=1e-8)


@pytest.mark.parametrize("response", COUNTS.values(), ids=COUNTS)
def test_the_mass_of_a_count_is_its_probability(response):
    mean = np.full(len(WHOLE), 20.0)
    assert_allclose(response.log_mass(WHOLE, mean), response.log_prob(WHOLE, mean))


@every_continuous
def test_a_mass_is_the_difference_of_the_distribution_function(response):
    y, mean = np.array([12.0, 19.0, 20.0, 25.0]), np.full(4, 20.0)
    named = response.distribution(mean, 1.0)
    expected = named.cdf(y + 0.5) - named.cdf(y - 0.5)
    assert_allclose(np.exp(response.log_mass(y, mean, 1.0)), expected, rtol=1e-6)


@pytest.mark.parametrize("y", [0.0, 5.0, 3e3, 1e6])
@pytest.mark.parametrize(
    ("response", "dispersion"),
    [
        (Gaussian(), 4.0),
        (Gamma(), 0.1),
        (InverseGaussian(), 0.01),
        (Tweedie(1.5), 2.0),
        (LogNormal(0.3), 1.0),
    ],
    ids=lambda one: getattr(one, "name", one),
)
def test_far_in_a_tail_a_mass_is_finite_and_falls(response, dispersion, y):
    if y == 0.0:
        found = response.log_mass(np.array([0.0]), np.array([30.0]), dispersion)
        assert not np.isnan(found).any()
        return
    at = np.array([y, 1.2 * y])
    found = response.log_mass(at, np.full(2, 6.0), dispersion)
    assert np.isfinite(found).all()
    assert found[1] < found[0] or y < 6


def test_where_y_varies_by_millions_a_mass_is_the_density_times_the_unit():
    y, mean = np.array([1e9, 3e9]), np.array([2e9, 2e9])
    for response, dispersion in ((Gamma(), 0.3), (Gaussian(), 1e17)):
        log_mass = response.log_mass(y, mean, dispersion)
        assert_allclose(log_mass, response.log_prob(y, mean, dispersion), rtol=1e-7)


def test_a_predictive_family_of_whole_numbers_has_masses_and_of_others_densities():
    family = PredictiveFamily.of(Gamma(), 0.1)
    y, mean = np.array([3.0]), np.array([4.0])
    mass = family.log_density(y, mean, counts=True)
    assert_allclose(mass, Gamma().log_mass(y, mean, 0.1))
    assert_allclose(family.log_density(y, mean, counts=False), Gamma().log_prob(y, mean, 0.1))
    assert np.isneginf(family.log_density(y, np.array([-1.0]), counts=True)).all()


WITH_ZEROS = {"gaussian": Gaussian(), "tweedie": Tweedie(1.5), "tweedie of power 0": Tweedie(0.0)}


@pytest.mark.parametrize("response", WITH_ZEROS.values(), ids=WITH_ZEROS)
def test_the_mass_at_0_and_the_densities_above_total_one(response):
    y = np.linspace(0.0, 60.0, 60_001)
    density = np.exp(response.log_from_zero(y, np.full(y.shape, 2.0), 4.0))
    above = np.trapezoid(density[1:], y[1:]) + density[1] * y[1] / 2
    assert_allclose(density[0] + above, 1.0, rtol=2e-3)


def test_a_family_of_amounts_above_0_denies_a_zero_and_one_of_counts_has_its_probability():
    zero, mean = np.zeros(3), np.array([0.5, 1.0, 2.0])
    for response in (Gamma(), InverseGaussian()):
        assert np.isneginf(response.log_from_zero(zero, mean, 0.5)).all()
    assert_allclose(Poisson().log_from_zero(zero, mean), -mean)
