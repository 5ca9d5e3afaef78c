"""The lasso path of ``bench_lasso_path.py`` with ten times its noise.

Its end has columns for most of the rows: the noise is fitted, too.  It has half the rows and half
the columns, and celer and scikit-learn are left out: in full, a path takes them minutes.
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
    return measured(RACE, "Lasso path, noisy", 2 * shrink, noise=NOISE)
