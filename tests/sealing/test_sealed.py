"""The sealed object gives its training rows, and nothing of the others, to anyone."""

import copy
import inspect
import io
import os
import pickle
import sys
import traceback
from types import ModuleType

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split

import likely
from likely.data.frames import frame_of
from likely.errors import InvalidInput, SealedData
from tests.estimators import takes_documents
from tests.sealing.conftest import some_table

X = np.random.default_rng(0).normal(size=(60, 2))
Y = (X[:, 0] + np.random.default_rng(1).logistic(size=60) > 0).astype(int)
TAKES_THE_TRAINING_ROWS = {"look", "dataset", "split", "compare", "tune", "learning_curve"}
TEXTS = [f"row {i} of some words" for i in range(len(Y))]
IGNORES_Y = {
    "BagOfWords",
    "BasisFunctions",
    "Discretizer",
    "GaussianMixture",
    "MixtureModel",
    "PolynomialFeatures",
    "TokenIds",
}
ARGUMENT = {"FrankHall": LogisticRegression(), "PenaltyPath": likely.LogisticRegression()}


def test_it_says_rows_looks_and_budget(sealed):
    assert repr(sealed) == (
        "<Sealed toy.seal: 96 rows to train on, 24 sealed, target 'y'; 0 of 1 evaluation used>"
    )
    sealed.final(likely.NaiveBayes())
    assert "1 of 1 evaluation used" in str(sealed)
    assert "toy.seal" in sealed._repr_html_()
    assert (sealed.evaluations, sealed.budget, sealed.target, sealed.name) == (1, 1, "y", "toy")


REFUSED = {
    "asarray": np.asarray,
    "array of several": lambda s: np.array([s, s]),
    "sum": np.sum,
    "len": len,
    "iter": iter,
    "item": lambda s: s[0],
    "column": lambda s: s["y"],
    "in": lambda s: 1 in s,
    "equals": lambda s: s == s,
    "differs": lambda s: s != 1,
    "less": lambda s: s < 1,
    "list": list,
    "plus": lambda s: s + 1,
    "from": lambda s: 1 - s,
    "times": lambda s: s * 2,
    "over": lambda s: 1 / s,
    "dot": lambda s: X @ s,
    "float": float,
    "int": int,
    "path": os.fspath,
    "shape": lambda s: s.shape,
    "columns": lambda s: s.columns,
    "values": lambda s: s.values,
    "unpack": lambda s: (*s,),
    "data frame": pd.DataFrame,
    "series": pd.Series,
    "arrow": pa.array,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "deepcopy of a list": lambda s: copy.deepcopy([s]),
    "pickle": pickle.dumps,
    "pickle 5": lambda s: pickle.Pickler(io.BytesIO(), 5).dump(s),
    "pickle in a list": lambda s: pickle.dumps([s]),
    "state": lambda s: s.__getstate__(),
    "set": lambda s: setattr(s, "evaluations", 0),
    "delete": lambda s: delattr(s, "_folder"),
    "fit": lambda s: LogisticRegression().fit(s, Y),
    "fit y": lambda s: LogisticRegression().fit(X, s),
    "cross-validation": lambda s: cross_val_score(LogisticRegression(), s, Y),
    "cross-validation y": lambda s: cross_val_score(LogisticRegression(), X, s),
    "search": lambda s: GridSearchCV(LogisticRegression(), {"C": [1, 2]}).fit(s, Y),
    "split": train_test_split,
}


@pytest.mark.parametrize("use", REFUSED.values(), ids=REFUSED)
def test_it_is_no_data(sealed, use):
    with pytest.raises(SealedData):
        use(sealed)


def test_the_refusal_says_what_to_do(sealed):
    with pytest.raises(SealedData, match=r"toy\.seal is a sealed test set.*\.train.*\.final"):
        LogisticRegression().fit(sealed, Y)


def test_it_is_no_array_and_has_no_dictionary(sealed):
    assert "__array__" not in dir(sealed)
    with pytest.raises(TypeError):
        vars(sealed)
    assert not hasattr(sealed, "__dict__")
    assert sealed, "it is there"
    assert {sealed: 1}[sealed] == 1


def everything_within(thing, depth=4):
    """All that attributes, items and slots lead to."""
    yield thing
    if depth and not isinstance(thing, str | bytes | int | type | ModuleType):
        inner = list(getattr(thing, "__dict__", {}).values())
        if type(thing).__name__ == "Sealed":
            inner = [getattr(thing, name) for name in ("_folder", "manifest", "train", "notes")]
        if isinstance(thing, dict):
            inner += thing.values()
        if isinstance(thing, list | tuple):
            inner += thing
        for one in inner:
            yield from everything_within(one, depth - 1)


def test_no_attribute_leads_to_a_label(tmp_path):
    labels = [f"label-{i // 5:03}" for i in range(50)]  # each on one side
    table = pa.table({"x": range(50), "y": labels})
    sealed = likely.seal(table, "y", by_time="x", folder=tmp_path)
    found = " ".join(str(thing) for thing in everything_within(sealed))
    assert "label-000" in found, "training labels are there"
    assert not [label for label in labels[40:] if label in found]


def test_a_traceback_holds_no_label(tmp_path):
    labels = [f"label-{i % 5}-{'hidden' if i >= 40 else 'open'}" for i in range(50)]
    table = pa.table({"x": range(50), "y": labels})
    sealed = likely.seal(table, "y", by_time="x", folder=tmp_path)

    class Broken(LogisticRegression):
        def predict_proba(self, X):
            raise RuntimeError("broken")

        predict_log_proba = predict_proba

    try:
        sealed.final(Broken())
    except RuntimeError as error:
        inner = error.__traceback__.tb_next  # this test has the labels of course
        shown = traceback.TracebackException(type(error), error, inner, capture_locals=True)
        assert "label-0-open" in "".join(shown.format()), "locals are shown"
        assert "-hidden" not in "".join(shown.format())
    assert sealed.evaluations == 0


def public_callables():
    """(name, function) of all that ``likely`` offers, with the contents of its modules."""
    for name in likely.__all__:
        thing = getattr(likely, name)
        if isinstance(thing, ModuleType):
            for inner in dir(thing):  # also what is there without being public
                value = getattr(thing, inner)
                home = getattr(value, "__module__", "") or ""
                if not inner.startswith("_") and callable(value) and home.startswith("likely"):
                    yield f"{name}.{inner}", value
        elif callable(thing):
            yield name, thing


CALLABLES = dict(public_callables())
FUNCTIONS = {name: f for name, f in CALLABLES.items() if not inspect.isclass(f)}
ESTIMATORS = {
    name: c for name, c in CALLABLES.items() if hasattr(c, "get_params") and "." not in name
}
opened_files = []  # by audit: every file that Python opens, by whatever way


def _remember(event, arguments):
    if event == "open":
        opened_files.append(str(arguments[0]))


sys.addaudithook(_remember)


HANDS_BACK = {
    "special.identity",
    "information.lookup",
    "metrics.metric_named",
}  # what it was given, unseen
ASKS_FOR_ANOTHER_KIND = {  # and Python says so before anything is looked at
    "distributions.best_smoothing": "not callable",
    "errors.warn_user": "Warning subclass",
    "likelihood_ratio_test": "__dict__",
    "searches.explore": "keyword-only arguments",
    "searches.search_batch_size": "not callable",
    "searches.search_learning_rate": "not callable",
    "teaching.canonical_update": "keyword-only arguments",
}


def counts_of_arguments(function):
    """From as many as are required to as many as are taken, all of them the sealed object."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return range(1, 2)
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    taken = [parameter for parameter in parameters if parameter.kind in kinds]
    required = sum(parameter.default is inspect.Parameter.empty for parameter in taken)
    return range(max(required, 1), len(taken) + 1)


def test_the_calls_below_are_many():
    tried = sum(len(counts_of_arguments(f)) for n, f in FUNCTIONS.items() if n in REFUSING)
    assert tried >= 90
    assert {"save", "load", "read", "seal", "open_seal", "special.logsumexp"} <= set(REFUSING)


REFUSING = sorted(set(FUNCTIONS) - TAKES_THE_TRAINING_ROWS - HANDS_BACK)


OTHER_FORMS = [
    pytest.param(form, marks=pytest.mark.slow) for form in ("pandas", "polars", "escrow")
]


@pytest.fixture(scope="module", params=["arrow", *OTHER_FORMS])
def sealed_once(request, tmp_path_factory):
    """Every sealed object, made once: no test below may change it."""
    folder, table = tmp_path_factory.mktemp("sealed"), some_table()
    data = table if request.param in ("arrow", "escrow") else frame_of(table, request.param)
    kept = folder / "test-labels.bin" if request.param == "escrow" else None
    return likely.seal(data, "y", name="toy", folder=folder, escrow=kept)


@pytest.fixture
def guarded(sealed_once):
    """A sealed object; at the end its labels are unopened and its ledger has no look."""
    opened_files.clear()
    yield sealed_once
    assert not [path for path in opened_files if path.endswith("test-labels.bin")]
    assert sealed_once.evaluations == 0


def test_the_list_of_callables_is_not_empty():
    assert {"NaiveBayes", "save", "seal", "special.logsumexp"} <= set(CALLABLES)
    assert len(ESTIMATORS) > 15


@pytest.mark.parametrize("name", REFUSING)
def test_every_function_refuses_the_sealed_object(guarded, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function = FUNCTIONS[name]
    for count in counts_of_arguments(function):
        if name in ASKS_FOR_ANOTHER_KIND:
            with pytest.raises(TypeError, match=ASKS_FOR_ANOTHER_KIND[name]):
                function(*[guarded] * count)
        else:
            with pytest.raises((SealedData, InvalidInput)):
                function(*[guarded] * count)


@pytest.mark.parametrize("name", sorted(HANDS_BACK))
def test_some_functions_hand_back_what_they_got(guarded, name):
    function = FUNCTIONS[name]
    assert function(*[guarded] * len(inspect.signature(function).parameters)) is guarded


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_every_estimator_refuses_the_sealed_object(guarded, name):
    estimator = ESTIMATORS[name]
    model = estimator(ARGUMENT[name]) if name in ARGUMENT else _made(estimator)
    rows = TEXTS if takes_documents(estimator) else np.abs(X)  # some read counts
    with pytest.raises(SealedData):
        clone(model).fit(guarded, Y)
    if name not in IGNORES_Y:
        with pytest.raises(SealedData):
            clone(model).fit(rows, guarded)
    if "max_epochs" in model.get_params():
        model.set_params(max_epochs=2, tol=None)
    fitted = clone(model).fit(rows, Y)
    for method in ("predict", "predict_proba", "transform", "score_samples", "sample"):
        if callable(getattr(fitted, method, None)):
            with pytest.raises((SealedData, InvalidInput)):
                getattr(fitted, method)(guarded)


def _made(estimator):
    try:
        return estimator()
    except TypeError:
        return estimator(likely.NaiveBayes())


@pytest.mark.parametrize("name", sorted(c for c in CALLABLES if inspect.isclass(CALLABLES[c])))
def test_no_constructor_reads_the_sealed_object(guarded, name):
    """A constructor keeps the reference, or refuses; it opens nothing either way."""
    try:
        made = CALLABLES[name](guarded)
    except (SealedData, InvalidInput, TypeError):  # of missing arguments
        return
    with pytest.raises(SealedData):
        pickle.dumps(made)


@pytest.mark.parametrize("given", [np.zeros((400, 3)), pd.DataFrame(np.zeros((400, 3)))])
def test_data_in_place_of_a_model_are_named_by_their_shape(tmp_path, given):
    frame = pd.DataFrame({"a": np.arange(40.0), "y": ["u", "v"] * 20})
    sealed = likely.seal(frame, "y", name="t", folder=tmp_path)
    with pytest.raises(InvalidInput, match=r"Data of shape \(400, 3\) were given") as caught:
        sealed.final(given)
    assert "final(predictions=...)" in str(caught.value)
    assert len(str(caught.value)) < 250
    with pytest.raises(InvalidInput, match=r"The model is the class LogisticRegression \(without"):
        sealed.final(likely.LogisticRegression)
    with pytest.raises(
        InvalidInput, match=r"The model is \[0, 1, 2, .*… \(list\); expected a name"
    ):
        sealed.final(list(range(1000)))
    with pytest.raises(InvalidInput, match=r"The model is data of shape \(400, 3\)"):
        likely.compare(frame, "y", [given])
