"""Sealed rows are found in other files, refused before a fit, and logged when predicted."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest

import likely
from likely.errors import HonestyRefusal, SomeSealedRows
from likely.sealing.bands import MOST_COLUMNS, bands_of
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
    assert str(held) == "24 of the 24 sealed rows of toy.seal (0 of 1 evaluation used)"


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
    assert (entry["event"], entry["command"], entry["rows"]) == ("refused", "train", 24)
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
    assert (entry["event"], entry["command"], entry["rows"]) == ("refused", verb, 24)


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


def seen(sealed):
    return [entry["rows"] for entry in sealed.ledger() if entry["event"] == "seen"]


@pytest.fixture
def large(tmp_path):
    """A seal of 200 of 1,000 rows, its sealed rows with labels, and the seals of its folder."""
    table = some_table(1000)
    sealed = likely.seal(table, "y", name="large", folder=tmp_path)
    return sealed, sealed_rows(sealed, table), seals_in([tmp_path])


def scored(rows, seals, doing="score"):
    refuse_sealed_rows(rows, seals, label="slice.csv", doing=doing)


def test_sealed_rows_are_not_scored_in_slices(large):
    sealed, rows, seals = large
    with pytest.warns(SomeSealedRows, match="holds 19 of the 200 sealed rows.*so far 19"):
        scored(rows.slice(0, 19), seals)
    for start in range(19, 200, 19):
        with pytest.raises(HonestyRefusal, match="with those of earlier commands a tenth or more"):
            scored(rows.slice(start, 19), seals)
    assert seen(sealed) == [19]
    assert sum(entry["event"] == "refused" for entry in sealed.ledger()) == 10
    assert sealed.verify().sound


def test_slices_of_one_row_add_up(large):
    sealed, rows, seals = large
    for row in range(19):
        with pytest.warns(SomeSealedRows, match=f"so far {row + 1}"):
            scored(rows.slice(row, 1), seals)
    with pytest.raises(HonestyRefusal):
        scored(rows.slice(19, 1), seals)
    assert seen(sealed) == [1] * 19


@pytest.mark.parametrize(
    "changed",
    [
        lambda t: t.set_column(0, "a", pa.array(np.round(t["a"].to_numpy(), 5))),
        lambda t: t.select(["b", "a", "y"]),
        lambda t: pa.table({name: t[name].cast(pa.string()) for name in t.column_names}),
        lambda t: t.set_column(0, "a", t["a"].cast(pa.float32())),
    ],
    ids=["rounded", "a column less", "text", "float32"],
)
def test_slices_that_were_changed_a_little_add_up_too(large, changed):
    _, rows, seals = large
    with pytest.warns(SomeSealedRows, match="so far 15"):
        scored(changed(rows.slice(0, 15)), seals)
    with pytest.raises(HonestyRefusal):
        scored(changed(rows.slice(15, 15)), seals)


def test_the_same_rows_count_once(large):
    sealed, rows, seals = large
    for doing in ("score", "train", "score"):
        with pytest.warns(SomeSealedRows, match="so far 12"):
            scored(rows.slice(0, 12), seals, doing)
    assert seen(sealed) == [12]


def test_fits_and_scores_have_one_total(large):
    sealed, rows, seals = large
    with pytest.warns(SomeSealedRows):
        scored(pa.concat_tables([pa.table(sealed.train), rows.slice(0, 12)]), seals, "compare")
    with pytest.raises(HonestyRefusal):
        scored(rows.slice(12, 12), seals, "score")


def test_a_few_rows_are_not_scored_if_they_cannot_be_recorded(large):
    sealed, rows, seals = large
    (sealed.path / "head.json").unlink()
    with pytest.raises(HonestyRefusal):
        scored(rows.slice(0, 5), seals)
    scored(rows.slice(0, 5), seals, "train")


def test_predictions_of_a_few_sealed_rows_are_logged(large):
    sealed, rows, seals = large
    assert log_prediction(rows.slice(0, 2), seals, label="two.csv")
    assert (sealed.ledger()[-1]["event"], sealed.ledger()[-1]["rows"]) == ("predict", 2)


def test_rows_that_are_equal_by_chance_are_not_recorded(tmp_path):
    rng = np.random.default_rng(0)

    def survey(n):
        return pa.table({f"q{k}": rng.integers(0, 4, n) for k in range(5)} | {"y": rng.random(n)})

    sealed = likely.seal(survey(1000), "y", name="survey", folder=tmp_path)
    for n in (10, 30) * 5:
        scored(survey(n), seals_in([tmp_path]), "train")
    assert seen(sealed) == []


def test_folders_that_are_no_seals_are_passed_over(sealed, tmp_path):
    (tmp_path / "empty.seal").mkdir()
    (tmp_path / "odd.seal").mkdir()
    (tmp_path / "odd.seal" / "manifest.json").write_text("{}")
    assert [seal.path.name for seal in seals_in([tmp_path, tmp_path])] == ["toy.seal"]


def customers(n=1000, seed=0):
    """A key, amounts, a whole number, categories, a gap here and there, and a class."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"id": np.arange(n), "age": rng.integers(18, 90, n)})
    for name in "abcdef":
        frame[name] = rng.normal(size=n) * rng.choice([0.1, 1, 1000])
    frame.loc[rng.random(n) < 0.1, "a"] = np.nan
    frame["town"] = rng.choice(["Ulm", "Bonn", "Kiel"], n)
    frame["member"] = rng.random(n) < 0.5
    frame["churn"] = rng.choice(["no", "yes"], n)
    return frame


AMOUNTS = list("abcdef")
ACCIDENTS = {
    "the id dropped": lambda f: f.drop(columns="id"),
    "the id renamed": lambda f: f.rename(columns={"id": "customer"}),
    "the target dropped": lambda f: f.drop(columns="churn"),
    "half of the columns": lambda f: f[["age", "b", "c", "town", "churn"]],
    "a column added": lambda f: f.assign(new=1),
    "float32": lambda f: f.astype(dict.fromkeys(AMOUNTS, "float32")),
    "six decimals": lambda f: f.round(6),
    "six digits": lambda f: f.assign(**{c: [float(f"{x:.6g}") for x in f[c]] for c in AMOUNTS}),
    "numbers as text": lambda f: f.astype({"b": str, "age": str, "c": str}),
    "floats of whole numbers": lambda f: f.astype({"age": float, "id": float, "member": float}),
    "Booleans as text": lambda f: f.astype({"member": str}),
    "gaps filled": lambda f: f.fillna(0.0),
    "columns standardised": lambda f: f.assign(b=f["b"] / f["b"].std(), d=f["d"] + 1),
    "rows shuffled": lambda f: f.sample(frac=1, random_state=0).drop(columns=["id"]),
    "half of the rows": lambda f: f.sample(frac=0.5, random_state=0).drop(columns=["id"]),
}


@pytest.fixture
def shop(tmp_path):
    likely.seal(customers(), "churn", name="shop", folder=tmp_path)
    return seals_in([tmp_path])


@pytest.mark.parametrize("accident", ACCIDENTS.values(), ids=ACCIDENTS)
def test_small_changes_do_not_hide_sealed_rows(shop, accident):
    (held,) = holds_sealed_rows(pa.Table.from_pandas(accident(customers())), shop)
    assert held.n_found >= 0.4 * held.n_sealed
    train = pa.table(shop[0].train).to_pandas()
    assert holds_sealed_rows(pa.Table.from_pandas(accident(train)), shop) == ()


@pytest.mark.parametrize("n", [100, 1000, 20000])
def test_new_customers_are_no_sealed_rows(shop, n):
    fresh = customers(n, seed=1)
    assert holds_sealed_rows(pa.Table.from_pandas(fresh), shop) == ()
    orders = fresh[["id", "town"]].assign(amount=fresh["b"])  # the same ids, of other things
    assert holds_sealed_rows(pa.Table.from_pandas(orders), shop) == ()


@pytest.mark.parametrize("n", [100, 2000, 50000])
@pytest.mark.parametrize("columns", [["x"], ["g", "h"], ["g", "h", "k"]], ids=str)
def test_rows_that_are_often_equal_by_chance_are_no_evidence(tmp_path, columns, n):
    def drawn(n, seed):
        rng = np.random.default_rng(seed)
        g, h, k = rng.integers(0, 30, (3, n))
        x = rng.normal(size=n)
        return pa.table({"g": g, "h": h, "k": k, "x": x, "y": rng.choice(["a", "b"], n)})

    likely.seal(drawn(1000, 0), "y", name="some", folder=tmp_path)
    seals = seals_in([tmp_path])
    assert holds_sealed_rows(drawn(n, 1).select(columns), seals) == ()


def test_pieces_of_a_file_are_put_together(shop, tmp_path):
    rows = pa.Table.from_pandas(customers().drop(columns="id"), preserve_index=False)
    (held,) = holds_sealed_rows(iter(rows.to_batches(max_chunksize=100)), shop)
    (whole,) = holds_sealed_rows(rows, shop)
    assert held == whole


def test_of_very_many_columns_some_are_compared(tmp_path):
    rng = np.random.default_rng(0)
    wide = pa.table({f"x{j}": rng.normal(size=60) for j in range(500)} | {"y": ["a", "b"] * 30})
    likely.seal(wide, "y", name="wide", folder=tmp_path)
    (seal,) = seals_in([tmp_path])
    bands = bands_of(seal, wide)
    assert MOST_COLUMNS / 2 < len(bands[0].columns) <= MOST_COLUMNS
    assert set(bands[0].columns) == {name for band in bands[1:] for name in band.columns}
    (held,) = holds_sealed_rows(wide.drop_columns(["x1"]), [seal])
    assert held.n_found == 12


def test_a_table_without_rows_or_shared_columns_is_unlike(shop):
    assert bands_of(shop[0], pa.table({"other": [1]})) == ()
    assert holds_sealed_rows(pa.Table.from_pandas(customers().head(0)), shop) == ()


class CountsSchemas:
    """A table that counts how often its schema is asked for."""

    def __init__(self, table):
        self.table, self.n_asked = table, 0

    @property
    def schema(self):
        self.n_asked += 1
        return self.table.schema

    def __getattr__(self, name):
        return getattr(self.table, name)


@pytest.mark.parametrize("n_columns", [300, 600])
def test_names_of_a_wide_table_are_listed_once_not_once_for_each_column(tmp_path, n_columns):
    x = np.random.default_rng(0).normal(size=(60, n_columns)).round(3)
    table = pa.table({f"x{j}": x[:, j] for j in range(n_columns)} | {"y": x[:, 0] + x[:, 1]})
    likely.seal(table, "y", name="wide", folder=tmp_path)
    (seal,) = seals_in([tmp_path])
    piece = CountsSchemas(table)
    assert bands_of(seal, piece)
    assert piece.n_asked <= 2 * MOST_COLUMNS  # those that are compared, and the names
