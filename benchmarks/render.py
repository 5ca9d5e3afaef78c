"""Results as Markdown: what RESULTS.md holds, and what a run prints."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.memory import MB

LARGE = 100  # whole units are enough from here

Result = Mapping[str, Any]

INTRO = """# Results

Written by `make bench`; `make bench NAME=gaussian_naive_bayes` runs one of them and leaves this
page alone. `python -m benchmarks.run --quick` checks in minutes that all of them work, on small
data; its numbers mean nothing. Run them on a machine that does nothing else: seconds drift with
the machine, and the ratios of one run are what is promised.

* **ours**, **theirs**: the best of several turns, ours and theirs interleaved, each on its own
  copy of the data, everything compiled. **ratio**: how many times faster (or smaller) ours is.
* **our answer**, **their answer**: the objective reached, computed from the fitted parameters by
  one function for both (`objectives.py`), the higher the better; and how far they differ. A goal
  counts as met only if they agree to 1e-9.
* **peak**: how far the memory of a process rises in one fit above what it held just before: the
  data, and everything loaded and compiled (the kernel's VmHWM, set back before the fit).
* **first call**: what the first fit of a process takes longer than the next, with nothing
  compiled on disk.
* **goal**: the bound that was set before, and whether it is **met** or **missed**.
"""


def page(results: Sequence[Result]) -> str:
    """The whole of RESULTS.md."""
    return "\n".join([INTRO, *(section(result) for result in results)])


def section(result: Result) -> str:
    """One benchmark: its claim, its table and its machine."""
    lines = [
        f"## {result['title']}",
        "",
        f"{result['claim']} (`bench_{result['name']}.py`)",
        "",
        *table(result),
        "",
        f"<sub>{machine(result['environment'])}</sub>",
        "",
    ]
    return "\n".join(lines)


def table(result: Result) -> list[str]:
    """Columns that no row fills are left out."""
    rows = [_cells(row, result["theirs"], result["answer"]) for row in result["rows"]]
    heads = [head for head in rows[0] if any(row[head] for row in rows)]
    lines = [[row[head] for head in heads] for row in rows]
    return [_line(heads), _line(["---"] * len(heads)), *map(_line, lines)]


def machine(environment: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in environment["versions"].items())
    blas = "/".join(map(str, environment["threads"]["blas"]))
    return (
        f"{environment['cpu']}, {environment['cores']} cores, {environment['memory_gb']:g} GB, "
        f"{environment['system']}; threads: likely {environment['threads']['likely']}, "
        f"BLAS and OpenMP {blas}; {versions}"
    )


def _cells(row: Mapping[str, Any], theirs: str, answer: str) -> dict[str, str]:
    goal = row["goal"]
    return {
        "work": row["work"],
        "ours": _figure(row["ours"], row["unit"]),
        f"theirs ({theirs})": _figure(row["theirs"], row["unit"]),
        "ratio": "" if row["ratio"] is None else f"{row['ratio']:.3g}×",
        f"our answer ({answer})": _answer(row["our_answer"]),
        "their answer": _answer(row["their_answer"]),
        "difference": "" if row["difference"] is None else f"{row['difference']:.1e}",
        "our peak": _megabytes(row["our_peak"]),
        "their peak": _megabytes(row["their_peak"]),
        "our first call": _figure(row["our_first_call"], "s"),
        "their first call": _figure(row["their_first_call"], "s"),
        "goal": "" if goal is None else goal["text"],
        "met": "" if row["met"] is None else ("met" if row["met"] else "**missed**"),
        "note": row["note"],
    }


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    return f"{value:,.0f} {unit}" if abs(value) >= LARGE else f"{value:.3g} {unit}"


def _answer(value: float | None) -> str:
    return "" if value is None else f"{value:.9g}"


def _megabytes(nbytes: float | None) -> str:
    return "" if nbytes is None else f"{nbytes / MB:.0f} MB"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
