"""Bounded rows: one warning for each prediction, a count inside a larger task, by context."""

import warnings
from threading import Thread

import pytest

from likely.errors import OutsideFit
from likely.inputs.bounded_rows import counting_bounded, note_bounded


def test_a_prediction_warns_with_the_count_and_the_columns():
    with pytest.warns(OutsideFit, match=r"3 of 1,000 rows are far outside .* \(a, b\); their"):
        note_bounded(3, 1000, ["a", "b"])
    with pytest.warns(OutsideFit, match=r"1 of 1 row is far outside the rows of the fit; its"):
        note_bounded(1, 1, [])


def test_inside_a_count_nothing_is_warned_of():
    with counting_bounded() as outer:
        note_bounded(3, 10, ["a"])
        with counting_bounded() as inner:
            note_bounded(2, 10, ["b"])
        note_bounded(1, 5, ["a", "c"])
    assert (outer.n, outer.n_rows, [*outer.columns]) == (4, 15, ["a", "c"])
    assert (inner.n, [*inner.columns]) == (2, ["b"])


def test_the_count_belongs_to_its_thread():
    seen = []

    def predict():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            note_bounded(2, 10, ["a"])
        seen.extend(caught)

    with counting_bounded() as found:
        other = Thread(target=predict)
        other.start()
        other.join()
    assert found.n == 0
    assert [each.category for each in seen] == [OutsideFit]
