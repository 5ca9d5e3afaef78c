"""What is particular to single layouts: views, missing codes, sparse stays sparse."""

import numpy as np
from numpy.testing import assert_allclose
from scipy import sparse

from likely.data.design import Csr, Dense, Mixed, Standardised


def test_rows_of_a_dense_design_are_a_view():
    X = np.arange(12.0).reshape(6, 2)
    assert np.shares_memory(Dense(X).rows(2, 4).values, X)


def test_rows_of_a_mixed_design_are_views():
    numeric, codes = np.zeros((4, 1)), np.zeros((4, 2), dtype=np.int32)
    part = Mixed(numeric, codes, (1, 1)).rows(1, 3)
    assert np.shares_memory(part.numeric, numeric)
    assert np.shares_memory(part.codes, codes)


def test_a_missing_code_is_a_row_of_zeros():
    design = Mixed(np.empty((2, 0)), np.array([[-1], [1]], dtype=np.int32), (2,))
    assert_allclose(design.matmat(np.array([3.0, 5.0])), [0, 5])
    assert_allclose(design.sandwich(np.ones(2)), [[0, 0], [0, 1]])


def test_a_standardised_sparse_design_expands_nothing():
    """A million columns, dense, would be 8 TB for a million rows."""
    n = p = 10**6
    X = sparse.csr_array((np.ones(3), ([0, 1, n - 1], [0, 1, p - 1])), shape=(n, p))
    design = Standardised(Csr(X), np.full(p, 0.5), np.full(p, 2.0))
    eta = design.matmat(np.ones(p))
    assert_allclose(eta[[0, 2, n - 1]], [(1 - 0.5 * p) / 2, -0.5 * p / 2, (1 - 0.5 * p) / 2])


def test_worked_example_of_a_mixed_sandwich():
    """Rows (2; red), (3; blue) with weights 1, 10: sums of w, w·x and w·x² per cell."""
    design = Mixed(np.array([[2.0], [3.0]]), np.array([[0], [1]]), (2,))
    expected = [[4 + 90, 2, 30], [2, 1, 0], [30, 0, 10]]
    assert_allclose(design.sandwich(np.array([1.0, 10.0])), expected)
