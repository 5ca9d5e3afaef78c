"""The lasso path of ``bench_lasso_path.py`` with ten times its noise.

Its end has columns for most of the rows: the noise is fitted, too.  celer and scikit-learn,
which take minutes for one path, are left out.
"""

from benchmarks.bench_lasso_path import PEERS, SMALL, measured, race
from benchmarks.child import Sizes
from benchmarks.report import Report
from benchmarks.workbench import Work

__all__ = ["SMALL", "measure", "prepare"]  # what child processes read

NOISE = 50  # hundredths of the signal's spread

RACE = race(__name__, [peer for peer in PEERS if peer.name == "adelie"])


def prepare(name: str, sizes: Sizes) -> Work:
    return RACE.prepare(name, sizes)


def measure(shrink: int) -> Report:
    return measured(RACE, "Lasso path, noisy", shrink, noise=NOISE)
