"""The table of metrics: which class is positive, and why a number is missing."""

import numpy as np
import pyarrow as pa

from likely import LinearRegression, LogisticRegression, NaiveBayes
from likely.metrics import Prediction, Truth
from likely.report.sections.mistakes import mistakes
from likely.report.sections.scores import metrics_table
from likely.runs import read_run
from likely.workbench.validation import Validation
from tests.report.runs_by_hand import churn, flowers, write_run


def test_the_positive_class_and_its_threshold_are_named(tmp_path):
    folder = write_run(tmp_path / "run", churn(200), "churn", LogisticRegression(), "logistic")
    facts = read_run(folder)
    table = metrics_table(facts.validation, None)
    assert "F₁ is that of yes, predicted if its probability is above 0.5" in table.caption
    assert "predicts yes for every row, that of accuracy the more common class" in table.caption
    picture = mistakes(facts).blocks[0].blocks[0]
    assert "yes is the positive class, predicted if its probability is above 0.5" in picture.caption


def test_several_classes_have_no_positive_one(tmp_path):
    folder = write_run(tmp_path / "run", flowers(), "species", NaiveBayes(), "naive-bayes")
    facts = read_run(folder)
    assert "0.5" not in metrics_table(facts.validation, None).caption
    assert "The most probable class is predicted." in mistakes(facts).blocks[0].blocks[0].caption


def test_an_infinite_deviance_is_a_dash_with_a_reason():
    """A line through counts predicts means below 0, which no Poisson has."""
    y = np.arange(40.0) % 5
    held = Validation(
        kind="count",
        target="visits",
        truth=Truth(y, kind="count"),
        prediction=Prediction.of_numbers(y - 1.0),
        row=np.arange(40),
        fold=np.arange(40) % 2,
    )
    table = metrics_table(held, None)
    cells = {row[0]: row[1:] for row in table.rows}
    assert cells["Poisson deviance per row ↓"][:2] == ("–", "–")
    assert cells["Poisson deviance per row ↓"][2] != "–"  # the constant has one
    assert cells["R² ↑"][0] != "–"
    assert "– Poisson deviance per row, Poisson deviance explained: infinite" in table.caption
    assert "∞" not in str(table.rows)


def test_a_constant_that_is_zero_is_written_0(tmp_path):
    table = pa.table({"x": np.linspace(0, 1, 60), "y": np.sin(np.arange(60.0))})
    folder = write_run(tmp_path / "run", table, "y", LinearRegression(), "linear")
    rows = {row[0]: row for row in metrics_table(read_run(folder).validation, None).rows}
    assert rows["R² ↑"][3] == "0.000"


def test_the_median_is_said_to_be_the_constant_of_the_absolute_error():
    y = np.array([0.0] * 30 + [10.0] * 10)
    table = metrics_table(_of_numbers(y, facts={}), None)
    cells = {row[0]: row for row in table.rows}
    assert (
        cells["Mean absolute error ↓"][3] == "2.500"
    )  # of 0, the median; the mean would have 3.75
    assert "mean absolute error is the median; of the others it is the mean" in table.caption
    moved = metrics_table(_of_numbers(y, facts={"moved": True}), None)
    assert "median" not in moved.caption


def _of_numbers(y, facts):
    return Validation(
        kind="real",
        target="y",
        truth=Truth(y, kind="real"),
        prediction=Prediction.of_numbers(y - 1.0),
        row=np.arange(len(y)),
        fold=np.arange(len(y)) % 2,
        facts=facts,
    )
