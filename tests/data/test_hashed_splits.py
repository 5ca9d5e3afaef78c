"""Splits by hash: fair shares, blind to the blocks, disjoint and exhaustive."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from likely.data.hashed_splits import (
    fold_of,
    hashed_uniforms,
    split_mask,
    stratified_fold_of,
)

seeds = st.integers(0, 2**40)


def binomial_bound(n, p):
    """Five standard deviations: one failure in a million fair trials."""
    return 5 * np.sqrt(n * p * (1 - p))


@pytest.mark.parametrize("fraction", [0.01, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("seed", [0, 1, 12345])
def test_the_share_held_out_is_the_fraction(fraction, seed):
    n = 100_000
    held_out = split_mask(0, n, seed, fraction).sum()
    assert abs(held_out - fraction * n) < binomial_bound(n, fraction)


def test_folds_are_of_equal_size_within_binomial_error():
    counts = np.bincount(fold_of(0, 100_000, seed=3, n_folds=7), minlength=7)
    assert counts.size == 7
    assert np.abs(counts - 100_000 / 7).max() < binomial_bound(100_000, 1 / 7)


@given(seed=seeds, cut=st.integers(0, 100))
def test_the_side_does_not_depend_on_the_blocks(seed, cut):
    whole = fold_of(0, 100, seed, 5)
    parts = np.concatenate([fold_of(0, cut, seed, 5), fold_of(cut, 100 - cut, seed, 5)])
    assert_array_equal(parts, whole)
    mask = np.concatenate([split_mask(0, cut, seed, 0.3), split_mask(cut, 100 - cut, seed, 0.3)])
    assert_array_equal(mask, split_mask(0, 100, seed, 0.3))


def test_seeds_give_unrelated_splits():
    a, b = (split_mask(0, 100_000, seed, 0.5) for seed in (0, 1))
    assert abs((a & b).sum() - 25_000) < binomial_bound(100_000, 0.25)


def test_neighbours_fall_independently():
    u = hashed_uniforms(0, 100_000, seed=0)
    assert u.min() >= 0
    assert u.max() < 1
    assert abs(np.corrcoef(u[:-1], u[1:])[0, 1]) < 0.02


def test_the_hash_is_splitmix64():
    """From the state 0 the generator's first output is 0xE220A8397B1DCDAF."""
    from likely.numerics.keyed_random import GOLDEN, mix

    assert int(mix(np.array([GOLDEN]))[0]) == 0xE220A8397B1DCDAF


@given(seed=seeds, n_folds=st.integers(2, 9))
def test_folds_are_disjoint_and_exhaustive(seed, n_folds):
    fold = fold_of(0, 500, seed, n_folds)
    assert set(fold.tolist()) <= set(range(n_folds))
    assert sum((fold == k).sum() for k in range(n_folds)) == 500


@given(seed=seeds, n=st.integers(1, 80), n_folds=st.integers(2, 7))
def test_stratified_folds_are_even_overall_and_in_each_class(seed, n, n_folds):
    labels = np.random.default_rng(seed).integers(0, 3, n)
    fold = stratified_fold_of(labels, seed, n_folds)
    for part in (fold, *(fold[labels == k] for k in np.unique(labels))):
        counts = np.bincount(part, minlength=n_folds)
        assert counts.size == n_folds
        assert np.ptp(counts) <= 1


def test_folds_beside_one_that_copies_fill_are_of_equal_size():
    copies = np.append(np.zeros(20, dtype=int), np.arange(20, 60))
    for seed in range(5):
        fold = stratified_fold_of(np.zeros(60, dtype=int), seed, 5, copies=copies)
        assert len(np.unique(fold[:20])) == 1
        assert sorted(np.bincount(fold)) == [10, 10, 10, 10, 20]
