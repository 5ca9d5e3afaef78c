"""Every example runs as it stands, and prints something."""

import runpy
import time
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
ALLOWED_SECONDS = 10


def test_there_are_examples():
    assert len(EXAMPLES) >= 3


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_the_example_runs(path, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    start = time.process_time()  # other work on the machine does not count
    runpy.run_path(str(path), run_name="__main__")
    assert time.process_time() - start < ALLOWED_SECONDS
    assert len(capsys.readouterr().out.splitlines()) >= 2
    assert list(tmp_path.iterdir()) == []
