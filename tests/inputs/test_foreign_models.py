"""What estimators of other libraries need of their columns, alone and inside one another."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, NuSVC
from sklearn.tree import DecisionTreeClassifier

import likely as lk
from likely.inputs.foreign_models import chooses_columns, depends_on_scale, takes_missing

RIDGE, TREE = LogisticRegression(), DecisionTreeClassifier()


class Penalised(ClassifierMixin, BaseEstimator):
    """An estimator of nobody's library with a penalty."""

    def __init__(self, reg_lambda=1.0):
        self.reg_lambda = reg_lambda


class Thresholds(ClassifierMixin, BaseEstimator):
    """An estimator whose argument is in the units of a column."""

    def __init__(self, above=100.0):
        self.above = above


@pytest.mark.parametrize(
    "model",
    [
        RIDGE,
        SVC(),
        NuSVC(),
        KNeighborsClassifier(),
        MLPClassifier(),
        SGDClassifier(),
        Penalised(),
        CalibratedClassifierCV(SVC()),
        CalibratedClassifierCV(),
        GridSearchCV(RIDGE, {"C": [1, 10]}),
        BaggingClassifier(RIDGE),
        VotingClassifier([("tree", TREE), ("ridge", RIDGE)]),
        StackingClassifier([("tree", TREE)], RIDGE),
        make_pipeline(SimpleImputer(), RIDGE),
        GridSearchCV(make_pipeline(SimpleImputer(), RIDGE), {}),
        lk.PlattScaling(RIDGE),
        BaggingClassifier(lk.LogisticRegression()),
    ],
    ids=repr,
)
def test_what_compares_columns_depends_on_their_scale_also_inside_another(model):
    assert depends_on_scale(model)


@pytest.mark.parametrize(
    "model",
    [
        TREE,
        RandomForestClassifier(),
        HistGradientBoostingClassifier(),
        AdaBoostClassifier(),
        BaggingClassifier(),
        LinearRegression(),
        MultinomialNB(),  # of counts, which have no centre
        BernoulliNB(),
        Thresholds(),
        GridSearchCV(TREE, {"max_depth": [1, 2]}),
        CalibratedClassifierCV(TREE),
        VotingClassifier([("one", TREE), ("other", RandomForestClassifier())]),
        make_pipeline(StandardScaler(), RIDGE),  # it scales by itself
        lk.NaiveBayes(),
    ],
    ids=repr,
)
def test_trees_and_counts_and_what_scales_by_itself_do_not(model):
    assert not depends_on_scale(model)


def test_those_listed_as_free_of_scale_predict_the_same_on_any_scale():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    for model in (
        DecisionTreeClassifier(max_depth=2, random_state=0),
        AdaBoostClassifier(n_estimators=5, random_state=0),
        LinearRegression(),
    ):
        raw, scaled = model.fit(X, y).predict(X), model.fit(X * 1024, y).predict(X * 1024)
        assert_allclose(scaled, raw, atol=1e-9)


@pytest.mark.parametrize(
    ("model", "takes"),
    [
        (HistGradientBoostingClassifier(), True),
        (TREE, True),
        (RIDGE, False),
        (GridSearchCV(TREE, {}), True),
        (GridSearchCV(RIDGE, {}), False),
        (make_pipeline(SimpleImputer(), RIDGE), True),
        (make_pipeline(StandardScaler(), RIDGE), False),
        (make_pipeline(StandardScaler(), TREE), True),
        (GridSearchCV(make_pipeline(SimpleImputer(), RIDGE), {}), True),
        (LinearDiscriminantAnalysis(), False),
    ],
    ids=repr,
)
def test_missing_cells_are_left_to_models_and_pipelines_that_take_them(model, takes):
    assert takes_missing(model) == takes


@pytest.mark.parametrize(
    ("model", "chooses"),
    [
        (make_pipeline(ColumnTransformer([("a", "passthrough", ["x"])]), RIDGE), True),
        (make_pipeline(OneHotEncoder(), RIDGE), True),
        (make_pipeline(CountVectorizer(), RIDGE), True),
        (make_pipeline(FunctionTransformer(), RIDGE), True),
        (GridSearchCV(make_pipeline(OneHotEncoder(), RIDGE), {}), True),
        (CalibratedClassifierCV(make_pipeline(OneHotEncoder(), RIDGE)), True),
        (make_pipeline(StandardScaler(), RIDGE), False),
        (RIDGE, False),
    ],
    ids=repr,
)
def test_a_pipeline_that_reads_text_chooses_its_own_columns(model, chooses):
    assert chooses_columns(model) == chooses
