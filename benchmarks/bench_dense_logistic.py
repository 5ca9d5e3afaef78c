"""Dense logistic regression, to a gap of 1e-8.

minimise  −Σ_i log P(y_i | x_iᵀw + b) + ½ l2 ‖w‖²        l2 = 1, b not penalised
"""

import numpy as np

from benchmarks import ours_linear
from benchmarks.child import Sizes
from benchmarks.linear_problems import Binary, dense_binary
from benchmarks.race import Entrant, Race
from benchmarks.report import Report, times_faster
from benchmarks.workbench import Work

ROWS, FEATURES = 200_000, 100
L2 = 1.0
GAP, GAP_32 = 1e-8, 1e-6  # float32 data allow no closer
SMALL = {"rows": 20_000}
SCIKIT_LEARN = "benchmarks.against.scikit_learn_linear"
GOAL = times_faster(3)  # the better of the two, so both

PEERS = (
    Entrant(
        "scikit-learn newton-cholesky",
        SCIKIT_LEARN,
        "binary",
        (1e-2, 1e-4, 1e-6, 1e-8),
        {"solver": "newton-cholesky"},
        GOAL,
    ),
    Entrant(
        "scikit-learn lbfgs",
        SCIKIT_LEARN,
        "binary",
        (1e-2, 1e-4, 1e-6, 1e-8),
        {"solver": "lbfgs"},
    ),
    Entrant("glum", "benchmarks.against.glum", "binary", (1e-2, 1e-3, 1e-4, 1e-6, 1e-8), goal=GOAL),
)


def problem(sizes: Sizes) -> Binary:
    dtype = np.float32 if sizes["bits"] == 32 else np.float64
    return dense_binary(sizes["rows"], sizes["features"], l2=L2, dtype=dtype)


RACE = Race(__name__, problem, ours_linear.entrant("binary", GAP), PEERS, GAP)
RACE_32 = Race(__name__, problem, ours_linear.entrant("binary", GAP_32), PEERS, GAP_32, tight=1e-9)


def prepare(name: str, sizes: Sizes) -> Work:
    return RACE.prepare(name, sizes)


def measure(shrink: int) -> Report:
    sizes = {"rows": ROWS // shrink, "features": FEATURES, "bits": 64}
    single = {**sizes, "bits": 32}
    shape = f"{sizes['rows']:,} × {FEATURES}"
    return Report(
        "Dense logistic regression, L2",
        f"l2 = {L2:g}, to a gap of {GAP:g} (float32: {GAP_32:g}, judged in float64).",
        [
            *RACE.rows(f"{shape}, float64", sizes),
            *RACE_32.rows(f"{shape}, float32", single),
            *RACE.first_fits(sizes),
        ],
        theirs="",
        answer="objective",
        sizes=sizes,
    )
