"""Soft labels: the names of their columns, and refusals that name y."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import likely
from likely.errors import InvalidInput

NAMES = ["ve", "se", "vi"]  # not sorted: the order of the columns counts
RNG = np.random.default_rng(0)
X, SOFT = RNG.normal(size=(40, 2)), RNG.dirichlet(np.ones(3), 40)
FRAMES = {
    "pandas": lambda S, names: pd.DataFrame(S, columns=names),
    "polars": lambda S, names: pl.DataFrame(S, schema=names),
    "pyarrow": lambda S, names: pa.table(dict(zip(names, S.T, strict=True))),
}
MODELS = [
    likely.NaiveBayes(),
    likely.DiscriminantAnalysis(),
    likely.SoftmaxRegression(),
    likely.MaxEntropy(),
]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


@every_model
@pytest.mark.parametrize("library", FRAMES)
def test_the_columns_of_a_frame_name_the_classes(model, library):
    frame = FRAMES[library]
    plain = model.fit(X, SOFT)
    expected = plain.predict_proba(X)
    assert_array_equal(plain.classes_, [0, 1, 2])
    named = model.fit(X, frame(SOFT, NAMES))
    assert named.classes_.tolist() == NAMES
    assert_allclose(named.predict_proba(X), expected, rtol=1e-12)
    assert_array_equal(named.predict(X), np.array(NAMES)[expected.argmax(axis=1)])


@pytest.mark.parametrize("model", MODELS[:3], ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("library", FRAMES)
def test_columns_are_matched_with_the_classes_by_name(model, library):
    frame = FRAMES[library]
    model.fit(X, frame(SOFT, NAMES))
    value = model.log_likelihood(X, SOFT)
    assert_allclose(model.log_likelihood(X, frame(SOFT, NAMES)), value, rtol=1e-12)
    turned = frame(SOFT[:, ::-1], NAMES[::-1])
    assert_allclose(model.log_likelihood(X, turned), value, rtol=1e-12)
    with pytest.raises(InvalidInput, match="columns a, se, vi; the classes ve, se, vi were exp"):
        model.log_likelihood(X, frame(SOFT, ["a", "se", "vi"]))


def test_a_frame_without_names_has_numbered_classes():
    model = likely.NaiveBayes().fit(X, pd.DataFrame(SOFT))
    assert_array_equal(model.classes_, [0, 1, 2])
    assert np.isfinite(model.log_likelihood(X, pd.DataFrame(SOFT)))


@every_model
def test_a_missing_soft_label_is_one_of_y(model):
    gap = SOFT.copy()
    gap[3, 1] = np.nan
    with pytest.raises(InvalidInput, match="y must be a table of finite numbers"):
        model.fit(X, gap)


ONE_HOT = np.eye(2, dtype=int)[(X[:, 0] > 0).astype(int)]


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (lambda: likely.LogisticRegression().fit(X, ONE_HOT), "Soft labels are for fit .* Softmax"),
        (
            lambda: likely.NaiveBayes().partial_fit(X, ONE_HOT, classes=[0, 1]),
            "Give one label for each row",
        ),
        (
            lambda: likely.NaiveBayes().fit(X, ONE_HOT).score(X, ONE_HOT),
            "Give one label for each row",
        ),
        (
            lambda: likely.SoftmaxRegression().fit(X, ONE_HOT).score(X, ONE_HOT),
            "Give one label for each row",
        ),
        (
            lambda: likely.GLM("bernoulli").fit(X, 3 * ONE_HOT),
            r"k successes of n trials are y=k/n with sample_weight=n",
        ),
        (
            lambda: likely.LinearRegression().objective(X, X),
            r"Give one column of y at a time",
        ),
    ],
)
def test_several_columns_where_one_is_needed_are_refused_with_advice(call, advice):
    with pytest.raises(InvalidInput, match=rf"y has the shape \(40, 2\); .* expected.*{advice}"):
        call()
