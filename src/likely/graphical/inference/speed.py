"""Whether inference runs its compiled loops or their readable twins.

Compiling takes seconds, and loading what was compiled before some tenths of one, so small graphs
are answered without it, unless the loops are there.
"""

import sys

FAST_WORK = 2_000_000  # cells of tables that the readable loops go through in about 0.2 s
CLIQUE_WORK = 1000  # cells that take as long as the readable loops' steps for one clique
VARIABLE_WORK = 5000  # cells that take as long as the readable planning of one variable
LOOPS = "likely.fast.propagation"


def is_fast(work: float) -> bool:
    """Whether work on that many cells of tables is for the compiled loops."""
    return work >= FAST_WORK or LOOPS in sys.modules
