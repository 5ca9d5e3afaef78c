"""Softmax regression on MNIST, to a gap of 1e-6.

    minimise  −Σ_i log P(y_i | W x_i + b) + ½ l2 ‖W‖²        l2 = 1, b not penalised, pixels / 255

scikit-learn's lbfgs is timed to a gap of 1e-2 and to ours: the goal is set against the former.
"""

from benchmarks import ours_linear
from benchmarks.child import Sizes
from benchmarks.linear_problems import IMAGES, Classes, digits
from benchmarks.race import Entrant, Race
from benchmarks.report import Report, times_faster
from benchmarks.workbench import Work

ROWS = 60_000
L2 = 1.0
GAP, LOOSE = 1e-6, 1e-2
SMALL = {"rows": 3_000}
SCIKIT_LEARN = "benchmarks.against.scikit_learn_linear"

PEERS = (
    Entrant(
        "scikit-learn lbfgs, to 1e-2",
        SCIKIT_LEARN,
        "softmax",
        (1e-2, 1e-3, 3e-4, 1e-4, 1e-5),
        {"solver": "lbfgs"},
        times_faster(5),
        target=LOOSE,
    ),
    Entrant(
        "scikit-learn lbfgs",
        SCIKIT_LEARN,
        "softmax",
        (1e-5, 1e-6, 1e-8),
        {"solver": "lbfgs"},
        peak=False,
    ),
)


def problem(sizes: Sizes) -> Classes:
    return digits(sizes["rows"], L2)


RACE = Race(__name__, problem, ours_linear.entrant("softmax", GAP), PEERS, GAP, tight=1e-10)


def prepare(name: str, sizes: Sizes) -> Work:
    return RACE.prepare(name, sizes)


def measure(shrink: int) -> Report:
    sizes = {"rows": ROWS // shrink}
    data = "MNIST" if IMAGES.exists() else "pictures made up in its shape"
    return Report(
        "Softmax regression, L2",
        f"{data}, pixels over 255, l2 = {L2:g}, to a gap of {GAP:g}.",
        [*RACE.rows(f"{sizes['rows']:,} × 784, K = 10", sizes), *RACE.first_fits(sizes)],
        theirs="",
        answer="objective",
        sizes=sizes,
    )
