"""Coordinate descent on columns: the optimum, the certificate, weights, and the references."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression

from likely.data.block import ArrayBlocks
from likely.data.layouts.base import Csr
from likely.data.layouts.dense import Dense
from likely.likelihoods.bernoulli import Bernoulli
from likely.likelihoods.gaussian import Gaussian
from likely.likelihoods.poisson import Poisson
from likely.links import Identity, Log, Logit
from likely.objectives.columns import Columns
from likely.solvers.coordinate_descent import CoordinateDescent
from likely.solvers.minimise import minimise
from likely.solvers.proximal_newton import ProximalNewton
from tests.solver_objectives import Logistic, rare_logistic

LOGIT = Bernoulli().with_link(Logit())
LINEAR = Gaussian().with_link(Identity())
LAYOUTS = {"dense": Dense, "csr": lambda X: Csr(sparse.csr_array(X))}
every_layout = pytest.mark.parametrize("layout", LAYOUTS)
seeds = st.integers(0, 9999)
few = settings(max_examples=10)


def some_data(seed, n=80, p=6, likelihood=LOGIT):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.7) + 0.3
    eta = X[:, 0] - X[:, 1] + 0.5
    y = (rng.random(n) < expit(eta)).astype(float)
    return X, y if likelihood is LOGIT else eta + rng.normal(size=n)


def columns(X, y, likelihood=LOGIT, layout="dense", weight=None, offset=None, **penalty):
    blocks = ArrayBlocks(LAYOUTS[layout](X), y, weight, offset)
    return Columns.of(likelihood, blocks, **penalty)


def solve(objective, tol=1e-12, start=None):
    size = len(objective.l1) + objective.intercept
    start = np.zeros(size) if start is None else start
    return minimise(CoordinateDescent(), objective, start, tol=tol, max_iter=500)


@every_layout
@few
@given(seed=seeds, l1=st.sampled_from([0.3, 2.0, 8.0]), l2=st.sampled_from([0.0, 0.5]))
def test_it_agrees_with_proximal_newton(layout, seed, l1, l2):
    X, y = some_data(seed)
    free = np.append(np.ones(6), 0.0)
    theirs = Logistic(np.column_stack([X, np.ones(80)]), 2 * y - 1, l2 * free, l1 * free)
    best = minimise(ProximalNewton(), theirs, np.zeros(7), tol=1e-15)
    found = solve(columns(X, y, layout=layout, l1=l1, l2=l2))
    assert found.converged, found.reason
    assert_allclose(found.theta, best.theta, atol=1e-6)
    assert_allclose(found.trace[-1], best.trace[-1], rtol=1e-8)


@few
@given(seed=seeds, which=st.sampled_from([LOGIT, LINEAR]), l2=st.sampled_from([0.0, 0.5]))
def test_the_gap_bounds_the_distance_to_the_optimum_at_every_step(seed, which, l2):
    X, y = some_data(seed, n=30, p=50, likelihood=which)
    objective = columns(X, y, which, l1=1.0, l2=l2)
    best = solve(objective, tol=1e-11).trace[-1]
    solver = CoordinateDescent()
    state = solver.init(objective, np.append(np.ones(50), 0.0))
    for _ in range(4):
        assert state.certified
        scale = max(1.0, abs(state.value))
        assert state.gap * scale >= state.value - best - 1e-9 * scale
        if state.gap < 1e-9:
            break
        state = solver.step(objective, state)


@few
@given(seed=seeds, which=st.sampled_from([LOGIT, LINEAR]))
def test_the_end_has_balanced_forces(seed, which):
    X, y = some_data(seed, likelihood=which)
    found = solve(columns(X, y, which, l1=2.0))
    beta, eta = found.theta[:-1], X @ found.theta[:-1] + found.theta[-1]
    g = X.T @ ((expit(eta) if which is LOGIT else eta) - y)
    assert (np.abs(g) <= 2.0 + 1e-5).all()
    assert_allclose(g[beta != 0], -2.0 * np.sign(beta[beta != 0]), atol=1e-5)


@every_layout
def test_the_lasso_agrees_with_scikit_learn(layout):
    X, y = some_data(1, n=60, p=100, likelihood=LINEAR)
    theirs = Lasso(alpha=0.1, tol=1e-12, max_iter=100_000).fit(X, y)
    found = solve(columns(X, y, LINEAR, layout, l1=0.1 * 60), tol=1e-10)
    assert_allclose(found.theta[:-1], theirs.coef_, atol=1e-6)
    assert_allclose(found.theta[-1], theirs.intercept_, atol=1e-6)


def test_the_elastic_net_agrees_with_scikit_learn():
    X, y = some_data(2, n=60, p=100, likelihood=LINEAR)
    theirs = ElasticNet(alpha=0.1, l1_ratio=0.4, tol=1e-12, max_iter=100_000).fit(X, y)
    found = solve(columns(X, y, LINEAR, l1=0.1 * 0.4 * 60, l2=0.1 * 0.6 * 60))
    assert_allclose(found.theta[:-1], theirs.coef_, atol=1e-6)


@every_layout
def test_l1_logistic_regression_agrees_with_liblinear(layout):
    X, y = some_data(3, n=200, p=30)
    theirs = LogisticRegression(
        C=0.5, l1_ratio=1.0, solver="liblinear", fit_intercept=False, tol=1e-10, max_iter=10_000
    ).fit(X, y)
    found = solve(columns(X, y, layout=layout, l1=2.0, intercept=False))
    assert_allclose(found.theta, theirs.coef_[0], atol=1e-5)


@every_layout
@few
@given(seed=seeds, which=st.sampled_from([LOGIT, LINEAR]))
def test_a_weight_of_two_is_a_row_twice_and_of_zero_none(layout, seed, which):
    X, y = some_data(seed, likelihood=which)
    weight = np.random.default_rng(seed).integers(0, 3, 80)
    rows = np.repeat(np.arange(80), weight)
    weighted = solve(columns(X, y, which, layout, weight.astype(float), l1=1.0))
    repeated = solve(columns(X[rows], y[rows], which, layout, l1=1.0))
    assert_allclose(weighted.theta, repeated.theta, atol=1e-6)
    assert_allclose(weighted.trace[-1], repeated.trace[-1], rtol=1e-9)


@few
@given(seed=seeds, which=st.sampled_from([LOGIT, LINEAR]))
def test_a_constant_offset_moves_the_intercept_only(seed, which):
    X, y = some_data(seed, likelihood=which)
    plain = solve(columns(X, y, which, l1=1.0))
    moved = solve(columns(X, y, which, offset=np.full(80, 0.7), l1=1.0))
    assert moved.converged
    assert_allclose(moved.theta[:-1], plain.theta[:-1], atol=1e-6)
    assert_allclose(moved.theta[-1], plain.theta[-1] - 0.7, atol=1e-6)


@every_layout
def test_columns_of_zeros_and_of_ones_get_no_coefficient(layout):
    X, y = some_data(4)
    X = np.column_stack([X, np.zeros(80), np.ones(80)])
    found = solve(columns(X, y, layout=layout, l1=0.5))
    assert found.converged, found.reason
    assert_allclose(found.theta[6:8], 0.0, rtol=0, atol=0)
    assert_allclose(found.theta[:6], solve(columns(X[:, :6], y, l1=0.5)).theta[:-1], atol=1e-6)


def test_a_strong_penalty_leaves_the_intercept_alone():
    X, y = some_data(5)
    found = solve(columns(X, y, l1=1e3))
    assert_allclose(found.theta[:-1], 0.0, rtol=0, atol=0)
    assert_allclose(expit(found.theta[-1]), y.mean(), rtol=1e-10)
    assert found.gap <= 1e-12


def test_columns_far_from_zero_need_few_steps():
    """The intercept is eliminated: beside columns at 1000, plain sweeps would crawl."""
    X, y = some_data(6, likelihood=LINEAR)
    near = solve(columns(X, y, LINEAR, l1=1.0), tol=1e-9)
    far = solve(columns(X + 1000.0, y, LINEAR, l1=1.0), tol=1e-9)
    assert far.converged, far.reason
    assert far.n_iter <= near.n_iter + 5
    assert_allclose(far.theta[:-1], near.theta[:-1], atol=1e-5)


def test_free_columns_get_an_estimated_gap_and_the_right_answer():
    X, y = some_data(7)
    l1 = np.array([0.0, 2.0, 2.0, 2.0, 2.0, 2.0])
    objective = columns(X, y, l1=l1)
    assert not CoordinateDescent().init(objective, np.zeros(7)).certified
    theirs = Logistic(np.column_stack([X, np.ones(80)]), 2 * y - 1, np.zeros(7), np.append(l1, 0))
    best = minimise(ProximalNewton(), theirs, np.zeros(7), tol=1e-15)
    assert_allclose(solve(objective, tol=1e-14).theta, best.theta, atol=1e-5)


def test_a_likelihood_without_a_known_conjugate_is_solved_too():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(200, 8))
    y = rng.poisson(np.exp(0.5 * X[:, 0])).astype(float)
    objective = columns(X, y, Poisson().with_link(Log()), l1=5.0)
    found = solve(objective, tol=1e-13)
    assert found.converged, found.reason
    g = X.T @ (np.exp(X @ found.theta[:-1] + found.theta[-1]) - y)
    beta = found.theta[:-1]
    assert 0 < np.count_nonzero(beta) < 8
    assert (np.abs(g) <= 5.0 + 1e-4).all()
    assert_allclose(g[beta != 0], -5.0 * np.sign(beta[beta != 0]), atol=1e-4)


def test_the_trace_never_rises():
    X, y = some_data(9, n=40, p=100)
    trace = solve(columns(X, y, l1=0.2), tol=1e-10).trace
    assert len(trace) > 2
    assert np.diff(trace).max() <= 1e-11


@pytest.mark.parametrize("l1", [0.0, 1e-3, 0.5])
def test_no_example_is_carried_into_a_flat_tail(l1):
    rare, start, optimum = rare_logistic(l1)
    found = solve(columns(rare.X[:, :1], (rare.sign + 1) / 2, l1=l1), start=start)
    assert found.converged, found.reason
    assert_allclose(found.theta, optimum, rtol=1e-5)


def test_a_free_column_with_a_pull_and_no_curvature_is_no_convergence():
    rare, start, _ = rare_logistic()
    group = np.maximum(np.sign(rare.X[:, :1]), 0.0)
    found = solve(columns(group, (rare.sign + 1) / 2), start=np.array([1000.0, start[1]]))
    assert not found.converged
    assert "flat in parameter 0" in found.reason
