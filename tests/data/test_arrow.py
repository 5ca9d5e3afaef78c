"""Tables of any library with a target beside them, in plain types; infinities are named.

The hashes by which data are known again.
"""

from decimal import Decimal
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow.parquet import write_table

import likely as lk
from likely.data.arrow import (
    digest_of_file,
    digest_of_table,
    plain_types,
    refuse_infinities,
    values_of,
    with_target,
)
from likely.data.formats.registry import read
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
    with pytest.raises(InvalidInput, match="No model was given"):
        lk.tune(frame, "y")
    with pytest.raises(InvalidInput, match="No target was given"):
        lk.seal(frame, None, folder=tmp_path)


def decimals(values, type_=None):
    """As a database writes them."""
    return pa.array([Decimal(str(value)) for value in values], type_ or pa.decimal128(12, 2))


def views(values):
    return pa.array([str(value) for value in values], pa.string_view())


def test_plain_types_hold_the_same_values():
    table = pa.table(
        {
            "amount": decimals([1.25, -3]),
            "count": decimals([7, 8], pa.decimal128(18, 0)),
            "large": decimals([7, 8], pa.decimal256(40, 0)),
            "grade": decimals([1, 2]).dictionary_encode(),
            "text": views("ab"),
            "bytes": pa.array([b"a", None], pa.binary_view()),
            "plain": ["a", "b"],
        }
    )
    table = pa.concat_tables([table, table])
    found = plain_types(table)
    assert [str(type_) for type_ in found.schema.types] == [
        "double",
        "int64",
        "double",
        "dictionary<values=double, indices=int32, ordered=0>",
        "string",
        "binary",
        "string",
    ]
    assert found.to_pylist() == table.to_pylist()
    assert plain_types(found) is found
    batch = table.to_batches()[0]
    assert plain_types(batch).to_pylist() == batch.to_pylist()


@pytest.mark.parametrize("saved", [False, True], ids=["table", "parquet"])
@pytest.mark.parametrize("target", ["decimal-classes", "decimal-numbers", "text-views"])
def test_decimals_and_views_can_be_compared_sealed_and_scored(target, saved, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=120).round(2)
    noisy = (x + rng.normal(size=120)).round(2)
    y, model = {
        "decimal-classes": (decimals((noisy > 0) + 1), "logistic"),
        "decimal-numbers": (decimals(noisy), "linear"),
        "text-views": (views(noisy > 0), "logistic"),
    }[target]
    data = pa.table({"x": decimals(x), "town": views(rng.choice(["Ulm", "Bonn"], 120)), "y": y})
    if saved:
        write_table(data, tmp_path / "t.parquet")
        data = tmp_path / "t.parquet"
    assert lk.compare(data, "y", [model]).best.name == model
    found = lk.seal(data, "y", folder=tmp_path).final(model)
    assert found.value < found.estimate.baseline


def test_a_parquet_file_gives_plain_types_in_every_batch(tmp_path):
    write_table(pa.table({"a": decimals([1, 2]), "b": views("xy")}), tmp_path / "t.parquet")
    (batch,) = read(tmp_path / "t.parquet").select(["b", "a"])
    assert batch.schema.types == [pa.string(), pa.float64()]


@pytest.mark.parametrize(
    "column",
    [pa.array(["a", "b"]), pa.array(["a", "b"]).dictionary_encode(), pa.array([1, 2])],
)
def test_labels_are_arrays_of_values(column):
    assert values_of(pa.chunked_array([column])).tolist() == column.to_pylist()


def test_the_row_is_counted_over_all_batches():
    batches = [pa.record_batch({"x": [1.0, None], "c": ["a", "b"]})] * 2
    bad = pa.record_batch({"x": [float("nan"), float("-inf")], "c": ["a", "b"]})
    with pytest.raises(InvalidInput, match=r"Row 5, column 'x': found -inf.*Remove the row"):
        refuse_infinities([*batches, bad])


def test_gaps_and_other_types_are_no_infinities():
    refuse_infinities([pa.record_batch({"x": [float("nan"), None], "n": [1, 2], "c": ["inf", ""]})])


def test_the_hash_of_a_file_is_that_of_its_bytes(tmp_path: Path) -> None:
    content = b"a,b\n1,2\n" * 300_000
    (tmp_path / "rows.csv").write_bytes(content)
    assert digest_of_file(tmp_path / "rows.csv") == sha256(content).hexdigest()


def test_the_hash_of_a_table_knows_its_cells_and_not_its_chunks() -> None:
    table = pa.table({"a": [1, 2, 3], "b": ["x", None, "z"]})
    chunked = pa.concat_tables([table.slice(0, 1), table.slice(1)])
    assert digest_of_table(chunked) == digest_of_table(table)
    assert digest_of_table(table.slice(0, 2)) != digest_of_table(table)
    assert digest_of_table(table.rename_columns(["a", "c"])) != digest_of_table(table)
    assert digest_of_table(table.set_column(0, "a", pa.array([1, 2, 4]))) != digest_of_table(table)
