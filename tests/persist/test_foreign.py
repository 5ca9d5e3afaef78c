"""Estimators of other libraries in a model file: equal predictions, trusted classes only."""

import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import likely as lk
from likely.errors import InvalidFile, InvalidInput
from likely.persist.foreign import _check_trees, foreign_bytes, foreign_model

skops = pytest.importorskip("skops.io")

TREE = DecisionTreeClassifier(max_depth=3, random_state=0)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    frame["t"] = rng.choice(list("uvw"), 60)
    frame["y"] = np.where(frame["a"] + rng.normal(size=60) > 0, "p", "q")
    frame.loc[::9, "b"] = np.nan
    return frame


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        GaussianNB(),
        TREE,
        RandomForestClassifier(2, random_state=0),
        GradientBoostingClassifier(n_estimators=2),
        HistGradientBoostingClassifier(max_iter=2),
        KNeighborsClassifier(algorithm="brute"),
        MLPClassifier((3,), max_iter=2),
        CalibratedClassifierCV(SVC(), cv=2),
        BaggingClassifier(TREE, 2, max_features=2, random_state=0),
        VotingClassifier([("a", LogisticRegression()), ("b", TREE)], voting="soft"),
        StackingClassifier([("a", TREE)], cv=2),
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2),
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(
            make_column_transformer((OneHotEncoder(), ["t"])), HistGradientBoostingClassifier()
        ),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore:.*Maximum iterations")
def test_a_prepared_estimator_of_scikit_learn_predicts_the_same_after_loading(
    frame, tmp_path, model
):
    fitted = lk.Prepared(model).fit(frame, "y")
    lk.save(fitted, tmp_path / "m.likely")
    again = lk.load(tmp_path / "m.likely")
    X = frame.drop(columns="y")
    assert_allclose(again.predict_proba(X), fitted.predict_proba(X), rtol=0, atol=0)
    assert again.steps_ == fitted.steps_
    assert type(again.model) is type(model)


@pytest.mark.parametrize(
    "model", [Ridge(), make_pipeline(StandardScaler(), Ridge()), lk.PlattScaling(SVC())]
)
def test_estimators_and_pipelines_are_saved_as_they_are_and_inside_ours(frame, tmp_path, model):
    X, y = frame[["a"]], np.arange(60) % 2
    model.fit(X, y)
    lk.save(model, tmp_path / "m.likely")
    again = lk.load(tmp_path / "m.likely")
    assert type(again) is type(model)
    assert_allclose(again.predict(X), model.predict(X), rtol=0, atol=0)


def test_a_changed_file_is_refused(frame, tmp_path):
    path = tmp_path / "m.likely"
    lk.save(Ridge().fit(frame[["a"]], np.arange(60)), path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(InvalidFile):
        lk.load(path)


def test_classes_that_are_not_trusted_must_be_named_to_save_and_to_load(frame, tmp_path):
    model, path = KNeighborsClassifier().fit(frame[["a"]], frame["y"]), tmp_path / "m.likely"
    with pytest.raises(InvalidInput, match=r"cannot be saved: it holds .*KDTree.*trusted=\["):
        lk.save(model, path)
    assert not path.exists()
    names = [
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
        "sklearn.neighbors._kd_tree.KDTree",
    ]
    lk.save(model, path, trusted=names)
    with pytest.raises(InvalidFile, match=r"KDTree, which skops does not trust.*likely\.load"):
        lk.load(path)
    again = lk.load(path, trusted=names)
    assert (again.predict(frame[["a"]]) == model.predict(frame[["a"]])).all()


def own_function(X):
    return X


def test_functions_and_models_of_likely_inside_a_pipeline_are_refused(frame, tmp_path):
    X, y = frame[["a"]], frame["y"]
    for first, last, says in (
        (FunctionTransformer(own_function), LogisticRegression(), "own_function"),
        (StandardScaler(), lk.LogisticRegression(), "Use likely.Prepared in place"),
    ):
        model = make_pipeline(first, last).fit(X, y)
        with pytest.raises(InvalidInput, match=says):
            lk.save(model, tmp_path / "m.likely")
    assert list(tmp_path.iterdir()) == []


def test_without_skops_a_sentence_says_what_to_install(frame, tmp_path, monkeypatch):
    model, path = Ridge().fit(frame[["a"]], np.arange(60)), tmp_path / "m.likely"
    lk.save(model, path)
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(
        InvalidInput, match=r"Ridge belongs to another.*pip install 'likely\[skops\]'"
    ):
        lk.save(model, tmp_path / "other.likely")
    with pytest.raises(InvalidFile, match=r"not installed. Run: pip install 'likely\[skops\]'"):
        lk.load(path)


def nodes_of(tree):
    """The nodes of a fitted tree, which its state gives, and how to put others in."""
    state = tree.__getstate__()
    return state, state["nodes"].copy()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("left_child", 10**6),
        ("left_child", 0),
        ("right_child", -7),
        ("feature", 5),
        ("feature", -3),
    ],
)
def test_trees_that_lead_outside_of_their_arrays_are_refused(frame, field, value):
    X = frame[["a"]].to_numpy()
    model = DecisionTreeClassifier(max_depth=2).fit(X, frame["y"])
    _check_trees(model)
    state, nodes = nodes_of(model.tree_)
    nodes[field][0] = value
    model.tree_.__setstate__({**state, "nodes": nodes})
    with pytest.raises(InvalidInput, match="names nodes or columns that it does not have"):
        foreign_model(foreign_bytes(model).tobytes())


@pytest.mark.parametrize(
    ("field", "value"),
    [("left", 10**6), ("right", 0), ("feature_idx", 7), ("is_categorical", 1)],
)
def test_boosted_trees_are_checked_too(frame, field, value):
    model = HistGradientBoostingClassifier(max_iter=1, min_samples_leaf=5)
    model.fit(frame[["a"]].to_numpy(), frame["y"])
    _check_trees(model)
    model._predictors[0][0].nodes[field][0] = value
    with pytest.raises(InvalidInput, match="names nodes or columns that it does not have"):
        foreign_model(foreign_bytes(model).tobytes())


def test_a_forest_of_trees_of_other_columns_is_refused(frame):
    forest = RandomForestClassifier(2).fit(frame[["a", "b"]].fillna(0).to_numpy(), frame["y"])
    forest.n_features_in_ = 1
    with pytest.raises(InvalidInput, match="names nodes or columns"):
        foreign_model(foreign_bytes(forest).tobytes())


def test_bytes_that_are_no_estimator_are_refused():
    for content in (b"", b"PK nothing", skops.dumps({"a": 1}), skops.dumps(np.arange(3))):
        with pytest.raises(InvalidInput, match=r"cannot be read|in place of an estimator"):
            foreign_model(content)
    bomb = skops.dumps(LogisticRegression(), compression=8)
    with pytest.raises(InvalidInput, match="bytes large"):
        foreign_model(bomb)
