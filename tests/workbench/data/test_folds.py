"""Folds: complete, balanced, together where they must be, and never from the future."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from likely.errors import InvalidInput
from likely.workbench.data.folds import Folds


@given(
    n_rows=st.integers(10, 60),
    n_folds=st.integers(2, 7),
    repeats=st.integers(1, 3),
    seed=st.integers(0, 99),
    plan=st.sampled_from(["plain", "stratified", "grouped", "both"]),
)
def test_every_row_is_held_out_once_per_repeat(n_rows, n_folds, repeats, seed, plan):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, n_rows) if plan in ("stratified", "both") else None
    groups = np.arange(n_rows) % 8 if plan in ("grouped", "both") else None
    folds = Folds(
        n_rows=n_rows, n_folds=n_folds, repeats=repeats, seed=seed, stratify=codes, groups=groups
    )
    pairs = list(folds)
    assert len(pairs) == len(folds) == n_folds * repeats
    for repeat in range(repeats):
        here = pairs[repeat * n_folds : (repeat + 1) * n_folds]
        assert_array_equal(np.sort(np.concatenate([test for _, test in here])), np.arange(n_rows))
        for train, test in here:
            assert len(test) and len(train) + len(test) == n_rows
            assert not np.intersect1d(train, test).size


@given(seed=st.integers(0, 99), n_folds=st.integers(2, 6))
def test_stratified_folds_share_classes_to_within_one_row(seed, n_folds):
    codes = np.random.default_rng(seed).integers(0, 3, 80)
    for _, test in Folds(n_rows=80, n_folds=n_folds, seed=seed, stratify=codes):
        share = np.bincount(codes[test], minlength=3) - np.bincount(codes, minlength=3) / n_folds
        assert np.abs(share).max() < 1


@given(seed=st.integers(0, 99))
def test_a_group_is_never_on_both_sides(seed):
    groups = np.random.default_rng(seed).integers(0, 12, 90)
    for train, test in Folds(n_rows=90, n_folds=4, seed=seed, groups=groups):
        assert not np.intersect1d(groups[train], groups[test]).size


def test_groups_of_equal_size_make_folds_of_equal_size_and_share():
    groups = np.repeat(np.arange(40), 5)
    codes = np.repeat(np.arange(40) % 2, 5)
    for _, test in Folds(n_rows=200, n_folds=5, groups=groups, stratify=codes):
        assert_array_equal(np.bincount(codes[test]), [20, 20])


def test_groups_of_one_class_each_still_fill_every_fold():
    groups = codes = np.repeat(np.arange(3), 10)
    sizes = [len(test) for _, test in Folds(n_rows=30, n_folds=3, groups=groups, stratify=codes)]
    assert sizes == [10, 10, 10]


def test_repeats_differ_and_the_seed_decides():
    first = Folds(n_rows=50, repeats=2, seed=1)
    again = Folds(n_rows=50, repeats=2, seed=1)
    other = Folds(n_rows=50, repeats=2, seed=2)
    assert (first.fold_of_rows(0) != first.fold_of_rows(1)).any()
    assert_array_equal(first.fold_of_rows(1), again.fold_of_rows(1))
    assert (first.fold_of_rows(0) != other.fold_of_rows(0)).any()
    assert (first.fold_of_rows(1) != other.fold_of_rows(0)).any()


@given(seed=st.integers(0, 99), n_folds=st.integers(2, 5))
def test_by_time_only_the_past_is_learned_from(seed, n_folds):
    time = np.random.default_rng(seed).integers(0, 25, 120)
    folds = list(Folds(n_rows=120, n_folds=n_folds, time=time))
    assert len(folds) == n_folds
    for train, test in folds:
        assert len(train) and len(test)
        assert time[train].max() < time[test].min()


def test_a_crowded_moment_leaves_no_fold_empty():
    time = np.array([0, 1, 2, 3] + [4] * 96)
    for train, test in Folds(n_rows=100, n_folds=3, time=time):
        assert len(train) and len(test)
        assert time[train].max() < time[test].min()


def test_as_many_folds_as_rows_leave_one_out():
    held = [test for _, test in Folds(n_rows=12, n_folds=12)]
    assert sorted(int(rows[0]) for rows in held) == list(range(12))
    assert {len(rows) for rows in held} == {1}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_rows": 4}, "n_folds=5; there are only 4 rows. Use 2 to 4"),
        ({"n_rows": 9, "n_folds": 1}, "n_folds=1; 2 or more were expected. Use 2 to 9"),
        ({"n_rows": 9, "groups": np.zeros(9)}, "there is only 1 group. Give more groups"),
        ({"n_rows": 9, "stratify": np.zeros(8, dtype=int)}, "stratify has 8 entries"),
        ({"n_rows": 9, "repeats": 0}, "repeats=0"),
        ({"n_rows": 9, "time": np.arange(9), "repeats": 2}, "Use repeats=1"),
    ],
)
def test_an_impossible_plan_is_refused(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        Folds(**arguments)
