"""The table of bad input: what each estimator says to each kind of it."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError

import likely
from likely import Discretizer, DiscriminantAnalysis, GaussianMixture, MixtureModel, NaiveBayes
from likely.errors import InvalidFile, InvalidInput, UnknownName, UnseenCategories
from tests.estimators import public_estimators

X = np.array([[0.0, 1.0], [2.0, 3.5], [4.0, 4.0], [6.0, 7.5], [7.0, 9.0], [10.0, 11.0]])
Y = np.array([0, 1, 0, 1, 0, 1])


def at(value, row=2, column=1):
    changed = X.copy()
    changed[row, column] = value
    return changed


FINE = None  # the cell is allowed

TABLE = {  # kind of input: (X, y, fit options, {estimator or "all": message})
    "infinity": (at(np.inf), Y, {}, {"all": r"infinity.*(Remove|Replace)"}),
    "minus infinity": (at(-np.inf), Y, {}, {"all": r"inf"}),
    "infinity in a frame": (pd.DataFrame(at(np.inf)), Y, {}, {"all": r"infinity"}),
    "missing": (at(np.nan), Y, {}, {"all": FINE}),
    "one class": (X, np.zeros(6), {}, {"all": FINE, "DiscriminantAnalysis": r"only one class, 0"}),
    "one row": (X[:1], Y[:1], {}, {"all": FINE, "DiscriminantAnalysis": r"only one class, 0"}),
    "zero weights": (X, Y, {"sample_weight": np.zeros(6)}, {"all": r"at least one non-zero"}),
    "negative weights": (X, Y, {"sample_weight": -np.ones(6)}, {"all": r"Negative values"}),
    "missing weights": (X, Y, {"sample_weight": np.full(6, np.nan)}, {"all": r"NaN|nan"}),
    "too few weights": (X, Y, {"sample_weight": [1.0]}, {"all": r"sample_weight.*\(1,\)"}),
    "no rows": (X[:0], Y[:0], {}, {"all": r"0 sample\(s\)"}),
    "no columns": (X[:, :0], Y, {}, {"all": r"0 feature\(s\)"}),
    "an empty frame": (pd.DataFrame({"a": []}), Y[:0], {}, {"all": r"0 sample\(s\)"}),
    "one dimension": (X[:, 0], Y, {}, {"all": r"Expected 2D array, got 1D"}),
    "three dimensions": (X[None], Y, {}, {"all": r"dim 3"}),
    "complex numbers": (X + 1j, Y, {}, {"all": r"Complex data not supported"}),
    "times": (
        pd.DataFrame({"day": pd.to_datetime(["2024-01-01"] * 6)}),
        Y,
        {},
        {"all": r"Column 'day' holds.*convert"},
    ),
    "text": (
        np.array([["a", "b"]] * 6),
        Y,
        {},
        {"all": r"text|strings", "NaiveBayes": FINE, "MixtureModel": FINE},
    ),
    "too few labels": (
        X,
        Y[:3],
        {},
        {
            "all": FINE,
            "NaiveBayes": r"X has 6 rows and y has 3",
            "DiscriminantAnalysis": r"y has 3",
        },
    ),
    "no labels": (
        X,
        None,
        {},
        {
            "all": FINE,
            "NaiveBayes": r"requires y to be passed",
            "DiscriminantAnalysis": r"requires y to be passed",
        },
    ),
    "missing labels": (
        X,
        [0.0, 1.0, np.nan, 1.0, 0.0, 1.0],
        {},
        {
            "all": FINE,
            "NaiveBayes": r"label of row 2 is missing.*unlabelled",
            "DiscriminantAnalysis": r"label of row 2 is missing",
        },
    ),
    "continuous labels": (
        X,
        np.linspace(0, 1, 6),
        {},
        {
            "all": FINE,
            "NaiveBayes": r"label type: continuous",
            "DiscriminantAnalysis": r"continuous",
        },
    ),
}


def cells():
    for kind in public_estimators():
        for name, (data, y, options, messages) in TABLE.items():
            message = messages.get(kind.__name__, messages["all"])
            yield pytest.param(kind, data, y, options, message, id=f"{kind.__name__}-{name}")


@pytest.mark.parametrize(("kind", "data", "y", "options", "message"), list(cells()))
def test_the_table(kind, data, y, options, message):
    if message is not FINE:
        with pytest.raises((ValueError, TypeError), match=rf"(?s){message}"):
            kind().fit(data, y, **options)
        return
    model = kind().fit(data, y, **options)
    said = model.transform(data) if hasattr(model, "transform") else model.predict_proba(data)
    assert len(said) == len(data)


@pytest.mark.parametrize("kind", public_estimators(), ids=lambda kind: kind.__name__)
def test_constant_columns_are_survived(kind):
    constant = np.column_stack([X, np.ones(6)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a singular covariance is reported, see test_discriminant
        model = kind().fit(constant, Y)
    method = "transform" if hasattr(model, "transform") else "predict_proba"
    assert np.isfinite(getattr(model, method)(constant)).all()


CLASSIFIERS = [kind for kind in public_estimators() if is_classifier(kind())]
of_classifiers = pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)


@of_classifiers
def test_string_labels_are_fine(kind):
    words = np.array(["no", "yes"])[Y]
    model = kind("diagonal" if kind is DiscriminantAnalysis else "auto").fit(X, words)
    assert set(model.predict(X)) <= {"no", "yes"}


@pytest.mark.parametrize("kind", public_estimators(), ids=lambda kind: kind.__name__)
def test_answers_before_a_fit_are_refused(kind):
    method = "transform" if hasattr(kind, "transform") else "predict_proba"
    with pytest.raises(NotFittedError, match=r"is not fitted yet\. Call 'fit'"):
        getattr(kind(), method)(X)


@pytest.mark.parametrize("kind", public_estimators(), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    ("columns", "message"),
    [(["size", "aeg"], r"aeg"), (["size"], r"age"), (["age", "size"], r"same order")],
    ids=["renamed", "missing", "swapped"],
)
def test_other_columns_at_prediction_are_refused(kind, columns, message):
    model = kind().fit(pd.DataFrame(X, columns=["size", "age"]), Y)
    method = "transform" if hasattr(kind, "transform") else "predict_proba"
    with pytest.raises(ValueError, match=rf"(?s)feature names should match.*{message}"):
        getattr(model, method)(pd.DataFrame(X[:, : len(columns)], columns=columns))


@pytest.mark.parametrize("kind", public_estimators(), ids=lambda kind: kind.__name__)
def test_another_number_of_columns_at_prediction_is_refused(kind):
    model = kind().fit(X, Y)
    method = "transform" if hasattr(kind, "transform") else "predict_proba"
    with pytest.raises(ValueError, match=r"X has 3 features, but \w+ is expecting 2 features"):
        getattr(model, method)(np.ones((2, 3)))


@pytest.mark.parametrize("model", [NaiveBayes("categorical"), MixtureModel(1, "categorical")])
def test_categories_never_seen_are_reported_once(model):
    frame = pd.DataFrame({"colour": list("rgbrgb")})
    model.fit(frame, Y)
    with pytest.warns(UnseenCategories, match="colour='mauve'") as caught:
        model.predict_proba(pd.DataFrame({"colour": ["mauve", "mauve", "r"]}))
    assert len(caught) == 1


VALUES = {
    "negative multinomial": (NaiveBayes("multinomial"), at(-1.0), r"Negative values.*found -1"),
    "negative complement": (NaiveBayes("complement"), at(-1.0), r"Negative values.*found -1"),
    "negative Poisson": (NaiveBayes("poisson"), np.floor(at(-1.0)), r"Negative.*found -1"),
    "broken Poisson": (NaiveBayes("poisson"), at(0.5), r"0, 1, 2, …; found"),
    "negative times": (NaiveBayes("exponential"), at(-1.0), r"Negative values.*Laplace"),
    "no bits": (NaiveBayes("bernoulli"), at(2.0), r"0 or 1; found 2.*multinomial"),
    "missing multinomial": (NaiveBayes("multinomial"), at(np.nan), r"found NaN.*Fill it"),
    "missing complement": (NaiveBayes("complement"), at(np.nan), r"found NaN.*Fill it"),
    "missing mixture": (MixtureModel(2, "multinomial"), at(np.nan), r"found NaN.*Fill it"),
    "missing, shrunk": (
        DiscriminantAnalysis(shrinkage="auto"),
        at(np.nan),
        r"missing cells \(NaN\), which shrinkage='auto' cannot use. Give shrinkage a number",
    ),
    "sparse Gaussian": (NaiveBayes("gaussian"), sparse.csr_array(X), r"dense.*toarray"),
    "sparse Laplace": (NaiveBayes("laplace"), sparse.csr_array(X), r"dense.*toarray"),
    "sparse categories": (NaiveBayes("categorical"), sparse.csr_array(X), r"sparse.*toarray"),
    "sparse discriminant": (DiscriminantAnalysis(), sparse.csr_array(X), r"(?i)sparse.*toarray"),
    "sparse mixture": (GaussianMixture(), sparse.csr_array(X), r"(?i)sparse.*toarray"),
    "sparse bins": (Discretizer(), sparse.csr_array(X), r"sparse.*toarray"),
    "more clusters than rows": (GaussianMixture(7), X, r"n_components=7.*only 6 distinct rows"),
    "more than distinct": (
        MixtureModel(3, "poisson"),
        np.repeat([[1.0], [2.0]], 3, axis=0),
        r"n_components=3.*only 2 distinct rows",
    ),
    "complement mixture": (MixtureModel(2, "complement"), np.floor(X), r"no density"),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_an_event_model_cannot_have(name):
    model, data, message = VALUES[name]
    y = np.abs(Y[: data.shape[0]])
    if name == "no bits":
        data = (data > 1).astype(float) * np.minimum(data, 2.0)
    with pytest.raises((InvalidInput, TypeError), match=rf"(?s){message}"):
        model.fit(data, y)


@pytest.mark.parametrize(
    ("event", "row", "message"),
    [
        ("multinomial", [np.nan, 1.0], r"found NaN"),
        ("multinomial", [-3.0, 1.0], r"found -3"),
        ("bernoulli", [2.0, 0.0], r"found 2"),
        ("gaussian", [np.inf, 0.0], r"infinity"),
    ],
)
def test_values_are_checked_at_prediction_too(event, row, message):
    model = NaiveBayes(event).fit([[1, 0], [0, 1]], [0, 1])
    with pytest.raises(InvalidInput, match=message):
        model.predict([row])


NAMES = {
    "event": (NaiveBayes("gausian"), r"no event model 'gausian'.*Did you mean 'gaussian'"),
    "covariance": (DiscriminantAnalysis("tide"), r"no covariance 'tide'.*'tied'"),
    "mixture covariance": (GaussianMixture(2, "ful"), r"no covariance 'ful'.*'full'"),
    "prior": (NaiveBayes(prior="unifrom"), r"no prior 'unifrom'.*'uniform'"),
    "smoothing": (NaiveBayes(smoothing="aut"), r"no smoothing 'aut'.*'auto'"),
    "bins": (NaiveBayes(discretize="quantle"), r"no strategy 'quantle'.*'quantile'"),
    "strategy": (Discretizer("quantle"), r"no strategy 'quantle'.*'quantile'"),
    "executor": (NaiveBayes(executor="thread"), r"no executor 'thread'.*'threads'"),
    "mixture executor": (MixtureModel(executor="seral"), r"no executor 'seral'.*'serial'"),
    "column": (NaiveBayes({"siez": "poisson"}), r"no column 'siez'.*Did you mean 'size'"),
}


@pytest.mark.parametrize("name", NAMES)
def test_misspelt_names_are_refused_with_the_nearest(name):
    model, message = NAMES[name]
    with pytest.raises(UnknownName, match=message):
        model.fit(pd.DataFrame(X, columns=["size", "age"]), Y)


@pytest.fixture
def table(tmp_path):
    n = 30_000
    frame = pd.DataFrame(
        {"size": np.arange(n) % 17 / 4, "colour": ["r", "g"] * (n // 2), "label": np.arange(n) % 2}
    )
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    return frame, path


def test_a_wrong_target_name_suggests_the_nearest(table):
    _, path = table
    with pytest.raises(UnknownName, match=r"no column 'lable'.*Did you mean 'label'"):
        NaiveBayes().fit(path, "lable")
    with pytest.raises(InvalidInput, match=r"y is None; y must name the target column.*size"):
        NaiveBayes().fit(path)
    with pytest.raises(InvalidInput, match=r"name of one of its columns; found list"):
        NaiveBayes().fit(path, [0, 1])
    with pytest.raises(UnknownName, match=r"no column 'sizes'"):
        NaiveBayes().fit(path, "label", sample_weight="sizes")


def test_a_malformed_row_in_the_middle_of_a_large_file_is_named(table, tmp_path):
    _, path = table
    lines = path.read_text().splitlines()
    lines[20_000] = "1,2,3,4,5"
    bad = tmp_path / "bad.csv"
    bad.write_text("\n".join(lines))
    with pytest.raises(InvalidFile, match=r"bad.csv, line 20001: the row has 5 fields.*has 3"):
        NaiveBayes().fit(bad, "label")


def test_a_malformed_line_of_json_is_named(table, tmp_path):
    frame, _ = table
    lines = frame.to_json(orient="records", lines=True).splitlines()
    lines[12_345] = '{"size": 3,'
    bad = tmp_path / "bad.jsonl"
    bad.write_text("\n".join(lines))
    with pytest.raises(InvalidFile, match=r"bad.jsonl, line 12346: the line is no JSON"):
        NaiveBayes().fit(bad, "label")


def test_files_that_are_not_what_their_names_say(table, tmp_path):
    frame, path = table
    frame.to_csv(tmp_path / "a.parquet", index=False)
    frame.to_parquet(tmp_path / "b.csv")
    frame.to_csv(tmp_path / "c.jsonl", index=False)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("size,label\n")
    for name, message in {
        "a.parquet": r"no whole Parquet file.*format='csv'",
        "b.csv": r"is a Parquet file.*format='parquet'",
        "c.jsonl": r"line 1: the line is no JSON",
        "empty.csv": r"the file is empty",
        "header.csv": r"a header but no row",
        "rows.csb": r"no such file.*Did you mean 'rows.csv'",
    }.items():
        with pytest.raises(InvalidFile, match=message):
            NaiveBayes().fit(tmp_path / name, "label")
    assert path.exists()


def test_weights_in_a_file_are_checked(table, tmp_path):
    frame, _ = table
    for weight, message in {
        0: r"No row with a positive weight",
        -1: r"Row 0 has the weight -1",
    }.items():
        frame.assign(weight=weight).to_csv(tmp_path / "weighted.csv", index=False)
        with pytest.raises(InvalidInput, match=message):
            NaiveBayes().fit(tmp_path / "weighted.csv", "label", sample_weight="weight")
    for weight, message in {0: r"at least one non-zero", -1: r"Row 0 has the weight -1"}.items():
        frame.assign(weight=weight).to_csv(tmp_path / "weighted.csv", index=False)
        numbers = likely.read(tmp_path / "weighted.csv").drop(["colour"])
        with pytest.raises(InvalidInput, match=message):
            GaussianMixture().fit(numbers, sample_weight="weight")


def test_a_prediction_from_a_file_says_what_to_do(table):
    frame, path = table
    model = NaiveBayes().fit(frame[["size", "colour"]], frame["label"])
    with pytest.raises(InvalidInput, match=r"X is a file.*Read it into a frame"):
        model.predict(path)


def test_values_in_a_file_are_checked(table, tmp_path):
    frame, path = table
    changed = frame.assign(size=np.where(frame.index == 20_000, np.inf, 1.0))
    changed.to_csv(tmp_path / "inf.csv", index=False)
    with pytest.raises(InvalidInput, match=r"infinity"):
        NaiveBayes().fit(tmp_path / "inf.csv", "label")
    with pytest.raises(InvalidInput, match=r"Column 'colour' must hold numbers; found text"):
        DiscriminantAnalysis().fit(path, "label")
    changed = frame.assign(label=np.where(frame.index == 20_000, None, frame["label"]))
    changed.to_csv(tmp_path / "label.csv", index=False)
    with pytest.raises(InvalidInput, match=r"Row 20000 has no label in column 'label'"):
        NaiveBayes().fit(tmp_path / "label.csv", "label")
    known = NaiveBayes(unlabelled=np.nan).fit(tmp_path / "label.csv", "label")
    assert_allclose(known.class_count_.sum(), 30_000)
    with pytest.raises(InvalidInput, match=r"needs the rows in memory"):
        NaiveBayes(discretize="quantile").fit(path, "label")


def test_labels_given_to_score_are_checked():
    model = NaiveBayes().fit(X, Y)
    with pytest.raises(InvalidInput, match=r"X has 6 rows and y has 2"):
        model.score_samples(X, [0, 1])
    with pytest.raises(InvalidInput, match=r"label 7 in y does not exist.*known are 0, 1"):
        model.log_likelihood(X, [0, 1, 0, 1, 0, 7])


@pytest.mark.parametrize(
    "model",
    [NaiveBayes(), DiscriminantAnalysis(), DiscriminantAnalysis("full"), GaussianMixture(2)],
    ids=lambda model: type(model).__name__,
)
def test_numbers_whose_squares_overflow_are_named(model):
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[:, 1] *= 1e200
    with pytest.raises(InvalidInput, match=r"column .*1.*: the column .* overflow .* Divide"):
        model.fit(X, np.arange(60) % 2)
