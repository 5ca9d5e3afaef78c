"""Tables of any library with a target beside them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import likely as lk
from likely.data.arrow_tables import with_target
from likely.errors import InvalidInput

X = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "x"]})


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        (["no", "yes", "no"], "y"),
        (np.array(["no", "yes", "no"]), "y"),
        (pd.Series(["no", "yes", "no"], name="sold", index=[7, 8, 9]), "sold"),
        (pl.Series("sold", ["no", "yes", "no"]), "sold"),
        (np.array([["no"], ["yes"], ["no"]]), "y"),
    ],
)
def test_labels_that_are_given_apart_become_a_column(labels, name):
    table, target = with_target(X, labels)
    assert target == name
    assert table.column(name).to_pylist() == ["no", "yes", "no"]
    assert table.column_names == ["a", "b", name]


def test_a_name_stays_a_name_and_a_numbered_column_is_named_by_its_number():
    assert with_target(X, "b") == (X, "b")
    assert with_target(X, None) == (X, None)
    assert with_target(X, np.int64(1))[1] == "1"


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([1, 2], "2 values and the table 3 rows"),
        (pd.Series([1, 2, 3], name="a"), "so is a column of the table"),
        (np.ones((3, 2)), r"the shape \(3, 2\)"),
    ],
)
def test_labels_that_do_not_fit_are_refused(labels, words):
    with pytest.raises(InvalidInput, match=words):
        with_target(X, labels)


def test_the_workbench_takes_labels_apart(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] + rng.logistic(size=80) > 0, "yes", "no")
    assert lk.look(X, y).target == "y"
    assert lk.compare(X, y, "logistic", folds=2, repeats=1).task.target == "y"
    assert lk.tune(X, y, "logistic", trials=1, folds=2).trials
    assert lk.learning_curve(X, y, "logistic", values=[1.0], folds=2).points
    assert "target 'y'" in repr(lk.seal(pd.DataFrame(X, columns=["a", "b"]), y, folder=tmp_path))


def test_a_model_or_a_target_that_is_not_given_is_asked_for(tmp_path):
    frame = X.assign(y=["no", "yes", "no"])
    with pytest.raises(InvalidInput, match="No model was given for 'y'"):
        lk.tune(frame, "y")
    with pytest.raises(InvalidInput, match="No target was given"):
        lk.seal(frame, None, folder=tmp_path)
