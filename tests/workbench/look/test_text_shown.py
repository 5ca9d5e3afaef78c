"""What a look at any kind of data shows, and how it prints."""

import datetime
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import likely as lk
from likely.errors import InvalidInput
from likely.sealing.folder import SealFolder
from tests.workbench.look.look_tables import ILL, N, sound, with_column

RNG = np.random.default_rng(1)


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
    with pytest.raises(InvalidInput, match="at least one of each"):
        lk.look(pd.DataFrame({"a": []}))


def test_of_a_sealed_folder_only_the_training_part_is_read(tmp_path, monkeypatch):
    sealed = lk.seal(sound(), "ill", name="rows", folder=tmp_path)
    monkeypatch.setattr(SealFolder, "features", None)  # not to be read
    found = lk.look(sealed.path)
    assert (found.target, found.n_rows, found.codes) == ("ill", sealed.manifest.n_train, ())


def test_a_seal_is_looked_at_without_its_sealed_rows(tmp_path):
    sealed = lk.seal(sound(), "ill", name="rows", folder=tmp_path)
    found = lk.look(sealed)
    assert (found.target, found.n_rows) == ("ill", sealed.manifest.n_train)
    assert sealed.evaluations == 0
    assert found.n_rows < N
    with pytest.raises(InvalidInput, match="A NaiveBayes was given"):
        lk.look(lk.NaiveBayes())


def test_of_a_large_file_some_rows_are_looked_at_and_it_says_so(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    sound(n=4000).to_csv(path, index=False)
    monkeypatch.setattr("likely.workbench.look.look.LOOKED_AT_BYTES", path.stat().st_size // 4)
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
    facts = json.loads(json.dumps(lk.look(with_column([[1, 2]] * N), "ill").facts()))
    assert facts["findings"][0]["code"] == "LK112"
    assert [column["name"] for column in facts["columns"]] == [*sound(), "it"]
