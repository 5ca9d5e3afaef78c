"""Files made to exhaust a reader: refused in words, with the line, in little memory."""

import gzip
import json
import os

import numpy as np
import pytest

import likely
from likely.cli.main import run
from likely.data.formats import text_files
from likely.data.formats.registry import read
from likely.errors import InvalidFile
from likely.storage.tensors import TensorFormat

ROWS = b"".join(b"%d,%d,%s\n" % (i, i * 7 % 11, b"ab"[i % 2 : i % 2 + 1]) for i in range(30))
TABLE = b"a,b,y\n" + ROWS
OBJECTS = b'{"a": 1, "y": 0}\n' * 30


def nested(depth):
    return OBJECTS + b'{"a": ' + b"[" * depth + b"]" * depth + b"}\n"


HOSTILE = {
    "deep.jsonl": (nested(1000), "line 31: the line has 1,001 brackets within brackets"),
    "deeper.jsonl": (nested(20_000), "line 31: the line has 20,001 brackets"),
    "objects.jsonl": (
        OBJECTS + b'{"a":' * 5000 + b"1" + b"}" * 5000,
        "line 31: the line has 5,000",
    ),
    "open.jsonl": (b"[" * 50_000, "line 1: the line has 50,000 brackets"),
    "surrogate.jsonl": (
        OBJECTS + b'{"a": "\\ud800"}\n',
        "line 31: the line has half of a surrogate",
    ),
    "name.jsonl": (b'{"a\\udc00": 1}\n' * 9, "line 1: the line has half of a surrogate"),
    "nul.jsonl": (OBJECTS + b'{"a": "\0"}\n', "line 31: the line contains NUL bytes"),
    "utf32.csv": (TABLE.decode().encode("utf-32"), "is text in UTF-32"),
    "utf32be.csv": (b"\0\0\xfe\xff" + TABLE.decode().encode("utf-32-be"), "is text in UTF-32"),
    "nul.csv": (TABLE + b"1,\0,a\n", "line 32: the line contains NUL bytes"),
    "holes.csv": (TABLE + bytes(10_000), "line 32: the line contains NUL bytes"),
    "spaces.csv": (b"a, a,y\n" + ROWS, "line 1: two columns are called ' a', apart from spaces"),
    "wide.csv": (
        TABLE + b"x" * 5_000_000 + b",1,a\n" + ROWS,
        "the row has 5,000,010 bytes; one of more than 2,097,152",
    ),
    "nothing.csv.gz": (gzip.compress(b""), "the first line is blank"),
    "cut.csv.gz": (gzip.compress(TABLE)[:60], "cut short or damaged"),
    "twice.csv.gz": (gzip.compress(gzip.compress(TABLE)), "the line contains NUL bytes"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_words(tmp_path, name, capsys):
    content, message = HOSTILE[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidFile) as error:
        list(read(tmp_path / name))
    assert message in str(error.value)
    assert "straddl" not in str(error.value)


def test_a_row_that_fills_a_block_is_read_and_a_longer_one_has_a_right_message(tmp_path):
    path = tmp_path / "long.csv"
    path.write_bytes(TABLE + "é".encode() * 1_048_000 + b",1,a\n" + ROWS)  # 2,096,004 bytes
    assert sum(batch.num_rows for batch in read(path)) == 2 * ROWS.count(b"\n") + 1
    path.write_bytes(TABLE + "é".encode() * 2_200_000 + b",1,a\n" + ROWS)
    with pytest.raises(InvalidFile, match=r"4,400,\d+ bytes; one of more than 2,097,152"):
        list(read(path))


def test_brackets_in_text_are_not_nesting(tmp_path):
    (tmp_path / "text.jsonl").write_text(json.dumps({"a": "[{" * 500, "y": 1}) + "\n" + "{}\n")
    assert read(tmp_path / "text.jsonl").n_rows == 2


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_line_without_an_end_is_not_read_whole(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(text_files, "LONGEST_LINE", 3 * 2**20)
    path = tmp_path / f"bomb.{suffix}.gz"
    start = TABLE if suffix == "csv" else b'{"a": "'
    path.write_bytes(gzip.compress(start + b"x" * 2**24, 1))
    with pytest.raises(InvalidFile, match="the line is longer than 64 MiB"):
        list(read(path))


def test_a_pipe_or_a_device_is_not_waited_for(tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    for name in ("pipe.csv", "zero.csv"):
        assert run(["look", str(tmp_path / name)]) == 2
        assert "is a pipe or a device" in " ".join(capsys.readouterr().err.split())


def test_text_of_a_model_file_is_not_padded_to_gigabytes(tmp_path):
    model = likely.NaiveBayes().fit([[1.0], [2.0], [3.0], [4.0]], np.array(["a", "b"] * 2))
    likely.save(model, tmp_path / "m.likely")
    assert likely.load(tmp_path / "m.likely").classes_.tolist() == ["a", "b"]
    from tests.storage.test_model_file import forge

    def edit(header):
        header["fitted"]["classes_"] = {"text": [[20_001], ["a"] * 20_000 + ["b" * 20_000]]}

    forge(tmp_path / "m.likely", edit)
    with pytest.raises(InvalidFile, match=r"would be as wide in all of them"):
        likely.load(tmp_path / "m.likely")


def test_a_model_file_with_a_hole_behind_it_is_not_read(tmp_path, monkeypatch):
    path = tmp_path / "m.likely"
    likely.save(likely.Discretizer().fit([[1.0], [2.0]]), path)
    os.truncate(path, 3 * 2**30)

    def read_all(*_):
        raise AssertionError("the whole file was read")

    monkeypatch.setattr(TensorFormat, "tensors", read_all)
    with pytest.raises(InvalidFile, match="incomplete, or not a safetensors file"):
        likely.load(path)


def test_too_little_memory_for_a_model_is_an_error_of_the_file(tmp_path, monkeypatch):
    path = tmp_path / "m.likely"
    likely.save(likely.Discretizer().fit([[1.0], [2.0]]), path)

    def no_memory(*_):
        raise MemoryError

    monkeypatch.setattr(TensorFormat, "arrays", no_memory)
    with pytest.raises(InvalidFile, match="not enough memory"):
        likely.load(path)
