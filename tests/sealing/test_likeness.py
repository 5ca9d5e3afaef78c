"""Sealed rows are found through small changes, and other rows are not taken for them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import likely
from likely.sealing.folder import seals_in
from likely.sealing.likeness import MOST_COLUMNS, bands_of
from likely.sealing.recognition import holds_sealed_rows


def customers(n=1000, seed=0):
    """A key, amounts, a whole number, categories, a gap here and there, and a class."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"id": np.arange(n), "age": rng.integers(18, 90, n)})
    for name in "abcdef":
        frame[name] = rng.normal(size=n) * rng.choice([0.1, 1, 1000])
    frame.loc[rng.random(n) < 0.1, "a"] = np.nan
    frame["town"] = rng.choice(["Ulm", "Bonn", "Kiel"], n)
    frame["member"] = rng.random(n) < 0.5
    frame["churn"] = rng.choice(["no", "yes"], n)
    return frame


AMOUNTS = list("abcdef")
ACCIDENTS = {
    "the id dropped": lambda f: f.drop(columns="id"),
    "the id renamed": lambda f: f.rename(columns={"id": "customer"}),
    "the target dropped": lambda f: f.drop(columns="churn"),
    "half of the columns": lambda f: f[["age", "b", "c", "town", "churn"]],
    "a column added": lambda f: f.assign(new=1),
    "float32": lambda f: f.astype(dict.fromkeys(AMOUNTS, "float32")),
    "six decimals": lambda f: f.round(6),
    "six digits": lambda f: f.assign(**{c: [float(f"{x:.6g}") for x in f[c]] for c in AMOUNTS}),
    "numbers as text": lambda f: f.astype({"b": str, "age": str, "c": str}),
    "floats of whole numbers": lambda f: f.astype({"age": float, "id": float, "member": float}),
    "Booleans as text": lambda f: f.astype({"member": str}),
    "gaps filled": lambda f: f.fillna(0.0),
    "columns standardised": lambda f: f.assign(b=f["b"] / f["b"].std(), d=f["d"] + 1),
    "rows shuffled": lambda f: f.sample(frac=1, random_state=0).drop(columns=["id"]),
    "half of the rows": lambda f: f.sample(frac=0.5, random_state=0).drop(columns=["id"]),
}


@pytest.fixture
def shop(tmp_path):
    likely.seal(customers(), "churn", name="shop", folder=tmp_path)
    return seals_in([tmp_path])


@pytest.mark.parametrize("accident", ACCIDENTS.values(), ids=ACCIDENTS)
def test_small_changes_do_not_hide_sealed_rows(shop, accident):
    (held,) = holds_sealed_rows(pa.Table.from_pandas(accident(customers())), shop)
    assert held.n_found >= 0.4 * held.n_sealed
    train = pa.table(shop[0].train()).to_pandas()
    assert holds_sealed_rows(pa.Table.from_pandas(accident(train)), shop) == ()


@pytest.mark.parametrize("n", [100, 1000, 20000])
def test_new_customers_are_no_sealed_rows(shop, n):
    fresh = customers(n, seed=1)
    assert holds_sealed_rows(pa.Table.from_pandas(fresh), shop) == ()
    orders = fresh[["id", "town"]].assign(amount=fresh["b"])  # the same ids, of other things
    assert holds_sealed_rows(pa.Table.from_pandas(orders), shop) == ()


@pytest.mark.parametrize("n", [100, 2000, 50000])
@pytest.mark.parametrize("columns", [["x"], ["g", "h"], ["g", "h", "k"]], ids=str)
def test_rows_that_are_often_equal_by_chance_are_no_evidence(tmp_path, columns, n):
    def drawn(n, seed):
        rng = np.random.default_rng(seed)
        g, h, k = rng.integers(0, 30, (3, n))
        x = rng.normal(size=n)
        return pa.table({"g": g, "h": h, "k": k, "x": x, "y": rng.choice(["a", "b"], n)})

    likely.seal(drawn(1000, 0), "y", name="some", folder=tmp_path)
    seals = seals_in([tmp_path])
    assert holds_sealed_rows(drawn(n, 1).select(columns), seals) == ()


def test_pieces_of_a_file_are_put_together(shop, tmp_path):
    rows = pa.Table.from_pandas(customers().drop(columns="id"), preserve_index=False)
    (held,) = holds_sealed_rows(iter(rows.to_batches(max_chunksize=100)), shop)
    (whole,) = holds_sealed_rows(rows, shop)
    assert held == whole


def test_of_very_many_columns_some_are_compared(tmp_path):
    rng = np.random.default_rng(0)
    wide = pa.table({f"x{j}": rng.normal(size=60) for j in range(500)} | {"y": ["a", "b"] * 30})
    likely.seal(wide, "y", name="wide", folder=tmp_path)
    (seal,) = seals_in([tmp_path])
    bands = bands_of(seal, wide)
    assert MOST_COLUMNS / 2 < len(bands[0].columns) <= MOST_COLUMNS
    assert set(bands[0].columns) == {name for band in bands[1:] for name in band.columns}
    (held,) = holds_sealed_rows(wide.drop_columns(["x1"]), [seal])
    assert held.n_found == 12


def test_a_table_without_rows_or_shared_columns_is_unlike(shop):
    assert bands_of(shop[0], pa.table({"other": [1]})) == ()
    assert holds_sealed_rows(pa.Table.from_pandas(customers().head(0)), shop) == ()
