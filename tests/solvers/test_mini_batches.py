"""Orders of an epoch, and the batches that they are cut into."""

from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from likely.errors import InvalidInput
from likely.solvers.mini_batches import (
    BalancedBatches,
    SampledBatches,
    ShuffledBatches,
    _below,
    batches,
    batches_of,
    epoch_order,
    share_between_windows,
)

seeds, epochs = st.integers(0, 9999), st.integers(0, 50)


@given(n=st.integers(1, 200), size=st.integers(1, 250), seed=seeds, epoch=epochs)
def test_every_index_is_read_once_in_an_epoch(n, size, seed, epoch):
    cut = list(ShuffledBatches(size).of_epoch(n, seed, epoch))
    assert sorted(np.concatenate(cut)) == list(range(n))
    assert all(len(batch) == size for batch in cut[:-1])
    assert 0 < len(cut[-1]) <= size  # the last is short, never empty


@given(n=st.integers(1, 100), window=st.integers(1, 30), seed=seeds, epoch=epochs)
def test_a_file_read_window_by_window_has_the_order_of_an_array(n, window, seed, epoch):
    whole = epoch_order(n, seed, epoch, window=window)
    parts = [
        first + epoch_order(min(window, n - first), seed, epoch, window=window, first=first)
        for first in range(0, n, window)
    ]
    assert_array_equal(whole, np.concatenate(parts))
    assert_array_equal(whole // window, np.sort(whole // window))  # windows in sequence


def test_rows_that_come_later_do_not_change_earlier_windows():
    assert_array_equal(epoch_order(100, 3, 2, window=10)[:50], epoch_order(50, 3, 2, window=10))


def test_epochs_and_seeds_differ_and_repeat():
    orders = [epoch_order(50, seed, epoch) for seed in (0, 1) for epoch in (0, 1)]
    assert all((a != b).any() for a, b in combinations(orders, 2))
    assert_array_equal(orders[0], epoch_order(50, 0, 0))


def test_a_part_that_does_not_begin_a_window_is_refused():
    with pytest.raises(InvalidInput, match="a multiple of 10 was expected"):
        epoch_order(10, 0, 0, window=10, first=5)


def test_every_order_of_three_is_as_likely():
    seen = Counter(tuple(epoch_order(3, 0, epoch)) for epoch in range(6000))
    assert len(seen) == 6
    assert all(850 < n < 1150 for n in seen.values())  # 5 standard deviations of 29


def test_without_shuffling_rows_come_as_given():
    cut = list(ShuffledBatches(4, shuffle=False).of_epoch(10, 0, 3))
    assert [batch.tolist() for batch in cut] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


@given(n=st.integers(1, 400), share=st.integers(1, 100), seed=seeds, epoch=epochs)
def test_a_batch_without_replacement_has_no_row_twice(n, share, seed, epoch):
    size = max(1, n * share // 100)
    for batch in SampledBatches(size, steps=3).of_epoch(n, seed, epoch):
        assert len(set(batch.tolist())) == size
        assert 0 <= batch.min() <= batch.max() < n


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("size", [2, 8])  # two ways to draw without replacement
def test_every_row_is_drawn_equally_often(size, replace):
    order = SampledBatches(size, replace=replace, steps=4000).order(40, 1, 0)
    counts = np.bincount(order, minlength=40)
    assert len(order) == 4000 * size
    assert ((counts - 100 * size) ** 2 / (100 * size)).sum() < 80  # χ² of 39; 1 − 1e-4


def test_with_replacement_a_row_may_come_twice_and_a_batch_may_exceed_the_rows():
    order = SampledBatches(50, replace=True, steps=2).order(10, 0, 0)
    assert len(order) == 100
    with pytest.raises(InvalidInput, match="at most 10 were expected"):
        SampledBatches(50).order(10, 0, 0)


def test_an_epoch_of_sampled_batches_reads_n_examples_unless_told():
    assert len(list(SampledBatches(4).of_epoch(10, 0, 0))) == 3
    assert len(list(SampledBatches(4, steps=7).of_epoch(10, 0, 0))) == 7
    assert SampledBatches(4).order(10, 0, 0).tolist() != SampledBatches(4).order(10, 0, 1).tolist()


@given(data=st.data(), size=st.integers(1, 30), seed=seeds, epoch=epochs)
def test_class_counts_of_a_balanced_batch_differ_by_at_most_one(data, size, seed, epoch):
    n_classes = data.draw(st.integers(1, 5))
    labels = np.array(data.draw(st.lists(st.integers(0, n_classes - 1), min_size=1, max_size=60)))
    present = np.unique(labels)
    for batch in BalancedBatches(size).of_epoch(len(labels), seed, epoch, labels):
        counts = [np.count_nonzero(labels[batch] == label) for label in present]
        assert max(counts) - min(counts) <= 1
        assert sum(counts) == len(batch)


def test_rare_rows_are_repeated_and_no_row_is_repeated_before_all_of_its_class_were_read():
    labels = np.r_[np.zeros(95, int), np.ones(5, int)]
    series = np.concatenate(
        [BalancedBatches(10).order(100, 0, epoch, labels) for epoch in range(4)]
    )
    for label in (0, 1):
        read = series[labels[series] == label]
        n = np.count_nonzero(labels == label)
        rounds = [sorted(read[low : low + n]) for low in range(0, len(read) - n + 1, n)]
        assert len(rounds) >= 2
        assert all(a == b == np.flatnonzero(labels == label).tolist() for a, b in pairwise(rounds))


def test_balanced_batches_need_labels():
    with pytest.raises(InvalidInput, match="no labels for 5 rows; the class of each row"):
        BalancedBatches(2).order(5, 0, 0)


@pytest.mark.parametrize("size", [0, -1, 2.5, True, "32"])
@pytest.mark.parametrize("make", [ShuffledBatches, SampledBatches, BalancedBatches, batches_of])
def test_a_size_that_is_no_whole_number_is_refused(make, size):
    with pytest.raises(InvalidInput, match="whole number"):
        make(size)


def test_one_batch_of_all_is_all():
    (batch,) = batches(np.arange(5), 100)
    assert_array_equal(batch, np.arange(5))


def test_the_share_between_windows_is_that_of_an_analysis_of_variance():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(70, 2)) + np.linspace(0, 3, 70)[:, None]
    window = np.arange(70) // 32
    left = [
        sum(np.square(y[window == w, j] - y[window == w, j].mean()).sum() for w in range(3))
        for j in (0, 1)
    ]
    total = np.square(y - y.mean(axis=0)).sum(axis=0)
    assert_allclose(share_between_windows(y, 32), np.max(1 - left / total))
    codes = (y[:, 0] > 1).astype(int)
    assert_allclose(
        share_between_windows(codes, 32), share_between_windows(codes.astype(float), 32)
    )
    assert share_between_windows(np.zeros(70, dtype=int), 32) == 0.0
    assert share_between_windows(y, 70) < 1e-12


def test_a_rare_class_at_the_end_is_seen_between_windows():
    y = np.repeat([0, 1], [990, 10])
    assert share_between_windows(y, 100) > 0.05
    assert share_between_windows(np.random.default_rng(0).permutation(y), 100) < 0.03


@pytest.mark.parametrize("n", [1, 3, 7, 1000])
def test_a_draw_next_to_1_is_the_last_row(n):
    """The product of n and the largest number below 1 may round up to n."""
    assert _below(n, np.array([np.nextafter(1.0, 0.0)])).tolist() == [n - 1]
