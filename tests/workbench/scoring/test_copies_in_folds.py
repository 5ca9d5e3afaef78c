"""Copies of rows are never on both sides of a split, and count once in intervals."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

import likely
from likely import PlattScaling
from likely.data.block import ArrayBlocks
from likely.data.copies import copies_in, copies_in_blocks
from likely.data.hashed_splits import share_of_each_class, split_mask, stratified_fold_of
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Mixed
from likely.errors import InvalidInput
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


def nearly(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(c=np.random.default_rng(1).normal(size=len(frame)))


def test_one_nearest_neighbour_is_not_clearly_better_on_nearly_copied_noise():
    found = likely.compare(nearly(noise()), "y", models=[KNeighborsClassifier(1)], repeats=1)
    assert found.folds.units.size == 2000
    assert np.unique(found.folds.units).size == 400
    assert found.flattering == ()  # LK205 is said, and does not forbid a verdict
    assert [each.code for each in found.doubts] == ["LK205"]
    for each in found.entries:
        if "Neighbors" in each.name:
            assert each.score.estimates["accuracy"].value < 0.6  # 0.87 with copies on both sides


def test_a_model_may_be_better_where_near_copies_are_held_out_together():
    frame = nearly(noise())
    frame["y"] = np.where(frame.a + 0.3 * frame.c > 0, "yes", "no")
    found = likely.compare(frame, "y", models=["logistic"], repeats=1)
    assert "Best: logistic, clearly better than the baseline" in str(found)
    assert "LK205" in str(found)
    days = frame.assign(c=frame.b, day=pd.date_range("2020-01-01", periods=2000, freq="h"))
    by_time = likely.compare(days, "y", ["logistic"], by_time="day")
    assert "not clearly better" in str(by_time)  # earlier rows of the same kind are learned from


def test_more_folds_than_rows_that_are_not_nearly_the_same_are_refused():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(np.repeat(rng.normal(size=(9, 4)), 6, axis=0), columns=list("abcd"))
    frame += 1e-5 * rng.normal(size=frame.shape)
    frame["y"] = np.repeat(rng.normal(size=9), 6) + 0.1 * rng.normal(size=54)
    rows = dataset(frame, "y", kind="real").for_models(["linear"], "compare")
    assert len(np.unique(rows.folds(9).copies)) == 9
    with pytest.raises(InvalidInput, match="Use at most 9 folds"):
        rows.folds(10)


def test_near_copies_are_on_one_side_of_a_seal(tmp_path):
    sealed = likely.seal(nearly(noise()), "y", name="noise", folder=tmp_path)
    assert len(sealed.train) == 1600
    assert sealed.train["a"].nunique() == 320


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
    from likely.neural.examples import ExamplesInMemory
    from likely.neural.problem import split_off

    X = np.repeat(np.random.default_rng(0).normal(size=(60, 3)), 4, axis=0)
    training, held = split_off(ExamplesInMemory(X, np.arange(240) // 4 % 2), 0.2, 0)
    assert not set(map(tuple, held.X)) & set(map(tuple, training.X))
    assert held.n_rows == 48


def test_rows_held_out_to_stop_a_search_are_no_copies_of_fitted_rows():
    X = np.repeat(np.random.default_rng(0).normal(size=(60, 3)), 4, axis=0)
    assert_array_equal(copies_in_blocks(ArrayBlocks(Dense(X))), np.arange(240) // 4 * 4)


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


@pytest.mark.parametrize("model", [likely.NaiveBayes, likely.DiscriminantAnalysis])
def test_the_temperature_of_copied_noise_is_that_of_its_different_rows(model):
    draws = np.random.default_rng(0)
    X, y = draws.normal(size=(100, 40)), np.arange(100) % 2
    new, truth = draws.normal(size=(1000, 40)), np.arange(1000) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns without information
        fitted = model(calibrate="temperature").fit(np.repeat(X, 5, axis=0), np.repeat(y, 5))
    p = fitted.predict_proba(new)[np.arange(1000), truth]
    assert -np.log(p).mean() < np.log(2) + 0.03  # 0.9 and more, where folds share copies


def test_copies_of_words_beside_numbers_are_in_one_fold():
    draws = np.random.default_rng(0)
    words = sparse.csr_array(draws.poisson(1.0, (60, 30)).astype(float))
    design = Mixed(
        sparse.vstack([words] * 3, format="csr"), np.tile(np.arange(60) % 4, 3)[:, None], (4,)
    )
    assert_array_equal(copies_in_blocks(ArrayBlocks(design)), np.tile(np.arange(60), 3))
    other = replace(design, codes=np.arange(180)[:, None] // 60)
    assert copies_in_blocks(ArrayBlocks(other)) is None


def test_copied_texts_of_many_words_are_kept_together_by_seals_and_splits(tmp_path):
    words = np.array([a + b + c for a in "bdfg" for b in "aeiou" for c in ("nt", "rs", "mp")])
    draws = np.random.default_rng(0)
    texts = [" ".join(draws.choice(words, 20)) for _ in range(100)]
    frame = pd.DataFrame({"text": texts, "x": draws.integers(0, 5, 100)})
    frame["y"] = draws.choice(["no", "yes"], 100)
    frame = pd.concat([frame] * 4, ignore_index=True)
    for table in (frame, frame.drop(columns="x")):
        parts = likely.split(table, "y", validation=0.2, test=0.2)
        assert not {*parts.train["text"]} & {*parts.validation["text"], *parts.test["text"]}
        sealed = likely.seal(table, "y", name=f"texts-{table.shape[1]}", folder=tmp_path)
        assert set(sealed.train["text"].value_counts()) == {4}


def test_texts_that_are_repeated_as_categories_are_equal_by_chance():
    kinds = [f"item number {i} of a long list of items that are sold here" for i in range(60)]
    frame = pd.DataFrame({"item": np.random.default_rng(0).choice(kinds, 2000)})
    assert copies_in(frame) is None


def test_groups_that_equal_rows_join_are_named_where_too_few_are_left():
    with pytest.raises(InvalidInput, match="only 1 set of groups that share equal rows"):
        Folds(n_rows=4, n_folds=2, groups=np.array([0, 0, 1, 1]), copies=np.array([0, 1, 1, 3]))
