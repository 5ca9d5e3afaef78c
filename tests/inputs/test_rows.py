"""Rows to learn from: checked, then encoded by the kinds of their columns; in memory or a file."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import likely
from likely.data.frames import FrameTable
from likely.errors import InvalidInput
from likely.inputs.rows import RowExtras, check_rows, recode_rows

FRAME = pd.DataFrame(
    {
        "a": [1.0, 2.0, 3.0, 4.0],
        "b": ["x", "y", "x", "z"],
        "w": [1.0, 0.0, 2.0, 1.0],
        "e": [1.0, 1.0, 2.0, 4.0],
        "g": ["p", "p", "q", "q"],
        "y": ["no", "yes", "yes", "no"],
    }
)
EXTRAS = RowExtras(weight="w", exposure="e", groups="g")
FLAGS = (False, True)


def blocks_of(rows):
    (block,) = rows.blocks
    return block


@pytest.fixture(params=["pandas", "polars", "pyarrow", "file"])
def table(request, tmp_path):
    if request.param == "file":
        FRAME.to_csv(tmp_path / "rows.csv", index=False)
        return tmp_path / "rows.csv"
    make = {"pandas": pd.DataFrame, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}
    return make[request.param](FRAME)


def test_frames_and_files_are_encoded_alike(table):
    model = likely.GLM()
    given = check_rows(model, table, "y", EXTRAS, target="class")
    assert given.kinds.kinds == ("number", "category")
    assert not given.sparse
    assert model.feature_names_in_.tolist() == ["a", "b"]
    rows = given.encode(FLAGS)
    block = blocks_of(rows)
    present = block.weight > 0  # a file keeps the rows of weight 0
    assert rows.classes.tolist() == ["no", "yes"]
    assert rows.coding.categories[1].tolist() == ["x", "z"]  # y has weight 0
    assert block.y[present].tolist() == [0, 1, 0]
    assert_allclose(block.offset[present], np.log([1, 2, 4]))
    assert block.group[present].tolist() == [0, 1, 1]
    assert rows.n_groups == 2
    assert_array_equal(block.X.stored().numeric[present, 0], [1, 3, 4])
    assert_array_equal(block.X.stored().codes[present, 0], [0, 0, 1])


@pytest.mark.parametrize(
    "X", [np.arange(8.0).reshape(4, 2), sparse.csr_array(np.eye(4)), FRAME[["a", "b"]]]
)
def test_rows_of_weight_zero_are_absent(X):
    extras = RowExtras(weight=[1.0, 0.0, 2.0, 0.0])
    given = check_rows(likely.GLM(), X, None, extras, target="none")
    rows = given.encode([kind == "category" for kind in given.kinds.kinds])
    assert rows.blocks.n_rows == 2
    assert_array_equal(rows.blocks.weight, [1, 2])
    whole = check_rows(likely.GLM(), X, None, RowExtras(), target="none")
    assert whole.table.n_rows == 4


def test_text_is_made_codes_once(monkeypatch):
    calls, original = [], FrameTable.factor
    monkeypatch.setattr(FrameTable, "factor", lambda self, j: calls.append(j) or original(self, j))
    model = likely.NaiveBayes().fit(FRAME[["a", "b"]], FRAME["y"])
    assert model.schema_.categories[1].tolist() == ["x", "y", "z"]
    assert calls.count(1) == 1


def test_rows_are_recoded_as_a_wider_schema_encodes_them(table):
    given = check_rows(likely.GLM(), table, None, RowExtras(), target="none")
    flags = tuple(kind == "category" for kind in given.kinds.kinds)
    rows = given.encode(flags)
    other = FRAME.replace({"b": {"x": "u"}, "g": {"q": "a"}})
    more = check_rows(likely.GLM(), other, None, RowExtras(), target="none").encode(flags)
    wider = rows.coding + more.coding
    recoded = recode_rows(rows, wider)
    assert recoded.coding is wider
    expected = wider.encode(FRAME).design.stored()
    found = blocks_of(recoded).X.stored()
    assert_array_equal(found.codes, expected.codes)
    assert_array_equal(found.numeric, expected.numeric)


def test_a_missing_target_is_refused_in_memory_and_in_a_file(table):
    with pytest.raises(InvalidInput, match=r"GLM requires y to be passed"):
        check_rows(likely.GLM(), table, None, RowExtras(), target="number")
