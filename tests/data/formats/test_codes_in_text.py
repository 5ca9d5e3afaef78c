"""Codes with leading zeros stay as they are written, and words for missing cells are missing."""

import gzip

import pyarrow as pa
import pytest

import likely as lk
from likely.data.formats import csv_files
from likely.data.formats.column_types import LEADING_ZERO, type_of_strings
from likely.data.labels import hold_codes


def table_of(path, text):
    path.write_text(text)
    return pa.Table.from_batches(list(lk.read(path)))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["01", "2", "10"], "text"),
        (["02134", "90210"], "text"),
        (["00", "1"], "text"),
        (["-01", "2"], "text"),
        (["0x1F", "3"], "text"),
        (["0", "10", "-3"], "integer"),
        (["0", "0.5", "-0.25", "0e3"], "float"),
        (["00.5", "1.25"], "float"),  # padded, but nothing is lost
        ([" 07", "8"], "text"),
        ([None, "0"], "integer"),
    ],
)
def test_digits_after_a_zero_are_text(cells, expected):
    assert type_of_strings(pa.array(cells, pa.string()), "null") == expected


@pytest.mark.parametrize("known", ["integer", "float"])
def test_a_leading_zero_in_a_later_block_makes_the_column_text(known):
    assert type_of_strings(pa.array(["1", "02"]), known) == "text"


def test_a_streamed_file_keeps_a_zero_that_comes_late(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 200)
    rows = [f"{k},{'07' if k == 150 else k % 9}" for k in range(1, 201)]
    table = table_of(tmp_path / "late.csv", "\n".join(["k,code", *rows]))
    assert table["code"].to_pylist()[148:151] == ["5", "07", "7"]


@pytest.mark.parametrize("word", ["", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "NaN", "<NA>"])
def test_words_for_missing_are_missing_in_numbers_and_in_labels(tmp_path, word):
    table = table_of(tmp_path / "gaps.csv", f"x,y,z\n1,yes,a\n{word},{word},b\n3,no,c\n")
    assert table["x"].to_pylist() == [1, None, 3]
    assert table["y"].to_pylist() == ["yes", None, "no"]


def test_words_that_only_resemble_them_are_words(tmp_path):
    table = table_of(tmp_path / "words.csv", "y\nNone\nnada\nNA/NA\n")
    assert table["y"].to_pylist() == ["None", "nada", "NA/NA"]


def test_compressed_files_keep_zeros(tmp_path):
    path = tmp_path / "zip.csv.gz"
    path.write_bytes(gzip.compress(b"zip\n02134\n90210\n"))
    assert pa.Table.from_batches(list(lk.read(path)))["zip"].to_pylist() == ["02134", "90210"]


def test_codes_are_told_from_numbers():
    assert hold_codes(["90210", "02134"])
    assert not hold_codes(["90210", "0", "0.5", "x01"])
    assert LEADING_ZERO.startswith("^")
