"""Identifiers and free text are found in the whole table; no model learns from the first."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import likely as lk
from likely.workbench.data.opening import dataset
from likely.workbench.data.roles import unused_columns

N = 60
RNG = np.random.default_rng(0)
NUMBERS = RNG.choice(10**6, N, replace=False)
CODES = [f"C{k:06d}" for k in NUMBERS]
PROSE = [f"number {k} was late and the driver could not say why" for k in NUMBERS]
WORDS = [f"a b {k} c d" for k in NUMBERS]  # five words, few characters

CASES = {
    "id": (NUMBERS, "identifier"),
    "ID": (NUMBERS, "identifier"),
    "customer_id": (NUMBERS, "identifier"),
    "customer-ID": (NUMBERS, "identifier"),
    "PassengerId": (NUMBERS, "identifier"),
    "patientid": (NUMBERS, "identifier"),
    "uuid": (CODES, "identifier"),
    "": (np.arange(N), "identifier"),
    "Unnamed: 0": (np.arange(N), "identifier"),
    "rownames": (np.arange(N), "identifier"),
    "index": (NUMBERS, "identifier"),
    "row": (np.arange(1, N + 1), "identifier"),
    "X": (np.arange(1, N + 1), "identifier"),
    "key": (NUMBERS.astype(float), "identifier"),  # whole, as pandas has it with gaps
    "client": (CODES, "identifier"),
    "order_id": ([f"{k}" for k in NUMBERS], "identifier"),
    "remark": (PROSE, "text"),
    "title": (WORDS, "text"),
    "price": (NUMBERS, None),
    "paid": (NUMBERS, None),
    "bid": (NUMBERS, None),
    "line": (np.arange(N), None),  # may be time
    "year": (1950 + np.arange(N), None),
    "size_id": (RNG.normal(size=N), None),
    "store_id": (NUMBERS % 5, None),  # repeated
    "town": (["Ulm", "Bonn"] * (N // 2), None),
    "opinion": (["I agree with what was said about the weather in the news"] * N, None),
    "day": ([f"2024-{1 + k // 28:02d}-{1 + k % 28:02d}" for k in range(N)], None),
    "amount": ([f"{k:,}" for k in 1000 + NUMBERS], None),
}


@pytest.mark.parametrize("name", CASES)
def test_what_a_column_is(name):
    values, expected = CASES[name]
    found = unused_columns(pa.table({name: values}))
    assert found.identifiers == ((name,) if expected == "identifier" else ())
    assert found.texts == ((name,) if expected == "text" else ())


def frame(n=N, **columns):
    x = RNG.normal(size=n)
    y = np.where(x + RNG.normal(size=n) > 0, "yes", "no")
    return pd.DataFrame({**columns, "x": x, "y": y})


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_identifiers_are_no_features_and_free_text_is_read_in_any_library(library):
    table = frame(pid=NUMBERS, remark=PROSE)
    given = {"pandas": table, "polars": pl.from_pandas(table)}.get(library)
    found = dataset(pa.table(dict(table)) if given is None else given, "y")
    assert found.features.column_names == ["remark", "x"]
    assert found.identifiers == ("pid",) and found.texts == ("remark",)
    assert "identifier" in found.notes[0] and "Read as text" in found.notes[1]
    assert found.with_task().settled.text == "beside"


@pytest.mark.parametrize(("argument", "kind"), [("feature", "double"), ("category", "dictionary")])
def test_a_declared_column_is_a_feature(argument, kind):
    found = dataset(frame(pid=NUMBERS), "y", **{argument: ["pid"]})
    assert found.features.column_names == ["pid", "x"] and not found.identifiers
    assert kind in str(found.features.schema.field("pid").type)
    model = found.with_task().fit(lk.Prepared(lk.LogisticRegression(l2=1.0)))
    assert model.dropped_ == ()


def test_declared_text_is_kept_as_a_category():
    found = dataset(frame(client=CODES), "y", feature=["client"]).with_task()
    assert found.fit(lk.Prepared(lk.NaiveBayes())).dropped_ == ()


def test_few_rows_have_identifiers_too_and_folds_and_model_agree():
    for n in (8, 12, 24):
        table = frame(n, name=CODES[:n], id=np.arange(n))
        assert dataset(table, "y").features.column_names == ["x"]
    found = lk.compare(table, "y", ["logistic"], folds=3, repeats=1)
    assert not found.failed
    assert found.rows.take(np.arange(5)).features.column_names == ["x"]


def test_a_column_with_a_role_is_no_identifier():
    table = frame(visit_id=np.arange(N))
    assert dataset(table, "y", by_time="visit_id").identifiers == ()
    assert dataset(table, "y", drop=["visit_id"]).identifiers == ()


def test_a_table_of_identifiers_alone_says_how_to_use_one():
    table = frame(pid=NUMBERS).drop(columns="x")
    with pytest.raises(lk.errors.InvalidInput, match=r"pid.*--feature pid"):
        lk.compare(table, "y", ["logistic"])


def test_what_was_found_travels_into_the_seal(tmp_path):
    table = frame(200, case=np.arange(200), x2=1.0)
    table["leak"] = np.where(table["y"] == "yes", "a", "b")
    sealed = lk.seal(table, "y", name="s", folder=tmp_path)
    manifest = sealed.manifest
    assert manifest.identifiers == ("case",)
    found = {each["code"]: each for each in manifest.findings}
    assert found["LK101"]["columns"] == ["case"]
    assert found["LK401"]["columns"] == ["leak"]
    assert set(found["LK102"]) == {"code", "columns", "severity", "text"}
    again = dataset(lk.open_seal(sealed.path))  # its numbers have gaps now
    assert again.identifiers == ("case",) and "case" not in again.features.column_names
    assert "LK101" in lk.look(again).codes
    assert sealed.final("logistic").value > 0


def test_a_seal_of_an_earlier_version_is_read(tmp_path):
    from likely.sealing.manifest import Manifest

    sealed = lk.seal(frame(100, case=np.arange(100)), "y", name="s", folder=tmp_path)
    path = sealed.path / "manifest.json"
    import json

    content = json.loads(path.read_text())
    for name in ("identifiers", "texts", "findings"):
        content.pop(name, None)
    old = tmp_path / "old.json"
    old.write_text(json.dumps(content))
    assert Manifest.read(old).identifiers is None


def test_a_fit_without_degrees_of_freedom_says_so():
    table = pd.DataFrame(RNG.normal(size=(8, 9))).add_prefix("x").assign(y=RNG.normal(size=8))
    found = lk.compare(table, "y", ["linear"], repeats=1)
    assert "no spread" in str(found)
    assert "no density" not in str(found)
