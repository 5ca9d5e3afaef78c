"""Results as Markdown: what RESULTS.md holds, and what a run prints."""

import re
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
* **our gap**, **their gap** (linear models): how far that objective lies above the best that any
  system reached there, relative to it. Each peer has the loosest of its tolerances whose gap is
  within the target, else its tightest; a goal counts as met only if our gap is within the target.
* **passes**: how often ours went over all the data.
* **peak**: how far the memory of a process rises in one fit above what it held just before: the
  data, and everything loaded and compiled (the kernel's VmHWM, set back before the fit).
* **first call**: what the first fit of a process takes longer than the next, with nothing
  compiled on disk.
* **goal**: the bound that was set before, and whether it is **met** or **missed**.
"""


PROFILES = {  # what a profile shows where a goal is missed
    "softmax": "Of a pass 85 % are two products of a 1,024 × 784 block with ten "
    "columns, at about 20 GFLOP/s a core: BLAS reaches a third of its speed on so few columns, and "
    "smaller blocks gain nothing. A factor of the curvature for each class takes a third off the "
    "passes, and costs more than that.",
    "dense_logistic": "With float32 both are memory-bound, and scikit-learn stops at a looser gap "
    "(4e-8) than ours. A first fit after an earlier process loads Numba and SciPy (1.1 s), which a "
    "small fit does not.",
    "sparse_logistic": "Three quarters of our time are sweeps over the rows on one thread, 42 ms "
    "each; snapml's run on two. The sixth sweep ends at 1.5e-6, the seventh at 9e-9.",
    "graph_queries": "A question costs about 0.11 ms before any table is touched (checking names, "
    "finding the plan, wrapping the answer), which is most of it where there are five to eleven "
    "variables.",
    "neural_epochs": "jax, a newer release than when the goal was set, runs a step on two threads; "
    "ours stays on one, so that threads never change an answer. Of our epoch on digits 0.27 s are "
    "the products of batches, the rest checks the rows and draws their order.",
    "neural_tune": "Only training is done together: preparation, predictions of held-out rows and "
    "scores are made one by one for each of 64 × 5 fits.",
    "sparse_logistic_l1": "The certified gap costs more than it needs to: at tol = 1e-6 the point "
    "reached is exact to rounding.",
}


def page(results: Sequence[Result], order: Sequence[str] = (), earlier: str = "") -> str:
    """The whole of RESULTS.md.  What was not measured now is kept from the ``earlier`` page."""
    old = _sections(earlier)
    new = {result["name"]: result for result in results}
    parts, lines = [], []
    for name in order or new:
        if name in new:
            parts.append(section(new[name]))
            contests = [rows for rows in _contests(new[name]) if any(row["goal"] for row in rows)]
            lines += [_line(list(_glance_cells(rows).values())) for rows in contests]
        elif name in old:
            title = old[name].splitlines()[0].removeprefix("## ")
            parts.append(old[name])
            lines += [each for each in earlier.splitlines() if each.startswith(f"| {title}: ")]
        else:
            parts.append(f"Not run yet: `make bench NAME={name}`.\n")
    return "\n".join([INTRO, *glance(lines), *parts])


def _sections(text: str) -> dict[str, str]:
    """The sections of a page by the names of their benchmarks."""
    found = {}
    for part in re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]:
        named = re.search(r"\(`bench_(\w+)\.py`\)", part)
        if named:
            found[named[1]] = part.split("\nNot run yet:")[0].rstrip() + "\n"
    return found


GLANCE = ("work", "goal", "ours", "best peer", "theirs", "ratio", "our gap", "their gap")
GLANCE += ("target", "passes", "met")


def glance(lines: Sequence[str]) -> list[str]:
    """Where there are several peers: ours against the fastest that reached the target."""
    if not lines:
        return []
    return [
        "## At a glance",
        "",
        "The best peer is the fastest whose gap is within the target; all of them are below.",
        "",
        _line(GLANCE),
        _line(["---"] * len(GLANCE)),
        *lines,
        "",
    ]


def _contests(result: Result) -> list[list[Result]]:
    """The rows with a peer, together by their work."""
    works: dict[str, list[Result]] = {}
    for row in result["rows"]:
        if row.get("peer"):
            works.setdefault(f"{result['title']}: {row['work']}", []).append(row)
    return [[{**row, "work": work} for row in rows] for work, rows in works.items()]


def _glance_cells(rows: Sequence[Result]) -> dict[str, str]:
    timed = [row for row in rows if row["theirs"] is not None]
    reached = [row for row in timed if row["target"] is None or row["their_gap"] <= row["target"]]
    row = min(reached or timed or rows, key=lambda each: each["theirs"] or 0.0)
    goals = [each for each in rows if each["goal"]]
    return {
        "work": row["work"],
        "goal": ", ".join(f"{each['goal']['text']} {each['peer']}" for each in goals),
        "ours": _figure(row["ours"], row["unit"]),
        "best peer": row["peer"] if timed else "none",
        "theirs": _figure(row["theirs"], row["unit"]),
        "ratio": _ratio(row),
        "our gap": _gap(row["our_gap"]),
        "their gap": _gap(row["their_gap"]),
        "target": _gap(row["target"]),
        "passes": _passes(row),
        "met": ", ".join(filter(None, map(_met, goals))),
    }


def section(result: Result) -> str:
    """One benchmark: its claim, its table and its machine."""
    lines = [
        f"## {result['title']}",
        "",
        f"{result['claim']} (`bench_{result['name']}.py`)",
        "",
        *table(result),
        "",
        *([PROFILES[result["name"]], ""] if result["name"] in PROFILES else []),
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
        "peer": row.get("peer", ""),
        "ours": _figure(row["ours"], row["unit"]),
        f"theirs ({theirs})" if theirs else "theirs": _figure(row["theirs"], row["unit"]),
        "ratio": _ratio(row),
        f"our answer ({answer})": _answer(row["our_answer"]),
        "their answer": _answer(row["their_answer"]),
        "difference": "" if row["difference"] is None else f"{row['difference']:.1e}",
        "our gap": _gap(row.get("our_gap")),
        "their gap": _gap(row.get("their_gap")),
        "target": _gap(row.get("target")),
        "passes": _passes(row),
        "our peak": _megabytes(row["our_peak"]),
        "their peak": _megabytes(row["their_peak"]),
        "our first call": _figure(row["our_first_call"], "s"),
        "their first call": _figure(row["their_first_call"], "s"),
        "goal": "" if goal is None else goal["text"],
        "met": _met(row),
        "note": row["note"],
    }


def _ratio(row: Result) -> str:
    return "" if row["ratio"] is None else f"{row['ratio']:.3g}×"


def _gap(value: float | None) -> str:
    return "" if value is None else f"{value:.0e}"


def _passes(row: Result) -> str:
    passes = row.get("passes")
    return "" if passes is None else f"{passes:.3g}"


def _met(row: Result) -> str:
    return "" if row["met"] is None else ("met" if row["met"] else "**missed**")


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
