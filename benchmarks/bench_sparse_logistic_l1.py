"""Logistic regression on sparse text, L1, to a gap of 1e-6.

minimise  −Σ_i log P(y_i | x_iᵀw) + l1 ‖w‖₁        l1 = 1, no intercept
"""

from benchmarks import ours_linear
from benchmarks.bench_sparse_logistic import FEATURES, ROWS, SCIKIT_LEARN, data_said, shape
from benchmarks.child import Sizes
from benchmarks.linear_problems import Binary, texts
from benchmarks.race import Entrant, Race
from benchmarks.report import Report, times_faster
from benchmarks.workbench import Work

L1 = 1.0
GAP = 1e-6
SMALL = {"rows": 2_000, "features": 4_000}
STEPS = (1.0, 0.3, 1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6)  # tolerances
PARITY = times_faster(1)

PEERS = (
    Entrant("liblinear", "benchmarks.against.liblinear", "binary", STEPS, goal=PARITY),
    Entrant("scikit-learn's liblinear", SCIKIT_LEARN, "liblinear", STEPS),
    Entrant("snapml", "benchmarks.against.snapml", "binary", STEPS, goal=PARITY),
)


def problem(sizes: Sizes) -> Binary:
    return texts(sizes["rows"], sizes["features"], l1=L1)


RACE = Race(__name__, problem, ours_linear.entrant("binary", GAP), PEERS, GAP, tight=1e-10)


def prepare(name: str, sizes: Sizes) -> Work:
    return RACE.prepare(name, sizes)


def measure(shrink: int) -> Report:
    sizes = {"rows": ROWS // shrink, "features": FEATURES // shrink}
    return Report(
        "Sparse logistic regression, L1",
        f"{data_said()}, CSR, l1 = {L1:g}, no intercept, to a gap of {GAP:g}.",
        [*RACE.rows(shape(sizes), sizes), *RACE.first_fits(sizes)],
        theirs="",
        answer="objective",
        sizes=sizes,
    )
