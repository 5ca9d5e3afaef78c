"""Rows with their task, and how they are parted."""

import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from likely.errors import InvalidInput
from likely.evaluate.rows import codes_of, time_of


def test_times_are_in_the_order_of_time_and_not_of_text():
    written = ["2024-01-05T10:00", "2024-01-05 09:00", "2023-12-31 23:59"]
    assert_array_equal(time_of(pa.table({"when": written}), "when"), [3, 2, 1])
    assert_array_equal(codes_of(pa.table({"when": written}), "when").argsort(), [2, 1, 0])


@pytest.mark.parametrize("when", [["2024-01-05", None], ["soon", "later"], [1.0, float("nan")]])
def test_what_has_no_place_in_time_is_refused(when):
    with pytest.raises(InvalidInput, match="'when'"):
        time_of(pa.table({"when": when}), "when")
