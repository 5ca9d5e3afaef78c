"""Every layout of a design equals the dense matrix it stands for, in every verb.

Each law is held to the readable code and to the compiled loops that take over on large blocks.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from likely.data.layouts import base as loops
from likely.data.layouts.base import Csr
from likely.data.layouts.dense import Centred, Dense
from likely.data.layouts.intercept import Intercept, Mixed


@pytest.fixture(params=[10**12, 0], ids=["readable", "compiled"], scope="module", autouse=True)
def _twin(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "FAST_CELLS", request.param)
        yield


def dense(rng, n):
    X = rng.normal(size=(n, 4))
    return Dense(X), X


def integers(rng, n):
    X = rng.integers(-3, 4, size=(n, 3)).astype(np.int8)
    return Dense(X), X.astype(float)


def centred(rng, n):
    X, centre = rng.normal(size=(n, 4)), rng.normal(size=4)
    return Centred(X, centre), X - centre


def centred_by_columns(rng, n):
    """Neither C order nor writable: nothing a compiled loop could read as it lies."""
    design, X = centred(rng, n)
    values = np.asfortranarray(design.values)
    values.setflags(write=False)
    return Centred(values, design.centre), X


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


def mixed_centred(rng, n):
    design, X = mixed(rng, n)
    centre = rng.normal(size=2)
    moved = np.hstack([X[:, :2] - centre, X[:, 2:]])
    return Mixed(design.numeric, design.codes, design.sizes, centre), moved


def wide_indices(rng, n):
    """64-bit indices, out of order, with a cell given in two parts."""
    design, X = csr(rng, n)
    whole = design.values.tocoo()
    row, column = (np.concatenate([at, at])[::-1].astype(np.int64) for at in whole.coords)
    halves = np.concatenate([whole.data, whole.data])[::-1] / 2
    order = np.argsort(row, kind="stable")
    starts = np.searchsorted(row[order], np.arange(n + 1))
    values = sparse.csr_array(X.shape)
    values.data, values.indices, values.indptr = halves[order], column[order], starts
    return Csr(values), X


def narrow_codes(rng, n):
    """More columns than int8 can count: column numbers must not wrap."""
    return mixed(rng, n, dtype=np.int8, sizes=(100, 100))


PLAIN = [
    dense,
    integers,
    centred,
    centred_by_columns,
    csr,
    wide_indices,
    mixed,
    mixed_centred,
    only_codes,
    narrow_codes,
]


def with_intercept(make):
    def made(rng, n):
        design, X = make(rng, n)
        return Intercept(design), np.column_stack([X, np.ones(n)])

    return made


LAYOUTS = {
    **{make.__name__: make for make in PLAIN},
    **{f"{make.__name__} with intercept": with_intercept(make) for make in PLAIN},
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
    for low in (0, -2):  # an observed curvature may be negative
        d = rng.uniform(low, 2, size=n)
        gram = X.T @ np.diag(d) @ X
        whole = design.sandwich(d)
        assert_allclose(whole, gram, rtol=1e-9, atol=1e-9)
        assert_allclose(whole, whole.T, rtol=1e-12, atol=1e-12)
        for size in (0, 2, X.shape[1]):
            columns = rng.permutation(X.shape[1])[:size]
            part = design.sandwich(d, columns)
            assert_allclose(part, gram[np.ix_(columns, columns)], rtol=1e-9, atol=1e-9)


@every_layout
@few
@cases
def test_sandwiches_are_one_for_each_column_of_weights(make, seed, n):
    rng = np.random.default_rng(seed)
    design, X = make(rng, n)
    D = rng.uniform(-1, 2, size=(n, 3))
    for columns in (None, rng.permutation(X.shape[1])[:2]):
        every = list(design.sandwiches(D, columns))
        assert len(every) == 3
        for d, part in zip(D.T, every, strict=True):
            assert_allclose(part, design.sandwich(d, columns), rtol=1e-9, atol=1e-9)


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
@few
@given(seed=st.integers(0, 999), n=st.integers(1, 12), drawn=st.data())
def test_rows_can_be_taken_in_any_order_and_twice(make, seed, n, drawn):
    rng = np.random.default_rng(seed)
    design, X = make(rng, n)
    order = np.array(drawn.draw(st.lists(st.integers(0, n - 1), max_size=15)), dtype=np.intp)
    theta = rng.normal(size=X.shape[1])
    taken = design.taken(order)
    assert taken.n_rows == len(order)
    assert_allclose(taken.matmat(theta), X[order] @ theta, rtol=1e-9, atol=1e-9)


@every_layout
@few
@cases
def test_results_are_new_float64_arrays(make, seed, n):
    rng = np.random.default_rng(seed)
    design, X = make(rng, n)
    theta, residual = np.ones(X.shape[1]), np.ones(n)
    for out in (design.matmat(theta), design.rmatmat(residual), design.sandwich(residual)):
        assert out.dtype == np.float64
        out += 1.0
    assert_allclose(theta, 1)
    assert_allclose(residual, 1)


SINGLE = {
    "dense": lambda X, rng: Dense(X),
    "centred": lambda X, rng: Centred(X, np.zeros(X.shape[1])),
    "csr": lambda X, rng: Csr(sparse.csr_array(X)),
    "mixed": lambda X, rng: Mixed(X, np.empty((len(X), 0), np.int8), ()),
    "dense with intercept": lambda X, rng: Intercept(Dense(X)),
}


@pytest.mark.parametrize("make", SINGLE.values(), ids=SINGLE.keys())
@few
@given(seed=st.integers(0, 2**32 - 1))
def test_float32_agrees_to_four_digits_and_gives_float64(make, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(1, 1, size=(300, 5)).astype(np.float32)
    design, exact = make(X, rng), X.astype(float)
    if design.n_features == 6:
        exact = np.column_stack([exact, np.ones(300)])
    for k in ((), (3,)):
        theta, residual = rng.normal(size=(exact.shape[1], *k)), rng.normal(size=(300, *k))
        size = np.abs(exact) @ np.abs(theta)
        assert (np.abs(design.matmat(theta) - exact @ theta) <= 1e-4 * size).all()
        size = np.abs(exact.T) @ np.abs(residual)
        assert (np.abs(design.rmatmat(residual) - exact.T @ residual) <= 1e-4 * size).all()
        assert design.matmat(theta).dtype == design.rmatmat(residual).dtype == np.float64
    d = rng.random(300)
    assert design.sandwich(d).dtype == np.float64
    assert_allclose(design.sandwich(d), exact.T @ (exact * d[:, None]), rtol=1e-4, atol=1e-2)


@pytest.mark.parametrize("make", [dense, csr, mixed, only_codes, narrow_codes])
@few
@cases
def test_centred_moves_the_numbers_and_nothing_else(make, seed, n):
    rng = np.random.default_rng(seed)
    design, X = make(rng, n)
    centre = rng.normal(size=design.n_centred)
    shift = np.concatenate([centre, np.zeros(X.shape[1] - len(centre))])
    assert (design.n_centred > 0) == (make in (dense, mixed, narrow_codes))
    theta = rng.normal(size=X.shape[1])
    assert_allclose(design.centred(centre).matmat(theta), (X - shift) @ theta, rtol=1e-9, atol=1e-9)


FAR = 1e8  # from zero, with a spread of 1: half of the digits of a float64


def centred_far(X, centre):
    return Centred(X, centre), X - centre


def mixed_far(X, centre):
    codes = (np.arange(len(X)) % 3)[:, None]
    return Mixed(X, codes, (3,), centre), np.hstack([X - centre, codes == np.arange(3)])


@pytest.mark.parametrize("make", [centred_far, mixed_far])
@few
@given(seed=st.integers(0, 2**32 - 1))
def test_columns_far_from_zero_keep_their_digits(make, seed):
    """Products of the raw columns, corrected afterwards, would keep none in the sandwich."""
    rng = np.random.default_rng(seed)
    X = FAR + rng.normal(size=(200, 4))
    design, exact = make(X, X.mean(axis=0))
    design = Intercept(design)
    exact = np.column_stack([exact, np.ones(200)])
    d = rng.random(200)
    for k in ((), (3,)):
        theta, residual = rng.normal(size=(exact.shape[1], *k)), rng.normal(size=(200, *k))
        assert_allclose(design.matmat(theta), exact @ theta, rtol=1e-9, atol=1e-11)
        assert_allclose(design.rmatmat(residual), exact.T @ residual, rtol=1e-9, atol=1e-11)
    gram = exact.T @ (exact * d[:, None])
    assert_allclose(design.sandwich(d), gram, rtol=1e-9, atol=1e-11)
    M = rng.normal(size=gram.shape)
    assert_allclose(design.row_quadratic(M), np.diag(exact @ M @ exact.T), rtol=1e-9, atol=1e-9)


@every_layout
def test_stored_is_what_was_given(make):
    design, _ = make(np.random.default_rng(0), 7)
    inner = design
    while isinstance(inner, Intercept):
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
