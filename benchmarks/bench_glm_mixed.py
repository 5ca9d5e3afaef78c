"""Poisson and gamma regression from a frame of numbers and categories, to a gap of 1e-8.

    minimise  −Σ_i log p(y_i | μ_i)        log μ_i = log e_i + x_iᵀw + b, dispersion 1, no penalty

The work starts from a pandas frame: what a library does to its columns counts.
Against statsmodels, which has standard errors from its last step, ours computes them too.
"""

from benchmarks import ours_linear
from benchmarks.child import Sizes
from benchmarks.linear_problems import LEVELS, NUMERIC, Mixed, mixed
from benchmarks.race import Entrant, Race
from benchmarks.report import Report, times_faster
from benchmarks.workbench import Work

ROWS = 500_000
GAP = 1e-8
SMALL = {"rows": 20_000}
RESPONSES = ("poisson", "gamma")

PEERS = (
    Entrant(
        "glum",
        "benchmarks.against.glum",
        "mixed",
        (1e-2, 1e-3, 1e-4, 1e-6, 1e-8),
        goal=times_faster(3),
    ),
    Entrant(
        "statsmodels",
        "benchmarks.against.statsmodels",
        "mixed",
        (1e-8,),
        goal=times_faster(100),
        peak=False,
        rival=ours_linear.with_errors("mixed", GAP),
    ),
)


def problem(sizes: Sizes) -> Mixed:
    return mixed(sizes["rows"], RESPONSES[sizes["response"]])


RACE = Race(__name__, problem, ours_linear.entrant("mixed", GAP), PEERS, GAP)


def prepare(name: str, sizes: Sizes) -> Work:
    return RACE.prepare(name, sizes)


def measure(shrink: int) -> Report:
    rows = ROWS // shrink
    found = []
    for number, response in enumerate(RESPONSES):
        found += RACE.rows(f"{response}, {rows:,} rows", {"rows": rows, "response": number})
    levels = ", ".join(map(str, LEVELS))
    return Report(
        "GLM on mixed columns",
        f"A pandas frame of {NUMERIC} numbers and {len(LEVELS)} categorical columns ({levels} "
        f"levels) with an exposure, log link, no penalty, to a gap of {GAP:g}.",
        [*found, *RACE.first_fits({"rows": rows, "response": 0})],
        theirs="",
        answer="objective",
        sizes={"rows": rows},
    )
