"""Files with a right checksum and wrong values: refused, or a model whose answers are numbers."""

import json

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file

import likely
from likely.data.layouts.base import Csr
from likely.data.layouts.dense import Centred
from likely.data.layouts.intercept import Mixed
from likely.errors import InvalidFile, InvalidInput
from likely.graphical.exact.chain import FAST_ROWS, Chain
from likely.solvers import HeldOutPatience
from likely.storage.checks import fits
from likely.storage.model_file import load, save
from likely.storage.registry import (
    DECLARED,
    Classes,
    declared_by,
    estimator_class,
    estimator_names,
    kind_of,
)
from tests.storage.test_model_file import forge, header_of

rng = np.random.default_rng(0)
FRAME = pd.DataFrame({"x": rng.normal(size=60), "c": np.array(["a", "b", "c"])[np.arange(60) % 3]})
Y = (FRAME["x"] + rng.normal(size=60) > 0).astype(int).to_numpy()
NUMBERS = FRAME[["x"]].to_numpy()


def forged(tmp_path, model, *, header=lambda header: None, tensors=lambda tensors: None):
    """The path of a model's file after these changes, its checksum right."""
    path = tmp_path / "model.likely"
    save(model, path)
    orders = {name: order for name, (_, _, order) in header_of(path)["tensors"].items()}
    arrays = {
        name: np.ascontiguousarray(array.T) if orders[name] == "T" else array
        for name, array in load_file(path).items()
    }
    tensors(arrays)

    def edit(head):
        for name, array in arrays.items():
            head["tensors"][name] = [array.dtype.name, list(array.shape), "C"]
        header(head)

    forge(path, edit, arrays)
    return path


def setting(name, change):
    def edit(tensors):
        tensors[name] = np.ascontiguousarray(change(tensors[name]))

    return edit


def cell(value):
    def change(array):
        array = array.copy()
        array.flat[0] = value
        return array

    return change


LOGISTIC = likely.LogisticRegression().fit(FRAME, Y)
POISSON = likely.GLM("poisson").fit(FRAME, Y)
ORDINAL = likely.OrdinalRegression().fit(NUMBERS, np.arange(60) % 4)
BAYES = likely.NaiveBayes().fit(FRAME, Y)
MIXTURE = likely.GaussianMixture(2, random_state=0).fit(NUMBERS)
PLATT = likely.PlattScaling(likely.LogisticRegression(), cv=3).fit(NUMBERS, Y)
PREPARED = likely.Prepared(likely.LogisticRegression()).fit(FRAME, Y)
TIED = likely.DiscriminantAnalysis().fit(NUMBERS, Y)
FULL = likely.DiscriminantAnalysis(covariance="full").fit(NUMBERS, Y)
NETWORK = likely.BayesianNetworkClassifier().fit(FRAME[["c"]], Y)
BINNED = likely.BayesianNetworkClassifier().fit(NUMBERS, Y)
SPLINE = likely.BasisFunctions("spline", centres=5).fit(NUMBERS)
CALIBRATED = likely.NaiveBayes(calibrate="temperature").fit(FRAME, Y)
WITH_WORDS = likely.NaiveBayes({1: "multinomial", 2: "multinomial"}, calibrate="length").fit(
    np.abs(np.hstack([NUMBERS, NUMBERS, NUMBERS**2])), np.ravel(np.abs(NUMBERS) > 0.7)
)
PERCEPTRON = likely.NeuralNetworkClassifier(max_epochs=2, tol=None, random_state=0).fit(NUMBERS, Y)
REDUNDANT = likely.LinearRegression(solver="minimum-norm").fit(np.hstack([NUMBERS, NUMBERS]), Y)
REGRESSOR = likely.NeuralNetworkRegressor((), solver="lbfgs", random_state=0).fit(NUMBERS, Y)
ORDERED = likely.NeuralNetworkClassifier(
    (2,), response="ordinal", max_epochs=2, tol=None, random_state=0
).fit(NUMBERS, np.arange(60) % 3)
DEEP = likely.NeuralNetworkClassifier((1,) * 20, max_epochs=1, tol=None, random_state=0)
DEEP.fit(NUMBERS, Y)
AVERAGE = likely.NeuralNetworkClassifier((), n_networks=2, max_epochs=1, tol=None, random_state=0)
AVERAGE.fit(NUMBERS, Y)
EARLY = likely.LinearRegression(l1=0.1, stop=HeldOutPatience(3)).fit(NUMBERS, Y)
HALL = likely.FrankHall(likely.NaiveBayes(), order=[0, 1, 2]).fit(NUMBERS, np.arange(60) % 3)
VALUES = [
    (ORDERED, setting("parameters_", lambda x: 1e6 * x), "The thresholds of the classes must be"),
    (ORDERED, setting("parameters_", cell(1e10)), "parameters_ must be at most 1e9"),
    (DEEP, setting("parameters_", lambda x: 1e8 + 0 * x), "largest weights of the layers must be"),
    (AVERAGE, setting("average_.parameters", cell(1e10)), "parameters_ must be at most 1e9"),
    (AVERAGE, setting("average_.parameters", cell(np.nan)), "parameters_ must be at most 1e9"),
    (LOGISTIC, setting("classes_", lambda x: np.array([0.0, np.nan])), "classes_ must be text or"),
    (LOGISTIC, setting("classes_", lambda x: np.array([0.0, np.inf])), "classes_ must be text or"),
    (LOGISTIC, setting("classes_", np.zeros_like), "different labels of classes_ has 1"),
    (LOGISTIC, setting("coef_", cell(np.nan)), "coef_ must be finite"),
    (LOGISTIC, setting("coef_", cell(1e308)), "coef_ must be finite"),
    (LOGISTIC, setting("coef_", lambda x: x.astype(np.int64)), "expected float64"),
    (LOGISTIC, setting("classes_", lambda x: x[:1]), "classes_ has 1 entries where 2"),
    (LOGISTIC, setting("inference_.covariance", np.negative), "variances must be 0 or more"),
    (LOGISTIC, setting("inference_.covariance", cell(np.inf)), "covariance must be finite"),
    (
        LOGISTIC,
        setting("inference_.covariance", lambda x: 9 - 8 * np.eye(len(x))),
        "positive semidefinite",
    ),
    (LOGISTIC, setting("inference_.theta", lambda x: x[:-2]), "theta has 3 entries"),
    (POISSON, setting("inference_.theta", cell(np.nan)), "theta must be finite"),
    (ORDINAL, setting("thresholds_", lambda x: x[::-1]), "thresholds_ must be in increasing order"),
    (ORDINAL, setting("thresholds_", cell(np.nan)), "thresholds_ must be at most 1e15"),
    (BAYES, setting("components_.log_mixing", cell(3.0)), "log_mixing must be logs of prob"),
    (MIXTURE, setting("components_.distribution.covariance", np.negative), "positive"),
    (MIXTURE, setting("components_.distribution.mean", cell(1e200)), "at most 1e150"),
    (PLATT, setting("a_", cell(np.inf)), "a_ must be finite"),
    (CALIBRATED, setting("outlier_share_", cell(np.nan)), "outlier_share_ must be from 0"),
    (CALIBRATED, setting("outlier_share_", lambda x: x[:1]), "outlier_share_ has"),
    (WITH_WORDS, setting("outlier_share_", lambda x: x[:1]), "outlier_share_ has"),
    (PERCEPTRON, setting("column_strengths_", lambda x: x[:0]), "column_strengths_ has"),
    (REDUNDANT, setting("inference_.root", lambda x: x[:, 0]), "The shape of root has 1"),
    (SPLINE, lambda tensors: _near(tensors), "distances of knots must be at least"),
]


def _near(tensors):
    """Knots so near to each other that their distance cannot be divided by."""
    for name, array in tensors.items():
        if name.startswith("centres_"):
            tensors[name] = np.arange(len(array)) * 1e-320


@pytest.mark.parametrize(("model", "change", "message"), VALUES)
def test_values_that_no_fit_gives_are_refused(tmp_path, model, change, message):
    with pytest.raises(InvalidFile, match=message):
        load(forged(tmp_path, model, tensors=change))


HEADERS = [
    (EARLY, lambda head: head["fitted"].pop("held_out_"), "has held_out_, which the file does"),
    (EARLY, lambda head: head["fitted"].update(held_out_=3), "held_out_ is '3'"),
    (BAYES, lambda head: _family(head)[1]["sizes"]["tuple"].append(2), r"and its family is Cat"),
    (
        BAYES,
        lambda head: _parts(head)[1]["part"][1].update(family={"class": "Bernoulli"}),
        r"Codes or numbers has True entries where False",
    ),
    (BAYES, lambda head: _members(head).reverse(), "The distribution is of CategoricalFamily"),
    (BAYES, lambda head: _selections(head).reverse(), "The columns that the distribution reads"),
    (LOGISTIC, lambda head: head["fitted"].pop("coef_"), "has coef_, which the file does not"),
    (LOGISTIC, lambda head: head["fitted"].update(likelihood_=True), "likelihood_ is 'True'"),
    (LOGISTIC, lambda head: head["arguments"].update(max_iter="x"), "max_iter"),
    (LOGISTIC, lambda head: head["fitted"].update(n_features_in_=10**400), "n_features_in_"),
    (
        LOGISTIC,
        lambda head: head["fitted"]["inference_"]["part"][1].update(df_residual=-3.0),
        "df_residual must be",
    ),
    (
        LOGISTIC,
        lambda head: head["fitted"]["inference_"]["part"][1].update(n_null={"float": "-inf"}),
        "n_null must be finite",
    ),
    (POISSON, lambda head: head["fitted"].update(dispersion_=-1.0), "dispersion_ must be 0 or"),
    (BAYES, lambda head: head["fitted"].update(temperature_=-1.0), "temperature_ must be above 0"),
    (
        WITH_WORDS,
        lambda head: head["fitted"].update(other_temperature_=-1.0),
        "other_temperature_ must be above 0",
    ),
    (
        WITH_WORDS,
        lambda head: head["fitted"].update(lowest_density_={"float": "nan"}),
        "lowest_density_ must be finite",
    ),
    (BAYES, lambda head: head["fitted"].update(schema_=3), "schema_ is '3', a int"),
    (PLATT, lambda head: head["fitted"].pop("estimator_"), "has estimator_"),
    (PREPARED, lambda head: _steps(head).pop(), "steps has 1 entries where 2"),
    (TIED, lambda head: head["arguments"].update(covariance="full"), "The covariances"),
    (TIED, lambda head: head["arguments"].update(covariance="diagonal"), "The matrices of the"),
    (FULL, lambda head: head["arguments"].update(covariance="tied"), "The covariances"),
    (REGRESSOR, lambda head: head["arguments"].update(link={"dict": []}), r"link=…\) is '{}'"),
    (REGRESSOR, lambda head: head["arguments"].update(response=[1]), r"response=…\) is"),
    (REGRESSOR, lambda head: head["fitted"].pop("column_strengths_"), "has column_strengths_"),
    (PREPARED, lambda head: head["fitted"].pop("preparation_"), "has preparation_"),
    (LOGISTIC, lambda head: head["fitted"].update(library_=[]), "library_ is"),
    (HALL, lambda head: _cuts(head)[0].update(classes_={"text": [[2], ["a", "b"]]}), "of an estim"),
    (HALL, lambda head: _cuts(head)[0].update(n_features_in_=7), "kinds has 1"),
    (BINNED, lambda head: _bins(head).update(bins=None), "The bins has 0 entries where 1"),
    (NETWORK, lambda head: _graph(head).update(fit_report=[1]), "fit_report of a graph is a list"),
    (NETWORK, lambda head: _report(head).update(solution=True), "solution is 'True'"),
]


def _cuts(head):
    return [each["model"]["fitted"] for each in head["fitted"]["estimators_"]]


def _steps(head):
    return head["fitted"]["preparation_"]["part"][1]["steps"]["tuple"]


def _parts(head):
    return head["fitted"]["family_"]["part"][1]["parts"]["tuple"]


def _family(head):
    """The name and the fields of the family of categories."""
    return _parts(head)[1]["part"][1]["family"]["part"]


def _members(head):
    return _product(head)["parts"]["tuple"]


def _selections(head):
    return _product(head)["selections"]["tuple"]


def _product(head):
    return head["fitted"]["components_"]["part"][1]["distribution"]["part"][1]


def _bins(head):
    return head["fitted"]["columns_"]["part"][1]


def _graph(head):
    return head["fitted"]["network_"]["model"]["arguments"]


def _report(head):
    found = [head]
    for part in found:  # grows
        found += list(part.values()) if isinstance(part, dict) else []
        found += part if isinstance(part, list) else []
    return next(part for part in found if isinstance(part, dict) and "log_likelihood" in part)


@pytest.mark.parametrize(("model", "change", "message"), HEADERS)
def test_headers_that_no_fit_gives_are_refused(tmp_path, model, change, message):
    with pytest.raises(InvalidFile, match=message):
        load(forged(tmp_path, model, header=change))


def test_p_of_a_tweedie_response_is_checked_by_its_constructor(tmp_path):
    model = likely.GLM(likely.likelihoods.Tweedie(1.5), link="log").fit(NUMBERS, Y + 0.5)

    for wrong in ("7.0", "3.0"):  # no distribution; another one than that of the variance function

        def edit(header, wrong=wrong):
            text = json.dumps(header).replace('"power": 1.5', f'"power": {wrong}')
            header.update(json.loads(text))

        with pytest.raises(InvalidFile, match="power"):
            load(forged(tmp_path, model, header=edit))


def test_every_estimator_that_can_be_saved_says_what_it_learns():
    for name in estimator_names():
        declared = declared_by(estimator_class(name))
        assert declared.always, name


def test_an_estimator_without_declarations_cannot_be_saved(tmp_path, monkeypatch):
    monkeypatch.delattr(likely.Discretizer, "saved")
    monkeypatch.delitem(DECLARED, likely.Discretizer, raising=False)
    with pytest.raises(InvalidInput, match="does not declare what fit learns"):
        save(likely.Discretizer().fit(NUMBERS), tmp_path / "m.likely")


def test_an_attribute_that_no_class_declares_is_neither_saved_nor_loaded(tmp_path):
    bins = likely.Discretizer().fit(NUMBERS)
    path = forged(tmp_path, bins, header=lambda head: head["fitted"].update(note_="x"))
    with pytest.raises(InvalidFile, match="it has note_, which Discretizer does not learn"):
        load(path)
    bins.note_ = "x"
    with pytest.raises(InvalidInput, match="note_ is not declared by its class"):
        save(bins, tmp_path / "m.likely")


def test_an_interval_of_many_rows_reads_no_foreign_memory(tmp_path):
    """The estimates of another model: compiled loops would read past the end of their arrays."""
    other = likely.LogisticRegression().fit(NUMBERS, Y)
    path = tmp_path / "other.likely"
    save(other, path)
    small = load_file(path)

    def swap(tensors):
        for name in ("inference_.theta", "inference_.covariance"):
            tensors[name] = small[name]

    with pytest.raises(InvalidFile):
        load(forged(tmp_path, LOGISTIC, tensors=swap))


def large(n_columns=2):
    return rng.normal(size=(60_000, n_columns))


@pytest.mark.parametrize(
    "ask",
    [
        lambda: Mixed(large(1), np.zeros((60_000, 1), np.int32), (3,)).matmat(np.zeros(2)),
        lambda: Mixed(large(1), np.zeros((60_000, 1), np.int32), (3,)).rmatmat(np.zeros(5)),
        lambda: Mixed(large(1), np.zeros((60_000, 1), np.int32), (3,)).sandwich(np.zeros(60_001)),
        lambda: Mixed(large(1), np.zeros((60_000, 1), np.int32), (3,)).row_quadratic(np.eye(3)),
        lambda: Centred(large(), np.zeros(2)).matmat(np.zeros(1)),
        lambda: Centred(large(), np.zeros(1)).matmat(np.zeros(2)),
        lambda: Centred(large(), np.zeros(2)).rmatmat(np.zeros(3)),
        lambda: Csr(pytest.importorskip("scipy.sparse").csr_array(large())).row_quadratic(
            np.eye(1)
        ),
        lambda: Chain(np.zeros(2), np.zeros((2, 2))).beliefs(
            np.zeros((FAST_ROWS, 1)), np.array([FAST_ROWS])
        ),
        lambda: Chain(np.zeros(2), np.zeros((1, 2))).most_probable(
            np.zeros((FAST_ROWS, 2)), np.array([FAST_ROWS])
        ),
    ],
)
def test_compiled_loops_are_not_given_arrays_that_are_too_short(ask):
    with pytest.raises(ValueError, match=r"shape|given for"):
        ask()


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (1, float, True),
        (True, float, False),
        (10**400, float, False),
        (np.int64(3), int, True),
        (2.0, int, False),
        ((1, 2), tuple[int, ...], True),
        ((1, "a"), tuple[int, ...], False),
        ((1, "a"), tuple[int, str], True),
        (None, int | None, True),
        ([1], list[int], True),
        (np.zeros(2), list[int], False),
    ],
)
def test_values_fit_their_annotations(value, kind, expected):
    assert fits(value, kind_of(kind), Classes()) is expected
