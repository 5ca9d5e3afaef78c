"""Labels are responsibilities that happen to be certain."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from likely.distributions.responsibility import (
    MOST_VALUES,
    Labels,
    distinct_values,
    grid_variance,
    observed_sums,
    refuse_infinity,
    rounding_variance,
    totals,
    united,
    weighted_sums,
)
from likely.errors import InvalidInput
from likely.numerics.additive import FAST_CELLS

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


# ── The unit in which the values of a column are recorded ─────────────────────────────────────────


def labels(n, codes=None, weight=None):
    return Labels(np.zeros(n, np.int64) if codes is None else codes, 1, weight)


def columns(n):
    rng = np.random.default_rng(0)
    few = rng.poisson(3.0, size=(n, 2)).astype(float)
    few[0, 0], few[:, 1] = -0.0, few[:, 1] / 7
    byte = rng.permutation(np.arange(n) % MOST_VALUES).astype(float)
    more = np.where(np.arange(n) == n // 2, 0.5, byte)
    return np.column_stack([few, byte, more, rng.normal(size=n), np.full(n, 4.0)])


@pytest.mark.parametrize("n", [2000, FAST_CELLS // 6 + 7])
def test_the_distinct_values_are_those_of_numpy(n):
    X = columns(n)
    X[3, 0] = np.nan
    found = distinct_values(X, labels(n))
    for j in (0, 1, 2, 5):
        expected = np.unique(X[~np.isnan(X[:, j]), j])
        assert_array_equal(found[: len(expected), j], expected)
        assert np.isnan(found[len(expected) :, j]).all()
    assert np.isinf(found[:, [3, 4]]).all()  # one more than a byte has, and all different


@pytest.mark.parametrize("n", [2000, FAST_CELLS // 6 + 7])
def test_blocks_have_the_values_of_the_whole(n):
    X = columns(n)
    cuts = [0, 1, 300, n - 5, n]
    parts = [distinct_values(X[a:b], labels(b - a)) for a, b in pairwise(cuts)]
    whole = distinct_values(X, labels(n))
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        together = None
        for k in order:
            together = united(together, parts[k])
        assert_array_equal(together, whole)


@pytest.mark.parametrize("n", [2000, FAST_CELLS // 6 + 7])
def test_rows_without_weight_or_label_have_no_values(n):
    X = columns(n)
    X[7], X[8] = 0.123, 0.321
    codes, weight = np.zeros(n, np.int64), np.ones(n)
    codes[7], weight[8] = -1, 0.0
    left = np.delete(X, [7, 8], axis=0)
    found = distinct_values(X, labels(n, codes, weight))
    assert_array_equal(found, distinct_values(left, labels(n - 2)))


def test_the_unit_is_the_smallest_gap_beyond_rounding():
    x = np.array([0.3, 0.1 + 0.2, 0.7, 1.4, 1.9])  # two ways to write 0.3
    X = np.column_stack([x, np.ones(5), np.arange(5.0) * 3])
    assert_allclose(
        rounding_variance(distinct_values(X, labels(5))), [0.4**2 / 12, 0, 9 / 12], rtol=1e-12
    )
    X = np.random.default_rng(0).normal(size=(300, 1))
    assert_array_equal(rounding_variance(distinct_values(X, labels(300))), 0.0)


def test_only_gaps_that_are_multiples_of_the_smallest_are_a_grid():
    """Tenths, in single precision too, thirds and indicators; not continuous numbers."""
    rng = np.random.default_rng(0)
    tenths = np.round(rng.normal(size=60), 1)
    X = np.column_stack(
        [
            tenths,
            tenths.astype(np.float32),
            rng.integers(0, 4, 60) / 3,
            rng.random(60) < 0.5,
            rng.normal(size=60),
            np.log1p(rng.integers(0, 5, 60)),
            np.full(60, 0.3),
        ]
    )
    found = np.sqrt(12 * grid_variance(distinct_values(X, labels(60))))
    assert_allclose(found, [0.1, 0.1, 1 / 3, 1.0, 0.0, 0.0, 0.0], rtol=1e-6)
    assert grid_variance(None) == 0.0
    assert grid_variance(distinct_values(np.ones((3, 2)), labels(3))) == 0.0
