"""Second derivatives of the ordinal response: both forms, every link, far tails."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.differences import check_hessian
from likely.likelihoods import Ordinal
from likely.likelihoods.ordinal_curvature import (
    _general_form,
    _logit_form,
    ordinal_curvature,
)
from likely.links import LINKS, UnitLink

UNIT = {name: link for name, link in LINKS.items() if isinstance(link, UnitLink)}
every_link = pytest.mark.parametrize("link", UNIT.values(), ids=UNIT)
FIELDS = ("nll", "upper", "lower", "upper_eta", "lower_eta", "between")
etas = st.floats(-4, 4)


@every_link
@given(eta=etas, gap=st.floats(0.05, 3))
def test_curvatures_are_the_derivatives_of_the_slopes(link, eta, gap):
    model, y = Ordinal(3, link), np.array([1])

    def slopes(at):  # at η, b_0, b_1
        found = model.derivatives(y, at[:1], at[1:])
        return np.r_[found.slope, found.upper, found.lower]

    def hessian(at):
        here = ordinal_curvature(model, y, at[:1], thresholds=at[1:])
        u, v, uv = here.upper_eta[0], here.lower_eta[0], here.between[0]
        return np.array([[u + v, u, v], [u, u - uv, uv], [v, uv, v - uv]])

    theta = np.array([eta, gap / 2, -gap / 2])
    assert check_hessian(slopes, hessian, theta, epsilon=1e-5) < 1e-5


@given(seed=st.integers(0, 999), K=st.sampled_from([2, 3, 7, 100]))
def test_the_fused_logit_equals_the_general_form(seed, K):
    rng = np.random.default_rng(seed)
    thresholds = np.sort(rng.uniform(-3, 3, K - 1))[::-1] - 0.02 * np.arange(K - 1)
    y, eta = rng.integers(0, K, 20), rng.normal(scale=5, size=20)
    fused, general = (form(Ordinal(K), y, eta, thresholds) for form in (_logit_form, _general_form))
    for name in FIELDS:  # 1/gap terms cancel in the general form: gaps here are 0.02 or more
        assert_allclose(getattr(fused, name), getattr(general, name), rtol=1e-7, atol=1e-10)


@every_link
def test_an_infinite_end_has_no_derivative(link):
    eta, thresholds = np.array([-3.0, 0.0, 3.0]), np.array([0.5, -0.5])
    first = ordinal_curvature(Ordinal(3, link), np.zeros(3, int), eta, thresholds=thresholds)
    last = ordinal_curvature(Ordinal(3, link), np.full(3, 2), eta, thresholds=thresholds)
    for gone in (first.upper, first.upper_eta, last.lower, last.lower_eta):
        assert_allclose(gone, 0, atol=0)
    assert (first.lower > 0).all()
    assert (last.upper < 0).all()
    assert_allclose(np.r_[first.between, last.between], 0, atol=0)


@pytest.mark.parametrize("name", ["logit", "probit"])
@pytest.mark.parametrize("size", [30.0, 1000.0])
def test_classes_far_in_either_tail_stay_finite(name, size):
    y, eta = np.tile(np.arange(4), 2), np.repeat([-size, size], 4)
    thresholds = np.array([1.0, 0.0, -1.0])
    here = ordinal_curvature(Ordinal(4, UNIT[name]), y, eta, thresholds=thresholds)
    for field in FIELDS:
        assert np.isfinite(getattr(here, field)).all()
