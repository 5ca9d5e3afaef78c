"""``likely train FILE additive`` of a file larger than memory: the kinds of targets, and cells."""

import json

import numpy as np
import pandas as pd
import pytest

import likely as lk
from likely.data.formats import csv_files
from likely.workbench.data import dataset

N = 900


def visits(seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.uniform(18, 80, N).round(3), "pay": rng.gamma(2, 9, N)})
    frame["town"] = rng.choice(["Bonn", "Kiel", "Ulm"], N)
    frame["day"] = np.datetime64("2024-01-01") + rng.integers(0, 700, N)
    frame.loc[rng.random(N) < 0.1, "pay"] = np.nan
    frame.loc[rng.random(N) < 0.1, "town"] = None
    eta = np.sin(frame["age"] / 8) + 0.5 * (frame["town"] == "Ulm") + 0.7 * frame["pay"].isna()
    noise = 0.4 * rng.logistic(size=N)
    frame["real"] = eta + noise
    frame["positive"] = rng.gamma(3, np.exp(eta))
    frame["count"] = rng.negative_binomial(2, 2 / (2 + 3 * np.exp(2 * eta)))
    frame["binary"] = np.where(eta + noise > 1, "ill", "well")
    frame["classes"] = np.array(["a", "b", "c"])[np.digitize(eta + noise, [0, 1.5])]
    frame["ordinal"] = np.digitize(eta + noise, [0, 1.5])
    return frame


KINDS = {
    "real": "gaussian response, identity link",
    "positive": "gamma response, log link",
    "count": "negative-binomial response, log link",
    "binary": "P(y = 'well'), logit link",
    "classes": "3 classes, softmax link",
    "ordinal": "3 ordered classes, logit link",
}


@pytest.fixture(scope="module")
def table():
    return visits()


SLOW = ("real", "positive", "count", "classes")


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=[pytest.mark.slow] * (k in SLOW)) for k in KINDS]
)
def test_a_streamed_file_is_fitted_as_its_frame(likely, tmp_path, monkeypatch, table, kind):
    """Functions are made of all values of a column below the limit of a summary: equal fits."""
    table.drop(columns={*KINDS} - {kind}).to_csv(tmp_path / "visits.csv", index=False)
    monkeypatch.setattr(dataset, "IN_MEMORY_BYTES", 0)
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 4000)
    monkeypatch.setattr("likely.data.block.FEWEST_ROWS", 100)
    monkeypatch.setattr("likely.data.block.BLOCK_BYTES", 10_000)
    order = ("--order", "0,1,2") if kind == "ordinal" else ()
    said = likely("train", "visits.csv", "additive", "--target", kind, *order, "--json").json
    assert said["exit"] == 0
    assert any("'day'" in finding and "Left out" in finding for finding in said["findings"])
    assert said["result"]["task"]["kind"] == kind
    assert said["result"]["scores"]["gain"] > 0.05
    streamed = lk.load("runs/001-additive/model.likely")
    assert streamed._described() == KINDS[kind]
    X = table[["age", "pay", "town"]]
    make = lk.AdditiveModel if kind in ("real", "positive", "count") else lk.AdditiveClassifier
    options = {"order": [0, 1, 2]} if kind == "ordinal" else {}
    if kind in ("positive", "count"):
        options = {"response": {"positive": "gamma", "count": "negative-binomial"}[kind]}
    whole = make(**options).fit(X, table[kind])
    np.testing.assert_allclose(
        streamed.linear_predictor(X), whole.linear_predictor(X), rtol=1e-5, atol=1e-5
    )
    assert list(streamed.feature_names_in_) == ["age", "pay", "town"]
    out = likely("predict", "@last", "visits.csv", "-o", "out.jsonl")  # with missing cells
    assert out.exit == 0
    first = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])["prediction"]
    expected = whole.predict(X[:1])[0]
    assert first == (expected if kind in ("binary", "classes") else pytest.approx(expected, 1e-4))


def test_a_kind_that_was_given_is_that_of_a_streamed_file(likely, tmp_path, monkeypatch, table):
    table[["age", "ordinal"]].to_csv(tmp_path / "v.csv", index=False)
    monkeypatch.setattr(dataset, "IN_MEMORY_BYTES", 0)
    words = ("train", "v.csv", "additive", "--target", "ordinal", "--json")
    assert likely(*words, "--kind", "count").json["result"]["task"]["kind"] == "count"
    assert lk.load("runs/001-additive/model.likely").alpha_ >= 0
    given = likely(*words, "--kind", "real", "--set", "response=poisson")
    assert given.json["exit"] == 0
    assert lk.load("runs/002-additive/model.likely").linear_.likelihood_.response.name == "poisson"
