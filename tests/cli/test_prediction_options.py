"""``likely predict --interval`` and ``--threshold``."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import likely as lk
from likely.data import arrow


@pytest.fixture
def claims():
    rng = np.random.default_rng(0)
    age, years = rng.normal(size=200), rng.uniform(0.5, 3, 200)
    town = rng.choice(["Bonn", "Kiel"], 200)
    n = rng.poisson(years * np.exp(1 + 0.5 * age))
    ill = np.where(rng.random(200) < 1 / (1 + np.exp(-age)), "yes", "no")
    rows = zip(age, years, town, n, ill, strict=True)
    lines = [",".join(map(str, row)) for row in rows]
    Path("claims.csv").write_text("\n".join(["age,years,town,claims,ill", *lines]))
    return "claims.csv"


def records(said):
    assert said.exit == 0, said.err
    return list(csv.DictReader(io.StringIO(said.out)))


ENDS = ("low", "high")


def columns(found, *names):
    return np.array([[float(row[name]) for name in names] for row in found])


def test_an_interval_for_counts_uses_the_exposure_of_each_row(likely, claims, monkeypatch):
    likely(
        "train", claims, "glm-poisson", "--target", "claims", "--exposure", "years", "--drop", "ill"
    )
    found = records(likely("predict", "@last", claims, "--interval", "0.9"))
    assert list(found[0]) == ["prediction", "low", "high"]
    ends = columns(found, "low", "high")
    rows = csv.DictReader(io.StringIO(Path(claims).read_text()))
    y = np.array([int(row["claims"]) for row in rows])
    assert 0.88 <= np.mean((ends[:, 0] <= y) & (y <= ends[:, 1])) <= 0.97
    assert (ends == np.round(ends)).all()
    monkeypatch.setattr(arrow, "CHUNK_ROWS", 7)
    assert records(likely("predict", "@last", claims, "--interval", "0.9")) == found


def test_least_squares_has_the_interval_of_python_at_the_default_level(likely, claims):
    likely("train", claims, "linear", "--target", "claims", "--drop", "ill")
    found = records(likely("predict", "@last", claims, "--interval"))
    model = lk.load("runs/001-linear/model.likely")
    rows = lk.read(claims).select(["age", "years", "town"])
    table = next(iter(rows))
    expected = model.predict_interval(table, of="y")
    assert_allclose(columns(found, "low", "high"), expected, rtol=1e-9)
    assert_allclose(model.predict_interval(table), expected, rtol=1e-12)
    mean = columns(records(likely("predict", "@last", claims, "--interval", "--of", "mean")), *ENDS)
    assert_allclose(mean, model.predict_interval(table, of="mean"), rtol=1e-9)
    assert (np.diff(mean) < np.diff(expected)).all()


def test_an_interval_is_of_what_the_model_has(likely, claims):
    likely("train", claims, "logistic", "--target", "ill")
    plain = records(likely("predict", "@last", claims, "--interval"))
    assert records(likely("predict", "@last", claims, "--interval", "--of", "mean")) == plain
    said = likely("predict", "@last", claims, "--interval", "--of", "y")
    assert said.exit == 2
    assert "predicts a class, which has no interval" in " ".join(said.err.split())
    said = likely("predict", "@last", claims, "--of", "mean")
    assert said.exit == 2
    assert "--of mean was given without --interval" in " ".join(said.err.split())
    likely("train", claims, "lasso", "--target", "claims", "--drop", "ill")
    said = likely("predict", "@last", claims, "--interval", "--of", "mean")
    assert said.exit == 2
    assert "no interval for its mean" in " ".join(said.err.split())


def test_two_classes_have_an_interval_for_the_probability_of_the_second(likely, claims):
    likely("train", claims, "logistic", "--target", "ill")
    found = records(likely("predict", "@last", claims, "--proba", "--interval", "0.8"))
    assert list(found[0]) == ["prediction", "p_no", "p_yes", "p_yes_low", "p_yes_high"]
    p, low, high = columns(found, "p_yes", "p_yes_low", "p_yes_high").T
    assert ((low < p) & (p < high)).all()


def test_a_threshold_decides_between_two_classes(likely, claims):
    likely("train", claims, "logistic", "--target", "ill")
    found = records(likely("predict", "@last", claims, "--proba", "--threshold", "0.2"))
    p = columns(found, "p_yes")[:, 0]
    assert [row["prediction"] for row in found] == np.where(p >= 0.2, "yes", "no").tolist()
    plain = records(likely("predict", "@last", claims))
    assert [row["prediction"] for row in plain] == np.where(p >= 0.5, "yes", "no").tolist()


def test_a_threshold_is_for_every_model_with_two_classes(likely, claims):
    likely("train", claims, "naive-bayes", "--target", "ill")
    found = records(likely("predict", "@last", claims, "--proba", "--threshold", "0.9"))
    p = columns(found, "p_yes")[:, 0]
    assert [row["prediction"] for row in found] == np.where(p >= 0.9, "yes", "no").tolist()


def test_what_means_nothing_is_refused_in_words(likely, claims):
    likely("train", claims, "naive-bayes", "--target", "ill")
    said = likely("predict", "@last", claims, "--interval")
    assert said.exit == 2
    assert "NaiveBayes has no interval for its probabilities" in said.err
    likely("train", claims, "linear", "--target", "claims")
    said = likely("predict", "@last", claims, "--threshold", "0.3")
    assert said.exit == 2
    assert "predicts a number; a threshold decides between two classes" in " ".join(
        said.err.split()
    )
    likely("train", "iris", "softmax")
    assert "predicts 3 classes" in " ".join(
        likely("predict", "@last", "iris", "--threshold", "0.3").err.split()
    )
    for level in ("95", "1.5", "0", "many"):
        said = likely("predict", "@last", "iris", "--threshold", level)
        assert said.exit == 1
        assert "a number between 0 and 1 was expected" in " ".join(said.err.split())


def test_a_model_without_errors_has_the_interval_of_its_density_and_says_so(likely, claims):
    likely("train", claims, "lasso", "--target", "claims", "--drop", "ill")
    said = likely("predict", "@last", claims, "--interval")
    low, high = columns(records(said), "low", "high").T
    assert (low < high).all()
    assert "treated as known" in " ".join(said.err.split())


def test_a_workbook_is_no_output_and_what_opens_in_one_is_named(likely, tmp_path):
    rows = [f"{k % 9},{1 + k % 3},{k % 5}" for k in range(120)]
    (tmp_path / "noise.csv").write_text("\n".join(["x,years,claims", *rows]) + "\n")
    roles = ("--target", "claims", "--exposure", "years")
    assert likely("train", "noise.csv", "glm-poisson", *roles).exit == 0
    refused = likely("predict", "@last", "noise.csv", "-o", "out.xlsx")
    assert refused.exit != 0 and "A spreadsheet opens .csv." in " ".join(refused.err.split())
    (tmp_path / "new.csv").write_text("x\n1\n")
    refused = " ".join(likely("predict", "@last", "new.csv").err.split())
    assert "Add it; a column of 1s gives the prediction per unit of exposure." in refused


@pytest.mark.long
def test_look_after_a_comparison_that_found_nothing_keeps_the_exposure(likely, tmp_path):
    rng = np.random.default_rng(2)
    names = [*(f"x{j}" for j in range(12)), "years", "claims"]
    rows = [[*rng.normal(size=12).round(3), 1, rng.poisson(1.0)] for _ in range(50)]
    lines = [",".join(map(str, row)) for row in (names, *rows)]
    (tmp_path / "noise.csv").write_text("\n".join(lines) + "\n")
    roles = ("--target", "claims", "--exposure", "years")
    found = likely("compare", "noise.csv", *roles, "--folds", "3", "--json").json
    assert found["result"]["best"] == "constant"
    assert found["next"] == "likely look noise.csv --target claims --exposure years"
