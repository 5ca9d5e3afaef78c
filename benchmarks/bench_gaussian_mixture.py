"""Gaussian mixtures with full covariances: the price of one EM iteration, and its memory.

    maximise  Σ_i log Σ_k π_k N(x_i; m_k, Σ_k)        from the same start, no regularisation

Both sides run the same number of iterations.  An iteration costs (t(m + 5) − t(m)) / 5, so
that neither opening the data nor the last scoring counts.
"""

from dataclasses import dataclass
from functools import partial
from typing import final

from benchmarks.child import Sizes, first_call, peak_of_fit, side
from benchmarks.problems import Clustered, clusters
from benchmarks.report import Goal, Report, Row, times_faster
from benchmarks.workbench import Work, best_of

FEW, MORE = 2, 5  # iterations of the short fit, and how many more the long one has
SMALL = {"rows": 20_000}
REPEATS = 3
MANY = 4  # times the components, for the memory
FLAT = 1.0  # byte per cell of n × k: one stored number would be 8


@final
@dataclass(frozen=True)
class Case:
    rows: int
    features: int
    components: int
    goal: Goal

    def sizes(self, shrink: int) -> Sizes:
        return {
            "rows": self.rows // shrink,
            "features": self.features,
            "components": self.components,
            "iterations": FEW,
        }


CASES = (Case(500_000, 20, 10, times_faster(5)), Case(100_000, 50, 32, times_faster(2.5)))


def measure(shrink: int) -> Report:
    rows = []
    for case in CASES:
        rows += _iteration_rows(case.sizes(shrink), case.goal)
    rows += _memory_rows(CASES[0].sizes(shrink))
    return Report(
        "Gaussian mixture, full covariance",
        f"EM from the same start, regularisation 0, float64. An iteration is (t({FEW + MORE}) − "
        f"t({FEW})) / {MORE}; the answer is that after {FEW + MORE} iterations.",
        rows,
        sizes={"cases": [dict(case.sizes(shrink)) for case in CASES]},
    )


def prepare(name: str, sizes: Sizes) -> Work:
    problem = clusters(sizes["rows"], sizes["features"], sizes["components"])
    return _work(name, problem, sizes["iterations"])


def _work(name: str, problem: Clustered, iterations: int) -> Work:
    fit = side(name).gaussian_mixture
    return lambda: fit(problem.X, problem.start, iterations)


def _own_work(problem: Clustered, name: str, iterations: int) -> Work:
    """On a copy that no one else reads."""
    return _work(name, Clustered(problem.X.copy(), problem.start), iterations)


def _iteration_rows(sizes: Sizes, goal: Goal) -> list[Row]:
    """One iteration, and the whole long fit."""
    n, d, k = sizes["rows"], sizes["features"], sizes["components"]
    problem = clusters(n, d, k)
    long = FEW + MORE
    turns = {f"{name} {m}": (name, m) for m in (FEW, long) for name in ("theirs", "ours")}
    best = best_of(
        REPEATS, {turn: partial(_own_work, problem, *each) for turn, each in turns.items()}
    )
    value = {
        name: side(name).gaussian_mix(best[f"{name} {long}"].answer).value(problem.X)
        for name in ("ours", "theirs")
    }
    seconds = {name: {m: best[f"{name} {m}"].seconds for m in (FEW, long)} for name in value}
    step = {name: (t[long] - t[FEW]) / MORE for name, t in seconds.items()}
    small = {**sizes, **SMALL}
    first = {name: first_call(__name__, name, small).empty_cache for name in value}
    return [
        Row(
            work=f"one iteration, {n:,} × {d}, k = {k}",
            ours=step["ours"],
            theirs=step["theirs"],
            our_answer=value["ours"],
            their_answer=value["theirs"],
            our_peak=peak_of_fit(__name__, "ours", sizes),
            their_peak=peak_of_fit(__name__, "theirs", sizes),
            our_first_call=first["ours"],
            their_first_call=first["theirs"],
            goal=goal,
        ),
        Row(
            work=f"the whole fit of {long} iterations, {n:,} × {d}, k = {k}",
            ours=seconds["ours"][long],
            theirs=seconds["theirs"][long],
            our_answer=value["ours"],
            their_answer=value["theirs"],
        ),
    ]


def _memory_rows(sizes: Sizes) -> list[Row]:
    """How the peak grows when the rows are doubled, with few components and with many."""
    many = {**sizes, "components": MANY * sizes["components"]}
    return [_growth_row(each, {**each, "rows": 2 * each["rows"]}) for each in (sizes, many)]


def _growth_row(small: Sizes, large: Sizes) -> Row:
    added = large["rows"] * large["components"] - small["rows"] * small["components"]
    peaks = {
        name: [peak_of_fit(__name__, name, sizes) for sizes in (small, large)]
        for name in ("ours", "theirs")
    }
    slope = {name: (after - before) / added for name, (before, after) in peaks.items()}
    return Row(
        work=f"memory from n = {small['rows']:,} to {large['rows']:,} at k = "
        f"{small['components']}, per added cell of n × k",
        unit="bytes",
        ours=slope["ours"],
        theirs=slope["theirs"],
        our_peak=peaks["ours"][1],
        their_peak=peaks["theirs"][1],
        goal=Goal("ours", FLAT, "does not grow with n × k (≤ 1 byte a cell)"),
    )
