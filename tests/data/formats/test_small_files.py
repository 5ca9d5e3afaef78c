"""Small files that would fill the memory are refused, with what to do, before they do."""

import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likely
from likely.data.formats.text_files import MOST_COLUMNS
from likely.errors import InvalidFile, InvalidInput
from likely.text import bag_of_words

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
    found = re.search(r"its table would have ([\d,]+), because long or many cells", said)
    assert int(found[1].replace(",", "")) == pytest.approx(60e9, rel=1e-3)
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


@pytest.mark.slow
def test_two_million_different_words_are_refused_in_little_memory(tmp_path):
    path = different_words(tmp_path / "words.csv", 2000)
    call = f"lk.compare({str(path)!r}, 'label', ['naive-bayes'], folds=4, repeats=1)"
    peak, said = peak_megabytes(REFUSED.format(f"print({call})"))
    assert "different terms among" in said
    assert peak < MOST_MEGABYTES
