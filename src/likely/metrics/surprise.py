"""Means of rows whose intervals allow for one more surprise.

A mean of few rows may be small because its rare large values did not occur in them.  Its interval
is therefore that of the rows, and beyond it that of the rows with one more
(``intervals.about_mean_with_surprise``).  Of numbers, that row is as bad as the worst so far.  Of
classes, it is as bad as the model's own probabilities say: a row is a surprise if its class is
not the most probable one, k*, and with v_k the value of a row whose class is k, surprises have the
mean value

    L = Σᵢ Σ_{k≠k*} p_ik v_ik / Σᵢ Σ_{k≠k*} p_ik

so they are expected where the model itself expects them, as often as it says up to one common
factor.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from likely._typing import Array, Codes
from likely.additive import Additive
from likely.intervals import Ends, about_mean_with_surprise, group_totals
from likely.metrics.prediction import Prediction, Truth
from likely.moments import Moments


@final
@dataclass(frozen=True, eq=False)
class RowValues(Additive):
    """The moments of p values per row, and the rows with the extremes of each."""

    moments: Moments
    least: Array  # (p, p): row j has the smallest value of column j
    most: Array

    @classmethod
    def of(cls, values: Array, weight: Array) -> "RowValues":
        """The totals of rows ``values``, (n,) or (n, p), that all have a weight above 0."""
        return cls(Moments.of(values, weight), *_extremes(values))

    @classmethod
    def of_groups(cls, values: Array, weight: Array, groups: Codes) -> "RowValues":
        """Totals as of one value per group, for cluster-robust ``ends``; only the mean adds."""
        moments = Moments.of_groups(values, weight, groups)
        scale = moments.n / float(weight.sum())
        each = scale * group_totals((weight * values.T).T, groups)
        return cls(moments, *_extremes(each))

    def __add__(self, other: "RowValues") -> "RowValues":
        return RowValues(
            self.moments + other.moments,
            _larger(-self.least, -other.least) * -1,
            _larger(self.most, other.most),
        )

    @property
    def n(self) -> float:
        return self.moments.n

    @property
    def first(self) -> float:
        """The mean of the first value; NaN without rows."""
        return self.moments.first

    def loss_ends(self, level: float) -> Ends:
        """The interval of a mean loss: its upper end allows for a surprise."""
        return self._ends(self._surprise(float(self.most[0, 0])), level)

    def gain_ends(self, level: float) -> Ends:
        """The interval of a mean gain, with a surprise on one side for classes, else on both."""
        best = self._ends(self._surprise(float(self.most[0, 0])), level)
        worst = self._ends(self._surprise(float(self.least[0, 0])), level)
        return worst[0], best[1]

    def _surprise(self, seen: float) -> float:
        """L of classes; of numbers, the extreme value that was seen."""
        mean = self.moments.mean
        if len(mean) == 1 or not self.n:
            return seen
        return float(mean[1] / mean[2]) if mean[2] > 0 else float("nan")

    def _ends(self, surprise: float, level: float) -> Ends:
        scatter = float(self.moments.scatter[0, 0])
        return about_mean_with_surprise(self.first, scatter, self.n, surprise, level)


def with_surprise(by_class: Array, truth: Truth, prediction: Prediction) -> Array:
    """The value of each row, and the two sums over the classes of a surprise: (n, 3).

    ``by_class`` are v, (n, K).
    """
    p = np.exp(prediction.log_p)
    np.put_along_axis(p, prediction.called[:, None], 0.0, axis=1)
    value = np.take_along_axis(by_class, truth.y[:, None], axis=1)[:, 0]
    return np.column_stack([value, (p * by_class).sum(axis=1), p.sum(axis=1)])


def _extremes(values: Array) -> tuple[Array, Array]:
    values = values[:, None] if values.ndim == 1 else values
    return -_largest(-values), _largest(values)


def _largest(values: Array) -> Array:
    """The row with the largest value of each column; of equal ones, the largest by the others."""
    p = values.shape[1]
    if not len(values):
        return np.full((p, p), -np.inf)
    found = []
    for column in values.T:
        tied = values[column == np.nanmax(column)]
        found.append(tied[np.lexsort(tied.T)[-1]] if len(tied) else np.full(p, np.nan))
    return np.array(found)


def _larger(one: Array, other: Array) -> Array:
    """The larger of two rows for each column."""
    pairs = np.stack([one, other], axis=1)
    return np.array([_largest(pair)[j] for j, pair in enumerate(pairs)])
