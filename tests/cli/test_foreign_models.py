"""Models of other libraries by their import path, in every verb, and saved by skops."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

import likely as lk

BOOSTED = "sklearn.ensemble.HistGradientBoostingClassifier"
TREE = "sklearn.tree.DecisionTreeClassifier"


@pytest.fixture
def flowers(tmp_path):
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 120))
    lines = [f"{a},{b},{'yn'[int(a + rng.normal() > 0)]}" for a, b in zip(x, z, strict=True)]
    (tmp_path / "t.csv").write_text("x,z,y\n" + "\n".join(lines) + "\n")
    return "t.csv"


def test_a_path_is_compared_beside_a_name_with_the_settings_that_each_takes(likely, flowers):
    words = ("compare", flowers, "logistic", TREE, "--target", "y", "--folds", "3")
    said = likely(*words, "--repeats", "1", "--set", "max_depth=2", "--set", "l2=3", "--json").json
    assert said["exit"] == 0
    models = {each["model"]: each for each in said["result"]["models"]}
    assert set(models) == {"logistic", TREE, "constant"}
    assert all(each["problem"] is None for each in models.values())
    assert np.isfinite(models[TREE]["value"])


def test_a_path_works_on_a_seal(likely, flowers):
    likely("seal", flowers, "--target", "y")
    said = likely("compare", "t.seal", TREE, "--folds", "3", "--repeats", "1", "--json").json
    assert said["exit"] == 0
    assert TREE in {each["model"] for each in said["result"]["models"]}


def test_a_curve_of_a_path_is_drawn_along_a_setting(likely, flowers):
    words = ("curve", flowers, TREE, "--target", "y", "--folds", "3", "--set", "min_samples_leaf=5")
    said = likely(*words, "--of", "max_depth", "--values", "1,3", "--json").json
    assert said["exit"] == 0
    assert [point["x"] for point in said["result"]["points"]] == [1, 3]
    assert said["next"] == f"likely compare t.csv {TREE} --target y"


@pytest.fixture
def no_skops(monkeypatch):
    """As if the package were not installed."""
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)


@pytest.mark.long
def test_a_path_goes_from_a_seal_to_final_predictions_and_a_report(likely, flowers, tmp_path):
    likely("seal", flowers, "--target", "y")
    trained = likely("train", "t.seal", BOOSTED, "--set", "max_iter=3", "--json").json
    assert trained["exit"] == 0
    run = tmp_path / "runs" / "001-HistGradientBoostingClassifier"
    assert (run / "model.likely").exists()
    model = lk.load(run)
    assert model.model_.max_iter == 3
    assert likely("predict", "@last", flowers, "--proba", "-o", "out.csv").exit == 0
    head, first = (tmp_path / "out.csv").read_text().splitlines()[:2]
    frame = pd.read_csv(tmp_path / flowers)
    assert head == "prediction,p_n,p_y"
    assert float(first.split(",")[1]) == pytest.approx(model.predict_proba(frame[:1])[0, 0])
    said = likely("explain", "@last").out
    assert "max_iter" in said
    assert likely("final", "@last", "--json").json["exit"] == 0
    assert likely("report", "@last", "-o", "r.html").exit == 0
    assert "HistGradientBoostingClassifier" in (tmp_path / "r.html").read_text()


def test_a_search_of_a_path_saves_its_model(likely, flowers, tmp_path):
    words = ("tune", flowers, TREE, "--target", "y", "--folds", "3", "--trials", "3")
    said = likely(*words, "--space", "max_depth=1:4", "--json").json
    assert said["exit"] == 0
    model = lk.load(tmp_path / "runs" / "001-DecisionTreeClassifier").model_
    assert model.max_depth == said["result"]["best_parameters"]["max_depth"]
    assert likely("predict", "@last", flowers, "-o", "out.csv").exit == 0


def test_regressors_without_a_density_are_trained_and_scored(likely, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    frame = pd.DataFrame({"x": x, "y": x + rng.normal(size=60)})
    frame.to_csv(tmp_path / "n.csv", index=False)
    path = "sklearn.linear_model.Ridge"
    found = likely("compare", "n.csv", path, "--target", "y", "--repeats", "1", "--json").json
    assert found["result"]["metric"] == "rmse"
    assert found["next"] == f"likely train n.csv {path} --target y"
    trained = likely("train", "n.csv", path, "--target", "y", "--json").json["result"]
    assert trained["scores"]["metric"] == "rmse"
    assert trained["scores"]["value"] == pytest.approx(found["result"]["models"][0]["value"])


def test_what_cannot_be_saved_is_refused_in_words_and_leaves_no_run(likely, flowers, tmp_path):
    path = "sklearn.neighbors.KNeighborsClassifier"
    outcome = likely("train", flowers, path, "--target", "y")
    told = " ".join(outcome.err.split())
    assert outcome.exit == 2
    assert "cannot be saved: it holds" in told and "algorithm='brute'" in told
    assert not (tmp_path / "runs").exists()
    assert likely("train", flowers, path, "--target", "y", "--set", "algorithm=brute").exit == 0


@pytest.fixture
def numbers(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=40), "b": rng.normal(size=40)})
    frame["y"] = frame["a"] + rng.normal(size=40)
    frame.to_csv(tmp_path / "numbers.csv", index=False)
    return "numbers.csv"


def test_a_support_vector_machine_is_saved_with_a_note_and_refused_by_predict(
    likely, numbers, tmp_path
):
    trained = likely("train", numbers, "sklearn.svm.SVR", "--target", "y", "--json").json
    assert trained["exit"] == 0
    assert any("trusted=['sklearn.svm._classes.SVR']" in note for note in trained["findings"])
    outcome = likely("predict", "@last", numbers)
    assert outcome.exit == 2
    assert "compiled code" in outcome.err and "trusted=" in outcome.err
    run = tmp_path / "runs" / "001-SVR"
    assert (
        len(lk.load(run, trusted=["sklearn.svm._classes.SVR"]).predict(columns_in(tmp_path))) == 40
    )


def columns_in(folder):
    return pd.read_csv(folder / "numbers.csv").drop(columns="y")


def test_a_prediction_that_is_no_number_is_refused_with_its_row(likely, numbers, monkeypatch):
    assert likely("train", numbers, "sklearn.linear_model.Ridge", "--target", "y").exit == 0
    answer = Ridge.predict

    def with_a_gap(self, X):
        return np.where(np.arange(len(X)) == 7, np.nan, answer(self, X))

    monkeypatch.setattr(Ridge, "predict", with_a_gap)
    outcome = likely("predict", "@last", numbers, "-o", "out.csv")
    assert outcome.exit == 2
    assert "predicted NaN for row 7" in " ".join(outcome.err.split())


def test_a_search_of_a_path_is_kept_without_a_model_and_leads_to_a_comparison(
    likely, flowers, tmp_path, no_skops
):
    words = ("tune", flowers, TREE, "--target", "y", "--folds", "3", "--trials", "3")
    said = likely(*words, "--space", "max_depth=1:4", "--set", "min_samples_leaf=5", "--json").json
    assert said["exit"] == 0
    best = said["result"]["best_parameters"]["max_depth"]
    assert best is None or 1 <= best <= 4  # None: as it is, which is tried first
    folder = tmp_path / "runs" / "001-DecisionTreeClassifier"
    assert (folder / "study" / "trials.jsonl").exists()
    assert not (folder / "model.likely").exists()
    assert said["next"].startswith(
        f"likely compare t.csv {TREE} --target y --metric log-loss --set max_depth="
    )
    assert likely(*said["next"].split()[1:], "--repeats", "1").exit == 0
    again = likely(*words[:-1], "5", "--space", "max_depth=1:4", "--set", "min_samples_leaf=5",
                   "-o", folder, "--json").json  # fmt: skip
    assert len(again["result"]["study"]["trials"]) == 5


def test_an_ended_search_without_a_model_is_not_called_unfinished(
    likely, flowers, tmp_path, no_skops
):
    likely("seal", flowers, "--target", "y")
    likely("train", "t.seal", "logistic")
    words = ("tune", "t.seal", TREE, "--folds", "3", "--trials", "2", "--space", "max_depth=1:4")
    likely(*words)
    folder = "runs/002-DecisionTreeClassifier"
    assert json.loads((tmp_path / folder / "study.json").read_text())["model_saved"] is False
    last = likely("final", "@last", "--json").json
    assert last["exit"] == 2
    told = "is newer than runs/001-logistic and holds only a search, because its model cannot be"
    assert f"{folder} {told} saved" in last["findings"][0]
    assert "finish" not in last["findings"][0]
    assert last["next"] == "likely final runs/001-logistic"
    named = likely("final", folder, "--json").json
    assert named["exit"] == 2
    assert f"{folder} holds only a search: its model belongs to another" in named["findings"][0]
    more = likely(*words[:5], "--trials", "3", *words[7:], "-o", folder, "--json").json
    assert len(more["result"]["study"]["trials"]) == 3  # it can still be gone on with
    tuned = likely("tune", "t.seal", "logistic", "--folds", "3", "--trials", "1", "--json").json
    assert "unfinished" not in " ".join(tuned["findings"])


def test_a_search_of_a_path_needs_a_space(likely, flowers, tmp_path):
    outcome = likely("tune", flowers, BOOSTED, "--target", "y")
    assert outcome.exit == 1
    assert "no default search space" in " ".join(outcome.err.split())
    assert "Add --space NAME=LOW:HIGH" in " ".join(outcome.err.split())
    assert not (tmp_path / "runs").exists()


def test_without_skops_a_model_is_trained_scored_and_reported_and_only_its_file_is_missing(
    likely, flowers, tmp_path, request
):
    words = ("train", flowers, TREE, "--target", "y", "--set", "max_depth=2", "--json")
    saved = likely(*words).json
    request.getfixturevalue("no_skops")
    found = likely(*words).json
    assert found["exit"] == 0
    assert found["result"]["scores"] == saved["result"]["scores"]
    assert any("The model is not saved" in note for note in found["findings"])
    assert any("run pip install skops and train it again" in note for note in found["findings"])
    assert found["files"] == ["runs/002-DecisionTreeClassifier/run.json"]
    assert found["next"] == "likely report @last"
    reported = likely("report", "@last", "-o", "r.html", "--json").json
    assert reported["next"].startswith(f"pip install skops && likely train t.csv {TREE}")
    page = (tmp_path / "r.html").read_text()
    assert "002-DecisionTreeClassifier" in page and "it was not saved" in page


def test_what_needs_a_model_that_was_not_saved_names_what_to_install(
    likely, flowers, tmp_path, no_skops
):
    likely("train", flowers, "logistic", "--target", "y")
    told = " ".join(likely("train", flowers, TREE, "--target", "y").out.split())
    run = "runs/002-DecisionTreeClassifier"
    assert f"The scores, without the model, were saved to {run}." in told
    for name in ("@last", run):
        refused = likely("explain", name, "--json").json
        assert refused["exit"] == 2
        assert f"{run} holds only scores" in refused["findings"][0]
        assert "pip install skops, and train again" in refused["findings"][0]
        assert refused["next"] == f"likely report {run}"


def test_without_skops_a_copy_of_the_model_is_refused_before_the_fit(
    likely, flowers, tmp_path, no_skops
):
    outcome = likely("train", "-t", flowers, TREE, "-c", "y", "-d", "copy.likely")
    assert outcome.exit == 2
    assert "Run: pip install skops." in " ".join(outcome.err.split())
    assert not (tmp_path / "runs").exists()


def test_a_comparison_without_skops_leads_to_what_trains_the_best_model(likely, numbers, request):
    words = ("compare", "numbers.csv", "sklearn.linear_model.Ridge", "--target", "y")
    train = "likely train numbers.csv sklearn.linear_model.Ridge --target y"
    assert likely(*words, "--repeats", "1", "--json").json["next"] == train
    request.getfixturevalue("no_skops")
    after = f"pip install skops && {train}"
    assert likely(*words, "--repeats", "1", "--json").json["next"] == after
    own = likely("compare", "numbers.csv", "linear", "--target", "y", "--repeats", "1", "--json")
    assert own.json["next"] == "likely tune numbers.csv linear --target y"


@pytest.mark.parametrize(
    ("path", "code", "says"),
    [
        ("sklern.tree.X", 1, "importing sklern.tree failed (No module named 'sklern')"),
        ("sklearn.tree.Nope", 1, "sklearn.tree has no such name"),
        ("math.pi", 1, "pi, which is not a class"),
        ("sklearn.preprocessing.StandardScaler", 1, "is not an estimator: it has no predict"),
        ("sklearn.cluster.KMeans", 1, "neither a classifier nor a regressor"),
        ("sklearn.ensemble.StackingClassifier", 2, "cannot be made without estimators"),
        ("sklearn.tree.DecisionTreeRegressor", 2, "is for numbers"),
        ("logistc", 1, "Did you mean 'logistic'?"),
        ("LinearSVC", 1, "named by its import path. Use sklearn.svm.LinearSVC."),
        ("HistGradientBoostingClassifier", 1, f"Use {BOOSTED}."),
        ("os.system", 1, "system, which is not a class"),
        ("collections.OrderedDict", 1, "is not an estimator: it has no fit"),
        ("likely.GaussianMixture", 1, "neither a classifier nor a regressor"),
        ("data..csv", 1, "There is no model 'data..csv'"),
    ],
)
def test_what_is_no_model_is_refused_with_the_reason(likely, flowers, path, code, says):
    outcome = likely("compare", flowers, path, "--target", "y")
    assert outcome.exit == code
    assert says in " ".join(outcome.err.split())


def test_a_setting_that_no_model_has_is_refused(likely, flowers):
    words = ("compare", flowers, "logistic", TREE, "--target", "y")
    outcome = likely(*words, "--set", "depth=3")
    assert outcome.exit == 1
    assert f"none of logistic, {TREE} has it" in " ".join(outcome.err.split())
    alone = likely("compare", flowers, TREE, "--target", "y", "--set", "max_dept=3")
    assert "Did you mean 'max_depth'?" in " ".join(alone.err.split())
    unnamed = likely("compare", flowers, "--target", "y", "--set", "l2=3")
    assert "no model was named" in " ".join(unnamed.err.split())


@pytest.mark.parametrize("text", ["max_depth", "max_depth=1:b", "max_depth=1:4:lin", "d=1:2:3:4"])
def test_a_space_that_cannot_be_read_is_refused(likely, flowers, text):
    outcome = likely("tune", flowers, TREE, "--target", "y", "--space", text)
    assert outcome.exit == 1
    assert "--space takes NAME=LOW:HIGH" in " ".join(outcome.err.split())


def test_the_parameters_of_a_path_are_listed(likely):
    said = likely("models", TREE, "--json").json["result"]
    assert said["targets"] == ["binary", "classes", "ordinal"]
    assert "max_depth" in {each["name"] for each in said["parameters"]}
