"""Frames of many columns: the cost of reading them is linear in their number."""

import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from likely.data.frames import as_table


def seconds(table):
    """CPU time to read every column and its kind."""
    began = time.process_time()
    read = as_table(table)
    assert len(read.kinds) == len(read.names)
    assert read.matrix(range(len(read.names))).shape == (3, len(read.names))
    return time.process_time() - began


@pytest.mark.parametrize("library", ["arrow", "pandas"])
def test_twice_the_columns_take_less_than_three_times_as_long(library):
    def made(n):
        frame = pd.DataFrame(np.zeros((3, n)), columns=[f"c{j}" for j in range(n)])
        return frame if library == "pandas" else pa.Table.from_pandas(frame)

    seconds(made(10))  # imports
    small, large = (min(seconds(made(n)) for _ in range(3)) for n in (1500, 3000))
    assert large < 3 * small
