"""Files as sources: round trips, settled types, fixed blocks, and refusals that name the line."""

import csv
import gzip
import io
import json
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likely.data.arrow import in_one_table
from likely.data.formats import csv_files, json_lines
from likely.data.formats.column_types import ColumnTypes, join, type_of_value
from likely.data.formats.registry import read
from likely.data.source_blocks import chunks
from likely.errors import InvalidFile, UnknownName
from likely.numerics.additive import pairwise_total

NAMES = ("size", "colour", "sold", "rooms", "note")
KINDS = ("number", "category", "boolean", "number", "category")


def some_rows(n=500, seed=0):
    rng = np.random.default_rng(seed)
    words = np.array(["red", "a, b", 'say "hi"', "two\nlines", None], dtype=object)
    return pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "colour": words[rng.integers(0, 5, n)],
            "sold": rng.random(n) < 0.5,
            "rooms": rng.integers(-5, 90, n),
            "note": np.array(["7", "seven"], dtype=object)[rng.integers(0, 2, n)],
        }
    )


def pandas_jsonl(frame, path):
    frame.to_json(path, orient="records", lines=True, double_precision=15)


WRITERS = {
    "pandas.csv": lambda frame, path: frame.to_csv(path, index=False),
    "pandas.csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "pandas.tsv": lambda frame, path: frame.to_csv(path, sep="\t", index=False),
    "semicolons.csv": lambda frame, path: frame.to_csv(path, sep=";", index=False),
    "marked.csv": lambda frame, path: frame.to_csv(path, index=False, na_rep="NA"),
    "signed.csv": lambda frame, path: frame.to_csv(path, index=False, encoding="utf-8-sig"),
    "windows.csv": lambda frame, path: frame.to_csv(path, index=False, lineterminator="\r\n"),
    "pandas.jsonl": pandas_jsonl,
    "pandas.ndjson.gz": pandas_jsonl,
    "pandas.parquet": lambda frame, path: frame.to_parquet(path),
    "polars.csv": lambda frame, path: pl.from_pandas(frame).write_csv(path),
    "polars.ndjson": lambda frame, path: pl.from_pandas(frame).write_ndjson(path),
    "polars.parquet": lambda frame, path: pl.from_pandas(frame).write_parquet(path),
}


def rows_of(source):
    return pa.Table.from_batches(list(source)).to_pandas()


@pytest.mark.parametrize("name", WRITERS)
def test_what_was_written_is_read(name, tmp_path):
    frame = some_rows()
    WRITERS[name](frame, str(tmp_path / name))
    source = read(tmp_path / name)
    assert source.names == NAMES
    assert source.kinds == KINDS
    assert source.n_rows == 500
    for _ in range(2):  # each time it is asked
        found = rows_of(source)
        for column in NAMES:
            expected = frame[column].astype(object).where(frame[column].notna(), None)
            given_ = found[column].astype(object).where(found[column].notna(), None)
            if column == "size":
                expected, given_ = expected.astype(float), given_.astype(float)
                np.testing.assert_allclose(given_, expected, rtol=1e-12)
            else:
                assert given_.tolist() == expected.tolist()


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_columns_are_selected_and_dropped(name, tmp_path):
    WRITERS[f"pandas.{name.partition('.')[2]}"](some_rows(20), str(tmp_path / name))
    source = read(tmp_path / name)
    chosen = source.select(["rooms", "size"])
    assert (chosen.names, chosen.kinds) == (("rooms", "size"), ("number", "number"))
    assert list(rows_of(chosen).columns) == ["rooms", "size"]
    assert rows_of(chosen)["rooms"].tolist() == some_rows(20)["rooms"].tolist()
    assert source.drop(["colour", "note"]).names == ("size", "sold", "rooms")
    with pytest.raises(UnknownName, match="Did you mean 'rooms'"):
        source.drop(["room"])


TYPES = [
    (["1", "2", ""], "number", [1, 2, None]),
    (["1", "2.5", "NA"], "number", [1, 2.5, None]),
    (["1", "1e400", "-inf"], "number", [1, np.inf, -np.inf]),
    (["99999999999999999999", "1", "nan"], "number", [1e20, 1, None]),
    (["true", "False", "null"], "boolean", [True, False, None]),
    (["true", "1", "0"], "category", ["true", "1", "0"]),
    (["1", "x", "NaN"], "category", ["1", "x", None]),
    (["2020-01-01", "2021-01-01", ""], "category", ["2020-01-01", "2021-01-01", None]),
    (["", "NA", "null"], "number", [None, None, None]),
    ([" 1 ", " 2.5", "3"], "number", [1, 2.5, 3]),
    (["1", "two words", " pad "], "category", ["1", "two words", " pad "]),
]


@pytest.mark.parametrize(("written", "kind", "expected"), TYPES)
def test_types_of_delimited_text_are_the_least_that_hold_all_values(
    written, kind, expected, tmp_path
):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "".join(f"{value},0\n" for value in written))
    source = read(path)
    assert source.kinds[0] == kind
    assert pa.Table.from_batches(list(source)).column("a").to_pylist() == expected


@pytest.mark.parametrize(
    ("written", "kind", "expected"),
    [
        ([1, 2, None], "number", [1, 2, None]),
        ([1, 2.5, "NA"], "number", [1, 2.5, None]),
        ([1, float("inf"), 2], "number", [1, np.inf, 2]),
        ([10**20, 1, 2], "number", [1e20, 1, 2]),
        ([True, False, None], "boolean", [True, False, None]),
        ([1, "x", True], "category", ["1", "x", "true"]),
        (["2020-01-01", "", "NA"], "category", ["2020-01-01", None, "NA"]),  # null is missing
        ([1, "x", "NA"], "category", ["1", "x", "NA"]),
        (["", "NA", None], "number", [None, None, None]),
        ([[1], {"b": 2}, 3], "other", ["[1]", '{"b": 2}', "3"]),
    ],
)
def test_types_of_json_lines_are_the_least_that_hold_all_values(written, kind, expected, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"a": value, "b": 0}) + "\n" for value in written))
    source = read(path)
    assert source.kinds[0] == kind
    assert pa.Table.from_batches(list(source)).column("a").to_pylist() == expected


def test_a_type_that_changes_late_in_a_file_is_seen(tmp_path, monkeypatch):
    """The values differ many chunks after the first, where readers that guess have guessed."""
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(json_lines, "PIECE_BYTES", 1000)
    values = ["1"] * 3000 + ["0.5"] + ["1"] * 3000
    (tmp_path / "a.csv").write_text("a,b\n" + "".join(f"{v},x\n" for v in [*values, "x"]))
    (tmp_path / "b.csv").write_text("a,b\n" + "".join(f"{v},x\n" for v in values))
    (tmp_path / "a.jsonl").write_text("".join(f'{{"a": {v}}}\n' for v in [*values, '"x"']))
    (tmp_path / "b.jsonl").write_text("".join(f'{{"a": {v}}}\n' for v in [*values, '"NA"']))
    for name in ("a.csv", "a.jsonl"):
        source = read(tmp_path / name)
        assert source.kinds[0] == "category"
        assert rows_of(source)["a"].tolist() == [*values, "x"]
    for name in ("b.csv", "b.jsonl"):
        source = read(tmp_path / name)
        assert source.kinds[0] == "number"
        assert rows_of(source)["a"].sum() == 6000.5


def test_absent_keys_are_missing(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n\n{"b": "x", "a": 2}\n{"b": "y"}')
    source = read(tmp_path / "a.jsonl")
    assert source.names == ("a", "b")
    table = pa.Table.from_batches(list(source))
    assert table.to_pydict() == {"a": [1, 2, None], "b": [None, "x", "y"]}


types = st.sampled_from(["null", "boolean", "integer", "float", "text", "nested"])


@given(types, types, types)
def test_types_merge_in_any_order(a, b, c):
    assert join(a, b) == join(b, a)
    assert join(join(a, b), c) == join(a, join(b, c))
    assert join(a, a) == join("null", a) == a


json_values = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=2))


@given(st.lists(json_values, min_size=1, max_size=8), st.integers(0, 8))
def test_column_types_of_blocks_add(rows, cut):
    def of(part):
        one_each = [ColumnTypes({"a": type_of_value(value)}, 1) for value in part]
        return pairwise_total([ColumnTypes({}, 0), *one_each])

    parts = of(rows[:cut]) + of(rows[cut:])
    assert (parts.types, parts.n_rows) == (of(rows).types, len(rows))


BAD = {
    "wrong number of fields": ("a.csv", b"a,b\n1,2\n3\n4,5\n", 3, "has 1 fields; the header has 2"),
    "unclosed quote": ("a.csv", b'a,b\n1,2\n3,"4\n5,6\n', 3, "quote"),
    "unclosed quote among others": ("a.csv", b'a,b\n1,"2"\n3,"4\n5,"6"\n', 3, "quote"),
    "not UTF-8": ("a.csv", b"a,b\n1,x\n2,\xe9t\xe9\n", 3, "0xe9 is not UTF-8"),
    "lines within quotes count": ("a.csv", b'a,b\n1,"x\ny\nz"\n3\n', 5, "has 1 fields"),
    "same names": ("a.csv", b"a,b,a\n1,2,3\n", 1, "two columns are called 'a'"),
    "blank header": ("a.csv", b"\na,b\n1,2\n", 1, "column names were expected"),
    "header only": ("a.csv", b"a,b\n", None, "a header but no row"),
    "empty": ("a.csv", b"", None, "the file is empty"),
    "broken JSON": ("a.jsonl", b'{"a": 1}\n{"a": 2\n{"a": 3}\n', 2, "not valid JSON"),
    "JSON not UTF-8": ("a.jsonl", b'{"a": "x"}\n{"a": "\xe9"}\n', 2, "not valid JSON in UTF-8"),
    "JSON without objects": ("a.jsonl", b'{"a": 1}\n[1, 2]\n', 2, "list, not an object"),
    "a JSON array": ("a.jsonl", b'[{"a": 1},\n{"a": 2}]\n', 1, "one object per line"),
    "CSV called JSON": ("a.jsonl", b"a,b\n1,2\n", 1, "not valid JSON"),
    "JSON without keys": ("a.jsonl", b"{}\n\n", None, "no object with a key"),
    "Parquet called CSV": ("a.csv", b"PAR1....PAR1", None, "is a Parquet file.*format='parquet'"),
    "CSV called Parquet": (
        "a.parquet",
        b"a,b\n1,2\n" * 9,
        None,
        "not a complete Parq.*format='csv'",
    ),
    "cut Parquet": ("a.parquet", b"PAR1" + b"\0" * 50, None, "not a complete Parquet"),
    "gzip called CSV": ("a.csv", gzip.compress(b"a\n1\n"), None, "gzipped, although.*Rename"),
    "CSV called gzip": ("a.csv.gz", b"a\n1\n", None, "not gzipped, although"),
    "cut gzip": ("a.csv.gz", gzip.compress(b"a,b\n1,2\n" * 99)[:-9], None, "cut short"),
    "cut gzip of JSON": ("a.jsonl.gz", gzip.compress(b'{"a": 1}\n' * 99)[:-9], None, "cut short"),
    "workbook called CSV": ("a.csv", b"PK\x03\x04rest", None, "workbook.*export"),
    "UTF-16": ("a.csv", "a,b\n1,2\n".encode("utf-16"), None, "UTF-16.*iconv"),
    "unknown suffix": ("a.xyz", b"a,b\n1,2\n", None, "ends in '.xyz'.*format="),
    "a workbook": (
        "a.xlsx",
        b"PK\x03\x04",
        None,
        "not a complete workbook.*export the sheet as CSV",
    ),
    "a list in JSON": ("a.json", b"[]", None, r"'\.json'.*one object per line"),
    "old line ends": ("a.csv", b"a,b\r1,2\r", 1, "carriage return.*Convert the file"),
    "no mark": ("a.csv", "a,b\n1,2\n".encode("utf-16-le"), None, "NUL bytes.*iconv"),
    "a web page": ("a.csv", b"<!DOCTYPE html>\n", None, "is a web page.*Download"),
}


@pytest.mark.parametrize(("name", "content", "line", "message"), BAD.values(), ids=BAD.keys())
def test_bad_files_are_refused_with_file_and_line(name, content, line, message, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidFile, match=message) as caught:
        list(read(path))
    assert caught.value.path == str(path)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{path}, line {line}: " if line else f"{path}: ")


@pytest.mark.parametrize(
    ("bad", "message"),
    [("1,2,3,4", "4 fields"), ('1,"x,3', "quote"), ("1,\ud800,3", "not UTF-8")],
)
def test_a_malformed_row_in_the_middle_of_a_large_file_is_found(bad, message, tmp_path):
    path = tmp_path / "large.csv"
    half = "0.25,word,12345\n" * 200_000
    path.write_text("a,b,c\n" + half + bad + "\n" + half, errors="surrogatepass")
    with pytest.raises(InvalidFile, match=message) as caught:
        read(path)
    assert caught.value.line == 200_002


def test_a_missing_file_is_refused_with_the_nearest_name(tmp_path):
    (tmp_path / "houses.csv").touch()
    with pytest.raises(InvalidFile, match=r"no such file.*Did you mean 'houses.csv'"):
        read(tmp_path / "house.csv")


def test_a_folder_and_an_unknown_format_are_refused(tmp_path):
    with pytest.raises(UnknownName, match="Did you mean 'csv'"):
        read("a.csv", format="cvs")
    with pytest.raises(InvalidFile, match=r"is a folder.*Name one of the files"):
        read(tmp_path)


def test_a_file_that_changes_under_a_source_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n2\n")
    source = read(path)
    path.write_text("a\n1\nx\n")
    with pytest.raises(InvalidFile, match="line 3: column 'a' has the value 'x'; int64"):
        list(source)


@pytest.mark.parametrize(
    "write", [lambda text: io.StringIO(text), lambda t: io.BytesIO(t.encode())]
)
def test_streams_are_read_more_than_once(write):
    source = read(write("a,b\n1,x\n2,y\n"))
    assert rows_of(source)["b"].tolist() == rows_of(source)["b"].tolist() == ["x", "y"]


def test_the_format_of_a_stream_is_seen_from_its_start():
    parquet = io.BytesIO()
    pd.DataFrame({"a": [1, 2]}).to_parquet(parquet)
    parquet.seek(0)
    assert rows_of(read(parquet))["a"].tolist() == [1, 2]
    assert rows_of(read(io.StringIO('{"a": 1}\n{"a": 2}\n')))["a"].tolist() == [1, 2]
    assert rows_of(read(io.BytesIO(gzip.compress(b"a\n1\n2\n"))))["a"].tolist() == [1, 2]


def test_a_dash_is_the_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\tb\n1\tx\n")))
    assert rows_of(read("-", format="tsv")).to_dict("list") == {"a": [1], "b": ["x"]}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(InvalidFile, match="standard input: the input is empty"):
        read("-")


@settings(deadline=None, max_examples=20)
@given(sizes=st.lists(st.integers(0, 9), min_size=1, max_size=8), rows=st.integers(1, 10))
def test_chunks_do_not_depend_on_how_the_reader_cuts(sizes, rows):
    ends = np.cumsum([0, *sizes])
    batches = [
        pa.RecordBatch.from_pydict({"a": pa.array(np.arange(start, stop))})
        for start, stop in pairwise(ends)
    ]
    made = [table.column("a").to_pylist() for table in chunks(batches, rows)]
    assert [value for part in made for value in part] == list(range(ends[-1]))
    assert all(len(part) == rows for part in made[:-1])
    assert all(made)


MEMORY = """
import re, sys
from likely.compute.executor import Serial
from likely.data.source_blocks import SourceBlocks, find_schema
from likely.data.formats.registry import read
source = read(sys.argv[1])
schema = find_schema(source, [kind == "category" for kind in source.kinds], Serial())
rows = sum(block.n_rows for block in SourceBlocks(source, schema))
status = open("/proc/self/status").read()  # ru_maxrss would begin with the parent's
print(rows, int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) // 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_a_csv_of_two_gigabytes_fits_in_bounded_memory(tmp_path):
    path = tmp_path / "two-gigabytes.csv"
    piece = "".join(f"{0.1 * i:.6f},{i},word {i % 97},{i % 3}\n" for i in range(40_000))
    times = 2 * 2**30 // len(piece) + 1
    with open(path, "w") as stream:
        stream.write("x,i,word,y\n")
        for _ in range(times):
            stream.write(piece)
    made = subprocess.run(
        [sys.executable, "-c", MEMORY, str(path)], capture_output=True, text=True, check=True
    )
    rows, megabytes = map(int, made.stdout.split())
    assert rows == 40_000 * times
    assert megabytes < 500


def test_a_parquet_file_is_not_kept_while_it_is_read(tmp_path):
    """A buffer that reads ahead would hold every row group until the last."""
    table = pa.table({f"x{j}": np.random.default_rng(j).normal(size=200_000) for j in range(10)})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=10_000, compression="none")
    size = (tmp_path / "rows.parquet").stat().st_size
    del table
    before, most = pa.total_allocated_bytes(), 0
    for _ in read(tmp_path / "rows.parquet"):
        most = max(most, pa.total_allocated_bytes() - before)
    assert most < size / 2


QUOTED_TEXTS = {
    "plain": ['"the film" is good', 'it is 5" long', 'she said "no"', '"whole"'],
    "even": ['"the film" is good', "it was good"],
    "open": ['"the film is good', "it was good"],
    "swallowing": ['"the film is good', 'it was "good"'],
}


@pytest.mark.parametrize("texts", QUOTED_TEXTS.values(), ids=QUOTED_TEXTS)
def test_quotes_between_tabs_are_text_where_they_enclose_no_field(tmp_path, texts):
    path = tmp_path / "films.tsv"
    path.write_text("text\tlabel\n" + "".join(f"{text}\tpos\n" for text in texts))
    expected = pd.read_csv(path, sep="\t", quoting=csv.QUOTE_NONE)
    source = read(path)
    assert in_one_table(source).to_pydict() == expected.to_dict("list")
    assert in_one_table(source.select(["text"]))["text"].to_pylist() == texts


@pytest.mark.parametrize(
    "rows",
    ['"a\tb"\tpos\n', '"a\nb"\tpos\n', '"said ""no"""\tpos\n', '5" long\tpos\n"x"\tneg\n'],
    ids=["a tab", "a line", "doubled", "whole fields"],
)
def test_quotes_that_enclose_fields_between_tabs_are_read_as_pandas_reads_them(tmp_path, rows):
    path = tmp_path / "films.tsv"
    path.write_text("text\tlabel\n" + rows)
    expected = pd.read_csv(path, sep="\t").to_dict("list")
    assert in_one_table(read(path)).to_pydict() == expected


def test_quotes_between_commas_still_enclose_fields(tmp_path):
    (tmp_path / "films.csv").write_text('text,label\n"the film is good,pos\nb,neg\n')
    with pytest.raises(InvalidFile, match="line 2: a quoted field that begins here is not closed"):
        read(tmp_path / "films.csv")


def test_rows_between_tabs_that_are_incomplete_either_way_are_refused(tmp_path):
    (tmp_path / "films.tsv").write_text('text\tlabel\n"the film\tis\tpos\nb\tneg\n')
    with pytest.raises(InvalidFile, match="line 2"):
        read(tmp_path / "films.tsv")
