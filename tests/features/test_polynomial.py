"""Monomials: their number, names, values, scikit-learn's, chosen lists, frames, refusals."""

from math import comb

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures as TheirFeatures
from sklearn.utils.estimator_checks import check_estimator

from likely.errors import InvalidInput, UnknownName
from likely.features.polynomial import CHUNK_ROWS, PolynomialFeatures

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
DIFFERENT = np.array([0, 1, 1, 0])


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings on purpose
@pytest.mark.parametrize(
    "estimator",
    [PolynomialFeatures(), PolynomialFeatures(3, interaction_only=True, include_bias=True)],
    ids=["squares", "interactions"],
)
def test_passes_the_checks_of_scikit_learn(estimator):
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert failed == {}
    assert sum(r["status"] == "passed" for r in results) >= 52


@given(
    n_columns=st.integers(1, 4),
    degree=st.integers(1, 4),
    interaction_only=st.booleans(),
    include_bias=st.booleans(),
)
def test_agrees_with_scikit_learn(n_columns, degree, interaction_only, include_bias):
    X = np.random.default_rng(0).normal(size=(7, n_columns))
    options = {"interaction_only": interaction_only, "include_bias": include_bias}
    ours, theirs = PolynomialFeatures(degree, **options), TheirFeatures(degree, **options)
    assert_allclose(ours.fit_transform(X), theirs.fit_transform(X))
    assert_array_equal(ours.powers_, theirs.powers_)
    assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())


@given(n_columns=st.integers(1, 6), degree=st.integers(1, 5))
def test_there_are_as_many_monomials_as_ways_to_choose(n_columns, degree):
    features = PolynomialFeatures(degree, include_bias=True).fit(np.ones((1, n_columns)))
    assert len(features.powers_) == comb(n_columns + degree, degree)


def test_pieces_of_rows_join():
    X = np.random.default_rng(0).normal(size=(2 * CHUNK_ROWS + 5, 2))
    values = PolynomialFeatures().fit_transform(X)
    assert_allclose(values[:, 3], X[:, 0] * X[:, 1])
    assert_allclose(values[:, 4], X[:, 1] ** 2)


def test_xor_is_fitted_with_the_product_added():
    """LR-19 on xor_table."""
    product = PolynomialFeatures(monomials=[("x0",), ("x1",), ("x0", "x1")])
    model = make_pipeline(product, LogisticRegression(C=1e4)).fit(XOR, DIFFERENT)
    assert model.score(XOR, DIFFERENT) == 1
    assert LogisticRegression(C=1e4).fit(XOR, DIFFERENT).score(XOR, DIFFERENT) <= 0.75


def test_degree_one_is_the_columns_themselves():
    assert_array_equal(PolynomialFeatures(1).fit_transform(XOR), XOR)


def test_an_exact_cubic_is_recovered_and_equals_polyfit():
    """REG-11."""
    x = np.linspace(-2, 3, 30)
    y = 1 - 2 * x + 0.5 * x**3
    model = make_pipeline(PolynomialFeatures(3), LinearRegression()).fit(x[:, None], y)
    assert_allclose(model[-1].coef_, [-2, 0, 0.5], atol=1e-8)
    assert_allclose(
        np.r_[model[-1].coef_[::-1], model[-1].intercept_], np.polyfit(x, y, 3), atol=1e-8
    )


def test_a_chosen_list_keeps_its_order_and_takes_names_indices_and_powers():
    frame = pd.DataFrame({"a": [2.0], "b": [3.0], "c": [5.0]})
    chosen = PolynomialFeatures(
        monomials=[{"a": 2, "b": 1}, ("c", "a"), (-1,), {"b": 0}, (1, 1, 1)]
    )
    assert_array_equal(chosen.fit_transform(frame), [[12, 10, 5, 1, 27]])
    assert chosen.get_feature_names_out().tolist() == ["a^2 b", "a c", "c", "1", "b^3"]
    with_ones = PolynomialFeatures(monomials=[("a",)], include_bias=True).fit(frame)
    assert with_ones.get_feature_names_out().tolist() == ["1", "a"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_give_the_same_and_their_names_are_used(library):
    frame = pd.DataFrame(XOR, columns=["u", "v"])
    if library != "pandas":
        frame = pl.from_pandas(frame) if library == "polars" else pa.Table.from_pandas(frame)
    features = PolynomialFeatures().fit(frame)
    assert_array_equal(features.transform(frame), PolynomialFeatures().fit_transform(XOR))
    assert features.get_feature_names_out().tolist() == ["u", "v", "u^2", "u v", "v^2"]
    if library != "pyarrow":
        out = features.set_output(transform=library).transform(frame)
        assert type(out) is type(frame)
        assert list(out.columns) == ["u", "v", "u^2", "u v", "v^2"]


def test_missing_stays_missing_in_the_monomials_that_need_it():
    values = PolynomialFeatures().fit(XOR).transform([[np.nan, 2.0]])
    assert_array_equal(values, [[np.nan, 2, np.nan, np.nan, 4]])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"degree": 0}, InvalidInput, "degree is 0; expected a whole number, 1 or more"),
        ({"degree": 1.5}, InvalidInput, "degree is 1.5"),
        ({"monomials": []}, InvalidInput, "monomials is empty"),
        ({"monomials": ["x0"]}, InvalidInput, r"'x0'; expected a sequence.*\('x0',\)"),
        ({"monomials": [("x0", "x2")]}, UnknownName, "no column 'x2'; choose one of x0, x1"),
        ({"monomials": [(5,)]}, UnknownName, "no column 5"),
        ({"monomials": [{"x0": -1}]}, InvalidInput, "power of column 'x0' is -1"),
        ({"monomials": [("x0", "x1"), (1, 0)]}, InvalidInput, "'x0 x1' is given twice"),
    ],
)
def test_what_cannot_be_made_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        PolynomialFeatures(**options).fit(XOR)


def test_sparse_and_text_are_refused_with_advice():
    with pytest.raises(InvalidInput, match=r"sparse matrix.*dense columns.*toarray"):
        PolynomialFeatures().fit(sparse.csr_array(XOR))
    with pytest.raises(InvalidInput, match="Column 'town' holds strings, such as 'Ulm'"):
        PolynomialFeatures().fit(pd.DataFrame({"town": ["Ulm", "Bonn"]}))
