"""A Cholesky factor that units do not touch, and that passes over dependent columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import LinAlgError

from likely.numerics.cholesky import factorise, inverse_root


def gram(seed, d=4, n=20):
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X.T @ X


@given(seed=st.integers(0, 999), several=st.booleans())
def test_it_solves_inverts_and_has_the_determinant(seed, several):
    H = gram(seed)
    factor = factorise(H)
    right = np.random.default_rng(seed).normal(size=(4, 3) if several else 4)
    assert_allclose(factor.solve(right), np.linalg.solve(H, right), rtol=1e-8, atol=1e-10)
    assert_allclose(factor.inverse(), np.linalg.inv(H), rtol=1e-8, atol=1e-10)
    assert_allclose(factor.log_determinant(), np.linalg.slogdet(H)[1], rtol=1e-9, atol=1e-9)
    assert factor.held == ()


@given(seed=st.integers(0, 999), power=st.integers(-12, 12))
def test_the_units_of_the_columns_do_not_matter(seed, power):
    H, units = gram(seed), np.array([1.0, 10.0**power, 1.0, 10.0 ** (-power)])
    right = np.arange(1.0, 5)
    plain = factorise(H).solve(right)
    scaled = factorise(units[:, None] * H * units).solve(units * right)
    assert_allclose(scaled * units, plain, rtol=1e-7)


@pytest.mark.parametrize("first", [0, 1])
def test_a_column_that_earlier_ones_explain_is_held(first):
    X = np.random.default_rng(0).normal(size=(20, 5))
    X[:, 3] = X[:, first] - 2 * X[:, 2]
    factor = factorise(X.T @ X)
    assert factor.held == (3,)
    right = X.T @ np.arange(20.0)
    kept = [0, 1, 2, 4]
    found = factor.solve(right)
    assert found[3] == 0
    assert_allclose(found[kept], np.linalg.lstsq(X[:, kept], np.arange(20.0))[0], rtol=1e-8)
    assert np.isnan(factor.inverse()[3]).all()
    assert np.isfinite(factor.inverse()[np.ix_(kept, kept)]).all()
    smaller = X[:, kept].T @ X[:, kept]
    assert_allclose(factor.log_determinant(), np.linalg.slogdet(smaller)[1], rtol=1e-9)


def test_a_column_of_zeros_is_held():
    H = gram(0)
    H[2] = H[:, 2] = 0
    factor = factorise(H)
    assert factor.held == (2,)
    assert factor.solve(np.ones(4))[2] == 0


def test_columns_that_nearly_depend_are_still_solved():
    X = np.random.default_rng(0).normal(size=(50, 2))
    X = np.column_stack([X, X[:, 0] + 1e-4 * X[:, 1] + 1e-4 * np.arange(50) / 50])
    assert factorise(X.T @ X).held == ()


@pytest.mark.parametrize(
    "H",
    [
        np.diag([1.0, -1.0]),
        np.array([[1.0, 2.0], [2.0, 1.0]]),
        np.diag([1.0, np.nan]),
        np.diag([1.0, np.inf]),
    ],
    ids=["negative", "indefinite", "nan", "inf"],
)
def test_what_is_not_positive_semidefinite_is_refused(H):
    with pytest.raises(LinAlgError):
        factorise(H)


ROOT = np.random.default_rng(0).normal(size=(3, 5))


@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e12])
def test_whitening_inverts_and_the_determinant_is_right(scale):
    columns = np.array([1.0, scale, 1 / scale])  # columns of any size are treated alike
    S = (ROOT @ ROOT.T) * np.multiply.outer(columns, columns)
    factor = inverse_root(S)
    W = factor.root
    assert factor.rank == 3
    assert_allclose(W.T @ S @ W, np.eye(3), rtol=1e-10, atol=1e-9)
    expected = np.linalg.slogdet(ROOT @ ROOT.T)[1] + 2 * np.log(columns).sum()
    assert_allclose(factor.log_determinant, expected, rtol=1e-10, atol=1e-9)


def test_a_constant_column_is_left_out():
    S = np.zeros((3, 3))
    S[:2, :2] = [[2.0, 1.0], [1.0, 3.0]]
    factor = inverse_root(S)
    assert factor.rank == 2
    assert_allclose(factor.log_determinant, np.log(5.0))
    assert_allclose(factor.root @ factor.root.T, np.linalg.pinv(S), rtol=1e-10, atol=1e-12)


def test_nothing_observed_has_an_empty_factor():
    factor = inverse_root(np.zeros((0, 0)))
    assert (factor.rank, factor.log_determinant) == (0, 0.0)


def test_the_least_pivot_is_the_share_that_others_leave():
    X = np.random.default_rng(0).normal(size=(20, 3))
    X[:, 2] = X[:, 0] + 1e-3 * X[:, 2]
    rest = X[:, 2] - X[:, :2] @ np.linalg.lstsq(X[:, :2], X[:, 2])[0]
    share = rest @ rest / (X[:, 2] @ X[:, 2])
    assert_allclose(factorise(X.T @ X).least_pivot, share, rtol=1e-6)
    assert factorise(np.zeros((2, 2))).least_pivot == 1.0
