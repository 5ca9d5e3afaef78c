"""A seal is opened by a name, by a study or by an estimator."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC

import likely as lk
from likely.errors import InvalidInput


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    town = rng.choice(np.array(["Bonn", "Ulm", None], dtype=object), 200)
    size = np.where(rng.random(200) < 0.1, np.nan, rng.normal(size=200))
    y = np.where(2 * np.nan_to_num(size) + (town == "Ulm") + rng.logistic(size=200) > 0, "b", "a")
    return pd.DataFrame({"town": town, "size": size, "y": y})


@pytest.fixture
def sealed(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lk.seal(frame, "y", budget=5, name="towns")


def test_a_name_is_the_model_that_compare_has(sealed):
    by_name = sealed.final("logistic")
    whole = sealed.final(lk.Prepared(lk.LogisticRegression()))
    assert by_name.value == whole.value
    assert (
        by_name.evaluation == whole.evaluation == 1
    )  # the same predictions are never charged twice


def test_a_study_is_its_best_settings_and_their_estimate(sealed):
    study = lk.tune(sealed, model="logistic", space={"l2": [0.1, 3.0]}, search="grid", folds=3)
    found = sealed.final(study)
    assert found.cv_estimate == study.best_score_
    assert found.value == sealed.final(study.best_model()).value
    nested = lk.tune(sealed, model="naive-bayes", trials=1, folds=2, nested=2)
    assert sealed.final(nested).cv_estimate == nested.nested_score_


def test_what_a_model_cannot_read_is_told_with_the_remedy(sealed):
    with pytest.raises(InvalidInput, match=r"likely\.Prepared\(LogisticRegression\(\)\)"):
        sealed.final(LogisticRegression())
    with pytest.raises(InvalidInput, match="expected a name, an import path or an estimator"):
        sealed.final(LogisticRegression)
    assert sealed.evaluations == 0


def test_a_study_of_another_target_is_refused(sealed, frame):
    frame = frame.assign(y=1.0, z=np.arange(200) % 2, size=0.5)
    study = lk.tune(frame, "z", "naive-bayes", trials=1, folds=2)
    with pytest.raises(InvalidInput, match="about 'z', and 'y' is sealed"):
        sealed.final(study)


def test_a_pipeline_prepares_its_own_columns(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    own = make_column_transformer((words, ["town"]), (SimpleImputer(), ["size"]))
    pipeline = make_pipeline(own, LogisticRegression())
    found = lk.compare(frame, "y", {"mine": pipeline}, folds=3, repeats=1)
    assert found["mine"].problem == ""
    fitted = lk.Prepared(pipeline).fit(frame, "y")
    assert dict(fitted.steps_)["town"] == "as it is: the pipeline prepares its own"


def test_the_column_of_groups_is_no_feature(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = frame.assign(shop=np.arange(200) % 40)
    sealed = lk.seal(frame, "y", group="shop", name="shops")
    found = sealed.final("logistic")
    assert list(found.model.feature_names_in_) == ["town", "size"]


@pytest.mark.parametrize("judge", ["plain", "ladder", "thresholdout"])
@pytest.mark.parametrize("target", ["y", "size"])
def test_an_estimate_is_given_on_the_scale_of_the_score_or_not_at_all(
    frame, tmp_path, monkeypatch, judge, target
):
    monkeypatch.chdir(tmp_path)
    rows = frame.assign(z=np.nan_to_num(frame["size"]) * 30).dropna()
    sealed = lk.seal(rows, target, judge=judge, name="judged")
    model = "logistic" if target == "y" else "linear"
    study = lk.tune(sealed, model=model, trials=2, folds=3)
    found = sealed.final(study)
    sign = {"log-loss": 1.0, "negative-log-likelihood": -1.0}.get(found.metric)
    assert found.cv_estimate == (None if sign is None else sign * study.best_score_)
    assert (sign is None) == (target == "size" and judge != "plain")


@pytest.mark.parametrize("model", [LinearSVC(), lk.Prepared(LinearSVC())])
def test_a_model_without_probabilities_is_scored_where_rows_are_grouped(
    frame, tmp_path, monkeypatch, model
):
    monkeypatch.chdir(tmp_path)
    rows = frame.dropna().drop(columns="town").assign(shop=np.arange(len(frame.dropna())) % 40)
    sealed = lk.seal(rows, "y", group="shop", name="shops")
    assert sealed.final(model).metric == "error-rate"


def test_a_leak_stands_beside_the_final_score_and_in_its_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draws = np.random.default_rng(0)
    frame = pd.DataFrame(draws.normal(size=(300, 2)), columns=["a", "b"])
    frame["y"] = draws.choice(["no", "yes"], 300)
    frame["fee"] = np.where(frame["y"] == "yes", 1.0, 3.0) + draws.random(300)
    score = lk.seal(frame, "y", name="leak").final("logistic")
    assert [each["code"] for each in score.findings] == ["LK401"]
    assert "LK401 Column 'fee' is suspiciously close to the target" in str(score)
    page = lk.report(score, path=None).html
    assert "It is not known whether the model is better" in page
    assert "is clearly better than the baseline" not in page
