import json
import re

import pytest

from likely import LogisticRegression, NeuralNetworkClassifier, SoftmaxRegression
from likely.cli.main import run
from likely.reports.sections.model import model_page
from likely.runs import RunFacts
from likely.workbench.preparation.prepared import Prepared
from tests.reports.runs_by_hand import churn, flowers, write_run


@pytest.mark.parametrize(
    ("table", "target", "model"),
    [
        (flowers(), "species", SoftmaxRegression(l2=1.0)),
        (churn(200), "churn", LogisticRegression(l2=1.0)),
    ],
    ids=["softmax", "logistic"],
)
def test_coefficients_of_scaled_columns_are_not_said_to_have_their_units(
    tmp_path, monkeypatch, capsys, table, target, model
):
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "run", table, target, model, "some")
    assert run(["report", "run"]) == 0
    page = (tmp_path / "report.html").read_text()
    assert "standardised (mean" in page  # in the preparation
    assert "so their coefficients are per standard deviation" in page
    capsys.readouterr()
    assert run(["explain", "run"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "centred and divided by the standard deviation" in said
    assert "so their coefficients are per standard deviation" in said


def test_coefficients_of_columns_as_they_are_have_their_units():
    table = flowers()
    model = SoftmaxRegression(standard_errors=None)
    as_they_are = Prepared(model, scale=False).fit(table, "species").describe()
    assert "A coefficient is what one unit of its column adds" in as_they_are.notes[0]
    assert not any("standard deviation" in note for note in as_they_are.notes)
    one = table.select(["sepal length (cm)", "species"])
    scaled = Prepared(SoftmaxRegression(l2=1.0), scale=True).fit(one, "species").describe()
    assert scaled.notes[-1].startswith("sepal length (cm) was centred and divided by")
    blocks = model_page(RunFacts("run", {}, description=scaled)).blocks
    assert any("so its coefficient is per standard deviation" in each.text for each in blocks[-1:])


def test_parameters_are_counted_as_the_aic_counts_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "run", churn(200), "churn", LogisticRegression(l2=1e-3), "logistic")
    assert run(["explain", "run"]) == 0
    said = re.search(r"effective df +([\d.]+)", capsys.readouterr().out)[1]
    assert run(["explain", "run", "--json"]) == 0
    fit = json.loads(capsys.readouterr().out)["result"]["fit"]
    assert fit["aic"] == pytest.approx(2 * fit["parameters"] - 2 * fit["log_likelihood"])
    assert int(fit["parameters"]) < float(said)  # a whole number would be one too few
    assert run(["report", "run"]) == 0
    page = " ".join((tmp_path / "report.html").read_text().split())
    assert re.search(rf"Effective df</dt>\s*<dd[^>]*>{said}</dd>", page)


def test_the_learning_curves_of_networks_are_drawn(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    settings = {"early_stopping": True, "max_epochs": 5, "tol": None, "random_state": 0}
    model = NeuralNetworkClassifier((4,), n_networks=2, **settings)
    write_run(tmp_path / "run", flowers(), "species", model, "neural-network")
    assert run(["report", "run"]) == 0
    page = (tmp_path / "report.html").read_text()
    assert "Learning curves" in page and "One line for each of 2 networks" in page
    assert "network 1: training" in page and "held out" in page
    capsys.readouterr()
    assert run(["explain", "run", "--json"]) == 0
    curves = json.loads(capsys.readouterr().out)["result"]["curves"]
    assert [len(curve["train"]) for curve in curves] == [5, 5]
    assert all(1 <= curve["kept"] <= 5 for curve in curves)


def test_a_model_that_is_not_trained_in_steps_has_no_curve():
    fitted = Prepared(SoftmaxRegression(l2=1.0)).fit(flowers(), "species")
    assert fitted.describe().curves == ()
    assert "curves" not in fitted.describe().to_json()
