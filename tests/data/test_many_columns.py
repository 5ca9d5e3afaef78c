"""Frames of many columns: the cost of reading them is linear in their number."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from likely.cli.main import run
from likely.data.formats import csv_files
from likely.data.formats.text_files import text_file
from likely.data.frames import as_table
from likely.workbench.comparison import comparison_entry
from likely.workbench.data.opening import dataset
from tests.machine import costs_at_most


def read_all(table):
    """Every column and its kind."""
    read = as_table(table)
    assert len(read.kinds) == len(read.names)
    assert read.matrix(range(len(read.names))).shape == (3, len(read.names))


@pytest.mark.diagonal(2)
@pytest.mark.parametrize("library", ["arrow", "pandas"])
def test_four_times_the_columns_take_less_than_ten_times_as_long(library):
    """Four times if the cost is linear, sixteen times if every column is compared with every."""

    def made(n):
        frame = pd.DataFrame(np.zeros((3, n)), columns=[f"c{j}" for j in range(n)])
        return frame if library == "pandas" else pa.Table.from_pandas(frame)

    read_all(made(10))  # imports
    small, large = made(1000), made(4000)
    assert costs_at_most(10, lambda: read_all(small), lambda: read_all(large))


def made_file(folder, n_columns):
    """A CSV file of numbers and two classes, and its name."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, n_columns)).round(3)).add_prefix("c")
    frame["y"] = np.where(frame["c0"] + rng.normal(size=40) > 0, "yes", "no")
    path = folder / f"table{n_columns}.csv"
    frame.to_csv(path, index=False)
    return str(path)


@pytest.mark.diagonal(2)
@pytest.mark.parametrize("verb", ["look", "train"])
@pytest.mark.long
def test_commands_cost_less_than_ten_times_as_much_for_four_times_the_columns(
    verb, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)

    def run_with(n_columns):
        path = made_file(tmp_path, n_columns)

        def work():
            argv = [verb, path, *["naive-bayes"] * (verb == "train")]
            assert run([*argv, "--target", "y", "--quiet"]) == 0
            assert capsys.readouterr().out.count("\n") < 100

        return work

    run_with(10)()  # imports and compiled loops
    assert costs_at_most(10, run_with(500), run_with(2000))


def test_a_type_that_changes_late_is_found_among_many_columns(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 2**10)
    monkeypatch.setattr(csv_files, "BYTES_PER_COLUMN", 1)
    rows = [[str(j)] * 9 for j in range(400)]
    rows[300][1], rows[310][2], rows[320][3], rows[399][8] = "1.5", "word", "", "007"
    lines = [",".join("abcdefghi"), *map(",".join, rows)]
    (tmp_path / "late.csv").write_text("\n".join(lines) + "\n")
    source = csv_files.open_csv(text_file(tmp_path / "late.csv", "late.csv"))
    found = "".join(source.types[name][0] for name in "abcdefghi")
    assert found == "iftiiiiit"
    assert sum(batch.num_rows for batch in source) == 400


def test_models_of_pairs_of_columns_are_slow_where_columns_are_many(monkeypatch):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 6))).add_prefix("c")
    frame["y"] = ["no", "yes"] * 20
    monkeypatch.setattr(comparison_entry, "MOST_COLUMNS", 5)
    given = dataset(frame, "y").with_task()
    some = comparison_entry.suited_models(given, everything=False, n_fits=1)
    assert set(some.slow) >= comparison_entry.OF_PAIRS
    assert "naive-bayes" in [each.name for each in some.models]
    every = comparison_entry.suited_models(given, everything=True, n_fits=1)
    assert {each.name for each in every.models} >= comparison_entry.OF_PAIRS and not every.slow
