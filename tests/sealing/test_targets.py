"""Targets that a seal refuses: it could not be mended once it is made."""

from datetime import date

import pyarrow as pa
import pytest

import likely
from likely.errors import InvalidInput
from likely.sealing.targets import check_target

NAMES = [f"name {i}" for i in range(30)]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([], pa.string()), r"no value in 0 rows"),
        (pa.array([None, None], pa.null()), r"no value in 2 rows.*Choose another column"),
        (pa.array(["a", None, "b"]), r"missing in 1 rows, the first of them row 1.*Drop"),
        (pa.array([1.0, float("nan")]), r"missing in 1 rows, the first of them row 1"),
        (pa.array([1.0, 2.0, float("-inf")]), r"is -inf in row 2; finite numbers"),
        (pa.array(["a", "a"]), r"one value in all 2 rows"),
        (pa.array([date(2024, 1, 1), date(2024, 1, 2)]), r"date32.*days since the first"),
        (pa.array(NAMES), r"holds names \(30 different"),
        (pa.array(NAMES).dictionary_encode(), r"holds names \(30 different"),
    ],
)
def test_what_cannot_be_predicted_is_refused(column, message):
    with pytest.raises(InvalidInput, match=message):
        check_target(pa.chunked_array([column]), "y")


@pytest.mark.parametrize("values", [["a", "b"], [1.5, 2.5], [True, False], NAMES[:20], NAMES * 5])
def test_what_can_be_predicted_passes(values):
    check_target(pa.chunked_array([pa.array(values)]), "y")


def test_an_infinity_among_the_features_is_refused_while_it_can_be_mended(tmp_path):
    rows = pa.table({"x": [0.0, float("inf"), 1.0] * 10, "y": ["a", "b", "a"] * 10})
    with pytest.raises(InvalidInput, match="Row 1, column 'x': found inf"):
        likely.seal(rows, "y", folder=tmp_path)
    assert not list(tmp_path.iterdir())
