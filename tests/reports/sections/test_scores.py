"""The table of metrics: which class is positive, and why a number is missing."""

from dataclasses import replace

import numpy as np

from likely import LogisticRegression, NaiveBayes
from likely.metrics import Prediction, Truth, constant_prediction, metrics_for, score_of
from likely.reports.sections.mistakes import mistakes
from likely.reports.sections.verdict import metrics_table, score_of_run
from likely.runs import RunFacts, read_run
from likely.workbench.scoring.validation import Validation
from tests.reports.runs_by_hand import churn, flowers, write_run


def test_the_positive_class_and_its_threshold_are_named(tmp_path):
    folder = write_run(tmp_path / "run", churn(200), "churn", LogisticRegression(), "logistic")
    facts = read_run(folder)
    table = metrics_table(facts, score_of_run(facts))
    assert "F₁ is for yes, predicted if its probability is above 0.5" in table.caption
    assert "predicts yes for every row, that of accuracy the more common class" in table.caption
    cells = {row[0]: row[-1] for row in table.rows}
    assert cells["F₁ ↑"].endswith(" (always yes)")
    common = max(facts.validation.labels, key=lambda one: np.sum(churn(200)["churn"] == one))
    assert cells["Accuracy ↑"].endswith(f" (always {common})")
    assert "always" not in cells["Log loss ↓"]
    picture = mistakes(facts).blocks[0].blocks[0]
    assert "yes is the positive class, predicted if its probability is above 0.5" in picture.caption


def test_several_classes_have_no_positive_one(tmp_path):
    folder = write_run(tmp_path / "run", flowers(), "species", NaiveBayes(), "naive-bayes")
    facts = read_run(folder)
    assert "0.5" not in metrics_table(facts, score_of_run(facts)).caption
    assert "The most probable class is predicted." in mistakes(facts).blocks[0].blocks[0].caption


def test_the_support_of_weighted_rows_is_called_their_weight(tmp_path):
    facts = read_run(
        write_run(tmp_path / "r", churn(200), "churn", LogisticRegression(), "logistic")
    )
    table = mistakes(facts).blocks[0].blocks[1]
    assert "Support is the number of held-out rows of the class." in table.caption
    held = facts.validation
    weight = np.full(len(held.truth.y), 1.5)
    held = replace(held, truth=replace(held.truth, weight=weight))
    weighted = mistakes(replace(facts, validation=held)).blocks[0].blocks[1]
    assert "Support is the total weight of held-out rows of the class." in weighted.caption
    assert float(weighted.rows[0][-1]) == 1.5 * float(table.rows[0][-1])


def test_an_infinite_deviance_is_a_dash_with_a_reason():
    """A line through counts predicts means below 0, which no Poisson has."""
    y = np.arange(40.0) % 5
    table = of_numbers(y, "count")
    cells = {row[0]: row[1:] for row in table.rows}
    assert cells["Poisson deviance per row ↓"][:2] == ("–", "–")
    assert cells["Poisson deviance per row ↓"][2] != "–"  # the constant has one
    assert cells["R² ↑"][0] != "–"
    assert "– for Poisson deviance per row, Poisson deviance explained: infinite" in table.caption
    assert "∞" not in str(table.rows)


def test_a_constant_that_is_zero_is_written_0():
    rows = {row[0]: row for row in of_numbers(np.sin(np.arange(60.0)), "real").rows}
    assert float(rows["R² ↑"][3]) == 0
    assert "-" not in rows["R² ↑"][3]


def test_the_median_is_said_to_be_the_constant_of_the_absolute_error():
    y = np.array([0.0] * 30 + [10.0] * 10)
    table = of_numbers(y, "real")
    cells = {row[0]: row for row in table.rows}
    assert (
        cells["Mean absolute error ↓"][3] == "2.500 (median)"
    )  # of 0, the median; the mean would have 3.75
    assert "mean absolute error is the median; that of others is the mean" in table.caption
    for moved in ({"offset": y / 2}, {"exposure": y + 1.0}):
        assert "median" not in of_numbers(y, "real", **moved).caption


def of_numbers(y, kind, **moved):
    """The table of predictions that are 1 too low."""
    truth, said = Truth(y, kind=kind, **moved), Prediction.of_numbers(y - 1.0)
    score = score_of(metrics_for(kind), truth, said, constant_prediction(truth, truth))
    row = np.arange(len(y))
    held = Validation(kind, "y", truth, said, row, row % 2, score)
    run = RunFacts("run", {}, validation=held)
    return metrics_table(run, score_of_run(run))
