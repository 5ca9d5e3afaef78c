"""Every estimator of scikit-learn is scored on a mixed table, or refused in words."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier, RandomForestRegressor, StackingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import RadiusNeighborsClassifier, RadiusNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

import likely as lk
from likely.errors import InvalidInput

NO_NUMBERS_BELOW_0 = "Negative values in data"
REFUSED = {  # why some are not scored, in words
    "CategoricalNB": NO_NUMBERS_BELOW_0,
    "ComplementNB": NO_NUMBERS_BELOW_0,
    "MultinomialNB": NO_NUMBERS_BELOW_0,
    "RadiusNeighborsClassifier": "No neighbors found",
    "SelfTrainingClassifier": "a part of it that must be an estimator is none",
    "CCA": "upper bound is 1",
    "PLSCanonical": "upper bound is 1",
    "IsotonicRegression": "with 1 feature",
    "RadiusNeighborsRegressor": "predicted NaN as the mean of",
    "MultiTaskElasticNet": "mono-task",
    "MultiTaskElasticNetCV": "mono-task",
    "MultiTaskLasso": "mono-task",
    "MultiTaskLassoCV": "mono-task",
}
SLOW = {"ARDRegression", "AdaBoostClassifier", "ExtraTreesClassifier", "RandomForestClassifier"}


def mixed(n=60, *, numbers=False, gaps=True):
    """Numbers on very different scales, text, Booleans and missing cells."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "income": 1000 * rng.normal(size=n) + 5000,
            "share": rng.normal(size=n),
            "town": rng.choice(list("uvw"), n),
            "owner": rng.random(n) > 0.5,
        }
    )
    score = frame["income"] / 1000 + frame["share"] + rng.normal(size=n)
    if gaps:
        frame.loc[::7, "share"] = np.nan
    return frame.assign(y=score if numbers else np.where(score > 5, "p", "q"))


def estimators(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, made in all_estimators(type_filter=kind):
            marks = [pytest.mark.slow] if name in SLOW else []
            yield pytest.param(name, made, marks=marks, id=name)


def scored(made, *, numbers):
    """The entry of an estimator with its own settings; None if it has required ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a deprecated class
        try:
            model = made()
        except TypeError:
            return None
        return lk.compare(mixed(numbers=numbers), "y", {"it": model}, folds=2, repeats=1)["it"]


@pytest.mark.parametrize(
    ("name", "made", "numbers"),
    [
        pytest.param(*each.values, kind == "regressor", marks=each.marks, id=each.id)
        for kind in ("classifier", "regressor")
        for each in estimators(kind)
    ],
)
@pytest.mark.long
def test_every_estimator_of_scikit_learn_is_scored_or_refused_in_words(name, made, numbers):
    try:
        found = scored(made, numbers=numbers)
    except InvalidInput as error:
        assert REFUSED[name] in str(error)
        return
    if found is None:
        return
    if name in REFUSED:
        assert REFUSED[name] in found.problem
    else:
        assert not found.problem
        assert np.isfinite(found.value)
        assert found.notes[0].startswith("columns are prepared before each fit")


def test_a_penalised_estimator_is_as_good_in_any_unit():
    frame = mixed(gaps=False)
    other = frame.assign(income=frame["income"] / 1e6, share=1e4 * frame["share"])
    models = {
        "bare": LogisticRegression(),
        "calibrated": CalibratedClassifierCV(SVC(), ensemble=False, cv=2),
        "searched": GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2),
        "several": BaggingClassifier(LogisticRegression(), n_estimators=2, random_state=0),
        "stacked": StackingClassifier([("one", LogisticRegression())], cv=2),
        "in line": make_pipeline(SimpleImputer(), LogisticRegression()),
    }
    one, two = (lk.compare(each, "y", models, folds=2, repeats=1) for each in (frame, other))
    for name in models:
        assert not one[name].problem
        assert_allclose(two[name].value, one[name].value, rtol=1e-4)


def test_a_pipeline_of_numbers_is_given_numbers_and_one_with_an_encoder_the_columns_themselves():
    own = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["town"]), (SimpleImputer(), ["share", "income"])
    )
    models = {
        "numbers": make_pipeline(StandardScaler(), LogisticRegression()),
        "own": make_pipeline(own, StandardScaler(), LogisticRegression()),
        "own, searched": GridSearchCV(
            make_pipeline(own, StandardScaler(), LogisticRegression()), {}, cv=2
        ),
    }
    found = lk.compare(mixed(), "y", models, folds=2, repeats=1)
    assert [found[name].problem for name in models] == ["", "", ""]
    assert "missing cells are filled" in found["numbers"].notes[0]
    assert found["own"].notes == found["own, searched"].notes == ()
    assert_allclose(found["own"].value, found["own, searched"].value)


def test_classifiers_without_probabilities_are_scored_by_what_they_have():
    found = lk.compare(mixed(), "y", [LinearSVC(), "logistic"], folds=2)
    svc = found["LinearSVC"]
    assert not svc.problem
    assert np.isnan(svc.value) and found.entries[-1] is svc
    assert 0.5 < svc.others["accuracy"] <= 1
    advice = "such as accuracy, or calibrate it in Python: PlattScaling(LinearSVC())"
    assert svc.notes[0].startswith("ranked last: LinearSVC has no predict_proba")
    assert advice in " ".join(str(found).split())
    assert "infinite" not in str(found)
    by_accuracy = lk.compare(mixed(), "y", [LinearSVC(), "logistic"], folds=2, metric="accuracy")
    assert by_accuracy["LinearSVC"].value == svc.others["accuracy"]
    alone = lk.compare(mixed(), "y", LinearSVC(), folds=2)
    assert alone.metric.name == "accuracy"
    assert "LinearSVC: no predict_proba, which log loss needs, so the metric" in str(alone)


def test_regressors_without_a_density_are_scored_by_what_they_have():
    frame = mixed(numbers=True)
    found = lk.compare(frame, "y", [Ridge(), "linear"], folds=2, repeats=1)
    assert found.metric.name == "log-likelihood"
    assert not found.failed
    ridge = found["Ridge"]
    assert np.isnan(ridge.value) and found.entries[-1] is ridge
    assert ridge.others["r2"] == pytest.approx(found["linear"].others["r2"], abs=0.2)
    assert "gives no density of the target" in ridge.notes[0]
    facts = found.facts()["models"][-1]
    assert facts["problem"] is None and facts["others"].keys() == {"r2"}
    alone = lk.compare(frame, "y", Ridge(), folds=2, repeats=1)
    assert alone.metric.name == "rmse"
    assert "no density of the target, which log-likelihood" in alone.facts()["notes"][0]
    searched = GridSearchCV(lk.LinearRegression(), {"l2": [0.0, 1.0]}, cv=2)
    own = lk.compare(frame, "y", {"mine": searched}, folds=2, repeats=1)
    assert own.metric.name == "log-likelihood"
    curve = lk.learning_curve(frame, "y", RandomForestRegressor(3), values=[1.0], folds=2)
    assert curve.metric.name == "rmse"


@pytest.mark.parametrize(
    ("model", "numbers"),
    [(RadiusNeighborsRegressor(0.01), True), (RadiusNeighborsClassifier(0.01), False)],
)
@pytest.mark.filterwarnings("ignore:One or more samples")
def test_predictions_of_no_number_are_a_problem_not_a_score(model, numbers):
    (found,) = lk.compare(mixed(numbers=numbers), "y", model, folds=2, repeats=1).failed
    assert "predicted NaN as the mean" in found.problem or "No neighbors found" in found.problem


def test_an_estimator_with_an_empty_part_is_refused():
    with pytest.raises(InvalidInput, match="a part of it that must be an estimator is none"):
        lk.compare(mixed(), "y", SelfTrainingClassifier())


def test_trees_are_given_missing_cells_as_they_are():
    fitted = lk.Prepared(DecisionTreeClassifier()).fit(mixed(), "y")
    assert np.isnan(np.asarray(fitted.prepare(mixed().drop(columns="y"))["share"])).any()
    filled = lk.Prepared(LogisticRegression()).fit(mixed(), "y")
    assert not np.isnan(np.asarray(filled.prepare(mixed().drop(columns="y"))["share"])).any()
