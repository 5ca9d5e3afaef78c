"""The constant model, and scores against it."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import minimize_scalar
from sklearn.metrics import r2_score

import likely
from likely.errors import InvalidInput, OutsideLink, RedundantColumns, Separation
from likely.likelihoods.gamma import Gamma
from likely.likelihoods.negative_binomial import NegativeBinomial
from likely.likelihoods.responses import likelihood_of
from likely.linear.glm import constant_mean
from likely.linear.response_predictions import warn_outside


def rates(n=400):
    rng = np.random.default_rng(0)
    X, time = rng.normal(size=(n, 2)), rng.uniform(0.1, 20.0, n)
    return X, rng.poisson(2.0 * time), time


def test_without_offsets_it_is_the_mean():
    y, weight = np.array([1.0, 2.0, 6.0]), np.array([1.0, 1.0, 2.0])
    assert_allclose(constant_mean(likelihood_of("poisson"), y, weight), 15 / 4)


def test_with_exposure_it_is_events_over_time():
    _, y, time = rates()
    found = constant_mean(likelihood_of("poisson"), y.astype(float), np.ones(400), np.log(time))
    assert_allclose(found, y.sum() / time.sum() * time, rtol=1e-8)


def test_a_score_with_exposure_explains_nothing_that_exposure_explains():
    X, y, time = rates()
    model = likely.GLM("poisson").fit(X, y, exposure=time)
    score = model.score(X, y, exposure=time)
    assert_allclose(score, model.inference_.deviance_explained, rtol=1e-6)
    assert score < 0.05


def test_exposure_is_refused_wherever_the_link_is_not_the_log():
    X, y, time = rates()
    model = likely.LogisticRegression().fit(X, y > np.median(y))
    with pytest.raises(InvalidInput, match="only the log link"):
        model.linear_predictor(X, exposure=time)
    with pytest.raises(InvalidInput, match="only the log link"):
        likely.GLM().fit(X, y).predict(X, exposure=time)


def test_a_predictor_that_the_link_has_no_mean_for_is_nan_and_warned_of():
    rng = np.random.default_rng(1)
    X = rng.uniform(0.5, 2.0, (200, 1))
    model = likely.GLM("gamma", "inverse").fit(X, rng.gamma(5.0, 1 / (5 * X[:, 0])))
    with pytest.warns(OutsideLink, match=r"row 1.*log link"):
        mean = model.predict(np.array([[1.0], [-50.0]]))
    assert np.isfinite(mean[0]) and np.isnan(mean[1])


def test_a_warm_start_that_fits_nothing_is_a_cold_one():
    rng = np.random.default_rng(2)
    X = rng.uniform(0.5, 2.0, (200, 1))
    y = rng.gamma(5.0, 1 / (5 * X[:, 0]))
    model = likely.GLM("gamma", "inverse", warm_start=True).fit(X, y)
    again = model.fit(X * 100 - 500, y)
    cold = likely.GLM("gamma", "inverse").fit(X * 100 - 500, y)
    assert_allclose(again.coef_, cold.coef_, rtol=1e-5)


def test_a_nan_in_one_column_of_many_rows_is_refused():
    X = np.random.default_rng(3).normal(size=(30_000, 1))
    y = np.random.default_rng(4).poisson(1.0, 30_000)
    X[-5] = np.nan
    for model in (likely.GLM("poisson"), likely.LinearRegression(l1=1.0), likely.GLM()):
        with pytest.raises(InvalidInput, match=r"NaN.*29995.*'x0'"):
            model.fit(X, y)


def test_a_level_is_held_and_named_before_the_intercept():
    rng = np.random.default_rng(5)
    colour = rng.choice(["a", "b", "c"], 200)
    frame = pd.DataFrame({"is_b": 3.0 * (colour == "b"), "colour": colour})
    with pytest.warns(RedundantColumns, match=r"colour\[b\]"):
        model = likely.GLM("poisson").fit(frame, rng.poisson(1.0, 200))
    assert np.isfinite(model.inference_.standard_errors[-1])


def test_a_covariance_that_is_unknown_is_refused_for_several_responses_too():
    X, y, _ = rates()
    with pytest.raises(InvalidInput, match="There is no kind of standard errors 'bogus'"):
        likely.LinearRegression(standard_errors="bogus").fit(X, np.column_stack([y, y]))


def test_binomial_is_another_name_for_bernoulli():
    assert likelihood_of("binomial").response.name == "bernoulli"


def test_an_offset_is_taken_by_every_answer_of_a_regression():
    rng = np.random.default_rng(6)
    X, offset = rng.normal(size=(100, 2)), rng.normal(size=100) * 50
    y = X[:, 0] + offset + rng.normal(size=100)
    model = likely.LinearRegression().fit(X, y, offset=offset)
    plain = likely.LinearRegression().fit(X, y - offset)
    assert_allclose(model.score(X, y, offset=offset), plain.score(X, y - offset))
    assert_allclose(model.log_likelihood(X, y, offset=offset), plain.log_likelihood(X, y - offset))
    drawn = model.sample(X, 0, offset=offset)
    assert_allclose(drawn - offset, plain.sample(X, 0))


def test_groups_that_nothing_uses_are_refused():
    X, y, _ = rates()
    with pytest.raises(InvalidInput, match="Ask for 'clustered'"):
        likely.GLM("poisson").fit(X, y, groups=np.arange(400) % 7)


def test_newton_is_refused_where_its_hessian_would_not_fit():
    wide = sparse.csr_array((3, 20_000))
    with pytest.raises(InvalidInput, match=r"20,001 coefficients.*3 GB.*lbfgs"):
        likely.LogisticRegression(solver="newton").fit(wide, [0, 1, 0])


def test_separation_of_more_columns_than_newton_takes_is_named():
    rng = np.random.default_rng(7)
    wide = sparse.random_array((300, 5_000), density=0.01, format="csr", rng=rng)
    with pytest.warns(Separation):
        likely.LogisticRegression(l2=0.0).fit(wide, np.arange(300) % 2)


def test_a_hundred_thousand_columns_need_no_square_matrix():
    rng = np.random.default_rng(8)
    wide = sparse.random_array((200, 100_000), density=0.0005, format="csr", rng=rng)
    model = likely.LogisticRegression().fit(wide, np.arange(200) % 2)
    assert model.solution_.solver == "dual coordinate descent"


def test_the_name_of_a_column_stands_for_its_levels_in_a_wald_test():
    rng = np.random.default_rng(9)
    frame = pd.DataFrame({"x": rng.normal(size=90), "town": rng.choice(["A", "B", "C"], 90)})
    model = likely.GLM("poisson").fit(frame, rng.poisson(1.0, 90))
    assert model.wald_test("town") == model.wald_test(["town[B]", "town[C]"])


def test_without_an_intercept_a_column_keeps_all_its_levels():
    rng = np.random.default_rng(10)
    frame = pd.DataFrame({"x": rng.normal(size=90), "town": rng.choice(["A", "B", "C"], 90)})
    y = rng.normal(size=90) + 5
    model = likely.LinearRegression(fit_intercept=False).fit(frame, y)
    assert list(model.terms_) == ["x", "town[A]", "town[B]", "town[C]"]
    assert_allclose(model.predict(frame), likely.LinearRegression().fit(frame, y).predict(frame))


def test_models_that_are_not_nested_are_not_tested_against_each_other():
    X, y, _ = rates()
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(c=X[:, 0] ** 2)
    small, large = (likely.GLM("poisson").fit(frame[c], y) for c in (["c"], ["a", "b"]))
    with pytest.raises(InvalidInput, match="which the larger one lacks"):
        likely.likelihood_ratio_test(small, large)


@pytest.mark.parametrize(
    ("response", "draw"),
    [
        ("poisson", lambda rng, eta: rng.poisson(np.exp(eta)).astype(float)),
        ("bernoulli", lambda rng, eta: (rng.random(len(eta)) < 0.5).astype(float)),
        ("gaussian", lambda rng, eta: eta + rng.normal(size=len(eta))),
    ],
)
def test_the_null_model_without_an_intercept_is_the_offset_alone(response, draw):
    """As in R's glm: η = o, with nothing estimated."""
    rng = np.random.default_rng(0)
    X, offset = rng.normal(size=(200, 2)), 0.3 * rng.normal(size=200)
    y = draw(rng, X[:, 0] + offset)
    model = likely.GLM(response, fit_intercept=False).fit(X, y, offset=offset)
    likelihood = likelihood_of(response)
    null = likelihood.response.deviance(y, likelihood.mean(offset)).sum()
    assert_allclose(model.inference_.null_deviance, null, rtol=1e-9)
    explained = 1 - model.deviance(X, y, offset=offset) / null
    assert_allclose(model.score(X, y, offset=offset), explained, rtol=1e-9)
    larger = likely.GLM(response).fit(X, y, offset=offset)
    assert 0 < likely.likelihood_ratio_test(model, larger).p <= 1


def test_the_null_model_without_an_intercept_has_a_dispersion_of_its_own():
    """η = 0, so μ = 1: ψ₀ is χ²₀/n, and the α of a negative binomial is where it is likeliest."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 1))
    mean, one = np.exp(0.5 * X[:, 0]), np.ones(300)
    amounts, counts = rng.gamma(2.0, mean / 2), rng.poisson(rng.gamma(2.0, mean / 2))
    found = likely.GLM("gamma", "log", fit_intercept=False).fit(X, amounts).inference_
    expected = Gamma().log_prob(amounts, one, np.square(amounts - 1).sum() / 300).sum()
    assert_allclose(found.null_log_likelihood, expected, rtol=1e-12)
    found = likely.GLM("negative-binomial", fit_intercept=False).fit(X, counts).inference_
    best = minimize_scalar(
        lambda log_alpha: -NegativeBinomial(np.exp(log_alpha)).log_prob(counts, one).sum()
    )
    assert_allclose(found.null_log_likelihood, -best.fun, rtol=1e-9)


def test_a_constant_response_has_nothing_to_be_explained():
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.random.default_rng(1).normal(size=40)
    model = likely.GLM("gaussian").fit(X, y)
    assert np.isnan(model.score(X, np.full(40, 3.0)))


@pytest.mark.parametrize("reference", [None, "a", "c"])
def test_the_null_model_of_classes_has_their_shares_whichever_is_the_reference(reference):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.choice(list("abc"), 200, p=[0.5, 0.3, 0.2])
    model = likely.SoftmaxRegression(l2=0.0, reference=reference, solver="newton").fit(X, y)
    counts = np.unique(y, return_counts=True)[1]
    assert_allclose(model.solution_.trace[0], -counts @ np.log(counts / 200), rtol=1e-12)
    assert_allclose(model.inference_.null_log_likelihood, counts @ np.log(counts / 200), rtol=1e-9)


def test_the_score_of_several_responses_is_the_mean_of_theirs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    Y = X @ rng.normal(size=(2, 3)) + rng.normal(size=(60, 3))
    model = likely.LinearRegression().fit(X, Y)
    assert_allclose(model.score(X, Y), r2_score(Y, model.predict(X)))
    one = likely.LinearRegression().fit(X, Y[:, 0])
    assert_allclose(one.score(X, Y[:, 0]), r2_score(Y[:, 0], one.predict(X)))
    with pytest.raises(InvalidInput):
        one.score(X, Y)


def test_the_passes_of_an_estimated_alpha_are_those_of_its_search_too():
    X, y, _ = rates()
    y = np.random.default_rng(1).poisson(y * np.random.default_rng(2).gamma(2.0, 0.5, 400))
    whole = likely.GLM("negative-binomial").fit(X, y)
    alone = likely.GLM(NegativeBinomial(whole.alpha_)).fit(X, y)
    assert whole.solution_.passes > alone.solution_.passes


@pytest.mark.parametrize(
    ("response", "link", "eta", "valid"),
    [
        ("poisson", "identity", -1.0, "needs it above 0"),
        ("bernoulli", "log", 1.0, "needs it below 0"),
        ("bernoulli", "identity", 2.0, "needs it between 0 and 1"),
    ],
)
def test_a_warning_says_which_predictors_a_link_needs(response, link, eta, valid):
    with pytest.warns(OutsideLink, match=valid):
        warn_outside(likelihood_of(response, link), np.array([eta]), "it is nan")
