"""Probit and complementary log-log regression, to a gap of 1e-8.

minimise  −Σ_i log P(y_i | x_iᵀw + b)        no penalty

Against statsmodels, which has standard errors from its last step, ours computes them too.
"""

from dataclasses import replace

from benchmarks import ours_linear
from benchmarks.child import Sizes
from benchmarks.linear_problems import Binary, dense_binary
from benchmarks.race import Entrant, Race
from benchmarks.report import Report, times_faster
from benchmarks.workbench import Work

ROWS, FEATURES = 200_000, 30
GAP = 1e-8
SMALL = {"rows": 20_000}
LINKS = ("probit", "cloglog")

STATSMODELS = Entrant(
    "statsmodels",
    "benchmarks.against.statsmodels",
    "binary",
    (1e-4, 1e-6, 1e-8),
    goal=times_faster(3),
    rival=ours_linear.with_errors("binary", GAP),
)
GLUM = Entrant(
    "glum",
    "benchmarks.against.glum",
    "binary",
    (1e-2, 1e-3, 1e-4, 1e-6, 1e-8),
    goal=times_faster(1.5),
)


def problem(sizes: Sizes) -> Binary:
    return dense_binary(sizes["rows"], sizes["features"], link=LINKS[sizes["link"]])


RACE = Race(__name__, problem, ours_linear.entrant("binary", GAP), (STATSMODELS, GLUM), GAP)
PEERS_OF = {"probit": (STATSMODELS,), "cloglog": (STATSMODELS, GLUM)}  # glum has no probit


def prepare(name: str, sizes: Sizes) -> Work:
    return RACE.prepare(name, sizes)


def measure(shrink: int) -> Report:
    sizes = {"rows": ROWS // shrink, "features": FEATURES, "link": 0}
    shape = f"{sizes['rows']:,} × {FEATURES}"
    found = []
    for number, link in enumerate(LINKS):
        race = replace(RACE, peers=PEERS_OF[link])
        found += race.rows(f"{link}, {shape}", {**sizes, "link": number})
    return Report(
        "Binary links",
        f"No penalty, float64, to a gap of {GAP:g}.",
        [*found, *RACE.first_fits(sizes)],
        theirs="",
        answer="objective",
        sizes=sizes,
    )
