"""Firth's penalised likelihood: its derivatives, tables with an answer, a search by brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit

import likely
from likely.compute.executor import Serial, Threads
from likely.data.block import ArrayBlocks
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Intercept, Mixed
from likely.differences import check_gradient
from likely.likelihoods import likelihood_of
from likely.linear.logistic import FirthObjective


def firth(X, y, **options):
    model = likely.LogisticRegression(firth=True, tol=1e-14, **options).fit(X, y)
    return np.append(model.coef_, model.intercept_)


def penalised(theta, A, y, weight):
    """−ℓ(θ) − ½ ln |AᵀWA|, as Heinze and Schemper write it."""
    eta = A @ theta
    p = expit(eta)
    information = A.T * (weight * p * (1 - p)) @ A
    nll = np.sum(weight * (np.logaddexp(0, eta) - y * eta))
    return nll - np.linalg.slogdet(information)[1] / 2


def brute_force(A, y, weight):
    found = np.zeros(A.shape[1])
    for _ in range(3):  # a simplex restarted where it stopped
        found = minimize(
            penalised,
            found,
            args=(A, y, weight),
            method="Nelder-Mead",
            options={"xatol": 1e-10, "fatol": 1e-13, "maxiter": 10_000, "maxfev": 10_000},
        ).x
    return found


@pytest.mark.parametrize("table", [(7, 3, 2, 8), (5, 5, 0, 10), (6, 0, 0, 4)])
def test_a_two_by_two_table_has_half_an_example_more_in_every_cell(table):
    """A saturated model: Jeffreys' prior is Haldane's and Anscombe's ½ (Firth 1993, §3.3)."""
    a, b, c, d = table  # exposed with and without the event, unexposed with and without
    X = np.repeat([1.0, 1.0, 0.0, 0.0], table)[:, None]
    y = np.repeat([1, 0, 1, 0], table)
    low, high = np.log((c + 0.5) / (d + 0.5)), np.log((a + 0.5) / (b + 0.5))
    assert_allclose(firth(X, y), [high - low, low], rtol=1e-6)


def test_one_proportion_is_half_an_example_from_either_end():
    y = np.array([0, 0, 0, 1])
    X = np.ones((4, 1))
    model = likely.LogisticRegression(firth=True, fit_intercept=False, tol=1e-14).fit(X, y)
    assert_allclose(model.coef_[0, 0], np.log(1.5 / 3.5), rtol=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("separated", [True, False])
def test_it_is_what_brute_force_finds(intercept, separated):
    """To 1e-5: a simplex on a function known to 1e-13 finds its minimum to about its root."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 2)) + 1
    y = (X[:, 0] > 1 if separated else X[:, 0] - 1 + rng.logistic(size=30) > 0).astype(int)
    weight = rng.integers(1, 3, 30).astype(float)
    A = np.column_stack([X, np.ones(30)]) if intercept else X
    model = likely.LogisticRegression(firth=True, fit_intercept=intercept, tol=1e-14)
    model.fit(X, y, weight)
    found = np.append(model.coef_, model.intercept_)[: A.shape[1]]
    assert_allclose(found, brute_force(A, y, weight), rtol=1e-5, atol=1e-5)
    assert_allclose(model.solution_.trace[-1], penalised(found, A, y, weight), rtol=1e-9)


def test_units_and_origins_do_not_matter():
    """Jeffreys' prior is invariant: the intercept follows, with no penalty of its own."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] + rng.logistic(size=40) > 1).astype(int)
    plain, moved = firth(X, y), firth(X * [10.0, 0.1] + [300.0, -7.0], y)
    assert_allclose(moved[:2] * [10.0, 0.1], plain[:2], rtol=1e-6)
    assert_allclose(moved[2] + moved[:2] @ [300.0, -7.0], plain[2], rtol=1e-5)


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


def test_as_many_coefficients_as_the_limit_are_each_tested(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] + rng.logistic(size=40) > 0).astype(int)
    for most, tested in ((3, True), (2, False)):
        monkeypatch.setattr("likely.linear.logistic.MOST_RATIOS", most)
        found = likely.LogisticRegression(l2=0.0, firth=True).fit(X, y).inference_
        assert np.isfinite(found.firth_ratios).all() == tested
