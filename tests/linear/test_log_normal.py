"""A log-normal response: least squares on ln y, with the mean, density and intervals of y."""

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from scipy import sparse, stats

import likely as lk
from likely.errors import InvalidInput
from likely.likelihoods import LogNormal

TIGHT = {"tol": 1e-14}


def data(n=200, sigma=0.6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.exp(1.0 + X @ [0.5, -0.3, 0.0] + sigma * rng.normal(size=n))


def line(model):
    return np.append(model.coef_, model.intercept_)


def test_coefficients_errors_and_likelihoods_are_those_of_least_squares_on_the_logarithm():
    X, y = data()
    model, theirs = lk.GLM("log-normal", **TIGHT).fit(X, y), sm.OLS(np.log(y), sm.add_constant(X))
    theirs, jacobian = theirs.fit(), np.log(y).sum()
    assert_allclose(model.coef_, theirs.params[1:], rtol=1e-9)
    assert_allclose(model.bse[:3], theirs.bse[1:], rtol=1e-9)
    assert_allclose(model.sigma_**2, theirs.scale, rtol=1e-10)
    assert_allclose(model.intercept_, theirs.params[0] + theirs.scale / 2, rtol=1e-10)
    assert_allclose(model.bse[3] ** 2, theirs.bse[0] ** 2 + theirs.scale**2 / (2 * 196), rtol=1e-9)
    assert_allclose(model.llf, theirs.llf - jacobian, rtol=1e-12)
    assert_allclose(model.aic, theirs.aic + 2 * jacobian, rtol=1e-12)
    null = model.inference_.null_log_likelihood
    assert_allclose(null, sm.OLS(np.log(y), np.ones(200)).fit().llf - jacobian, rtol=1e-12)
    assert_allclose(model.inference_.overall_test().statistic, theirs.fvalue, rtol=1e-9)
    assert_allclose(model.score(X, y), theirs.rsquared, rtol=1e-9)
    assert_allclose(model.deviance(X, y), theirs.ssr, rtol=1e-9)
    assert_allclose(model.deviance(X, y), model.inference_.deviance, rtol=1e-9)
    assert model.inference_.theta[-1] == model.intercept_


def test_densities_are_scipys_and_means_are_those_of_samples():
    X, y = data()
    model = lk.GLM("log-normal", random_state=0).fit(X, y)
    median = np.exp(model.linear_predictor(X) - model.sigma_**2 / 2)
    family = model.predictive_family()
    ours = family.log_density(y, model.predict(X), counts=False)
    assert_allclose(ours, stats.lognorm.logpdf(y, model.sigma_, scale=median), rtol=1e-9)
    largest = stats.lognorm.logpdf(y, model.ml_sigma_, scale=median)
    assert_allclose(model.log_likelihoods(X, y), largest, rtol=1e-9)
    weight = np.arange(200) % 3
    assert_allclose(model.log_likelihood(X, y, weight), weight @ largest, rtol=1e-9)
    assert_allclose(model.log_likelihood(X, y), model.llf, rtol=1e-10)
    drawn = model.sample(np.repeat(X[:1], 200_000, axis=0))
    assert_allclose(drawn.mean(), model.predict(X[:1])[0], rtol=0.01)
    assert_allclose(model.predict_distribution(X[:1]).variance, drawn.var(), rtol=0.05)


@pytest.mark.parametrize("errors", ["model", "quasi", "HC1", "HC3", "clustered"])
def test_a_weight_is_repeated_rows_with_every_kind_of_errors_offsets_and_exposures(errors):
    X, y = data()
    rng = np.random.default_rng(1)
    weight, offset, time = rng.integers(0, 3, 200), rng.normal(size=200), rng.uniform(1, 2, 200)
    again = np.repeat(np.arange(200), weight)
    cluster = np.arange(200) // 8 if errors == "clustered" else None
    one = lk.GLM("log-normal", standard_errors=errors, **TIGHT)
    one.fit(X, y, weight, offset, time, groups=cluster)
    given = {} if cluster is None else {"groups": cluster[again]}
    other = lk.GLM("log-normal", standard_errors=errors, **TIGHT)
    other.fit(X[again], y[again], None, offset[again], time[again], **given)
    for get in (line, lambda m: m.bse, lambda m: m.llf, lambda m: m.sigma_):
        assert_allclose(get(one), get(other), rtol=1e-8)
    moved = lk.LinearRegression(standard_errors=errors)
    moved.fit(X, np.log(y), weight, offset=offset + np.log(time), groups=cluster)
    assert_allclose(one.bse[:3], moved.bse[:3], rtol=1e-7)
    assert_allclose(one.coef_, moved.coef_, rtol=1e-8)
    at = {"offset": offset, "exposure": 3 * time}
    assert_allclose(one.predict(X, **at), 3 * one.predict(X, **{**at, "exposure": time}))


@pytest.mark.parametrize("settings", [{"l2": "auto"}, {"l2": 5.0}, {"l1": 9.0, "l2": 1.0}])
def test_penalties_are_those_of_least_squares_on_the_logarithm(settings):
    X, y = data()
    model = lk.GLM("log-normal", **settings, **TIGHT).fit(X, y)
    other = lk.LinearRegression(**settings, **TIGHT).fit(X, np.log(y))
    assert_allclose(model.coef_, other.coef_, rtol=1e-6)
    assert_allclose(model.sigma_**2, other.dispersion_, rtol=1e-6)
    assert_allclose(line(model)[-1], other.intercept_ + model.sigma_**2 / 2, rtol=1e-6)


def test_sparse_rows_and_files_give_the_same_fit(tmp_path):
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y)
    frame.to_csv(tmp_path / "t.csv", index=False)
    model = lk.GLM("log-normal", **TIGHT).fit(X, y)
    for other in (
        lk.GLM("log-normal", **TIGHT).fit(sparse.csr_array(X), y),
        lk.GLM("log-normal", **TIGHT).fit(lk.read(tmp_path / "t.csv"), "y"),
    ):
        assert_allclose(line(other), line(model), rtol=1e-9)
        assert_allclose(other.llf, model.llf, rtol=1e-9)
    frame.loc[150, "y"] = 0.0
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(
        InvalidInput, match=r"log-normal response must be above 0; found 0.*tweedie"
    ):
        lk.GLM("log-normal").fit(lk.read(tmp_path / "t.csv"), "y")


def test_a_path_of_penalties_is_that_of_least_squares_on_the_logarithm():
    X, y = data()
    ours = lk.PenaltyPath(lk.GLM("log-normal", **TIGHT), n_penalties=8, cv=4).fit(X, y)
    theirs = lk.PenaltyPath(lk.LinearRegression(**TIGHT), n_penalties=8, cv=4).fit(X, np.log(y))
    assert_allclose(ours.penalties_, theirs.penalties_, rtol=1e-6)
    assert_allclose(ours.coefs_, theirs.coefs_, rtol=1e-5, atol=1e-9)
    assert_allclose(ours.deviance_, theirs.deviance_, rtol=1e-5)
    assert ours.index_ == theirs.index_


def test_a_sigma_that_is_given_moves_the_intercept_alone_and_has_its_own_likelihood():
    X, y = data()
    free = lk.GLM("log-normal", **TIGHT).fit(X, y)
    model = lk.GLM(LogNormal(0.9), **TIGHT).fit(X, y)
    assert_allclose(model.coef_, free.coef_, rtol=1e-8)
    moved = (0.9**2 - free.sigma_**2) / 2
    assert_allclose(model.intercept_, free.intercept_ + moved, rtol=1e-8)
    assert_allclose(model.bse[:3], free.bse[:3] * 0.9 / free.sigma_, rtol=1e-8)
    assert_allclose(model.llf, LogNormal(0.9).log_prob(y, model.predict(X)).sum(), rtol=1e-9)
    center = np.full(200, np.exp(np.log(y).mean() + 0.9**2 / 2))
    null = model.inference_.null_log_likelihood
    assert_allclose(null, LogNormal(0.9).log_prob(y, center).sum(), rtol=1e-9)
    assert_allclose(model.score(X, y), free.score(X, y), rtol=1e-8)
    assert_allclose(model.score(X, y), model.inference_.deviance_explained, rtol=1e-8)
    straight = lk.GLM(LogNormal(0.3), "identity").fit(X[:, :1], 5 + X[:, 0])
    assert_allclose(straight.coef_, np.exp(0.3**2 / 2), rtol=1e-6)  # y is the median


def test_the_ends_of_intervals_are_those_of_the_logarithm():
    X, y = data(12)
    model = lk.GLM("log-normal").fit(X, y)
    other = lk.LinearRegression().fit(X, np.log(y))
    assert_allclose(model.predict_interval(X, 0.9), np.exp(other.predict_interval(X, 0.9)))


def test_intervals_cover_a_new_y_and_its_mean_as_often_as_they_say():
    hits, means = [], []
    for seed in range(100):
        X, y = data(30, 0.9, seed)
        new, asked = data(200, 0.9, 1000 + seed)
        model = lk.GLM("log-normal").fit(X, y)
        low, high = model.predict_interval(new, 0.9).T
        hits.append(np.mean((low <= asked) & (asked <= high)))
        low, high = model.predict_interval(new, 0.9, of="mean").T
        true = np.exp(1.0 + new @ [0.5, -0.3, 0.0] + 0.9**2 / 2)
        means.append(np.mean((low <= true) & (true <= high)))
    assert 0.885 < np.mean(hits) < 0.915
    assert 0.84 < np.mean(means) < 0.93


def test_nested_models_have_the_exact_f_test():
    X, y = data()
    names = ["a", "b", "c"]
    large = lk.GLM("log-normal").fit(pd.DataFrame(X, columns=names), y)
    small = lk.GLM("log-normal").fit(pd.DataFrame(X[:, :1], columns=names[:1]), y)
    found = lk.likelihood_ratio_test(small, large)
    theirs = sm.OLS(np.log(y), sm.add_constant(X)).fit().f_test("x2 = x3 = 0")
    assert_allclose([found.statistic, found.p], [theirs.fvalue, theirs.pvalue], rtol=1e-7)


def test_the_summary_names_the_response_and_says_what_the_intercept_is():
    X, y = data()
    model = lk.GLM("log-normal").fit(X, y)
    text = str(model.summary())
    assert "log-normal response, log link" in text
    assert "sigma of ln y" in text
    assert "sigma²/2" in text
    assert "Ratios of means" in text


@pytest.mark.parametrize(
    ("settings", "rows", "message"),
    [
        ({"fit_intercept": False}, 30, r"fit_intercept=False.*constant sigma²/2.*LogNormal\(0.5\)"),
        ({"link": "identity"}, 30, r"link 'identity'.*needs the log link"),
        ({}, 4, r"as many rows as coefficients, or fewer.*LogNormal\(0.5\)"),
    ],
)
def test_what_leaves_sigma_unknown_is_refused_with_a_way_out(settings, rows, message):
    X, y = data(rows)
    with pytest.raises(InvalidInput, match=message):
        lk.GLM("log-normal", **settings).fit(X, y)


def test_amounts_of_every_size_are_fitted_and_a_mean_that_overflows_is_refused():
    """Warnings are errors here."""
    rng = np.random.default_rng(0)
    exponent = rng.uniform(-680, 680, (60, 1))
    model = lk.GLM("log-normal").fit(exponent, np.exp(exponent[:, 0] + 0.1 * rng.normal(size=60)))
    assert_allclose(model.coef_, 1.0, rtol=1e-3)
    assert np.isfinite(model.llf)
    with pytest.raises(InvalidInput, match=r"too large for double precision.*LinearRegression"):
        lk.GLM("log-normal").fit(rng.normal(size=(60, 1)), np.exp(exponent[:, 0]))


@pytest.mark.parametrize("y", [np.full(40, 0.3), "line"])
def test_a_perfect_fit_has_a_finite_density_and_intervals_of_no_width(y):
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.exp(X @ [0.5, 1.0]) if isinstance(y, str) else y
    model = lk.GLM("log-normal").fit(X, y)
    assert_allclose(model.predict(X), y, rtol=1e-12)
    assert np.isfinite([model.llf, model.log_likelihood(X, y)]).all()
    assert_allclose(model.predict_interval(X), np.column_stack([y, y]), rtol=1e-12)
    assert "essentially perfect fit" in str(model.summary())


def test_another_response_forgets_sigma():
    X, y = data()
    model = lk.GLM("log-normal").fit(X, y)
    again = model.set_params(response="gamma", link="log").fit(X, y)
    assert "sigma_" not in vars(again)
    assert_allclose(again.deviance(X, y), lk.GLM("gamma", "log").fit(X, y).deviance(X, y))


def test_an_objective_needs_a_sigma_and_a_network_another_response():
    X, y = data()
    with pytest.raises(InvalidInput, match=r"sigma of log-normal.*LogNormal\(model.fit"):
        lk.GLM("log-normal").objective(X, y)
    given = lk.GLM("log-normal(0.6)").objective(X, y)
    fitted = lk.GLM("log-normal(0.6)", **TIGHT).fit(X, y)
    assert_allclose(given.gradient(line(fitted)), 0, atol=1e-6)
    for response in ("log-normal", "log-normal(0.6)"):
        with pytest.raises(
            InvalidInput, match=r"log-normal response was given to a network.*gamma"
        ):
            lk.NeuralNetworkRegressor(response=response).fit(X, y)


def test_an_additive_model_is_that_of_the_logarithm():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (300, 2))
    y = np.exp(np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.5 * rng.normal(size=300))
    model, other = lk.AdditiveModel("log-normal").fit(X, y), lk.AdditiveModel().fit(X, np.log(y))
    half = model.sigma_**2 / 2
    assert_allclose(np.log(model.predict(X)) - half, other.predict(X), rtol=0, atol=1e-9)
    assert_allclose(model.sigma_**2, other.dispersion_, rtol=1e-9)
    assert_allclose(model.edf_, other.edf_, rtol=1e-9)
    assert_allclose(model.deviance_explained_, other.deviance_explained_, rtol=1e-9)
    assert_allclose(model.score(X, y), other.score(X, np.log(y)), rtol=1e-9)
    assert_allclose(model.deviance(X, y), other.deviance(X, np.log(y)), rtol=1e-9)
    likelihood = other.log_likelihood(X, np.log(y)) - np.log(y).sum()
    assert_allclose(model.log_likelihood(X, y), likelihood, rtol=1e-9)
    assert_allclose(
        model.predict_interval(X, 0.9), np.exp(other.predict_interval(X, 0.9)), rtol=2e-3
    )
    explained = model.explain(X[:5])
    expected = other.explain(X[:5]).contributions
    assert_allclose(explained.contributions, expected, rtol=0, atol=1e-9)
    assert "sigma of ln y" in str(model.summary())


def test_an_additive_model_of_wild_amounts_keeps_its_medians():
    """e^{σ²/2} is 90 here: a bound of means by the largest y would move every density."""
    rng = np.random.default_rng(0)
    X, noise = rng.uniform(-1, 1, (400, 1)), 3 * rng.normal(size=400)
    model = lk.AdditiveModel("log-normal").fit(X, np.exp(X[:, 0] + noise))
    assert_allclose(np.median(model.predict(X) / np.exp(model.sigma_**2 / 2)), 1.0, rtol=0.4)
    low, high = model.predict_interval(X, 0.9).T
    assert np.mean((low <= np.exp(X[:, 0] + noise)) & (np.exp(X[:, 0] + noise) <= high)) > 0.85
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(lk.AdditiveModel("log-normal(3)").fit(X, np.exp(noise)).predict(X)).all()
