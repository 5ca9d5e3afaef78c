"""docs/coverage.md is true: every capability has a row, every call is public, every test exists."""

import re
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

import likely

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
def test_the_calls_of_a_row_resolve_through_public_names(name):
    calls = QUOTED.findall(ROWS[name].call)
    assert calls
    for call in calls:
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
    missing = re.search(r"\b(comes?|waits?) (with|for)\b|\bnot yet: ", ROWS[name].figure)
    assert (ROWS[name].state == "partly") == bool(missing), "a partial row says what is missing"


@pytest.mark.parametrize(
    "call",
    [
        "numpy.exp",
        "likely.special.no_such_function",
        "likely.special.np",  # there, and not public
        "likely.linear.separation.separability",  # a module that is not public
        "likely.solvers.stopping.Tolerance",  # a module within a public one
    ],
)
def test_what_is_not_public_is_noticed(call):
    with pytest.raises((AssertionError, AttributeError)):
        resolved(call)


def resolved(path):
    """The object behind a dotted path of public names: of ``likely``, or of one of its modules."""
    first, name, *rest = path.split(".")
    assert first == "likely", f"{path} is not a path from likely"
    assert name in likely.__all__, f"{name} is no public name of likely"
    found = getattr(likely, name)
    if isinstance(found, ModuleType) and rest:
        name, *rest = rest
        assert name in found.__all__, f"{name} is no public name of {found.__name__}"
        found = getattr(found, name)
    assert not isinstance(found, ModuleType), f"{path} is a module"
    return reduce(getattr, rest, found)
