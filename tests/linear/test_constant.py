"""The constant model, and scores against it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import likely
from likely.errors import InvalidInput, OutsideLink
from likely.likelihoods.responses import likelihood_of
from likely.linear.constant import constant_mean


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
    import pandas as pd

    frame = pd.DataFrame({"is_b": 3.0 * (colour == "b"), "colour": colour})
    with pytest.warns(likely.errors.RedundantColumns, match=r"colour\[b\]"):
        model = likely.GLM("poisson").fit(frame, rng.poisson(1.0, 200))
    assert np.isfinite(model.inference_.standard_errors[-1])


def test_a_covariance_that_is_unknown_is_refused_for_several_responses_too():
    X, y, _ = rates()
    with pytest.raises(InvalidInput, match="There is no covariance 'bogus'"):
        likely.LinearRegression(covariance="bogus").fit(X, np.column_stack([y, y]))


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
