"""A file of over 1 GB, broken nine million rows in: the line is named, and memory stays small."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import likely as lk

SOURCE = str(Path(lk.__file__).parents[1])
ROWS_BEFORE, ROWS_AFTER = 9_000_000, 200_000
BLOCK = 1_000  # rows that are repeated
HEADER = b"a,b,c,d,e,f,g,h,word,label\n"
LINE = ROWS_BEFORE + 2  # of the first broken row: lines are counted from 1, with the header
MOST_MEMORY = 1e9  # bytes
BROKEN = {
    "fields": (b"1,2,3\n", f"line {LINE}: the row has 3 fields; the header has 10"),
    "bytes": (b"1,2,3,4,5,6,7,8,caf\xe9,yes\n", f"line {LINE}: byte 0xe9 is not UTF-8"),
}

pytestmark = pytest.mark.slow  # each file is read three times, once line by line


@pytest.fixture(scope="module", params=BROKEN)
def large(request, tmp_path_factory):
    """The path of the file, and what is to be said about it; the file is gone afterwards."""
    row, message = BROKEN[request.param]
    path = tmp_path_factory.mktemp("large") / "large.csv"
    block = b"".join(_row(i) for i in range(BLOCK))
    with open(path, "wb") as file:
        file.write(HEADER)
        for _ in range(ROWS_BEFORE // BLOCK):
            file.write(block)
        file.write(row)
        for _ in range(ROWS_AFTER // BLOCK):
            file.write(block)
    assert path.stat().st_size > 1e9
    yield path, message
    path.unlink()


def _row(i):
    """Eight numbers, a word and a label."""
    numbers = ",".join(f"{(i * (j + 7) % 97) / 7 + j:.11f}"[:12] for j in range(8))
    return f"{numbers},{('alpha', 'beta', 'gamma')[i % 3]},{('no', 'yes')[i % 5 > 2]}\n".encode()


def run_alone(*words, folder):
    """Of a process of its own: exit code, message, and the most memory it had."""
    child = subprocess.Popen(
        [sys.executable, "-c", "from likely.cli.main import main; main()", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": SOURCE},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    said = child.stderr.read().decode()
    child.stderr.close()
    _, status, used = os.wait4(child.pid, 0)  # of this child alone
    child.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    return child.returncode, " ".join(said.split()), used.ru_maxrss * unit


@pytest.mark.parametrize("verb", [("train", "naive-bayes"), ("look",)], ids=["train", "look"])
def test_the_line_is_named(large, verb, tmp_path):
    path, message = large
    name, *model = verb
    words = [name, str(path), *model, "--target", "label"]
    code, said, memory = run_alone(*words, folder=tmp_path)
    assert code == 2, said
    assert message in said
    assert memory < MOST_MEMORY
    assert os.listdir(tmp_path) == [], "no RUN was left"
