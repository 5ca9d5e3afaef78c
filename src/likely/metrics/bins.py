"""Predicted probabilities in bins, beside how often what they speak of happened.

With n_b rows in bin b, their mean prediction p̄_b and share observed ō_b, and ō of all rows:

    Brier      = Σ (n_b/n)(p̄_b − ō_b)²     − Σ (n_b/n)(ō_b − ō)²     + ō(1 − ō)  + rest
    log loss   = Σ (n_b/n) KL(ō_b ‖ p̄_b)   − Σ (n_b/n) KL(ō_b ‖ ō)   + H(ō)      + rest
                 reliability                 resolution                uncertainty

The rest is what predictions vary within a bin; it is 0 where they do not.  Two classes are one
event, the second class; several are one event each, and their Brier parts add up.  The log loss
of several classes is no sum over events, so its parts are given for two classes only.

References
----------
Murphy (1973), A new vector partition of the probability score, J. Applied Meteorology 12.
Stephenson, Coelho & Jolliffe (2008), Two extra components in the Brier score decomposition.
Bröcker (2009), Reliability, sufficiency, and the decomposition of proper scores, QJRMS 135.
"""

from dataclasses import dataclass
from math import nan
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.additive import FieldwiseAdditive
from likely.information import bernoulli_cross_entropy
from likely.intervals import Ends, wilson
from likely.metrics.prediction import Prediction, Truth

N_BINS = 10
EQUAL_WIDTH = tuple(k / N_BINS for k in range(N_BINS + 1))


class Parts(NamedTuple):
    """score = reliability − resolution + uncertainty + rest."""

    reliability: float  # what miscalibration costs
    resolution: float  # what telling rows apart gains
    uncertainty: float  # the score of the best constant
    rest: float  # from predictions that differ within a bin


class Bin(NamedTuple):
    """One point of a reliability diagram."""

    low: float
    high: float
    weight: float
    predicted: float  # mean; NaN of an empty bin
    observed: float
    interval: Ends  # Wilson's, of the observed share


@final
@dataclass(frozen=True, eq=False)
class Bins(FieldwiseAdditive):
    """Sums per event and bin."""

    weight: Array  # (n_events, n_bins)
    predicted: Array  # Σ w p
    observed: Array  # Σ w of rows where the event happened

    @classmethod
    def of(cls, truth: Truth, prediction: Prediction, edges: tuple[float, ...]) -> "Bins":
        """One event of two classes, the second; of more classes one each."""
        p = np.exp(prediction.log_p)
        events = [1] if p.shape[1] == 2 else range(p.shape[1])
        parts = [binned(p[:, k], truth.y == k, truth.weights, edges) for k in events]
        return cls(*(np.stack(sums) for sums in zip(*parts, strict=True)))

    @property
    def predicted_share(self) -> Array:
        return _ratio(self.predicted, self.weight)

    @property
    def observed_share(self) -> Array:
        return _ratio(self.observed, self.weight)


def binned(p: Array, happened: Array, weight: Array, edges: tuple[float, ...]) -> list[Array]:
    """Σ w, Σ w p and Σ w·happened in each bin; the last one is closed above."""
    n_bins = len(edges) - 1
    place = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, n_bins - 1)
    sums = (weight, weight * p, weight * happened)
    return [np.bincount(place, weights=each, minlength=n_bins) for each in sums]


def quantile_edges(p: Array, n_bins: int = N_BINS) -> tuple[float, ...]:
    """Edges that put as many predictions into each bin; fewer bins where many are equal."""
    inner = np.quantile(p, np.arange(1, n_bins) / n_bins)
    inside = np.unique(inner[(inner > 0) & (inner < 1)])
    return (0.0, *map(float, inside), 1.0)


def reliability_curve(
    bins: Bins, edges: tuple[float, ...], *, event: int = 0, level: float = 0.95
) -> list[Bin]:
    """The bins of one event, empty ones included."""
    predicted, observed = bins.predicted_share[event], bins.observed_share[event]
    return [
        Bin(
            edges[b],
            edges[b + 1],
            float(bins.weight[event, b]),
            float(predicted[b]),
            float(observed[b]),
            wilson(float(observed[b]), float(bins.weight[event, b]), level),
        )
        for b in range(len(edges) - 1)
    ]


def brier_parts(bins: Bins, score: float) -> Parts:
    """Of the Brier score, added over the events."""
    n = bins.weight[0].sum()
    share = bins.weight / n
    overall = bins.observed.sum(axis=1, keepdims=True) / n
    predicted, observed = bins.predicted_share, bins.observed_share
    reliability = float(np.nansum(share * np.square(predicted - observed)))
    resolution = float(np.nansum(share * np.square(observed - overall)))
    uncertainty = float((overall * (1 - overall)).sum())
    return _with_rest(reliability, resolution, uncertainty, score)


def log_loss_parts(bins: Bins, score: float) -> Parts:
    """Of the log loss of two classes; NaN for more."""
    if len(bins.weight) > 1:
        return Parts(nan, nan, nan, nan)
    n, used = bins.weight[0].sum(), bins.weight[0] > 0
    share = bins.weight[0][used] / n
    overall = np.full(len(share), bins.observed[0].sum() / n)
    predicted, observed = bins.predicted_share[0][used], bins.observed_share[0][used]
    own = bernoulli_cross_entropy(observed, observed)
    reliability = float(np.dot(share, bernoulli_cross_entropy(observed, predicted) - own))
    resolution = float(np.dot(share, bernoulli_cross_entropy(observed, overall) - own))
    uncertainty = float(bernoulli_cross_entropy(overall[0], overall[0]))
    return _with_rest(reliability, resolution, uncertainty, score)


def _with_rest(reliability: float, resolution: float, uncertainty: float, score: float) -> Parts:
    rest = score - (reliability - resolution + uncertainty)
    return Parts(reliability, resolution, uncertainty, rest)


def _ratio(total: Array, weight: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.asarray(total / weight)  # NaN of an empty bin
