"""Which rows are nearly copies of each other, and when they can be held out together."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from likely.data.near_copies import near_copies_in_table, units_in_table


def table(**changed) -> pa.Table:
    """Each of 100 rows four times, but for the columns that are given."""
    numbers = np.random.default_rng(0).normal(size=(100, 4))[np.arange(400) % 100]
    return pa.Table.from_pandas(pd.DataFrame(numbers, columns=list("abcd")).assign(**changed))


def units(rows: pa.Table) -> np.ndarray:
    return units_in_table(rows, rows.column_names)


RNG = np.random.default_rng(1)
NOISE = RNG.normal(size=400)
NEARLY = {
    "a column": (table(b=NOISE), ("b",)),
    "a date": (table(day=pd.date_range("2020-01-01", periods=400, freq="h")), ("day",)),
    "last digits": (table(b=table().column("b").to_numpy() + 1e-6 * NOISE), ()),
}


@pytest.mark.parametrize(("rows", "but"), NEARLY.values(), ids=NEARLY.keys())
def test_rows_that_are_nearly_equal_are_one_unit(rows, but):
    near = near_copies_in_table(rows, rows.column_names)
    assert (near.n, near.n_examined, near.but) == (300, 400, but)
    assert_array_equal(units(rows), np.arange(400) % 100)


def test_small_differences_on_both_grids_are_joined():
    """Numbers beside the limit of a step on one grid are in the middle of one on the other."""
    step = 1e-3 * np.arange(100).std()
    near_limit = (np.rint(np.arange(100.0) / step) + 0.5) * step
    moved = np.concatenate([near_limit - 0.01 * step, near_limit + 0.01 * step])
    rows = pa.table({"x": moved, "y": np.tile(RNG.permutation(100), 2)})
    assert_array_equal(units(rows), np.tile(np.arange(100), 2))


def test_units_join_copies_and_near_copies():
    rows = table(b=np.where(np.arange(400) < 200, table().column("b"), NOISE))
    assert_array_equal(units(rows), np.arange(400) % 100)


def test_cells_that_chance_makes_equal_are_no_near_copies():
    draws = RNG.integers(0, 3, (2000, 6))
    rows = pa.table({f"c{j}": draws[:, j] for j in range(6)})
    assert near_copies_in_table(rows, rows.column_names) is None


def test_units_of_more_rows_than_a_fold_holds_are_not_held_together():
    which = np.maximum(np.arange(400) // 3 - 50, 0)  # the first row is there 153 times
    numbers = RNG.normal(size=(100, 4))[which] + 1e-7 * RNG.normal(size=(400, 4))
    rows = pa.table(dict(zip("abcd", numbers.T, strict=True)))
    near = near_copies_in_table(rows, rows.column_names)
    assert near.n > 300
    assert not near.are_held_together()
    assert units(rows) is None


def test_near_copies_inside_of_groups_are_held_together_by_them():
    near = near_copies_in_table(table(b=NOISE), list("abcd"))
    people = np.arange(400) % 50
    assert near.are_held_together(people)
    assert not near.are_held_together(np.arange(400) // 4)


def test_the_units_of_many_rows_are_found_in_all_of_them(monkeypatch):
    monkeypatch.setattr("likely.data.near_copies.MOST_COMPARED", 200)
    near = near_copies_in_table(table(b=NOISE), list("abcd"))
    assert near.n_examined < 250
    assert_array_equal(near.units, np.arange(400) % 100)
