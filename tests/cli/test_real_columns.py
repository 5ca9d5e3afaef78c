"""A table with dates, an identifier, free text and missing targets, through every command."""

import csv
import datetime as dt
import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from likely.runs import read_run

N, FEW = 800, 300
RNG = np.random.default_rng(0)
START = dt.datetime(2021, 1, 1)
WHEN = [START + dt.timedelta(days=2 * k, hours=k % 24) for k in range(N)]
X = RNG.normal(size=N)
CHURN = np.where(X + RNG.normal(size=N) > 0, "yes", "no").tolist()
IDS = (10_000 + 7 * np.arange(N)).tolist()
NOTES = [f"customer {k} called twice about a bill in {k % 9}" for k in range(N)]
TYPES = {
    "date32": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "zoned": pa.timestamp("ns", tz="Europe/Berlin"),
}


def dated(kind="date32", **columns):
    days = pa.array(WHEN, pa.timestamp("us")).cast(TYPES[kind])
    return pa.table(
        {"customer_id": IDS, "note": NOTES, "x": X, "when": days, "churn": CHURN, **columns}
    )


@pytest.fixture
def churn(tmp_path):
    pq.write_table(dated().slice(0, FEW), tmp_path / "churn.parquet")
    return tmp_path


def done(outcome):
    assert outcome.exit == 0, outcome.err
    return outcome.out + outcome.err


@pytest.mark.parametrize(
    "kind", ["date32", *(pytest.param(kind, marks=pytest.mark.slow) for kind in [*TYPES][1:])]
)
@pytest.mark.long
def test_a_parquet_file_with_dates_goes_from_look_to_report(likely, tmp_path, kind):
    pq.write_table(dated(kind), tmp_path / "churn.parquet")
    target = ("--target", "churn")
    found = done(likely("look", "churn.parquet", *target))
    assert "LK101" in found and "LK112" not in found
    said = done(likely("seal", "churn.parquet", *target, "--by-time", "when"))
    assert "'customer_id'" in said and "Read as text" in said
    for words in (
        ("compare", "churn.seal", "logistic", "--repeats", "1", "--folds", "3"),
        ("tune", "churn.seal", "logistic", "--trials", "2", "--folds", "3"),
        ("curve", "churn.seal", "logistic", "--values", "0.5,1", "--folds", "3"),
        ("train", "churn.seal", "logistic"),
    ):
        assert "Left out as an identifier" in done(likely(*words)), words
    words = " ".join(done(likely("explain", "@last", "--top", "2000")).split())
    assert "when month[June]" in words and "when days" in words
    assert "days since 2021-01-01" in words and "customer_id" not in words
    assert "note: bill" in words and "tf-idf" in words
    done(likely("final", "@last"))
    done(likely("report", "@last", "-o", "report.html"))
    page = (tmp_path / "report.html").read_text()
    assert "when month" in page and "customer_id" in page
    later = dated(kind).drop_columns(["customer_id", "churn"]).slice(0, 4)
    later = later.set_column(2, "when", pa.array([dt.date(2031, 5, 1 + k) for k in range(4)]))
    pq.write_table(later, tmp_path / "new.parquet")
    done(likely("predict", "@last", "new.parquet", "-o", "new.csv"))
    assert len((tmp_path / "new.csv").read_text().split()) == 5


@pytest.mark.long
def test_what_look_found_is_in_the_seal_and_in_the_run(likely, churn):
    done(likely("seal", "churn.parquet", "--target", "churn"))
    done(likely("train", "churn.seal", "naive-bayes", "-o", "r"))
    done(likely("train", "churn.seal", "logistic", "-o", "s"))
    sealed = json.loads((churn / "churn.seal" / "manifest.json").read_text())
    run = json.loads((churn / "r" / "run.json").read_text())
    assert run["findings"] == sealed["findings"] == list(read_run(churn / "r").findings)
    assert run["identifiers"] == ["customer_id"] and run["texts"] == ["note"]
    first = sealed["findings"][0]
    assert (first["code"], first["columns"]) == ("LK101", ["customer_id"])
    assert "LK101" in (churn / "r" / "look.json").read_text()


@pytest.mark.parametrize("model", ["logistic", "naive-bayes"])
@pytest.mark.long
def test_an_identifier_is_not_asked_for_and_can_be_kept_beside_predictions(likely, churn, model):
    done(likely("train", "churn.parquet", model, "--target", "churn", "-o", "r"))
    pq.write_table(dated().drop_columns(["customer_id"]).slice(0, FEW), churn / "bare.parquet")
    done(likely("predict", "r", "bare.parquet", "-o", "bare.csv"))
    done(
        likely(
            "predict",
            "r",
            "churn.parquet",
            "--keep",
            "customer_id",
            "--keep",
            "when",
            "--proba",
            "-o",
            "out.csv.gz",
        )
    )
    with gzip.open(churn / "out.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["customer_id", "when", "prediction", "p_no", "p_yes"]
    assert [int(row["customer_id"]) for row in rows] == IDS[:FEW]
    assert rows[1]["when"] == "2021-01-03"
    bare = (churn / "bare.csv").read_text().split()
    assert [row["prediction"] for row in rows] == bare[1:]
    done(
        likely(
            "predict",
            "r",
            "churn.parquet",
            "--keep",
            "customer_id",
            "--keep",
            "when",
            "-o",
            "out.parquet",
        )
    )
    kept = pq.read_table(churn / "out.parquet")
    assert kept["when"].type == pa.date32() and kept["customer_id"].to_pylist() == IDS[:FEW]
    done(likely("predict", "r", "churn.parquet", "--keep", "when", "-o", "out.jsonl"))
    assert json.loads((churn / "out.jsonl").read_text().split("\n")[0])["when"] == "2021-01-01"


@pytest.mark.long
def test_columns_to_keep_must_exist_and_differ(likely, churn):
    words = ("--target", "churn", "-x", "3", "-o", "r")
    done(likely("train", "churn.parquet", "logistic", *words))
    outcome = likely("predict", "r", "churn.parquet", "--keep", "customer")
    assert outcome.exit == 2 and "Did you mean 'customer_id'?" in " ".join(outcome.err.split())
    twice = dated().append_column("prediction", pa.array(IDS))
    pq.write_table(twice, churn / "twice.parquet")
    outcome = likely("predict", "r", "twice.parquet", "--keep", "prediction")
    assert outcome.exit == 2 and "names must differ" in " ".join(outcome.err.split())


def test_declared_identifiers_are_features(likely, churn):
    words = ("--target", "churn", "-x", "3")
    done(
        likely("train", "churn.parquet", "logistic", *words, "--feature", "customer_id", "-o", "r")
    )
    run = json.loads((churn / "r" / "run.json").read_text())
    assert run["columns"] == ["customer_id", "note", "x", "when"]
    assert run["declared_features"] == ["customer_id"] and run["identifiers"] == []
    done(likely("predict", "r", "churn.parquet", "-o", "out.csv"))
    outcome = likely("predict", "r", "churn.parquet", "-o", "out2.csv")
    assert outcome.exit == 0
    done(likely("curve", "r", "--values", "1", "--folds", "3"))


@pytest.fixture
def gaps(tmp_path):
    """Rows 3, 59 and 60 have no target, written in several ways."""
    lines = [f"{X[k]:.4f},{CHURN[k]}" for k in range(N)]
    for row, word in ((3, ""), (59, "NULL"), (60, "#N/A")):
        lines[row] = f"{X[row]:.4f},{word}"
    (tmp_path / "gaps.csv").write_text("\n".join(["x,churn", *lines]) + "\n")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ("seal",),
        ("compare", "logistic", "--folds", "3", "--repeats", "1"),
        ("tune", "logistic", "--trials", "2", "--folds", "3"),
        ("train", "logistic"),
        ("train", "naive-bayes"),
        ("train", "logistic", "-x", "3"),
        ("curve", "logistic", "--values", "1", "--folds", "3"),
    ],
    ids=" ".join,
)
def test_rows_without_a_target_are_left_out_by_every_command(likely, gaps, words):
    verb, *others = words
    said = done(likely(verb, "gaps.csv", *others, "--target", "churn"))
    assert "3 rows without a target (churn) were left out." in " ".join(said.split())


def test_a_streamed_file_leaves_out_rows_without_a_target(likely, gaps, monkeypatch):
    monkeypatch.setattr("likely.workbench.data.dataset.IN_MEMORY_BYTES", 100)
    for model in ("logistic", "naive-bayes"):
        said = done(likely("train", "gaps.csv", model, "--target", "churn"))
        assert "797 rows" in said and "3 rows without a target" in said


def test_look_counts_missing_targets_and_the_seal_remembers(likely, gaps):
    assert "missing in 3 of 800 rows" in done(likely("look", "gaps.csv", "--target", "churn"))
    done(likely("seal", "gaps.csv", "--target", "churn"))
    manifest = json.loads((gaps / "gaps.seal" / "manifest.json").read_text())
    assert manifest["n_train"] + manifest["n_test"] == 797
    assert "LK301" in [each["code"] for each in manifest["findings"]]


@pytest.mark.parametrize("verb", ["look", "seal", "compare", "tune", "train", "curve"])
def test_options_about_columns_have_one_spelling(likely, verb):
    text = likely(verb, "--help").out
    for option in (
        "--drop",
        "--category",
        "--feature",
        "--group",
        "--by-time",
        "--weight",
        "--offset",
        "--exposure",
    ):
        assert option in text, option
