"""A source as one table: all rows of it, or a refusal before the memory is spent."""

import numpy as np
import pyarrow as pa
import pytest

import likely
from likely.data import arrow as whole
from likely.data.arrow import free_memory, in_one_table
from likely.errors import InvalidInput


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x\n" + "".join(f"{i}\n" for i in range(1000)))
    return likely.read(path)


def test_all_rows_are_there_in_their_order(source):
    assert in_one_table(source).column("x").to_pylist() == list(range(1000))


def test_what_does_not_fit_is_refused_with_its_size(source, monkeypatch):
    needed = whole.COPIES * 8 * 1000
    monkeypatch.setattr(whole, "free_memory", lambda: needed)
    assert in_one_table(source).num_rows == 1000
    monkeypatch.setattr(whole, "free_memory", lambda: needed - 1)
    with pytest.raises(InvalidInput, match=r"1,000 rows, about 8e-06 GB.*Take fewer rows.*train"):
        in_one_table(source)


def test_the_least_limit_counts(monkeypatch, tmp_path):
    monkeypatch.setattr(whole, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(whole, "CGROUP", tmp_path)
    unlimited = free_memory()
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable: 7 kB\n")
    assert free_memory() == 7 * 1024 < unlimited
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("4000\n")
    (tmp_path / "memory.stat").write_text("anon 1000\nfile 3000\n")
    assert free_memory() == 4000  # pages of files are given back
    (tmp_path / "memory.max").write_text("max\n")
    assert free_memory() == 7 * 1024


def test_a_limit_of_the_process_counts(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (10**15, 10**15))
    assert 0 < whole._of_process() < 10**15
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    assert whole._of_process() == np.inf


def test_a_source_that_does_not_know_its_rows_is_read(source, monkeypatch):
    monkeypatch.setattr(whole, "free_memory", lambda: 0)
    unknown = [pa.record_batch({"x": [1]}), pa.record_batch({"x": [2]})]

    class Unknown(list):
        n_rows = None

    assert in_one_table(Unknown(unknown)).num_rows == 2
