"""Sealing: what is in the folder, what is said, and what is refused."""

import json
import re
from datetime import date
from hashlib import sha256

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import likely
from likely.errors import CannotWrite, InvalidInput, UnknownName
from likely.sealing.create import check_target
from likely.sealing.manifest import Manifest, canonical
from tests.sealing.conftest import some_table

FILES = {
    "manifest.json",
    "train.parquet",
    "test-features.parquet",
    "test-labels.bin",
    "ledger.jsonl",
    "head.json",
    "fingerprints.bin",
}

NAMES = [f"name {i}" for i in range(30)]


@pytest.fixture
def churn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pa.csv.write_csv(some_table(200), "churn.csv")
    return "churn.csv"


def test_a_file_becomes_a_folder_that_says_what_is_in_it(churn, tmp_path):
    sealed = likely.seal(churn, "y")
    folder = tmp_path / "churn.seal"
    assert {path.name for path in folder.iterdir()} == FILES
    manifest = json.loads((folder / "manifest.json").read_text())
    assert canonical(manifest) + b"\n" == (folder / "manifest.json").read_bytes()
    assert manifest["data_sha256"] == sha256((tmp_path / churn).read_bytes()).hexdigest()
    assert (manifest["n_train"], manifest["n_test"]) == (160, 40)
    assert (manifest["rule"], manifest["seed"]) == ("stratified by y", 0)
    assert (manifest["judge"], manifest["budget"]) == ("plain", 1)
    for name, digest in manifest["files"].items():
        assert sha256((folder / name).read_bytes()).hexdigest() == digest
    assert sealed.notes == (
        "churn.csv still holds the 40 sealed rows; use churn.seal from now on.",
    )
    assert likely.open_seal("churn.seal").manifest == Manifest.read(folder / "manifest.json")


def test_the_parts_are_disjoint_and_complete(churn):
    sealed = likely.seal(churn, "y")
    train, test = sealed.train, pa.parquet.read_table(sealed.path / "test-features.parquet")
    assert test.column_names == ["a", "b", "town"]
    whole = sorted(some_table(200).column("a").to_pylist())
    parts = train.column("a").to_pylist() + test.column("a").to_pylist()
    assert np.allclose(sorted(parts), whole, rtol=1e-12)


def test_labels_are_in_no_file_of_the_folder_as_they_are(tmp_path):
    rng = np.random.default_rng(0)
    labels = [f"label-{i:04}" for i in np.repeat(rng.permutation(20), 5)]  # each on one side
    table = pa.table({"x": np.arange(100), "y": labels, "t": np.arange(100)})
    sealed = likely.seal(table, "y", by_time="t", folder=tmp_path)
    for path in sealed.path.iterdir():
        content = path.read_bytes()
        assert not [label for label in labels[80:] if label.encode() in content], path.name


@pytest.mark.parametrize(
    "convert", [pa.Table.to_pandas, pl.from_arrow, lambda table: table], ids=["pd", "pl", "pa"]
)
def test_rows_come_back_as_a_frame_of_the_same_library(convert, table, tmp_path):
    frame = convert(table)
    sealed = likely.seal(frame, "y", folder=tmp_path)
    assert type(sealed.train) is type(frame)
    assert sealed.path.name == "data.seal"
    assert type(likely.open_seal(sealed.path).train) is type(frame)


def test_an_index_is_no_column(tmp_path):
    frame = pd.DataFrame({"x": range(20), "y": ["a", "b"] * 10}, index=range(5, 25))
    assert list(likely.seal(frame, "y", folder=tmp_path).train.columns) == ["x", "y"]


def test_a_source_is_a_table(churn):
    assert likely.seal(likely.read(churn), "y", name="read").manifest.n_train == 160


def test_sealing_the_same_data_again_names_the_earlier_seal_and_its_looks(churn):
    likely.seal(churn, "y").final(likely.NaiveBayes())
    again = likely.seal(churn, "y", name="second", seed=1)
    assert again.notes[0] == "The same table was sealed before: churn.seal, 1 of 1 evaluation used."
    assert again.manifest.earlier == again.notes[:1]


def test_sealing_most_of_the_same_rows_names_the_earlier_seal(churn, table):
    likely.seal(churn, "y")
    some = pa.csv.read_csv(churn).slice(0, 100)
    later = likely.seal(some, "y", name="part")
    assert "churn.seal, 0 of 1 evaluation used" in later.notes[0]
    other = likely.seal(some_table(100, seed=9), "y", name="other")
    assert not other.notes


def test_labels_in_escrow_are_not_in_the_folder(churn, tmp_path):
    sealed = likely.seal(churn, "y", escrow=tmp_path / "kept.bin")
    assert {path.name for path in sealed.path.iterdir()} == FILES - {"test-labels.bin"}
    digest = sha256((tmp_path / "kept.bin").read_bytes()).hexdigest()
    assert sealed.manifest.labels_sha256 == digest
    assert sealed.verify().sound


TABLE = pa.table({"x": range(20), "y": ["a", "b"] * 10, "one": [1] * 20})


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"target": "on"}, UnknownName, "no column 'on'.*Did you mean 'one'"),
        ({"group": "z"}, UnknownName, "no column 'z'"),
        ({"test": 0.0}, InvalidInput, r"test is 0\.0.*between 0 and 1"),
        ({"test": 1}, InvalidInput, "test is 1.*between 0 and 1"),
        ({"test": 0.01}, InvalidInput, "leaves 0 sealed rows"),
        ({"test": "a fifth"}, InvalidInput, "test is 'a fifth'; expected a share"),
        ({"test": [1, 2], "group": "x"}, InvalidInput, "test names the rows, and 'x' is a column"),
        ({"budget": 0}, InvalidInput, "budget is 0.*at least 1"),
        (
            {"budget": 1.5},
            InvalidInput,
            "budget is 1.5; expected a whole number of evaluations",
        ),
        ({"budget": True}, InvalidInput, "budget is True"),
        ({"judge": "ladders"}, UnknownName, "judge 'ladders'.*Did you mean 'ladder'"),
        ({"group": "x", "by_time": "x"}, InvalidInput, "Both group='x' and by_time='x'"),
        ({"group": "y"}, InvalidInput, "'y' is the target; another column"),
        ({"target": "one"}, InvalidInput, "one value in all 20 rows"),
        ({"data": TABLE.select(["y"])}, InvalidInput, "only the column 'y'.*features"),
        ({"data": [[1, 2]]}, InvalidInput, "no column 'y'; choose one of 0, 1"),
        ({"data": "none.csv"}, InvalidInput, r"none\.csv"),
        ({"folder": "none"}, CannotWrite, "Create the folder first"),
    ],
    ids=str,
)
def test_what_cannot_be_sealed_is_refused_and_nothing_is_left(change, error, message, tmp_path):
    arguments = {"data": TABLE, "target": "y", "folder": tmp_path, **change}
    if change.get("folder"):
        arguments["folder"] = tmp_path / "none"
    with pytest.raises(error, match=message):
        likely.seal(arguments.pop("data"), arguments.pop("target"), **arguments)
    assert not list(tmp_path.iterdir())


def test_rows_without_a_target_are_left_out_with_a_note(tmp_path):
    for k, gap in enumerate((None, float("nan"))):
        table = pa.table({"x": range(20), "y": [gap, *([1.5, 2.5, 0.5, 4.5] * 5)[1:]]})
        sealed = likely.seal(table, "y", test=[0, 3, 5], name=f"s{k}", folder=tmp_path)
        assert (sealed.manifest.n_train, sealed.manifest.n_test) == (17, 2)
        assert "1 row without a target (y) was left out." in sealed.notes
        assert sorted(sealed.test_features()["x"].to_pylist()) == [3, 5]


def test_a_seal_is_made_once(sealed, table, tmp_path):
    with pytest.raises(
        InvalidInput, match=r"exists already \(0 of 1 evaluation used\).*another name"
    ):
        likely.seal(table, "y", name="toy", folder=tmp_path)
    (tmp_path / "kept").touch()
    with pytest.raises(InvalidInput, match=r"escrow file .* exists already"):
        likely.seal(table, "y", name="b", folder=tmp_path, escrow=tmp_path / "kept")


def test_a_folder_that_is_no_seal_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="is not a seal; expected a folder"):
        likely.open_seal(tmp_path)
    with pytest.raises(InvalidInput, match="does not exist"):
        likely.open_seal(tmp_path / "none.seal")


def test_a_seal_of_a_later_format_is_not_misread(sealed):
    path = sealed.path / "manifest.json"
    path.write_text(re.sub(r'"format":\d+', '"format":99', path.read_text()))
    with pytest.raises(likely.errors.BrokenLedger, match=r"format 99.*Install a newer likely"):
        likely.open_seal(sealed.path)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([], pa.string()), r"no value in 0 rows"),
        (pa.array([None, None], pa.null()), r"no value in 2 rows.*Choose another column"),
        (pa.array(["a", None, "b"]), r"missing in 1 rows, the first of them row 1.*Drop"),
        (pa.array([1.0, float("nan")]), r"missing in 1 rows, the first of them row 1"),
        (pa.array([1.0, 2.0, float("-inf")]), r"is -inf in row 2; finite numbers"),
        (pa.array(["a", "a"]), r"one value in all 2 rows"),
        (pa.array([date(2024, 1, 1), date(2024, 1, 2)]), r"date32.*days since the first"),
        (pa.array(NAMES), r"looks like an identifier \(30 different"),
        (pa.array(NAMES).dictionary_encode(), r"looks like an identifier \(30 different"),
    ],
)
def test_what_cannot_be_predicted_is_refused(column, message):
    with pytest.raises(InvalidInput, match=message):
        check_target(pa.chunked_array([column]), "y")


@pytest.mark.parametrize("values", [["a", "b"], [1.5, 2.5], [True, False], NAMES[:20], NAMES * 5])
def test_what_can_be_predicted_passes(values):
    check_target(pa.chunked_array([pa.array(values)]), "y")


def test_an_infinity_among_the_features_is_refused_while_it_can_be_fixed(tmp_path):
    rows = pa.table({"x": [0.0, float("inf"), 1.0] * 10, "y": ["a", "b", "a"] * 10})
    with pytest.raises(InvalidInput, match="Row 1, column 'x': found inf"):
        likely.seal(rows, "y", folder=tmp_path)
    assert not list(tmp_path.iterdir())
