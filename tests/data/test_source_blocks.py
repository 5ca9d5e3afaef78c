"""A source as blocks: encoded rows, labels and weights, whatever cut the file."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from likely.compute.executor import Serial, Threads
from likely.data.formats.registry import read
from likely.data.source_blocks import SourceBlocks, find_schema, find_schema_and_classes
from likely.errors import InvalidInput, UnknownName
from tests.data.formats.test_registry import some_rows


def classes_of(source, target, executor):
    features = source.select(["rooms"])
    return find_schema_and_classes(source, features, [False], target, None, executor)[1]


@pytest.fixture
def houses(tmp_path):
    frame = some_rows(300)
    frame["weight"] = np.arange(300) % 4
    frame["colour"] = frame["colour"].where(frame.index % 9 != 0, None)
    path = tmp_path / "houses.parquet"
    frame.to_parquet(path)
    return frame, read(path)


@pytest.mark.parametrize("executor", [Serial(), Threads(2)], ids=["serial", "threads"])
def test_blocks_of_a_source_are_the_encoded_rows(houses, executor):
    frame, source = houses
    features = source.drop(["colour", "weight"])
    schema = find_schema(features, [False, False, True, True], executor)
    classes = classes_of(source, "colour", executor)
    assert classes.tolist() == sorted(frame["colour"].dropna().unique())
    blocks = SourceBlocks(source, schema, "colour", classes, "weight", gaps=True, rows_per_block=64)
    expected, _ = schema.encode(frame)
    for _ in range(2):
        made = list(blocks)
        assert [block.n_rows for block in made] == [64] * 4 + [44]
        assert [block.start for block in made] == [0, 64, 128, 192, 256]
        numeric = np.vstack([block.X.numeric for block in made])
        assert_array_equal(numeric, expected.numeric)
        assert_array_equal(np.vstack([block.X.codes for block in made]), expected.codes)
        assert_array_equal(np.concatenate([block.weight for block in made]), frame["weight"])
        y = np.concatenate([block.y for block in made])
        labels = [None if code < 0 else classes[code] for code in y]
        assert labels == pl.from_pandas(frame)["colour"].to_list()
    assert (blocks.n_features, blocks.n_rows) == (expected.n_features, 300)


def test_a_missing_label_is_refused_unless_it_may_be_unknown(houses):
    frame, source = houses
    schema = find_schema(source.select(["rooms"]), [False], Serial())
    classes = classes_of(source, "colour", Serial())
    row = int(frame["colour"].isna().to_numpy().argmax())
    with pytest.raises(InvalidInput, match=rf"Row {row} has no label in column 'colour'"):
        list(SourceBlocks(source, schema, "colour", classes))


def test_a_numeric_target_is_read_as_floats(houses):
    frame, source = houses
    schema = find_schema(source.select(["rooms"]), [False], Serial())
    blocks = SourceBlocks(source, schema, "rooms", numeric_target=True)
    responses = np.concatenate([b.y for b in blocks])
    assert responses.dtype == np.float64
    assert_array_equal(responses, frame["rooms"])


def test_a_missing_number_to_predict_is_named_by_its_row(houses):
    frame, source = houses
    schema = find_schema(source.select(["rooms"]), [False], Serial())
    row = int(frame["size"].isna().argmax())
    with pytest.raises(InvalidInput, match=rf"Row {row} of the response column 'size' holds nan"):
        list(SourceBlocks(source, schema, "size", numeric_target=True))


def test_a_misspelt_target_is_refused_with_the_nearest_name(houses):
    _, source = houses
    with pytest.raises(UnknownName, match="Did you mean 'colour'"):
        classes_of(source, "color", Serial())
    schema = find_schema(source.select(["rooms"]), [False], Serial())
    with pytest.raises(UnknownName, match="Did you mean 'weight'"):
        SourceBlocks(source, schema, weight="weights")


def test_negative_weights_are_refused_with_their_row(tmp_path):
    (tmp_path / "a.csv").write_text("a,w\n1,1\n2,-3\n")
    source = read(tmp_path / "a.csv")
    blocks = SourceBlocks(source, find_schema(source.select(["a"]), [False], Serial()), weight="w")
    with pytest.raises(InvalidInput, match="Row 1 has the weight -3"):
        list(blocks)


def beside(tmp_path, text, **columns):
    (tmp_path / "rows.csv").write_text(text)
    source = read(tmp_path / "rows.csv")
    schema = find_schema(source.select(["a"]), [False], Serial())
    return SourceBlocks(source, schema, rows_per_block=2, **columns)


def test_offsets_exposures_and_groups_come_from_their_columns(tmp_path):
    text = "a,o,e,g\n1,0.5,1,q\n2,-1,2,p\n3,0,4,q\n"
    groups = np.array(["p", "q"], dtype=object)
    blocks = list(beside(tmp_path, text, offset="o", exposure="e", group="g", groups=groups))
    offset = np.concatenate([block.offset for block in blocks])
    assert_allclose(offset, [0.5, -1 + np.log(2), np.log(4)])
    assert_array_equal(np.concatenate([block.group for block in blocks]), [1, 0, 1])
    assert all(block.X.n_features == 1 for block in blocks)
    alone = list(beside(tmp_path, text, exposure="e"))
    assert_allclose(np.concatenate([block.offset for block in alone]), np.log([1, 2, 4]))
    assert alone[0].group is None
    assert next(iter(beside(tmp_path, text))).offset is None


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("exposure", "0", r"Row 2 of the exposure column 'e' holds 0.*above 0"),
        ("exposure", "-3", r"Row 2 of the exposure column 'e' holds -3"),
        ("exposure", "", r"Row 2 of the exposure column 'e' holds nan"),
        ("offset", "", r"Row 2 of the offset column 'e' holds nan.*finite number\."),
    ],
)
def test_offsets_and_exposures_that_cannot_be_are_refused_with_their_row(
    tmp_path, column, value, expected
):
    blocks = beside(tmp_path, f"a,e\n1,1\n2,2\n3,{value}\n4,4\n", **{column: "e"})
    with pytest.raises(InvalidInput, match=expected):
        list(blocks)


def test_a_misspelt_offset_is_refused_with_the_nearest_name(tmp_path):
    with pytest.raises(UnknownName, match="Did you mean 'offset'"):
        beside(tmp_path, "a,offset\n1,1\n", offset="ofset")
