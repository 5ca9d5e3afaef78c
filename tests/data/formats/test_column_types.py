"""The types of several columns of text at once are those of each, at a cost that does not grow."""

import random

import pyarrow as pa
import pytest

from likely.data.formats import column_types
from likely.data.formats.column_types import join, type_of_strings, types_of_strings

CELLS = [
    *("1", "-3", " 3 ", "+5", "0", "-0", "007", "0x1F", "1_000", "99999999999999999999", "１"),
    *("2.5", "1e3", "0.5", "nan", "inf", "true", "FALSE", "x", "", "2020-01-01", None, None),
]


@pytest.mark.parametrize("seed", range(40))
def test_the_types_of_columns_together_are_those_of_each(seed):
    draw = random.Random(seed)
    for _ in range(20):
        some = draw.sample(CELLS, draw.randint(1, 4))
        columns = [
            pa.array([draw.choice(some) for _ in range(3)], pa.string())
            for _ in range(draw.randint(1, 5))
        ]
        known = [draw.choice(["null", "null", "boolean", "integer", "float"]) for _ in columns]
        each = [join(k, type_of_strings(c, k)) for c, k in zip(columns, known, strict=True)]
        assert types_of_strings(columns, known) == each


@pytest.mark.parametrize("cell", ["1", "1.5", "true"])
def test_columns_of_one_type_are_read_together(cell, monkeypatch):
    read = []

    def counted(column, known):
        read.append(column)
        return type_of_strings(column, known)

    monkeypatch.setattr(column_types, "type_of_strings", counted)
    counts = []
    for n_columns in (300, 600):
        read.clear()
        types_of_strings([pa.array([cell, None, cell])] * n_columns, ["null"] * n_columns)
        counts.append(len(read))
    assert counts == [1, 1]
