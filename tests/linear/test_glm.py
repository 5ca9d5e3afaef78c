"""Generalized linear models: what is particular to each family, and what a fitted one answers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import likely
from likely.errors import InvalidInput, UnknownName
from likely.likelihoods import LogNormal, NegativeBinomial
from likely.likelihoods.responses import RESPONSES, likelihood_of

TIGHT = 1e-14
SHAPES = {"log-normal": LogNormal(0.5), "negative-binomial": NegativeBinomial(1.0)}


def data(response="poisson", link=None, seed=0, n=200):
    rng = np.random.default_rng(seed)
    likelihood = likelihood_of(response, link)
    if not likelihood.response.shape_is_known:
        likelihood = likelihood_of(SHAPES[likelihood.response.name], link)
    X = rng.uniform(-1, 1, (n, 3))
    dispersion = 1.0 if likelihood.response.dispersion_is_known else 0.2
    return X, likelihood.sample(X @ np.array([0.4, -0.3, 0.1]) + 1.2, rng, dispersion)


def line(model):
    return np.append(model.coef_, model.intercept_)


def test_a_gaussian_response_is_linear_regression():
    """GLM-1, GLM-2."""
    X, y = data("gaussian")
    glm, linear = likely.GLM(tol=TIGHT).fit(X, y), likely.LinearRegression().fit(X, y)
    assert_allclose(line(glm), line(linear), rtol=1e-9)
    assert_allclose(glm.dispersion_, linear.dispersion_, rtol=1e-9)
    assert_allclose(glm.score(X, y), linear.score(X, y), rtol=1e-9)


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog", "loglog", "cauchit"])
def test_a_bernoulli_response_is_logistic_regression(link):
    """GLM-1, GLM-6."""
    X, y = data("bernoulli", link)
    glm = likely.GLM("bernoulli", link, tol=TIGHT).fit(X, y)
    logistic = likely.LogisticRegression(link, l2=0.0, tol=TIGHT).fit(X, y)
    assert_allclose(line(glm), line(logistic), rtol=1e-9)
    assert_allclose(glm.predict(X), logistic.predict_proba(X)[:, 1], rtol=1e-9)


def test_a_model_of_the_mean_alone_has_its_link_for_intercept():
    """GLM-4: ln ȳ; a penalty so strong that nothing else is left."""
    X, y = data()
    alone = likely.GLM("poisson", l1=1e9, tol=TIGHT).fit(X, y)
    assert not alone.coef_.any()
    assert_allclose(alone.intercept_, np.log(y.mean()), rtol=1e-7)


def test_swapped_labels_turn_one_log_log_into_the_other():
    """GLM-5."""
    X, y = data("bernoulli", "loglog")
    one = likely.GLM("bernoulli", "loglog", tol=TIGHT).fit(X, y)
    other = likely.GLM("bernoulli", "cloglog", tol=TIGHT).fit(X, 1 - y)
    assert_allclose(line(one), -line(other), rtol=1e-7)


def test_a_predictor_that_the_link_does_not_allow_is_stepped_back_from():
    """GLM-3: 1/η is a mean for η > 0 only; Newton's first step would leave it."""
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    y = np.array([100.0, 30.0, 1.0, 0.3, 0.2, 0.1])
    model = likely.GLM("gamma", "inverse").fit(X, y)
    assert model.solution_.converged
    assert (model.linear_predictor(X) > 0).all()
    assert (np.diff(model.solution_.trace) <= 0).all()


@pytest.mark.parametrize("name", [name for name in RESPONSES if name != "log-normal"])
def test_what_a_fitted_model_answers_hangs_together(name):
    X, y = data(name, "log" if name not in ("gaussian", "bernoulli") else None)
    link = None if name in ("gaussian", "bernoulli") else "log"
    model = likely.GLM(name, link, random_state=0).fit(X, y)
    mean, response = model.predict(X), model.likelihood_.response
    weight = np.arange(len(y)) % 3
    assert_allclose(mean, model.likelihood_.link.inverse(model.linear_predictor(X)))
    assert_allclose(model.deviance(X, y), response.deviance(y, mean).sum())
    density = response.log_prob(y, mean, model.ml_dispersion_)
    assert_allclose(model.log_likelihood(X, y, weight), np.dot(weight, density))
    null = response.deviance(y, np.full(len(y), y.mean())).sum()
    assert_allclose(model.score(X, y), 1 - model.deviance(X, y) / null)
    interval = model.predict_interval(X, 0.8, of="mean")
    assert (interval[:, 0] < mean).all() and (mean < interval[:, 1]).all()
    response.check(model.sample(X))


@pytest.mark.parametrize("name", RESPONSES)
def test_the_dispersion_is_pearsons_or_one(name):
    """GLM-8."""
    link = None if name in ("gaussian", "bernoulli") else "log"
    X, y = data(name, link)
    model = likely.GLM(name, link).fit(X, y)
    if model.likelihood_.response.dispersion_is_known:
        assert model.dispersion_ == 1.0
    else:
        mean = model.predict(X)
        pearson = np.sum((y - mean) ** 2 / model.likelihood_.response.variance(mean))
        assert_allclose(model.dispersion_, pearson / (len(y) - 4))


def test_a_quasi_likelihood_keeps_the_density_of_its_family():
    """Its dispersion widens errors; p(y | x) of counts is the Poisson's all the same."""
    X, y = data("negative-binomial", "log")
    plain = likely.GLM("poisson").fit(X, y)
    quasi = likely.GLM("poisson", standard_errors="quasi").fit(X, y)
    assert quasi.dispersion_ > 1.5
    assert quasi.predictive_family() == plain.predictive_family()
    assert quasi.log_likelihood(X, y) == plain.log_likelihood(X, y)
    assert_allclose(quasi.log_likelihood(X, y), quasi.inference_.log_likelihood)
    assert_allclose(quasi.sample(X, random_state=0), plain.sample(X, random_state=0))


@pytest.mark.parametrize("name", ["gamma", "inverse-gaussian", "tweedie"])
def test_one_dispersion_is_used_everywhere(name):
    """Pearson's, in errors, log-likelihood, AIC, density and samples."""
    X, y = data(name, "log")
    model = likely.GLM(name, "log", tol=TIGHT).fit(X, y)
    response, psi = model.likelihood_.response, model.dispersion_
    mean = model.predict(X)
    assert_allclose(psi, np.sum((y - mean) ** 2 / response.variance(mean)) / (len(y) - 4))
    likelihood = response.log_prob(y, mean, psi).sum()
    inference = model.inference_
    assert_allclose(inference.log_likelihood, likelihood, rtol=1e-12)
    assert_allclose(model.log_likelihood(X, y), likelihood, rtol=1e-12)
    assert_allclose(inference.aic, 2 * 4 - 2 * likelihood, rtol=1e-12)
    assert inference.dispersion == model.predictive_family().dispersion == psi
    drawn = model.sample(np.repeat(X[:1], 40_000, axis=0), random_state=0)
    assert_allclose(drawn.var(), psi * response.variance(mean[:1])[0], rtol=0.05)


def test_the_trace_of_the_deviance_falls_from_the_constant_model_to_the_fit():
    """GLM-9."""
    X, y = data()
    model = likely.GLM("poisson").fit(X, y)
    trace = model.deviance_trace_
    assert_allclose(trace[0], model.inference_.null_deviance)
    assert_allclose(trace[-1], model.deviance(X, y), rtol=1e-6)
    assert (np.diff(trace) < 0).all()
    assert len(trace) == model.n_iter_ + 1
    ridge = likely.GLM("poisson", l2=5.0).fit(X, y)
    penalised = ridge.deviance(X, y) + 5.0 * np.sum(ridge.coef_**2)
    assert_allclose(ridge.deviance_trace_[-1], penalised, rtol=1e-6)


@pytest.mark.parametrize("name", [name for name in RESPONSES if name != "tweedie"])
def test_a_predictive_distribution_answers_for_each_row(name):
    X, y = data(name, "log" if name not in ("gaussian", "bernoulli") else None)
    link = None if name in ("gaussian", "bernoulli") else "log"
    model = likely.GLM(name, link).fit(X, y)
    found = model.predict_distribution(X)
    assert_allclose(found.mean, model.predict(X))
    psi = model.predictive_family().dispersion
    assert_allclose(found.log_prob(y), model.likelihood_.response.log_prob(y, found.mean, psi))
    low, high = found.interval(0.9).T
    assert np.mean((low <= y) & (y <= high)) >= 0.85
    assert (found.cdf(high) >= 0.95 - 1e-12).all()
    drawn = found.sample(np.random.default_rng(0))
    assert drawn.shape == y.shape
    named = model.likelihood_.response.distribution(found.mean, psi)
    assert_allclose([named.mean(), named.var()], [found.mean, found.variance], rtol=1e-9)


def test_a_tweedie_has_densities_samples_and_quantiles():
    X, y = data("tweedie", "log")
    found = likely.GLM("tweedie").fit(X, y).predict_distribution(X)
    assert np.isfinite(found.log_prob(y)).all()
    low, high = found.interval(0.9).T
    assert np.mean((low <= y) & (y <= high)) >= 0.85
    assert_allclose(found.cdf(high), 0.95, atol=1e-6)


def test_samples_spread_as_the_variance_function_says():
    """GLM-8: Var[y] = ψ V(μ), within sampling error."""
    X, y = data("gamma", "log")
    model = likely.GLM("gamma", "log").fit(X, y)
    drawn = model.sample(np.repeat(X[:1], 40_000, axis=0), random_state=1)
    mean = model.predict(X[:1])[0]
    assert_allclose(drawn.mean(), mean, rtol=0.02)
    assert_allclose(drawn.var(), model.dispersion_ * mean**2, rtol=0.05)


def test_a_negative_binomial_goes_to_the_poisson():
    X, y = data()
    poisson = likely.GLM("poisson", tol=TIGHT).fit(X, y)
    near = likely.GLM(NegativeBinomial(1e-7), tol=TIGHT).fit(X, y)
    assert_allclose(line(near), line(poisson), rtol=1e-5)


def test_an_exposure_is_an_offset_of_its_logarithm():
    X, y = data()
    exposure = np.linspace(0.5, 3, len(y))
    one = likely.GLM("poisson", tol=TIGHT).fit(X, y, exposure=exposure)
    other = likely.GLM("poisson", tol=TIGHT).fit(X, y, offset=np.log(exposure))
    assert_allclose(line(one), line(other), rtol=1e-12)
    both = likely.GLM("poisson", tol=TIGHT).fit(X, y, exposure=exposure, offset=0.3 * X[:, 0])
    assert_allclose(both.coef_[0], one.coef_[0] - 0.3, rtol=1e-7)
    twice = one.predict(X, exposure=2 * exposure)
    assert_allclose(twice, 2 * one.predict(X, exposure=exposure))


def test_an_exposure_needs_the_log_link():
    X, y = data()
    with pytest.raises(InvalidInput, match=r"exposure multiplies a mean.*the link is 'sqrt'"):
        likely.GLM("poisson", "sqrt").fit(X, y, exposure=np.ones(len(y)))


@pytest.mark.parametrize("exposure", [0.0, -1.0, np.nan])
def test_an_exposure_is_above_zero(exposure):
    X, y = data()
    given = np.where(np.arange(len(y)) == 5, exposure, 1.0)
    with pytest.raises(InvalidInput, match=r"exposure of row 5 is .*finite and above 0"):
        likely.GLM("poisson").fit(X, y, exposure=given)


def test_misspelt_names_are_answered_with_the_nearest():
    X, y = data()
    with pytest.raises(UnknownName, match="Did you mean 'poisson'"):
        likely.GLM("poison").fit(X, y)
    with pytest.raises(UnknownName, match="Did you mean 'log'"):
        likely.GLM("poisson", "logg").fit(X, y)


def test_without_a_covariance_there_are_no_errors_to_ask_for():
    X, y = data()
    model = likely.GLM("poisson", standard_errors=None).fit(X, y)
    assert_allclose(model.coef_, likely.GLM("poisson").fit(X, y).coef_)
    with pytest.raises(InvalidInput, match=r"standard_errors=None.*standard_errors='model'"):
        model.summary()


@pytest.mark.parametrize("response", ["gaussian", "gamma", "inverse-gaussian", "tweedie"])
def test_a_perfect_fit_has_an_infinite_log_likelihood_and_intervals_of_no_width(response):
    """Warnings, of divisions by 0 too, are errors here."""
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.full(30, 0.3)
    model = likely.GLM(response).fit(X, y)
    assert model.log_likelihood(X, y) == np.inf == model.inference_.log_likelihood
    assert model.log_likelihood(X, 1.01 * y) == -np.inf
    assert_allclose(model.predict_interval(X[:2]), 0.3, rtol=1e-14)
    mean, family = np.array([0.3, 7.0, 2.0]), RESPONSES[response]
    each = family.log_prob(mean, mean, np.array([0.0, 0.5, 0.0]))
    assert (each[[0, 2]] == np.inf).all()
    assert each[1] == family.log_prob(mean[1:2], mean[1:2], 0.5)
