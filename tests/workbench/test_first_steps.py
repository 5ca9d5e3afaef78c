"""Errors that a newcomer meets first name what to call instead."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import likely as lk
from likely.errors import InvalidInput


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"x": rng.normal(size=60), "y": np.arange(60) % 2})


def test_a_second_seal_of_a_name_names_open_seal(frame, tmp_path):
    lk.seal(frame, "y", name="a", folder=tmp_path)
    with pytest.raises(InvalidInput, match=r"made once.*likely\.open_seal opens it") as told:
        lk.seal(frame, "y", name="a", folder=tmp_path)
    path = str(told.value).partition(" exists already")[0]
    assert lk.open_seal(path).evaluations == 0
    (tmp_path / "b.seal").mkdir()
    with pytest.raises(InvalidInput, match=r"made once. Give another name"):
        lk.seal(frame, "y", name="b", folder=tmp_path)


@pytest.mark.parametrize(
    "verb",
    [
        lambda rows: lk.look(rows, "y"),
        lambda rows: lk.seal(rows, "y", name="c"),
        lambda rows: lk.compare(rows, "y", ["logistic"]),
        lambda rows: lk.tune(rows, "y", "logistic"),
        lambda rows: lk.split(rows, "y"),
        lambda rows: lk.NaiveBayes().fit(rows, "y"),
        lambda rows: lk.Prepared(lk.NaiveBayes()).fit(rows, "y"),
    ],
)
def test_a_lazy_frame_names_collect(frame, verb):
    with pytest.raises(InvalidInput, match=r"holds no rows yet.*collect\(\)"):
        verb(pl.from_pandas(frame).lazy())


@pytest.mark.parametrize("model", [lk.LogisticRegression(), lk.LinearRegression()])
def test_missing_cells_name_prepared(frame, model):
    frame.loc[3, "x"] = np.nan
    with pytest.raises(
        InvalidInput, match=r"row 3, column 'x'.*Fill it, as likely\.Prepared\(model\)"
    ):
        model.fit(frame, "y")
    assert lk.Prepared(model).fit(frame, "y").predict(frame).shape == (60,)
