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
    def called(self) -> Codes:
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
            constant = Prediction.of_labels(constant.called)
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
        )


def _rows(values: Array | None, index: Array) -> Array | None:
    return None if values is None else values[index]


def _stacked(parts: Sequence[Array | None]) -> Array | None:
    present = [part for part in parts if part is not None]
    return np.concatenate(present) if len(present) == len(parts) else None
