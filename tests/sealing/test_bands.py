"""Sealed rows are recognised by bands of columns, and rows that are equal by chance are not."""

from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import likely
from benchmarks.disguises import DISGUISES, category_tables, people
from likely.sealing.bands import (
    Band,
    are_copies,
    marked,
    matched_names,
    same_counts_by_chance,
    share_sealed_rows,
)
from likely.sealing.folder import seals_in
from likely.sealing.recognition import _searched, holds_sealed_rows
from tests.sealing.test_recognition import customers

PEOPLE = people(400)


@pytest.fixture(scope="module")
def people_seal(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    likely.seal(PEOPLE, "churn", name="people", folder=folder)
    return seals_in([folder])


UNSEEN = {"all columns renamed", "all numbers standardised, text as codes"}  # as seal.rst says


@pytest.mark.parametrize("name", DISGUISES)
def test_a_disguise_hides_no_sealed_rows_and_makes_none_of_training_rows(people_seal, name):
    disguised, train = (
        pa.Table.from_pandas(DISGUISES[name](frame), preserve_index=False)
        for frame in (PEOPLE, people_seal[0].train.to_pandas())
    )
    assert bool(holds_sealed_rows(disguised, people_seal)) is (name not in UNSEEN)
    searched = _searched(train, people_seal)[0]
    assert (searched.held(), searched.some()) == (None, None)


@pytest.mark.parametrize("pair", list(combinations(PEOPLE.columns[1:-1], 2)), ids="-".join)
def test_any_two_shuffled_columns_leave_sealed_rows_recognisable(people_seal, pair):
    rng, frame = np.random.default_rng(3), PEOPLE.copy()
    for name in pair:
        frame[name] = rng.permutation(frame[name].to_numpy())
    (held,) = holds_sealed_rows(pa.Table.from_pandas(frame), people_seal)
    few_values = set(pair) == {"home town", "member"}  # an eighth of the rows stays as it was
    assert held.n_found >= (0.1 if few_values else 0.9) * held.n_sealed


def test_a_slice_with_one_column_changed_is_recorded(people_seal):
    sealed = PEOPLE.merge(people_seal[0].features.to_pandas()[["customer"]]).head(5)
    changed = pa.Table.from_pandas(sealed.assign(age=sealed["age"] + 1))
    (search,) = _searched(changed, people_seal)
    assert search.held() is None
    assert search.some().n_found == 5


@pytest.mark.parametrize("case", list(category_tables()), ids=lambda case: case[0])
def test_fresh_rows_of_categories_are_never_refused_or_recorded(tmp_path, case):
    _, drawn, n = case
    table = pa.Table.from_pandas(drawn(n, 0))
    likely.seal(table, "y", name="cells", folder=tmp_path)
    seals = seals_in([tmp_path])
    for size in (n // 20, n // 5, 2 * n):
        (search,) = _searched(pa.Table.from_pandas(drawn(size, 1)), seals)
        assert (search.held(), search.some()) == (None, None)
    (held,) = holds_sealed_rows(table.take(np.random.default_rng(0).permutation(n)), seals)
    assert held.n_found == held.n_sealed  # the file itself, in another order


def test_copies_that_were_kept_together_are_recognised_with_a_changed_column(tmp_path):
    frame = pd.concat([customers(200).drop(columns="id")] * 2, ignore_index=True)
    frame = pd.concat([frame, customers(4000, seed=2).drop(columns="id")], ignore_index=True)
    likely.seal(frame, "churn", name="copied", folder=tmp_path)
    changed = pa.Table.from_pandas(frame.assign(age=frame["age"] + 1))
    (held,) = holds_sealed_rows(changed, seals_in([tmp_path]))
    assert held.n_found > 0.9 * held.n_sealed


def test_names_are_compared_without_case_and_blanks_if_only_one_fits():
    assert matched_names(["Age", "b c"], [" AGE", "B_C", "d"]) == {"Age": " AGE", "b c": "B_C"}
    assert matched_names(["Age"], ["AGE", "age"]) == {}
    assert matched_names(["a b", "a_b"], ["A-B"]) == {}
    assert matched_names(["age", "AGE"], ["age", "Age"]) == {"age": "age", "AGE": "Age"}


def test_two_seals_share_rows_under_other_names_and_with_a_changed_column(tmp_path):
    frame = customers().drop(columns="id")
    for name, data, target in (
        ("one", frame, "churn"),
        ("two", frame.rename(columns=str.upper).assign(AGE=frame["age"] + 1), "CHURN"),
        ("three", customers(seed=5).drop(columns="id"), "churn"),
    ):
        likely.seal(data, target, name=name, folder=tmp_path)
    one, three, two = seals_in([tmp_path])
    assert share_sealed_rows(one, two)
    assert share_sealed_rows(two, one)
    assert not share_sealed_rows(one, three)


def test_the_share_by_chance_is_that_of_fresh_rows_of_equal_categories():
    rng, n_rows, shares = np.random.default_rng(0), 500, {}
    for part in (0.2, 1.0, 3.0):
        found, predicted = [], []
        for _ in range(60):
            rows = rng.integers(0, n_rows, n_rows).astype(np.uint64)
            band = Band.of((), rows[:100], rows[100:])
            fresh = rng.integers(0, n_rows, int(part * n_rows)).astype(np.uint64)
            found.append(marked(band.known, fresh).mean())
            predicted.append(band.by_chance(fresh.size))
        shares[part] = np.mean(predicted) - np.mean(found)
    assert all(0 < more < 0.04 for more in shares.values()), shares  # two rows of 100 more


def test_the_same_counts_by_chance_are_a_multinomial_probability():
    rows = np.repeat(np.array([5, 6, 9], dtype=np.uint64), [2, 3, 1])
    expected = comb(6, 2) * comb(4, 3) * (2 / 6) ** 2 * (3 / 6) ** 3 * (1 / 6)
    assert same_counts_by_chance(rows) == pytest.approx(expected, rel=1e-12)


def test_few_equal_rows_of_few_known_ones_are_chance():
    band = Band((), np.arange(4, dtype=np.uint64), np.full(196, 4), 1000)
    assert not any(band.beyond_chance(3, n) or band.enough(3, n) for n in (300, 1000, 5000))
    alone = Band((), np.arange(200, dtype=np.uint64), np.zeros(0, dtype=int), 1000)
    assert alone.enough(200, 1000)
    assert alone.beyond_chance(3, 3)
    assert not alone.enough(19, 3)
    assert alone.enough(21, 3)
    assert not alone.beyond_chance(0, 1000)


@pytest.mark.parametrize("n_known", [0, 1, 1000])
def test_marked_rows_are_those_of_a_set(n_known):
    rng = np.random.default_rng(n_known)
    known = np.unique(rng.integers(0, 2**63, n_known).astype(np.uint64))
    here = np.append(known[::3], rng.integers(0, 2**63, 500).astype(np.uint64))
    assert np.array_equal(marked(known, here), np.isin(known, here))


def test_enough_rows_are_a_tenth_and_those_by_chance():
    band = Band((), np.arange(2000, dtype=np.uint64), np.ones(500, dtype=int), 10_000)
    by_chance = band.by_chance(5000)
    assert 0.01 < by_chance < 0.5
    least = (0.1 + by_chance) * 2000
    assert not band.enough(int(least), 5000)
    assert band.beyond_chance(int(least), 5000)
    assert band.enough(int(least) + 1, 5000)


def test_a_detailed_column_has_more_different_cells_than_the_share_of_a_key():
    rows = np.repeat(np.arange(100, dtype=np.uint64), 2)
    for n_different, copies in ((90, False), (91, True)):
        detailed = np.minimum(rows, n_different - 1)
        assert are_copies(rows, 20, [detailed]) == copies
