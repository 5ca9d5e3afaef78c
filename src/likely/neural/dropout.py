"""Dropout: units are set to 0 at random in training, and the others made up for it.

    m_ij = [u_ij < q] / q        q = 1 − rate        u_ij = keyed_uniform(seed, e·L + l, i, j)

The mean of m is 1, so prediction has no masks (inverted dropout).  The mask of unit j of layer l
depends on the seed, the epoch e and the global index i of the example, and on nothing else: not on
the batch, the block or the engine.  Layer 0 is the input.

References
----------
Srivastava, Hinton, Krizhevsky, Sutskever & Salakhutdinov (2014), Dropout, JMLR 15, §4.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from likely._typing import Array, Matrix
from likely.errors import InvalidInput
from likely.inputs.estimators import is_number
from likely.keyed_random import keyed_uniform
from likely.neural.architecture import Architecture


def dropout_rates(
    architecture: Architecture, dropout: float | Sequence[float]
) -> tuple[float, ...]:
    """The rate of the input and of each hidden layer.

    A number is the rate of every hidden layer; a sequence has one for each hidden layer, or one
    for the input before them.
    """
    n_hidden = len(architecture.hidden)
    if isinstance(dropout, Sequence | np.ndarray) and not isinstance(dropout, str):
        rates = tuple(_checked_rate(rate) for rate in dropout)
        if len(rates) not in (n_hidden, n_hidden + 1):
            raise InvalidInput(
                f"dropout has {len(rates)} rates; expected {n_hidden}, one for each hidden layer, "
                f"or {n_hidden + 1}, the first for the input."
            )
        rates = rates if len(rates) > n_hidden else (0.0, *rates)
    else:
        rates = (0.0, *(_checked_rate(dropout),) * n_hidden)
    return rates


def dropout_masks(
    rates: Sequence[float],
    X: Matrix,
    architecture: Architecture,
    *,
    seed: int,
    epoch: int,
    index: Array,
) -> list[Matrix | None]:
    """m^(0) … m^(L−1) of the examples with these global indices; None where the rate is 0.

    The mask of a sparse X has the cells of X alone.
    """
    masks: list[Matrix | None] = []
    for level, (rate, size) in enumerate(zip(rates, architecture.sizes, strict=False)):
        if rate == 0.0:
            masks.append(None)
            continue
        key: Any = (seed, epoch * architecture.n_layers + level)
        dtype, kept = X.dtype, 1.0 - rate
        if level == 0 and sparse.issparse(X):
            rows = np.repeat(index, np.diff(X.indptr))
            cells = _kept(keyed_uniform(*key, rows, X.indices), kept, dtype)
            masks.append(sparse.csr_array((cells, X.indices, X.indptr), shape=X.shape))
        else:
            draws = keyed_uniform(*key, np.asarray(index)[:, None], np.arange(size))
            masks.append(_kept(draws, kept, dtype))
    return masks


def _kept(draws: Array, kept: float, dtype: Any) -> Array:
    return np.where(draws < kept, 1.0 / kept, 0.0).astype(dtype)


def _checked_rate(rate: Any) -> float:
    if not (is_number(rate) and 0.0 <= rate < 1.0):
        raise InvalidInput(
            f"dropout={rate!r} was given; expected a rate from 0 up to, but not, 1. A rate of 1 "
            "would remove every unit; 0.2 to 0.5 is usual."
        )
    return float(rate)
