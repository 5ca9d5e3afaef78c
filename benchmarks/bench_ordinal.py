"""Ordinal logistic regression, to a gap of 1e-8.

minimise  −Σ_i log [σ(t_yi − x_iᵀw) − σ(t_yi−1 − x_iᵀw)]        no penalty
"""

from benchmarks import ours_linear
from benchmarks.child import Sizes
from benchmarks.linear_problems import Ordered, ordered
from benchmarks.race import Entrant, Race
from benchmarks.report import Report, times_faster
from benchmarks.workbench import Work

ROWS, FEATURES, CLASSES = 50_000, 20, 5
GAP = 1e-8
SMALL = {"rows": 5_000}

PEERS = (
    Entrant(
        "statsmodels, bfgs",
        "benchmarks.against.statsmodels",
        "ordinal",
        (1e-3, 1e-4, 1e-5),
        goal=times_faster(50),
    ),
    Entrant(
        "skordinal",
        "benchmarks.against.skordinal",
        "ordinal",
        (1e-5, 1e-7, 1e-9, 1e-12),
        goal=times_faster(3),
    ),
    Entrant("mord", "benchmarks.against.mord", "ordinal", (1e-5,)),
)


def problem(sizes: Sizes) -> Ordered:
    return ordered(sizes["rows"], sizes["features"], CLASSES)


RACE = Race(__name__, problem, ours_linear.entrant("ordinal", GAP), PEERS, GAP)


def prepare(name: str, sizes: Sizes) -> Work:
    return RACE.prepare(name, sizes)


def measure(shrink: int) -> Report:
    sizes = {"rows": ROWS // shrink, "features": FEATURES}
    return Report(
        "Ordinal logistic regression",
        f"No penalty, float64, to a gap of {GAP:g}.",
        [
            *RACE.rows(f"{sizes['rows']:,} × {FEATURES}, K = {CLASSES}", sizes),
            *RACE.first_fits(sizes),
        ],
        theirs="",
        answer="objective",
        sizes=sizes,
    )
