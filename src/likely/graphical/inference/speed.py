"""Whether inference runs its compiled loops or their readable twins.

Compiling takes seconds, and loading what was compiled before some tenths of one, so small graphs
are answered without it, until their work adds up to more than that, or the loops are there.
"""

import os
import sys
from functools import cache
from pathlib import Path

FAST_WORK = 2_000_000  # cells of tables that the readable loops go through in about 0.2 s
CLIQUE_WORK = 1000  # cells that take as long as the readable loops' steps for one clique
VARIABLE_WORK = 5000  # cells that take as long as the readable planning of one variable
TO_LOAD, TO_COMPILE = FAST_WORK, 10 * FAST_WORK  # cells of small questions, in all, before either
LOOPS = "propagation"

_done = 0.0  # cells that the readable loops have gone through in this process


def is_fast(work: float) -> bool:
    """Whether work on that many cells of tables is for the compiled loops."""
    global _done
    if work >= FAST_WORK or f"likely.fast.{LOOPS}" in sys.modules or _done >= _patience():
        return True
    _done += work
    return False


@cache
def _patience() -> float:
    """How much work is worth the wait for the loops: less where they are compiled already."""
    beside = Path(__file__).parents[2] / "fast" / "__pycache__"
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or beside)
    return TO_LOAD if any(folder.rglob(f"{LOOPS}.*.nbi")) else TO_COMPILE
