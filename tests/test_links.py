"""Links: their relations to each other, their far tails, their refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from likely.errors import InvalidInput
from likely.links import LINKS, Power


@pytest.mark.parametrize(("p", "name"), [(-1, "inverse"), (0.5, "sqrt"), (-2, "inverse-squared")])
def test_named_powers_equal_power(p, name):
    eta, mean = np.array([0.3, 1.0, 7.0]), np.array([0.2, 1.0, 9.0])
    assert_allclose(Power(p).link(mean), LINKS[name].link(mean), rtol=1e-14)
    assert_allclose(Power(p).inverse(eta), LINKS[name].inverse(eta), rtol=1e-14)
    assert_allclose(Power(p).slope(eta), LINKS[name].slope(eta), rtol=1e-14)


@pytest.mark.parametrize("p", [0, np.inf, np.nan])
def test_a_power_that_is_no_link_is_refused_with_advice(p):
    with pytest.raises(InvalidInput, match=r"other than 0; found p=.*'log'"):
        Power(p)


def test_loglog_is_cloglog_of_the_swapped_outcome():
    eta = np.linspace(-4, 4, 9)
    assert_allclose(
        LINKS["loglog"].inverse(eta), 1 - LINKS["cloglog"].inverse(-eta), rtol=1e-10, atol=1e-15
    )
    assert_allclose(LINKS["loglog"].inverse(0.0), np.exp(-1))


@pytest.mark.parametrize(
    ("name", "law"),
    [
        ("logit", stats.logistic),
        ("probit", stats.norm),
        ("cauchit", stats.cauchy),
        ("cloglog", stats.gumbel_l),
        ("loglog", stats.gumbel_r),
    ],
)
def test_a_unit_link_is_a_quantile_function_of_scipy(name, law):
    link, eta = LINKS[name], np.array([-5.0, -1.0, 0.0, 0.4, 2.0])
    assert_allclose(link.inverse(eta), law.cdf(eta), rtol=1e-12)
    assert_allclose(link.slope(eta), law.pdf(eta), rtol=1e-12)
    assert_allclose(link.log_complement(eta), law.logsf(eta), rtol=1e-10)
    assert_allclose(link.link(law.cdf(eta)), law.ppf(law.cdf(eta)), rtol=1e-9, atol=1e-15)


def test_the_probit_at_thirty_follows_the_asymptotic_series():
    """φ(η)/Φ(−η) = η + 1/η − 2/η³ + … for large η."""
    of_mean, of_complement = LINKS["probit"].hazards(np.array([-30.0, 30.0]))
    series = 30 + 1 / 30 - 2 / 30**3 + 10 / 30**5
    assert_allclose([of_mean[0], of_complement[1]], series, rtol=1e-8)
    assert_allclose(LINKS["probit"].log_mean(-30.0), stats.norm.logcdf(-30.0), rtol=1e-12)


def test_cloglog_far_to_the_left_is_the_log_link():
    eta = np.array([-40.0, -300.0, -1000.0])
    assert_allclose(LINKS["cloglog"].log_mean(eta), eta, rtol=1e-14)
    assert_allclose(LINKS["cloglog"].hazards(eta)[0], 1.0)


def test_the_cauchit_keeps_small_means_exact():
    tiny = 1 / (np.pi * 1e12)
    assert_allclose(LINKS["cauchit"].inverse(-1e12), tiny, rtol=1e-12)
    assert_allclose(LINKS["cauchit"].link(tiny), -1e12, rtol=1e-12)
    assert LINKS["cauchit"].slope(1e200) == 0.0
