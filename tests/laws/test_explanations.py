"""Explanations of every public estimator: contributions by column that add up to its score."""

from inspect import signature
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logit
from sklearn.base import is_regressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression as ForeignLinear
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import likely
from likely import Explanation, explain
from likely.errors import InvalidInput
from tests.estimators import made, public_estimators

N, NAMES = 40, ("size", "age", "town")
TRANSFORMERS = {"BasisFunctions", "Discretizer", "LogCountRatios", "PolynomialFeatures"}
EXPLAINED = [kind for kind in public_estimators() if kind.__name__ not in TRANSFORMERS]
CLASSIFIERS = (RandomForestClassifier(5, random_state=0), SVC(), likely.NaiveBayes())


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "size": rng.normal(2, 1, N),
            "age": rng.normal(size=N),
            "town": rng.integers(0, 3, N).astype(float),
        }
    )


def target(model: Any) -> Any:
    table = frame()
    score = table["size"] - 2 + table["age"] + np.random.default_rng(4).normal(size=N)
    return score.to_numpy() if is_regressor(model) else (score > 0).astype(int).to_numpy()


def built(kind: type[Any]) -> Any:
    if kind is likely.BayesianNetworkClassifier:
        return kind(discretize="quantile")
    if "n_components" in signature(kind).parameters:
        return kind(n_components=2)
    if kind is likely.HiddenMarkovModel:
        return kind(n_states=2, random_state=0)
    return made(kind)


def scores(model: Any, X: Any, quantity: str) -> Any:
    """What an explanation says that it explains, by the model's own methods."""
    if quantity == "log-odds":
        with np.errstate(divide="ignore"):  # a posterior of exactly 0
            log_proba = (
                np.log(model.predict_proba(X))
                if not hasattr(model, "predict_log_proba")
                else model.predict_log_proba(X)
            )
        with np.errstate(invalid="ignore"):  # −inf − (−inf)
            log_odds = log_proba - log_proba[:, [0]]
        log_odds[:, 0] = 0.0
        return log_odds
    if quantity == "linear predictor (logit link)":  # of ordered classes
        return logit(model.survival(X))
    if quantity == "probability":
        return model.predict_proba(X)
    return np.asarray(model.predict(X)).reshape(len(X), -1)


@pytest.mark.parametrize("kind", EXPLAINED, ids=lambda kind: kind.__name__)
def test_contributions_of_every_estimator_add_up_to_its_score(kind):
    X, model = frame(), built(kind)
    if "early_stopping" in model.get_params():  # few rows may not be better than a constant
        model.set_params(early_stopping=False, random_state=0)
    model.fit(X, target(model))
    found = model.explain(X)
    assert isinstance(found, Explanation)
    assert found.names == NAMES
    assert found.contributions.shape == (N, len(NAMES), len(found.groups))
    assert np.isfinite(found.contributions).all()
    assert np.abs(found.contributions).max() > 0
    assert_allclose(found.base + found.contributions.sum(axis=1), found.total, rtol=1e-10)
    scored = model.estimator_ if hasattr(model, "estimator_") else model  # before calibration
    scored = scored.estimators_[0] if hasattr(scored, "estimators_") else scored  # of two classes
    expected = scores(scored, X, found.quantity.removesuffix(" of a class above the cut"))
    if len(found.groups) == 1:
        expected = expected[:, -1:]
    assert_allclose(found.total, expected, atol=1e-8)


def test_a_state_of_probability_0_has_infinite_log_odds_and_finite_contributions():
    """A row far from both states has a posterior of exactly 0 and 1, on any processor."""
    X, model = frame(), built(likely.HiddenMarkovModel)
    model.fit(X)
    far = X.iloc[:3] * 1e3
    found = model.explain(far)
    assert (model.predict_proba(far) == 0).any()
    assert np.isfinite(found.contributions).all()
    assert_array_equal(np.isinf(found.total[:, -1]), True)
    assert_array_equal(found.total, scores(model, far, "log-odds")[:, -found.total.shape[1] :])


@pytest.mark.parametrize("kind", EXPLAINED, ids=lambda kind: kind.__name__)
def test_a_row_is_explained_alike_alone_and_among_others(kind):
    if kind is likely.HiddenMarkovModel:
        pytest.skip("rows of a sequence explain each other")
    X, model = frame(), built(kind)
    model.fit(X, target(model))
    every, alone = model.explain(X), model.explain(X[7:8])
    assert_allclose(alone.contributions[0], every.contributions[7], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("inner", CLASSIFIERS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("outer", [None, likely.Prepared, likely.TemperatureScaling])
def test_models_of_other_libraries_are_explained(inner, outer):
    X = frame()
    model = inner if outer is None else outer(inner)
    model.fit(X, target(model) > 0)
    found = explain(model, X[:6], background=X)
    assert found.names == NAMES
    assert_allclose(found.total, found.base + found.contributions.sum(axis=1))
    assert len(found.cells) == 6


def test_a_pipeline_is_explained_in_the_columns_it_is_given():
    X = frame().astype({"town": "category"})
    y = target(ForeignLinear())
    numbers = X[["size", "age"]]
    pipeline = make_pipeline(StandardScaler(), ForeignLinear()).fit(numbers, y)
    found = explain(pipeline, numbers)
    linear = pipeline[-1].coef_ / pipeline[0].scale_
    assert_allclose(found.total[:, 0], pipeline.predict(numbers))
    sampled = np.random.default_rng(0).permutation(N)[:25]  # of a linear model: exact
    centre = numbers.to_numpy()[sampled].mean(axis=0)
    assert_allclose(found.contributions[:, :, 0], (numbers.to_numpy() - centre) * linear)


def test_prepared_columns_are_explained_by_the_columns_they_came_from():
    X = frame()
    X["city"] = np.where(X["town"] > 1, "Ghent", "Mons")
    X["planet"] = "Earth"
    X.loc[::5, "age"] = np.nan
    y = target(likely.LogisticRegression())
    for inner in (likely.LogisticRegression(l2=1.0), likely.DiscriminantAnalysis("full")):
        model = likely.Prepared(inner).fit(X, y)
        found = model.explain(X)
        log_proba = model.predict_log_proba(X)
        assert found.names == tuple(X.columns)
        assert_allclose(found.total, log_proba - log_proba[:, [0]], rtol=1e-9, atol=1e-9)
        assert not found.contributions[:, list(X.columns).index("planet")].any()
        indicated = np.abs(found.contributions[::5, 1]).max() > 0
        assert indicated == isinstance(inner, likely.LogisticRegression)  # others sum it out
        assert found.cells[0][3] in ("Ghent", "Mons")


@pytest.mark.parametrize("link", ["probit", "cloglog"])
def test_other_links_explain_their_linear_predictor(link):
    X = frame()
    model = likely.LogisticRegression(link=link, l2=1.0).fit(X, target(likely.NaiveBayes()))
    found = model.explain(X)
    assert found.quantity == f"linear predictor ({link} link)"
    assert_allclose(found.total[:, 1], model.linear_predictor(X))
    flipped = model.explain(X, against=1)
    assert_allclose(flipped.total[:, 0], -model.linear_predictor(X))


def test_a_count_model_explains_the_log_of_its_mean():
    X = frame()
    y = np.random.default_rng(5).poisson(3, N)
    model = likely.GLM("poisson").fit(X, y)
    found = model.explain(X)
    assert found.quantity == "linear predictor (log link)"
    assert_allclose(np.exp(found.total[:, 0]), model.predict(X))
    typical = pd.DataFrame([X.mean()])
    assert_allclose(model.explain(typical).contributions, 0.0, rtol=1e-12, atol=1e-12)


def test_categories_contribute_relative_to_their_shares():
    X = pd.DataFrame({"town": ["a", "b", "c", "a", "b", "c"] * 4, "size": np.arange(24.0)})
    y = np.arange(24.0) + np.tile([0, 5, 9], 8) + np.random.default_rng(0).normal(size=24)
    model = likely.LinearRegression().fit(X, y)
    found = model.explain(X)
    assert_allclose(found.total[:, 0], model.predict(X))
    coef = dict(zip(model.terms_, model.coef_, strict=True))
    each = np.array([0.0, coef["town[b]"], coef["town[c]"]])
    assert_allclose(found.contributions[:3, 0, 0], each - each.mean(), rtol=1e-12, atol=1e-12)
    assert_allclose(found.contributions.mean(axis=0), 0.0, rtol=1e-12, atol=1e-12)


def test_saved_models_explain_as_before(tmp_path):
    X = frame()
    model = likely.Prepared(likely.LogisticRegression()).fit(X, target(likely.NaiveBayes()))
    likely.save(model, tmp_path / "model.likely")
    again = likely.load(tmp_path / "model.likely").explain(X)
    assert_array_equal(again.contributions, model.explain(X).contributions)


def test_one_row_of_another_library_needs_a_background():
    X = frame()
    model = RandomForestRegressor(3).fit(X, target(ForeignLinear()))
    with pytest.raises(InvalidInput, match=r"X has 1 row.*background="):
        explain(model, X[:1])
    with pytest.raises(InvalidInput, match="compared with no class"):
        explain(model, X, against="a")


def test_what_predicts_words_without_probabilities_is_refused():
    from sklearn.cluster import FeatureAgglomeration

    X = frame()
    with pytest.raises(InvalidInput, match="neither predict_proba nor numeric predictions"):
        explain(FeatureAgglomeration(2).fit(X), X)


def test_a_missing_cell_is_refused_as_in_predictions():
    X = frame()
    model = likely.LinearRegression().fit(X, target(ForeignLinear()))
    X.loc[3, "age"] = np.nan
    with pytest.raises(InvalidInput, match="age"):
        model.explain(X)


def test_the_model_of_a_study_explains_itself():
    X = frame()
    study = likely.tune(X, target(likely.NaiveBayes()), model="logistic", trials=1, folds=3)
    found = study.refit().explain(X)
    assert found.names == NAMES
    assert_allclose(found.total[:, 1], study.refit().decision_function(X))


@pytest.mark.parametrize("means", [np.zeros(2), np.array([0.0, np.nan, 1.0])])
def test_a_model_file_with_other_means_is_refused(means, tmp_path):
    X = frame()
    model = likely.LinearRegression().fit(X, target(ForeignLinear()))
    model.column_means_ = means
    likely.save(model, tmp_path / "model.likely")
    with pytest.raises(InvalidInput, match="column_means_"):
        likely.load(tmp_path / "model.likely")
