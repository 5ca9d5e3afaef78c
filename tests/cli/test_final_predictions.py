"""``likely final SEAL --features`` and ``--predictions``: another tool on the sealed rows."""

import json

import pandas as pd
import pytest

from likely.sealing.folder import ROW


@pytest.fixture
def rows(likely, table):
    """The sealed rows of the patients, as another tool reads them."""
    likely("seal", "patients.csv", "--target", "ill")
    outcome = likely("final", "patients.seal", "--features", "rows.csv")
    assert outcome.exit == 0, outcome.err
    assert outcome.out.rstrip().endswith("likely final patients.seal --predictions FILE")
    return pd.read_csv(table.parent / "rows.csv")


def events(folder):
    lines = (folder / "patients.seal" / "ledger.jsonl").read_text().splitlines()
    return [json.loads(line)["event"] for line in lines]


def predicted(rows):
    chance = (rows["age"] > 52) * 0.6 + 0.2
    return pd.DataFrame({ROW: rows[ROW], "p_yes": chance, "p_no": 1 - chance})


def test_features_have_keys_and_no_target(rows, table):
    assert list(rows.columns) == [ROW, "age", "city", "smoker", "visits"]
    assert events(table.parent) == ["sealed", "predict"]


def test_predictions_of_another_tool_are_one_evaluation(likely, rows, table):
    predicted(rows).sample(frac=1, random_state=0).to_csv("theirs.csv", index=False)
    outcome = likely("final", "patients.seal", "--predictions", "theirs.csv")
    words = " ".join(outcome.out.split())
    assert outcome.exit == 0, outcome.err
    assert "on 40 sealed rows; evaluation 1 of 1. Baseline (constant)" in words
    assert "made outside likely" in words
    assert words.endswith("Next: likely ledger show patients.seal")
    assert events(table.parent)[-2:] == ["commit", "score"]
    shown = likely("ledger", "show", "patients.seal").out
    assert "theirs.csv" in shown
    again = likely("final", "patients.seal", "--predictions", "theirs.csv", "--json").json
    assert again["result"]["resumed"]
    assert again["result"]["predictions"] == "theirs.csv"


def test_a_second_file_is_beyond_the_budget(likely, rows):
    predicted(rows).to_parquet("first.parquet")
    likely("final", "patients.seal", "--predictions", "first.parquet")
    predicted(rows.assign(age=100 - rows["age"])).to_csv("second.csv", index=False)
    outcome = likely("final", "patients.seal", "--predictions", "second.csv")
    assert outcome.exit == 3
    assert outcome.err.splitlines()[-1] == "Next: likely ledger show patients.seal"
    reason = ("--again", "the first file was an old one")
    assert likely("final", "patients.seal", "--predictions", "second.csv", *reason).exit == 0


@pytest.mark.parametrize(
    ("words", "exit", "message"),
    [
        (["patients.seal"], 1, "is a SEAL; a RUN that was trained on it"),
        (["patients.csv", "--predictions", "short.csv"], 1, "is not a SEAL"),
        (["patients.seal", "--features", "rows.xlsx"], 1, "expected one of .csv, .tsv, .parquet"),
        (["patients.seal", "--predictions", "short.csv"], 2, "lack 5 sealed rows"),
        (["@last", "--cv-estimate", "0.4"], 1, "is of --predictions"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(likely, rows, table, words, exit, message):
    predicted(rows).iloc[5:].to_csv("short.csv", index=False)
    outcome = likely("final", *words)
    assert outcome.exit == exit
    assert message in " ".join(outcome.err.split())
    assert "commit" not in events(table.parent)


@pytest.mark.parametrize("name", ["rows.tsv", "rows.parquet"])
def test_features_in_other_formats_have_the_same_keys(likely, rows, name):
    assert likely("final", "patients.seal", "--features", name).exit == 0
    read = pd.read_parquet(name) if name.endswith("parquet") else pd.read_csv(name, sep="\t")
    pd.testing.assert_frame_equal(read, rows, check_dtype=False)


def test_of_probabilities_and_classes_the_probabilities_are_scored_and_that_is_said(likely, rows):
    both = predicted(rows)
    both.assign(prediction="no").to_csv("both.csv", index=False)
    found = likely("final", "patients.seal", "--predictions", "both.csv", "--json").json
    assert found["result"]["metric"] == "log-loss"
    assert "the probabilities are scored, and prediction is not read" in found["findings"][-1]
    both.to_csv("proba.csv", index=False)
    alone = likely("final", "patients.seal", "--predictions", "proba.csv", "--json").json
    assert alone["result"]["value"] == found["result"]["value"]
    assert not any("not read" in note for note in alone["findings"])


def test_features_and_predictions_are_given_in_a_command_each(likely, rows, tmp_path):
    predicted(rows).to_csv("theirs.csv", index=False)
    words = ("--predictions", "theirs.csv", "--features", "again.csv")
    outcome = likely("final", "patients.seal", *words)
    assert outcome.exit == 1
    assert "--features and --predictions were given together" in " ".join(outcome.err.split())
    assert not (tmp_path / "again.csv").exists()
