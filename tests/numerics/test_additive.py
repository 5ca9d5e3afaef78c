"""The one law: summaries add, pairwise and in order."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.numerics.additive import Additive, FieldwiseAdditive, PairwiseTotal, pairwise_total


@dataclass(frozen=True)
class Word(Additive):
    """Adding shows who met whom: order is kept and brackets are visible."""

    text: str

    def __add__(self, other):
        return Word(f"({self.text}{other.text})")


@dataclass(frozen=True, eq=False)
class Pair(FieldwiseAdditive):
    count: float
    sums: np.ndarray


@dataclass(eq=False)
class Large(Additive):
    """Overwrites the total it is added into."""

    values: np.ndarray

    def __add__(self, other):
        raise AssertionError("add_into was there to be used")

    def add_into(self, total):
        total.values += self.values
        return total


def test_fields_add():
    total = Pair(1.0, np.array([1.0, 2.0])) + Pair(2.0, np.array([10.0, 20.0]))
    assert total.count == 3.0
    assert total.sums.tolist() == [11.0, 22.0]


@pytest.mark.parametrize(
    ("n", "tree"),
    [
        (1, "a"),
        (2, "(ab)"),
        (3, "((ab)c)"),
        (4, "((ab)(cd))"),
        (5, "(((ab)(cd))e)"),
        (7, "(((ab)(cd))((ef)g))"),
    ],
)
def test_equals_merge_with_equals_in_order(n, tree):
    assert pairwise_total(map(Word, "abcdefg"[:n])).text == tree


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=70))
def test_the_total_is_the_sum(numbers):
    @dataclass(frozen=True)
    class Exact(FieldwiseAdditive):
        value: Fraction

    assert pairwise_total(Exact(Fraction(n, 7)) for n in numbers).value == Fraction(sum(numbers), 7)


def test_rounding_grows_slowly():
    """0.1 added 2¹⁶ times: a running sum is off by 1e-7, pairs are exact to rounding."""
    total = pairwise_total(Pair(0.1, np.array([0.1])) for _ in range(2**16))
    assert total.count == 0.1 * 2**16
    assert total.sums[0] == 0.1 * 2**16


def test_large_summaries_are_added_in_place():
    total = pairwise_total(Large(np.full(3, float(i))) for i in range(6))
    assert total.values.tolist() == [15.0, 15.0, 15.0]


def test_nothing_has_no_total():
    assert PairwiseTotal().total() is None
    with pytest.raises(ValueError, match="empty sum"):
        pairwise_total([])


def test_a_summary_must_say_how_it_adds():
    with pytest.raises(TypeError, match="__add__"):
        Additive()
