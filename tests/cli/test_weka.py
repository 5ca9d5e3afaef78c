"""Weka's habits: ``-t -T -c -x -s -d -l``."""

import json

import pytest

import likely as lk

ARFF = """@relation iris
@attribute sepal numeric
@attribute petal numeric
@attribute class {{setosa, other}}
@data
{rows}
"""


@pytest.fixture
def arff(tmp_path):
    """Two ARFF files with the class last."""
    import numpy as np

    rng = np.random.default_rng(0)
    for name, n in (("train", 90), ("test", 40)):
        rows = []
        for _ in range(n):
            other = rng.random() < 0.5
            label = "other" if other else "setosa"
            rows.append(f"{rng.normal(5 + other):.3f},{rng.normal(1.5 + 2 * other):.3f},{label}")
        (tmp_path / f"{name}.arff").write_text(ARFF.format(rows="\n".join(rows)))
    return tmp_path


def test_all_of_them_at_once(likely, arff):
    words = "train naive-bayes -t train.arff -T test.arff -c last -x 4 -s 7 -d nb.likely --json"
    said = likely(*words.split()).json
    assert said["exit"] == 0, said["findings"]
    assert said["seed"] == 7
    assert said["result"]["target"] == "class"
    assert said["result"]["scores"]["folds"] == 4
    assert said["result"]["unguarded"]["rows"] == 40
    assert not said["result"]["unguarded"]["guarded"]
    assert "nb.likely" in said["files"]
    assert lk.load(arff / "nb.likely").classes_.tolist() == ["other", "setosa"]


def test_a_score_on_a_test_file_is_labelled_unguarded(likely, arff):
    outcome = likely("train", "-t", "train.arff", "-T", "test.arff", "naive-bayes")
    assert outcome.exit == 0, outcome.err
    assert "on 40 rows of test.arff" in " ".join(outcome.out.split())
    assert "unguarded" in outcome.out


@pytest.mark.parametrize("given", ["class", "3", "last", None])
def test_the_class_by_name_number_or_place(likely, arff, given):
    words = ["train", "naive-bayes", "-t", "train.arff"]
    said = likely(*words, *([] if given is None else ["-c", given]), "--json").json
    assert said["result"]["target"] == "class"


def test_first_is_a_place_too(likely, arff):
    said = likely("train", "linear", "-t", "train.arff", "-c", "first", "--json").json
    assert said["result"]["target"] == "sepal"


def test_a_saved_model_is_scored_without_training(likely, arff):
    likely("train", "naive-bayes", "-t", "train.arff", "-d", "nb.likely")
    first = likely("train", "naive-bayes", "-t", "train.arff", "-T", "test.arff", "--json").json
    said = likely("train", "-l", "nb.likely", "-T", "test.arff", "--json").json
    assert said["exit"] == 0, said["findings"]
    assert said["result"]["unguarded"]["value"] == first["result"]["unguarded"]["value"]
    assert len(list((arff / "runs").iterdir())) == 2  # nothing was trained by -l


@pytest.mark.parametrize(
    "words",
    [
        "train -t train.arff",
        "train train.arff",
        "train",
        "train a b c",
        "train -l nb.likely",
        "train naive-bayes -t train.arff -x 1",
    ],
)
def test_what_is_missing_is_a_usage_error(likely, arff, words):
    outcome = likely(*words.split())
    assert outcome.exit == 1
    assert outcome.err.splitlines()[-1].startswith("Next: likely train --help")


def test_an_unguarded_score_of_sealed_rows_is_logged(likely, table):
    likely("seal", "patients.csv", "--target", "ill")
    words = "train patients.seal naive-bayes -T patients.csv"
    assert likely(*words.split()).exit == 0
    lines = (table.parent / "patients.seal" / "ledger.jsonl").read_text().splitlines()
    assert json.loads(lines[-1])["event"] == "predict"
