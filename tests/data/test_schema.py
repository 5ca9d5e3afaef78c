"""The schema of a table: kinds from types, categories that add, encoding and back."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from likely.data.frames import as_table, library_of
from likely.data.layouts.base import Csr
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Mixed
from likely.data.schema import Schema
from likely.data.source import kinds_of
from likely.errors import InvalidInput

COLUMNS = {
    "size": [1.5, None, 2.0, 4.0],
    "colour": ["red", None, "blue", "red"],
    "sold": [True, False, True, True],
    "rooms": [3, 1, 3, 2],
}
KINDS = ("number", "category", "boolean", "number")
AS_CODES = (False, True, False, True)

FRAMES = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas objects": lambda: pd.DataFrame(COLUMNS, dtype=object),
    "pandas categorical": lambda: pd.DataFrame(COLUMNS).astype({"colour": "category"}),
    "pandas nullable": lambda: pd.DataFrame(COLUMNS).convert_dtypes(),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars categorical": lambda: pl.DataFrame(COLUMNS).cast({"colour": pl.Categorical}),
    "polars enum": lambda: pl.DataFrame(COLUMNS).cast({"colour": pl.Enum(["red", "blue", "x"])}),
    "arrow": lambda: pa.table(COLUMNS),
    "arrow in chunks": lambda: pa.concat_tables([pa.table(COLUMNS)[:1], pa.table(COLUMNS)[1:]]),
    "arrow dictionary": lambda: pa.table(
        {**COLUMNS, "colour": pa.array(COLUMNS["colour"]).dictionary_encode()}
    ),
    "record batch": lambda: pa.RecordBatch.from_pydict(COLUMNS),
}
every_frame = pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES.keys())


@every_frame
def test_kinds_of_a_frame_come_from_its_types(make):
    assert kinds_of(as_table(make())) == (tuple(COLUMNS), KINDS)


@every_frame
def test_every_frame_encodes_alike(make):
    schema = Schema.of(make(), AS_CODES)
    assert schema.sizes == (2, 3)
    assert schema.categories[1].tolist() == ["blue", "red"]
    assert schema.categories[3].tolist() == [1, 2, 3]
    design, unseen = schema.encode(make())
    assert isinstance(design, Mixed)
    assert_array_equal(design.numeric, [[1.5, 1], [np.nan, 0], [2, 1], [4, 1]])
    assert_array_equal(design.codes, [[1, 2], [-1, 0], [0, 2], [1, 1]])
    assert design.numeric.dtype == np.float64
    assert design.codes.dtype == np.int32
    assert design.codes.flags.c_contiguous
    assert design.sizes == (2, 3)
    assert unseen == ()


@every_frame
def test_learning_is_describing_and_encoding(make):
    schema, design = Schema.learn(make(), AS_CODES)
    expected = Schema.of(make(), AS_CODES)
    assert [None if c is None else c.tolist() for c in schema.categories] == [
        None if c is None else c.tolist() for c in expected.categories
    ]
    assert_array_equal(design.codes, expected.encode(make()).design.codes)


@pytest.mark.parametrize(
    ("array", "kinds"),
    [
        (np.zeros((2, 2)), ("number", "number")),
        (np.zeros((2, 1), dtype=np.int8), ("number",)),
        (np.zeros((2, 1), dtype=bool), ("boolean",)),
        (np.array([["a"], ["b"]]), ("category",)),
        (np.array([[1, "a"], [2.5, "b"]], dtype=object), ("number", "category")),
        (np.array([[1, True], [None, False]], dtype=object), ("number", "boolean")),
        (np.array([[1], ["a"]], dtype=object), ("category",)),
        ([[1, "a"], [2, "b"]], ("number", "category")),
        (sparse.csr_array((2, 3)), ("number",) * 3),
        (sparse.coo_matrix((2, 1)), ("number",)),
    ],
)
def test_kinds_of_an_array(array, kinds):
    assert kinds_of(as_table(array)) == (None, kinds)


def test_float_arrays_pass_without_a_copy():
    for dtype in (np.float64, np.float32, np.int64, np.uint8):
        X = np.ones((5, 3), dtype=dtype)
        design = Schema.of(X, [False] * 3).encode(X).design
        assert isinstance(design, Dense)
        assert design.values is X


def test_integer_codes_pass_without_a_copy():
    for dtype in (np.int64, np.int32, np.int8, np.uint16):
        X = np.array([[0, 2], [1, 0], [0, 1]], dtype=dtype)
        schema, design = Schema.learn(X, [True, True])
        assert np.shares_memory(design.codes, X)
        assert np.shares_memory(schema.encode(X).design.codes, X)
        assert schema.sizes == (2, 3)


def test_booleans_as_codes_keep_their_kind():
    X = np.array([[True, True], [False, True]])
    schema, design = Schema.learn(X, [True, True])
    assert [c.tolist() for c in schema.categories] == [[False, True], [True]]
    assert_array_equal(design.codes, [[1, 0], [0, 0]])


def test_codes_with_gaps_are_recoded():
    X = np.array([[5, 0], [9, 0], [5, 70_000_000_000]])
    schema, design = Schema.learn(X, [True, True])
    assert [c.tolist() for c in schema.categories] == [[5, 9], [0, 70_000_000_000]]
    assert_array_equal(design.codes, [[0, 0], [1, 0], [0, 1]])


def test_floats_as_codes_are_used_as_they_are():
    X = np.array([[0.0, 0.5], [2.0, np.nan], [np.nan, -1.5]])
    schema, design = Schema.learn(X, [True, True])
    assert [c.tolist() for c in schema.categories] == [[0.0, 2.0], [-1.5, 0.5]]
    assert_array_equal(design.codes, [[0, 1], [1, -1], [-1, 0]])


def test_integers_meet_floats_of_the_same_value():
    schema = Schema.of(np.array([[1], [2]]), [True])
    design, unseen = schema.encode(np.array([[2.0], [1.0], [1.5]]))
    assert_array_equal(design.codes, [[1], [0], [-1]])
    assert unseen == (("column 0", 1.5),)


def test_a_rare_value_late_in_a_long_column_is_found():
    X = np.zeros((100_000, 2), dtype=np.int16)
    X[:, 1] = np.arange(100_000) % 7
    X[-1, 0], X[-2, 0] = 3, -2
    schema, design = Schema.learn(X, [True, True])
    assert [c.tolist() for c in schema.categories] == [[-2, 0, 3], [0, 1, 2, 3, 4, 5, 6]]
    assert_array_equal(design.codes[-2:], [[0, 99_998 % 7], [2, 99_999 % 7]])


@pytest.mark.parametrize("value", [7, -1])
def test_an_unseen_integer_has_no_code(value):
    schema = Schema.of(np.array([[0, 0], [1, 1]]), [True, True])
    design, unseen = schema.encode(np.array([[0, 1], [1, value], [0, value + 1]]))
    assert design.codes[1, 1] == -1
    assert unseen == (("column 1", value),)


@every_frame
def test_unseen_categories_are_named_by_column_and_first_value(make):
    schema = Schema.of(pa.table(COLUMNS)[2:], AS_CODES)  # without rooms = 1
    design, unseen = schema.encode(make())
    assert unseen == (("rooms", 1),)
    assert_array_equal(design.codes[:, 1], [1, -1, 1, 0])


def test_sparse_tables_stay_sparse_and_sum_their_duplicates():
    X = sparse.coo_matrix(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 3))
    design = Schema.of(X, [False] * 3).encode(X).design
    assert isinstance(design, Csr)
    assert design.values.data.tolist() == [3.0]


def test_sparse_tables_are_not_read_as_categories():
    with pytest.raises(InvalidInput, match=r"Column 0 of a sparse table.*toarray"):
        Schema.of(sparse.csr_array((2, 1)), [True])


def test_columns_are_found_by_name_in_any_order():
    schema = Schema.of(pa.table(COLUMNS), AS_CODES)
    shuffled = pa.table({"extra": [0] * 4, **dict(reversed(COLUMNS.items()))})
    assert_array_equal(
        schema.encode(shuffled).design.codes, schema.encode(pa.table(COLUMNS)).design.codes
    )


def test_a_missing_column_is_refused_with_the_nearest_name():
    schema = Schema.of(pa.table(COLUMNS), AS_CODES)
    renamed = pa.table(COLUMNS).rename_columns(["size", "color", "sold", "rooms"])
    with pytest.raises(InvalidInput, match=r"no column 'colour'.*Did you mean 'color'"):
        schema.encode(renamed)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table({"when": [datetime.date(2020, 1, 1)]}), "Column 'when'.*drop it"),
        (pd.DataFrame({"when": pd.to_datetime(["2020-01-01"])}), "Column 'when'"),
        (pl.DataFrame({"many": [[1, 2]]}), "Column 'many'"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), "Column 0"),
        (np.array([[1 + 2j]]), "Column 0"),
        (np.zeros(3), "1 dimension.*[Rr]eshape"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "have the same name"),
        (3.0, "found float"),
    ],
)
def test_what_is_no_table_of_features_is_refused(table, message):
    with pytest.raises(InvalidInput, match=message):
        kinds_of(as_table(table))


def test_text_where_numbers_were_fitted_is_refused():
    schema = Schema.of(pa.table({"a": [1.0]}), [False])
    with pytest.raises(InvalidInput, match="Column 'a' must hold numbers; found text"):
        schema.encode(pa.table({"a": ["x"]}))


def test_another_number_of_columns_is_refused():
    with pytest.raises(InvalidInput, match="has 3 columns; 2 were expected"):
        Schema.of(np.zeros((1, 2)), [False] * 2).encode(np.zeros((1, 3)))


values = st.one_of(
    st.none(), st.integers(-3, 3), st.floats(-2, 2), st.text("ab", max_size=2), st.booleans()
)


def as_objects(rows):
    out = np.empty((len(rows), 1), dtype=object)
    out[:, 0] = rows
    return out


@settings(deadline=None)
@given(rows=st.lists(values, max_size=12), cut=st.integers(0, 12))
def test_schemas_of_blocks_add(rows, cut):
    whole = Schema.of(as_objects(rows), [True])
    parts = Schema.of(as_objects(rows[:cut]), [True]) + Schema.of(as_objects(rows[cut:]), [True])
    assert parts.categories[0].tolist() == whole.categories[0].tolist()


@settings(deadline=None)
@given(rows=st.lists(values, min_size=1, max_size=12))
def test_codes_point_at_the_values(rows):
    schema, design = Schema.learn(as_objects(rows), [True])
    found = [None if c < 0 else schema.categories[0][c] for c in design.codes[:, 0]]
    assert found == rows


def test_booleans_among_numbers_are_numbers():
    schema, design = Schema.learn(as_objects([False, 0, True, "a", 2]), [True])
    assert [type(value) for value in schema.categories[0]] == [int, int, int, str]
    assert_array_equal(design.codes[:, 0], [0, 0, 1, 3, 2])


def test_adding_other_columns_is_refused():
    a, b = (Schema.of(pa.table({name: [1]}), [False]) for name in "ab")
    with pytest.raises(InvalidInput, match="columns a and b"):
        a + b


def test_recoding_leads_from_old_codes_to_new_ones():
    old = Schema.of(pa.table({"c": ["b", "d"], "n": [2, 3]}), [True, True])
    wider = old + Schema.of(pa.table({"c": ["a", "c"], "n": [3, 0]}), [True, True])
    assert [codes.tolist() for codes in old.recoding(wider)] == [[1, 3], [1, 2]]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_decoding_undoes_encoding_in_the_callers_library(library):
    make = FRAMES["arrow" if library == "pyarrow" else library]
    table = make()
    schema, design = Schema.learn(table, AS_CODES)
    back = schema.decode(design.numeric, design.codes, library_of(table))
    assert library_of(back) == library
    assert list(pl.DataFrame(back).columns) == list(COLUMNS)
    expected = pa.table(COLUMNS).to_pylist()
    assert pl.DataFrame(back).fill_nan(None).to_dicts() == expected


def test_decoding_without_names_gives_an_array():
    X = np.array([[1.5, 3.0], [2.5, np.nan]])
    schema, design = Schema.learn(X, [False, True])
    back = schema.decode(design.numeric, design.codes)
    assert back.dtype == np.float64
    assert_array_equal(back, X)
    words = np.array([[1.5, "a"], [2.5, None]], dtype=object)
    schema, design = Schema.learn(words, [False, True])
    assert schema.decode(design.numeric, design.codes).tolist() == words.tolist()
