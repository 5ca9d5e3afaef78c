"""``likely curve``: by size, by a setting and by steps, with the next command."""

import pytest

import likely as lk
from likely.cli.builtin import builtin_table


def test_a_curve_by_size_is_a_table_and_names_the_next_command(likely, table):
    outcome = likely("curve", table, "logistic", "--target", "ill", "--folds", "3")
    assert outcome.exit == 0
    assert "log loss of logistic by rows learned from" in outcome.out
    assert outcome.out.rstrip().endswith(f"Next: likely tune {table} logistic --target ill")
    assert list(table.parent.iterdir()) == [table]


def test_json_is_what_python_gives(likely):
    words = ("--of", "l2", "--values", "0.1,10", "--folds", "3", "--json")
    said = likely("curve", "diabetes", "linear", *words).json["result"]
    rows = builtin_table("diabetes")
    same = lk.learning_curve(rows, "progression", "linear", of="l2", values=[0.1, 10], folds=3)
    held = [point["validation"] for point in said["points"]]
    assert held == pytest.approx([point.validation for point in same.points])
    assert [point["x"] for point in said["points"]] == [0.1, 10]
    assert said["metric"] == "log-likelihood"
    assert said["points"][0]["train"] >= said["points"][1]["train"]


def test_steps_can_be_followed(likely):
    said = likely("curve", "iris", "softmax", "--of", "iterations", "--folds", "2", "--json").json
    points = said["result"]["points"]
    assert points[0]["x"] == 1
    assert points[-1]["train"] < points[0]["train"]


def test_values_may_be_words(likely):
    words = ("--of", "covariance", "--values", "tied, full", "--folds", "2", "--json")
    said = likely("curve", "iris", "discriminant", *words).json["result"]
    assert [point["x"] for point in said["points"]] == ["tied", "full"]


@pytest.mark.parametrize(
    ("words", "exit", "said"),
    [
        (("iris", "tree"), 1, "There is no model 'tree'"),
        (("iris", "softmax", "--of", "l3"), 2, "There is no setting 'l3'"),
        (("iris", "naive-bayes", "--of", "iterations"), 2, "in one pass"),
    ],
)
def test_mistakes_are_refused(likely, words, exit, said):
    outcome = likely("curve", *words)
    assert outcome.exit == exit
    assert said in " ".join(outcome.err.split())
