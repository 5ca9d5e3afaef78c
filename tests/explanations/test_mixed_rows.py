"""Tables whose cells come from different rows: every kind of table gives the same cells."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from likely.errors import InvalidInput
from likely.explanations.sampled import mixed_rows

COLUMNS = {"a": [1.0, 2.0, 3.0], "b": ["x", "y", None], "c": [True, False, True]}
SOURCES = {
    "as they are": [[0, 0, 0], [1, 1, 1], [2, 2, 2]],
    "one column shuffled": [[0, 1, 0], [1, 2, 1], [2, 0, 2]],
    "more rows": [[0, 1, 2], [2, 2, 2], [1, 0, 0], [0, 0, 1]],
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_cells_come_from_their_rows(make, source):
    native = make(COLUMNS)
    if make is pd.DataFrame:
        native.index = [7, 7, 3]  # positions count, not labels
    rows = mixed_rows(native)
    made = rows.table(np.array(source))
    assert type(made) is type(native)
    found = pa.table(
        {
            name: pa.array(
                made[name].to_pylist() if make is pa.table else list(made[name]), from_pandas=True
            )
            for name in COLUMNS
        }
    )
    values = list(COLUMNS.values())
    expected = [[values[j][i] for j, i in enumerate(row)] for row in source]
    assert [list(row.values()) for row in found.to_pylist()] == expected


def test_a_background_follows_the_rows():
    X, background = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])
    rows = mixed_rows(X, background)
    np.testing.assert_array_equal(rows.table(np.array([[0, 1], [1, 0]])), [[1, 4], [3, 2]])


def test_sparse_rows_are_refused():
    with pytest.raises(InvalidInput, match="toarray"):
        mixed_rows(sparse.csr_array(np.eye(3)))
