"""Reports on runs that went badly, or that have little to show."""

from dataclasses import replace

import numpy as np
import pytest

from likely import GLM, NaiveBayes, OrdinalRegression
from likely.cli.main import run
from likely.metrics import Prediction
from likely.output.formatting import estimate_cells
from likely.reports.page import report_of
from likely.runs import read_run
from likely.special import LOG_FLOOR
from likely.workbench.data.folds import Folds
from likely.workbench.data.task import task_of
from likely.workbench.preparation.prepared import Prepared
from tests.reports.runs_by_hand import churn, counts, flowers, held_out, rescored


@pytest.fixture
def facts(whole):
    return replace(read_run(whole), final=None)


def with_held(facts, held):
    return report_of([replace(facts, validation=held)])


def test_a_class_that_was_called_impossible_has_a_price_and_not_an_infinite_loss(facts):
    held = facts.validation
    losses = held.prediction.losses(held.truth)
    log_p = held.prediction.log_p.copy()
    log_p[0, held.truth.y[0]] = -np.inf
    log_p[0, 1 - held.truth.y[0]] = 0.0
    held = rescored(held, prediction=Prediction.of_classes(log_p))
    losses[0] = -LOG_FLOOR
    assert held.score.main.value == pytest.approx(losses.mean())
    value, *_ = estimate_cells(*held.score.main)
    told = with_held(facts, held)
    assert f"Log loss {value} (" in told.html
    assert "∞" not in told.html


def test_held_out_rows_of_one_class_have_no_ranking(facts):
    held = facts.validation
    one = held.truth.y == 0
    few = rescored(
        held,
        truth=held.truth.rows(one),
        prediction=held.prediction.rows(one),
        row=held.row[one],
        fold=held.fold[one],
    )
    told = with_held(facts, few)
    assert "all held-out rows are of one class" in told.html


def test_numbers_without_a_density_are_told_by_their_errors(facts):
    table = counts()
    held = held_out(Prepared(GLM(response="poisson")), table, task_of(table, "age"))
    plain = Prediction.of_numbers(held.prediction.means)
    told = with_held(facts, rescored(held, prediction=plain, pit=None))
    assert "its quantiles cannot be checked" in told.html
    assert "squared error" in told.html


def test_predictions_that_never_differ_can_be_drawn(facts):
    table = counts()
    held = held_out(Prepared(GLM(response="poisson")), table, task_of(table, "age"))
    flat = Prediction.of_numbers(np.full(len(held.row), 45.0), held.prediction.log_density)
    assert "Predicted against observed" in with_held(facts, rescored(held, prediction=flat)).html


def test_rows_learned_from_only_are_not_among_the_held_out(facts):
    table = churn(200)
    task = task_of(table, "churn")
    folds = Folds(n_rows=200, n_folds=4, time=np.arange(200))
    held = held_out(Prepared(NaiveBayes()), table, task, folds=folds)
    assert held.row.tolist() == list(range(40, 200))
    assert [task.classes[code] for code in held.truth.y] == table["churn"].to_pylist()[40:]
    assert "160 rows, each held out once in 4 folds" in with_held(facts, held).html


def test_ordered_classes_have_their_score(facts):
    table = flowers()
    task = task_of(table, "species", ordered=True)
    held = held_out(Prepared(OrdinalRegression(order=task.order)), table, task)
    assert "Ranked probability score" in with_held(facts, held).html


def test_many_classes_are_listed_and_not_drawn(facts):
    rng = np.random.default_rng(0)
    n, k = 600, 20
    y = np.repeat(np.arange(k), n // k)
    log_p = np.log(rng.dirichlet(np.ones(k), n) * 0.9 + 0.1 * np.eye(k)[y])
    held = facts.validation
    truth = replace(held.truth, y=y, classes=tuple(f"class {j}" for j in range(k)), kind="classes")
    many = rescored(
        held,
        kind="classes",
        truth=truth,
        prediction=Prediction.of_classes(log_p),
        row=np.arange(n),
        fold=np.arange(n) % 5,
    )
    told = with_held(facts, many)
    assert "The most frequent confusions" in told.html
    assert "Confusion matrix" not in told.html
    assert len(told.html.encode()) < 1_000_000


@pytest.mark.parametrize(
    "words", [["iris", "frank-hall"], ["digits", "naive-bayes"], ["wine", "softmax"]]
)
@pytest.mark.long
def test_each_way_of_explaining_a_model_has_its_page(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["train", *words]) == 0
    assert run(["report", "@last", "-o", "out.html"]) == 0
    assert ">Model</h2>" in (tmp_path / "out.html").read_text(encoding="utf-8")


def test_a_model_file_alone_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["train", "iris", "naive-bayes"]) == 0
    (tmp_path / "runs" / "001-naive-bayes" / "run.json").unlink()
    assert run(["report", "runs/001-naive-bayes/model.likely"]) == 2
    assert "likely train" in capsys.readouterr().err


def test_the_answer_names_the_file_and_what_is_missing(tmp_path, monkeypatch, capsys):
    import json

    monkeypatch.chdir(tmp_path)
    assert run(["train", "iris", "naive-bayes"]) == 0
    capsys.readouterr()
    assert run(["report", "@last", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["files"] == ["report.html"]
    assert said["result"]["bytes"] == (tmp_path / "report.html").stat().st_size
    assert "Comparison" in {each["title"] for each in said["result"]["left_out"]}
    assert said["result"]["sections"]["001-naive-bayes"][:2] == ["verdict", "question"]
