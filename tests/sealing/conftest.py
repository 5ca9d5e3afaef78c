"""Small tables of classes and of counts, and a seal of one."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import likely


def some_table(n=120, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    town = rng.choice(["Ulm", "Bonn", "Kiel"], n)
    y = np.where(a - b + rng.logistic(size=n) > 0, "yes", "no")
    return pa.table({"a": a, "b": b, "town": town, "y": y})


def numbers_only(n=400, seed=0):
    """The table without its text, as a frame."""
    return some_table(n, seed).drop_columns(["town"]).to_pandas()


def counts(n=300):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    return pd.DataFrame({"x": x, "y": rng.poisson(np.exp(2.5 + 0.5 * x))})


def labels_of(frame, sealed):
    """What the sealed labels must be, from the frame that was sealed."""
    rows = frame[~frame["a"].isin(sealed.train["a"])]
    return rows.drop(columns="y"), rows["y"]


@pytest.fixture
def table():
    return some_table()


@pytest.fixture
def sealed(table, tmp_path):
    return likely.seal(table, "y", name="toy", folder=tmp_path)
