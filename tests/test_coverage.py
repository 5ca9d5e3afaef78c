"""docs/coverage.md is true: every capability has a row, every call is public, every test exists.

The figures are measured by docs/measure_coverage.py, from the tests of each row.
"""

import re
import sys
from functools import reduce
from importlib.util import module_from_spec, spec_from_file_location
from math import inf
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import likely

ROOT = Path(__file__).parents[1]
WHOLE = {"NUM": 9, "DIST": 8, "EST": 7, "NB": 17, "LR": 19, "REG": 13, "GLM": 9, "ORD": 3, "MIX": 7}
PARTS = {  # the rest of these groups belongs to later families
    "KER": (5,),
    "NN": range(1, 12),
    "OPT": range(1, 16),
    "SEL": range(1, 14),
    "GM": (*range(1, 13), 16),
    "INF": range(1, 15),
}
EXPECTED = {**{group: range(1, n + 1) for group, n in WHOLE.items()}, **PARTS}
IDS = [f"{group}-{i}" for group, numbers in EXPECTED.items() for i in numbers]


def _script():
    """docs/measure_coverage.py as a module."""
    spec = spec_from_file_location("measure_coverage", ROOT / "docs" / "measure_coverage.py")
    sys.modules[spec.name] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


measure = _script()
ROWS = measure.rows_in(measure.PAGE.read_text(encoding="utf-8"))
QUOTED = measure.QUOTED


def test_every_capability_has_one_row_in_order():
    assert list(ROWS) == IDS


def test_the_calls_of_a_row_resolve_through_public_names():
    for name, row in ROWS.items():
        calls = QUOTED.findall(row.call)
        assert calls, name
        for call in calls:
            resolved(call)


def test_the_tests_of_a_row_exist():
    for name, row in ROWS.items():
        assert row.tests, name
        for test in row.tests:
            file, _, function = test.partition("::")
            text = (ROOT / file).read_text(encoding="utf-8")
            assert re.search(rf"^def {function}\(", text, flags=re.MULTILINE), (name, test)


def test_a_row_has_a_measured_figure_of_each_test():
    unmeasured = [name for name, row in ROWS.items() if not measure.is_measured(row)]
    assert unmeasured == [], "run `make coverage-figures`"


def test_a_row_that_is_not_done_says_what_is_missing():
    for name, row in ROWS.items():
        assert row.state in ("done", "partly", "absent"), name
        missing = re.search(r"\b(comes?|waits?) (with|for)\b|\bnot yet: ", row.figure)
        assert (row.state != "done") == bool(missing), f"{name}: say what is missing"


def test_measuring_a_page_again_changes_its_figures_alone():
    row = "| X-1 | what | `call` | `a.py::one`, `b.py::two` | {}; also so; not yet: 2 | partly |"
    page = "\n".join(["# Page", "", row.format("old, 0.3 in words"), "text"])
    new = measure.rewritten(page, {"a.py::one": "1e-15 ≤ 1e-12", "b.py::two": "holds"})
    assert new == page.replace("old, 0.3 in words", "1e-15 ≤ 1e-12, holds")
    assert measure.rewritten(new, {"a.py::one": "holds", "b.py::two": "holds"}) == page.replace(
        "old, 0.3 in words", "holds, holds"
    )
    assert measure.is_measured(measure.rows_in(new)["X-1"])
    assert not measure.is_measured(measure.rows_in(page)["X-1"])
    assert measure.rewritten(page, {"a.py::one": "holds"}) == page, "a row is measured as a whole"


@pytest.mark.parametrize(
    ("explanation", "figure"),
    [
        ("0.97254 > 0.95\n +  where 0.97254 = adjusted_rand_score(…)", "0.973 > 0.95"),
        ("np.float64(2.2e-16) <= 1e-12", "2.2e-16 ≤ 1e-12"),
        ("7 > 5", "holds"),
        ("'a' in 'abc'", "holds"),
        ("3 == 3", "holds"),
    ],
)
def test_what_an_assertion_compared_is_its_figure(explanation, figure):
    found = measure.from_assertion(explanation)
    assert measure.figure_of([] if found is None else [found]) == figure


def test_the_figure_of_arrays_is_the_difference_nearest_to_what_is_allowed():
    found = measure.from_arrays([1.0, 1e6, inf], [1.0, 1e6 + 1, inf], 1e-5, 0)
    assert str(found) == "1e-6 ≤ 1e-5", "relative, where values are large"
    assert measure.from_arrays(["a"], ["a"], 0, 0) is None
    near = measure.Measurement(9e-4, "≤", 1e-3)
    number = measure.Measurement(0.99, ">", 0.98, "number")
    assert measure.figure_of([found, near, number]) == str(near), "differences come first"
    assert measure.figure_of([number]) == "0.99 > 0.98"
    assert measure.figure_of([measure.from_arrays(np.ones(3), 1.0, 1e-7, 0)]) == "holds"


@pytest.mark.parametrize(
    "call",
    [
        "numpy.exp",
        "likely.special.no_such_function",
        "likely.special.np",  # there, and not public
        "likely.fitting.separation.separability",  # a module that is not public
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
