"""Copies of rows are never on both sides of a split, and count once in intervals."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.neighbors import KNeighborsClassifier

import likely
from likely import PlattScaling
from likely.data.copies import copies_in
from likely.data.split import share_of_each_class, split_mask, stratified_fold_of
from likely.inputs.estimators import folds_of
from likely.workbench.data.folds import Folds
from likely.workbench.data.opening import dataset


def noise(times: int = 5) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 5)), columns=list("abcde"))
    frame["y"] = rng.integers(0, 2, 400).astype(str)
    return pd.concat([frame] * times, ignore_index=True)


def test_one_nearest_neighbour_is_not_clearly_better_on_copied_noise():
    found = likely.compare(noise(), "y", models=[KNeighborsClassifier(1)], metric="accuracy")
    scores = {each.name: each.score for each in found.entries}
    copied = next(score for name, score in scores.items() if "Neighbors" in name)
    assert not copied.better_than_baseline
    assert copied.estimates["accuracy"].value < 0.6
    assert copied.n_groups == 400
    assert "1,600 rows equal an earlier row in all features" in str(found)


def test_intervals_of_copies_are_as_wide_as_those_of_the_different_rows():
    widths = []
    for times in (1, 5):
        model = KNeighborsClassifier(1)
        found = likely.compare(noise(times), "y", models=[model], metric="accuracy")
        entry = next(each for each in found.entries if "Neighbors" in each.name)
        widths.append(entry.score.main.high - entry.score.main.low)
    assert widths[1] == pytest.approx(widths[0], rel=0.05)  # 0.45 times if rows were counted


def test_no_fold_has_copies_of_its_training_rows():
    rows = dataset(noise(), "y").with_task(None)
    for fold in rows.folds(5, repeats=2):
        assert not np.isin(rows.copies[fold.test], rows.copies[fold.train]).any()
        assert 380 <= len(fold.test) <= 420


def test_folds_by_time_do_not_learn_from_earlier_copies():
    copies = np.tile(np.arange(20), 3)
    folds = list(Folds(n_rows=60, n_folds=3, time=np.arange(60), copies=copies))
    for fold in folds:
        assert not np.isin(copies[fold.test], copies[fold.train]).any()
    assert [len(fold.test) for fold in folds] == [15, 15, 15]
    assert [len(fold.train) for fold in folds] == [5, 10, 15]


def test_groups_with_equal_rows_are_one_group():
    groups, copies = np.arange(12) // 2, np.arange(12)
    copies[11] = 0
    fold = Folds(n_rows=12, n_folds=3, groups=groups, copies=copies).fold_of_rows()
    assert fold[0] == fold[1] == fold[10] == fold[11]


def test_folds_stay_balanced_beside_a_row_that_fills_one():
    copies = np.concatenate([np.zeros(60, dtype=int), np.arange(60, 100)])
    labels = np.arange(100) % 2
    fold = stratified_fold_of(labels, 0, 5, copies)
    assert sorted(np.bincount(fold)) == [10, 10, 10, 10, 60]
    assert len(set(fold[:60])) == 1
    other = fold[60:]
    assert {int((labels[60:][other == f] == 0).sum()) for f in set(other)} == {5}


def test_single_rows_fill_up_what_copies_leave_of_folds_of_equal_size():
    copies = np.arange(103)
    copies[1:7], copies[11:14] = 0, 10
    assert sorted(np.bincount(stratified_fold_of(np.zeros(103, int), 3, 5, copies))) == [
        20, 20, 21, 21, 21
    ]  # fmt: skip


def test_a_share_that_is_held_out_keeps_copies_together():
    copies = np.tile(np.arange(50), 4)
    y = np.tile(np.arange(50) % 2, 4)
    for drawn in (share_of_each_class(y, 0.2, 0, copies), split_mask(0, 200, 0, 0.2, copies)):
        assert_array_equal(drawn.reshape(4, 50), [drawn[:50]] * 4)
        assert 0 < drawn.sum() < 100
    later = split_mask(100, 100, 0, 0.2, copies)
    assert_array_equal(later, split_mask(0, 200, 0, 0.2, copies)[100:])


def test_folds_inside_an_estimator_keep_copies_together():
    X = np.repeat(np.random.default_rng(0).normal(size=(60, 3)), 4, axis=0)
    for learn, held in folds_of(5, X, None, codes=np.zeros(240, int)):
        assert not np.isin(copies_in(X)[held], copies_in(X)[learn]).any()
        assert len(held) == 48


def test_calibration_of_a_nearest_neighbour_is_not_fooled_by_copies():
    frame = noise()
    X, y = frame[list("abcde")].to_numpy(), frame["y"].to_numpy()
    p = PlattScaling(KNeighborsClassifier(1)).fit(X, y).predict_proba(X)
    assert np.abs(p - 0.5).max() < 0.15


def test_validation_rows_of_a_network_are_no_copies_of_training_rows():
    from likely.neural.training.examples import ExamplesInMemory
    from likely.neural.training.problem import split_off

    X = np.repeat(np.random.default_rng(0).normal(size=(60, 3)), 4, axis=0)
    training, held = split_off(ExamplesInMemory(X, np.arange(240) // 4 % 2), 0.2, 0)
    assert not set(map(tuple, held.X)) & set(map(tuple, training.X))
    assert held.n_rows == 48


def test_rows_held_out_to_stop_a_search_are_no_copies_of_fitted_rows():
    from likely.data.block import ArrayBlocks
    from likely.data.layouts.dense import Dense
    from likely.fitting.framing import _copies

    X = np.repeat(np.random.default_rng(0).normal(size=(60, 3)), 4, axis=0)
    assert_array_equal(_copies(ArrayBlocks(Dense(X))), np.arange(240) // 4 * 4)


def test_fewer_different_rows_than_folds_are_split_and_it_says_so():
    frame = noise(1).head(4)
    rows = dataset(pd.concat([frame] * 25), "y").with_task(None)
    assert rows.folds(5).copies is None
    assert "too few to be held out apart" in rows.notes[0]


def test_a_row_that_fills_more_than_a_fold_is_named():
    frame = noise(1)
    rows = dataset(pd.concat([frame.head(100), *[frame.head(1)] * 150]), "y").with_task(None)
    assert "One row occurs 151 times, 60.4 % of all rows" in rows.notes[1]


def test_categories_that_repeat_by_chance_are_not_mentioned():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "who": rng.choice(["1st", "2nd", "3rd", "crew"], 2201),
            "sex": rng.choice(["male", "female"], 2201, p=[0.8, 0.2]),
            "y": rng.integers(0, 2, 2201).astype(str),
        }
    )
    rows = dataset(frame, "y").with_task(None)
    assert rows.copies is None
    assert rows.notes == ()
    assert {len(fold.test) for fold in rows.folds(5)} <= {440, 441}


def test_parts_in_memory_keep_copies_together():
    parts = likely.split(noise(), "y", validation=0.2, test=0.2)
    rows = (parts.train_rows, parts.validation_rows, parts.test_rows)
    train, validation, test = ({*(each % 400)} for each in rows)
    assert not train & validation
    assert not train & test
    assert not validation & test
