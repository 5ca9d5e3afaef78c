"""The value and the gradient of Firth's penalised likelihood."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.compute.executor import Serial, Threads
from likely.data.block import ArrayBlocks
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Intercept, Mixed
from likely.differences import check_gradient
from likely.likelihoods import likelihood_of
from likely.objectives.firth import FirthObjective


def objective(seed, rows=30, executor=None, layout="dense"):
    rng = np.random.default_rng(seed)
    numbers, codes = rng.normal(size=(30, 2)), rng.integers(-1, 1, (30, 1)).astype(np.int32)
    full = np.hstack([numbers, codes == [0]])
    X = Dense(full) if layout == "dense" else Mixed(numbers, codes, (1,))
    y, weight = (rng.random(30) < 0.4).astype(float), rng.uniform(0.2, 2, 30)
    blocks = ArrayBlocks(Intercept(X), y, weight, rng.normal(size=30), rows_per_block=rows)
    return FirthObjective(likelihood_of("bernoulli"), blocks, executor or Serial()), full, y, weight


@given(seed=st.integers(0, 999))
@settings(max_examples=8)
def test_the_gradient_is_the_derivative_of_the_value(seed):
    f, *_ = objective(seed)
    theta = 0.5 * np.random.default_rng(seed + 1).normal(size=4)
    error = check_gradient(
        lambda t: f.second_order(t).value, lambda t: f.second_order(t).gradient, theta
    )
    assert error < 1e-6


def test_the_value_has_half_the_log_determinant_of_the_information():
    f, X, y, weight = objective(0)
    offset, theta = f.blocks.offset, np.array([0.3, -0.2, 0.5, 0.1])
    A = np.column_stack([X, np.ones(30)])
    eta = A @ theta + offset
    p = 1 / (1 + np.exp(-eta))
    information = A.T * (weight * p * (1 - p)) @ A
    nll = np.sum(weight * (np.logaddexp(0, eta) - y * eta))
    here = f.second_order(theta)
    assert_allclose(here.value, nll - np.linalg.slogdet(information)[1] / 2)
    assert_allclose(here.hessian, information)


@pytest.mark.parametrize(
    "options", [{"rows": 7}, {"rows": 7, "executor": Threads(2)}, {"layout": "codes"}]
)
def test_cuts_executors_and_layouts_agree(options):
    theta = np.array([0.3, -0.2, 0.5, 0.1])
    one, other = objective(1)[0].second_order(theta), objective(1, **options)[0].second_order(theta)
    assert_allclose(other.value, one.value, rtol=1e-12)
    assert_allclose(other.gradient, one.gradient, rtol=1e-10, atol=1e-12)
