"""What is particular to single layouts: views, missing codes, no more memory than is needed."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from likely.data.layouts.base import Csr
from likely.data.layouts.dense import Centred, Dense
from likely.data.layouts.intercept import Intercept, Mixed


def test_rows_of_a_dense_design_are_a_view():
    X = np.arange(12.0).reshape(6, 2)
    assert np.shares_memory(Dense(X).rows(2, 4).values, X)


def test_rows_of_a_mixed_design_are_views():
    numeric, codes = np.zeros((4, 1)), np.zeros((4, 2), dtype=np.int32)
    part = Mixed(numeric, codes, (1, 1)).rows(1, 3)
    assert np.shares_memory(part.numeric, numeric)
    assert np.shares_memory(part.codes, codes)


def test_rows_of_a_centred_design_are_a_view_with_the_same_centre():
    X, centre = np.arange(12.0).reshape(6, 2), np.array([5.0, 6.0])
    part = Centred(X, centre).rows(2, 4)
    assert np.shares_memory(part.values, X)
    assert_allclose(part.matmat(np.array([1.0, 1.0])), [-2, 2])


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_rows_of_a_sparse_design_are_views_of_its_cells(kind):
    X = kind(np.arange(12.0).reshape(6, 2))
    part = Csr(X).rows(2, 4).values
    assert isinstance(part, kind)
    assert np.shares_memory(part.data, X.data)
    assert np.shares_memory(part.indices, X.indices)
    assert_allclose(part.toarray(), X[2:4].toarray())


def test_a_missing_code_is_a_row_of_zeros():
    design = Mixed(np.empty((2, 0)), np.array([[-1], [1]], dtype=np.int32), (2,))
    assert_allclose(design.matmat(np.array([3.0, 5.0])), [0, 5])
    assert_allclose(design.sandwich(np.ones(2)), [[0, 0], [0, 1]])


def wide_sparse(n=2000, p=50_000):
    rng = np.random.default_rng(0)
    X = sparse.random_array((n, p), density=60 / p, format="csr", rng=rng)
    return Csr(X), p


def wide_codes(n=2000, size=50_000):
    sizes = (size, *[2] * 59)
    codes = np.random.default_rng(0).integers(0, sizes, (n, 60))
    return Mixed(np.ones((n, 1)), codes, sizes), sum(sizes) + 1


WIDE = [wide_sparse, wide_codes]


@pytest.mark.parametrize("make", WIDE)
def test_a_sandwich_on_few_columns_never_builds_all_of_it(make):
    """50,000 columns, all pairs, would be 20 GB."""
    design, p = make()
    columns = np.array([p, 3, 0, p - 1])
    tracemalloc.start()
    part = Intercept(design).sandwich(np.ones(2000), columns)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50e6
    assert part.shape == (4, 4)
    assert part[0, 0] == 2000  # column p is the intercept


def test_worked_example_of_a_mixed_sandwich():
    """Rows (2; red), (3; blue) with weights 1, 10: sums of w, w·x and w·x² per cell."""
    design = Mixed(np.array([[2.0], [3.0]]), np.array([[0], [1]]), (2,))
    expected = [[4 + 90, 2, 30], [2, 1, 0], [30, 0, 10]]
    assert_allclose(design.sandwich(np.array([1.0, 10.0])), expected)


def test_few_rows_are_expanded_to_what_their_codes_mean():
    codes = np.array([[0, 1], [-1, 0], [1, -1]], dtype=np.int32)
    design = Mixed(np.array([[2.0], [3.0], [5.0]]), codes, (2, 2), np.array([1.0]))
    dense = design.expanded()
    assert_allclose(dense.values, design.matmat(np.eye(5)))
    d = np.array([0.5, 1.0, 2.0])
    assert_allclose(dense.sandwich(d), design.sandwich(d))
