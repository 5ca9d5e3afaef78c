"""Options about DATA: ``--drop`` and ``--category`` in every verb, remembered by seals and runs."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import likely as lk
from likely.data.arrow import digest_of_file
from likely.data.formats.registry import ParquetSource
from likely.runs import RunFolder
from likely.sealing import folder, ledger
from likely.sealing.manifest import Manifest
from likely.tasks.request import DataOptions

QUICK = ("--folds", "3")
ABOUT = ("--target", "y", "--drop", "note", "--drop", "id", "--category", "region")
WORDS = " --drop note --drop id --category region"


@pytest.fixture
def shops(tmp_path):
    """Codes of regions that are no amounts: 1 and 3 are alike, and 2 is not between them."""
    rng = np.random.default_rng(0)
    region = rng.integers(1, 5, 240)
    x = rng.normal(size=240)
    y = np.where(x + 3 * (region == 2) + rng.normal(size=240) > 0.5, "a", "b")
    rows = zip(range(1000, 1240), x, region, "uvw" * 80, y, strict=True)
    lines = [f"{i},{a:.4f},{r},{note},{b}" for i, a, r, note, b in rows]
    path = tmp_path / "shops.csv"
    path.write_text("\n".join(["id,x,region,note,y", *lines]) + "\n")
    return path


def fine(outcome):
    assert outcome.exit == 0, outcome.err + outcome.out
    return outcome.json


def test_every_verb_drops_columns_and_declares_categories(likely, tmp_path, shops):
    looked = fine(likely("look", "shops.csv", *ABOUT, "--json"))
    types = {each["name"]: each["type"] for each in looked["result"]["columns"]}
    assert list(types) == ["x", "region", "y"]
    assert types["region"] == "category"
    assert looked["next"] == f"likely seal shops.csv --target y{WORDS}"
    compared = fine(likely("compare", "shops.csv", "logistic", *ABOUT, *QUICK, "--json"))
    assert compared["next"] == f"likely tune shops.csv logistic --target y{WORDS}"
    same = lk.compare(
        shops, "y", "logistic", folds=3, drop=["note", "id"], category=["region"]
    ).best.value
    assert compared["result"]["models"][0]["value"] == pytest.approx(same)
    plain = lk.compare(shops, "y", "logistic", folds=3, drop=["note", "id"]).best.value
    assert same < plain - 0.02
    tuned = likely("tune", "shops.csv", "logistic", *ABOUT, "--trials", "1", *QUICK, "--json")
    assert fine(tuned)["result"]["columns"] == ["x", "region"]
    curve = likely("curve", "shops.csv", "logistic", *ABOUT, *QUICK, "--values", "1", "--json")
    assert fine(curve)["result"]["points"][0]["validation"]["value"] == pytest.approx(
        same, abs=0.02
    )


@pytest.mark.parametrize("model", ["naive-bayes", "logistic"])  # with and without preparation
def test_a_run_remembers_what_was_dropped_and_declared(likely, tmp_path, shops, model):
    trained = fine(likely("train", "shops.csv", model, *ABOUT, "--json"))
    assert trained["result"]["columns"] == ["x", "region"]
    facts = json.loads((tmp_path / f"runs/001-{model}/run.json").read_text())
    assert (facts["dropped"], facts["categories"]) == (["note", "id"], ["region"])
    assert likely("curve", "@last", *QUICK, "--values", "1").exit == 0
    assert likely("predict", "@last", "shops.csv", "-o", "out.csv").exit == 0
    predicted = (tmp_path / "out.csv").read_text().split()[1:]
    model = lk.load(tmp_path / f"runs/001-{model}/model.likely")
    frame = pd.read_csv(shops)[["x", "region"]].astype({"region": str})
    assert predicted == model.predict(frame).tolist()


def test_a_streamed_file_is_trained_and_predicted_with_declared_categories(
    likely, tmp_path, shops, monkeypatch
):
    whole = fine(likely("train", "shops.csv", "logistic", *ABOUT, "--json"))["result"]
    monkeypatch.setattr("likely.workbench.data.dataset.IN_MEMORY_BYTES", 0)
    streamed = fine(likely("train", "shops.csv", "logistic", *ABOUT, "--json"))["result"]
    assert streamed["columns"] == whole["columns"]
    assert streamed["scores"]["value"] == pytest.approx(whole["scores"]["value"], rel=1e-6)
    assert likely("predict", "@last", "shops.csv", "-o", "out.csv").exit == 0


def test_a_seal_remembers_them_for_every_verb_up_to_final(likely, tmp_path, shops):
    told = fine(likely("seal", "shops.csv", *ABOUT, "--json"))["result"]
    assert (told["dropped"], told["categories"]) == (["note", "id"], ["region"])
    compared = fine(likely("compare", "shops.seal", "logistic", *QUICK, "--json"))
    assert compared["next"] == "likely tune shops.seal logistic"
    assert likely("compare", "shops.seal", "logistic", *QUICK, "--drop", "note").exit == 0
    trained = fine(likely("train", "shops.seal", "logistic", "--json"))["result"]
    assert trained["columns"] == ["x", "region"]
    assert fine(likely("final", "@last", "--json"))["result"]["value"] < 0.6
    assert likely("predict", "@last", "shops.csv", "-o", "out.csv").exit == 0


def test_a_category_that_is_declared_on_a_seal_is_one_in_final_too(likely, tmp_path, shops):
    likely("seal", "shops.csv", "--target", "y", "--drop", "id", "--drop", "note")
    likely("train", "shops.seal", "logistic", "--category", "region")
    declared = fine(likely("final", "@last", "--json"))["result"]["value"]
    assert declared < 0.6


@pytest.mark.parametrize("verb", ["look", "seal", "compare", "tune", "train", "curve"])
def test_a_column_that_is_not_there_gets_the_nearest_in_the_next_command(likely, shops, verb):
    model = ["logistic"] if verb in ("tune", "train", "curve") else []
    outcome = likely(verb, "shops.csv", *model, "--target", "y", "--drop", "notte")
    assert outcome.exit == 2
    assert outcome.err.splitlines()[-1].endswith("--target y --drop note")


def test_an_order_is_written_as_one_option():
    options = DataOptions(kind="ordinal", order=("low", "very high", "a,b"), group="shop")
    assert options.words() == """ --order 'low,very high,"a,b"' --group shop"""
    assert options.words("kind", "drop") == ""
    assert DataOptions(kind="count").words() == " --kind count"


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "shops.seal", "discriminant", *QUICK),
        ("look", "shops.seal"),
        ("curve", "shops.seal", "discriminant", *QUICK, "--values", "1"),
        ("tune", "shops.seal", "discriminant", *QUICK, "--trials", "1"),
        ("train", "shops.seal", "discriminant"),
    ],
    ids=lambda words: words[0],
)
def test_manifest_and_table_of_a_seal_are_read_once(likely, shops, reads, words):
    likely("seal", "shops.csv", *ABOUT)
    assert reads(*words) == {"manifest": 1, "train.parquet": 1}


@pytest.mark.parametrize(
    ("words", "tables"),
    [
        (("final", "@last"), {"train.parquet": 1, "test-features.parquet": 1}),
        (("curve", "@last", *QUICK, "--values", "1"), {"train.parquet": 1}),
        (("report", "@last"), {}),
    ],
    ids=lambda words: words[0] if isinstance(words, tuple) else None,
)
def test_manifest_table_and_facts_of_a_run_are_read_once(likely, shops, reads, words, tables):
    likely("seal", "shops.csv", *ABOUT)
    likely("train", "shops.seal", "discriminant")
    found = reads(*words)
    if words[0] == "final":  # it also asks the seals and RUNs nearby about earlier evaluations
        assert found.pop("manifest") <= 3
        assert found.pop("run.json") <= 4
        assert found == tables
    else:
        assert found == {"manifest": 1, "run.json": 1, **tables}


def test_sealed_final_reads_tables_once(likely, shops, reads):
    likely("seal", "shops.csv", *ABOUT)

    def final():
        lk.open_seal("shops.seal").final("discriminant")

    found = reads(final)
    assert found.pop("manifest") <= 3  # twice more to compare it with seals and runs nearby
    assert found == {"train.parquet": 1, "test-features.parquet": 1}


def test_training_on_a_seal_hashes_its_files_once_before_and_once_after(likely, shops, monkeypatch):
    likely("seal", "shops.csv", *ABOUT)
    hashed = Counter()

    def digest(path):
        hashed[path.name] += 1
        return digest_of_file(path)

    monkeypatch.setattr(ledger, "digest_of_file", digest)
    assert likely("train", "shops.seal", "discriminant").exit == 0
    assert (hashed["train.parquet"], hashed["test-features.parquet"]) == (2, 1)


@pytest.fixture
def reads(likely, monkeypatch):
    """How often a command, or a function, reads each file."""
    counts = Counter()
    read, rows, whole = Manifest.read.__func__, ParquetSource.__iter__, folder.read_parquet

    def counted(name, function):
        def call(*arguments):
            counts[name(*arguments)] += 1
            return function(*arguments)

        return call

    def call(*words):
        monkeypatch.setattr(Manifest, "read", classmethod(counted(lambda *_: "manifest", read)))
        monkeypatch.setattr(ParquetSource, "__iter__", counted(lambda *_: "train.parquet", rows))
        monkeypatch.setattr(folder, "read_parquet", counted(lambda path, *_: path.name, whole))
        facts = counted(lambda *_: "run.json", RunFolder.facts)
        monkeypatch.setattr(RunFolder, "facts", facts)
        if callable(words[0]):
            words[0]()
        else:
            outcome = likely(*words)
            assert outcome.exit == 0, outcome.err
        return counts

    return call
