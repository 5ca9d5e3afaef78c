"""``look``, ``Prepared`` and the report agree on what a column is."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import likely as lk
from likely.data.frames import as_table
from likely.data.labels import are_written_numbers
from likely.errors import InvalidInput
from likely.workbench.data.roles import identifier_of
from likely.workbench.look.profile import profile_of
from likely.workbench.preparation.cells import read_cells

N = 200
RNG = np.random.default_rng(0)
SHUFFLED = RNG.permutation(50 * N)[:N]
NAMES = [f"C{k:05d}" for k in SHUFFLED]
LONG = [f"{name} was seen at the desk and asked about the weather of {name}" for name in NAMES]


def table(**columns):
    y = np.arange(N) % 2
    return pd.DataFrame({"x": RNG.normal(size=N), **columns, "y": np.where(y, "a", "b")})


def codes(frame, column):
    """The codes of ``look`` that are about one column."""
    return {each.code for each in lk.look(frame, "y").findings if column in each.columns}


def step(frame, column):
    """What preparation does to a column, or why it refuses it."""
    model = lk.Prepared(lk.NaiveBayes())
    try:
        return dict(model.fit(frame, "y").steps_)[column]
    except InvalidInput as error:
        return str(error)


IDENTIFIERS = {
    "names": ("client", NAMES, True),
    "names with gaps": ("client", [None, *NAMES[1:]], True),
    "nearly all different": ("client", NAMES[:195] + NAMES[:5], True),
    "nine tenths different": ("client", NAMES[:180] + NAMES[:20], False),
    "prose": ("remark", LONG, False),
    "towns": ("town", ["Ulm", "Bonn"] * (N // 2), False),
    "called id": ("customer_id", SHUFFLED, True),
    "called id, repeated": ("customer_id", SHUFFLED % 90, False),
    "all different by chance": ("price", SHUFFLED, False),
    "measured": ("size_id", RNG.normal(size=N), False),
}


@pytest.mark.parametrize("case", IDENTIFIERS)
def test_an_identifier_is_one_to_look_to_preparation_and_to_the_report(case):
    name, values, expected = IDENTIFIERS[case]
    frame = table(**{name: values})
    assert ("LK101" in codes(frame, name)) == expected
    assert ("like an identifier" in step(frame, name)) == expected
    complete = pd.Series(values).nunique() == N
    found = identifier_of(pa.Table.from_pandas(frame, preserve_index=False), "y")
    assert (found == name) == (expected and complete)


def test_numbers_that_run_without_a_gap_are_shown_and_kept():
    """They may be time, and in a part of the rows they have gaps."""
    frame = table(line=RNG.permutation(N))
    assert "LK101" in codes(frame, "line")
    assert "dropped" not in step(frame, "line")
    assert identifier_of(pa.Table.from_pandas(frame, preserve_index=False), "y") == "line"


NUMBERS = {
    "plain": [str(k) for k in SHUFFLED % 90],
    "thousands": [f"{k:,}" for k in 1000 + SHUFFLED],
    "decimal comma": [f"{k / 10:.1f}".replace(".", ",") for k in SHUFFLED],
    "money": [f"€ {k}" for k in 1 + SHUFFLED % 90],
    "percent": [f"{k} %" for k in 1 + SHUFFLED % 90],
    "minus": [f"−{k}" for k in 1 + SHUFFLED % 90],
    "exponents": [f"{k}e3" for k in 1 + SHUFFLED % 90],
    "mostly": [*(str(k) for k in SHUFFLED[:-9] % 90), *["n/a"] * 9],
}


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers_written_as_text_are_warned_of_and_refused(case):
    frame = table(it=NUMBERS[case])
    assert codes(frame, "it") & {"LK104", "LK105"}
    assert "is text, but most of its values are numbers" in step(frame, "it")


@pytest.mark.parametrize(
    "values",
    [
        [f"0{k % 40}" for k in range(N)],  # codes with leading zeros
        [f"A{k % 40}" for k in range(N)],
        [f"{k % 40}-{k % 7}" for k in range(N)],
    ],
)
def test_codes_are_no_numbers(values):
    frame = table(it=values)
    assert not codes(frame, "it") & {"LK104", "LK105"}
    assert "numbers" not in step(frame, "it")


def test_written_numbers_are_told_from_codes_one_by_one():
    yes = ["0", "7", "-3.5", "+1", ".5", "1.", "1e6", "1,234.5", "1.234,5", "12,5", "$5", "5 EUR"]
    no = ["", "007", "1-2", "abc", "e5", ".", "12a", "1,23,4", "--1"]
    assert are_written_numbers(yes).tolist() == [True] * len(yes)
    assert are_written_numbers(no).tolist() == [False] * len(no)


def test_every_reader_gives_a_column_the_same_kind():
    frame = pd.DataFrame(
        {
            "number": [1.5, 2.0, np.nan],
            "whole": [1, 2, 3],
            "boolean": [True, False, True],
            "category": ["a", "b", None],
            "declared": pd.Categorical(["a", "b", "a"]),
            "date": pd.to_datetime(["2024-01-01", None, "2024-02-01"]),
        }
    )
    expected = ["number", "number", "boolean", "category", "category", "date"]
    read = as_table(frame)
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    assert list(read.kinds) == list(as_table(arrow).kinds) == expected
    assert [column.kind for column in profile_of(arrow).columns] == expected
    names = list(frame.columns)
    assert [read_cells(read, j, name).kind for j, name in enumerate(names)] == expected
