"""The table of bad input: what each estimator says to each kind of it."""

import re
import warnings
from inspect import signature

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from likely import (
    BayesianNetworkClassifier,
    Discretizer,
    LinearRegression,
    LogCountRatios,
    LogisticRegression,
    NaiveBayes,
    NeuralNetworkRegressor,
    Prepared,
)
from likely.errors import InvalidInput, LikelyError
from tests.estimators import made, public_estimators, text_estimators

X = np.array([[i, (i + 3) % 7 + i / 4] for i in range(12)])
Y = np.array([0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1])
FRAME = pd.DataFrame(X, columns=["size", "age"])
WORDS = np.array([["a", "b"], ["c", "b"], ["a", "d"]] * 4)


def at(value, row=2, column=1):
    changed = X.copy()
    changed[row, column] = value
    return changed


def replaced(value, row=2):
    return [value if i == row else label for i, label in enumerate(Y.tolist())]


def groups_of(kind):
    """What an estimator is, by its own tags and arguments: the most particular first."""
    tags, takes = get_tags(made(kind)), signature(kind).parameters
    return [kind.__name__] + [
        name
        for name, belongs in {
            "wraps": "estimator" in takes,
            "classifier": tags.estimator_type == "classifier",
            "regressor": tags.estimator_type == "regressor",
            "supervised": tags.target_tags.required,
            "linear": not tags.input_tags.allow_nan,  # and what is made of linear models
            "transformer": tags.transformer_tags is not None and tags.estimator_type is None,
            "all": True,
        }.items()
        if belongs
    ]


GROUPS = {kind: groups_of(kind) for kind in public_estimators()}
every_kind = pytest.mark.parametrize("kind", GROUPS, ids=lambda kind: kind.__name__)
every_classifier = pytest.mark.parametrize(
    "kind", [k for k in GROUPS if "classifier" in GROUPS[k]], ids=lambda kind: kind.__name__
)


def answer(model, data):
    """Of the answers a model gives, the most telling."""
    names = ("transform", "predict_proba", "predict")
    return getattr(model, next(name for name in names if hasattr(model, name)))(data)


FINE = None  # the cell is allowed
ONE_CLASS = {
    "NaiveBayes": FINE,
    "BayesianNetworkClassifier": FINE,
    "classifier": r"only one class, 0.*Check the target",
}
COLUMNS = "'x0', 'x1' can be computed.*Drop the column"  # a warning; here warnings are errors

TABLE = {  # kind of input: (X, y, fit options, {group: message}), the first group that has one
    "infinity": (
        at(np.inf),
        Y,
        {},
        {
            "linear": r"infinity.*row 2, column 'x1'.*finite number.*Fill it",
            "transformer": r"inf \(infinity\) at row 2, column 1.*Replace",
            "all": r"Row 2, column 'x1': found inf.*Remove",
        },
    ),
    "minus infinity": (at(-np.inf), Y, {}, {"all": r"inf.*(Fill|Replace|Remove)"}),
    "infinity in a frame": (FRAME.replace(X[2, 1], np.inf), Y, {}, {"all": r"ow 2, column 'age'"}),
    "missing": (
        at(np.nan),
        Y,
        {},
        {
            "linear": r"contains NaN: row 2, column 'x1'.*Fill it.*likely.Prepared.*NaiveBayes",
            "all": FINE,
        },
    ),
    "missing text": (
        pd.DataFrame({"town": [None, *"ab" * 5, "a"]}),
        Y,
        {},
        {
            "linear": r"Row 0, column 'town': .*contains NaN.*no category.*Fill it",
            "transformer": r"Column 'town' holds strings, such as 'a'; expected numbers.*convert",
            "HiddenMarkovModel": FINE,
            "MixtureModel": FINE,
            "Prepared": FINE,
            "NaiveBayes": FINE,
            "BayesianNetworkClassifier": FINE,
            "AdditiveModel": FINE,
            "AdditiveClassifier": FINE,
            "all": r"Column 'town' must hold numbers; found text. Convert it",
        },
    ),
    "one class": (X, np.zeros(12), {}, {**ONE_CLASS, "all": FINE}),
    "one row": (
        X[:1],
        Y[:1],
        {},
        {
            **ONE_CLASS,
            "PenaltyPath": r"folds need 2 or more",
            "NeuralNetworkRegressor": FINE,  # redundant columns do no harm
            "AdditiveModel": FINE,
            "regressor": COLUMNS,
            **dict.fromkeys(
                ("GaussianMixture", "HiddenMarkovModel", "MixtureModel", "NaiveBayes"),
                r"'x0', 'x1' are constant.*no column is left.*Drop them",
            ),
            "all": FINE,
        },
    ),
    "zero weights": (X, Y, {"sample_weight": np.zeros(12)}, {"all": r"at least one non-zero"}),
    "negative weights": (X, Y, {"sample_weight": -np.ones(12)}, {"all": r"Negative values"}),
    "missing weights": (X, Y, {"sample_weight": np.full(12, np.nan)}, {"all": r"row 0 has nan"}),
    "too few weights": (
        X,
        Y,
        {"sample_weight": [1.0]},
        {"HiddenMarkovModel": FINE, "all": r"sample_weight.*\(1,\)"},  # of one sequence
    ),
    "words for weights": (X, Y, {"sample_weight": ["a"] * 12}, {"all": r"hold numbers.*'a'. Pass"}),
    "no rows": (X[:0], Y[:0], {}, {"all": r"0 sample\(s\)"}),
    "no columns": (X[:, :0], Y, {}, {"all": r"0 feature\(s\)"}),
    "an empty frame": (pd.DataFrame({"a": []}), Y[:0], {}, {"all": r"0 sample\(s\)"}),
    "one dimension": (X[:, 0], Y, {}, {"all": r"Expected 2D array, got 1D"}),
    "three dimensions": (X[:, :, None], Y, {}, {"MaxEntropy": FINE, "all": r"dim 3"}),
    "complex numbers": (X + 1j, Y, {}, {"all": r"Complex data not supported"}),
    "columns of one name": (pd.DataFrame(X, columns=["a", "a"]), Y, {}, {"all": r"name.*Rename"}),
    "times": (
        pd.DataFrame({"day": pd.to_datetime(["2024-01-01"] * 12)}),
        Y,
        {},
        {"Prepared": r"'day' can be computed", "all": r"Column 'day' holds.*convert"},
    ),
    "text": (
        WORDS,
        Y,
        {},
        {
            "transformer": r"X holds strings, such as 'a'; expected numbers.*convert",
            "DiscriminantAnalysis": r"Column 0 must hold numbers; found text",
            "GaussianMixture": r"Column 0 must hold numbers; found text",
            "all": FINE,
        },
    ),
    "a file that is not there": (
        "rows.csv",
        "label",
        {},
        {
            "wraps": r"X is a file; \w+ takes rows in memory. Read it",
            "transformer": r"X is a file; \w+ takes rows in memory. Read it",
            "Prepared": r"X is a file; \w+ takes rows in memory. Read it",
            "BayesianNetworkClassifier": r"X is a file; \w+ takes rows in memory. Read it",
            "HiddenMarkovModel": r"X is a file; \w+ takes rows in memory. Read it",
            "PenaltyPath": r"X is a file, and cv=3 needs rows in memory.*Read it",
            "all": r"rows.csv: there is no such file. Check the path",
        },
    ),
    "too few labels": (
        X,
        Y[:3],
        {},
        {
            "supervised": r"X has 12 rows and y has 3",
            "HiddenMarkovModel": r"y has 3 entries and X has 12 rows.*lengths",
            "all": FINE,
        },
    ),
    "no labels": (X, None, {}, {"supervised": r"requires y to be passed.*Pass one", "all": FINE}),
    "missing labels": (
        X,
        replaced(np.nan),
        {},
        {
            "classifier": r"NaN: the label of row 2 is missing.*NaiveBayes\(unlabelled",
            "regressor": r"y contains NaN: row 2 has nan.*Fix it",
            "all": FINE,
        },
    ),
    "infinite labels": (
        X,
        replaced(np.inf),
        {},
        {
            "classifier": r"y contains infinity: the label of row 2.*Fix it",
            "regressor": r"y contains infinity: row 2 has inf.*Fix it",
            "all": FINE,
        },
    ),
    "labels of two types": (
        X,
        replaced("a"),
        {},
        {
            "classifier": r"of several types \(int, str\).*Make them all text",
            "regressor": r"y must hold numbers.*'a'. Use a classifier",
            "all": FINE,
        },
    ),
    "continuous labels": (
        X,
        np.linspace(0, 1, 12),
        {},
        {"classifier": r"label type: continuous", "all": FINE},
    ),
    "labels in three dimensions": (
        X,
        np.zeros((12, 1, 2)),
        {},
        {"supervised": r"dim 3, while dim <= 2", "all": FINE},
    ),
    "a column that is not there": (
        FRAME,
        "agee",
        {},
        {"supervised": r"no column 'agee'.*Did you mean 'age'", "all": FINE},
    ),
}

COUNTS = r"Column (0|'town') must hold numbers; found text. Convert it"
OF_RATIOS = {  # a transformer that reads counts, as naive Bayes does, and labels of classes
    "infinity": r"Row 2, column 'x1': found inf.*Remove",
    "missing": r"counts must not be missing.*Fill it",
    "missing text": COUNTS,
    "text": COUNTS,
    "one class": r"y has one class, 0.*Give rows of another class",
    "one row": r"y has one class, 0.*Give rows of another class",
    "a file that is not there": TABLE["a file that is not there"][3]["all"],
    **{
        name: TABLE[name][3]["classifier"]
        for name in TABLE
        if "label" in name and "classifier" in TABLE[name][3]
    },
}
for name, message in OF_RATIOS.items():
    TABLE[name][3]["LogCountRatios"] = message


def cells():
    for kind, groups in GROUPS.items():
        for name, (data, y, options, messages) in TABLE.items():
            message = messages[next(group for group in groups if group in messages)]
            yield pytest.param(kind, data, y, options, message, id=f"{kind.__name__}-{name}")


@pytest.mark.filterwarnings("ignore::likely.errors.NothingToCalibrate")  # twelve rows say little
@pytest.mark.filterwarnings("ignore:NeuralNetworkRegressor has learned nothing")  # of one value
@pytest.mark.parametrize(("kind", "data", "y", "options", "message"), list(cells()))
def test_the_table(kind, data, y, options, message):
    if message is not FINE:
        with pytest.raises((ValueError, TypeError, UserWarning), match=rf"(?s){message}"):
            made(kind).fit(data, y, **options)
        return
    model = made(kind).fit(data, y, **options)
    assert len(answer(model, data)) == len(data)


def fitted(kind, data=X, y=Y):
    """A fit that may warn: of columns that never vary, of scores that tell nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return made(kind).fit(data, y)


@every_kind
def test_constant_columns_are_survived(kind):
    constant = np.column_stack([X, np.ones(12)])
    assert np.isfinite(answer(fitted(kind, constant), constant)).all()


@pytest.mark.parametrize(
    "kind", [k for k in GROUPS if "regressor" in GROUPS[k]], ids=lambda kind: kind.__name__
)
def test_columns_of_one_word_leave_the_mean(kind):
    words = np.array([["a", "b"]] * 12)
    near = {"rtol": 0.1} if kind is NeuralNetworkRegressor else {}  # trained, not solved
    assert np.allclose(answer(made(kind).fit(words, X[:, 0]), words), X[:, 0].mean(), **near)


@every_classifier
def test_string_labels_are_fine(kind):
    words = np.array(["no", "yes"])[Y]
    assert set(fitted(kind, y=words).predict(X)) <= {"no", "yes"}


@every_kind
def test_answers_before_a_fit_are_refused(kind):
    with pytest.raises(NotFittedError, match=rf"{kind.__name__} instance is not fitted yet"):
        answer(made(kind), X)


@every_kind
@pytest.mark.parametrize(
    ("columns", "message"),
    [(["size", "aeg"], r"aeg"), (["size"], r"age"), (["age", "size"], r"same order")],
    ids=["renamed", "missing", "swapped"],
)
def test_other_columns_at_prediction_are_refused(kind, columns, message):
    model = fitted(kind, FRAME)
    with pytest.raises(ValueError, match=rf"(?s)feature names should match.*{message}"):
        answer(model, pd.DataFrame(X[:, : len(columns)], columns=columns))


WRONG_ROWS = {  # at prediction: (X, {group: message})
    "a column more": (np.ones((2, 3)), {"all": r"X has 3 features, but \w+ is expecting 2"}),
    "no rows": (X[:0], {"all": r"0 sample\(s\)"}),
    "text": (
        WORDS,
        {
            "LogCountRatios": COUNTS,
            "transformer": r"X holds strings.*convert",
            "all": r"found text. Convert",
        },
    ),
    "a file": ("rows.csv", {"all": r"X is a file; .* takes rows in memory. Read it"}),
    "missing": (
        at(np.nan),
        {
            "LogCountRatios": OF_RATIOS["missing"],
            "linear": r"NaN: row 2, column 'x1'.*Fill it",
            "all": FINE,
        },
    ),
    "infinity": (
        at(np.inf),
        {
            "LogCountRatios": OF_RATIOS["infinity"],
            "linear": r"infinity.*row 2, column 'x1'.*Fill it",
            "transformer": r"infinity\) at row 2, column 1.*Replace",
            "all": r"Row 2, column 'x1': found inf.*Remove",
        },
    ),
}


@every_kind
@pytest.mark.parametrize("name", WRONG_ROWS)
def test_rows_at_prediction_are_checked(kind, name):
    data, messages = WRONG_ROWS[name]
    message = messages[next(group for group in GROUPS[kind] if group in messages)]
    model = fitted(kind)
    if message is FINE:
        assert len(answer(model, data)) == len(data)
        return
    with pytest.raises(ValueError, match=rf"(?s){message}"):
        answer(model, data)


ARGUMENTS = {  # argument: (a wrong value, what every estimator that takes it says)
    "executor": ("seral", r"no executor 'seral'.*Did you mean 'serial'"),
    "solver": ("lbfg", r"no solver 'lbfg'.*Did you mean 'lbfgs'"),
    "covariance": ("dull", r"no covariance 'dull'; choose one of"),
    "link": ("logitt", r"no link.* 'logitt'.*Did you mean 'logit'"),
    "l1": (np.nan, r"l1=nan is not a strength.*Use 0"),
    "l2": (-1.0, r"l2=-1 is not a strength.*Use 0"),
    "cv": (1, r"cv is 1; expected a number of folds, 2 or more.*Use 5"),
    "order": ([0], r"y has the label 1; the order is 0. Add"),
    "reference": ("x", r"no class for reference 'x'|a mapping from columns to categories"),
    "model": (NaiveBayes(), r"model is NaiveBayes; a path of penalties is for.*Use one"),
    "n_penalties": (0, r"n_penalties is 0; expected a whole number.*Use 100"),
    "degree": (0, r"degree is 0; expected a whole number.*Use 2"),
    "basis": ("radal", r"no basis 'radal'.*Did you mean 'radial'"),
    "width": (-1.0, r"width is -1.0; expected a positive number.*Leave it out"),
    "strategy": ("quantle", r"no strategy 'quantle'.*Did you mean 'quantile'"),
}
TAKEN = [
    (k, name)
    for k in GROUPS
    for name in ARGUMENTS
    if name in signature(k).parameters and (k is not Prepared or name != "model")  # it takes any
]


@pytest.mark.parametrize(
    ("kind", "name"), TAKEN, ids=[f"{kind.__name__}-{name}" for kind, name in TAKEN]
)
def test_a_wrong_argument_is_named(kind, name):
    value, message = ARGUMENTS[name]
    with pytest.raises(InvalidInput, match=message):
        made(kind, **{name: value}).fit(X, Y)


@every_kind
def test_numbers_whose_squares_overflow_are_named(kind):
    data = np.random.default_rng(0).normal(size=(60, 3)) * [1.0, 1e200, 1.0]
    data = np.abs(data) if kind is LogCountRatios else data
    # they compare or add, and multiply nothing
    if kind in (Discretizer, BayesianNetworkClassifier, LogCountRatios):
        assert len(answer(made(kind).fit(data, np.arange(60) % 2), data)) == 60
        return
    with pytest.raises(InvalidInput, match=r"(x1|rows of X).* (overflow|largest number).*Divide"):
        answer(made(kind).fit(data, np.arange(60) % 2), data)


N = len(X)
PEERS_WORDS = (  # what scikit-learn says well, and its own checks expect
    "np.matrix is not supported|Sparse data was passed|only supported if all input features|"
    "Input should have at least 1 dimension|y should be a 1d array|Mix of label input types|"
    "Input y_true contains NaN"
)
WRONG_X = {
    "None": None,
    "a number": 3,
    "a list of numbers": [1.0, 2.0],
    "rows of unequal length": [[1.0, 2.0], [3.0]] * (N // 2),
    "1-d": X[:, 0],
    "3-d": X[:, :, None],
    "too few rows": X[:-2],
    "no rows": X[:0],
    "no columns": X[:, :0],
    "complex": X + 1j,
    "a function": len,
    "a set": {1, 2},
    "a dictionary": {1: 2},
    "records": np.zeros(N, dtype=[("a", float), ("b", int)]),
    "a matrix": X.view(np.matrix),
    "sparse": csr_array(X),
    "times": np.full((N, 2), "2020-01-01", "M8[D]"),
    "durations": np.ones((N, 2), "m8[s]"),
    "bytes": np.full((N, 2), b"a"),
    "two columns of one name": pd.DataFrame(X, columns=["a", "a"]),
    "names in levels": pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)])),
    "names of two types": pd.DataFrame(X, columns=["a", 1]),
    "dates": pd.DataFrame({"d": pd.date_range("2020-01-01", periods=N), "a": X[:, 0]}),
    "periods": pd.DataFrame({"d": pd.period_range("2020-01", periods=N, freq="M"), "a": X[:, 0]}),
    "intervals": pd.DataFrame({"d": pd.cut(X[:, 0], 3), "a": X[:, 1]}),
    "lists in cells": pd.DataFrame({"d": [[1, 2]] * N, "a": X[:, 1]}),
    "dates of polars": pl.DataFrame({"d": pd.date_range("2020-01-01", periods=N).to_numpy()}),
}
WRONG_Y = {
    "None": None,
    "a text": "abc",
    "a number": 3,
    "too short": Y[:-2],
    "two columns": np.c_[Y, Y],
    "3-d": np.zeros((N, 1, 1)),
    "rows of unequal length": [[1], [1, 2]] * (N // 2),
    "complex": Y + 1j,
    "records": np.zeros(N, dtype=[("a", float)]),
    "missing": np.where(Y, np.nan, 0.0),
    "infinite": np.where(Y, np.inf, 0.0),
    "a set": {1, 2},
    "a function": len,
    "sparse": csr_array(Y[None, :]),
}
WRONG_WEIGHTS = {
    "too short": np.ones(N - 2),
    "negative": -np.ones(N),
    "all 0": np.zeros(N),
    "missing": np.full(N, np.nan),
    "infinite": np.full(N, np.inf),
    "texts": np.full(N, "a"),
    "two columns": np.ones((N, 2)),
    "complex": np.ones(N) + 1j,
    "times": np.ones(N, "M8[s]"),
    "nothing": np.full(N, None),
}


def untaught(call):
    """What a call raises, where it is neither ours nor one of scikit-learn's clear messages."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call()
        except (LikelyError, NotFittedError):
            return None
        except Exception as error:
            clear = type(error) in (ValueError, TypeError) and re.search(PEERS_WORDS, str(error))
            return None if clear else f"{type(error).__name__}: {error}"
    return None


@every_kind
def test_whatever_is_wrong_the_message_teaches(kind):
    """No error of NumPy, pandas, narwhals or Python comes through, whatever X, y or weights are."""
    target = Y if kind is not NeuralNetworkRegressor else X[:, 0]
    model = made(kind, **({"max_epochs": 1} if "max_epochs" in signature(kind).parameters else {}))
    calls = {
        f"X {name}": lambda data=data: clone(model).fit(data, target)
        for name, data in WRONG_X.items()
    }
    if get_tags(model).target_tags.required:
        calls |= {f"y {name}": lambda y=y: clone(model).fit(X, y) for name, y in WRONG_Y.items()}
    if "sample_weight" in signature(kind.fit).parameters:
        calls |= {
            f"weights {name}": lambda weight=weight: clone(model).fit(
                X, target, sample_weight=weight
            )
            for name, weight in WRONG_WEIGHTS.items()
        }
    found = {name: untaught(call) for name, call in calls.items()}
    assert {name: said for name, said in found.items() if said} == {}


@pytest.mark.parametrize("kind", text_estimators(), ids=lambda kind: kind.__name__)
def test_whatever_documents_are_the_message_teaches(kind):
    found = {
        name: untaught(lambda data=data: made(kind).fit(data, Y)) for name, data in WRONG_X.items()
    }
    assert {name: said for name, said in found.items() if said} == {}


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, name)
        for kind in GROUPS
        for name in ("negative", "all 0", "complex", "times", "two columns", "too short", "missing")
        if "sample_weight" in signature(kind.fit).parameters
    ],
    ids=str,
)
def test_no_wrong_weights_are_taken(kind, name):
    with pytest.raises((ValueError, TypeError)), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made(kind).fit(X, Y, sample_weight=WRONG_WEIGHTS[name])


@pytest.mark.parametrize("y", [WRONG_Y["records"], np.ones(N, "M8[s]"), np.ones(N, "m8[s]")])
def test_times_and_records_are_no_numbers_to_be_predicted(y):
    with pytest.raises(InvalidInput, match="y must hold numbers; found values of the type"):
        LinearRegression().fit(X, y)


def test_a_classifier_of_shares_names_the_model_for_them():
    with pytest.raises(InvalidInput, match=r'such as 0.3; .*GLM\("bernoulli"\)'):
        LogisticRegression().fit(X, np.where(Y, 0.3, 1.0))
    with pytest.raises(InvalidInput, match=r"such as 1.5; .*numbers are for a GLM"):
        LogisticRegression().fit(X, np.where(Y, 1.5, 1.0))
    with pytest.raises(InvalidInput, match=r'GLM\("bernoulli"\) takes the share'):
        LogisticRegression().fit(X, np.c_[Y, 1 - Y])


@pytest.mark.parametrize("name", ["dates", "periods", "dates of polars", "times"])
def test_dates_name_what_reads_them(name):
    with pytest.raises(InvalidInput, match=r"neither numbers.*Prepared\(model\) reads dates"):
        LogisticRegression().fit(WRONG_X[name], Y)
    if name == "dates":
        assert len(Prepared(LogisticRegression()).fit(WRONG_X[name], Y).predict(WRONG_X[name])) == N


def test_rows_of_unequal_length_are_named():
    with pytest.raises(InvalidInput, match="row 0 has 2 cells and row 2 3 cells"):
        LogisticRegression().fit([[1, 2], [1, 2], [1, 2, 3]], [0, 1, 0])
    with pytest.raises(InvalidInput, match="row 0 has 2 cells and row 1 one value"):
        Discretizer().fit([[1, 2], 3], [0, 1])


@pytest.mark.parametrize("y", [Y[:-1], None])
def test_labels_to_be_scored_are_one_for_each_row(y):
    for kind in (LogisticRegression, NaiveBayes):
        with pytest.raises(ValueError, match=r"y has 11\. Pass one|requires y"):
            fitted(kind).score(X, y)
