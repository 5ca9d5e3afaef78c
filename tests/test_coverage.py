"""docs/coverage.md is true: every capability has a row, every call resolves, every test exists."""

import re
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
WHOLE = {"NUM": 9, "DIST": 8, "EST": 7, "NB": 17, "LR": 19, "REG": 13, "GLM": 9, "ORD": 3, "MIX": 7}
PARTS = {  # the rest of these groups belongs to later families
    "KER": (5,),
    "OPT": (1, 2, 11, 14, 15),
    "SEL": (1, 2, 3, 5, 6, 9, 10, 11, 12, 13),
}
EXPECTED = {**{group: range(1, n + 1) for group, n in WHOLE.items()}, **PARTS}
IDS = [f"{group}-{i}" for group, numbers in EXPECTED.items() for i in numbers]
QUOTED = re.compile(r"`([^`]+)`")


class Row(NamedTuple):
    id: str
    what: str
    call: str
    test: str
    figure: str
    state: str


def rows():
    page = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
    cells = [
        [cell.strip() for cell in line.strip("|\n ").split(" | ")] for line in page.split("\n")
    ]
    return {line[0]: Row(*line) for line in cells if re.fullmatch(r"[A-Z]+-\d+", line[0])}


ROWS = rows()
every_row = pytest.mark.parametrize("name", ROWS)


def test_every_capability_has_one_row_in_order():
    assert list(ROWS) == IDS


@every_row
def test_the_calls_of_a_row_resolve(name):
    calls = QUOTED.findall(ROWS[name].call)
    assert calls
    for call in calls:
        assert call.startswith("likely."), f"{call} is not a dotted path from likely"
        resolved(call)


@every_row
def test_the_tests_of_a_row_exist(name):
    tests = QUOTED.findall(ROWS[name].test)
    assert tests
    for test in tests:
        file, _, function = test.partition("::")
        text = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(rf"^def {function}\(", text, flags=re.MULTILINE), test


@every_row
def test_a_row_has_a_figure_and_a_state(name):
    assert re.search(r"\d", ROWS[name].figure)
    assert ROWS[name].state in ("done", "partly")
    later = re.search(r"\b(comes?|waits?) (with|for)\b", ROWS[name].figure)
    assert (ROWS[name].state == "partly") == bool(later), "a partial row says what comes later"


def test_what_does_not_resolve_is_noticed():
    with pytest.raises(AttributeError):
        resolved("likely.special.no_such_function")


def resolved(path):
    """The object behind a dotted path: modules first, then attributes."""
    parts = path.split(".")
    for n in range(len(parts), 0, -1):
        try:
            module = import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        return reduce(getattr, parts[n:], module)
    raise AttributeError(path)
