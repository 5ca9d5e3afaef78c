"""A prepared model: what it learns, that nothing leaks into it, what it needs, its speed."""

import warnings
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import linear_model as sklearn_linear
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

import likely
from likely import (
    GLM,
    DiscriminantAnalysis,
    FrankHall,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    PenaltyPath,
)
from likely.errors import InvalidFile, InvalidInput, UnseenCategories
from likely.output.formatting import short_number
from likely.workbench.preparation.choices import needs_of
from likely.workbench.preparation.prepared import Prepared
from tests.machine import costs_at_most
from tests.workbench.preparation.prepared_tables import fitted, mixed

CHECKS = {"LogisticRegression": 62, "LinearRegression": 59, "NaiveBayes": 60}  # that pass at least


# ── what is learned ──────────────────────────────────────────────────────────────────


def test_every_column_has_a_step_in_words():
    frame, _ = mixed()
    steps = dict(fitted().steps_)
    assert list(steps) == list(frame.columns)
    missing = 100 * frame["age"].isna().mean()
    assert f"{missing:.1f} % missing, filled with the median" in steps["age"]
    assert "'age missing'" in steps["age"]
    assert f"SD {frame['income'].std(ddof=0):.4g})" in steps["income"]
    assert steps["town"].startswith("3 categories; ")
    assert "the category 'missing'" in steps["town"]
    assert steps["owner"] == "as it is"
    assert steps["since"].startswith("'since days', days since 2020-01-02")
    assert steps["planet"] == "dropped: the same value in every row, 'Earth'"
    assert steps["empty"] == "dropped: every cell is missing"
    assert steps["id"] == "dropped: 300 different texts in 300 rows, like an identifier"


def test_the_model_sees_what_the_steps_say():
    frame, _ = mixed()
    model = fitted(scale=False)
    table = model.prepare(frame)
    assert table.column_names == [
        *("age", "age missing", "income", "rooms", "town", "owner", "since days")
    ]
    age = frame["age"].to_numpy()
    assert_allclose(table["age"], np.where(np.isnan(age), np.nanmedian(age), age))
    assert_array_equal(table["age missing"], np.isnan(age))
    assert_array_equal(table["town"].to_pylist(), frame["town"].fillna("missing"))
    days = (frame["since"] - frame["since"].min()).dt.days
    assert_array_equal(table["since days"], days)


def test_the_model_inside_is_the_one_fitted_to_the_prepared_table_by_hand():
    frame, y = mixed()
    model = fitted()
    by_hand = LogisticRegression().fit(model.prepare(frame), y)
    assert_array_equal(
        model.predict_log_proba(frame), by_hand.predict_log_proba(model.prepare(frame))
    )
    assert_array_equal(
        model.decision_function(frame), by_hand.decision_function(model.prepare(frame))
    )
    assert_array_equal(model.classes_, ["no", "yes"])
    assert model.log_likelihood(frame, y) == by_hand.log_likelihood(model.prepare(frame), y)
    assert_array_equal(
        model.log_likelihoods(frame, y), by_hand.log_likelihoods(model.prepare(frame), y)
    )
    assert model.score(frame, y) == by_hand.score(model.prepare(frame), y)
    assert np.array_equal(model.prepare(frame)["income"], frame["income"]) is False


def test_a_few_missing_numbers_are_filled_without_a_column_of_their_own():
    X = np.arange(400.0).reshape(200, 2)
    X[3, 0] = np.nan
    model = Prepared(LinearRegression()).fit(X, X[:, 1])
    assert model.prepare(X).column_names == ["x0", "x1"]
    assert model.steps_[0] == ("x0", "0.5 % missing, filled with the median 200")


def test_columns_that_are_missing_together_share_one_indicator():
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[::4, :2] = np.nan
    table = Prepared(LinearRegression()).fit(X, X[:, 2]).prepare(X)
    assert table.column_names == ["x0", "x0 missing", "x1", "x2"]


def test_a_constant_with_gaps_leaves_only_where_they_are():
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[:, 0] = np.where(X[:, 1] > 0.5, np.nan, 7.0)
    model = Prepared(LinearRegression()).fit(X, X[:, 1])
    assert model.prepare(X).column_names == ["x0 missing", "x1"]
    assert "7 in every row that has a value" in model.steps_[0][1]


def test_missing_cells_that_the_fit_did_not_have_are_filled_all_the_same():
    frame, y = mixed()
    model = Prepared(LogisticRegression()).fit(frame.assign(rooms=frame["rooms"] * 1.0), y)
    new = frame[:4].assign(rooms=[np.nan] * 4)
    assert_allclose(
        model.predict_proba(new),
        model.predict_proba(new.assign(rooms=float(frame["rooms"].median()))),
    )


def test_an_indicators_name_gives_way_to_a_column_that_has_it():
    frame, y = mixed()
    model = Prepared(LogisticRegression()).fit(frame.rename(columns={"rooms": "age missing"}), y)
    assert (
        "age missing_" in model.prepare(frame.rename(columns={"rooms": "age missing"})).column_names
    )


def test_true_and_false_with_gaps_become_the_more_common():
    flags = np.array([True, True, False, None] * 10, dtype=object)
    frame = pd.DataFrame({"x": np.arange(40.0), "flag": flags})
    model = Prepared(LinearRegression()).fit(frame, np.arange(40.0) ** 2)
    assert model.prepare(frame)["flag"].to_pylist() == [True, True, False, True] * 10
    assert model.steps_[1][1].startswith("25.0 % missing, filled with True, the more common")


# ── nothing leaks ────────────────────────────────────────────────────────────────────


@given(seed=st.integers(0, 999), held_out=st.integers(1, 60))
def test_held_out_rows_change_nothing_that_a_fold_learned(seed, held_out):
    frame, y = mixed(120, seed % 7)
    rng = np.random.default_rng(seed)
    other = frame.copy()
    other.loc[: held_out - 1, "age"] = rng.normal(size=held_out) * 1e6
    other.loc[: held_out - 1, ["town", "planet", "empty"]] = ["z", "Mars", 4.0]
    other.loc[: held_out - 1, "id"] = "the same"
    learned = [
        Prepared(LogisticRegression()).fit(table[held_out:], y[held_out:])
        for table in (frame, other)
    ]
    assert learned[0].preparation_ == learned[1].preparation_
    assert_array_equal(learned[0].model_.coef_, learned[1].model_.coef_)


def test_the_steps_of_a_fold_are_those_of_its_rows_and_not_of_all():
    frame, y = mixed()
    folded, whole = Prepared(LogisticRegression()).fit(frame[:150], y[:150]), fitted()
    assert folded.preparation_ != whole.preparation_
    assert f"median {short_number(frame['age'][:150].median())}" in dict(folded.steps_)["age"]


def test_rows_of_weight_0_are_not_learned_from():
    frame, y = mixed()
    weight = np.where(np.arange(300) < 200, 1.0, 0.0)
    odd = frame.copy()
    odd.loc[200:, "age"] = 1e9
    model = Prepared(LogisticRegression()).fit(odd, y, sample_weight=weight)
    without = Prepared(LogisticRegression()).fit(frame[:200], y[:200])
    assert model.preparation_ == without.preparation_
    assert_allclose(model.model_.coef_, without.model_.coef_, rtol=1e-6)


def test_weight_2_is_the_row_twice():
    frame, y = mixed(80)
    weight = np.where(np.arange(80) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(80), weight.astype(int))
    frame = frame.drop(columns="id")  # all different only while no row comes twice
    model = Prepared(LogisticRegression()).fit(frame, y, sample_weight=weight)
    repeated = Prepared(LogisticRegression()).fit(frame.iloc[twice], y[twice])
    assert model.steps_ == repeated.steps_
    assert_allclose(model.predict_proba(frame), repeated.predict_proba(frame), rtol=1e-6)


# ── what each model needs ────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("model", "impute", "scale", "levels"),
    [
        (LogisticRegression(), True, True, False),
        (LogisticRegression(l2=0), True, False, False),
        (LinearRegression(), True, False, False),
        (LinearRegression(l1=0.1), True, True, False),
        (GLM("poisson", l2={"a": 1.0}), True, True, False),
        (FrankHall(LogisticRegression(l2=0.0)), True, False, False),
        (FrankHall(LogisticRegression()), True, True, False),
        (PenaltyPath(LinearRegression()), True, True, False),
        (NaiveBayes(), False, False, False),
        (NaiveBayes("gaussian"), False, False, True),
        (DiscriminantAnalysis(), False, True, True),
        (DiscriminantAnalysis(shrinkage="auto"), True, True, True),
    ],
)
def test_auto_goes_by_what_the_model_needs(model, impute, scale, levels):
    assert needs_of(model, impute="auto", scale="auto")[:3] == (impute, scale, levels)


def test_a_model_that_sums_missing_cells_out_is_given_them():
    frame, y = mixed()
    model = Prepared(NaiveBayes()).fit(frame, y)
    table = model.prepare(frame)
    assert_array_equal(table["age"], frame["age"])
    assert_array_equal(table["town"].is_null(), frame["town"].isna())
    assert pa.types.is_boolean(table["owner"].type)
    kept = frame.drop(columns=["planet", "empty", "id", "since"])
    by_hand = NaiveBayes().fit(kept, y)
    model = Prepared(NaiveBayes()).fit(kept, y)
    assert_allclose(model.predict_proba(kept), by_hand.predict_proba(kept))


def test_imputation_can_be_had_and_refused():
    frame, y = mixed()
    table = Prepared(NaiveBayes(), impute=True).fit(frame, y).prepare(frame)
    assert not any(column.null_count or pd.isna(column).any() for column in table.columns)
    with pytest.raises(InvalidInput, match="contains NaN"):
        Prepared(LogisticRegression(), impute=False).fit(frame, y)
    with pytest.raises(InvalidInput, match=r"impute='median' is not a choice.*'auto'"):
        Prepared(LogisticRegression(), impute="median").fit(frame, y)


def test_a_model_of_numbers_gets_categories_as_columns_of_0_and_1():
    frame, y = mixed()
    model = Prepared(DiscriminantAnalysis()).fit(frame[["income", "town"]], y)
    table = model.prepare(frame[["income", "town"]])
    assert table.column_names == ["income", "town[b]", "town[c]", "town[missing]"]
    assert_array_equal(table["town[b]"], frame["town"] == "b")
    assert_array_equal(table["town[missing]"], frame["town"].isna())
    with pytest.warns(UnseenCategories, match=r"read as 'a': town='z'"):
        new = model.prepare(pd.DataFrame({"income": [0.0], "town": ["z"]}))
    assert [new[name][0].as_py() for name in table.column_names[1:]] == [0.0] * 3


def test_scaling_makes_the_units_of_a_column_irrelevant_to_a_penalty():
    frame, y = mixed()
    thousandth = frame.assign(income=frame["income"] / 1000)
    ours = [Prepared(LogisticRegression()).fit(X, y).predict_proba(X) for X in (frame, thousandth)]
    assert_allclose(*ours, rtol=1e-6)
    plain = [
        Prepared(LogisticRegression(), scale=False).fit(X, y).predict_proba(X)
        for X in (frame, thousandth)
    ]
    assert np.abs(plain[0] - plain[1]).max() > 1e-4


def test_a_summary_names_the_columns_that_were_scaled():
    model = fitted()
    assert "are per standard deviation: age, income, rooms, since" in " ".join(
        model.summary().notes
    )
    assert fitted(LogisticRegression(l2=0)).summary().remarks == ()


def test_only_models_with_coefficients_are_said_to_have_their_units():
    X = pd.DataFrame({"a": np.arange(40.0) % 7, "b": np.arange(40.0) % 5})
    y = np.where(X["a"] > 3, "yes", "no")
    network = likely.NeuralNetworkClassifier((2,), solver="lbfgs", l2=1.0, random_state=0)
    for model, has_units in ((LogisticRegression(l2=1.0), True), (network, False)):
        (note,) = Prepared(model, scale=True).fit(X, y).describe().notes[-1:]
        assert note.startswith("Numbers were centred and divided by the standard deviation")
        assert ("their coefficients are per standard deviation" in note) == has_units


def test_a_boolean_column_takes_0_and_1_and_no_other_number():
    frame, _ = mixed()
    model = fitted()
    as_numbers = frame.assign(owner=frame["owner"].astype(float))
    assert_array_equal(model.predict_proba(as_numbers), model.predict_proba(frame))
    with pytest.raises(InvalidInput, match=r"Column 'owner' held true and false.*found 2"):
        model.predict(frame.assign(owner=2))


# ── an estimator like the others ─────────────────────────────────────────────────────


@pytest.mark.parametrize("library", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "arrow"])
def test_every_library_of_frames_gives_the_same_model(library):
    frame, y = mixed()
    theirs = library(frame)
    if isinstance(theirs, pa.Table):
        theirs = theirs.select(list(frame.columns))
    model = Prepared(LogisticRegression()).fit(theirs, y)
    assert model.steps_ == fitted().steps_
    assert_array_equal(model.predict_proba(theirs), fitted().predict_proba(frame))


def test_the_target_may_be_a_column_of_the_frame():
    frame, y = mixed()
    model = Prepared(LogisticRegression()).fit(frame.assign(answer=y), "answer")
    assert_array_equal(model.predict(frame), fitted().predict(frame))


@pytest.mark.parametrize("model", [LogisticRegression(), LinearRegression(), NaiveBayes()])
def test_scikit_learns_checks_pass(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks' data are degenerate on purpose
        results = check_estimator(Prepared(model), on_fail=None, on_skip=None)
    status = Counter(result["status"] for result in results)
    assert [r["check_name"] for r in results if r["status"] == "failed"] == []
    assert status["passed"] >= CHECKS[type(model).__name__]


def test_it_is_what_its_model_is():
    assert is_classifier(Prepared(LogisticRegression()))
    assert is_regressor(Prepared(LinearRegression()))
    assert not hasattr(Prepared(LinearRegression()), "predict_proba")
    assert not hasattr(
        Prepared(LinearRegression()).fit([[1.0], [2.0], [4.0]], [1, 2, 3]), "classes_"
    )
    assert get_tags(Prepared(LogisticRegression())).input_tags.allow_nan
    assert not get_tags(Prepared(LogisticRegression(), impute=False)).input_tags.allow_nan
    with pytest.raises(NotFittedError):
        Prepared(LogisticRegression()).predict([[1.0]])


def test_settings_of_the_model_are_reached_by_name():
    model = Prepared(LogisticRegression()).set_params(model__l2=7.0, scale=False)
    assert (model.get_params()["model__l2"], clone(model).model.l2) == (7.0, 7.0)
    frame, y = mixed()
    search = GridSearchCV(model, {"model__l2": [0.1, 10.0]}, cv=3).fit(frame, y)
    assert search.best_params_["model__l2"] in (0.1, 10.0)
    assert cross_val_predict(model, frame, y, cv=3, method="predict_proba").shape == (300, 2)


def test_a_sparse_table_goes_to_the_model_as_it_is():
    X = sparse.random_array((80, 4), density=0.5, random_state=0, format="csr")
    y = X.sum(axis=1)
    model = Prepared(LinearRegression(l2=1.0)).fit(X, y)
    assert_array_equal(model.predict(X), LinearRegression(l2=1.0).fit(X, y).predict(X))
    assert model.steps_[0] == ("x0", "as it is, sparse")


@pytest.mark.parametrize("model", [LogisticRegression(), NaiveBayes(), DiscriminantAnalysis()])
def test_a_saved_model_brings_its_preparation_back(model, tmp_path, monkeypatch):
    monkeypatch.setattr(likely, "__all__", sorted({*likely.__all__, "Prepared"}))
    monkeypatch.setattr(likely, "Prepared", Prepared, raising=False)
    frame, _ = mixed()
    saved = fitted(model)
    likely.save(saved, tmp_path / "m.likely")
    loaded = likely.load(tmp_path / "m.likely")
    assert loaded.preparation_ == saved.preparation_
    assert str(loaded) == str(saved)
    assert_array_equal(loaded.predict_log_proba(frame), saved.predict_log_proba(frame))


def test_it_prints_its_steps():
    assert str(Prepared(LogisticRegression())) == "Prepared(model=LogisticRegression())"
    text = str(fitted())
    assert "planet  dropped: the same value in every row, 'Earth'" in text
    assert text.endswith("as they are: owner")


def test_preparing_7000_rows_of_20_mixed_columns_takes_little_time():
    """A third of what pandas needs to write the table was measured; twice that is too much."""
    n, rng = 7000, np.random.default_rng(0)
    columns = {
        f"n{j}": np.where(rng.random(n) < 0.05, np.nan, rng.normal(size=n)) for j in range(12)
    }
    for j in range(7):
        words = np.array([None, *(f"v{k}" for k in range(3 + 5 * j))], dtype=object)
        columns[f"t{j}"] = rng.choice(words, n)
    table = pa.table({**columns, "id": [f"row {i}" for i in range(n)]})
    frame, y = table.to_pandas(), rng.random(n) < 0.5
    Prepared(DummyClassifier()).fit(table, y)  # imports
    assert costs_at_most(2, frame.to_csv, lambda: Prepared(DummyClassifier()).fit(table, y))


@pytest.mark.parametrize("model", ["logistic", likely.LogisticRegression, None])
def test_a_name_or_a_class_in_place_of_an_estimator_is_refused_in_words(model):
    for use in (lambda it: it.fit([[0.0], [1.0]], [0, 1]), get_tags):
        with pytest.raises(InvalidInput, match=r"an estimator was expected\. Use Prepared\("):
            use(Prepared(model))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_that_the_fit_had_not_are_ignored_and_missing_ones_named(library):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [0.0, 1.0, 0.0, 2.0]})
    model = Prepared(likely.LinearRegression()).fit(frame, [1.0, 2.0, 3.0, 5.0])
    more = pd.DataFrame({"id": list("wxyz"), "a": frame["a"], "when": 7, "b": frame["b"]})
    convert = {"pandas": lambda x: x, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}
    assert model.predict(convert[library](more)).tolist() == model.predict(frame).tolist()
    with pytest.raises(ValueError, match="yet now missing:\n- a"):
        model.predict(more.drop(columns="a"))
    turned = convert[library](more[["b", "a", "id"]])  # columns are found by name
    assert model.predict(turned).tolist() == model.predict(frame).tolist()


@pytest.mark.parametrize("other", [3.5, "steps", []])
def test_a_file_with_another_value_than_a_preparation_is_refused(other, tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]})
    model = Prepared(LogisticRegression(l2=1.0)).fit(frame, [0, 1, 0, 1])
    model.preparation_ = other
    likely.save(model, tmp_path / "m.likely")
    with pytest.raises(InvalidFile, match=r"preparation_ is .*expected Preparation"):
        likely.load(tmp_path / "m.likely")


@pytest.mark.parametrize("library", [pd, pl])
def test_a_pipeline_that_passes_columns_through_is_given_a_frame(library):
    rng = np.random.default_rng(0)
    columns = {"a": rng.normal(size=90), "t": rng.choice(["u", "v"], 90), "b": rng.random(90) < 0.5}
    frame = library.DataFrame({**columns, "y": np.where(columns["a"] > 0, "p", "q")})
    encoder = make_column_transformer((OneHotEncoder(), ["t"]), remainder="passthrough")
    found = likely.compare(
        frame,
        "y",
        [make_pipeline(encoder, sklearn_linear.LogisticRegression())],
        folds=3,
        repeats=1,
    )
    assert not found.best.problem
    assert found.best.others["accuracy"] > 0.9
