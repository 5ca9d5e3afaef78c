"""Tables that describe rows are frames of the library of these rows; Arrow's for arrays."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.tree import DecisionTreeClassifier

import likely as lk

RNG = np.random.default_rng(0)
COLUMNS = {"a": RNG.normal(size=80), "b": RNG.normal(size=80)}
Y = np.where(COLUMNS["a"] + 0.3 * RNG.normal(size=80) > 0, "yes", "no")
FRAMES = {
    "pandas": (pd.DataFrame(COLUMNS), pd.DataFrame),
    "polars": (pl.DataFrame(COLUMNS), pl.DataFrame),
    "arrow": (pa.table(COLUMNS), pa.Table),
    "array": (np.column_stack(list(COLUMNS.values())), pa.Table),
}


@pytest.mark.parametrize("name", FRAMES)
def test_explanations_are_frames_of_the_library_of_the_rows(name):
    rows, expected = FRAMES[name]
    models = [lk.LogisticRegression(l2=1.0), lk.NaiveBayes(), lk.SoftmaxRegression(l2=1.0)]
    for model in models:
        fitted = model.fit(rows, Y)
        assert type(fitted.explain(rows).to_frame()) is expected
        assert type(lk.explain(fitted, rows).to_frame()) is expected
    column = "x0" if name == "array" else "a"
    assert type(lk.permutation_importance(fitted, rows, Y, repeats=1).to_frame()) is expected
    assert type(lk.partial_effects(fitted, rows, column, points=3).to_frame()) is expected
    assert type(lk.partial_effects(fitted, rows, column, points=3).to_frame("pandas")) is (
        pd.DataFrame
    )


def test_a_model_of_another_library_is_explained_in_a_frame_like_the_rows():
    rows = FRAMES["pandas"][0]
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(rows, Y)
    assert type(lk.explain(tree, rows.head(3)).to_frame()) is pd.DataFrame


def test_a_comparison_on_sealed_rows_is_a_frame_like_the_rows_that_were_sealed(tmp_path):
    rows = FRAMES["pandas"][0].assign(y=Y)
    sealed = lk.seal(rows, "y", name="rows", folder=tmp_path)
    found = lk.compare(sealed, models=["naive-bayes"], folds=2, repeats=1)
    assert type(found.to_frame()) is pd.DataFrame
    assert type(found.to_frame("polars")) is pl.DataFrame
