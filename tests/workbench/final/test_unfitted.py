"""No fitted model enters ``final``: every way by which one comes through a copy."""

import math
import sys
from collections import OrderedDict, deque
from functools import partial
from importlib import import_module
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    BaggingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder, StandardScaler

import likely
import likely as lk_module
from likely.errors import HonestyRefusal, InvalidInput
from likely.workbench.final.unfitted import SizesOfSeal, refuse_fitted, unfitted_copy
from tests.sealing.conftest import numbers_only

X = np.random.default_rng(0).normal(size=(60, 2))
Y = np.where(X[:, 0] > 0, "yes", "no")
FITTED = LogisticRegression().fit(X, Y)
FROZEN = FrozenEstimator(FITTED)
SIZES = SizesOfSeal(n_train=80, n_test=20)


class _Holder(ClassifierMixin, BaseEstimator):
    """A model with one setting, whose fit learns nothing."""

    def __init__(self, held=None):
        self.held = held

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)

    def predict(self, X):
        return self.classes_[np.zeros(len(X), dtype=int)]


class _CopiesItsFit(_Holder):
    def __sklearn_clone__(self):
        copy = type(self)(self.held)
        copy.__dict__.update(self.__dict__)
        return copy


class _HidesItsFit(_Holder):
    def __sklearn_clone__(self):
        copy = type(self)(self.held)
        copy._weights = FITTED.coef_
        return copy


class _OfItsClass(_Holder):
    model = FITTED


class _OfItsModule(_Holder):
    def predict(self, X):
        return FITTED.predict(X)


class _ByProperty(_Holder):
    @property
    def answer(self):
        return FITTED


class _OfAnotherLibrary:
    def predict(self, X):
        return np.zeros(len(X))


class _Slotted:
    __slots__ = ("empty", "model")

    def __init__(self, model):
        self.model = model


helper = ModuleType("helper")
helper.MODEL = FITTED
helper.inner = ModuleType("helper.inner")
alone = ModuleType("alone")
alone.inner = ModuleType("alone.inner")
alone.inner.MODEL = FITTED
harmless = ModuleType("harmless")
harmless.SETTINGS = {"C": 1.0}


def _by_module(X):
    return helper.MODEL.predict_proba(X)


def _by_inner_module(X):
    return alone.inner.MODEL.predict_proba(X)


def _by_harmless_module(X):
    return X * harmless.SETTINGS["C"] + np.sum(X) + math.pi + lk_module.__name__.count("a")


def _with_attribute(X):
    return _with_attribute.model.predict_proba(X)


_with_attribute.model = FITTED


def _by_global_name(X):
    return np.column_stack([X, FITTED.predict_proba(X)])


def _by_default(X, model=FITTED):
    return model.predict_proba(X)


def _enclosing(model):
    def inner(X):
        return model.predict_proba(X)

    return inner


KNOWING = {
    "frozen": FROZEN,
    "frozen in a pipeline": make_pipeline(StandardScaler(), FROZEN),
    "a frozen step": make_pipeline(FrozenEstimator(StandardScaler().fit(X)), GaussianNB()),
    "a vote": VotingClassifier([("a", FROZEN), ("b", GaussianNB())]),
    "a stack": StackingClassifier([("a", FROZEN)], GaussianNB()),
    "a prefit stack": StackingClassifier([("a", GaussianNB())], GaussianNB(), cv="prefit"),
    "calibrated": CalibratedClassifierCV(FROZEN),
    "a union": make_pipeline(
        FeatureUnion([("a", FrozenEstimator(StandardScaler()))]), GaussianNB()
    ),
    "selected, prefit": make_pipeline(SelectFromModel(FITTED, prefit=True), GaussianNB()),
    "a grid": GridSearchCV(make_pipeline(FROZEN), {"memory": [None]}),
    "in the values of a grid": GridSearchCV(
        make_pipeline(GaussianNB()), {"steps": [[("a", FROZEN)]]}
    ),
    "bagged": BaggingClassifier(FROZEN),
    "one against the rest": OneVsRestClassifier(FROZEN),
    "prepared": likely.Prepared(FROZEN),
    "platt, prefit": likely.PlattScaling(FITTED, cv="prefit"),
    "platt, frozen": likely.PlattScaling(FROZEN),
    "in a mapping": _Holder(OrderedDict(a=FITTED)),
    "in a list of mappings": _Holder([OrderedDict(a=(1, FITTED))]),
    "a property": _ByProperty(),
    "a method of a container": FunctionTransformer({"a": FITTED}.get),
    "vectorised": FunctionTransformer(np.vectorize(FITTED.predict)),
    "in an array": _Holder(np.array([FITTED, None], dtype=object)),
    "a copy of its own": _CopiesItsFit().fit(X, Y),
    "a hidden attribute": _HidesItsFit(),
    "an attribute of its class": _OfItsClass(),
    "a global name in a method": _OfItsModule(),
    "an object that predicts": _Holder(_OfAnotherLibrary()),
    "a bound method": FunctionTransformer(FITTED.predict_proba),
    "a partial function": FunctionTransformer(partial(_by_default, model=FITTED)),
    "a global name": FunctionTransformer(_by_global_name),
    "a default": FunctionTransformer(_by_default),
    "a closure": FunctionTransformer(_enclosing(FITTED)),
    "a lambda in keywords": FunctionTransformer(
        np.column_stack, kw_args={"a": lambda x: FITTED.predict(x)}
    ),
    "a module": FunctionTransformer(_by_module),
    "a module in a module": FunctionTransformer(_by_inner_module),
    "in a deque": _Holder(deque([FITTED])),
    "an attribute of a function": FunctionTransformer(_with_attribute),
    "slots": _Holder(_Slotted(FITTED)),
    "a late element": _Holder(OrderedDict(a=[None] * 1_200 + [FITTED])),
    "a late element of a mapping": _Holder(
        OrderedDict((k, FITTED if k == 1_200 else None) for k in range(1_201))
    ),
    "a key of a mapping": _Holder(OrderedDict([(FITTED, 1)])),
    "an array of objects in two dimensions": _Holder(np.array([[FITTED, 0]], dtype=object)),
    "more parts than are looked at": _Holder([[] for _ in range(20_001)]),
    "a resumed network": likely.NeuralNetworkClassifier(
        training=likely.Training(resume="somewhere")
    ),
    "a network that resumes": likely.Prepared(
        likely.NeuralNetworkClassifier(training=likely.Training(checkpoint="a", resume=True))
    ),
    "validation rows": likely.NeuralNetworkClassifier(validation=(X[:5], Y[:5])),
    "given weights": likely.NeuralNetworkClassifier(initialise=np.zeros(5)),
    "a given start": likely.SoftmaxRegression(start={"coef": np.zeros((2, 2))}),
    "a table": _Holder(X),
    "a frame": _Holder({"rows": pd.DataFrame(X)}),
    "all labels": _Holder(np.array(["a"] * 100)),
    "the sealed labels": _Holder(np.sin(np.arange(20))),
    "labels in a list": _Holder(["yes", "no"] * 10),
    "a table of lists": _Holder(X.tolist()),
    "labels in a text": _Holder("yn" * 128),
    "labels in bytes": _Holder(b"yn" * 128),
    "labels in a number": _Holder(1 << 255),
    "sealed labels as whole numbers": _Holder([1, 0] * 10),
    "labels as whole numbers, and more": _Holder([1, 0] * 70),
    "labels as Booleans": _Holder(np.arange(100) % 3 == 0),
    "a memory of rows": _Holder(
        {tuple(row): label for row, label in zip(np.vstack([X, -X]), Y.tolist() * 2, strict=True)}
    ),
}


@pytest.mark.parametrize("name", KNOWING)
def test_a_model_that_knows_rows_is_refused(name):
    with pytest.raises(HonestyRefusal, match=r"training rows alone.*final\(predictions=") as error:
        unfitted_copy(KNOWING[name], SIZES)
    assert "(" in str(error.value)


HONEST = {
    "fitted before": FITTED,
    "in a dictionary": _Holder({"a": FITTED}),  # which a copy copies too
    "a fitted pipeline": make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y),
    "a fitted vote": VotingClassifier([("a", GaussianNB())]).fit(X, Y),
    "a fitted calibration": CalibratedClassifierCV(GaussianNB(), cv=2).fit(X, Y),
    "a warm start": RandomForestClassifier(3, warm_start=True).fit(X, Y),
    "a function": make_pipeline(FunctionTransformer(np.log1p), GaussianNB()),
    "a module without a model": FunctionTransformer(_by_harmless_module),
    "slots without a model": _Holder(_Slotted(None)),
    "many plain elements": GridSearchCV(GaussianNB(), {"priors": list(range(30_000))}),
    "a function of its own": FunctionTransformer(lambda X: X[:, :1]),
    "folds": GridSearchCV(GaussianNB(), {}, cv=PredefinedSplit(np.arange(80) % 2)),
    "folds by index": GridSearchCV(GaussianNB(), {}, cv=[(np.arange(20), np.arange(20, 80))]),
    "a grid of settings": GridSearchCV(LogisticRegression(), {"C": np.logspace(-3, 3, 20)}),
    "a list of settings": GridSearchCV(
        LogisticRegression(), {"C": [0.1 * k for k in range(1, 21)]}
    ),
    "a long text": _Holder("yn" * 127),
    "a large number": _Holder((1 << 255) - 1),
    "whole numbers in order": _Holder(list(range(200))),
    "categories": OrdinalEncoder(categories=[["a", "b"], ["c", "d", "e"]]),
    "priors": GaussianNB(priors=np.array([0.5, 0.5])),
    "ours": likely.Prepared(likely.LogisticRegression(l2=1.0)),
    "a network": likely.NeuralNetworkClassifier(validation=0.2, early_stopping=True),
    "a path": likely.PenaltyPath(likely.LogisticRegression()),
    "platt": likely.PlattScaling(likely.NaiveBayes()),
    "ordered": likely.FrankHall(likely.LogisticRegression()),
}


@pytest.mark.parametrize("name", HONEST)
def test_a_model_that_a_copy_makes_fresh_is_accepted(name):
    assert unfitted_copy(HONEST[name], SIZES) is not HONEST[name]


def test_a_text_may_be_as_long_as_a_setting_of_many_rows_and_no_longer():
    sizes = SizesOfSeal(4000, 900)
    assert unfitted_copy(_Holder("y" * 899), sizes).held == "y" * 899
    for many in (SizesOfSeal(9000, 5000), None):
        assert unfitted_copy(_Holder("y" * 999), many).held == "y" * 999
        with pytest.raises(HonestyRefusal, match=r"\(held\) holds a text of 1,000 letters"):
            unfitted_copy(_Holder("y" * 1000), many)
    with pytest.raises(HonestyRefusal, match="a number of 900 bits"):
        unfitted_copy(_Holder(1 << 899), sizes)


def test_every_registered_model_is_accepted():
    from likely.workbench.models.registry import MODELS

    for entry in MODELS.values():
        refuse_fitted(entry.build(None), SIZES)


def test_a_fit_is_recognised_where_no_copy_was_made():
    with pytest.raises(HonestyRefusal, match=r"holds a fitted LogisticRegression"):
        refuse_fitted(FITTED)
    refuse_fitted(clone(FITTED))


@pytest.mark.parametrize("model", ["MODEL = LogisticRegression().fit([[0], [1]], [0, 1])", ""])
def test_a_module_in_a_file_is_looked_at(model, tmp_path, monkeypatch):
    text = f"from sklearn.linear_model import LogisticRegression\nimport numpy, likely\n{model}\n"
    (tmp_path / "kept_model.py").write_text(text + "def answer(X):\n    return X\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = import_module("kept_model")
    del sys.modules["kept_model"]
    given = FunctionTransformer(lambda X: module.answer(X))
    if not model:
        assert unfitted_copy(given, SIZES) is not given
        return
    with pytest.raises(HonestyRefusal, match=r"MODEL\) holds a fitted LogisticRegression"):
        unfitted_copy(given, SIZES)


def test_what_is_too_large_to_be_looked_at_is_said():
    with pytest.raises(HonestyRefusal, match=r"has more than 20,000 parts, so that it was not"):
        refuse_fitted(_Holder([[] for _ in range(20_001)]))


def test_what_cannot_be_copied_is_said():
    class Changes(_Holder):
        def __init__(self, held=None):
            self.held = [held]

    with pytest.raises(InvalidInput, match=r"Changes cannot be copied without its fit"):
        unfitted_copy(Changes())


def test_final_refuses_a_frozen_model_and_records_it(tmp_path):
    table = numbers_only(100)
    model = FrozenEstimator(LogisticRegression().fit(table[["a", "b"]], table["y"]))
    sealed = likely.seal(table, "y", name="toy", folder=tmp_path)
    for given in (model, CalibratedClassifierCV(model), likely.Prepared(model)):
        with pytest.raises(HonestyRefusal, match="a frozen model"):
            sealed.final(given)
    assert sealed.evaluations == 0
    assert {e["reason"] for e in sealed.ledger()[1:]} == {"a fitted model"}
    assert sealed.final(model.estimator).evaluation == 1  # a fitted model is fitted again


def test_train_refuses_to_go_on_from_an_earlier_training(tmp_path, monkeypatch, capsys):
    from likely.cli.main import run

    monkeypatch.chdir(tmp_path)
    likely.seal(numbers_only(60), "y", name="toy", folder=tmp_path)
    assert run(["train", "toy.seal", "neural-network", "--set", "training__resume=old"]) == 3
    assert "continues an earlier training" in " ".join(capsys.readouterr().err.split())
