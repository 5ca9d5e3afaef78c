"""The ordinal response: derivatives, curvature, far tails, thresholds, survival probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from likely.differences import check_gradient, check_hessian
from likely.errors import InvalidInput
from likely.likelihoods import (
    Ordinal,
    cumulative_of_survival,
    free_of,
    likelihood_of,
    survival_differences,
    survival_of_classes,
    survival_of_cumulative,
    thresholds_jacobian,
    thresholds_of,
)
from likely.likelihoods.ordinal import (
    _general_form,
    _logit_form,
    ordinal_curvature,
)
from likely.links import LINKS, UnitLink

UNIT = {name: link for name, link in LINKS.items() if isinstance(link, UnitLink)}
every_link = pytest.mark.parametrize("link", UNIT.values(), ids=UNIT)
sizes = st.sampled_from([2, 3, 7, 100])
seeds = st.integers(0, 999)
FIELDS = ("nll", "upper", "lower", "upper_eta", "lower_eta", "between")


def some_data(seed, K, n=6):
    rng = np.random.default_rng(seed)
    thresholds = np.sort(rng.uniform(-2, 2, K - 1))[::-1] - 0.02 * np.arange(K - 1)
    return rng.integers(0, K, n), rng.normal(size=n), thresholds


@every_link
@given(seed=seeds, K=sizes)
def test_class_probabilities_are_the_differences_of_survival(link, seed, K):
    _, eta, thresholds = some_data(seed, K)
    model = Ordinal(K, link)
    p = model.probability(eta, thresholds)
    assert_allclose(p.sum(axis=1), 1, rtol=1e-12, atol=1e-12)
    assert np.isfinite(model.log_probability(eta, thresholds)).all()  # where p itself may be 0
    differences = survival_differences(model.survival(eta, thresholds)).difference
    assert_allclose(p, differences, rtol=1e-13, atol=1e-13)
    assert_allclose(model.mean(eta, thresholds), p @ np.arange(K), rtol=1e-10)


@every_link
@given(seed=seeds, K=sizes)
def test_slopes_are_the_derivatives_of_nll(link, seed, K):
    y, eta, thresholds = some_data(seed, K)
    model, weight = Ordinal(K, link), np.linspace(0.5, 2, len(y))
    found = model.derivatives(y, eta, thresholds)
    assert_allclose(found.nll, model.nll(y, eta, thresholds))

    def total(theta):
        return weight @ model.nll(y, theta[:6], theta[6:])

    gradient = np.r_[weight * found.slope, model.threshold_gradient(y, found, weight)]
    theta = np.r_[eta, thresholds]
    assert check_gradient(total, lambda _: gradient, theta, epsilon=1e-6) < 2e-6


@every_link
def test_information_is_the_expected_square_of_the_slopes(link):
    _, eta, thresholds = some_data(seed=4, K=5, n=2)
    model = Ordinal(5, link)
    expected = np.zeros((2, 5, 5))
    for k, p in enumerate(model.probability(eta, thresholds).T):
        y = np.full(2, k)
        found = model.derivatives(y, eta, thresholds)
        for i in range(2):
            one = np.eye(2)[i]
            slopes = np.r_[found.slope[i], model.threshold_gradient(y, found, one)]
            expected[i] += p[i] * np.outer(slopes, slopes)
    information = model.information(eta, thresholds)
    assert_allclose(information.eta, expected[:, 0, 0])
    assert_allclose(information.cross, expected[:, 0, 1:], rtol=1e-12, atol=1e-12)
    assert_allclose(information.diagonal, np.diagonal(expected[:, 1:, 1:], axis1=1, axis2=2))
    off = np.diagonal(expected[:, 1:, 1:], offset=1, axis1=1, axis2=2)
    assert_allclose(information.off_diagonal, off)
    assert_allclose(np.triu(expected[0, 1:, 1:], 2), 0, rtol=1e-15, atol=1e-15)


def test_two_classes_equal_the_bernoulli():
    eta, y = np.linspace(-4, 4, 9), np.arange(9) % 2
    found = Ordinal(2).derivatives(y, eta, np.array([0.3]))
    nll, slope, curvature = likelihood_of("bernoulli").derivatives(y, eta + 0.3)
    assert_allclose(found.nll, nll, rtol=1e-12)
    assert_allclose(found.slope, slope, rtol=1e-12)
    assert_allclose(Ordinal(2).information(eta, np.array([0.3])).eta, curvature, rtol=1e-12)


@pytest.mark.parametrize("name", ["logit", "probit"])
@pytest.mark.parametrize("size", [30.0, 1000.0])
def test_classes_far_in_either_tail_stay_finite(name, size):
    model, thresholds = Ordinal(4, UNIT[name]), np.array([1.0, 0.0, -1.0])
    y, eta = np.tile(np.arange(4), 2), np.repeat([-size, size], 4)
    found = model.derivatives(y, eta, thresholds)
    for value in (found.nll, found.slope, found.upper, found.lower):
        assert np.isfinite(value).all()
    if name == "logit":  # P falls like e^−|η| for a class on the wrong side
        assert_allclose(found.slope[[1, 2, 5, 6]], [-1, -1, 1, 1], rtol=1e-9)
    assert not np.isnan(model.information(eta, thresholds).diagonal).any()


@given(seed=seeds, K=st.integers(2, 12))
def test_free_parameters_give_ordered_thresholds_and_back(seed, K):
    free = np.random.default_rng(seed).normal(size=K - 1)
    thresholds = thresholds_of(free)
    assert (np.diff(thresholds) < 0).all()
    assert_allclose(free_of(thresholds), free, rtol=1e-9, atol=1e-9)
    padded = np.zeros((K - 1, K - 1)) + thresholds_jacobian(free)
    assert check_hessian(thresholds_of, lambda _: padded, free) < 1e-6


def test_thresholds_out_of_order_are_refused_with_advice():
    with pytest.raises(
        InvalidInput, match=r"must decrease; found b_1 = 0 and b_2 = 0.5.*order them"
    ):
        free_of(np.array([1.0, 0.0, 0.5]))


@every_link
def test_thresholds_of_frequencies_give_the_frequencies(link):
    model, frequency = Ordinal(4, link), np.array([3.0, 1.0, 4.0, 2.0])
    thresholds = model.thresholds_of_frequencies(frequency)
    assert_allclose(model.probability(np.zeros(1), thresholds)[0], frequency / 10)
    with pytest.raises(InvalidInput, match=r"class 1 has frequency 0.*Merge"):
        model.thresholds_of_frequencies(np.array([3.0, 0.0, 4.0, 2.0]))


def test_sampled_frequencies_match_and_codes_are_checked():
    model, thresholds = Ordinal(3), np.array([1.0, -0.5])
    y = model.sample(np.zeros(20_000), thresholds, np.random.default_rng(0))
    p = model.probability(np.zeros(1), thresholds)[0]
    assert_allclose(np.bincount(y, minlength=3) / 20_000, p, atol=0.02)
    model.check(y)
    with pytest.raises(InvalidInput, match="from 0 to 2; found 3 at example 0"):
        model.check(np.array([3]))


def test_log_odds_differ_by_eta_alone_for_every_threshold():
    _, _, thresholds = some_data(0, 6)
    odds = LINKS["logit"].link(Ordinal(6).survival(np.array([0.2, 1.7]), thresholds))
    assert_allclose(odds[1] - odds[0], 1.5)


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
        assert_allclose(gone, 0, rtol=0, atol=0)
    assert (first.lower > 0).all()
    assert (last.upper < 0).all()
    assert_allclose(np.r_[first.between, last.between], 0, rtol=0, atol=0)


@pytest.mark.parametrize("name", ["logit", "probit"])
@pytest.mark.parametrize("size", [30.0, 1000.0])
def test_curvatures_far_in_either_tail_stay_finite(name, size):
    y, eta = np.tile(np.arange(4), 2), np.repeat([-size, size], 4)
    thresholds = np.array([1.0, 0.0, -1.0])
    here = ordinal_curvature(Ordinal(4, UNIT[name]), y, eta, thresholds=thresholds)
    for field in FIELDS:
        assert np.isfinite(getattr(here, field)).all()


@given(seed=st.integers(0, 999), K=st.integers(2, 100))
def test_classes_and_survival_undo_each_other(seed, K):
    p = np.random.default_rng(seed).dirichlet(np.ones(K), size=4)
    survival = survival_of_classes(p)
    assert survival.shape == (4, K - 1)
    back = survival_differences(survival)
    assert_allclose(back.difference, p, rtol=1e-14, atol=1e-14)
    assert back.non_monotone.size == 0 or back.largest_rise < 1e-15
    cumulative = cumulative_of_survival(survival)
    assert_allclose(cumulative, np.cumsum(p, axis=1)[:, :-1], rtol=1e-14, atol=1e-14)
    assert_allclose(survival_of_cumulative(cumulative), survival, rtol=1e-15, atol=1e-15)


def test_a_rising_survival_is_reported_and_clipped():
    found = survival_differences(np.array([[0.9, 0.5], [0.4, 0.6], [0.2, 0.1]]))
    assert_array_equal(found.non_monotone, [1])
    assert_allclose(found.largest_rise, 0.2)
    assert_allclose(found.difference.sum(axis=1), 1)
    assert_allclose(found.difference[1], [0.6, -0.2, 0.6])
    assert_allclose(found.probability()[1], [0.5, 0, 0.5])
    assert_allclose(found.probability()[0], [0.1, 0.4, 0.5])


def test_one_example_may_be_a_vector():
    assert_allclose(survival_differences([0.7, 0.2]).difference, [0.3, 0.5, 0.2])
