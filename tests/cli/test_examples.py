"""Every example runs as it stands, and prints something."""

import re
import runpy
from pathlib import Path

import pytest

from tests.machine import costs_at_most, import_libraries

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
OTHERS = [path for path in EXAMPLES if path.stem != "spam"]
ALLOWED_IMPORTS = 10  # times what the libraries need to be imported


def test_there_are_examples():
    assert len(EXAMPLES) >= 3


@pytest.mark.parametrize("path", OTHERS, ids=[path.stem for path in OTHERS])
@pytest.mark.long
def test_the_example_runs(path, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert len(capsys.readouterr().out.splitlines()) >= 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_example_takes_seconds(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")  # imports, and compiled loops
    assert costs_at_most(
        ALLOWED_IMPORTS, import_libraries, lambda: runpy.run_path(str(path), run_name="__main__")
    )


@pytest.mark.long
def test_the_spam_example_predicts_far_better_than_a_constant(capsys, tmp_path, monkeypatch):
    """17 modules; the most frequent one has 0.114 of the docstrings."""
    monkeypatch.chdir(tmp_path)
    (path,) = set(EXAMPLES) - set(OTHERS)
    runpy.run_path(str(path), run_name="__main__")
    found = re.search(
        r"accuracy ([\d.]+), log loss ([\d.]+); the best constant has (\d+\.\d+)",
        capsys.readouterr().out,
    )
    accuracy, log_loss, constant = map(float, found.groups())
    assert accuracy > 0.5
    assert log_loss < constant / 2
    assert list(tmp_path.iterdir()) == []
