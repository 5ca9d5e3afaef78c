"""Hidden labels come back as they were, and cannot be seen in the file."""

import os
import sys

import pyarrow as pa
import pytest

import likely
from likely.errors import BrokenLedger, HonestyRefusal
from likely.sealing.folder import MAGIC, hidden, opened
from tests.sealing.conftest import some_table

COLUMNS = [
    pa.array(["yes", "no", "yes"]),
    pa.array(["low", "high"]).dictionary_encode(),
    pa.array([1, 2, 3]),
    pa.array([True, False]),
    pa.array([0.1, 2e300]),
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: str(column.type))
def test_labels_come_back_as_they_were(column):
    column = pa.chunked_array([column, column])
    back = opened(hidden(column), "file")
    assert back.type == column.type
    assert back.to_pylist() == column.to_pylist()


def test_a_search_in_the_file_finds_no_label():
    content = hidden(pa.chunked_array([["survived", "perished"] * 50]))
    assert content.startswith(MAGIC)
    assert b"survived" not in content
    assert b"perished" not in content


def test_equal_labels_look_different_each_time():
    column = pa.chunked_array([["a", "b"]])
    assert hidden(column)[len(MAGIC) :] != hidden(column)[len(MAGIC) :]


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", MAGIC + b"short"])
def test_another_file_is_refused(content):
    with pytest.raises(BrokenLedger, match=r"esc\.bin: these are not sealed labels"):
        opened(content, "esc.bin")


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux")
def test_a_seal_whose_name_is_not_utf_8_is_recognised_and_named_in_escapes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = some_table()
    sealed = likely.seal(table, "y", name="toy")
    os.rename(sealed.path, os.fsdecode(b"t\xf6y.seal"))
    with pytest.raises(HonestyRefusal) as refused:
        likely.compare(table, "y", ["naive-bayes"])
    assert r"24 of the 24 sealed rows of t\udcf6y.seal" in str(refused.value)
    assert str(refused.value).encode()  # it can be printed
    fresh = some_table(200, seed=3)
    assert likely.compare(fresh, "y", ["naive-bayes"], folds=2, repeats=1).best is not None
    (named,) = [path for path in tmp_path.iterdir() if path.suffix == ".seal"]
    assert likely.open_seal(named).train.num_rows == 96
    assert [entry["event"] for entry in likely.open_seal(named).ledger()] == ["sealed", "refused"]
