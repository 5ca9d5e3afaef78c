"""Whole numbers that were read as floats, because a cell is missing, are counts too."""

import numpy as np
import pyarrow as pa
import pytest

import likely
from likely.errors import InvalidInput
from likely.workbench.data.task import task_of

rng = np.random.default_rng(0)
N = 90
COUNTS = rng.poisson(np.linspace(1, 30, N)).astype(float)
YEARS = rng.uniform(1, 5, N)


def table(y):
    return pa.table({"x": rng.normal(size=N), "years": YEARS, "y": y})


def test_whole_floats_from_0_up_are_counts():
    assert task_of(table(COUNTS), "y").kind == "count"
    gap = pa.array([None, *COUNTS[1:]])
    assert task_of(table(gap), "y").kind == "count"
    assert task_of(table(COUNTS + 0.5), "y").kind != "count"
    assert task_of(table(COUNTS - 5), "y").kind == "real"


def test_a_seal_refuses_an_exposure_that_no_model_takes(tmp_path):
    measured = table(rng.normal(size=N))
    with pytest.raises(InvalidInput, match="multiplies the mean of counts"):
        likely.seal(measured, "y", exposure="years", folder=tmp_path, name="real")
    labels = table(rng.choice(["no", "yes"], N))
    with pytest.raises(InvalidInput, match="leave the exposure out"):
        likely.seal(labels, "y", exposure="years", folder=tmp_path, name="labels")
    sealed = likely.seal(table(COUNTS), "y", exposure="years", folder=tmp_path, name="counts")
    assert sealed is not None


def test_few_whole_numbers_with_an_exposure_are_sealed_as_counts(tmp_path):
    few = rng.integers(0, 3, N)
    assert task_of(table(few), "y").kind == "classes"
    sealed = likely.seal(table(few), "y", exposure="years", folder=tmp_path, name="few")
    assert likely.dataset(tmp_path / "few.seal").with_task().task.kind == "count"
    assert sealed is not None
