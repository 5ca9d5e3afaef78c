import json
import re

import pytest

from likely import LogisticRegression, SoftmaxRegression
from likely.cli.main import run
from likely.report.sections.model import model_page
from likely.runs import RunFacts
from tests.report.runs_by_hand import churn, flowers, write_run


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
    assert "divided by its standard deviation" in page  # in the preparation
    assert "per standard deviation from the mean of their column" in page
    assert "in the units of their columns" not in page
    capsys.readouterr()
    assert run(["explain", "run"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "centred and divided by the standard deviation" in said
    assert "They have the units of their columns" not in said


def test_coefficients_of_columns_as_they_are_have_their_units():
    page = {"model": "softmax", "groups": ["a"], "intercept": {"a": 0.0}}
    page["terms"] = [{"term": "x", "coef": {"a": 1.0}}]
    whole = model_page(RunFacts("run", {}, page=page, steps=(("x", "as it is"),)))
    assert whole.blocks[0].text.endswith("in the units of their columns.")
    scaled = (("x", "less its mean 2; divided by its standard deviation 3"), ("z", "as it is"))
    told = model_page(RunFacts("run", {}, page=page, steps=scaled)).blocks[0].text
    assert told.endswith("x per standard deviation from its mean, others in their own units.")


def test_parameters_are_counted_as_the_aic_counts_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "run", churn(200), "churn", LogisticRegression(l2=1e-3), "logistic")
    assert run(["explain", "run"]) == 0
    said = re.search(r"effective parameters +([\d.]+)", capsys.readouterr().out)[1]
    assert run(["explain", "run", "--json"]) == 0
    fit = json.loads(capsys.readouterr().out)["result"]["fit"]
    assert fit["aic"] == pytest.approx(2 * fit["parameters"] - 2 * fit["log_likelihood"])
    assert int(fit["parameters"]) < float(said)  # a whole number would be one too few
    assert run(["report", "run"]) == 0
    assert f"200 rows, {said} effective parameters;" in (tmp_path / "report.html").read_text()
