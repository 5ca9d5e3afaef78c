"""When a layout hands its work to a compiled loop, and in what form."""

import numpy as np

from likely._typing import Array

FAST_CELLS = 100_000  # in a block: below, the readable twin is quicker than loading Numba


def pays(n_cells: int) -> bool:
    """Whether so many stored cells are worth a compiled loop."""
    return n_cells >= FAST_CELLS


def for_loop(values: Array, dtype: type = np.float64) -> Array:
    """As compiled loops want it: one dtype, C order, writable (anything else compiles again)."""
    return np.require(values, dtype, ["C", "W"])
