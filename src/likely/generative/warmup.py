"""Compile the loops ahead of time, so that the first large fit does not wait for it."""

import numpy as np

from likely.distributions import CategoricalFamily, DiagonalFamily, Labels
from likely.distributions.responsibility import FAST_CELLS


def warmup() -> None:
    """Run every compiled loop once on data just large enough to choose it."""
    n, d = FAST_CELLS // 8, 8
    labels = Labels(np.zeros(n, dtype=np.int64), 1)
    DiagonalFamily().statistics(np.zeros((n, d)), labels)
    for dtype in (np.int32, np.int64):
        CategoricalFamily((1,) * d).statistics(np.zeros((n, d), dtype=dtype), labels)
