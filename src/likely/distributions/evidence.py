"""Which features separate the components: the evidence of each, estimated from draws.

    evidence_kj = E[ log p(x_j | k) − log p(x_j | not k) ]   over x_j drawn from component k

in nats: the log-odds for component k that feature j brings, on average, to the rows of that
component.  It needs no data, and is the same measure for every event model.
"""

from typing import Any

import numpy as np

from likely._typing import Array
from likely.special import logsumexp

DRAWS = 500  # per component, fewer for wide tables
MOST_CELLS = 4_000_000  # of contributions that are held at once


def drawn_evidence(member: Any, log_mixing: Array, rng: np.random.Generator) -> Array:
    """Of a distribution with ``contributions`` and ``sample``, (n_components, n_features)."""
    k, d = len(log_mixing), member.n_features
    if k < 2:
        return np.zeros((k, d))
    draws = max(min(DRAWS, MOST_CELLS // (d * k * k)), 20)
    contributions = member.contributions(member.sample(np.repeat(np.arange(k), draws), rng))
    return np.stack(
        [
            _log_odds(contributions[c * draws : (c + 1) * draws], log_mixing, c).mean(axis=0)
            for c in range(k)
        ]
    )


def _log_odds(contributions: Array, log_mixing: Array, c: int) -> Array:
    """log p(x_j | c) − log p(x_j | not c), (n, n_features)."""
    others = np.arange(len(log_mixing)) != c
    log_share = log_mixing[others] - logsumexp(log_mixing[others])
    rest: Array = logsumexp(contributions[:, :, others] + log_share, axis=2)
    return np.asarray(contributions[:, :, c] - rest)
