"""A lasso path of 100 penalties on more columns than rows.

    minimise  ½‖y − Xw‖² + l1 ‖w‖₁        for l1 from ‖Xᵀy‖∞ down to a hundredth, no intercept

The gap is the duality gap over ½‖y‖², the largest on the path: it is certified, so the
optimum is 0 and no reference is run.
"""

from collections.abc import Sequence

from benchmarks import ours_linear
from benchmarks.child import Sizes
from benchmarks.linear_problems import LassoPath, wide
from benchmarks.race import Entrant, Race
from benchmarks.report import Report, times_faster
from benchmarks.workbench import Work

ROWS, FEATURES, PENALTIES = 5_000, 10_000, 100
GAP = 1e-4
NOISE = 5  # hundredths of the signal's spread; bench_lasso_path_noisy.py has ten times as much
SMALL = {"rows": 200, "features": 400}

PEERS = (
    Entrant(
        "adelie",
        "benchmarks.against.adelie",
        "lasso",
        (1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12),
        goal=times_faster(1.8),
    ),
    Entrant("celer", "benchmarks.against.celer", "lasso", (1e-4, 5e-5, 2e-5, 1e-5, 5e-6, 1e-6)),
    Entrant(
        "scikit-learn",
        "benchmarks.against.scikit_learn_linear",
        "lasso",
        (1e-4, 5e-5, 2e-5),
    ),
)


def problem(sizes: Sizes) -> LassoPath:
    return wide(sizes["rows"], sizes["features"], sizes["penalties"], sizes["noise"] / 100)


def race(module: str, peers: Sequence[Entrant] = PEERS) -> Race:
    """The race that the child processes of ``module`` run."""
    ours = ours_linear.entrant("lasso_path", GAP)
    return Race(module, problem, ours, peers, GAP, optimum=0.0)


RACE = race(__name__)


def prepare(name: str, sizes: Sizes) -> Work:
    return RACE.prepare(name, sizes)


def measure(shrink: int) -> Report:
    return measured(RACE, "Lasso path", shrink, noise=NOISE)


def measured(race: Race, title: str, shrink: int, *, noise: int) -> Report:
    """The report of a race at this noise, in hundredths of the signal's spread."""
    sizes = {
        "rows": max(SMALL["rows"], ROWS // shrink),
        "features": max(SMALL["features"], FEATURES // shrink),
        "penalties": PENALTIES,
        "noise": noise,
    }
    shape = f"{sizes['rows']:,} × {sizes['features']:,}"
    return Report(
        title,
        f"{PENALTIES} penalties down to a hundredth of the largest, dense float64 in Fortran "
        f"order, no intercept, duality gap at most {GAP:g} of ½‖y‖² everywhere.",
        [
            *race.rows(f"{shape}, noise of {noise} %", sizes),
            *race.first_fits(sizes),
        ],
        theirs="",
        answer="largest duality gap",
        sizes=sizes,
    )
