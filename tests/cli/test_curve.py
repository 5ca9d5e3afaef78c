"""``likely curve``: by size, by a setting and by steps, with the next command."""

import json

import pytest

import likely as lk
from likely.workbench.data.builtin_data import builtin_table


def test_a_curve_by_size_is_a_table_and_names_the_next_command(likely, table):
    outcome = likely("curve", table, "logistic", "--target", "ill", "--folds", "3")
    assert outcome.exit == 0
    assert "log loss of logistic by training rows" in outcome.out
    assert outcome.out.rstrip().endswith(f"Next: likely tune {table} logistic --target ill")
    assert list(table.parent.iterdir()) == [table]


def test_json_is_what_python_gives(likely):
    words = ("--of", "l2", "--values", "0.1,10", "--folds", "3", "--json")
    said = likely("curve", "diabetes", "linear", *words).json["result"]
    rows = builtin_table("diabetes")
    same = lk.learning_curve(rows, "progression", "linear", of="l2", values=[0.1, 10], folds=3)
    held = [point["validation"]["value"] for point in said["points"]]
    assert held == pytest.approx([point.validation.value for point in same.points])
    assert [point["x"] for point in said["points"]] == [0.1, 10]
    assert said["metric"] == "log-likelihood"
    assert said["points"][0]["train"]["value"] >= said["points"][1]["train"]["value"]


def test_steps_can_be_followed(likely):
    said = likely("curve", "iris", "softmax", "--of", "iterations", "--folds", "2", "--json").json
    points = said["result"]["points"]
    assert points[0]["x"] == 1
    assert points[-1]["train"]["value"] < points[0]["train"]["value"]


def test_values_may_be_words(likely):
    words = ("--of", "covariance", "--values", "tied, full", "--folds", "2", "--json")
    said = likely("curve", "iris", "discriminant", *words).json["result"]
    assert [point["x"] for point in said["points"]] == ["tied", "full"]


@pytest.mark.parametrize(
    ("words", "exit", "said"),
    [
        (("iris", "tree"), 1, "There is no model 'tree'"),
        (("iris", "softmax", "--of", "l3"), 1, "There is no setting 'l3'"),
        (("iris", "naive-bayes", "--of", "iterations"), 2, "in one pass"),
    ],
)
def test_mistakes_are_refused(likely, words, exit, said):
    outcome = likely("curve", *words)
    assert outcome.exit == exit
    assert said in " ".join(outcome.err.split())


def kept(folder):
    return json.loads((folder / "curve.json").read_text())


@pytest.mark.long
def test_curves_on_a_seal_are_kept_side_by_side_and_shown_by_the_report(likely, tmp_path):
    likely("seal", "iris")
    for of in ("size", "l2", "size"):
        words = ("--of", of, "--folds", "2", "--values", "0.5,1" if of == "size" else "1,10")
        outcome = likely("curve", "iris.seal", "softmax", *words)
        assert "Saved for the report in iris.seal/curve.json." in outcome.out
    assert [each["of"] for each in kept(tmp_path / "iris.seal")] == ["size", "l2"]
    assert likely("train", "iris.seal", "softmax", "--set", "l2=3").exit == 0
    steps = ("--of", "iterations", "--values", "1,2", "--folds", "2")
    assert likely("curve", "iris.seal", "softmax", *steps).exit == 0  # after the run was written
    assert "curves" in likely("report", "@last", "--json").json["result"]["sections"]["001-softmax"]
    page = (tmp_path / "report.html").read_text()
    assert "Learning curve of softmax" in page
    assert "Validation curve of softmax by l2" in page
    assert "Score of softmax by iteration" in page
    assert "Chosen: 3<" in page
    assert page.count("FillBetweenPolyCollection") >= 6


def test_a_curve_of_a_run_has_its_model_and_settings_and_is_kept_in_it(likely, tmp_path, table):
    likely("train", table, "logistic", "--target", "ill", "--set", "l2=5")
    said = likely("curve", "@last", "--values", "1", "--folds", "2", "--json").json
    same = lk.learning_curve(
        str(table), "ill", lk.LogisticRegression(l2=5), values=[1.0], folds=2
    ).points[0]
    assert said["result"]["points"][0]["validation"]["value"] == pytest.approx(
        same.validation.value
    )
    assert said["result"]["run"] == "001-logistic"
    assert said["files"] == ["runs/001-logistic/curve.json"]
    assert said["next"] == "likely report @last"
    assert kept(tmp_path / "runs/001-logistic")[0]["model"] == "logistic"


def test_a_curve_of_data_is_kept_in_the_newest_run_of_that_model(likely, tmp_path, table):
    for model in ("logistic", "logistic", "naive-bayes"):
        likely("train", table, model, "--target", "ill")
    words = (table, "logistic", "--target", "ill", "--folds", "2", "--values", "1")
    assert likely("curve", *words).exit == 0
    assert [path.parent.name for path in tmp_path.glob("runs/*/curve.json")] == ["002-logistic"]


def test_a_curve_can_be_a_picture_or_a_file_of_numbers(likely, tmp_path):
    words = ("curve", "iris", "softmax", "--values", "0.5,1", "--folds", "2")
    assert "Wrote a.svg." in likely(*words, "-o", "a.svg").out
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")
    likely(*words, "-o", "a.json")
    assert json.loads((tmp_path / "a.json").read_text())["of"] == "size"
    outcome = likely(*words, "-o", "a.gif")
    assert outcome.exit == 1
    assert ".svg" in outcome.err


def test_a_run_on_other_rows_has_no_curve(likely, table):
    likely("train", table, "logistic", "--target", "ill")
    assert likely("curve", "@last", "naive-bayes").exit == 1
    table.write_text(table.read_text() + "50,Ulm,true,3,yes\n")
    outcome = likely("curve", "@last")
    assert outcome.exit == 2
    assert "has changed since" in " ".join(outcome.err.split())


def test_ordered_classes_have_a_curve(likely, tmp_path):
    rows = "".join(f"{i / 50},{['low', 'mid', 'top'][min(i // 30, 2)]}\n" for i in range(100))
    (tmp_path / "grades.csv").write_text("x,grade\n" + rows)
    words = ("--target", "grade", "--values", "1", "--folds", "2", "--json")
    said = likely("curve", "grades.csv", "ordinal", *words).json
    assert said["exit"] == 0, said["findings"]
    assert said["result"]["metric"] == "log-loss"


def test_other_data_than_a_run_need_a_model(likely):
    outcome = likely("curve", "iris")
    assert outcome.exit == 1
    assert "No model was given for iris" in outcome.err


def test_a_mixture_has_a_curve_without_a_target(likely):
    words = ("--set", "n_components=2", "--values", "1", "--folds", "2", "--json")
    said = likely("curve", "iris", "mixture", *words).json
    assert said["exit"] == 0, said["findings"]
    assert said["result"]["metric"] == "log-likelihood"
    assert said["result"]["target"] is None
    assert any("'species' was left out" in note for note in said["result"]["notes"])
    assert said["next"].startswith("likely train iris mixture")
    assert likely("train", "iris", "mixture", "--set", "n_components=2").exit == 0
    again = likely("curve", "@last", "--values", "1", "--folds", "2", "--json").json
    assert again["result"]["points"] == said["result"]["points"]
    assert again["files"]
    assert "Held out" in likely("curve", "@last", "--values", "1", "--folds", "2").out
