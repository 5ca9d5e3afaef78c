"""One update routine equals the gradient step of each model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.compute.executor import Serial
from likely.data.block import ArrayBlocks
from likely.data.layouts.intercept import Dense
from likely.likelihoods import likelihood_of
from likely.objectives.linear import LinearObjective
from likely.penalties import NoPenalty
from likely.solvers import FixedStep, minimise
from likely.special import exp, expit, identity
from likely.teaching.losses import canonical_update

MEANS = {"gaussian": identity, "bernoulli": expit, "poisson": exp}


def some_data(seed, response):
    rng = np.random.default_rng(seed)
    X, theta = np.column_stack([np.ones(30), rng.normal(size=(30, 2))]), 0.3 * rng.normal(size=3)
    return X, likelihood_of(response).sample(X @ theta, rng)


@pytest.mark.parametrize("response", MEANS)
@given(seed=st.integers(0, 999))
def test_it_is_the_gradient_step_of_the_model(response, seed):
    X, y = some_data(seed, response)
    theta, t = 0.5 * np.random.default_rng(seed + 1).normal(size=3), 0.001  # exp stays small
    objective = LinearObjective(
        likelihood_of(response), NoPenalty(), ArrayBlocks(Dense(X), y), Serial()
    )
    own = minimise(FixedStep(t), objective, theta, tol=0.0, max_iter=1).theta
    shared = canonical_update(theta, X, y=y, mean=MEANS[response], step=t)
    assert_allclose(shared, own, rtol=1e-12, atol=1e-12)


def test_another_link_needs_another_update():
    """The probit is not canonical: its gradient step differs."""
    X, y = some_data(0, "bernoulli")
    probit = likelihood_of("bernoulli", "probit")
    objective = LinearObjective(probit, NoPenalty(), ArrayBlocks(Dense(X), y), Serial())
    own = minimise(FixedStep(0.02), objective, np.ones(3), tol=0.0, max_iter=1).theta
    shared = canonical_update(np.ones(3), X, y=y, mean=probit.mean, step=0.02)
    assert np.abs(own - shared).max() > 1e-3


def test_repeated_it_reaches_least_squares():
    X, y = some_data(0, "gaussian")
    theta, t = np.zeros(3), 1 / np.linalg.eigvalsh(X.T @ X).max()
    for _ in range(200):
        theta = canonical_update(theta, X, y=y, mean=identity, step=t)
    assert_allclose(theta, np.linalg.lstsq(X, y)[0], atol=1e-8)
