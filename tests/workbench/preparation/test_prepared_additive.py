"""Additive models behind a preparation: pairs, dates and missing cells are those of the user."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import likely as lk
from likely.explanations.explanation import columns_of_term
from likely.workbench.preparation.prepared import Prepared

N = 300


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.uniform(18, 80, N), "pay × 2": rng.gamma(2, 9, N)})
    frame["town"] = rng.choice(["Bonn", "Kiel"], N)
    frame["when"] = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 700, N), unit="D")
    frame.loc[rng.random(N) < 0.2, "pay × 2"] = np.nan
    frame.loc[rng.random(N) < 0.1, "town"] = None
    wave = np.sin(frame["age"] / 9) * np.where(frame["town"] == "Bonn", 1, -1)
    frame["y"] = wave + frame["pay × 2"].isna() + 0.2 * rng.normal(size=N)
    return frame


PAIRS = [("age", "town"), ("age", "pay × 2"), ("town", "when days")]


def test_pairs_are_explained_by_the_columns_of_the_user(table):
    X = table.drop(columns="y")
    model = Prepared(lk.AdditiveModel(interactions=PAIRS)).fit(X, table["y"])
    found = model.explain(X)
    pairs = ("age × town", "age × pay × 2", "town × when")
    assert found.names == ("age", "pay × 2", "town", "when", *pairs)
    assert_allclose(found.total[:, 0], model.predict(X), rtol=1e-9, atol=1e-9)
    inner = model.model_.explain(model.prepare(X))
    own = {name: inner.contributions[:, j] for j, name in enumerate(inner.names)}
    when = sum(own[name] for name in own if name.startswith("when "))
    assert_allclose(found.contributions[:, 3], when)
    assert_allclose(found.contributions[:, 4], own["age × town"])
    words = dict(zip(found.names, found.cells[0], strict=True))
    assert words["age × town"] == f"{words['age']} × {words['town']}"


def test_a_missing_cell_reaches_the_model_and_is_not_imputed(table):
    model = Prepared(lk.AdditiveModel()).fit(table.drop(columns="y"), table["y"])
    read = model.prepare(table.drop(columns="y"))
    gone = table["pay × 2"].isna().to_numpy()
    assert np.isnan(np.asarray(read.column("pay × 2").to_numpy())[gone]).all()
    assert "missing" not in " ".join(read.column_names)
    pay = model.model_.terms_.columns[1]
    assert pay.has_missing
    effect = model.model_.contributions(read)[:, 1, 0]
    assert effect[gone].mean() - effect[~gone].mean() == pytest.approx(1.0, abs=0.2)


def test_a_run_with_a_pair_is_explained_and_reported(tmp_path, table):
    data = table.rename(columns={"pay × 2": "pay"})
    found = lk.train(
        data, "y", "additive", settings={"interactions": [("age", "town")]}, run=tmp_path / "run"
    )
    assert "age × town" in str(lk.explain(found.model, data[:1].drop(columns="y")))
    lk.report(tmp_path / "run", path=tmp_path / "page.html")
    assert "age × town" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("name", "parts"),
    [("a", ("a",)), ("a × b", ("a", "b")), ("a × c × d", ("a", "c × d")), ("a × z", ())],
)
def test_the_columns_of_a_term_are_known_ones(name, parts):
    assert columns_of_term(name, {"a", "b", "c × d"}) == parts


def test_the_search_of_pairs_tries_each_setting_once(table):
    data = table[["age", "town", "y"]][:120]
    study = lk.tune(data, "y", model="additive", trials=10, folds=2, repeats=1)
    tried = [trial.parameters["interactions"] for trial in study.trials]
    assert sorted(tried) == sorted({*tried})
    assert {*tried} <= {0, 3, 10, 20}
