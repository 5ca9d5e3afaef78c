"""Cells that are far from those of other rows."""

import pyarrow as pa

from likely.workbench.unusual_cells import unusual_cells


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
