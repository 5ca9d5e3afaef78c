"""Hidden labels come back as they were, and cannot be seen in the file."""

import pyarrow as pa
import pytest

from likely.errors import BrokenLedger
from likely.sealing.folder import MAGIC, hidden, opened

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
