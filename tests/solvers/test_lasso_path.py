"""The lasso path: each penalty's optimum, its certificate, factors, weights and a reference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import enet_path

from likely.data.block import ArrayBlocks
from likely.data.layouts.base import Csr
from likely.data.layouts.dense import Dense
from likely.likelihoods.gaussian import Gaussian
from likely.links import Identity
from likely.objectives.columns import Columns, LeastSquaresColumns
from likely.solvers.coordinate_descent import CoordinateDescent
from likely.solvers.lasso_path import lasso_path
from likely.solvers.minimise import minimise

LINEAR = Gaussian().with_link(Identity())
seeds = st.integers(0, 9999)
few = settings(max_examples=8)


def some_data(seed, n=50, p=80, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 1)) + 2.0  # correlated, far from 0
    return X, X[:, :5].sum(axis=1) + noise * rng.normal(size=n)


def path(X, y, *, weight=None, offset=None, layout=Dense, **settings):
    objective = LeastSquaresColumns.of(ArrayBlocks(layout(X), y, weight, offset))
    return lasso_path(objective, **{"n_penalties": 20, "ratio": 1e-2, "tol": 1e-10, **settings})


def alone(X, y, penalty, *, weight=None, l1_ratio=1.0, factors=1.0):
    """One penalty by coordinate descent on columns."""
    l1, l2 = penalty * l1_ratio * factors, penalty * (1 - l1_ratio) * factors
    objective = Columns.of(LINEAR, ArrayBlocks(Dense(X), y, weight), l1=l1, l2=l2)
    return minimise(CoordinateDescent(), objective, np.zeros(X.shape[1] + 1), tol=1e-13)


def value(X, y, beta, b, penalty, l1_ratio=1.0):
    size = l1_ratio * np.abs(beta).sum() + 0.5 * (1 - l1_ratio) * beta @ beta
    return 0.5 * np.sum((y - X @ beta - b) ** 2) + penalty * size


@pytest.mark.parametrize("l1_ratio", [1.0, 0.6])
@few
@given(seed=seeds)
def test_the_path_equals_its_penalties_solved_alone(l1_ratio, seed):
    X, y = some_data(seed)
    found = path(X, y, l1_ratio=l1_ratio)
    assert (found.gaps <= 1e-10).all()
    for i in (0, 5, 12, 19):
        best = alone(X, y, found.penalties[i], l1_ratio=l1_ratio)
        assert_allclose(found.coefficients[i], best.theta[:-1], atol=2e-4)
        assert_allclose(found.intercepts[i], best.theta[-1], atol=2e-3)
        here = value(X, y, found.coefficients[i], found.intercepts[i], found.penalties[i], l1_ratio)
        assert_allclose(here, best.trace[-1], rtol=1e-6)


@few
@given(seed=seeds, tol=st.sampled_from([1e-2, 1e-4, 1e-7]))
def test_the_gap_bounds_the_distance_to_every_optimum(seed, tol):
    X, y = some_data(seed)
    found = path(X, y, tol=tol)
    null = 0.5 * np.sum((y - y.mean()) ** 2)
    assert (found.gaps <= tol).all()
    for i in range(0, 20, 4):
        here = value(X, y, found.coefficients[i], found.intercepts[i], found.penalties[i])
        best = alone(X, y, found.penalties[i]).trace[-1]
        assert best - 1e-9 * null <= here <= best + found.gaps[i] * null + 1e-9 * null


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_it_agrees_with_scikit_learn(l1_ratio):
    X, y = some_data(1)
    Xc, yc = X - X.mean(axis=0), y - y.mean()
    found = path(X, y, l1_ratio=l1_ratio, tol=1e-12)
    alphas = found.penalties / len(y)
    _, theirs, _ = enet_path(
        Xc, yc, l1_ratio=l1_ratio, alphas=alphas, tol=1e-12, max_iter=1_000_000
    )
    assert_allclose(found.coefficients, theirs.T, atol=1e-4)


def test_the_first_penalty_is_the_least_that_leaves_nothing():
    X, y = some_data(2)
    found = path(X, y, n_penalties=3, ratio=0.9)
    assert found.n_active[0] == 0
    assert found.n_active[1] > 0
    assert_allclose(found.penalties[0], np.abs(X.T @ (y - y.mean())).max())
    assert_allclose(found.penalties, found.penalties[0] * np.geomspace(1, 0.9, 3))


def test_sparse_columns_give_the_same_path():
    X, y = some_data(3)
    X = X * (np.random.default_rng(3).random(X.shape) < 0.3)
    dense = path(X, y)
    kept = path(X, y, layout=lambda X: Csr(sparse.csr_array(X)))
    assert_allclose(kept.coefficients, dense.coefficients, atol=1e-6)


@few
@given(seed=seeds)
def test_a_weight_of_two_is_a_row_twice_and_of_zero_none(seed):
    X, y = some_data(seed)
    weight = np.random.default_rng(seed).integers(0, 3, 50)
    rows = np.repeat(np.arange(50), weight)
    weighted, repeated = path(X, y, weight=weight, tol=1e-12), path(X[rows], y[rows], tol=1e-12)
    assert_allclose(weighted.penalties, repeated.penalties)
    assert_allclose(weighted.coefficients, repeated.coefficients, atol=1e-7)
    assert_allclose(weighted.intercepts, repeated.intercepts, atol=1e-7)


def test_a_factor_is_a_column_in_other_units():
    """Penalty factor f on x_j is factor 1 on x_j / f."""
    X, y = some_data(4)
    factors = np.linspace(0.5, 2.0, 80)
    scaled, plain = path(X, y, factors=factors), path(X / factors, y)
    assert_allclose(scaled.penalties, plain.penalties)
    assert_allclose(scaled.coefficients, plain.coefficients / factors, atol=1e-4)


def test_a_factor_of_zero_leaves_its_column_free():
    X, y = some_data(5)
    factors = np.ones(80)
    factors[7] = 0.0
    found = path(X, y, factors=factors)
    assert (found.coefficients[:, 7] != 0).all()
    for i in (0, 10, 19):
        residual = y - X @ found.coefficients[i] - found.intercepts[i]
        assert_allclose([X[:, 7] @ residual, residual.sum()], 0.0, atol=1e-8)
        best = alone(X, y, found.penalties[i], factors=factors)
        # coordinate descent stops at a gap of 1e-13 of the objective: the root of it in weights
        assert_allclose(found.coefficients[i], best.theta[:-1], atol=1e-5)


def test_an_offset_is_taken_from_y():
    X, y = some_data(6)
    offset = np.random.default_rng(6).normal(size=50)
    with_it, without = path(X, y + offset, offset=offset), path(X, y)
    assert_allclose(with_it.coefficients, without.coefficients, atol=1e-8)


def test_without_an_intercept_the_path_goes_through_zero():
    X, y = some_data(7)
    found = path(X, y, intercept=False)
    assert_allclose(found.intercepts, 0.0, rtol=0, atol=0)
    assert_allclose(found.penalties[0], np.abs(X.T @ y).max())
    assert (found.gaps <= 1e-10).all()


def test_columns_of_zeros_and_of_ones_and_twins_do_no_harm():
    X, y = some_data(8)
    X[:, 10], X[:, 11], X[:, 12] = 0.0, 1.0, X[:, 0]
    found = path(X, y)
    assert (found.gaps <= 1e-10).all()
    assert_allclose(found.coefficients[:, 10:12], 0.0, rtol=0, atol=0)


def test_a_constant_response_has_no_path():
    X, _ = some_data(9)
    found = path(X, np.full(50, 3.0))
    assert_allclose(found.coefficients, 0.0, rtol=0, atol=0)
    assert_allclose(found.intercepts, 3.0)


def test_many_penalties_share_a_pass_over_the_data():
    X, y = some_data(10, n=200, p=400, noise=0.01)
    found = path(X, y, n_penalties=100, tol=1e-4)
    assert (found.gaps <= 1e-4).all()
    assert found.passes < 60


def test_penalties_may_be_given_in_any_order():
    X, y = some_data(11)
    found = path(X, y, penalties=np.array([10.0, 40.0, 20.0]))
    assert_allclose(found.penalties, [40.0, 20.0, 10.0])
    assert_allclose(found.coefficients[1], alone(X, y, 20.0).theta[:-1], atol=2e-4)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_penalty_of_a_wide_correlated_table_reaches_its_gap(seed):
    """Fewer rows than columns, correlation 0.9, down to a perfect fit: sweeps alone crawl."""
    rng = np.random.default_rng(seed)
    X = np.sqrt(0.1) * rng.normal(size=(60, 300)) + np.sqrt(0.9) * rng.normal(size=(60, 1))
    y = X[:, :10] @ rng.normal(size=10) + rng.normal(size=60)
    found = path(X, y, n_penalties=60, ratio=1e-3, tol=1e-6)
    assert (found.gaps <= 1e-6).all()
    unit = 0.5 * np.sum((y - y.mean()) ** 2)
    for i in range(0, 60, 7):  # the gap once more, from the data alone
        beta, penalty = found.coefficients[i], found.penalties[i]
        r = y - X @ beta - found.intercepts[i]
        dual = r * min(1.0, penalty / np.abs(X.T @ r).max())
        gap = value(X, y, beta, found.intercepts[i], penalty) - y @ dual + 0.5 * dual @ dual
        assert -1e-9 * unit <= gap <= 1.01e-6 * unit


def test_repeated_columns_do_not_stop_the_path():
    """The coefficients that are not 0 then have a singular Gram matrix."""
    X, y = some_data(3, n=30, p=20)
    found = path(np.hstack([X, X, X[:, ::-1]]), y, ratio=1e-4)
    assert (found.gaps <= 1e-10).all()
    single = path(X, y, penalties=found.penalties)
    fitted = found.coefficients.reshape(20, 3, 20)
    fitted[:, 2] = fitted[:, 2, ::-1]
    assert_allclose(fitted.sum(axis=1), single.coefficients, atol=1e-3)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.6, 0.1])
def test_the_gap_is_that_of_its_formula_and_bounds_what_is_left(l1_ratio):
    """At a loose tolerance, where the gap is far from 0; the ridge counts as rows of data."""
    X, y = some_data(5, n=40, p=30)
    found = path(X, y, l1_ratio=l1_ratio, tol=1e-2, n_penalties=12)
    tight = path(X, y, l1_ratio=l1_ratio, tol=1e-12, penalties=found.penalties)
    unit = 0.5 * np.sum((y - y.mean()) ** 2)
    assert found.gaps.max() > 1e-4
    for i, penalty in enumerate(found.penalties):
        beta, b = found.coefficients[i], found.intercepts[i]
        ridge = penalty * (1 - l1_ratio)
        r = y - X @ beta - b
        force = np.abs(X.T @ r - ridge * beta).max()
        s = min(1.0, penalty * l1_ratio / force)
        here = value(X, y, beta, b, penalty, l1_ratio)
        gap = here - s * (y @ r) + s**2 / 2 * (r @ r + ridge * beta @ beta)
        assert_allclose(found.gaps[i] * unit, gap, rtol=1e-9, atol=1e-9 * unit)
        least = value(X, y, tight.coefficients[i], tight.intercepts[i], penalty, l1_ratio)
        assert here - least <= gap + 1e-9 * unit
