"""Class, cumulative and survival probabilities of ordered classes 1 … M.

    γ_j = P(Y > j) = 1 − P(Y ≤ j),   j = 1 … M − 1
    P(Y = 1) = 1 − γ_1      P(Y = j) = γ_{j−1} − γ_j      P(Y = M) = γ_{M−1}

γ falls with j for any distribution; M − 1 models fitted apart need not agree to that, and the
examples where they do not are reported.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from likely._typing import Array


@final
@dataclass(frozen=True, eq=False)
class SurvivalDifferences:
    """The differences of survival probabilities, and where they are not a distribution."""

    difference: Array  # (n, M); rows total 1, entries may be negative
    non_monotone: Array  # the examples whose γ rises somewhere
    largest_rise: float  # max_j γ_j − γ_{j−1} over all examples, or 0

    def probability(self) -> Array:
        """The differences with negative ones set to 0 and their rows made to total 1 again."""
        clipped = np.maximum(self.difference, 0.0)
        return clipped / clipped.sum(axis=-1, keepdims=True)


def survival_differences(survival: Array) -> SurvivalDifferences:
    """Classes from γ, shape (n, M − 1) or (M − 1,)."""
    survival = np.asarray(survival, dtype=float)
    ends = (*survival.shape[:-1], 1)
    padded = np.concatenate([np.ones(ends), survival, np.zeros(ends)], axis=-1)
    difference = padded[..., :-1] - padded[..., 1:]
    lowest = difference.min(axis=-1)
    return SurvivalDifferences(
        difference=difference,
        non_monotone=np.flatnonzero(lowest < 0),
        largest_rise=float(max(0.0, -lowest.min(initial=0.0))),
    )


def survival_of_classes(probability: Array) -> Array:
    """γ_j = Σ_{k > j} P(Y = k), summed from the last class, where γ is smallest."""
    probability = np.asarray(probability, dtype=float)
    return np.cumsum(probability[..., ::-1], axis=-1)[..., -2::-1]


def cumulative_of_survival(survival: Array) -> Array:
    """P(Y ≤ j) = 1 − γ_j."""
    return np.subtract(1.0, survival)


def survival_of_cumulative(cumulative: Array) -> Array:
    """γ_j = 1 − P(Y ≤ j)."""
    return np.subtract(1.0, cumulative)
