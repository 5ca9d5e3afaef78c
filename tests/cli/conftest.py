"""Run ``likely`` in this process, in a folder of its own."""

import io
import json
import sys
from typing import NamedTuple

import numpy as np
import pytest

from likely import write_graph
from likely.cli.main import run
from tests.cli.graphs import asia


class Outcome(NamedTuple):
    exit: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def likely(tmp_path, monkeypatch, capsys):
    """``likely("train", "iris", "naive-bayes")`` → its exit code and what it said."""
    monkeypatch.chdir(tmp_path)

    def call(*words, stdin=None):
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        capsys.readouterr()
        code = run([str(word) for word in words])
        said = capsys.readouterr()
        return Outcome(code, said.out, said.err)

    return call


def patients(n=200, seed=0):
    """A mixed table as CSV text: a number, a category, a Boolean, a count, a class."""
    rng = np.random.default_rng(seed)
    lines = ["age,city,smoker,visits,ill"]
    for _ in range(n):
        ill = rng.random() < 0.4
        city = rng.choice(["Bonn", "Ulm"], p=[0.8, 0.2] if ill else [0.3, 0.7])
        smoker = str(bool(rng.random() < (0.6 if ill else 0.2))).lower()
        lines.append(
            f"{rng.normal(60 if ill else 45, 8):.2f},{city},{smoker},"
            f"{rng.poisson(5 if ill else 2)},{'yes' if ill else 'no'}"
        )
    return "\n".join(lines) + "\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "patients.csv"
    path.write_text(patients())
    return path


@pytest.fixture
def network_file(tmp_path):
    """The network asia as a file in the working folder."""
    write_graph(asia(), tmp_path / "asia.bif")
    return "asia.bif"
