"""Runs side by side: what each score is, and that no unopened run looks best."""

import json
import shutil
from dataclasses import replace

import pytest

from likely.output.formatting import estimate_cells
from likely.reports.page import report_of
from likely.reports.sections.verdict import overview
from likely.runs import read_run
from tests.reports.runs_by_hand import rewritten


@pytest.fixture
def runs(whole, tmp_path):
    """The same run tuned and never opened, opened, and opened a second time."""
    folders = [shutil.copytree(whole, tmp_path / name) for name in ("tuned", "first", "second")]
    tuned, first, second = folders
    rewritten(tuned, "study.json", lambda f: f.update(nested=None))
    (first / "study.json").unlink()
    tuned, first, second = (read_run(folder) for folder in folders)
    final = {**second.final, "evaluation": 2, "level": 0.975}
    return [replace(tuned, final=None), first, replace(second, final=final)]


def test_training_and_sealed_rows_are_in_columns_of_their_own(runs):
    table = overview(runs)
    place = {name: k for k, name in enumerate(table.head)}
    tuned, first, second = table.rows
    assert tuned[place["sealed rows"]] == "not evaluated"
    assert tuned[place["training rows"]].endswith("; cross-validated, 5 folds, best of 12 trials")
    assert first[place["training rows"]].endswith("; cross-validated, 5 folds")
    assert first[place["sealed rows"]].endswith("); evaluation 1 of 1")
    assert second[place["sealed rows"]].endswith("); evaluation 2, beyond the budget of 1")
    assert not table.marked


def test_a_nested_score_is_said_to_be_one(runs, tmp_path):
    rewritten(
        tmp_path / "tuned",
        "study.json",
        lambda f: f.update(nested={"value": 0.611, "interval": [0.58, 0.64]}),
    )
    (row,) = overview([read_run(tmp_path / "tuned")]).rows
    assert row[5] == "0.611 (95 % interval 0.580 to 0.640); nested"


def test_runs_without_a_seal_say_so(runs, tmp_path):
    rewritten(tmp_path / "tuned", "run.json", lambda f: f.pop("seal"))
    facts = replace(read_run(tmp_path / "tuned"), final_problem=None)
    (row,) = overview([facts]).rows
    assert row[3] == "none sealed"


@pytest.mark.long
def test_a_tuned_verdict_says_that_it_was_chosen(runs):
    html = report_of([runs[0]]).html
    assert (
        "Its settings are the best of 12 trials on these rows, so this score is optimistic." in html
    )
    assert "so that it is too good" not in report_of([runs[1]]).html


@pytest.mark.long
def test_a_second_look_says_the_level_of_its_interval(runs, tmp_path):
    html = report_of([runs[2]]).html
    assert "(97.5 % interval " in html  # in the first sentence
    assert ">97.5 % interval</th>" in html  # in the table
    assert "a 97.5\u00a0% interval" in html  # below the ruler
    final = json.loads((tmp_path / "first" / "final.json").read_text())
    assert final["level"] == 0.95
    assert ">95 % interval</th>" in report_of([runs[1]]).html


def test_nobody_is_told_to_choose_by_sealed_rows(runs):
    said = overview(runs).caption
    assert "Choose a run by its score on held-out training rows" in said
    assert "use the sealed rows only for the chosen run" in said


@pytest.mark.parametrize(
    ("loss", "metric", "of_metric"),
    [
        ("log-loss", "log-loss", lambda value: value),
        ("error-rate", "accuracy", lambda value: 1 - value),
        ("brier", "brier", lambda value: value),  # a scorer of one's own with the name of a metric
    ],
)
def test_training_rows_are_scored_by_the_metric_of_the_sealed_ones(runs, loss, metric, of_metric):
    facts = replace(runs[1], final={**runs[1].final, "metric": loss})
    found = facts.validation.score.estimates[metric]
    (row,) = overview([facts]).rows
    value, *_ = estimate_cells(of_metric(found.value), *map(of_metric, (found.low, found.high)))
    assert row[5].startswith(f"{value} (95 % interval")


def test_an_unknown_score_of_sealed_rows_is_not_compared_with_training_rows(runs):
    facts = replace(runs[1], final={**runs[1].final, "metric": "my own cost"})
    (row,) = overview([facts]).rows
    assert row[5:] == ("–", "–")
