"""Training, validation and test rows: disjoint, complete, repeatable, by the rules of a seal."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely
from likely.errors import InvalidInput, SealedRows


def some_rows(n=150, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "shop": rng.integers(0, 30, n),
            "day": rng.permutation(n),
            "y": rng.choice(["red", "green", "blue"], n, p=[0.6, 0.3, 0.1]),
        }
    )


def rows_of(parts):
    return [parts.train_rows, parts.validation_rows, parts.test_rows]


@given(
    seed=st.integers(0, 20), validation=st.floats(0.1, 0.4), test=st.none() | st.floats(0.1, 0.4)
)
def test_parts_are_disjoint_complete_and_keep_class_shares(seed, validation, test):
    frame = some_rows(seed=seed)
    parts = likely.split(frame, "y", validation=validation, test=test, seed=seed)
    assert sorted(np.concatenate(rows_of(parts)).tolist()) == list(range(len(frame)))
    again = likely.split(frame, "y", validation=validation, test=test, seed=seed)
    for one, other in zip(rows_of(parts), rows_of(again), strict=True):
        np.testing.assert_array_equal(one, other)
    counts = frame["y"].value_counts()
    shares = {"validation": validation, "test": test or 0.0}
    shares["train"] = 1 - sum(shares.values())
    for part, share in shares.items():
        found = frame["y"].iloc[getattr(parts, f"{part}_rows")].value_counts()
        for label, n in counts.items():
            assert abs(found.get(label, 0) - share * n) < 2, (part, label)  # rounded part by part


def test_frames_are_the_rows_of_the_table():
    frame = some_rows()
    parts = likely.split(frame, "y", test=0.2)
    for part in ("train", "validation", "test"):
        index = getattr(parts, f"{part}_rows")
        found = getattr(parts, part)
        pd.testing.assert_frame_equal(found, frame.iloc[index].reset_index(drop=True))
    assert isinstance(likely.split(pl.from_pandas(frame), "y").validation, pl.DataFrame)
    assert likely.split(frame, "y").test is None


def test_another_seed_is_another_split():
    frame = some_rows()
    one, other = (likely.split(frame, "y", seed=seed).validation_rows for seed in (0, 1))
    assert not np.array_equal(one, other)


def test_arrays_are_split_by_index():
    frame = some_rows()
    X, y = frame[["a", "day"]].to_numpy(), frame["y"].to_numpy()
    parts = likely.split(X, y)
    np.testing.assert_array_equal(parts.train_rows, likely.split(frame, "y").train_rows)
    model = likely.NaiveBayes("gaussian").fit(X[parts.train_rows], y[parts.train_rows])
    assert len(model.predict(X[parts.validation_rows])) == 30


@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist])
def test_arrays_come_back_as_pairs_of_arrays(form):
    frame = some_rows()
    X, y = frame[["a", "day"]].to_numpy(), frame["y"].to_numpy()
    parts = likely.split(form(X), form(y), test=0.2)
    for part in ("train", "validation", "test"):
        rows = getattr(parts, f"{part}_rows")
        found_X, found_y = getattr(parts, part)
        np.testing.assert_array_equal(found_X, X[rows])
        np.testing.assert_array_equal(found_y, y[rows])
        assert found_X.dtype == X.dtype
    model = likely.SoftmaxRegression(l2=1.0)
    curve = likely.training_curve(model, *parts.train, validation=parts.validation)
    assert len(curve.train) == len(curve.validation)


def test_an_array_whose_target_is_a_column_comes_back_as_an_array():
    X = np.column_stack([np.arange(40.0), np.arange(40) % 2])
    parts = likely.split(X, "1")
    np.testing.assert_array_equal(parts.train, X[parts.train_rows])


def test_groups_stay_together_in_all_three_parts():
    frame = some_rows()
    parts = likely.split(frame, "y", validation=0.2, test=0.2, group="shop")
    shops = [set(getattr(parts, part)["shop"]) for part in ("train", "validation", "test")]
    assert not shops[0] & shops[1] | shops[0] & shops[2] | shops[1] & shops[2]
    assert all(abs(len(rows) - 30) < 10 for rows in rows_of(parts)[1:])


def test_by_time_training_comes_before_validation_and_validation_before_test():
    parts = likely.split(some_rows(), "y", validation=0.2, test=0.2, by_time="day")
    assert parts.train["day"].max() < parts.validation["day"].min()
    assert parts.validation["day"].max() < parts.test["day"].min()
    assert parts.rule == "the latest by day"


def test_rows_are_named_by_index_or_by_booleans():
    frame = some_rows()
    named = np.arange(20, 50)
    parts = likely.split(frame, "y", validation=named, test=0.2)
    np.testing.assert_array_equal(parts.validation_rows, named)
    assert len(parts.test_rows) == 30
    assert not set(parts.test_rows) & set(named)
    masked = likely.split(frame, "y", validation=np.isin(np.arange(150), named), test=[0, 1])
    np.testing.assert_array_equal(masked.validation_rows, named)
    np.testing.assert_array_equal(masked.test_rows, [0, 1])
    assert len(masked.train_rows) == 118


def test_equal_rows_are_in_one_part():
    frame = pd.concat([some_rows(), some_rows().iloc[:5]], ignore_index=True)
    parts = likely.split(frame, "y", validation=0.3, test=0.3)
    part_of = np.empty(len(frame), dtype=int)
    for k, rows in enumerate(rows_of(parts)):
        part_of[rows] = k
    np.testing.assert_array_equal(part_of[:5], part_of[150:])
    assert "equal another in all features" in parts.notes[0]


def test_of_a_seal_only_training_rows_are_split(tmp_path):
    frame = some_rows()
    sealed = likely.seal(frame, "y", group="shop", folder=tmp_path, name="shops")
    for form in (sealed, sealed.path, str(sealed.path)):
        parts = likely.split(form)
        assert len(parts.train) + len(parts.validation) == sealed.manifest.n_train
        assert parts.test is None
        assert not set(parts.train["shop"]) & set(parts.validation["shop"]), "it remembers groups"
        found = pd.concat([parts.train, parts.validation])
        assert set(found["day"]) == set(sealed.train["day"])
    with pytest.raises(InvalidInput, match=r"whose test rows are sealed.*Leave test out"):
        likely.split(sealed, test=0.2)
    assert sealed.evaluations == 0


def test_data_that_hold_sealed_rows_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = some_rows()
    sealed = likely.seal(frame, "y", name="shops")
    with pytest.raises(SealedRows):
        likely.split(frame, "y")
    assert sealed.ledger()[-1]["command"] == "split"


REFUSED = {
    "share": ({"validation": 1.5}, "validation is 1.5; expected a share"),
    "no share": ({"validation": None}, "validation is None"),
    "test share": ({"test": 0}, "test is 0; expected a share"),
    "nothing left": ({"validation": 0.5, "test": 0.5}, "leave no row to train on"),
    "twice": ({"validation": [1, 2], "test": [2, 3]}, "Row 2 was named for two parts"),
    "outside": ({"validation": [150]}, "validation names row 150"),
    "named and grouped": ({"validation": [1], "group": "shop"}, "split by one rule"),
    "too few": ({"validation": 0.001}, "leaves 0 validation rows"),
    "column": ({"group": "town"}, "There is no column 'town'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_split_is_refused(name):
    given, message = REFUSED[name]
    with pytest.raises(InvalidInput, match=message):
        likely.split(some_rows(), "y", **given)


def test_it_says_how_many_rows_and_the_rule():
    assert repr(likely.split(some_rows(), "y", test=0.2)) == (
        "<Parts: 90 training rows, 30 validation rows, 30 test rows; stratified by y>"
    )
    assert "test row" not in repr(likely.split(some_rows(), "y"))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_and_its_labels_come_back_as_frames_of_that_library(library):
    frame = some_rows()
    X, y = frame[["a", "day"]], frame["y"]
    if library == "polars":
        X, y = pl.from_pandas(X), pl.Series("y", y.to_numpy())
    parts = likely.split(X, y)
    for part, rows in ((parts.train, parts.train_rows), (parts.validation, parts.validation_rows)):
        assert type(part) is type(X)
        assert list(part.columns) == ["a", "day", "y"]
        np.testing.assert_array_equal(part["y"].to_numpy(), frame["y"].to_numpy()[rows])


def test_rows_without_a_target_are_in_no_part():
    table = pd.DataFrame(
        {"x": range(50), "y": [None if k % 10 == 3 else "ab"[k % 2] for k in range(50)]}
    )
    parts = likely.split(table, "y", validation=0.2, test=[0, 3, 7])
    used = np.concatenate([parts.train_rows, parts.validation_rows, parts.test_rows])
    assert sorted(used) == [k for k in range(50) if k % 10 != 3]
    assert parts.test_rows.tolist() == [0, 7] and len(parts.validation_rows) == 9
    assert parts.notes[0] == "5 rows without a target (y) were left out."


@pytest.mark.parametrize("target", [[f"c{k % 10}" for k in range(30)], np.linspace(0, 1, 30)])
def test_a_share_of_few_rows_in_many_strata_is_reached(target):
    """Rounding in each of ten strata of three rows would set ten rows apart."""
    parts = likely.split(pd.DataFrame({"x": np.arange(30.0), "y": target}), "y", validation=0.2)
    assert len(parts.validation_rows) == 6
