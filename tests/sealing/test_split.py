"""Splits: complete and disjoint by construction; shares, groups, time and twins as promised."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.errors import InvalidInput
from likely.sealing.split import _groups, split_rows
from tests.sealing.conftest import some_table


@given(
    n=st.integers(20, 200),
    seed=st.integers(0, 99),
    share=st.sampled_from([0.1, 0.2, 0.37, 0.5]),
    n_classes=st.integers(2, 4),
)
def test_each_class_has_its_share_to_within_a_row_and_all_together_to_the_nearest(
    n, seed, share, n_classes
):
    y = np.random.default_rng(seed).integers(0, n_classes, n)
    table = pa.table({"x": np.arange(n), "y": [f"c{k}" for k in y]})
    try:
        sealed = split_rows(table, "y", test=share, seed=seed).sealed
    except InvalidInput:
        assert round(share * n) == 0
        return
    assert sealed.sum() == round(share * n)
    for k in range(n_classes):
        assert abs(sealed[y == k].sum() - share * np.sum(y == k)) < 1


def test_the_same_seed_gives_the_same_rows_and_another_gives_others(table):
    first, same, other = (split_rows(table, "y", test=0.2, seed=s).sealed for s in (0, 0, 1))
    assert (first == same).all()
    assert (first != other).any()


def test_amounts_are_stratified_by_tenths():
    x = np.random.default_rng(0).permutation(1000)
    split = split_rows(pa.table({"x": x, "y": x / 7}), "y", test=0.2)
    assert split.rule == "stratified by tenths of y"
    assert (np.histogram(x[split.sealed], bins=10)[0] == 20).all()


@given(seed=st.integers(0, 99), n_groups=st.integers(5, 40))
def test_groups_stay_on_one_side(seed, n_groups):
    table = some_table(200, seed)
    group = np.random.default_rng(seed).integers(0, n_groups, 200)
    split = split_rows(
        table.append_column("g", pa.array(group)), "y", test=0.3, group="g", seed=seed
    )
    assert not set(group[split.sealed]) & set(group[~split.sealed])
    assert split.rule.startswith("whole groups of g")
    assert 0.15 <= split.sealed.mean() <= 0.6


def test_equal_rows_of_two_groups_tie_the_groups_together():
    table = some_table(60)
    group = np.arange(60) // 2
    rows = table.append_column("g", pa.array(group)).append_column("v", pa.array(np.arange(60)))
    twin = rows.slice(0, 1)
    rows = pa.concat_tables([rows.drop_columns(["g"]), twin.drop_columns(["g"])])
    rows = rows.append_column("g", pa.array([*group, 29]))
    for seed in range(5):
        split = split_rows(rows, "y", test=0.4, group="g", seed=seed)
        assert not set(np.append(group, 29)[split.sealed]) & set(
            np.append(group, 29)[~split.sealed]
        )


@pytest.mark.parametrize(
    "times",
    [
        np.arange(50),
        [datetime.date(2024, 1, 1) + datetime.timedelta(days=int(d)) for d in range(50)],
        [f"2024-{1 + d // 28:02}-{1 + d % 28:02}" for d in range(50)],
    ],
    ids=["numbers", "dates", "text"],
)
def test_the_latest_rows_are_sealed(times):
    order = np.random.default_rng(0).permutation(50)
    table = pa.table({"t": [times[i] for i in order], "y": ["a", "b"] * 25})
    split = split_rows(table, "y", test=0.2, by_time="t")
    assert sorted(order[split.sealed]) == list(range(40, 50))
    assert split.rule == "the latest by t"


@pytest.mark.parametrize(
    "forms",
    [("2024-01-05 10:00", "2024-01-05T09:00"), ("2024-01-05T10:00:30Z", "2024-01-05T10:00Z")],
)
def test_iso_times_are_in_order_in_every_form(forms):
    late, early = forms
    table = pa.table({"t": [late, early] * 5, "y": ["a", "b", "b", "a", "a"] * 2})
    split = split_rows(table, "y", test=0.5, by_time="t")
    assert split.sealed.tolist() == [True, False] * 5


def test_rows_of_one_time_stay_together():
    times = np.repeat(np.arange(10), 5)
    table = pa.table({"t": times, "y": ["a", "b"] * 25})
    sealed = split_rows(table, "y", test=0.25, by_time="t").sealed
    assert not set(times[sealed]) & set(times[~sealed])
    assert sealed.sum() == 15, "12.5 rows, and those of the same time as the earliest"


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (["31.5.2024", "1.6.2024"] * 5, r"found '31\.5\.2024'.*ISO dates"),
        (["2024-01-01", None] * 5, "5 missing times, the first in row 1"),
        (pa.array([1.0, float("nan")] * 5), "5 missing times, the first in row 1"),
        (["2024-01-01T10:00Z", "2024-01-01T10:00+02:00"] * 5, "several zones"),
    ],
)
def test_times_without_an_order_are_refused(times, message):
    table = pa.table({"t": times, "y": ["a", "b"] * 5})
    with pytest.raises(InvalidInput, match=message):
        split_rows(table, "y", test=0.2, by_time="t")


@given(seed=st.integers(0, 99))
def test_equal_rows_stay_on_one_side(seed):
    table = some_table(200, seed)
    table = pa.concat_tables([table, table.slice(0, 9)])
    split = split_rows(table, "y", test=0.3, seed=seed)
    assert (split.sealed[:9] == split.sealed[200:]).all()
    assert split.notes == (
        "18 rows (8.6 %) equal another in all features; equal rows were kept together, "
        "on one side of the split.",
    )


def test_rows_that_are_equal_by_chance_are_split_without_a_note(table):
    split = split_rows(table.select(["town", "y"]), "y", test=0.2)
    assert split.sealed.sum() == 24
    assert split.notes == ()


def test_copies_of_all_rows_stay_on_one_side(table):
    split = split_rows(pa.concat_tables([table] * 5), "y", test=0.2)
    assert split.sealed.sum() == 120
    assert (split.sealed.reshape(5, 120) == split.sealed[:120]).all()
    assert split.notes[0].startswith("600 rows (100.0 %) equal another in all features; equal rows")


def test_an_identifier_does_not_hide_copies(table):
    numbered = pa.concat_tables([table] * 2).append_column("id", pa.array(np.arange(240)))
    split = split_rows(numbered, "y", test=0.2, apart=["id"])
    assert (split.sealed[:120] == split.sealed[120:]).all()


def test_sealed_rows_by_time_that_equal_earlier_ones_are_counted(table):
    timed = pa.concat_tables([table] * 2).append_column("day", pa.array(np.arange(240)))
    split = split_rows(timed, "y", test=0.25, by_time="day")
    assert split.notes == (
        "60 of the sealed rows equal an earlier training row in all other features.",
    )


def test_a_split_that_leaves_a_side_empty_is_refused(table):
    one = table.append_column("g", pa.array(np.zeros(120)))
    with pytest.raises(InvalidInput, match=r"one group of 'g'.*Choose another column"):
        split_rows(one, "y", test=0.2, group="g")
    with pytest.raises(InvalidInput, match=r"leaves 0 sealed rows.*Choose another share"):
        split_rows(table, "y", test=0.001)


def grouped(sizes):
    table = some_table(sum(sizes))
    group = np.repeat(np.arange(len(sizes)), sizes)
    return table.append_column("g", pa.array(group)), group


def test_few_large_groups_are_sealed_as_near_to_the_share_as_they_can_be():
    table, group = grouped([100] * 4)
    chosen = set()
    for seed in range(20):
        split = split_rows(table, "y", test=0.2, group="g", seed=seed)
        assert split.sealed.mean() == 0.25
        assert not set(group[split.sealed]) & set(group[~split.sealed])
        chosen |= set(group[split.sealed])
    assert chosen == {0, 1, 2, 3}, "which one is by the seed"


def test_groups_that_are_few_in_each_stratum_are_sealed_too():
    table, _ = grouped([20] * 20)
    amounts = table.append_column("amount", pa.array(np.arange(400.0)))
    split = split_rows(amounts, "amount", test=0.2, group="g")
    assert split.sealed.mean() == pytest.approx(0.2, abs=0.05)


def test_a_share_that_whole_groups_cannot_make_is_refused_and_the_nearest_named():
    table, _ = grouped([100, 100])
    with pytest.raises(InvalidInput, match=r"share of 0\.2 cannot.*the nearest is 0\.5"):
        split_rows(table, "y", test=0.2, group="g")
    assert split_rows(table, "y", test=0.5, group="g").sealed.sum() == 100


def test_rows_that_are_named_are_sealed_and_twins_across_are_counted(table):
    rows = pa.concat_tables([table, table.slice(0, 2)])  # 120 and 121 equal 0 and 1
    split = split_rows(rows, "y", test=[5, 121, 7, 0])
    assert np.flatnonzero(split.sealed).tolist() == [0, 5, 7, 121]
    assert split.notes == ("2 of the sealed rows equal a training row in all features.",)
    assert split_rows(rows, "y", test=[0, 120]).notes == ()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([0, 120], "names row 120; there are rows 0 to 119"),
        ([-1], "names row -1"),
        ([True, False], "2 Booleans; there are 120 rows"),
        ([0.5, 0.2], "array of float64 with shape .2,.; expected a share"),
        (["a"], "expected a share, indices"),
        ([[1, 2]], "expected a share, indices"),
        (np.ones(120, dtype=bool), "leaves 120 sealed rows and 0 to train on"),
    ],
    ids=str,
)
def test_rows_that_are_not_there_cannot_be_sealed(rows, message, table):
    with pytest.raises(InvalidInput, match=message):
        split_rows(table, "y", test=rows)


def test_a_row_without_a_group_is_a_group_of_its_own():
    rng = np.random.default_rng(0)
    group = [None if i % 4 == 0 else f"g{i % 40}" for i in range(200)]
    table = pa.table({"x": rng.normal(size=200), "g": group, "y": ["a", "b"] * 100})
    split = split_rows(table, "y", test=0.3, group="g", by_time=None, seed=0)
    missing = np.arange(200) % 4 == 0
    assert 0 < split.sealed[missing].mean() < 1
    assert "50 rows without g: each is a group of its own." in split.notes


def test_equal_texts_are_kept_together_however_many_there_are():
    texts = [f"the {i % 30} documents of this table" for i in range(120)]
    table = pa.table({"text": texts, "y": [i % 2 for i in range(120)]})
    apart = split_rows(table, "y", test=0.2, seed=0)
    assert apart.notes == ()
    found = split_rows(table, "y", test=0.2, seed=0, texts=["text"])
    assert "were kept together" in found.notes[0]
    sealed = {text for text, there in zip(texts, found.sealed, strict=True) if there}
    assert sealed and not sealed & {
        t for t, there in zip(texts, found.sealed, strict=True) if not there
    }


def test_rows_without_a_group_are_in_no_other_group_and_groups_with_equal_rows_are_counted():
    table = pa.table({"g": ["a", None, "b", None, "a", None, None, "c"]})
    groups, alone = _groups(table, "g")
    assert alone == 4 and len(set(groups.tolist())) == 3 + 4
    assert groups[0] == groups[4]
    rows = some_table(60)
    several = pa.concat_tables([rows, rows.slice(0, 3)])
    several = several.append_column("g", pa.array([*range(60), 50, 51, 51]))
    several = several.append_column("v", pa.array([*range(60), 0, 1, 2]))
    notes = split_rows(several, "y", test=0.4, group="g", seed=0).notes
    assert any(note.startswith("4 groups of g have equal rows") for note in notes), notes
