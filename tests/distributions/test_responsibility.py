"""Labels are responsibilities that happen to be certain."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from likely.distributions.responsibility import (
    FAST_CELLS,
    Labels,
    observed_sums,
    refuse_infinity,
    totals,
    weighted_sums,
)
from likely.errors import InvalidInput

LABELS = Labels(np.array([0, 2, -1, 2]), 3, np.array([1.0, 2.0, 5.0, 0.5]))
X = np.array([[1.0, 0.0], [2.0, 1.0], [9.0, 9.0], [4.0, 0.0]])


def test_a_label_of_minus_1_belongs_to_nobody():
    assert_array_equal(LABELS.dense(), [[1, 0, 0], [0, 0, 2], [0, 0, 0], [0, 0, 0.5]])
    assert_array_equal(totals(LABELS), [1, 0, 2.5])


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("responsibility", [LABELS, LABELS.dense()], ids=["labels", "soft"])
def test_sums_do_not_depend_on_the_layout(layout, responsibility):
    assert_allclose(weighted_sums(responsibility, layout(X)), [[1, 0], [0, 0], [6, 2]])


@pytest.mark.parametrize("dtype", [np.float32, np.int8, bool])
def test_other_dtypes_sum_in_double_precision(dtype):
    sums = weighted_sums(LABELS, X.astype(dtype))
    assert sums.dtype == np.float64
    assert_allclose(sums, LABELS.dense().T @ X.astype(dtype))


def test_missing_cells_have_weights_of_their_own():
    sums, weight = observed_sums(LABELS, np.where(X == 4, np.nan, X))
    assert_array_equal(sums, [[1, 0], [0, 0], [4, 2]])
    assert_array_equal(weight, [[1, 1], [0, 0], [2, 2.5]])


def test_large_blocks_with_gaps_equal_small_ones():
    rng = np.random.default_rng(0)
    n = FAST_CELLS // 2 + 1
    big = rng.normal(size=(n, 2))
    big[rng.random(n) < 0.1, 1] = np.nan
    labels = Labels(rng.integers(-1, 3, n), 3)
    soft = observed_sums(labels.dense(), big)
    assert_allclose(observed_sums(labels, big).sums, soft.sums, rtol=1e-9, atol=1e-9)
    assert_array_equal(observed_sums(labels, big).weight, soft.weight)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_infinity_is_refused_with_its_column(layout):
    bad = layout(np.array([[0.0, 1.0], [0.0, -np.inf]]))
    with pytest.raises(InvalidInput, match=r"Row 1, column 1: found inf \(infinity\)"):
        refuse_infinity(bad)
    with pytest.raises(InvalidInput, match="column 1"):
        observed_sums(np.ones((2, 1)), bad)


def test_a_gap_in_a_sparse_matrix_is_refused():
    bad = sparse.csr_array(np.array([[0.0, np.nan], [1.0, 0.0]]))
    with pytest.raises(InvalidInput, match=r"column 1: found NaN in a sparse matrix.*toarray"):
        observed_sums(np.ones((2, 1)), bad)
