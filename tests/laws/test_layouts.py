"""Every layout of a design equals the dense matrix it stands for, in every verb."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from likely.data.design import Csr, Dense, Intercept, Mixed, Standardised


def dense(rng, n):
    X = rng.normal(size=(n, 4))
    return Dense(X), X


def integers(rng, n):
    X = rng.integers(-3, 4, size=(n, 3)).astype(np.int8)
    return Dense(X), X.astype(float)


def csr(rng, n):
    X = rng.normal(size=(n, 5)) * (rng.random((n, 5)) < 0.4)
    return Csr(sparse.csr_array(X)), X


def mixed(rng, n, dtype=np.int32, sizes=(3, 1, 2), n_numeric=2):
    numeric = rng.normal(size=(n, n_numeric))
    codes = np.column_stack([rng.integers(-1, size, n) for size in sizes]).astype(dtype)
    indicators = [codes[:, [j]] == np.arange(size) for j, size in enumerate(sizes)]
    return Mixed(numeric, codes, sizes), np.hstack([numeric, *indicators]).astype(float)


def only_codes(rng, n):
    return mixed(rng, n, n_numeric=0)


def narrow_codes(rng, n):
    """More columns than int8 can count: column numbers must not wrap."""
    return mixed(rng, n, dtype=np.int8, sizes=(100, 100))


PLAIN = [dense, integers, csr, mixed, only_codes, narrow_codes]


def with_intercept(make):
    def made(rng, n):
        design, X = make(rng, n)
        return Intercept(design), np.column_stack([X, np.ones(n)])

    return made


def standardised(make):
    def made(rng, n):
        design, X = make(rng, n)
        centre, scale = rng.normal(size=X.shape[1]), rng.uniform(0.5, 2, size=X.shape[1])
        return Standardised(design, centre, scale), (X - centre) / scale

    return made


LAYOUTS = {
    **{make.__name__: make for make in PLAIN},
    **{f"{make.__name__} with intercept": with_intercept(make) for make in PLAIN},
    **{f"{make.__name__} standardised": standardised(make) for make in PLAIN},
    **{
        f"{make.__name__} standardised with intercept": with_intercept(standardised(make))
        for make in PLAIN
    },
}

every_layout = pytest.mark.parametrize("make", LAYOUTS.values(), ids=LAYOUTS.keys())
few = settings(max_examples=15, deadline=None)
cases = given(seed=st.integers(0, 2**32 - 1), n=st.integers(0, 12))


@every_layout
@few
@cases
def test_shape_is_that_of_the_matrix(make, seed, n):
    design, X = make(np.random.default_rng(seed), n)
    assert (design.n_rows, design.n_features) == X.shape


@every_layout
@few
@cases
def test_matmat_is_the_product(make, seed, n):
    rng = np.random.default_rng(seed)
    design, X = make(rng, n)
    for theta in (rng.normal(size=X.shape[1]), rng.normal(size=(X.shape[1], 3))):
        assert_allclose(design.matmat(theta), X @ theta, rtol=1e-9, atol=1e-9)


@every_layout
@few
@cases
def test_rmatmat_is_the_product_with_the_transpose(make, seed, n):
    rng = np.random.default_rng(seed)
    design, X = make(rng, n)
    for residual in (rng.normal(size=n), rng.normal(size=(n, 3))):
        assert_allclose(design.rmatmat(residual), X.T @ residual, rtol=1e-9, atol=1e-9)


@every_layout
@few
@cases
def test_sandwich_is_the_weighted_gram_matrix(make, seed, n):
    rng = np.random.default_rng(seed)
    design, X = make(rng, n)
    d = rng.uniform(0, 2, size=n)
    gram = X.T @ np.diag(d) @ X
    assert_allclose(design.sandwich(d), gram, rtol=1e-9, atol=1e-9)
    columns = rng.permutation(X.shape[1])[:2]
    part = design.sandwich(d, columns)
    assert_allclose(part, gram[np.ix_(columns, columns)], rtol=1e-9, atol=1e-9)


@every_layout
@few
@cases
def test_row_quadratic_is_the_diagonal_of_the_product(make, seed, n):
    rng = np.random.default_rng(seed)
    design, X = make(rng, n)
    M = rng.normal(size=(X.shape[1], X.shape[1]))
    assert_allclose(design.row_quadratic(M), np.diag(X @ M @ X.T), rtol=1e-9, atol=1e-8)


@every_layout
@few
@given(seed=st.integers(0, 999), n=st.integers(1, 12), cut=st.data())
def test_rows_are_the_rows(make, seed, n, cut):
    rng = np.random.default_rng(seed)
    design, X = make(rng, n)
    start = cut.draw(st.integers(0, n))
    stop = cut.draw(st.integers(start, n))
    theta = rng.normal(size=X.shape[1])
    part = design.rows(start, stop)
    assert part.n_rows == stop - start
    assert_allclose(part.matmat(theta), X[start:stop] @ theta, rtol=1e-9, atol=1e-9)


@every_layout
def test_stored_is_what_was_given(make):
    design, _ = make(np.random.default_rng(0), 7)
    inner = design
    while isinstance(inner, Intercept | Standardised):
        inner = inner.inner
    stored = design.stored()
    if isinstance(inner, Mixed):
        assert stored.numeric is inner.numeric
        assert stored.codes is inner.codes
    else:
        assert stored is inner.values


@every_layout
def test_bytes_are_those_of_the_stored_arrays(make):
    design, _ = make(np.random.default_rng(0), 7)
    stored = design.stored()
    if isinstance(stored, tuple):
        expected = stored.numeric.nbytes + stored.codes.nbytes
    elif sparse.issparse(stored):
        expected = stored.data.nbytes + stored.indices.nbytes + stored.indptr.nbytes
    else:
        expected = stored.nbytes
    assert design.nbytes == expected > 0
