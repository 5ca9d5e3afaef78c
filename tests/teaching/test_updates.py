"""One update routine equals the gradient step of each model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely import GLM, LinearRegression, LogisticRegression
from likely.distributions import normal_cdf
from likely.likelihoods import likelihood_of
from likely.solvers import FixedStep, gradient_step, minimise
from likely.special import exp, expit, identity
from likely.teaching.losses import canonical_update

MEANS = {"gaussian": identity, "bernoulli": expit, "poisson": exp}


def some_data(seed, response):
    rng = np.random.default_rng(seed)
    X, theta = np.column_stack([np.ones(30), rng.normal(size=(30, 2))]), 0.3 * rng.normal(size=3)
    return X, likelihood_of(response).sample(X @ theta, rng)


OWN = {
    "gaussian": LinearRegression(fit_intercept=False),
    "bernoulli": LogisticRegression(fit_intercept=False, l2=0.0),
    "poisson": GLM("poisson", fit_intercept=False),
}


@pytest.mark.parametrize("response", MEANS)
@given(seed=st.integers(0, 999))
def test_it_is_the_gradient_step_of_the_model(response, seed):
    """LR-18, REG-13: one update for linear and logistic regression, by passing the mean."""
    X, y = some_data(seed, response)
    if response == "bernoulli" and len(set(y)) == 1:
        y[0] = 1 - y[0]
    theta, t = 0.5 * np.random.default_rng(seed + 1).normal(size=3), 0.001  # exp stays small
    objective = OWN[response].objective(X, y)
    own = gradient_step(objective, theta, t)
    shared = canonical_update(theta, X, y=y, mean=MEANS[response], step=t)
    assert_allclose(shared, own, rtol=1e-12, atol=1e-12)
    searched = minimise(FixedStep(t), objective, theta, tol=0.0, max_iter=1).theta
    assert_allclose(searched, own, rtol=1e-12, atol=1e-12)


def test_another_link_needs_another_update():
    """The probit is not canonical: its gradient step differs."""
    X, y = some_data(0, "bernoulli")
    probit = LogisticRegression("probit", fit_intercept=False, l2=0.0).objective(X, y)
    shared = canonical_update(np.ones(3), X, y=y, mean=normal_cdf, step=0.02)
    assert np.abs(gradient_step(probit, np.ones(3), 0.02) - shared).max() > 1e-3


def test_repeated_it_reaches_least_squares():
    X, y = some_data(0, "gaussian")
    theta, t = np.zeros(3), 1 / np.linalg.eigvalsh(X.T @ X).max()
    for _ in range(200):
        theta = canonical_update(theta, X, y=y, mean=identity, step=t)
    assert_allclose(theta, np.linalg.lstsq(X, y)[0], atol=1e-8)
