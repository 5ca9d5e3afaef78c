"""The column by which a surprising row is found again."""

import numpy as np
import pyarrow as pa
import pytest

from likely import LogisticRegression
from likely.reports.sections.mistakes import mistakes
from likely.runs import read_run
from likely.workbench.data.roles import identifier_of
from tests.reports.runs_by_hand import churn, write_run

N = 40
RNG = np.random.default_rng(0)
SHUFFLED = RNG.permutation(10 * N)[:N]
NAMES = [f"C{k:03d}" for k in SHUFFLED]


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ({"x": RNG.normal(size=N), "client": NAMES}, "client"),
        ({"line": np.arange(N) * 3, "client": NAMES}, "client"),
        ({"line": np.arange(N) * 3}, "line"),
        ({"customerID": SHUFFLED}, "customerID"),
        ({"order_id": SHUFFLED}, "order_id"),
        ({"price": SHUFFLED}, None),  # all different by chance
        ({"paid": SHUFFLED}, None),
        ({"town": ["Ulm", "Bonn"] * (N // 2)}, None),
        ({"client": [*NAMES[1:], None]}, None),
        ({"remark": [f"{name} " * 20 for name in NAMES]}, None),  # prose
        ({"x": RNG.normal(size=N)}, None),
    ],
)
def test_what_no_two_rows_share_names_them(columns, found):
    assert identifier_of(pa.table({"y": NAMES, **columns}), "y") == found


def test_a_few_rows_have_no_identifier():
    assert identifier_of(pa.table({"client": NAMES[:19], "y": NAMES[:19]}), "y") is None


def test_surprising_rows_begin_with_what_names_them(tmp_path):
    table = churn(200)
    names = [f"C{k:04d}" for k in range(200)]
    table = table.append_column("client", pa.array(names))
    folder = write_run(tmp_path / "run", table, "churn", LogisticRegression(), "logistic")
    shown = mistakes(read_run(folder)).blocks[-1]
    assert shown.head[:3] == ("client", "row", "churn")
    assert "client" not in shown.head[1:]
    for row in shown.rows:
        assert row[0] == names[int(row[1])]
    assert all(len(row) == len(shown.head) for row in shown.rows)
