"""Which columns tell the classes (or components) apart.

    evidence_kj = E[ log p(x_j | k) − log p(x_j | not k) ]   over x_j drawn from class k

in nats: the log-odds for class k that column j brings, on average, to the rows of that class.
It is estimated from draws of the fitted model, so it needs no data, and is the same measure
for every event model.
"""

from typing import Any

import numpy as np

from likely._typing import Array
from likely.distributions import Complement, DiagonalGaussian, FullGaussian, Product
from likely.special import logsumexp

DRAWS = 500  # per component, fewer for wide tables
MOST_CELLS = 4_000_000  # of contributions that are held at once


def column_evidence(distribution: Any, log_prior: Array, rng: np.random.Generator) -> Array:
    """The evidence of every column for every component, (n_components, n_features)."""
    if not isinstance(distribution, Product):
        return part_evidence(distribution, log_prior, rng)
    out = np.empty((len(log_prior), distribution.n_features))
    for part, selection in zip(distribution.parts, distribution.selections, strict=True):
        out[:, list(selection.features)] = part_evidence(part, log_prior, rng)
    return out


def part_evidence(part: Any, log_prior: Array, rng: np.random.Generator) -> Array:
    """The same for one family of columns; those of a full Gaussian are taken one by one."""
    if isinstance(part, FullGaussian):
        part = margins(part)
    return _evidence(part, log_prior, part.n_features, rng)


def margins(part: FullGaussian) -> DiagonalGaussian:
    """Each column by itself: what it tells without the others."""
    variance = np.array([np.diag(covariance) for covariance in part.covariance])
    return DiagonalGaussian(part.mean, np.broadcast_to(variance, part.mean.shape))


def _evidence(part: Any, log_prior: Array, n_columns: int, rng: np.random.Generator) -> Array:
    """(n_components, n_columns)"""
    k = len(log_prior)
    if k < 2:
        return np.zeros((k, n_columns))
    if isinstance(part, Complement):  # no density to draw from
        others = part.weight.sum(axis=0) - part.weight
        difference: Array = part.weight - others / (k - 1)
        return difference
    draws = max(min(DRAWS, MOST_CELLS // (n_columns * k * k)), 20)
    contributions = part.contributions(part.sample(np.repeat(np.arange(k), draws), rng))
    return np.stack(
        [
            _log_odds(contributions[c * draws : (c + 1) * draws], log_prior, c).mean(axis=0)
            for c in range(k)
        ]
    )


def _log_odds(contributions: Array, log_prior: Array, c: int) -> Array:
    """log p(x_j | c) − log p(x_j | not c), (n, n_columns)."""
    others = np.arange(len(log_prior)) != c
    log_share = log_prior[others] - logsumexp(log_prior[others])
    rest: Array = logsumexp(contributions[:, :, others] + log_share, axis=2)
    return np.asarray(contributions[:, :, c] - rest)
