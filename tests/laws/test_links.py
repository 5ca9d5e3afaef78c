"""What is true of every link: it has an inverse, and its slope is the inverse's derivative."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.differences import check_gradient
from likely.links import LINKS, Power, UnitLink

EVERY = {**LINKS, "power(-0.5)": Power(-0.5), "power(3)": Power(3)}
UNIT = {name: link for name, link in LINKS.items() if isinstance(link, UnitLink)}
every_link = pytest.mark.parametrize("link", EVERY.values(), ids=EVERY)
unit_link = pytest.mark.parametrize("link", UNIT.values(), ids=UNIT)
unit = st.floats(0.01, 0.99)


def an_eta(link, t):
    """A valid η from t in (0, 1): from 0.01 to about 5, or from −3 to 3."""
    low = link.etas.low
    return np.array([low + 5 * t]) if np.isfinite(low) else np.array([6 * t - 3])


def test_links_are_listed_by_their_names():
    assert {name: link.name for name, link in EVERY.items()} == {name: name for name in EVERY}
    assert set(LINKS) >= {"identity", "inverse", "log", "sqrt"}
    assert set(UNIT) >= {"loglog", "cloglog", "logit", "probit", "cauchit"}


@every_link
@given(t=unit)
def test_inverse_undoes_link(link, t):
    eta = an_eta(link, t)
    mean = link.inverse(eta)
    assert link.means.low < mean[0] < link.means.high
    assert_allclose(link.link(mean), eta, rtol=1e-9, atol=1e-9)
    assert_allclose(link.inverse(link.link(mean)), mean, rtol=1e-12)


@every_link
@given(t=unit)
def test_slope_is_the_derivative_of_the_inverse(link, t):
    eta = an_eta(link, t)
    error = check_gradient(lambda at: float(link.inverse(at)[0]), link.slope, eta, epsilon=1e-6)
    assert error < 1e-6


@every_link
def test_slope_keeps_one_sign_on_the_valid_eta(link):
    low, high = (max(link.etas.low, -30.0), min(link.etas.high, 30.0))
    slope = link.slope(np.linspace(low, high, 202)[1:-1])
    # far from 0 a doubly exponential tail is 0 in float64, so 0 is allowed and a change is not
    assert (slope >= 0).all() or (slope <= 0).all()
    assert np.count_nonzero(slope) > 50


@every_link
def test_numbers_lists_and_arrays_are_taken_alike(link):
    array = link.inverse(np.array([0.5, 0.7]))
    assert_allclose([link.inverse(0.5), link.inverse(0.7)], array)
    assert_allclose([link.slope(0.5), link.slope(0.7)], link.slope(np.array([0.5, 0.7])))


@unit_link
@given(t=unit)
def test_log_forms_are_the_logs_of_the_mean_and_its_complement(link, t):
    eta = an_eta(link, t)
    mean = link.inverse(eta)
    assert_allclose(link.log_mean(eta), np.log(mean), rtol=1e-11, atol=1e-15)
    assert_allclose(link.log_complement(eta), np.log1p(-mean), rtol=1e-6, atol=1e-14)
    assert_allclose(link.log_slope(eta), np.log(link.slope(eta)), rtol=1e-11)


@unit_link
@given(t=unit)
def test_hazards_are_the_slopes_of_the_log_forms(link, t):
    eta = an_eta(link, t)
    of_mean, of_complement = link.hazards(eta)

    def total(at):
        return float((link.log_mean(at) - link.log_complement(at))[0])

    assert check_gradient(total, lambda at: sum(link.hazards(at)), eta) < 1e-6
    assert_allclose(of_mean * link.inverse(eta), link.slope(eta), rtol=1e-11)
    assert_allclose(of_complement * np.exp(link.log_complement(eta)), link.slope(eta), rtol=1e-9)


@unit_link
@pytest.mark.parametrize("size", [30.0, 300.0, 1000.0])
def test_far_tails_are_never_nan(link, size):
    eta = np.array([-size, size])
    for value in (link.log_mean(eta), link.log_complement(eta), *link.hazards(eta)):
        assert np.isfinite(value).all()
    assert_allclose(link.inverse(eta), [0, 1], atol=0.011)
    assert (link.slope(eta) >= 0).all()
    assert link.log_mean(eta)[0] < link.log_mean(eta)[1] <= 0
    assert link.log_complement(eta)[1] < link.log_complement(eta)[0] <= 0


@unit_link
@given(t=unit)
def test_the_log_slope_bends_as_its_derivative_says(link, t):
    eta = an_eta(link, t)
    bend = link.log_slope_derivative
    assert check_gradient(lambda at: float(link.log_slope(at)[0]), bend, eta, epsilon=1e-6) < 1e-6
    falls = np.diff(bend(np.linspace(-8, 8, 99))) <= 0
    assert falls.all() == link.log_concave
