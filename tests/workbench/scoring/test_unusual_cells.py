"""Cells that are far from those of other rows."""

import numpy as np
import pyarrow as pa
import pytest

from likely.workbench.scoring.unusual_cells import FAR, unusual_cells, unusual_cells_of_rows


def test_numbers_far_from_the_middle_are_named_the_farthest_first():
    n = 40
    table = pa.table(
        {
            "length": [*(5 + 0.01 * i for i in range(n - 1)), 0.0],
            "height": [*(float(i % 7) for i in range(n - 1)), 40.0],
            "usual": [float(i % 5) for i in range(n)],
            "mostly": [0] * (n - 1) + [3],
            "missing": [1.0, 2.0] * (n // 2 - 1) + [1.0, None],
            "constant": [1.0] * n,
            "colour": ["red"] * (n - 1) + ["blue"],
        }
    )
    assert unusual_cells(table, n - 1, table.column_names) == {
        "length": 0.0,
        "height": 40.0,
        "mostly": 3,
    }
    assert unusual_cells(table, 0, table.column_names) == {}


def test_a_cell_three_spreads_from_the_middle_is_not_yet_far():
    for last, found in ((3.5, {}), (3.6, {"x": 3.6})):
        table = pa.table({"x": [0.0] * 12 + [0.5] * 12 + [1.35] * 12 + [last]})
        assert unusual_cells(table, 36, ["x"]) == found


def far_by_definition(table: pa.Table, row: int) -> dict[str, float]:
    """The formula, column by column: z = |x − median| / s."""
    far = {}
    for name in table.column_names:
        x = np.array(table.column(name).to_pylist(), dtype=float)
        low, middle, high = np.nanquantile(x, [0.25, 0.5, 0.75])
        z = abs(x[row] - middle) / ((high - low) / 1.35)
        if z > FAR:
            far[name] = -z
    return {name: table.column(name)[row].as_py() for name in sorted(far, key=far.get)[:3]}


def test_many_rows_and_columns_give_what_the_formula_gives_for_each():
    rng = np.random.default_rng(0)
    x = rng.standard_t(2, size=(60, 700))
    columns = {f"x{j}": pa.array(x[:, j]) for j in range(700)}
    for j in range(0, 700, 3):
        columns[f"x{j}"] = pa.array(x[:, j], mask=rng.random(60) < 0.2)
    for j in range(1, 700, 7):
        columns[f"x{j}"] = pa.array((100 * x[:, j]).astype(np.int64))
    for j in range(2, 700, 11):
        columns[f"x{j}"] = pa.array(np.where(rng.random(60) < 0.1, np.nan, x[:, j]))
    table = pa.table(columns)
    rows = [3, 59, 0, 17]
    found = unusual_cells_of_rows(table, rows, table.column_names)
    assert [list(each.items()) for each in found] == [
        list(far_by_definition(table, row).items()) for row in rows
    ]
    assert all(len(each) == 3 for each in found)


def test_infinite_cells_and_empty_columns_are_no_reason_for_a_warning():
    infinite = [np.inf] * 30 + [1.0] * 10
    table = pa.table({"a": infinite, "b": pa.array([None] * 40, pa.float64()), "c": [np.nan] * 40})
    assert unusual_cells(table, 39, table.column_names) == {}


@pytest.mark.parametrize("n_columns", [300, 600])
def test_quartiles_are_computed_for_many_columns_and_all_rows_at_once(n_columns, monkeypatch):
    calls = []
    quantile = np.quantile
    monkeypatch.setattr(np, "quantile", lambda *a, **k: calls.append(1) or quantile(*a, **k))
    x = np.random.default_rng(0).normal(size=(20, n_columns))
    table = pa.table({f"x{j}": x[:, j] for j in range(n_columns)})
    unusual_cells_of_rows(table, list(range(12)), table.column_names)
    assert len(calls) == -(-n_columns // 512)
