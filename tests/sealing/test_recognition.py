"""Sealed rows are found in other files, refused before a fit, and logged when predicted."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import likely
from likely.errors import HonestyRefusal
from likely.sealing.folder import seals_in, seals_near
from likely.sealing.recognition import (
    TABLE,
    holds_sealed_rows,
    log_prediction,
    refuse_sealed_rows,
)
from tests.sealing.conftest import some_table


@pytest.fixture
def seals(sealed):
    return seals_in([sealed.path.parent])


def sealed_rows(sealed, table):
    mask = np.isin(table.column("a").to_numpy(), sealed.train.column("a").to_numpy())
    return table.filter(pa.array(~mask))


def test_the_file_that_was_sealed_holds_all_sealed_rows(seals, table):
    (held,) = holds_sealed_rows(table, seals)
    assert (held.n_found, held.n_sealed) == (24, 24)
    assert str(held) == "24 of the 24 sealed rows of toy.seal (0 looks of 1 used)"


def test_the_training_part_holds_none(seals, sealed):
    assert holds_sealed_rows(sealed.train, seals) == ()


@pytest.mark.parametrize(("n", "found"), [(2, False), (3, True), (24, True)])
def test_a_tenth_of_the_rows_is_enough(seals, sealed, table, n, found):
    some = pa.concat_tables([sealed.train, sealed_rows(sealed, table).slice(0, n)])
    assert bool(holds_sealed_rows(some, seals)) is found


def test_a_row_that_is_repeated_counts_once(seals, sealed, table):
    one = sealed_rows(sealed, table).slice(0, 1)
    assert holds_sealed_rows(pa.concat_tables([one] * 20), seals) == ()


def test_another_form_of_the_file_is_seen_through(seals, table, tmp_path):
    path = tmp_path / "copy.csv"
    turned = table.select(["town", "b", "a"]).take(pa.array(np.arange(120)[::-1]))
    pa.csv.write_csv(turned.append_column("new", pa.array(range(120))), path)
    (held,) = holds_sealed_rows(likely.read(path), seals)
    assert held.n_found == 24


def test_other_data_of_the_same_columns_hold_none(seals):
    assert holds_sealed_rows(some_table(500, seed=5), seals) == ()
    assert holds_sealed_rows(pa.table({"x": [1]}), seals) == ()


def test_rows_that_training_rows_equal_are_no_evidence(tmp_path, table):
    few = table.select(["town", "y"])  # three different rows of features, on both sides
    sealed = likely.seal(few, "y", name="few", folder=tmp_path)
    assert holds_sealed_rows(few, seals_in([tmp_path])) == ()
    assert sealed.manifest.n_test == 24


def test_a_fit_on_sealed_rows_is_refused_and_logged(seals, sealed, table):
    with pytest.raises(HonestyRefusal, match=r"churn\.csv holds 24 of the 24.*Use toy\.seal"):
        refuse_sealed_rows(table, seals, label="churn.csv", doing="train")
    entry = sealed.ledger()[-1]
    assert (entry["event"], entry["doing"], entry["rows"]) == ("refused", "train", 24)
    refuse_sealed_rows(sealed.train, seals, label="train.parquet", doing="train")
    assert len(sealed.ledger()) == 2


def test_two_seals_are_both_named(seals, sealed, table, tmp_path):
    likely.seal(table, "y", name="other", folder=tmp_path, seed=5)
    message = (
        r"^The table holds 24 of .* of other\.seal .* and 24 of .* of toy\.seal .*; a model .* "
        r"Use other\.seal or toy\.seal in place of the table: each gives the rows it has not "
        r"sealed\.$"
    )
    with pytest.raises(HonestyRefusal, match=message):
        refuse_sealed_rows(table, seals_in([tmp_path]), label=TABLE, doing="train")


@pytest.mark.parametrize("where", [".", "data", "data/raw", "notebooks"])
def test_seals_are_found_in_the_folders_above(sealed, tmp_path, monkeypatch, where):
    (tmp_path / where).mkdir(parents=True, exist_ok=True)
    (tmp_path / where / "rows.csv").write_text("a\n1\n")
    elsewhere = tmp_path / "far" / "away" / "from" / "it"
    elsewhere.mkdir(parents=True)
    monkeypatch.chdir(elsewhere)
    assert seals_near() == ()
    found = seals_near(tmp_path / where / "rows.csv")
    assert [seal.path.name for seal in found] == ["toy.seal"]
    monkeypatch.chdir(tmp_path / where)
    assert [seal.path.name for seal in seals_near()] == ["toy.seal"]


@pytest.mark.parametrize("given", ["file", "frame", "source", "fewer columns"])
@pytest.mark.parametrize("verb", ["compare", "tune", "learning_curve"])
def test_python_refuses_the_sealed_rows_too(sealed, table, tmp_path, monkeypatch, verb, given):
    monkeypatch.chdir(tmp_path)
    pa.csv.write_csv(table, "rows.csv")
    data = {
        "file": "rows.csv",
        "frame": table.to_pandas(),
        "source": likely.read("rows.csv"),
        "fewer columns": table.drop_columns(["town"]),
    }[given]
    models = (["logistic"],) if verb == "compare" else ("logistic",)
    with pytest.raises(HonestyRefusal, match=r"24 of the 24 sealed rows of toy\.seal"):
        getattr(likely, verb)(data, "y", *models)
    entry = sealed.ledger()[-1]
    assert (entry["event"], entry["doing"], entry["rows"]) == ("refused", verb, 24)


def test_the_training_part_is_taken_in_every_form(sealed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pa.csv.write_csv(sealed.train, "train.csv")
    for data in (sealed, sealed.path, sealed.train, "train.csv"):
        found = likely.compare(data, "y", ["logistic"], folds=2, repeats=1)
        assert found.best is not None
    assert [entry["event"] for entry in sealed.ledger()] == ["sealed"]


def test_a_prediction_for_sealed_rows_goes_on_and_is_logged(seals, sealed, table):
    assert log_prediction(table, seals, label="churn.csv")
    entry = sealed.ledger()[-1]
    assert (entry["event"], entry["data"], entry["rows"]) == ("predict", "churn.csv", 24)
    assert not log_prediction(sealed.train, seals, label="train.parquet")
    assert sealed.verify().sound


def test_a_seal_with_a_broken_ledger_still_protects_its_rows(seals, sealed, table):
    (sealed.path / "head.json").unlink()
    with pytest.raises(HonestyRefusal, match="its ledger is broken"):
        refuse_sealed_rows(table, seals, label="churn.csv", doing="train")


def test_folders_that_are_no_seals_are_passed_over(sealed, tmp_path):
    (tmp_path / "empty.seal").mkdir()
    (tmp_path / "odd.seal").mkdir()
    (tmp_path / "odd.seal" / "manifest.json").write_text("{}")
    assert [seal.path.name for seal in seals_in([tmp_path, tmp_path])] == ["toy.seal"]
