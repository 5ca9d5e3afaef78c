"""Totals of least squares over blocks, and the intercept taken out exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from likely.data.block import ArrayBlocks
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Intercept
from likely.numerics.additive import pairwise_total
from likely.objectives.least_squares import block_factor, block_gram, without_intercept
from likely.solvers.least_squares import solve_normal_equations, solve_qr

several = pytest.mark.parametrize("shape", [(), (2,)], ids=["one", "several"])


def some(seed, shape, n=25):
    rng = np.random.default_rng(seed)
    X = rng.normal(5, 1, (n, 3))
    y, weight, offset = rng.normal(100, 1, (n, *shape)), rng.uniform(0.1, 2, n), rng.normal(size=n)
    return X, y, weight, offset


def totals(term, X, y, weight, offset, rows=6):
    blocks = ArrayBlocks(Intercept(Dense(X)), y, weight, offset, rows_per_block=rows)
    return pairwise_total(term(block) for block in blocks)


def left(y, offset):
    return y - (offset if y.ndim == 1 else offset[:, None])


@several
@given(seed=st.integers(0, 999))
def test_the_gram_matrix_is_the_weighted_one_of_shifted_responses(shape, seed):
    X, y, weight, offset = some(seed, shape)
    shift = np.full(shape, 99.0)
    found = totals(lambda block: block_gram(shift, block), X, y, weight, offset)
    A, r = np.column_stack([X, np.ones(25)]), left(y, offset) - 99.0
    assert_allclose(found.gram, A.T * weight @ A)
    assert_allclose(found.moment, A.T @ (weight * r.T).T, rtol=1e-9, atol=1e-9)
    assert_allclose(found.squares, weight @ r**2)
    assert_allclose(found.weight, weight.sum())


@several
@given(seed=st.integers(0, 999))
def test_without_the_intercept_they_are_those_of_centred_columns(shape, seed):
    X, y, weight, offset = some(seed, shape)
    shift = np.full(shape, 99.0)
    gram = totals(lambda block: block_gram(shift, block), X, y, weight, offset)
    found = without_intercept(gram)
    mean = np.average(X, axis=0, weights=weight)
    r = left(y, offset) - 99.0
    centred, rest = X - mean, r - np.average(r, axis=0, weights=weight)
    assert_allclose(found.mean_x, mean)
    assert_allclose(found.totals.gram, centred.T * weight @ centred, rtol=1e-8, atol=1e-8)
    assert_allclose(found.totals.moment, centred.T @ (weight * rest.T).T, rtol=1e-7, atol=1e-7)
    coef = solve_normal_equations(found.totals).theta
    A, root = np.column_stack([X, np.ones(25)]), np.sqrt(weight)
    expected = np.linalg.lstsq(root[:, None] * A, (root * r.T).T)[0]
    assert_allclose(coef, expected[:3], rtol=1e-7, atol=1e-9)
    assert_allclose(found.intercept(coef), expected[3], rtol=1e-7, atol=1e-9)


@several
def test_the_factor_leaves_the_intercept_out_and_solves_the_same(shape):
    X, y, weight, offset = some(0, shape)
    shift = np.full(shape, 99.0)
    gram = without_intercept(totals(lambda b: block_gram(shift, b), X, y, weight, offset))
    shifted = shift + gram.mean_y
    factor = totals(lambda b: block_factor(gram.mean_x, shifted, b), X, y, weight, offset)
    assert_allclose(solve_qr(factor).theta, solve_normal_equations(gram.totals).theta, rtol=1e-8)


def test_a_shift_near_the_mean_keeps_the_digits():
    """Σ(y − ȳ)² of numbers about 1e8 is lost in Σy²."""
    rng = np.random.default_rng(0)
    X, noise, ones = rng.normal(size=(25, 3)), rng.normal(size=25), np.ones(25)
    y = noise + 1e8
    shift = np.asarray(1e8)
    found = without_intercept(totals(lambda b: block_gram(shift, b), X, y, ones, 0 * ones))
    assert_allclose(found.totals.squares, np.sum((noise - noise.mean()) ** 2), rtol=1e-6)
