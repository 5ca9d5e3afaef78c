"""Gaussian naive Bayes, fit by maximum likelihood, 1,000,000 × 50.

maximise  Σ_i log π_yi + Σ_j log N(x_ij; m_yij, v_yij)        no floor under the variances
"""

from benchmarks.child import Sizes
from benchmarks.contest import Contest
from benchmarks.problems import Labelled, gaussian_classes
from benchmarks.report import Report, times_faster

ROWS, FEATURES, CLASSES = 1_000_000, 50, (2, 10)
SMALL = {"rows": 60_000}  # blocks large enough for the compiled loops
REPEATS = 7
GOAL = times_faster(10)


def data(sizes: Sizes) -> Labelled:
    return gaussian_classes(sizes["rows"], FEATURES, sizes["classes"])


CONTEST = Contest(__name__, data, "gaussian_naive_bayes", "gaussian_classes")
prepare = CONTEST.prepare


def measure(shrink: int) -> Report:
    n = ROWS // shrink
    rows = [
        CONTEST.row(
            f"fit {n:,} × {FEATURES}, {k} classes",
            {"rows": n, "classes": k},
            repeats=REPEATS,
            goal=GOAL,
        )
        for k in CLASSES
    ]
    return Report(
        "Gaussian naive Bayes",
        "A fit to float64 arrays by maximum likelihood, no floor under the variances.",
        [*rows, *CONTEST.first_fits({**SMALL, "classes": CLASSES[0]})],
        sizes={"rows": n, "features": FEATURES, "classes": CLASSES},
    )
