"""How well each feature separates the components: its mean log-odds, in nats per row.

    e_cj = E[log p(x_j | c) − log p(x_j | not c)]        x_j of the rows of component c

Counts and presences have it as a sum over their values, other features from draws of the model.
A multinomial has no lengths: they are taken from the data.  With lengths around the mean L_c of
the rows of component c (Poisson), the count of side v is Poisson with mean L_c φ_cv.
"""

from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array
from likely.special import lgamma, logsumexp

DRAWS = 500  # per component, fewer for wide tables
MOST_CELLS = 4_000_000  # of contributions that are held at once
FEW_COUNTS = {4: 0.01, 16: 1.0, 64: 16.0}  # values 0, 1, … that suffice up to this mean, to 1e-9
SPREADS = 8.0  # standard deviations around a large mean


class RowSums(NamedTuple):
    """What is known of the rows of each component: their weight and their statistics."""

    weight: Array  # N_k, (n_components,)
    statistics: Any

    def mean_counts(self) -> Array:
        """N_kj / N_k, (n_components, n_features); of all rows for a component without any."""
        sums = self.statistics.feature_counts()
        if not (self.weight > 0).all():
            total = self.weight.sum()
            pooled = sums.sum(axis=0) / total if total > 0 else np.zeros(sums.shape[1])
            there = self.weight[:, None] > 0
            return np.where(there, sums / np.where(there, self.weight[:, None], 1.0), pooled)
        means: Array = sums / self.weight[:, None]
        return means


def drawn_evidence(member: Any, log_mixing: Array, rng: np.random.Generator) -> Array:
    """The evidence of each feature from draws of ``member``, (n_components, n_features)."""
    k, d = len(log_mixing), member.n_features
    if k < 2:
        return np.zeros((k, d))
    draws = max(min(DRAWS, MOST_CELLS // (d * k * k)), 20)
    X = member.sample(np.repeat(np.arange(k), draws), rng)
    at_once = max(MOST_CELLS // (d * k), 1)  # rows: features may be many
    out = np.zeros((k, d))
    for c in range(k):
        stop = (c + 1) * draws
        for first in range(c * draws, stop, at_once):
            contributions = member.contributions(X[first : min(first + at_once, stop)])
            out[c] += _log_odds(contributions, log_mixing)[:, :, c].sum(axis=0)
    return out / draws


def presence_evidence(log_failure: Array, log_success: Array, log_mixing: Array) -> Array:
    """The evidence of features that are 0 or 1: the sum over both values."""
    values = np.stack([log_failure.T, log_success.T])  # (2, n_features, n_components)
    return _mean(_log_odds(values, log_mixing), np.exp(values)).T


def count_evidence(log_weight: Array, constant: Array, mean: Array, log_mixing: Array) -> Array:
    """The evidence of counts x_j with log-scores x_j w_kj + b_kj, Poisson with ``mean`` in k.

    All arguments but the last are (n_components, n_features).
    """
    k, d = log_weight.shape
    out = np.zeros((k, d))
    group = np.searchsorted([*FEW_COUNTS.values()], mean.max(axis=0))
    for place, n_values in enumerate([*FEW_COUNTS, max(FEW_COUNTS)]):
        features = np.flatnonzero(group == place)
        at_once = max(MOST_CELLS // (n_values * k), 1)
        for first in range(0, len(features), at_once):
            j = features[first : first + at_once]
            weight, base = log_weight[:, j].T, constant[:, j].T  # (n_features, n_components)
            if place < len(FEW_COUNTS):
                values = np.arange(n_values + 1.0)[:, None, None]
                log_odds = _log_odds(_scores(values, weight, base), log_mixing)
                out[:, j] = _mean(log_odds, _poisson(values, mean[:, j].T)).T
                continue
            for c in range(k):  # each component has values of its own
                values = _around(mean[c, j], n_values)[:, :, None]
                log_odds = _log_odds(_scores(values, weight, base), log_mixing)[:, :, c]
                out[c, j] = _mean(log_odds, _poisson(values[:, :, 0], mean[c, j]))
    return out


def _scores(values: Array, weight: Array, base: Array) -> Array:
    """x w + b, where 0 · (−inf) is 0, (n_values, n_features, n_components)."""
    there = values > 0
    shape = np.broadcast_shapes(values.shape, weight.shape)
    return np.multiply(values, weight, where=there, out=np.zeros(shape)) + base


def _around(mean: Array, n_values: int) -> Array:
    """Evenly spaced counts around large means, (n_values + 1, n_features)."""
    width = SPREADS * np.sqrt(mean)
    lowest = np.floor(np.maximum(mean - width, 0.0))
    step = np.maximum(np.ceil((mean + width - lowest) / n_values), 1.0)
    return np.asarray(lowest + step * np.arange(n_values + 1.0)[:, None])


def _poisson(values: Array, mean: Array) -> Array:
    """Probabilities of counts, relative to all of ``values``, which are those that matter."""
    with np.errstate(divide="ignore"):
        logs = _scores(values, np.log(mean), -lgamma(values + 1.0))
    return np.asarray(np.exp(logs - logsumexp(logs, axis=0)))


def _log_odds(scores: Array, log_mixing: Array) -> Array:
    """log p(x_j | k) − log p(x_j | not k) of every component k, in the shape of the scores."""
    if len(log_mixing) < 2:
        return np.zeros(scores.shape)
    there = np.isfinite(log_mixing)
    if there.sum() < 2:  # components without rows stay, if no others are there
        log_mixing = np.where(there, log_mixing, 0.0)
    rest = _without_each(scores + log_mixing) - _without_each(log_mixing)
    with np.errstate(invalid="ignore"):  # −inf − (−inf), of values that the component never has
        return np.asarray(scores - rest)


def _without_each(logs: Array) -> Array:
    """log Σ_{l ≠ k} e^(a_l) along the last axis: sums from both sides, because a difference of
    sums would cancel.
    """
    nothing = np.full((*logs.shape[:-1], 1), -np.inf)
    before = np.logaddexp.accumulate(np.concatenate([nothing, logs[..., :-1]], axis=-1), axis=-1)
    after = np.logaddexp.accumulate(np.concatenate([nothing, logs[..., :0:-1]], axis=-1), axis=-1)[
        ..., ::-1
    ]
    return np.logaddexp(before, after)


def _mean(values: Array, probability: Array) -> Array:
    """Σ_i p_ij v_ij, without values of probability 0."""
    zero = np.zeros(values.shape)
    return np.asarray(np.multiply(probability, values, where=probability > 0, out=zero).sum(axis=0))
