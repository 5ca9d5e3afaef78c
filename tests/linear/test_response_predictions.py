"""Intervals for a new y: exact where there is a formula, else against drawn predictive samples."""

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from scipy import integrate, stats

import likely as lk
from likely.errors import InvalidInput, OutsideLink
from likely.likelihoods.log_normal import LogNormal
from likely.likelihoods.negative_binomial import NegativeBinomial
from likely.likelihoods.predictive import PredictiveDistribution
from likely.likelihoods.responses import likelihood_of
from likely.likelihoods.tweedie import CompoundPoissonGamma
from likely.linear.response_predictions import response_interval

CASES = {  # response, link, dispersion
    "gaussian": ("gaussian", "log", 0.5),
    "poisson": ("poisson", "log", 1.0),
    "negative binomial": (NegativeBinomial(0.4), "log", 1.0),
    "exponential": ("exponential", "log", 1.0),
    "gamma": ("gamma", "log", 0.3),
    "gamma, inverse": ("gamma", "inverse", 0.3),
    "inverse gaussian": ("inverse-gaussian", "log", 0.2),
    "log-normal": (LogNormal(0.6), "log", 1.0),
    "tweedie": ("tweedie", "log", 0.7),
}
every_case = pytest.mark.parametrize("case", CASES)


@every_case
def test_without_uncertainty_of_the_mean_they_are_the_quantiles_of_the_response(case):
    likelihood, psi = likelihood_of(*CASES[case][:2]), CASES[case][2]
    eta = np.array([0.5, 1.0, 2.0])
    found = response_interval(likelihood, psi, eta, np.zeros(3), 0.9)
    known = PredictiveDistribution(likelihood.response, likelihood.mean(eta), psi)
    assert_allclose(found, known.interval(0.9), rtol=1e-5)


@every_case
@pytest.mark.parametrize("se", [0.1, 0.4])
def test_they_are_the_quantiles_of_samples_with_an_uncertain_mean(case, se):
    likelihood, psi = likelihood_of(*CASES[case][:2]), CASES[case][2]
    rng, centre = np.random.default_rng(0), 2.0
    drawn = likelihood.sample(rng.normal(centre, se, 200_000), rng, psi)
    low, high = response_interval(likelihood, psi, np.array([centre]), np.array([se]), 0.9)[0]
    assert_allclose(np.mean(drawn < low), 0.05, atol=0.05 if case == "poisson" else 0.02)
    assert 0.895 < np.mean((drawn >= low) & (drawn <= high)) < 0.955


def test_a_mean_that_is_more_uncertain_than_y_varies_gives_its_interval():
    likelihood = likelihood_of("poisson")
    low, high = response_interval(likelihood, 1.0, np.array([20.0]), np.array([0.1]), 0.95)[0]
    assert_allclose(np.log([low, high]), 20 + np.array([-0.196, 0.196]), atol=2e-3)


def test_the_distribution_function_of_a_tweedie_is_the_integral_of_its_density():
    response = CompoundPoissonGamma(1.6)
    mean, psi = np.array([3.0]), 0.8
    found = response.distribution(mean, psi)
    mass = np.exp(response.log_prob(np.array([0.0]), mean, psi))[0]
    for y in (0.5, 3.0, 9.0):
        inside = integrate.quad(
            lambda t: np.exp(response.log_prob(np.array([t]), mean, psi))[0], 0, y, epsabs=1e-10
        )[0]
        assert_allclose(found.cdf(y)[0], mass + inside, atol=1e-7)
    assert found.ppf(mass / 2)[0] == 0
    assert_allclose(found.cdf(found.ppf(0.9)), 0.9, atol=1e-7)
    assert found.cdf(-1.0)[0] == 0


def test_a_gaussian_has_the_intervals_of_ols():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 2))
    y = X @ [1.0, -1.0] + rng.normal(size=40)
    them = sm.OLS(y, sm.add_constant(X)).fit().get_prediction().conf_int(obs=True, alpha=0.1)
    for model in (lk.LinearRegression(), lk.GLM()):
        assert_allclose(model.fit(X, y).predict_interval(X, 0.9, of="y"), them, rtol=1e-6)


def test_an_interval_is_of_y_unless_its_mean_is_asked_for():
    X, y, _ = counts()
    design = np.column_stack([np.ones(len(X)), X])
    beta, rest = np.linalg.lstsq(design, y, rcond=None)[:2]
    df = len(y) - 3
    leverage = np.einsum("ij,ij->i", design @ np.linalg.inv(design.T @ design), design)
    model = lk.LinearRegression().fit(X, y)
    for of, inside in (("y", 1 + leverage), ("mean", leverage), ("auto", 1 + leverage)):
        reach = stats.t(df).ppf(0.9) * np.sqrt(rest[0] / df * inside)
        ends = np.column_stack([design @ beta - reach, design @ beta + reach])
        assert_allclose(model.predict_interval(X, 0.8, of=of), ends, rtol=1e-9)
    assert (model.predict_interval(X, 0.8) == model.predict_interval(X, 0.8, of="y")).all()
    poisson = lk.GLM("negative-binomial").fit(X, y)
    assert (poisson.predict_interval(X) == poisson.predict_interval(X, of="y")).all()
    assert (poisson.predict_interval(X) != poisson.predict_interval(X, of="mean")).any()


def test_an_interval_of_two_classes_is_that_of_their_probability():
    X, y, _ = counts()
    X, high = X * 0.3, y > 10
    design = sm.add_constant(X)
    them = sm.GLM(high, design, family=sm.families.Binomial()).fit().get_prediction(design)
    for model in (lk.LogisticRegression(l2=0.0), lk.GLM("bernoulli")):
        model.fit(X, high)
        for of in ({}, {"of": "auto"}, {"of": "mean"}):
            assert_allclose(
                model.predict_interval(X, 0.9, **of), them.conf_int(alpha=0.1), rtol=1e-6
            )
        with pytest.raises(InvalidInput, match="which is 0 or 1; an interval for numbers"):
            model.predict_interval(X, of="y")
        with pytest.raises(InvalidInput, match="'mean' or 'y' was expected"):
            model.predict_interval(X, of="median")


def counts(seed=3):
    rng = np.random.default_rng(seed)
    X, time = rng.normal(size=(120, 2)), rng.uniform(1, 30, 120)
    return X, rng.poisson(time * np.exp(0.3 * X[:, 0])), time


def test_an_exposure_multiplies_the_mean_and_weights_are_rows():
    X, y, time = counts()
    model = lk.GLM("poisson").fit(X, y, exposure=time)
    one = model.predict_interval(X[:5], exposure=np.full(5, 20.0), of="y")
    moved = model.predict_interval(X[:5], offset=np.full(5, np.log(20.0)), of="y")
    assert_allclose(one, moved)
    assert (one == np.round(one)).all()
    mean = model.predict(X[:5], exposure=np.full(5, 20.0))
    assert ((one[:, 0] < mean) & (mean < one[:, 1])).all()
    weight = np.random.default_rng(0).integers(1, 4, 120)
    weighted = lk.GLM("poisson").fit(X, y, weight, exposure=time)
    again = lk.GLM("poisson").fit(
        np.repeat(X, weight, 0), np.repeat(y, weight), exposure=np.repeat(time, weight)
    )
    assert_allclose(
        weighted.predict_interval(X, exposure=time, of="y"),
        again.predict_interval(X, exposure=time, of="y"),
    )


def test_prepared_models_have_them_too():
    X, y, _ = counts()
    plain = lk.GLM("negative-binomial").fit(X, y)
    prepared = lk.Prepared(lk.GLM("negative-binomial")).fit(X, y)
    assert_allclose(
        prepared.predict_interval(X, of="y"), plain.predict_interval(X, of="y"), rtol=1e-6
    )
    assert_allclose(
        prepared.predict_interval(X, of="mean"), plain.predict_interval(X, of="mean"), rtol=1e-6
    )


def test_what_has_no_interval_for_y_is_refused_in_words():
    X, y, _ = counts()
    with pytest.raises(InvalidInput, match="bernoulli response, which is 0 or 1"):
        lk.GLM("bernoulli").fit(X, y > 10).predict_interval(X, of="y")
    even = np.random.default_rng(0).poisson(np.exp(1 + 0.3 * X[:, 0]))
    with pytest.raises(InvalidInput, match=r"standard_errors='quasi'.*negative-binomial"):
        lk.GLM("poisson", standard_errors="quasi").fit(X, even).predict_interval(X, of="y")
    model = lk.GLM("poisson").fit(X, y)
    with pytest.raises(InvalidInput, match="'mean' or 'y' was expected"):
        model.predict_interval(X, of="median")
    with pytest.raises(InvalidInput, match="a number between 0 and 1"):
        model.predict_interval(X, 95, of="y")
    none = lk.GLM("poisson", standard_errors=None).fit(X, y)
    with pytest.raises(InvalidInput, match="standard_errors=None"):
        none.predict_interval(X, of="y")


@pytest.mark.filterwarnings("ignore::likely.errors.NarrowIntervals")  # they are wide
def test_far_from_the_data_they_are_wide_and_not_an_error():
    X, y, _ = counts()
    low, high = lk.GLM("poisson").fit(X, y).predict_interval([[60.0, 60.0]], of="y")[0]
    assert 0 <= low < high


def test_equal_rows_have_equal_intervals_in_their_order():
    likelihood = likelihood_of("gamma", "log")
    eta, se = np.array([2.0, -1.0, 2.0, np.inf, -1.0]), np.array([0.1, 0.2, 0.1, 0.1, 0.3])
    found = response_interval(likelihood, 0.3, eta, se, 0.9)
    each = [response_interval(likelihood, 0.3, eta[[i]], se[[i]], 0.9)[0] for i in range(5)]
    assert_allclose(found, each, rtol=1e-7)
    assert np.isnan(found[3]).all()


def test_counts_of_any_size_have_intervals_at_once():
    """SciPy does not end its search for the quantiles of such negative binomials."""
    likelihood = likelihood_of(NegativeBinomial(0.4))
    for mean in (1e13, 1e140):
        eta = np.log([mean])
        low, high = response_interval(likelihood, 1.0, eta, np.array([1e-3]), 0.9)[0]
        known = stats.gamma(1 / 0.4, scale=0.4 * mean).ppf([0.05, 0.95])  # its limit
        assert_allclose([low, high], known, rtol=1e-3)


def test_far_from_the_data_the_error_does_not_overflow():
    x = np.random.default_rng(0).normal(size=(50, 1))
    model = lk.GLM("gamma", link="log").fit(x, np.exp(x[:, 0] / 5) + 1)
    with np.errstate(over="ignore"):
        assert not np.isnan(model.predict_interval([[1e200]])).any()
    near, far = model._predictor_and_error(np.array([[1e100], [1e200]]))[1]
    assert_allclose(far, 1e100 * near, rtol=1e-12)


def test_a_predictor_without_a_mean_has_no_interval_and_says_so():
    x = np.linspace(1.0, 2.0, 40)[:, None]
    model = lk.GLM("gamma", link="identity").fit(x, 3 * x[:, 0] + np.tile([0.1, -0.1], 20))
    with pytest.warns(OutsideLink, match="its interval is nan, for 1 row"):
        found = model.predict_interval([[1.5], [-9.0]])
    assert np.isfinite(found[0]).all()
    assert np.isnan(found[1]).all()


def test_a_tweedie_of_power_1_has_whole_ends():
    X, _, _ = counts()
    y = np.random.default_rng(0).poisson(np.exp(1 + 0.3 * X[:, 0]))
    found = lk.GLM("tweedie(1)").fit(X, y).predict_interval(X, of="y")
    assert_allclose(found, lk.GLM("poisson").fit(X, y).predict_interval(X, of="y"), atol=1.0)
    assert (found == np.round(found)).all()


SIMULATED = {
    "gaussian": ("gaussian", None, 1.0, 1.0),
    "gaussian, log": ("gaussian", "log", 1.0, 0.05),
    "poisson": ("poisson", None, 3.5, 1.0),
    "negative binomial": ("negative-binomial", None, 3.0, 1.0),
    "exponential": ("exponential", "log", 1.0, 1.0),
    "gamma": ("gamma", "log", 1.0, 0.3),
    "inverse gaussian": ("inverse-gaussian", "log", 1.0, 0.1),
    "tweedie": ("tweedie", None, 3.0, 0.3),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", SIMULATED)
def test_95_percent_intervals_cover_a_new_y_as_often_as_they_say(case):
    """Over 60 tables of 80 rows, weighted for gamma, with an exposure for counts."""
    response, link, centre, psi = SIMULATED[case]
    true = NegativeBinomial(0.5) if case == "negative binomial" else response
    likelihood, rng, hits = likelihood_of(true, link), np.random.default_rng(5), []
    for _ in range(60):
        X, new = rng.normal(size=(80, 3)), rng.normal(size=(40, 3))
        beta, given, at_new = [0.3, -0.2, 0.1], {}, {}
        time = rng.uniform(0.5, 2, (2, 80))
        if likelihood.response.target_kind == "count":
            given, at_new = {"exposure": time[0]}, {"exposure": time[1, :40]}
        moved = [np.log(each) if given else 0.0 for each in (time[0], time[1, :40])]
        y = likelihood.sample(X @ beta + centre + moved[0], rng, psi)
        asked = likelihood.sample(new @ beta + centre + moved[1], rng, psi)
        model = lk.GLM(response, link).fit(X, y, **given)
        low, high = model.predict_interval(new, of="y", **at_new).T
        hits.append(np.mean((low <= asked) & (asked <= high)))
    assert 0.93 <= np.mean(hits) <= 0.97
