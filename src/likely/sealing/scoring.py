"""Scores that are means over rows, with an interval.

    score = (1/n) Σ_i loss_i        interval: score ± t_{n−1} s / √n, inside of the loss's range
    0 or 1 for each row             Wilson's interval: n rows without an error are no certainty
    gain = (1/n) Σ_i (loss_i of the best constant − loss_i), row by row, with its own interval

Rows of one group are not independent: intervals are then cluster-robust (``likely.intervals``).

A scorer first asks the model for predictions, which are written down and hashed, and only then
sees labels.  Further metrics come as other ``Scorer`` objects, or as ``extras`` of one.

References
----------
Wilson (1927), Probable inference, JASA 22.
Agresti & Min (2005), Simple improved confidence intervals for comparing matched proportions,
Statistics in Medicine 24.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib import import_module
from math import inf, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.data.arrow import decoded
from likely.errors import InvalidInput
from likely.intervals import (
    about_clustered_mean,
    about_mean,
    clipped,
    effective_rows,
    normal_quantile,
    wilson,
)
from likely.special import LOG_FLOOR

if TYPE_CHECKING:
    import pyarrow as pa

    from likely.sealing.manifest import Manifest

TASK_SCORERS = "likely.workbench.final_scorers"
IMAGINED = np.array([1.0, -1.0, 0.0, 0.0])  # differences of matched pairs, half a row each
Predictions = dict[str, Array]  # arrays of numbers, Booleans or text


class Estimate(NamedTuple):
    """A value and an interval for it."""

    value: float
    low: float
    high: float


class Scorer(ABC):
    """How predictions are made and compared with labels; lower losses are better."""

    name: str  # in the ledger, and in the sentence
    lowest: float = 0.0  # that a loss can be, and the mean of losses too
    highest: float = inf

    @abstractmethod
    def predictions(self, model: Any, X: Any) -> Predictions:
        """All that the model says of the rows."""

    @abstractmethod
    def losses(self, predictions: Predictions, y: Array) -> Array:
        """One number per row; not negative, if it is to work under ladder and thresholdout."""

    @abstractmethod
    def constant_losses(self, y_train: Array, y: Array) -> Array:
        """The losses of the best prediction that ignores the features."""

    def interval(self, losses: Array, level: float, groups: Codes | None = None) -> Estimate:
        """The mean loss, and where it would be on other rows, or groups, of the kind."""
        return mean_interval(losses, level, groups=groups, lowest=self.lowest, highest=self.highest)

    def gain(
        self, losses: Array, constant: Array, level: float, groups: Codes | None = None
    ) -> Estimate:
        """What the model saves of the constant's loss on the same rows."""
        return mean_interval(constant - losses, level, groups=groups)

    def extras(
        self,
        predictions: Predictions,
        y: Array,
        level: float,
        *,
        y_train: Array,
        groups: Codes | None = None,
    ) -> Mapping[str, Any]:
        """Further numbers for the ledger, as JSON; kept only where the exact score may be told."""
        return {}

    def described(self) -> Mapping[str, Any]:
        """What ``scorer_of_commit`` needs to make it again, as JSON."""
        return {"name": self.name}


@final
class LogLoss(Scorer):
    """−log p(y), in nats."""

    name = "log loss"
    highest = -LOG_FLOOR

    def predictions(self, model: Any, X: Any) -> Predictions:
        with np.errstate(divide="ignore"):  # log 0 counts as the floor, and is told in ``extras``
            if callable(getattr(model, "predict_log_proba", None)):
                log_proba = np.asarray(model.predict_log_proba(X), dtype=np.float64)
            else:
                log_proba = np.log(np.asarray(model.predict_proba(X), dtype=np.float64))
        return {"log_proba": log_proba, "classes": plain(model.classes_)}

    def losses(self, predictions: Predictions, y: Array) -> Array:
        return _log_losses(predictions["log_proba"], places(y, predictions["classes"]))

    def constant_losses(self, y_train: Array, y: Array) -> Array:
        classes, count = np.unique(plain(y_train), return_counts=True)
        shares = np.broadcast_to(np.log(count / count.sum()), (len(y), len(classes)))
        return _log_losses(shares, places(y, classes))

    def extras(
        self,
        predictions: Predictions,
        y: Array,
        level: float,
        *,
        y_train: Array,
        groups: Codes | None = None,
    ) -> Mapping[str, Any]:
        """How many rows had probability 0: they count as the floor."""
        losses = self.losses(predictions, y)
        return {"impossible_rows": int((losses >= -LOG_FLOOR).sum())}


@final
class ErrorRate(Scorer):
    """The share of wrong labels, for classifiers that give no probabilities."""

    name = "error rate"
    highest = 1.0

    def predictions(self, model: Any, X: Any) -> Predictions:
        return {"labels": plain(model.predict(X))}

    def losses(self, predictions: Predictions, y: Array) -> Array:
        return (predictions["labels"] != plain(y)).astype(np.float64)

    def constant_losses(self, y_train: Array, y: Array) -> Array:
        classes, count = np.unique(plain(y_train), return_counts=True)
        return (plain(y) != classes[count.argmax()]).astype(np.float64)

    def interval(self, losses: Array, level: float, groups: Codes | None = None) -> Estimate:
        share = float(np.mean(losses))
        n = losses.size if groups is None else effective_rows(losses, groups, level)
        return Estimate(share, *wilson(share, n, level))

    def gain(
        self, losses: Array, constant: Array, level: float, groups: Codes | None = None
    ) -> Estimate:
        """With two imagined rows, so that few rows that all agree are no certainty."""
        difference = constant - losses
        n = losses.size if groups is None else effective_rows(difference, groups, level)
        if n <= 0:
            return Estimate(float(difference.mean()), -1.0, 1.0)
        weight = np.append(np.full(losses.size, n / losses.size), np.full(4, 0.5))
        return _wald(np.append(difference, IMAGINED), weight, float(difference.mean()), level)


@final
class SquaredError(Scorer):
    """(y − ŷ)²."""

    name = "mean squared error"

    def predictions(self, model: Any, X: Any) -> Predictions:
        return {"mean": np.asarray(model.predict(X), dtype=np.float64).ravel()}

    def losses(self, predictions: Predictions, y: Array) -> Array:
        return (np.asarray(y, dtype=np.float64) - predictions["mean"]) ** 2

    def constant_losses(self, y_train: Array, y: Array) -> Array:
        mean = np.mean(np.asarray(y_train, dtype=np.float64))
        return (np.asarray(y, dtype=np.float64) - mean) ** 2


SCORERS: dict[str, Scorer] = {
    scorer.name: scorer for scorer in (LogLoss(), ErrorRate(), SquaredError())
}


def scorer_for(estimator: Any) -> Scorer:
    """Log loss where there are probabilities, else error rate; squared error for numbers."""
    from sklearn.base import is_classifier, is_regressor

    if is_classifier(estimator):
        names = ("predict_log_proba", "predict_proba")
        has_proba = any(callable(getattr(estimator, name, None)) for name in names)
        return SCORERS["log loss" if has_proba else "error rate"]
    if is_regressor(estimator):
        return SCORERS["mean squared error"]
    raise InvalidInput(
        f"{type(estimator).__name__} is neither a classifier nor a regressor; a sealed test set is "
        "scored by its predictions of the target. Choose a model that predicts it."
    )


def usual_scorer(model: Any, train: "pa.Table", manifest: "Manifest") -> Scorer:
    """The scorer of the task, where a model gives what it asks; else one of ``SCORERS``.

    ``evaluate`` lies above this package, and is named by a word as in ``likely.__init__``.
    """
    simple = scorer_for(model)
    found: Scorer = import_module(TASK_SCORERS).scorer_at_seal(simple, model, train, manifest)
    return found


def scorer_of_commit(described: Mapping[str, Any]) -> Scorer | None:
    """The scorer that a commit tells of; None where it was someone's own."""
    if "task" not in described:
        return SCORERS.get(described["name"])
    found: Scorer | None = import_module(TASK_SCORERS).scorer_from(described)
    return found


def mean_interval(
    losses: Array,
    level: float,
    *,
    groups: Codes | None = None,
    lowest: float = -inf,
    highest: float = inf,
) -> Estimate:
    """The mean, and Student's interval for it; of one row, or one group, the whole range."""
    value = float(np.mean(losses))
    if groups is None:
        ends = about_mean(value, float(np.square(losses - value).sum()), losses.size, level)
    else:
        ends = about_clustered_mean(losses, groups, level)
    low, high = clipped(ends, lowest, highest)
    return Estimate(value, min(low, value), max(high, value))


def _wald(values: Array, weight: Array, told: float, level: float) -> Estimate:
    """z √(variance/n) about the mean of the values, none beyond ±1, made to hold what is told."""
    n = float(weight.sum())
    mean = float(np.dot(weight, values)) / n
    variance = float(np.dot(weight, np.square(values - mean))) / n
    half = normal_quantile(level) * sqrt(variance / n)
    low, high = clipped((mean - half, mean + half), -1.0, 1.0)
    return Estimate(told, min(low, told), max(high, told))


def values_of(column: Any) -> Array:
    """An Arrow column as the array of labels that estimators take."""
    import pyarrow as pa

    column = decoded(column)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return np.asarray(column.to_numpy(zero_copy_only=False))


def plain(values: Any) -> Array:
    """Text as NumPy's own text, so that no object array is ever written to a file."""
    array = np.asarray(values)
    return array.astype(np.str_) if array.dtype.kind == "O" else array


def places(y: Array, classes: Array) -> Codes:
    """Each label's place among the classes; −1 where the model knows no such class."""
    place = {label: k for k, label in enumerate(classes.tolist())}
    return np.array([place.get(label, -1) for label in plain(y).tolist()], dtype=np.int64)


def _log_losses(log_proba: Array, place: Codes) -> Array:
    chosen = log_proba[np.arange(len(place)), place]
    return -np.maximum(np.where(place < 0, LOG_FLOOR, chosen), LOG_FLOOR)
