"""``likely.report`` of runs, models, studies, comparisons and final scores."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import likely
from likely.errors import InvalidInput


def flowers():
    rng = np.random.default_rng(0)
    y = np.repeat(["rose", "tulip"], 60)
    X = pd.DataFrame(
        {
            "height": rng.normal(10 + 4 * (y == "tulip"), 2),
            "花": rng.normal(size=120),
            "colour": np.where(rng.random(120) < 0.2 + 0.6 * (y == "tulip"), "red", "white"),
        }
    )
    order = rng.permutation(120)
    return X.iloc[order].reset_index(drop=True), y[order]


def test_a_fitted_model_is_reported_on_the_rows_given(tmp_path):
    X, y = flowers()
    model = likely.Prepared(likely.LogisticRegression()).fit(X[:60], y[:60])
    found = likely.report(model, X[60:], y[60:], path=tmp_path / "page.html")
    assert found.path.read_text(encoding="utf-8") == found.html
    for title in ("Result", "Calibration", "Mistakes", "Importance of columns", "Model"):
        assert title in found.sections
    assert "height" in found.html
    assert "花" in found.html
    assert "sections" in str(found)


def test_the_target_may_be_a_column():
    X, y = flowers()
    model = likely.NaiveBayes().fit(X[:60], y[:60])
    named = likely.report(model, X[60:].assign(kind=y[60:]), "kind", path=None)
    assert "Predicting kind" in named.html
    assert named.path is None


def test_a_model_of_another_library_is_reported():
    X, y = flowers()
    numbers = X[["height", "花"]]
    model = RandomForestClassifier(10, random_state=0).fit(numbers[:60], y[:60])
    found = likely.report(model, numbers[60:], y[60:], path=None)
    assert "Importance of columns" in found.sections
    assert "RandomForestClassifier" in found.html


def test_a_model_that_is_not_fitted_is_cross_validated():
    X, y = flowers()
    found = likely.report(likely.NaiveBayes(), X, y, path=None)
    assert "on 120 rows, each held out once in 5 folds" in found.html
    assert "held-out rows when a column is shuffled" in found.html
    assert not any("run likely" in each for each in found.left_out)  # of the shell


def test_numbers_are_reported_with_their_residuals():
    X, _ = flowers()
    y = X["height"] * 2 + np.random.default_rng(1).normal(size=120)
    found = likely.report(likely.LinearRegression(), X.drop(columns="height"), y, path=None)
    assert "Residuals" in found.sections


@pytest.mark.slow
def test_a_comparison_and_a_study_are_reported():
    X, y = flowers()
    compared = likely.compare(X, y, models=["naive-bayes"], folds=3, repeats=1)
    found = likely.report(compared, path=None)
    assert "Comparison" in found.sections
    study = likely.tune(X, y, model="naive-bayes", trials=2, folds=3)
    found = likely.report(study, path=None)
    assert "Tuning" in found.sections
    assert np.isfinite(study.refit().explain(X).contributions).all()


def test_a_final_score_is_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = flowers()
    sealed = likely.seal(X.assign(kind=y), "kind", name="flowers")
    score = sealed.final(likely.Prepared(likely.NaiveBayes()))
    found = likely.report(score, path=None)
    assert "Result" in found.sections
    assert "sealed" in found.html
    assert "no rows were sealed" not in found.html


def test_a_model_of_sealed_data_has_the_evaluations_of_its_seal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = flowers()
    sealed = likely.seal(X.assign(kind=y), "kind", name="flowers")
    found = likely.compare(sealed, models="naive-bayes", folds=2, repeats=1)
    made = likely.report(found, path=None)
    assert "Ledger" in made.sections
    assert "0 of 1" in made.html
    assert "no rows were sealed" not in made.html


@pytest.mark.slow
def test_several_are_compared_in_one_file():
    X, y = flowers()
    models = [likely.NaiveBayes().fit(X[:60], y[:60]), likely.Prepared(likely.LogisticRegression())]
    found = likely.report(models, X[60:], y[60:], path=None)
    assert "NaiveBayes" in found.html
    assert "LogisticRegression" in found.html


def test_what_cannot_be_reported_is_refused():
    X, y = flowers()
    with pytest.raises(InvalidInput, match="X or y was not given"):
        likely.report(likely.NaiveBayes().fit(X, y))
    with pytest.raises(InvalidInput, match="a run folder, a model"):
        likely.report(3)
    with pytest.raises(InvalidInput, match=r"The file to write is path='x\.html'"):
        likely.report(likely.NaiveBayes(), "x.html")
    with pytest.raises(InvalidInput, match="empty list"):
        likely.report([])


def test_the_function_stays_public_after_its_package_is_imported():
    import likely.reports.page

    assert callable(likely.report)
    assert likely.reports.page.report_of


@pytest.mark.long
def test_a_notebook_shows_a_link_to_the_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = flowers()
    model = likely.NaiveBayes().fit(X[::2], y[::2])
    shown = likely.report(model, X[1::2], y[1::2], path="my report.html")._repr_html_()
    assert "href='my%20report.html'" in shown and ">my report.html</a>" in shown
    other = tmp_path.parent / "elsewhere.html"
    away = likely.report(model, X[1::2], y[1::2], path=other)._repr_html_()
    assert f"href='{other.resolve().as_uri()}'" in away
    assert "href" not in likely.report(model, X[1::2], y[1::2], path=None)._repr_html_()
