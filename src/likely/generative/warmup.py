"""Compile the loops ahead of time, so that the first large fit does not wait for it."""

import numpy as np

from likely.distributions import CategoricalFamily, DiagonalFamily, FullGaussian, Labels
from likely.distributions.responsibility import FAST_CELLS, weighted_sums
from likely.distributions.whitened import whitened_sums
from likely.objectives.value_counts import CAP, PADDING


def warmup() -> None:
    """Run every compiled loop once, on data just large enough to choose it."""
    from scipy import sparse

    from likely.fast.counts import count_small_values

    n, d = FAST_CELLS // 8 + 1, 8
    labels = Labels(np.zeros(n, dtype=np.int64), 1)
    X = np.zeros((n, d))
    DiagonalFamily().statistics(X, labels)
    weighted_sums(labels, sparse.csr_array(X + 1.0))
    for dtype in (np.int32, np.int64):
        codes = np.zeros((n, d), dtype=dtype)
        CategoricalFamily((1,) * d).statistics(codes, labels)
        counts = np.zeros((1, d * (CAP + PADDING)), dtype=np.uint32)
        count_small_values(codes, labels.codes, CAP, CAP + PADDING, counts)
    member = FullGaussian(np.zeros((1, d)), np.eye(d)[None])
    whitened_sums(member.mean, member.factors, X[:1], np.zeros(1), None)
