"""Small files that would fill the memory are refused, with what to do, before they do."""

import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likely
from likely.data.formats import registry
from likely.data.formats.registry import SMALL_TABLE
from likely.data.formats.text_files import MOST_COLUMNS
from likely.errors import InvalidFile, InvalidInput
from likely.text import bag_of_words, documents, reader
from likely.text.bag_of_words import BagOfWords
from likely.text.reader import TermTable

MOST_MEGABYTES = 1000


def wide_csv(path, n_columns):
    names = ",".join(f"x{j}" for j in range(n_columns))
    path.write_text(f"{names}\n{','.join(['1'] * n_columns)}\n{','.join(['2'] * n_columns)}\n")
    return path


def repeated_cells(path, letters, n_rows, *, stores_schema=True):
    """A Parquet file of few kilobytes: one long text, in every row."""
    codes = pa.array(np.zeros(n_rows, dtype=np.int32))
    text = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * letters]))
    table = pa.table({"text": text, "y": np.arange(n_rows) % 2})
    pq.write_table(table, path, store_schema=stores_schema)
    return path


def different_words(path, n_documents):
    lines = (
        " ".join(f"w{d * 1000 + k:07d}" for k in range(1000)) + f",{'ab'[d % 2]}\n"
        for d in range(n_documents)
    )
    path.write_text("text,label\n" + "".join(lines))
    return path


def peak_megabytes(code):
    """The most memory that a process had, and what it printed."""
    code += (
        "\nimport re\nprint(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=True
    )
    *printed, peak = done.stdout.splitlines()
    return int(peak) / 1024, "\n".join(printed)


REFUSED = """
import likely as lk
try:
    {}
except lk.errors.InvalidInput as error:
    print(error)
"""


def test_a_csv_file_of_a_million_columns_is_refused_in_little_memory(tmp_path):
    path = wide_csv(tmp_path / "wide.csv", 10**6)
    peak, said = peak_megabytes(REFUSED.format(f"lk.read({str(path)!r})"))
    assert "there are 1,000,000 columns; a table may have 100,000. If rows and columns" in said
    assert peak < MOST_MEGABYTES


def test_an_object_of_a_million_keys_is_refused_in_little_memory(tmp_path):
    path = tmp_path / "wide.jsonl"
    path.write_text("{" + ",".join(f'"x{j}":1' for j in range(10**6)) + "}\n")
    peak, said = peak_megabytes(REFUSED.format(f"lk.read({str(path)!r})"))
    assert "there are 1,000,000 columns; a table may have 100,000" in said
    assert peak < MOST_MEGABYTES


def test_keys_of_all_lines_together_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("likely.data.formats.text_files.MOST_COLUMNS", 3)
    monkeypatch.setattr("likely.data.formats.json_lines.PIECE_BYTES", 8)
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f'{{"x{j}": 1}}\n' for j in range(4)))
    with pytest.raises(InvalidFile, match="there are 4 columns; a table may have 3"):
        likely.read(path)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "arff"])
def test_more_columns_than_a_table_may_have_are_refused(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr("likely.data.formats.text_files.MOST_COLUMNS", 3)
    for n, refused in ((3, False), (4, True)):
        path = tmp_path / f"t{n}.{suffix}"
        names = [f"x{j}" for j in range(n)]
        if suffix == "csv":
            wide_csv(path, n)
        elif suffix == "parquet":
            pq.write_table(pa.table({name: [1, 2] for name in names}), path)
        elif suffix == "jsonl":
            path.write_text("{" + ",".join(f'"{name}":1' for name in names) + "}\n")
        else:
            attributes = "".join(f"@attribute {name} numeric\n" for name in names)
            path.write_text(f"@relation r\n{attributes}@data\n{','.join('1' * n)}\n")
        if refused:
            with pytest.raises(InvalidFile, match="there are 4 columns; a table may have 3"):
                likely.read(path)
        else:
            assert len(likely.read(path).names) == 3
    assert MOST_COLUMNS == 100_000


@pytest.mark.parametrize("typed", [True, False], ids=["a dictionary", "text"])
def test_a_parquet_file_that_decodes_to_sixty_gigabytes_is_refused_in_little_memory(
    tmp_path, typed
):
    path = repeated_cells(tmp_path / "cells.parquet", 300_000, 200_000, stores_schema=typed)
    assert path.stat().st_size < 40_000
    peak, said = peak_megabytes(REFUSED.format(f"lk.read({str(path)!r})"))
    found = re.search(r"its table would have at least ([\d,]+), because long or many cells", said)
    assert SMALL_TABLE < int(found[1].replace(",", "")) <= 60.1e9
    assert peak < MOST_MEGABYTES


@pytest.mark.parametrize(
    ("cells", "size"),
    [
        (pa.array([1.0]), 8.0),
        (pa.array([1], pa.int16()), 2.0),
        (pa.array([True]), 1 / 8),
        (pa.array(["ab"]), 4.0 + 2.0),
        (pa.array(["ab"]).dictionary_encode(), 1.0 + 2.0),
    ],
)
def test_equal_cells_of_a_parquet_file_are_counted_as_large_as_they_are_in_memory(
    tmp_path, monkeypatch, cells, size
):
    monkeypatch.setattr(registry, "MOST_EXPANSION", 0)
    path = tmp_path / "equal.parquet"
    pq.write_table(pa.table({"x": cells.take(pa.array(np.zeros(20_000, np.int32)))}), path)
    for small, refused in ((19_900 * size, True), (20_900 * size, False)):
        monkeypatch.setattr(registry, "SMALL_TABLE", small)
        if refused:
            with pytest.raises(InvalidFile, match=r"table would have at least .*number \(weight="):
                likely.read(path)
        else:
            assert likely.read(path).n_rows == 20_000


@pytest.mark.slow
def test_a_parquet_file_of_twenty_million_equal_rows_is_refused_in_little_memory(tmp_path):
    path = tmp_path / "equal.parquet"
    x = np.repeat([1.0, 2.0], 10_000_000)
    pq.write_table(pa.table({"x": x, "y": x > 1}), path)
    assert path.stat().st_size < 300_000
    peak, said = peak_megabytes(REFUSED.format(f"lk.look({str(path)!r}, 'y')"))
    assert "its table would have at least 162,500,000" in said
    assert peak < MOST_MEGABYTES


def test_a_parquet_file_with_repeated_short_cells_is_read(tmp_path):
    source = likely.read(repeated_cells(tmp_path / "cells.parquet", 30, 100_000))
    assert source.n_rows == 100_000


def test_many_words_that_are_hardly_repeated_are_refused(monkeypatch):
    texts = [" ".join(f"w{d}x{k}" for k in range(30)) for d in range(20)]
    assert len(likely.BagOfWords().fit(texts).vocabulary_) == 600
    monkeypatch.setattr(bag_of_words, "MOST_TERMS", 599)
    with pytest.raises(InvalidInput, match="600 different terms among 600; words of a language"):
        likely.BagOfWords().fit(texts)
    assert len(likely.BagOfWords().fit(texts + texts).vocabulary_) == 600  # each is there twice
    assert len(likely.BagOfWords(max_features=600).fit(texts).vocabulary_) == 600
    monkeypatch.setattr(bag_of_words, "MOST_TERMS", 600)
    assert len(likely.BagOfWords().fit(texts).vocabulary_) == 600


@pytest.mark.parametrize("n_documents", [1, 40])
def test_runs_of_words_that_are_hardly_repeated_are_refused_before_all_are_learned(
    monkeypatch, n_documents
):
    joined = []
    join = TermTable.join
    monkeypatch.setattr(
        TermTable, "join", lambda self, *a, **b: joined.append(1) or join(self, *a, **b)
    )
    monkeypatch.setattr(reader, "MOST_LEARNED", 2000)
    monkeypatch.setattr(documents, "MOST_BYTES", 1000)
    words = np.random.default_rng(0).integers(0, 1000, 1000)
    texts = [" ".join(f"w{k}" for k in part) for part in np.array_split(words, n_documents)]
    runs = {"ngram_range": (1, 9), "executor": "serial"}
    for fit in (
        BagOfWords(**runs).fit,
        BagOfWords(**runs).fit_transform,
        BagOfWords(**runs).partial_fit,
    ):
        joined.clear()
        with pytest.raises(
            InvalidInput, match=r"More than 2,000 such terms.*a shorter ngram_range"
        ):
            fit(texts)
        assert len(joined) < (4 if n_documents == 1 else 20)
    n_terms = len(BagOfWords(max_features=10**6, **runs).fit(texts).terms_)
    assert n_terms > 4000  # a limit is given, so that rare terms may be left out
    repeated = [" ".join([text] * 4) for text in texts]
    assert len(BagOfWords(**runs).fit(repeated).terms_) > n_terms
    monkeypatch.setattr(reader, "MOST_LEARNED", n_terms)
    assert len(BagOfWords(**runs).fit(texts).terms_) == n_terms


@pytest.mark.slow
def test_two_million_different_words_are_refused_in_little_memory(tmp_path):
    path = different_words(tmp_path / "words.csv", 2000)
    call = f"lk.compare({str(path)!r}, 'label', ['naive-bayes'], folds=4, repeats=1)"
    peak, said = peak_megabytes(REFUSED.format(f"print({call})"))
    assert "different terms among" in said
    assert peak < MOST_MEGABYTES
