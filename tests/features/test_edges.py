"""Edges: scikit-learn for the unsupervised ones, the definition at length for the supervised."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.preprocessing import KBinsDiscretizer

from likely.errors import InvalidInput, UnknownName
from likely.features.edges import (
    equal_width_edges,
    given_edges,
    quantile_edges,
    supervised_edges,
)


def bits(labels):
    """H of some labels, by counting."""
    shares = [labels.count(c) / len(labels) for c in set(labels)]
    return -sum(p * math.log2(p) for p in shares)


def edges_at_length(pairs):
    """Fayyad & Irani's procedure on sorted (x, class) pairs, every cut tried one by one."""
    n, labels = len(pairs), [c for _, c in pairs]
    best = None
    for i in range(1, n):
        if pairs[i - 1][0] < pairs[i][0]:
            left, right = labels[:i], labels[i:]
            mean = (len(left) * bits(left) + len(right) * bits(right)) / n
            if best is None or mean < best[0] - 1e-12:
                best = mean, i, left, right
    if best is None:
        return []
    mean, i, left, right = best
    k, k1, k2 = len(set(labels)), len(set(left)), len(set(right))
    delta = math.log2(3**k - 2) - (k * bits(labels) - k1 * bits(left) - k2 * bits(right))
    if bits(labels) - mean <= (math.log2(n - 1) + delta) / n:
        return []
    middle = (pairs[i - 1][0] + pairs[i][0]) / 2
    return [*edges_at_length(pairs[:i]), middle, *edges_at_length(pairs[i:])]


def two_steps(seed, n=80):
    """Classes that change at 3 and at 7, with noise."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 40, n) / 4
    codes = np.digitize(x, [3, 7])
    noisy = rng.random(n) < 0.1
    codes[noisy] = rng.integers(0, 3, noisy.sum())
    return x, codes


@given(st.integers(0, 999))
def test_supervised_edges_equal_the_procedure_at_length(seed):
    x, codes = two_steps(seed)
    expected = edges_at_length(sorted(zip(x.tolist(), codes.tolist(), strict=True)))
    assert_allclose(supervised_edges(x, codes, None, 3), expected)


def test_supervised_edges_are_found_where_the_classes_change():
    x, codes = two_steps(0, n=400)
    edges = supervised_edges(x, codes, None, 3)
    assert_allclose(edges, [2.875, 6.875])


def test_classes_that_do_not_depend_on_x_give_no_edge():
    x = np.linspace(0, 1, 200)
    codes = np.random.default_rng(0).integers(0, 2, 200)
    assert supervised_edges(x, codes, None, 2).size == 0


@given(st.integers(0, 999))
def test_a_supervised_weight_of_two_is_the_row_twice(seed):
    x, codes = two_steps(seed, n=50)
    weight = np.random.default_rng(seed).integers(0, 4, x.size)
    repeated = supervised_edges(np.repeat(x, weight), np.repeat(codes, weight), None, 3)
    assert_array_equal(supervised_edges(x, codes, weight.astype(float), 3), repeated)


def test_missing_values_and_unknown_classes_are_skipped():
    x, codes = two_steps(1)
    edges = supervised_edges(x, codes, None, 3)
    more_x = np.concatenate([x, [np.nan, 5.0]])
    more_codes = np.concatenate([codes, [0, -1]])
    assert_array_equal(supervised_edges(more_x, more_codes, None, 3), edges)
    assert supervised_edges(np.array([np.nan]), np.array([0]), None, 1).size == 0


def test_an_edge_between_neighbouring_floats_still_parts_them():
    low = 1.0
    high = np.nextafter(low, 2)
    x = np.repeat([low, high], 20)
    codes = np.repeat([0, 1], 20)
    edges = supervised_edges(x, codes, None, 2)
    assert_array_equal(np.searchsorted(edges, [low, high], side="right"), [0, 1])


def test_fractional_weights_do_not_invent_classes():
    """Running sums of tenths are rounded; a class that is absent must stay absent."""
    x = np.arange(60.0)
    codes = np.repeat([0, 1, 2], 20)
    tenths = supervised_edges(np.repeat(x, 10), np.repeat(codes, 10), np.full(600, 0.1), 3)
    assert_array_equal(tenths, supervised_edges(x, codes, None, 3))
    assert_array_equal(tenths, [19.5, 39.5])


@pytest.mark.parametrize("n_bins", [2, 5, 9])
@pytest.mark.parametrize("weighted", [False, True])
def test_unsupervised_edges_equal_scikit_learn(n_bins, weighted):
    rng = np.random.default_rng(0)
    x = rng.normal(size=203)
    weight = rng.integers(1, 4, 203).astype(float) if weighted else None
    for strategy, find in (("uniform", equal_width_edges), ("quantile", quantile_edges)):
        theirs = KBinsDiscretizer(
            n_bins, encode="ordinal", strategy=strategy, quantile_method="averaged_inverted_cdf"
        ).fit(x[:, None], sample_weight=weight)
        # the same definition of a quantile; 1e-12 allows another order of the same arithmetic
        inner = theirs.bin_edges_[0][1:-1]
        assert_allclose(find(x, n_bins, weight), inner, rtol=1e-12, atol=1e-12)


@given(st.integers(0, 999), st.integers(2, 6))
def test_a_weight_of_two_is_the_row_twice(seed, n_bins):
    rng = np.random.default_rng(seed)
    x, weight = rng.integers(0, 9, 20).astype(float), rng.integers(0, 3, 20)
    for find in (equal_width_edges, quantile_edges):
        repeated = find(np.repeat(x, weight), n_bins)
        assert_array_equal(find(x, n_bins, weight.astype(float)), repeated)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(2, 8))
def test_no_bin_of_equal_frequency_is_empty(values, n_bins):
    x = np.array(values, dtype=float)
    edges = quantile_edges(x, n_bins)
    codes = np.searchsorted(edges, x, side="right")
    assert set(codes) == set(range(edges.size + 1))


@pytest.mark.parametrize("find", [equal_width_edges, quantile_edges])
@pytest.mark.parametrize("x", [[3.0, 3.0, 3.0], [np.nan, np.nan], [np.nan, 2.0]])
def test_a_column_with_one_value_or_none_has_one_bin(find, x):
    assert find(np.array(x), 5).size == 0


def test_equal_width_survives_the_widest_range():
    huge = np.finfo(float).max
    assert_allclose(equal_width_edges(np.array([-huge, huge]), 2), [0.0], atol=1e-300)


def test_given_edges_are_read_in_every_form():
    names = ["a", "b"]
    assert given_edges(None, names) == [None, None]
    for form in ([1, 2], (1.0, 2.0), np.array([1, 2]), [[1, 2], [1, 2]], {"a": [1, 2], 1: [1, 2]}):
        for edges in given_edges(form, names):
            assert_array_equal(edges, [1.0, 2.0])
    assert given_edges({-1: [1]}, names)[0] is None
    assert given_edges([[], [1]], names)[0].size == 0


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([2, 1], "column 'a' are .*increase.*Sort"),
        ([1, 1], "increase"),
        ([1, np.inf], "finite"),
        ({"b": [1, np.nan]}, "column 'b'"),
        ([[1], [2], [3]], "for 3 columns; expected 2"),
        ({5: [1]}, "no column 5"),
    ],
)
def test_bad_edges_are_refused(edges, message):
    with pytest.raises(InvalidInput, match=message):
        given_edges(edges, ["a", "b"])


def test_a_misspelt_column_is_met_with_the_nearest_name():
    with pytest.raises(UnknownName, match="Did you mean 'length'"):
        given_edges({"lenght": [1]}, ["length", "width"])


@pytest.mark.parametrize("share", [0.01, 0.06, 0.19, 0.21, 0.5, 0.81, 0.99])
def test_an_indicator_keeps_both_values_whatever_their_shares(share):
    x = (np.arange(1000) < 1000 * share).astype(float)
    assert_array_equal(quantile_edges(x, 5), [1.0])


def test_a_value_of_many_rows_has_a_bin_of_its_own():
    few, many = np.arange(1.0, 11.0), np.full(80, 20.0)
    x = np.concatenate([few, many, 30.0 + few])
    assert_array_equal(quantile_edges(x, 5), [20.0, 31.0])
    assert_array_equal(quantile_edges(-x, 5), [-20.0, -10.0])
    weight = np.concatenate([np.ones(10), [80.0], np.ones(10)])  # the same, by weights
    x = np.concatenate([few, [20.0], 30.0 + few])
    assert_array_equal(quantile_edges(x, 5, weight), [20.0, 31.0])
    zeros = np.concatenate([np.zeros(30), 1.0 + np.arange(70.0)])  # one quantile is the smallest
    assert_allclose(quantile_edges(zeros, 4), [1.0, 20.5, 45.5], rtol=1e-15)


def test_without_large_ties_edges_are_the_quantiles():
    x = np.random.default_rng(0).permutation(np.arange(100.0))
    assert_allclose(quantile_edges(x, 4), [24.5, 49.5, 74.5], rtol=1e-15)
    assert_array_equal(quantile_edges(np.full(9, 3.0), 4), [])
