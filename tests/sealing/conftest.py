"""A small table with two classes, and a seal of it."""

import numpy as np
import pyarrow as pa
import pytest

import likely


def some_table(n=120, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    town = rng.choice(["Ulm", "Bonn", "Kiel"], n)
    y = np.where(a - b + rng.logistic(size=n) > 0, "yes", "no")
    return pa.table({"a": a, "b": b, "town": town, "y": y})


@pytest.fixture
def table():
    return some_table()


@pytest.fixture
def sealed(table, tmp_path):
    return likely.seal(table, "y", name="toy", folder=tmp_path)
