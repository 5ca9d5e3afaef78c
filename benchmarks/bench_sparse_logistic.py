"""Logistic regression on sparse text, L2, to a gap of 1e-6.

    minimise  −Σ_i log P(y_i | x_iᵀw) + ½ l2 ‖w‖²        l2 = 1, no intercept

Without an intercept, as liblinear and Snap ML would penalise it.
"""

from benchmarks import ours_linear
from benchmarks.child import Sizes
from benchmarks.linear_problems import TEXTS, Binary, texts
from benchmarks.race import Entrant, Race
from benchmarks.report import Report, times_faster
from benchmarks.workbench import Work

ROWS, FEATURES = 50_000, 100_000
L2 = 1.0
GAP = 1e-6
SMALL = {"rows": 2_000, "features": 4_000}
SCIKIT_LEARN = "benchmarks.against.scikit_learn_linear"
STEPS = (1.0, 0.3, 1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6)  # tolerances

PEERS = (
    Entrant(
        "liblinear, dual", "benchmarks.against.liblinear", "binary", STEPS, goal=times_faster(1)
    ),
    Entrant("scikit-learn's liblinear, dual", SCIKIT_LEARN, "liblinear", STEPS),
    Entrant("snapml, dual", "benchmarks.against.snapml", "binary", STEPS),
    Entrant(
        "scikit-learn lbfgs",
        SCIKIT_LEARN,
        "binary",
        (1e-2, 1e-3, 1e-4, 1e-6),
        {"solver": "lbfgs"},
        times_faster(5),
    ),
)


def problem(sizes: Sizes) -> Binary:
    return texts(sizes["rows"], sizes["features"], l2=L2)


RACE = Race(__name__, problem, ours_linear.entrant("binary", GAP), PEERS, GAP, tight=1e-10)


def prepare(name: str, sizes: Sizes) -> Work:
    return RACE.prepare(name, sizes)


def measure(shrink: int) -> Report:
    sizes = {"rows": ROWS // shrink, "features": FEATURES // shrink}
    return Report(
        "Sparse logistic regression, L2",
        f"{data_said()}, CSR, l2 = {L2:g}, no intercept, to a gap of {GAP:g}.",
        [*RACE.rows(shape(sizes), sizes), *RACE.first_fits(sizes)],
        theirs="",
        answer="objective",
        sizes=sizes,
    )


def data_said() -> str:
    if TEXTS.exists():
        return "tf-idf of the words and word pairs of package descriptions"
    return "Made-up documents of 80 words by Zipf's law, rows of length 1"


def shape(sizes: Sizes) -> str:
    return f"{sizes['rows']:,} × {sizes['features']:,}"
