"""The unit in which the values of a column are recorded."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likely.distributions.resolution import (
    MOST_VALUES,
    distinct_values,
    grid_variance,
    rounding_variance,
    united,
)
from likely.distributions.responsibility import FAST_CELLS, Labels


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
