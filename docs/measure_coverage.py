"""Measure the figures of docs/coverage.md: run the tests of every row, and rewrite the page.

    python docs/measure_coverage.py              all rows
    python docs/measure_coverage.py NB-6 MIX-7   some rows
    python docs/measure_coverage.py --check      rewrites nothing; says which rows would change

A row has one figure for each of its tests, in the same order: what the test measured and the limit
that it must keep, of all its cases the one nearest to its limit.

    1.8e-15 ≤ 1e-12     largest difference of two arrays or numbers, and what is allowed; relative
                        where the expected value is above 1
    0.972 > 0.95        an assertion about one number, where nothing is compared as above
    holds               equal values, words or sentences, or a claim that is true or false

A test that fails stops the script, and nothing is rewritten.  Words without a number stay as they
are, and so do those that say what is missing (*not yet*, *comes with*, *waits for*).
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "coverage.md"
QUOTED = re.compile(r"`([^`]+)`")
MISSING = re.compile(r"\b(comes?|waits?) (with|for)\b|\bnot yet: ")
NUMBER = r"-?(?:\d+\.?\d*(?:e[+-]?\d+)?|\.\d+)"
COMPARED = re.compile(
    rf"^\(?(?:np\.float64\()?({NUMBER})\)? (<=|<|>=|>) (?:np\.float64\()?({NUMBER})\)?"
)
FIGURE = re.compile(rf"holds|{NUMBER} (≤|<|>|≥) {NUMBER}")
SIGNS = {"<=": "≤", ">=": "≥", "<": "<", ">": ">"}
HOLDS = "holds"


class Row(NamedTuple):
    """One line of the page."""

    id: str
    what: str
    call: str
    test: str
    figure: str
    state: str

    @property
    def tests(self) -> list[str]:
        return QUOTED.findall(self.test)

    @property
    def words(self) -> str:
        """What the row says besides figures: clauses without a number, and what is missing."""
        clauses = [c for c in re.split(r"; |\. (?=[A-Z])", self.figure) if not is_figures(c)]
        return "; ".join(c for c in clauses if MISSING.search(c) or not _has_number(c))

    def with_figures(self, figures: list[str]) -> "Row":
        measured = ", ".join(figures)
        return self._replace(figure=f"{measured}; {self.words}" if self.words else measured)

    def __str__(self) -> str:
        return f"| {' | '.join(self)} |"


def rows_in(text: str) -> dict[str, Row]:
    """The rows of the page, by what they are called in the specification."""
    cells = [[c.strip() for c in line.strip("|\n ").split(" | ")] for line in text.split("\n")]
    return {line[0]: Row(*line) for line in cells if re.fullmatch(r"[A-Z]+-\d+", line[0])}


def is_figures(clause: str) -> bool:
    """Whether it has the form that this script writes."""
    return all(FIGURE.fullmatch(each) for each in clause.split(", "))


def _has_number(clause: str) -> bool:
    """Whether there is a number outside of code."""
    return re.search(r"\d", QUOTED.sub("", clause)) is not None


def is_measured(row: Row) -> bool:
    """Whether the row has a figure for each of its tests, and no other number."""
    figures, _, rest = row.figure.partition("; ")
    measured = is_figures(figures) and len(figures.split(", ")) == len(row.tests)
    return measured and rest == row.words


def rewritten(text: str, measured: dict[str, str]) -> str:
    """The page with the figures of the rows all of whose tests were run."""
    lines = []
    for line in text.split("\n"):
        (row,) = rows_in(line).values() or (None,)
        if row is not None and all(test in measured for test in row.tests):
            line = str(row.with_figures([measured[test] for test in row.tests]))
        lines.append(line)
    return "\n".join(lines)


class Measurement(NamedTuple):
    """One comparison of a test: what was found, how, and the limit."""

    found: float
    sign: str
    limit: float
    of: str = "difference"  # or "number", of an assertion about one

    @property
    def used(self) -> float:
        """How much of the room it leaves: 1 is at the limit."""
        low, high = sorted((abs(self.found), abs(self.limit)))
        return low / high if high else 0.0

    @property
    def rank(self) -> int:
        """Differences first, then numbers; counts, and what is ordered by a hair, tell little."""
        if self.of == "difference":
            return 0
        counts = float(self.found).is_integer() and float(self.limit).is_integer()
        return 2 if counts or _short(self.found) == _short(self.limit) else 1

    def __str__(self) -> str:
        return f"{_short(self.found)} {self.sign} {_short(self.limit)}"


def figure_of(measurements: list[Measurement]) -> str:
    """The measurement nearest to its limit, of those that tell most; differences of 0 hold."""
    told = [each for each in measurements if each.found or each.of == "number"]
    best = min((each.rank for each in told), default=2)
    if best == 2:
        return HOLDS
    return str(max((each for each in told if each.rank == best), key=lambda each: each.used))


def from_assertion(explanation: str) -> Measurement | None:
    """What an assertion that held has compared, where that is two numbers."""
    found = COMPARED.match(explanation)
    if found is None:
        return None
    return Measurement(float(found[1]), SIGNS[found[2]], float(found[3]), "number")


def from_arrays(actual: Any, desired: Any, rtol: float, atol: float) -> Measurement | None:
    """The largest difference of two arrays that agree, and what was allowed there."""
    import numpy as np

    try:
        a, b = np.broadcast_arrays(np.asarray(actual, float), np.asarray(desired, float))
    except (TypeError, ValueError):
        return None
    known = np.isfinite(a) & np.isfinite(b)
    if not known.any():
        return None
    scale = np.maximum(1.0, np.abs(b[known]))
    difference = np.abs(a[known] - b[known]) / scale
    allowed = (atol + rtol * np.abs(b[known])) / scale
    worst = int(np.argmax(difference))
    return Measurement(float(difference[worst]), "≤", float(allowed[worst]))


def measured_by(tests: list[str]) -> dict[str, str]:
    """Run the tests, in a process that watches what they compare; the figure of each."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "figures.json"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "measure_coverage", *tests]
        command += [
            "-o",
            "enable_assertion_pass_hook=true",
            "-m",
            "slow or not slow",
            "--no-header",
        ]
        paths = [str(ROOT / "docs"), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "PYTHONPYCACHEPREFIX": folder,  # tests are compiled anew, with the hook in them
            "LIKELY_FIGURES": str(record),
        }
        done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
        if done.returncode:
            sys.exit("A test of the page failed, so nothing was rewritten. Fix it first.")
        found = json.loads(record.read_text(encoding="utf-8"))
    return {
        test: figure_of([Measurement(*each) for each in found[test]])
        for test in tests
        if test in found
    }


class Watcher:
    """Plugin of pytest: keeps what the tests compare, by test."""

    def __init__(self, record: str) -> None:
        self.record, self.test = Path(record), ""
        self.found: dict[str, list[Measurement]] = {}

    def pytest_runtest_setup(self, item: Any) -> None:
        self.test = item.nodeid.partition("[")[0]
        self.found.setdefault(self.test, [])

    def pytest_assertion_pass(self, item: Any, lineno: int, orig: str, expl: str) -> None:
        lines = _lines(str(item.path))
        if lineno <= len(lines) and orig.split("\n")[0] in lines[lineno - 1]:  # else of a plugin
            self.keep(from_assertion(expl))

    def keep(self, measurement: Measurement | None) -> None:
        if self.test and measurement is not None:
            self.found[self.test].append(measurement)

    def pytest_sessionfinish(self) -> None:
        self.record.write_text(json.dumps(self.found), encoding="utf-8")


def pytest_configure(config: Any) -> None:
    """Watch the run, where ``measured_by`` has asked for it."""
    record = os.environ.get("LIKELY_FIGURES")
    if record is None:
        return
    import numpy.testing
    import pytest

    approximate: Any = type(pytest.approx(1.0))
    watcher = Watcher(record)
    config.pluginmanager.register(watcher, "figures")
    compare, equals = numpy.testing.assert_allclose, approximate.__eq__

    def arrays(
        actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 0, **named: Any
    ) -> None:
        compare(actual, desired, rtol=rtol, atol=atol, **named)
        watcher.keep(from_arrays(actual, desired, rtol, atol))

    def numbers(self: Any, actual: Any) -> bool:
        same = bool(equals(self, actual))
        if same and isinstance(self.expected, int | float):
            watcher.keep(from_arrays(actual, self.expected, 0.0, float(self.tolerance)))
        return same

    numpy.testing.assert_allclose = arrays
    approximate.__eq__ = numbers


@cache
def _lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").split("\n")


def _short(value: float) -> str:
    """Three digits at most; two where it is a power of ten with few."""
    if value and not 1e-3 <= abs(value) < 1e5:
        mantissa, _, exponent = f"{value:.1e}".partition("e")
        return f"{mantissa.removesuffix('.0')}e{int(exponent)}"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def main(arguments: list[str]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = rows_in(text)
    ids = [word for word in arguments if not word.startswith("-")] or list(rows)
    unknown = [id for id in ids if id not in rows]
    if unknown:
        sys.exit(f"There is no row {unknown[0]}; rows are called as in the page, such as NB-6.")
    tests = list(dict.fromkeys(test for id in ids for test in rows[id].tests))
    new = rewritten(text, measured_by(tests))
    changed = [id for id, row in rows_in(new).items() if row != rows[id]]
    if "--check" not in arguments:
        PAGE.write_text(new, encoding="utf-8")
    print(f"{len(ids)} rows, {len(tests)} tests; changed: {', '.join(changed) or 'none'}.")


if __name__ == "__main__":
    main(sys.argv[1:])
