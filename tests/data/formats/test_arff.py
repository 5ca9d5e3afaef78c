"""ARFF files: what is declared is read, and what is wrong is refused by its line."""

import gzip
import io
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import arff as scipy_arff

from likely.data.formats import arff
from likely.data.formats.registry import read
from likely.errors import InvalidFile

WEATHER = """% a comment
@RELATION 'the weather'

@attribute outlook {sunny, overcast, 'light rain'}   % declared, never seen: overcast
@attribute 'air temperature' REAL
@Attribute humidity numeric
@attribute rooms integer
@attribute note string
@attribute day date "yyyy-MM-dd"
@data
sunny, 29.5, 85, 3, 'it''s', "2024-02-29"
% between rows
'light rain',?,70,?, "a, b" ,?
"sunny",-1e2,?,4,plain,"2024-03-01"   % behind a row
"""
WEATHER = WEATHER.replace("it''s", r"it\'s")


@pytest.fixture
def weather(tmp_path):
    path = tmp_path / "weather.arff"
    path.write_text(WEATHER)
    return path


def table_of(source):
    return pa.Table.from_batches(list(source))


def test_columns_are_as_the_header_declares_them(weather):
    source = read(weather)
    assert source.names == ("outlook", "air temperature", "humidity", "rooms", "note", "day")
    assert source.kinds == ("category", "number", "number", "number", "category", "category")
    assert source.n_rows == 3
    for _ in range(2):  # each time it is asked
        table = table_of(source)
        assert table["air temperature"].to_pylist() == [29.5, None, -100.0]
        assert table["humidity"].to_pylist() == [85, 70, None]
        assert table["rooms"].to_pylist() == [3, None, 4]
        assert table["note"].to_pylist() == ["it's", "a, b", "plain"]
        assert table["day"].to_pylist() == ["2024-02-29", None, "2024-03-01"]


def test_a_nominal_column_keeps_its_declared_levels_in_their_order(weather):
    column = table_of(read(weather))["outlook"].combine_chunks()
    assert column.dictionary.to_pylist() == ["sunny", "overcast", "light rain"]
    assert column.to_pylist() == ["sunny", "light rain", "sunny"]


def test_columns_can_be_selected(weather):
    chosen = read(weather).select(["note", "outlook"])
    assert table_of(chosen).column_names == ["note", "outlook"]
    assert chosen.kinds == ("category", "category")


def test_a_gzipped_file_and_a_stream_are_read_alike(weather, tmp_path):
    expected = table_of(read(weather)).to_pylist()
    with gzip.open(tmp_path / "weather.arff.gz", "wt") as file:
        file.write(WEATHER)
    assert table_of(read(tmp_path / "weather.arff.gz")).to_pylist() == expected
    assert table_of(read(io.StringIO(WEATHER))).to_pylist() == expected


def test_pieces_of_any_size_give_the_same_table(weather, monkeypatch):
    whole = table_of(read(weather))
    monkeypatch.setattr(arff, "BATCH_ROWS", 1)
    assert table_of(read(weather)).to_pylist() == whole.to_pylist()


def test_whole_numbers_are_integers_only_if_all_of_them_are(tmp_path):
    path = tmp_path / "numbers.arff"
    path.write_text("@relation r\n@attribute a real\n@attribute b numeric\n@data\n1,1\n2,1.5\n")
    types = table_of(read(path)).schema.types
    assert types == [pa.int64(), pa.float64()]


@given(seed=st.integers(0, 999))
def test_agrees_with_scipy(seed, tmp_path_factory):
    rng = np.random.default_rng(seed)
    n = 20
    numbers, letters = rng.normal(size=n), rng.choice(list("abc"), n)
    rows = "\n".join(f"{x!r},{c}" for x, c in zip(numbers.tolist(), letters, strict=True))
    text = f"@relation r\n@attribute x real\n@attribute c {{a,b,c}}\n@data\n{rows}\n"
    path = tmp_path_factory.mktemp("arff") / "rows.arff"
    path.write_text(text)
    ours = table_of(read(path))
    theirs, _ = scipy_arff.loadarff(io.StringIO(text))
    np.testing.assert_array_equal(ours["x"].to_numpy(), theirs["x"])
    assert ours["c"].to_pylist() == [value.decode() for value in theirs["c"]]


@given(
    values=st.lists(
        st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"])),
        min_size=1,
    )
)
def test_any_text_that_is_quoted_is_read_as_it_was(values, tmp_path_factory):
    quoted = ["'" + re.sub(r"([\\'])", r"\\\1", value) + "'" for value in values]
    path = tmp_path_factory.mktemp("arff") / "text.arff"
    path.write_text("@relation r\n@attribute t string\n@data\n" + "\n".join(quoted) + "\n")
    assert table_of(read(path))["t"].to_pylist() == values


HEAD = "@relation r\n@attribute size numeric\n@attribute colour {red,blue}\n@data\n"
BROKEN = {
    "a sparse row": (HEAD + "{0 1.5, 1 red}\n", 5, "sparse.*SparseToNonSparse"),
    "a weight": (HEAD + "1,red,{5}\n", 5, "weight.*--weight"),
    "too few values": (HEAD + "1,red\n2\n", 6, "has 1 values; the header declares 2"),
    "an undeclared level": (HEAD + "1,red\n2,green\n", 6, "'green'.*red, blue.*Declare"),
    "a word for a number": (HEAD + "1,red\nbig,blue\n", 6, "'big'; a number was expected"),
    "a Boolean for a number": (HEAD + "true,red\n", 5, "'true'; a number was expected"),
    "an empty value": (HEAD + "1,red\n,blue\n", 6, "value 1 is empty.*\\?"),
    "an open quote": (HEAD + "1,'red\n", 5, "value 2 is not quoted correctly"),
    "names that repeat": ("@relation r\n@attribute a real\n@attribute a real\n", 3, "two columns"),
    "levels that repeat": ("@relation r\n@attribute a {x,x}\n@data\n", 2, "not all different"),
    "an open brace": ("@relation r\n@attribute a {x,y\n@data\n", 2, "Close the brace"),
    "a relational column": ("@relation r\n@attribute b relational\n", 2, "'relational'.*CSV"),
    "no type": ("@relation r\n@attribute b\n@data\n", 2, "not a declaration"),
    "data before columns": ("@relation r\n@data\n1\n", 2, "before any @attribute"),
    "a stray line": ("@relation r\nsize,colour\n", 2, "comes before @data"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_is_refused_by_its_line(name, tmp_path):
    text, line, said = BROKEN[name]
    path = tmp_path / "broken.arff"
    path.write_text(text)
    with pytest.raises(InvalidFile, match=said) as error:
        read(path)
    assert error.value.line == line


@pytest.mark.parametrize(
    ("text", "said"), [(HEAD, "no row after @data"), (HEAD[:36], "no @data line")]
)
def test_a_file_that_ends_too_early_is_refused(text, said, tmp_path):
    path = tmp_path / "short.arff"
    path.write_text(text)
    with pytest.raises(InvalidFile, match=said):
        read(path)
