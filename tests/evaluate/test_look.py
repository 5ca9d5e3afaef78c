"""``look``: each code is found where it is, nowhere else, and costs little."""

import datetime
import json
import re
import time
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely as lk
from likely.cli.builtin import BUILTIN, builtin_table
from likely.errors import InvalidInput, UnknownName
from likely.evaluate import opened
from likely.evaluate.findings import CODES
from likely.evaluate.leaks import binned, explained_share, explained_variance
from likely.evaluate.profile import profile_of
from likely.evaluate.table_checks import chance_copies
from likely.evaluate.task import task_of

N = 400
ALLOWED_SECONDS = 0.3


def sound(n=N, seed=0):
    """A table with nothing to find in it."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    return pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(50 + 10 * ill, 8)),
            "visits": rng.poisson(3, n),
            "city": rng.choice(["Bonn", "Ulm", "Kiel"], n),
            "smoker": rng.random(n) < 0.3 + 0.2 * ill,
            "ill": np.where(ill, "yes", "no"),
        }
    )


def with_column(values, name="it"):
    return sound().assign(**{name: values})


def with_target(values):
    return sound().assign(ill=values)


RNG = np.random.default_rng(1)
ILL = (sound()["ill"] == "yes").to_numpy()
WORDS = np.array([f"word {i}" for i in range(5000)], dtype=object)
DATES = pd.date_range("2020-01-01", periods=N)

CASES = {  # code: tables that have it, and the columns in which it is
    "LK101": [
        (with_column([f"P-{i:05d}" for i in range(N)]), ("it",)),
        (with_column(RNG.permutation(N)), ("it",)),
        (with_column(RNG.permutation(N) + 1.0), ("it",)),
    ],
    "LK102": [(with_column(["cm"] * N), ("it",)), (with_column([0.0, np.nan] * (N // 2)), ("it",))],
    "LK103": [
        (with_column(["a"] * (N - 1) + ["b"]), ("it",)),
        (with_column([7] * 399 + [8]), ("it",)),
    ],
    "LK104": [
        (with_column([*(str(x) for x in RNG.integers(0, 90, N - 3)), "n/a", "n/a", "?"]), ("it",)),
        (with_column(pd.Series([1, "two", 2.5, "four"] * (N // 4), dtype=object)), ("it",)),
    ],
    "LK105": [
        (with_column([str(x) for x in RNG.integers(0, 90, N)]), ("it",)),
        (with_column([f"{x:,.2f}" for x in RNG.normal(5000, 900, N)]), ("it",)),
        (with_column([f"{x:.1f}".replace(".", ",") for x in RNG.normal(size=N)]), ("it",)),
        (with_column([f"€ {x}" for x in RNG.integers(1, 90, N)]), ("it",)),
        (with_column([f"{x} %" for x in RNG.integers(1, 90, N)]), ("it",)),
    ],
    "LK106": [
        (with_column(DATES.strftime("%Y-%m-%d")), ("it",)),
        (with_column(DATES.strftime("%d.%m.%Y")), ("it",)),
        (with_column(DATES.strftime("%m/%d/%y %H:%M")), ("it",)),
        (with_column(DATES.strftime("%Y-%m-%dT%H:%M:%SZ")), ("it",)),
    ],
    "LK107": [
        (with_column(["K�ln", "Bonn"] * (N // 2)), ("it",)),
        (with_column(["Köln".encode().decode("latin-1"), "Köln"] * (N // 2)), ("it",)),
    ],
    "LK108": [(with_column(WORDS[RNG.integers(0, 150, N)]), ("it",))],
    "LK109": [(with_column(np.where(RNG.random(N) < 0.3, RNG.normal(size=N), np.nan)), ("it",))],
    "LK110": [(with_column([np.nan] * N), ("it",)), (with_column([None] * N), ("it",))],
    "LK111": [(pd.concat([sound(), sound(seed=1)[["age"]]], axis=1), ("age",))],
    "LK112": [(with_column(DATES), ("it",)), (with_column([[1, 2]] * N), ("it",))],
    "LK113": [
        (with_column(sound()["city"].map({"Bonn": 1, "Ulm": 2, "Kiel": 3})), ("it",)),
        (with_column(sound()["age"]), ("it",)),
    ],
    "LK114": [(with_column([np.inf, *RNG.normal(size=N - 1)]), ("it",))],
    "LK115": [(with_column(["?", "a", "b", "c"] * (N // 4)), ("it",))],
    "LK201": [(pd.concat([sound(), sound().iloc[[3, 7]]]), ())],
    "LK202": [(pd.concat([sound(), sound().iloc[[0]].assign(ill="yes")]), ("ill",))],
    "LK203": [(pd.concat([sound(), pd.DataFrame({"ill": ["yes"]})]), ())],
    "LK301": [
        (with_target([None, *sound()["ill"][1:]]), ("ill",)),
        (with_target([None] * N), ("ill",)),
    ],
    "LK302": [(with_target(["yes"] * N), ("ill",))],
    "LK303": [(with_target(["rare"] * 3 + sound()["ill"].tolist()[3:]), ("ill",))],
    "LK304": [(with_target(np.where(RNG.random(N) < 0.05, "yes", "no")), ("ill",))],
    "LK305": [(with_target(WORDS[RNG.integers(0, 5000, N)]), ("ill",))],
    "LK306": [(with_target(DATES), ("ill",))],
    "LK401": [
        (with_column(ILL), ("it",)),  # another name for the target
        (with_column(np.where(ILL, 3.0, 1.0) + RNG.random(N)), ("it",)),  # a threshold
        (with_column(pd.Series(np.where(ILL, 1.0, np.nan))), ("it",)),  # filled in afterwards
    ],
    "LK402": [
        (
            with_column(np.where(RNG.random(N) < 0.05 + 0.4 * ILL, np.nan, RNG.normal(size=N))),
            ("it",),
        )
    ],
}
EACH = [(code, table, columns) for code, cases in CASES.items() for table, columns in cases]


def test_every_code_has_a_case():
    assert set(CASES) == set(CODES)


def test_nothing_is_found_in_a_sound_table():
    assert lk.look(sound(), "ill").findings == ()
    assert lk.look(sound(), "ill").balance == {"no": N - ILL.sum(), "yes": ILL.sum()}


@pytest.mark.parametrize(("code", "table", "columns"), EACH, ids=[code for code, *_ in EACH])
def test_each_code_is_found_in_its_columns_and_can_be_muted(code, table, columns):
    found = {each.code: each for each in lk.look(table, "ill").findings}
    assert code in found
    assert found[code].columns == columns
    assert len(re.findall(r"[^.][.](?: |$)", found[code].sentence)) >= 3
    assert code not in lk.look(table, "ill", mute=[code]).codes
    assert code not in lk.look(table, "ill", mute=[f"{code}:{name}" for name in columns]).codes or (
        not columns  # a finding about rows has no column to mute it in
    )


ALONE = {  # codes whose cases have nothing else wrong with them
    *("LK101", "LK102", "LK103", "LK104", "LK105", "LK106", "LK107", "LK108", "LK109", "LK110"),
    *("LK112", "LK113", "LK114", "LK115", "LK201", "LK202", "LK203", "LK304", "LK305", "LK306"),
}


@pytest.mark.parametrize(
    ("code", "table"),
    [(code, table) for code, table, _ in EACH if code in ALONE],
    ids=[code for code, *_ in EACH if code in ALONE],
)
def test_a_fault_is_reported_once(code, table):
    assert lk.look(table, "ill").codes == (code,)


@pytest.mark.parametrize("name", BUILTIN)
def test_built_in_data_have_one_duplicate_row_and_three_constant_columns(name):
    found = lk.look(builtin_table(name), BUILTIN[name].target).findings
    said = {
        "iris": [("LK201", "One row repeats an earlier one (row 142 repeats row 101")],
        "digits": [("LK102", "Each of 3 columns has one value only (pixel_0_0 0, pixel_4_0 0, ")],
    }
    expected = said.get(name, [])
    assert [each.code for each in found] == [code for code, _ in expected]
    assert all(each.found.startswith(text) for each, (_, text) in zip(found, expected, strict=True))
    if name == "digits":
        assert found[0].columns == ("pixel_0_0", "pixel_4_0", "pixel_4_7")


def test_muting_one_column_leaves_the_others():
    table = sound().assign(unit="cm", land="DE")
    assert lk.look(table, mute=["LK102:unit"]).findings[0].columns == ("land",)
    assert lk.look(table, mute=["LK102:unit"]).muted == ("LK102:unit",)


def test_an_unknown_code_or_column_is_refused_with_the_nearest():
    with pytest.raises(UnknownName, match=r"finding 'LK102x'.*Did you mean 'LK102'"):
        lk.look(sound(), mute=["LK102x"])
    with pytest.raises(UnknownName, match=r"column 'il'.*Did you mean 'ill'"):
        lk.look(sound(), "il")
    with pytest.raises(InvalidInput, match=r"mute=\['LK102'\]"):
        lk.look(sound(), mute="LK102")


def test_a_strong_column_is_no_leak():
    """A test that is right in 95 of 100 cases is a good column, not a suspect one."""
    right = RNG.random(N) < 0.95
    assert lk.look(with_column(np.where(right, ILL, ~ILL)), "ill").findings == ()


def test_a_leak_of_a_number_is_found_whatever_its_scale_and_cut():
    table = sound().drop(columns="ill")
    table["price"] = np.exp(RNG.normal(size=N))
    table["tax"] = 0.19 * table["price"] + 0.001 * RNG.normal(size=N)
    table["band"] = np.where(table["price"] > 1.3, "high", "low")
    table["other"] = table["price"] + RNG.normal(size=N)
    found = lk.look(table, "price").findings
    assert [(each.code, each.columns) for each in found] == [("LK401", ("tax", "band"))]


def test_repeats_that_few_values_explain_are_no_finding():
    table = pd.DataFrame(RNG.integers(0, 2, (N, 4)), columns=list("abcd")).astype(bool)
    assert lk.look(table, "d").codes == ()


@given(seed=st.integers(0, 999))
def test_chance_copies_are_those_of_independent_columns(seed):
    """Of columns of k equally frequent values: (n / k − 1) / kᵖ⁻¹ others for each row."""
    rng = np.random.default_rng(seed)
    table = pa.table({name: rng.permutation(np.repeat(np.arange(5), 20)) for name in "abc"})
    np.testing.assert_allclose(chance_copies(profile_of(table).columns), 19 / 25)
    twice = table.append_column("copy", table["b"])
    np.testing.assert_allclose(chance_copies(profile_of(twice).columns), 19 / 25)


@given(seed=st.integers(0, 999))
def test_names_explain_nothing_and_copies_explain_all(seed):
    y = np.random.default_rng(seed).integers(0, 3, 300)
    assert explained_share(y, y) > 0.99
    assert explained_share(y, np.arange(300)) == pytest.approx(0, abs=1e-12)
    assert explained_share(y, np.zeros(300, dtype=int)) < 0.01
    assert explained_variance(y.astype(float), y) == pytest.approx(1)
    assert explained_variance(y.astype(float), np.arange(300)) == pytest.approx(0)


@given(seed=st.integers(0, 999), share=st.floats(0, 0.9))
def test_bins_are_ordered_of_about_equal_size_and_keep_missing_apart(seed, share):
    rng = np.random.default_rng(seed)
    values = np.where(rng.random(1000) < share, np.nan, rng.normal(size=1000))
    (column,) = profile_of(pa.table({"x": values})).columns
    bins = binned(column, 8)
    missing = np.isnan(values)
    assert np.array_equal(bins == 0, missing)
    if column.n_distinct > 8:
        assert (np.diff(bins[~missing][np.argsort(values[~missing])]) >= 0).all()
        assert np.ptp(np.bincount(bins[~missing])[1:]) <= 1


TARGETS = {
    "text": ["a", "b", "c"] * 30,
    "Booleans": [True, False, None] * 30,
    "few integers": [0, 1, 2] * 30,
    "whole floats": [0.0, 1.0, None] * 30,
    "two numbers": [0.5, 1.5] * 45,
    "many integers": list(range(90)),
    "few rows to an integer": [*range(18), *range(18)],
    "floats": [x / 7 for x in range(90)],
}


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_is_read_as_every_other_verb_reads_it(name):
    table = pa.table({"y": TARGETS[name], "x": np.arange(len(TARGETS[name]))})
    assert (lk.look(table, "y").n_classes is not None) == task_of(table, "y").has_classes


def test_columns_are_described_by_type_range_and_frequent_values():
    table = pa.table(
        {
            "n": [1.5, None, 4.0, float("nan"), 2.0],
            "k": [1, 2, 3, 4, 5],
            "b": [True, True, None, False, True],
            "c": pa.array(["x", "y", "x", None, "x"]).dictionary_encode(),
            "d": [datetime.date(2024, 1, day) for day in range(1, 6)],
            "e": pa.nulls(5),
        }
    )
    n, k, b, c, d, e = lk.look(table).columns
    assert (n.type, n.missing, n.distinct, n.low, n.median, n.high) == (
        "number",
        2,
        3,
        1.5,
        2.0,
        4.0,
    )
    assert (k.type, k.low, k.high) == ("integer", 1, 5)
    assert (b.type, b.missing, b.top) == ("Boolean", 1, ((True, 3), (False, 1)))
    assert (c.type, c.distinct, c.top) == ("category", 2, (("x", 3), ("y", 1)))
    assert (d.type, d.distinct) == ("date", 5)
    assert (e.type, e.missing, e.distinct) == ("empty", 5, 0)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_the_frame_is_of_the_callers_library(library):
    table = sound().assign(unit="cm")
    given_ = {"pandas": table, "polars": pl.from_pandas(table), "pyarrow": pa.table(dict(table))}
    frame = lk.look(given_[library], "ill").to_frame()
    assert type(frame).__module__.startswith(library)
    rows = pd.DataFrame(lk.look(table).to_frame("pandas"))
    assert rows["name"].tolist() == list(table)
    assert rows["missing"].tolist() == table.isna().sum().tolist()
    assert rows["findings"].tolist()[-1] == "LK102"


def test_arrays_files_and_sources_are_looked_at_alike(tmp_path):
    sound().to_csv(tmp_path / "rows.csv", index=False)
    sound().to_parquet(tmp_path / "rows.parquet")
    looks = [
        lk.look(sound()),
        lk.look(tmp_path / "rows.csv"),
        lk.look(str(tmp_path / "rows.parquet")),
        lk.look(lk.read(tmp_path / "rows.csv")),
        lk.look(pa.Table.from_pandas(sound()).to_batches()[0]),
    ]
    described = [[column.facts() for column in each.columns] for each in looks]
    for other in described[1:]:
        for ours, theirs in zip(described[0], other, strict=True):
            assert ours == theirs
    numbers = lk.look(sound()[["age", "visits"]].to_numpy())
    assert [column.name for column in numbers.columns] == ["0", "1"]
    assert numbers.columns[0].missing == looks[0].columns[0].missing


def test_what_is_no_table_is_refused():
    from scipy.sparse import csr_array

    with pytest.raises(InvalidInput, match=r"sparse.*toarray"):
        lk.look(csr_array(np.eye(3)))
    with pytest.raises(InvalidInput, match="nothing to look at"):
        lk.look(pd.DataFrame({"a": []}))


def test_of_a_sealed_folder_only_the_training_part_is_read(tmp_path):
    folder = tmp_path / "rows.seal"
    folder.mkdir()
    pq.write_table(pa.Table.from_pandas(sound()), folder / "train.parquet")
    (folder / "manifest.json").write_text(json.dumps({"target": "ill"}))
    (folder / "test-features.parquet").write_text("not to be read")
    found = lk.look(folder)
    assert (found.target, found.n_rows, found.codes) == ("ill", N, ())


def test_a_seal_is_looked_at_without_its_sealed_rows(tmp_path):
    sealed = lk.seal(sound(), "ill", name="rows", folder=tmp_path)
    found = lk.look(sealed)
    assert (found.target, found.n_rows) == ("ill", sealed.manifest.n_train)
    assert sealed.looks == 0
    assert found.n_rows < N
    with pytest.raises(InvalidInput, match="A NaiveBayes was given"):
        lk.look(lk.NaiveBayes())


def test_of_a_large_file_some_rows_are_looked_at_and_it_says_so(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    sound(n=4000).to_csv(path, index=False)
    monkeypatch.setattr(opened, "MOST_BYTES", path.stat().st_size // 4)
    found = lk.look(path, "ill")
    assert found.n_rows == 4000
    assert 850 < found.n_looked_at < 1150
    assert f"{found.n_looked_at:,} of the rows" in str(found)


def test_it_prints_as_text_and_as_html_whatever_the_names_are():
    table = sound().rename(columns={"city": "<b>&"}).assign(x="<script>")
    found = lk.look(table, "ill")
    assert "400 rows, 6 columns, target ill (2 classes)." in str(found)
    assert "LK102 note" in str(found)
    assert max(map(len, str(found).splitlines())) <= 100
    page = found._repr_html_()
    assert "<script>" not in page
    assert "&lt;b&gt;&amp;" in page


def test_a_wide_table_shows_the_columns_that_matter():
    wide = pd.DataFrame(RNG.normal(size=(N, 200))).add_prefix("x").assign(unit="cm", y=ILL)
    text = str(lk.look(wide, "y"))
    assert re.search(r"^  unit ", text, flags=re.MULTILINE)
    assert re.search(r"^  y \*", text, flags=re.MULTILINE)
    assert "(+142 more; to_frame() has them all)" in text


def test_its_facts_are_json():
    facts = json.loads(json.dumps(lk.look(with_column(DATES), "ill").facts()))
    assert facts["findings"][0]["code"] == "LK112"
    assert [column["name"] for column in facts["columns"]] == [*sound(), "it"]


CELLS = {
    "numbers": st.floats() | st.none(),
    "integers": st.integers(-(2**60), 2**60) | st.none(),
    "few": st.sampled_from([0, 1, None]),
    "text": st.text(st.characters(codec="utf-8")) | st.none(),
    "words": st.sampled_from(["1", "?", "2024-01-01", "a", "1,5", None]),
    "Booleans": st.booleans() | st.none(),
    "dates": st.dates() | st.none(),
    "lists": st.lists(st.integers(0, 9), max_size=2) | st.none(),
    "nothing": st.none(),
}


@given(data=st.data(), n=st.integers(1, 40), target=st.sampled_from([None, *CELLS]))
def test_any_table_can_be_looked_at(data, n, target):
    table = pa.table(
        {name: data.draw(st.lists(cell, min_size=n, max_size=n)) for name, cell in CELLS.items()}
    )
    found = lk.look(table, target)
    assert len(found.columns) == len(CELLS)
    assert json.loads(json.dumps(found.facts()))["rows"] == n
    assert str(found)
    assert found._repr_html_()
    assert found.to_frame().num_rows == len(CELLS)


def test_every_code_has_a_section_in_the_documentation():
    page = (Path(__file__).parents[2] / "docs" / "findings.rst").read_text(encoding="utf-8")
    sections = re.findall(r"^(LK\d+): (.+)\n-{5,}$", page, flags=re.MULTILINE)
    assert sections == [(code, entry.title) for code, entry in CODES.items()]


def test_a_look_at_seven_thousand_rows_is_quick():
    rng = np.random.default_rng(0)
    n = 7000
    table = sound(n).assign(
        **{f"x{j}": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)) for j in range(9)},
        **{f"c{j}": WORDS[rng.integers(0, 5 * 3**j, n)] for j in range(6)},
    )
    assert table.shape == (n, 20)
    seconds = []
    for _ in range(5):
        start = time.process_time()  # others may use the machine
        lk.look(table, "ill")
        seconds.append(time.process_time() - start)
    assert min(seconds) < ALLOWED_SECONDS
