"""Infinite numbers are named by the row of the whole table."""

import pyarrow as pa
import pytest

from likely.data.finite import refuse_infinities
from likely.errors import InvalidInput


def test_the_row_is_counted_over_all_batches():
    batches = [pa.record_batch({"x": [1.0, None], "c": ["a", "b"]})] * 2
    bad = pa.record_batch({"x": [float("nan"), float("-inf")], "c": ["a", "b"]})
    with pytest.raises(InvalidInput, match=r"Row 5, column 'x': found -inf.*Remove the row"):
        refuse_infinities([*batches, bad])


def test_gaps_and_other_types_are_no_infinities():
    refuse_infinities([pa.record_batch({"x": [float("nan"), None], "n": [1, 2], "c": ["inf", ""]})])
