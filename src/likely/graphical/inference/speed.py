"""Whether inference runs its compiled loops or their readable twins.

Compiling takes seconds, and loading what was compiled before some tenths of one, so small graphs
are answered without it, until their work adds up to more than that, or the loops are there.
"""

import sys

FAST_WORK = 2_000_000  # cells of tables that the readable loops go through in about 0.2 s
CLIQUE_WORK = 1000  # cells that take as long as the readable loops' steps for one clique
VARIABLE_WORK = 5000  # cells that take as long as the readable planning of one variable
PATIENCE = 10 * FAST_WORK  # cells of many small questions, in all: about two seconds
LOOPS = "likely.fast.propagation"

_done = 0.0  # cells that the readable loops have gone through in this process


def is_fast(work: float) -> bool:
    """Whether work on that many cells of tables is for the compiled loops."""
    global _done
    if work >= FAST_WORK or _done >= PATIENCE or LOOPS in sys.modules:
        return True
    _done += work
    return False
