"""Weights of counts: term frequency times inverse document frequency, as in scikit-learn.

    tf = x or 1 + ln x        idf_v = 1 + ln ((n + s) / (n_v + s)),  s = 1 if smooth else 0

Each row may then be divided by the sum (l1) or the root of the sum of squares (l2) of its weights.
"""

from typing import Any

import numpy as np

from likely._typing import Array


def inverse_frequency(frequency: Array, n_documents: int, *, smooth: bool) -> Array:
    """1 + ln ((n + s) / (n_v + s)), by term."""
    extra = float(smooth)
    with np.errstate(divide="ignore"):
        ratio = (n_documents + extra) / (frequency + extra)
    return np.asarray(np.log(ratio) + 1.0)


def weighted(counts: Any, idf: Array | None, *, sublinear: bool, norm: str | None) -> Any:
    """The weights of a CSR matrix of counts."""
    weights = counts.astype(np.float64)
    if sublinear:
        weights.data = 1.0 + np.log(weights.data)
    if idf is not None:
        weights.data *= idf[weights.indices]
    if norm is not None:
        from sklearn.preprocessing import normalize

        weights = normalize(weights, norm=norm, copy=False)
    return weights
