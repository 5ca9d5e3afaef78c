"""Estimators of other libraries in a model file: equal predictions, trusted classes only."""

import json
import sys
import warnings
from io import BytesIO
from zipfile import ZipFile

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
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import likely as lk
from likely.errors import InvalidFile, InvalidInput, NeedsTrust
from likely.storage.foreign import foreign_bytes, foreign_model
from likely.storage.foreign_checks import check_parts

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


@pytest.mark.diagonal(3)
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
        CalibratedClassifierCV(LinearSVC(), cv=2),
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
    "model", [Ridge(), make_pipeline(StandardScaler(), Ridge()), lk.PlattScaling(LinearSVC())]
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


@pytest.mark.parametrize("machine", [SVC(), SVR(), CalibratedClassifierCV(SVC(), cv=2)])
def test_support_vector_machines_are_loaded_only_if_named(frame, tmp_path, machine):
    X, y, path = frame[["a"]].to_numpy(), np.arange(60) % 2, tmp_path / "m.likely"
    machine.fit(X, y)
    with pytest.warns(NeedsTrust, match=r"sklearn\.svm\._classes\.SV.*trusted="):
        lk.save(machine, path)
    with pytest.raises(InvalidFile, match=r"compiled code.*likely\.load\(…, trusted=\['sklearn"):
        lk.load(path)
    names = ["sklearn.svm._classes.SVC", "sklearn.svm._classes.SVR"]
    assert (lk.load(path, trusted=names).predict(X) == machine.predict(X)).all()


def edited(model, change):
    change(model)
    return skops.dumps(model)


def of_preprocessor(model):
    model._preprocessor = make_column_transformer((StandardScaler(), [0])).fit(np.ones((3, 2)))


def of_categories(model):
    model._bin_mapper.is_categorical_ = np.zeros(0, dtype=np.uint8)
    model._predictors[0][0].nodes["is_categorical"] = 1


def of_other_width(model):
    model._bin_mapper.is_categorical_ = np.zeros(1, dtype=np.uint8)


def of_binned_rows(model):
    model._in_fit = True


def of_missing_trees(model):
    model._predictors[0] = []


def of_hidden_method(model):
    model._preprocess_X = np.positive


@pytest.mark.parametrize(
    "change",
    [
        of_preprocessor,
        of_categories,
        of_other_width,
        of_binned_rows,
        of_missing_trees,
        of_hidden_method,
    ],
)
def test_histogram_boosting_whose_columns_were_changed_is_refused(frame, change):
    model = HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=5)
    model.fit(frame[["a", "b"]].to_numpy(), frame["y"])
    with pytest.raises(InvalidInput, match=r"names nodes, columns|in place of the method"):
        foreign_model(edited(model, change))


def more_trees(model):
    model.estimators_ = np.hstack([model.estimators_] * 4)


def fewer_outputs(encoder):
    encoder._n_features_outs = [1]


def dropped_outside(encoder):
    encoder._drop_idx_after_grouping = np.array([7], dtype=object)
    encoder._n_features_outs = [2]


def later_words(counter):
    counter.vocabulary_ = {name: 10**6 + k for name, k in counter.vocabulary_.items()}


def unknown_labels(neighbours):
    neighbours._y = neighbours._y + 10**6


def more_rows(neighbours):
    neighbours.n_samples_fit_ = 10**9


@pytest.mark.parametrize(
    ("model", "change"),
    [
        (GradientBoostingClassifier(n_estimators=2), more_trees),
        (KNeighborsClassifier(algorithm="brute"), unknown_labels),
        (KNeighborsClassifier(algorithm="brute"), more_rows),
        (OneHotEncoder(), fewer_outputs),
        (OneHotEncoder(), dropped_outside),
        (CountVectorizer(token_pattern=r"\w"), later_words),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_indices_that_compiled_loops_would_use_outside_of_arrays_are_refused(frame, model, change):
    numbers, words = frame[["a"]].to_numpy(), frame[["t"]].to_numpy()
    rows = {"OneHotEncoder": words, "CountVectorizer": words.ravel()}
    model.fit(rows.get(type(model).__name__, numbers), frame["y"])
    foreign_model(skops.dumps(model))
    with pytest.raises(InvalidInput, match="names nodes, columns or classes"):
        foreign_model(edited(model, change))


def test_sparse_coefficients_must_lie_inside_of_their_table(frame):
    model = LogisticRegression().fit(frame[["a"]].to_numpy(), frame["y"]).sparsify()
    named = ["scipy.sparse._csr.csr_matrix"]
    foreign_model(skops.dumps(model), named)
    model.coef_.indices[:] = 10**6
    with pytest.raises(ValueError, match="indices must be < 1"):
        foreign_model(skops.dumps(model), named)


@pytest.mark.parametrize("place", ["classes", "nodes", "values"])
def test_a_tree_without_one_of_its_arrays_is_refused_before_it_is_made(frame, place):
    model = DecisionTreeClassifier(max_depth=2).fit(frame[["a"]].to_numpy(), frame["y"])
    with ZipFile(BytesIO(skops.dumps(model))) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(files["schema.json"])
    tree = schema["content"]["content"]["tree_"]
    args, state = tree["__reduce__"]["args"]["content"], tree["content"]["content"]
    nothing = {**args[0], "content": "null"}
    if place == "classes":
        args[1] = nothing
    else:
        state[place] = nothing
    files["schema.json"] = json.dumps(schema).encode()
    out = BytesIO()
    with ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    with pytest.raises(InvalidInput, match="other things in place of its arrays"):
        foreign_model(out.getvalue())


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
@pytest.mark.parametrize("inside", [False, True])
def test_fitted_numbers_that_are_not_finite_are_refused(frame, tmp_path, value, inside):
    model = LogisticRegression()
    model = make_pipeline(StandardScaler(), model) if inside else model
    model.fit(frame[["a"]].to_numpy(), frame["y"])
    (model[-1] if inside else model).coef_[0, 0] = value
    lk.save(model, tmp_path / "m.likely")
    with pytest.raises(InvalidFile, match="coef_ of its LogisticRegression has numbers that are"):
        lk.load(tmp_path / "m.likely")


def test_infinite_thresholds_and_missing_statistics_are_read(frame, tmp_path):
    X = np.c_[np.where(np.arange(60) % 2, np.nan, 1.0), np.full(60, np.nan), frame["a"]]
    y = np.arange(60) % 2
    for model in (
        DecisionTreeClassifier(max_depth=2),
        RandomForestClassifier(2, random_state=0, oob_score=True),
        make_pipeline(SimpleImputer(), GaussianNB()),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
            lk.save(model, tmp_path / "m.likely")
            again = lk.load(tmp_path / "m.likely")
            assert (again.predict(X) == model.predict(X)).all()
    boosted = HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=5).fit(X[:, ::2], y)
    lk.save(boosted, tmp_path / "m.likely")
    assert (lk.load(tmp_path / "m.likely").predict(X[:, ::2]) == y).all()


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
    with pytest.raises(InvalidInput, match=r"Ridge belongs to another.*Run: pip install skops\."):
        lk.save(model, tmp_path / "other.likely")
    with pytest.raises(InvalidFile, match=r"not installed. Run: pip install skops\."):
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
    check_parts(model)
    state, nodes = nodes_of(model.tree_)
    nodes[field][0] = value
    model.tree_.__setstate__({**state, "nodes": nodes})
    with pytest.raises(InvalidInput, match="names nodes, columns or classes"):
        foreign_model(foreign_bytes(model).tobytes())


@pytest.mark.parametrize(
    ("field", "value"),
    [("left", 10**6), ("right", 0), ("feature_idx", 7), ("is_categorical", 1)],
)
def test_boosted_trees_are_checked_too(frame, field, value):
    model = HistGradientBoostingClassifier(max_iter=1, min_samples_leaf=5)
    model.fit(frame[["a"]].to_numpy(), frame["y"])
    check_parts(model)
    model._predictors[0][0].nodes[field][0] = value
    with pytest.raises(InvalidInput, match="names nodes, columns or classes"):
        foreign_model(foreign_bytes(model).tobytes())


def test_trees_of_classes_must_have_shares_of_them(frame):
    X = frame[["a"]].to_numpy()
    for trees in (DecisionTreeClassifier(max_depth=2), RandomForestClassifier(1, max_depth=2)):
        model = trees.fit(X, frame["y"])
        tree = (model if hasattr(model, "tree_") else model.estimators_[0]).tree_
        tree.value[0] = -tree.value[0]
        with pytest.raises(InvalidInput, match="numbers that none can be"):
            foreign_model(foreign_bytes(model).tobytes())
    numbers = DecisionTreeRegressor(max_depth=2).fit(X, -frame["a"])  # of any sign
    foreign_model(foreign_bytes(numbers).tobytes())


def test_a_forest_of_trees_of_other_columns_is_refused(frame):
    forest = RandomForestClassifier(2).fit(frame[["a", "b"]].fillna(0).to_numpy(), frame["y"])
    forest.n_features_in_ = 1
    with pytest.raises(InvalidInput, match="names nodes, columns"):
        foreign_model(foreign_bytes(forest).tobytes())


def test_bytes_that_are_no_estimator_are_refused():
    for content in (b"", b"PK nothing", skops.dumps({"a": 1}), skops.dumps(np.arange(3))):
        with pytest.raises(InvalidInput, match=r"cannot be read|in place of an estimator"):
            foreign_model(content)
    bomb = skops.dumps(LogisticRegression(), compression=8)
    with pytest.raises(InvalidInput, match="bytes large"):
        foreign_model(bomb)
