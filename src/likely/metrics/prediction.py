"""The true values of some rows, and the predictions of a model or a constant for them.

The loss of a row, which is also the unit of a gain:

    −log p(y | x)      for classes, counts, and numbers whose model has a density
    (y − ŷ)²           for numbers whose model has none
    1[y ≠ ŷ]           for classes whose model has no probabilities

An outcome with predicted probability 0 has a fixed loss, so that one such row does not hide all
others: the probability of a class counts as at least 2⁻⁵² (36 nats), and a density or a mass of 0
as the smallest number above 0 (``IMPOSSIBLE``, 745 nats); any other is used as it is.  Every loss
is finite.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np

from likely._typing import Array, Codes
from likely.kinds import TargetKind
from likely.numerics.additive import Additive
from likely.numerics.intervals import Ends, about_mean_with_surprise, group_totals
from likely.numerics.moments import Moments
from likely.special import LOG_FLOOR

IMPOSSIBLE = 745.0  # −log of the least number above 0: what a density of 0 costs


@final
@dataclass(frozen=True, eq=False)
class Truth:
    """The true values: class codes, or numbers.

    ``exposure`` multiplies the mean of a row and ``offset`` is added to it, for every model: the
    best constant depends on them.
    """

    y: Array  # (n,) int64 codes from 0, or float64
    weight: Array | None = None  # (n,)
    classes: tuple[Any, ...] = ()  # none for numbers
    kind: TargetKind = "classes"
    exposure: Array | None = None  # (n,), above 0
    offset: Array | None = None  # (n,)
    with_zeros: bool = False  # whether numbers are amounts of which some are exactly 0

    @property
    def weights(self) -> Array:
        return np.ones(len(self.y)) if self.weight is None else self.weight

    @property
    def link(self) -> str | None:
        """The link through which offsets change the best constant from row to row; None without."""
        if self.exposure is not None:
            return "log"
        return None if self.offset is None else "identity"

    def rows(self, index: Array) -> "Truth":
        """Some of the rows, by index or mask."""
        return replace(
            self,
            y=self.y[index],
            weight=_rows(self.weight, index),
            exposure=_rows(self.exposure, index),
            offset=_rows(self.offset, index),
        )

    def moved_by(self, offset: Array, link: str) -> "Truth":
        """The same rows, with offsets on the scale of a link.

        They multiply the mean under the log link and are added to it under the identity; under
        other links they do not change the constant.
        """
        if link == "log":
            return replace(self, exposure=np.exp(offset))
        return replace(self, offset=offset) if link == "identity" else self

    @classmethod
    def joined(cls, parts: "Sequence[Truth]") -> "Truth":
        """Rows of several parts, one after the other; all have the same classes and kind."""
        first = parts[0]
        return cls(
            np.concatenate([part.y for part in parts]),
            _stacked([part.weight for part in parts]),
            first.classes,
            first.kind,
            _stacked([part.exposure for part in parts]),
            _stacked([part.offset for part in parts]),
            first.with_zeros,
        )


@final
@dataclass(frozen=True, eq=False)
class Prediction:
    """What a model predicted for the same rows."""

    log_proba: Array | None = None  # (n, K), in the order of the classes
    mean: Array | None = None  # (n,)
    log_density: Array | None = None  # (n,) log p(y_i | x_i); None where a model has no density
    median: Array | None = None  # (n,); None where the mean takes its place
    unseen: tuple[Any, ...] = ()  # classes that the model had not seen
    labels: Codes | None = None  # (n,), of a model of classes that has no probabilities
    spread: Array | None = None  # (n,), of a predictor of numbers: s of ``PredictiveFamily``

    @classmethod
    def of_classes(cls, log_proba: Array, unseen: tuple[Any, ...] = ()) -> Self:
        return cls(log_proba=np.maximum(log_proba, LOG_FLOOR), unseen=unseen)

    @classmethod
    def of_labels(cls, labels: Codes) -> Self:
        return cls(labels=labels)

    @classmethod
    def of_numbers(
        cls, mean: Array, log_density: Array | None = None, median: Array | None = None
    ) -> Self:
        if log_density is not None:
            log_density = np.where(np.isneginf(log_density), -IMPOSSIBLE, log_density)
        return cls(mean=mean, log_density=log_density, median=median)

    @property
    def log_p(self) -> Array:
        assert self.log_proba is not None, "a metric of probabilities was given none"
        return self.log_proba

    @property
    def predicted(self) -> Codes:
        """The predicted class of each row; the first of equally probable ones."""
        return self.log_p.argmax(axis=1) if self.labels is None else self.labels

    @property
    def means(self) -> Array:
        assert self.mean is not None, "a metric of numbers was given classes"
        return self.mean

    @property
    def in_nats(self) -> bool:
        """Whether losses are of a log-likelihood; else they are errors of labels or of numbers."""
        return self.labels is None and (self.log_proba is not None or self.log_density is not None)

    def losses(self, truth: Truth) -> Array:
        """The loss of each row, (n,)."""
        if self.labels is not None:
            return (truth.y != self.labels).astype(np.float64)
        if self.log_proba is not None:
            return -np.take_along_axis(self.log_proba, truth.y[:, None], axis=1)[:, 0]
        if self.log_density is not None:
            return -self.log_density
        return np.square(truth.y - self.means)

    def gain_over(self, constant: "Prediction", truth: Truth) -> Array:
        """The loss of a constant minus that of the prediction, (n,), in the same units."""
        if self.labels is not None:
            constant = Prediction.of_labels(constant.predicted)
        elif self.log_density is None:
            constant = replace(constant, log_density=None)
        return constant.losses(truth) - self.losses(truth)

    def n_impossible(self, truth: Truth) -> int:
        """The number of rows to which the model gave probability 0."""
        if self.log_proba is None and self.log_density is None:
            return 0
        price = IMPOSSIBLE if self.log_proba is None else -LOG_FLOOR
        return int((self.losses(truth) == price).sum())

    def rows(self, index: Array) -> "Prediction":
        """Some of the rows, by index or mask."""
        return replace(
            self,
            log_proba=_rows(self.log_proba, index),
            mean=_rows(self.mean, index),
            log_density=_rows(self.log_density, index),
            median=_rows(self.median, index),
            labels=_rows(self.labels, index),
            spread=_rows(self.spread, index),
        )

    @classmethod
    def joined(cls, parts: "Sequence[Prediction]") -> "Prediction":
        """Predictions of several parts, one after the other; a density only where all have one."""
        return cls(
            log_proba=_stacked([part.log_proba for part in parts]),
            mean=_stacked([part.mean for part in parts]),
            log_density=_stacked([part.log_density for part in parts]),
            median=_stacked([part.median for part in parts]),
            unseen=tuple(dict.fromkeys(label for part in parts for label in part.unseen)),
            labels=_stacked([part.labels for part in parts]),
            spread=_stacked([part.spread for part in parts]),
        )


def _rows(values: Array | None, index: Array) -> Array | None:
    return None if values is None else values[index]


def _stacked(parts: Sequence[Array | None]) -> Array | None:
    present = [part for part in parts if part is not None]
    return np.concatenate(present) if len(present) == len(parts) else None


# ── Means of rows whose intervals allow for one more surprise ─────────────────────────────────────
# A mean of few rows may be small because its rare large values did not occur in them.  Its interval
# is therefore that of the rows, and beyond it that of the rows with one more
# (``intervals.about_mean_with_surprise``).  Of numbers, that row is as bad as the worst so far.  Of
# classes, it is as bad as the model's own probabilities say: a row is a surprise if its class is
# not the most probable one, k*, and with v_k the value of a row whose class is k, surprises have
# the mean value
#
#     L = Σᵢ Σ_{k≠k*} p_ik v_ik / Σᵢ Σ_{k≠k*} p_ik
#
# so they are expected where the model itself expects them, as often as it says up to one common
# factor.


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
    np.put_along_axis(p, prediction.predicted[:, None], 0.0, axis=1)
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
