"""Options as in Weka: ``-t -T -c -x -s -d -l``."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import poisson

import likely as lk
from likely.metrics.baseline import best_rate
from tests.cli.conftest import patients

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


def last_of(table):
    lines = (table.parent / "patients.seal" / "ledger.jsonl").read_text().splitlines()
    return json.loads(lines[-1])


@pytest.mark.parametrize("columns", [5, 4], ids=["the file", "a column dropped"])
def test_a_score_of_sealed_rows_is_a_look_and_is_refused(likely, table, columns):
    likely("seal", "patients.csv", "--target", "ill", "--judge", "ladder")
    lines = [line.split(",") for line in table.read_text().splitlines()]
    rows = [",".join([*line[: columns - 1], line[-1]]) for line in lines]
    (table.parent / "test.csv").write_text("\n".join(rows) + "\n")
    outcome = likely("train", "patients.seal", "logistic", "-T", "test.csv")
    assert outcome.exit == 3
    said = " ".join(outcome.err.split())
    assert "test.csv holds 40 of the 40 sealed rows of patients.seal" in said
    assert outcome.err.splitlines()[-1] == "Next: likely ledger show patients.seal"
    assert "og loss" not in outcome.out
    entry = last_of(table)
    assert (entry["event"], entry["command"], entry["rows"]) == ("refused", "score", 40)
    assert not list((table.parent / "runs").glob("*")), "no run is left half made"


def test_a_saved_model_is_not_scored_on_sealed_rows_either(likely, table, tmp_path, monkeypatch):
    likely("seal", "patients.csv", "--target", "ill")
    likely("train", "patients.seal", "logistic")
    outcome = likely("train", "-l", "runs/001-logistic", "-T", "patients.csv", "-c", "ill")
    assert outcome.exit == 3
    assert last_of(table)["event"] == "refused"
    far = tmp_path / "far" / "away" / "from" / "here"
    far.mkdir(parents=True)
    copy = far / "test.csv"
    copy.write_text(table.read_text())
    monkeypatch.chdir(far)
    run = str(tmp_path / "runs" / "001-logistic")
    outcome = likely("train", "-l", run, "-T", "test.csv", "-c", "ill")
    assert outcome.exit == 3, "the run knows its seal"


def test_a_file_of_other_rows_is_scored(likely, table):
    likely("seal", "patients.csv", "--target", "ill")
    (table.parent / "new.csv").write_text(patients(seed=1))
    said = likely("train", "patients.seal", "naive-bayes", "-T", "new.csv", "--json").json
    assert said["exit"] == 0
    assert said["result"]["unguarded"]["rows"] == 200
    assert last_of(table)["event"] == "sealed"


def claims_file(path, seed, n):
    rng = np.random.default_rng(seed)
    x, years, times = rng.normal(size=n), rng.uniform(0.2, 5, n), rng.integers(0, 4, n)
    y = rng.poisson(years * np.exp(0.3 + 0.5 * x))
    lines = [",".join(map(str, row)) for row in zip(x, years, times, y, strict=True)]
    path.write_text("\n".join(["x,years,times,y", *lines]) + "\n")
    return x, years, times, y


def test_a_test_file_is_scored_with_its_weights_and_exposures(likely, tmp_path):
    _, years, times, y = claims_file(tmp_path / "train.csv", 0, 300)
    x, later, often, counts = claims_file(tmp_path / "test.csv", 1, 200)
    words = ("--target", "y", "--kind", "count", "--exposure", "years", "--weight", "times")
    given = ("train", "train.csv", "glm-poisson", *words, "-T", "test.csv", "--json")
    said = likely(*given).json["result"]
    assert said["unguarded"]["rows"] == (often > 0).sum()
    model = lk.load(tmp_path / said["run"] / "model.likely")
    mean = model.predict(pd.DataFrame({"x": x}), exposure=later)
    expected = np.average(poisson(mean).logpmf(counts), weights=often)
    assert said["unguarded"]["value"] == pytest.approx(expected, rel=1e-9)
    level = best_rate("count", y.astype(float), times.astype(float), years)
    constant = level.log_density(counts.astype(float), later)
    expected = np.average(constant, weights=often)
    assert said["unguarded"]["baseline"] == pytest.approx(expected, rel=1e-6)
    loaded = likely("train", "-l", said["run"], "-T", "test.csv")
    assert loaded.exit == 0, loaded.err
    assert "Log-likelihood" in loaded.out
    assert "aseline" not in loaded.out  # the training rows are not known
    same = likely("train", "-l", said["run"], "-T", "test.csv", "--json").json["result"]
    assert same["unguarded"] == {**said["unguarded"], "baseline": None}


@pytest.mark.parametrize("labels", [["maybe"], ["maybe", None], [None]], ids=str)
def test_rows_that_a_test_file_cannot_score_are_counted(likely, tmp_path, labels):
    (tmp_path / "train.csv").write_text(patients(200))
    other = pd.read_csv(io.StringIO(patients(60, seed=1)), dtype=str)
    other.loc[:19, "ill"] = [labels[i % len(labels)] for i in range(20)]
    other.to_csv(tmp_path / "test.csv", index=False)
    words = ("train", "train.csv", "logistic", "--target", "ill", "-T", "test.csv")
    found = likely(*words, "--json").json["result"]["unguarded"]
    assert (found["rows"], found["left_out"]) == (40, 20)
    said = " ".join(likely(*words).out.split())
    assert "on 40 rows of test.csv" in said
    assert "20 rows not scored: " in said
    assert ("the model has not learned 'maybe'" in said) is ("maybe" in labels)
    assert ("the target is missing" in said) is (None in labels)
