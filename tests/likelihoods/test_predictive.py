"""The density of a number around a mean whose predictor is only known to be normal."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, stats

from likely.likelihoods.gaussian import Gaussian
from likely.likelihoods.log_normal import LogNormal
from likely.likelihoods.negative_binomial import NegativeBinomial
from likely.likelihoods.predictive import PredictiveFamily
from likely.likelihoods.responses import likelihood_of

LAWS = {  # p(y | mean)
    "poisson": (1.0, lambda y, m: stats.poisson.pmf(y, m)),
    NegativeBinomial(0.5): (1.0, lambda y, m: stats.nbinom.pmf(y, 2, 2 / (2 + m))),
    "gamma": (0.3, lambda y, m: stats.gamma.pdf(y, 1 / 0.3, scale=0.3 * m)),
    LogNormal(0.4): (1.0, lambda y, m: stats.lognorm.pdf(y, 0.4, scale=m * np.exp(-0.08))),
}


def of_row(family, y, mean, spread, **how):
    given = (np.array([float(each)]) for each in (y, mean, spread))
    return float(family.log_density(*given, **{"counts": False, **how})[0])


@pytest.mark.parametrize("response", LAWS, ids=str)
@pytest.mark.parametrize("spread", [0.1, 1.0, 2.5])
def test_the_density_is_the_integral_over_the_predictor(response, spread):
    dispersion, law = LAWS[response]
    family = PredictiveFamily(likelihood_of(response).response, dispersion, "log")
    for mean in (0.5, 40.0):
        for y in (0, 1, 7, 60, 300):
            if y == 0 and response not in ("poisson", NegativeBinomial(0.5)):
                continue

            def integrand(z, y=y, mean=mean):
                return law(y, mean * np.exp(spread * z)) * stats.norm.pdf(z)

            peak = np.log((y + 0.1) / mean) / spread
            points = sorted({-3.0, 0.0, 3.0, float(np.clip(peak, -8.9, 8.9))})
            exact = integrate.quad(integrand, -9, 9, points=points, limit=500, epsabs=0)[0]
            if exact > 1e-12:
                assert_allclose(of_row(family, y, mean, spread), np.log(exact), atol=2e-3)


def test_a_gaussian_stays_one_also_as_a_mass_and_from_zero():
    family, law = PredictiveFamily(Gaussian(), 4.0, "identity"), stats.norm(3.0, np.hypot(2, 1.5))
    assert_allclose(of_row(family, 1.0, 3.0, 1.5), law.logpdf(1.0))
    mass = law.cdf(1.5) - law.cdf(0.5)
    assert_allclose(of_row(family, 1.0, 3.0, 1.5, counts=True), np.log(mass))
    assert_allclose(of_row(family, 0.0, 3.0, 1.5, with_zeros=True), law.logcdf(0))


def test_counts_have_probabilities_that_sum_to_one():
    family = PredictiveFamily(likelihood_of("poisson").response, 1.0, "log")
    y = np.arange(4000.0)
    found = family.log_density(y, np.full(4000, 8.0), np.full(4000, 0.9), counts=True)
    assert_allclose(np.exp(found).sum(), 1.0, atol=1e-4)
    assert_allclose(np.exp(found) @ y, 8 * np.exp(0.405), rtol=1e-3)
    drawn = family.sample(np.full(200_000, 8.0), np.random.default_rng(0), np.full(200_000, 0.9))
    assert_allclose(drawn.mean(), 8 * np.exp(0.405), rtol=0.02)
    assert_allclose(np.mean(drawn == 2), np.exp(found[2]), rtol=0.05)


def test_rows_without_a_spread_are_as_without_any():
    family = PredictiveFamily(likelihood_of("poisson").response, 1.0, "log")
    y, mean = np.array([0.0, 3.0, 5.0]), np.array([1.0, 2.0, -1.0])
    plain = family.log_density(y, mean, counts=True)
    mixed = family.log_density(y, mean, np.array([0.0, 0.7, 0.7]), counts=True)
    assert mixed[0] == plain[0]
    assert mixed[1] != plain[1]
    assert mixed[2] == plain[2] == -np.inf
    assert PredictiveFamily.from_json(json.loads(json.dumps(family.to_json()))) == family
