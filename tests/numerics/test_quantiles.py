"""Quantile summaries: their laws while exact, their error when compressed."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from likely.numerics.additive import pairwise_total
from likely.numerics.quantiles import QuantileGrid, QuantileSummary

Q = np.array([0.0, 0.1, 0.25, 0.5, 0.7, 1.0])
WEIGHTED = st.lists(
    st.tuples(st.integers(-5, 5), st.integers(0, 4)), min_size=1, max_size=30
).filter(lambda pairs: any(w for _, w in pairs))


def unzipped(pairs):
    values, weight = np.array(pairs, dtype=float).T
    return values, weight


@given(WEIGHTED)
def test_whole_weights_are_repetitions(pairs):
    values, weight = unzipped(pairs)
    repeated = np.repeat(values, weight.astype(int))
    summary = QuantileSummary.of(values, weight)
    expected = np.quantile(repeated, Q, method="averaged_inverted_cdf")
    assert_allclose(summary.quantile(Q), expected)
    assert summary.median() == np.median(repeated)
    deviation = np.abs(repeated - 0.5).mean()
    assert_allclose(summary.mean_absolute_deviation(0.5), deviation)
    assert summary.total_weight == repeated.size


@given(WEIGHTED, st.floats(1e-3, 1e3))
def test_the_scale_of_the_weights_does_not_matter(pairs, scale):
    values, weight = unzipped(pairs)
    scaled = QuantileSummary.of(values, scale * weight)
    assert_array_equal(scaled.quantile(Q), QuantileSummary.of(values, weight).quantile(Q))


@given(WEIGHTED, st.integers(0, 30), st.randoms())
def test_any_cut_in_any_order_gives_the_same_summary(pairs, cut, shuffle):
    whole = QuantileSummary.of(*unzipped(pairs))
    shuffled = pairs.copy()
    shuffle.shuffle(shuffled)
    values, weight = unzipped(shuffled)
    first = QuantileSummary.of(values[:cut], weight[:cut])
    second = QuantileSummary.of(values[cut:], weight[cut:])
    for merged in (first + second, second + first):
        assert_array_equal(merged.values, whole.values)
        assert_array_equal(merged.weight, whole.weight)
        assert merged.exact


def test_missing_values_and_zero_weights_are_absent():
    summary = QuantileSummary.of([3.0, np.nan, 1.0, 9.0], [1.0, 5.0, 1.0, 0.0])
    assert_array_equal(summary.values, [1.0, 3.0])
    assert summary.median() == 2.0


def test_nothing_has_no_quantile_and_adds_nothing():
    nothing = QuantileSummary.of([np.nan])
    assert nothing.total_weight == 0
    assert np.isnan(nothing.quantile(Q)).all()
    assert np.isnan(nothing.mean_absolute_deviation(0.0))
    something = QuantileSummary.of([1.0, 2.0])
    assert_array_equal((nothing + something).values, something.values)


def test_a_minimiser_of_absolute_deviation_is_the_median():
    rng = np.random.default_rng(0)
    values, weight = rng.normal(size=41), rng.random(41)
    summary = QuantileSummary.of(values, weight)
    best = summary.mean_absolute_deviation(summary.median())
    assert all(best <= summary.mean_absolute_deviation(v) for v in values)


def test_a_compressed_summary_says_so_and_keeps_its_ranks():
    rng = np.random.default_rng(0)
    blocks = [rng.normal(size=2000) for _ in range(20)]
    limit = 1024
    sketch = pairwise_total(QuantileSummary.of(block, limit=limit) for block in blocks)
    values = np.sort(np.concatenate(blocks))
    assert not sketch.exact
    assert sketch.values.size <= limit
    assert_allclose(sketch.total_weight, values.size)
    q = np.linspace(0.01, 0.99, 99)
    rank = np.searchsorted(values, sketch.quantile(q)) / values.size
    # a merge tree of 20 leaves compresses at most 6 times, by 2/limit each
    assert np.abs(rank - q).max() < 6 * 2 / limit
    assert sketch.quantile(0.0) == values[0]
    assert sketch.quantile(1.0) == values[-1]
    exact = QuantileSummary.of(values, limit=None)
    assert exact.exact
    deviation = exact.mean_absolute_deviation(0.0)
    assert_allclose(sketch.mean_absolute_deviation(0.0), deviation, rtol=1e-4)


def test_compression_does_not_move_a_heavy_value():
    values = np.concatenate([np.zeros(500), np.linspace(-1, 1, 500)])
    sketch = QuantileSummary.of(values, limit=64)
    assert not sketch.exact
    assert sketch.median() == 0.0


def test_compression_keeps_heavy_values_to_the_last_bit():
    rng = np.random.default_rng(0)
    heavy = rng.normal(size=20)
    values = np.concatenate([np.repeat(heavy, 49), rng.normal(size=200)])
    sketch = QuantileSummary.of(values, limit=100)
    assert not sketch.exact
    assert np.isin(heavy, sketch.values).all()


def test_the_extremes_are_the_extremes_however_light():
    summary = QuantileSummary.of([0.0, 1.0, 2.0], [1e-15, 1.0, 1e-15])
    assert_array_equal(summary.quantile([0.0, 0.5, 1.0]), [0.0, 1.0, 2.0])


def test_compression_is_commutative():
    a = QuantileSummary.of(np.random.default_rng(0).normal(size=500), limit=64)
    b = QuantileSummary.of(np.random.default_rng(1).normal(size=500), limit=64)
    assert_array_equal((a + b).values, (b + a).values)
    assert_array_equal((a + b).weight, (b + a).weight)


@pytest.mark.parametrize("soft", [False, True])
def test_a_grid_is_a_summary_for_each_component_and_column(soft):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (40, 3)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    r = rng.dirichlet(np.ones(2), 40) if soft else np.eye(2)[rng.integers(0, 2, 40)]
    grid = QuantileGrid.of(X[:15], r[:15]) + QuantileGrid.of(X[15:], r[15:])
    centre = grid.quantile(0.5)
    assert centre.shape == (2, 3)
    assert grid.exact
    deviation = grid.mean_absolute_deviation(centre)
    for k in range(2):
        for j in range(3):
            cell = QuantileSummary.of(X[:, j], r[:, k])
            assert_allclose(centre[k, j], cell.median())
            assert_allclose(deviation[k, j], cell.mean_absolute_deviation(cell.median()))
            assert_allclose(grid.total_weight[k, j], cell.total_weight)


def test_a_summary_travels():
    summary = QuantileSummary.of([3.0, 1.0, 2.0])
    assert pickle.loads(pickle.dumps(summary)).median() == 2.0
