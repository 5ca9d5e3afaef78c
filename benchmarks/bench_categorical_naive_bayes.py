"""Categorical naive Bayes from integer codes, 1,000,000 × 50 with ten values each.

φ_kjv = (N_kjv + 1) / (N_kj + 10)        the posterior mode: one imagined example per value
"""

from benchmarks.child import Sizes
from benchmarks.contest import Contest
from benchmarks.problems import N_VALUES, Labelled, categorical_classes
from benchmarks.report import Report, times_faster

ROWS, FEATURES, CLASSES = 1_000_000, 50, (2, 10)
SMALL = {"rows": 60_000}  # blocks large enough for the compiled loops
REPEATS = 5
GOAL = times_faster(50)


def data(sizes: Sizes) -> Labelled:
    return categorical_classes(sizes["rows"], FEATURES, sizes["classes"])


CONTEST = Contest(__name__, data, "categorical_naive_bayes", "categorical_classes")
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
        "Categorical naive Bayes",
        f"A fit to int64 codes of {N_VALUES} values, one imagined example per value.",
        [*rows, *CONTEST.first_fits({**SMALL, "classes": CLASSES[0]})],
        sizes={"rows": n, "features": FEATURES, "values": N_VALUES, "classes": CLASSES},
    )
