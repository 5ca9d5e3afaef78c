"""Derivatives of the negative binomial in ln α, against fifty digits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely.likelihoods.negative_binomial import alpha_derivatives, log_rising

# y, μ, α: log p − log p_Poisson and its two derivatives in ln α, by mpmath with 50 digits
EXACT = [
    (0.0, 0.5, 1e-06, 1.2499995833334895e-7, 1.2499991666671354e-7, 1.2499983333347395e-7),
    (17.0, 9.0, 1e-06, 2.3499697503674537e-5, 2.3499395011023569e-5, 2.3498790033070531e-5),
    (2.5, 3.0, 1e-06, -1.1249990000010781e-6, -1.1249980000032343e-6, -1.1249960000097031e-6),
    (0.0, 0.5, 0.001, 0.00012495834895208594, 0.00012491671351667968, 0.0001248334738583984),
    (17.0, 9.0, 0.001, 0.023201130246181062, 0.022905846944912953, 0.022322366733685705),
    (2.5, 3.0, 0.001, -0.0011240010773797371, -0.001123003231392446, -0.0011210096911872929),
    (0.0, 0.5, 0.0166, 0.0020635893353844727, 0.002052249204732556, 0.0020297090816078474),
    (17.0, 9.0, 0.0166, 0.32072418768280233, 0.26298254145129335, 0.16686949159843748),
    (2.5, 3.0, 0.0166, -0.018404313474913298, -0.018138440719021984, -0.017616200663833981),
    (0.0, 0.5, 0.3, 0.034126858749471008, 0.031090532554876816, 0.025620242492382161),
    (17.0, 9.0, 0.3, 1.2407978469908499, 0.053497384347848691, -0.35907635522153301),
    (2.5, 3.0, 0.3, -0.27018511085731068, -0.2199608663081243, -0.14477805827415212),
    (0.0, 0.5, 50.0, 0.43483806923957036, 0.04593116152966041, -0.027440037269305381),
    (17.0, 9.0, 50.0, -1.6856450568915871, -0.92702256713013134, -0.053597489180183926),
    (2.5, 3.0, 50.0, -3.4654484299189217, -0.92811978477940394, -0.052479570474551038),
]


@pytest.mark.parametrize(("y", "mean", "alpha", "gain", "slope", "curvature"), EXACT)
def test_derivatives_in_alpha_have_their_digits(y, mean, alpha, gain, slope, curvature):
    found = alpha_derivatives(np.array([y]), np.array([mean]), alpha)
    # differences of numbers of the size of y: an error of 1e-15 of that, whatever is left
    assert_allclose(np.ravel(found), [gain, slope, curvature], rtol=1e-12, atol=1e-15 * (1 + y))


def test_log_rising_is_the_sum_of_its_factors():
    """ln ∏_{j<y} (1 + j/a), on both sides of where the series begins."""
    for a in (0.3, 59.0, 61.0, 1e5, 1e12):
        for y in (0, 1, 7, 40):
            exact = np.log1p(np.arange(y) / a).sum()
            assert_allclose(log_rising(np.array(float(y)), a), exact, rtol=1e-12, atol=3e-13)
