"""Fingerprints: one per row, whatever the file's type, order of columns or form of numbers."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.sealing import fingerprints
from likely.sealing.fingerprints import is_amount, least_decimals, rough_words, row_fingerprints
from tests.sealing.conftest import some_table

CELLS = st.one_of(st.none(), st.integers(-3, 3).map(float), st.just(-0.0))


@given(rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=30))
def test_rows_have_one_fingerprint_exactly_when_they_are_equal(rows):
    table = pa.table({"a": [r[0] for r in rows], "b": [r[1] for r in rows]})
    prints = row_fingerprints(table.cast(pa.schema([("a", "f8"), ("b", "f8")])), ["a", "b"], "s")
    assert len(set(prints.tolist())) == len(set(rows))


def test_the_order_of_columns_and_rows_does_not_matter():
    table = some_table()
    prints = row_fingerprints(table, ["a", "b", "town"], "s")
    assert (prints == row_fingerprints(table, ["town", "b", "a"], "s")).all()
    turned = table.take(pa.array(np.arange(120)[::-1]))
    assert (prints[::-1] == row_fingerprints(turned, ["a", "b", "town"], "s")).all()


def test_a_value_is_one_cell_in_every_type():
    whole = pa.table({"n": [1, None], "s": ["x", None], "b": [True, None]})
    other = pa.table(
        {
            "n": pa.array([1.0, float("nan")]),
            "s": pa.array(["x", None]).dictionary_encode(),
            "b": [1, None],
        }
    )
    names = ["n", "s", "b"]
    assert (row_fingerprints(whole, names, "s") == row_fingerprints(other, names, "s")).all()


def test_a_date_is_its_text_and_swapped_cells_differ():
    dates = pa.table({"d": [datetime.date(2024, 5, 31)]})
    text = pa.table({"d": ["2024-05-31"]})
    assert row_fingerprints(dates, ["d"], "s") == row_fingerprints(text, ["d"], "s")
    one, two = pa.table({"a": [1], "b": [2]}), pa.table({"a": [2], "b": [1]})
    assert row_fingerprints(one, ["a", "b"], "s") != row_fingerprints(two, ["a", "b"], "s")


def test_midnight_and_whole_seconds_may_be_left_out():
    times = [datetime.datetime(2024, 5, 31), datetime.datetime(2024, 5, 31, 12, 30)]
    table = pa.table({"d": pa.array(times, pa.timestamp("us"))})
    text = pa.table({"d": ["2024-05-31", "2024-05-31 12:30:00"]})
    assert (row_fingerprints(table, ["d"], "s") == row_fingerprints(text, ["d"], "s")).all()


def test_another_salt_gives_other_fingerprints():
    table = some_table()
    assert not set(row_fingerprints(table, ["a"], "s")) & set(row_fingerprints(table, ["a"], "t"))


def test_cells_of_lists_are_compared_as_text():
    table = pa.table({"a": [[1, 2], [1, 2], [3]]})
    first, second, third = row_fingerprints(table, ["a"], "s")
    assert first == second != third


NUMBERS = np.random.default_rng(0).normal(size=5000) * np.logspace(-1, 3, 5000)
DETOURS = {
    "float32": lambda x: pa.array(x.astype("f4")),
    "six decimals": lambda x: pa.array(np.round(x, 6)),
    "six digits": lambda x: pa.array([float(f"{v:.6g}") for v in x]),
    "text": lambda x: pa.array([str(v) for v in x]),
    "text with blanks": lambda x: pa.array([f" {v!r} " for v in x.tolist()]),
}


def words(column):
    return rough_words(pa.table({"x": column}), "x")


@pytest.mark.parametrize("detour", DETOURS.values(), ids=DETOURS)
def test_a_rough_number_survives_a_detour(detour):
    same = words(pa.array(NUMBERS)) == words(detour(NUMBERS))
    # of 100 numbers with six digits one ends in 50, where the rounding to four may turn
    assert same.mean() > 0.99
    assert not is_amount(pa.array([1.0, 2.0, None]))
    assert is_amount(pa.array(NUMBERS))


def test_rough_cells_still_differ():
    whole = np.append(np.arange(-1000, 1000), [2**31, 2**31 + 1])
    assert len(set(words(pa.array(whole)).tolist())) == len(whole)
    assert (words(pa.array(whole)) == words(pa.array(whole.astype(float)))).all()
    assert len(set(words(pa.array([0.1234, 0.1235, 1.234, 12.34, -12.34])).tolist())) == 5
    assert (
        words(pa.array(["", None, " "])).tolist() == words(pa.array([None, np.nan, None])).tolist()
    )
    assert (words(pa.array(["True", "false"])) == words(pa.array([True, False]))).all()
    assert (words(pa.array([5e-324, 1e308, np.inf])) != words(pa.array([1e-9, 1e307, 1.0]))).all()


def test_amounts_that_were_rounded_are_seen_and_texts_are_none():
    known = pa.chunked_array([[0.123456, 12.345678, 3.25]])
    assert least_decimals(known, pa.chunked_array([[0.1, 12.3, 3.2]])) == 1
    assert least_decimals(known, pa.chunked_array([[0, 12, 3]])) == 0
    assert least_decimals(known, known) is None
    assert least_decimals(known, pa.chunked_array([["0.1", "12.3"]])) is None
    assert least_decimals(pa.chunked_array([["a", "b"]]), known) is None


@given(value=st.floats(1e-9, 1e20), sign=st.sampled_from([-1, 1]))
def test_a_rough_number_has_four_digits_unless_it_is_whole(value, sign):
    found = fingerprints._rough(np.array([sign * value]))[0]
    if value == np.rint(value) and value < 2.0**53:
        assert found == sign * value
    else:
        unit = 10 ** (np.floor(np.log10(value)) - 3)
        assert abs(found - sign * value) <= 0.5001 * unit
        assert found == pytest.approx(float(f"{found:.3e}"), rel=1e-12)
