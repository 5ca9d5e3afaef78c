"""How sealed rows are scored: by a metric's loss of each row, with the other metrics beside it.

    classes    −log p(y | x); for models without probabilities the share of errors
    numbers    −log p(y | x) of the model's family about its mean; under a judge that needs losses
               from 0 up, and for models without a density, the squared error

Predictions are written down before a label is opened, so a family is kept with the means.
"""

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from math import inf
from typing import TYPE_CHECKING, Any, cast, final

import numpy as np
from sklearn.base import is_classifier, is_regressor

from likely._typing import Array, Codes
from likely.errors import InvalidInput
from likely.intervals import Ends, effective_rows, matched_interval, wilson
from likely.kinds import TargetKind
from likely.likelihoods.predictive import PredictiveFamily
from likely.likelihoods.responses import RESPONSES
from likely.metrics import Prediction, Truth, constant_prediction, metrics_for
from likely.metrics.baseline import class_log_shares
from likely.metrics.classes import LogLoss
from likely.metrics.numbers import RMSE, LogLikelihood
from likely.sealing.judges import JUDGES
from likely.sealing.manifest import Manifest
from likely.sealing.scorer import Predictions, Scorer
from likely.special import LOG_FLOOR
from likely.workbench.predictions import predictive_family
from likely.workbench.task import Task, task_for_models, task_of

if TYPE_CHECKING:
    import pyarrow as pa

IMPOSSIBLE = 745.0  # −log of the least number above 0: what the model denies costs this


def usual_scorer(model: Any, train: "pa.Table", manifest: Manifest) -> Scorer:
    """The scorer of a model that was fitted to the training part of a seal.

    The kind of target is what the seal says; but a classifier is always scored by classes, and a
    regressor by numbers.
    """
    if not (is_classifier(model) or is_regressor(model)):
        raise InvalidInput(
            f"{type(model).__name__} is neither a classifier nor a regressor; a sealed test set is "
            "scored by its predictions of the target. Choose a model that predicts it."
        )
    gives = ("predict_log_proba", "predict_proba")
    if is_classifier(model) and not any(callable(getattr(model, name, None)) for name in gives):
        return ErrorRateScorer()
    target, kind = manifest.target, cast("TargetKind | None", manifest.kind)
    task = task_for_models(train, target, model, kind=kind, order=manifest.order)
    if is_classifier(model) and not task.has_classes:  # its values look like amounts
        labels = tuple(np.asarray(model.classes_).tolist())
        task = Task("binary" if len(labels) == 2 else "classes", target, labels)
    elif is_regressor(model) and task.has_classes:
        task = task_of(train, target, kind="real")
    return scorer_of(task, model, manifest.judge)


def scorer_of(task: Task, model: Any, judge: str) -> Scorer:
    """The scorer of a fitted model under a judge."""
    if task.has_classes:
        return LogLossScorer(task)
    if predictive_family(model) is None or not JUDGES[judge].exact:
        return SquaredErrorScorer(task)
    return DensityScorer(task)


def scorer_from(described: Mapping[str, Any]) -> Scorer | None:
    """The scorer that a commit describes; None where it was the user's own."""
    make = SCORERS.get(described["name"])
    if make is None:
        return None
    known = described.get("task")
    if known is None:
        return None if make is DensityScorer else make(None)
    order = None if known["order"] is None else tuple(known["order"])
    return make(Task(known["kind"], known["target"], tuple(known["classes"]), order))


def estimated_loss(scorer: Scorer, measures: Mapping[str, float]) -> float | None:
    """The scorer's loss by cross-validation, from the values of metrics by name."""
    if scorer.name == DensityScorer.name:
        return -measures["log-likelihood"] if "log-likelihood" in measures else None
    if scorer.name == SquaredErrorScorer.name:
        return measures["rmse"] ** 2 if "rmse" in measures else None
    return measures.get("log-loss") if scorer.name == LogLossScorer.name else None


@dataclass(frozen=True)
class TaskScorer(Scorer):
    """Losses of one metric, and beside them all metrics of the task, where there is one."""

    task: Task | None = None  # None in commits of earlier versions, and of scorers by hand

    def described(self) -> dict[str, Any]:
        if self.task is None:
            return {"name": self.name}
        task = self.task
        known = {"kind": task.kind, "target": task.target, "order": task.order}
        return {"name": self.name, "task": {**known, "classes": task.classes}}


@final
@dataclass(frozen=True)
class LogLossScorer(TaskScorer):
    """−log p(y), in nats; what has no probability, or a class never seen, costs the floor."""

    name = "log loss"
    highest = -LOG_FLOOR

    def predictions(self, model: Any, X: Any) -> Predictions:
        with np.errstate(divide="ignore"):  # log 0 counts as the floor; ``extras`` counts them
            if callable(getattr(model, "predict_log_proba", None)):
                log_proba = np.asarray(model.predict_log_proba(X), dtype=np.float64)
            else:
                log_proba = np.log(np.asarray(model.predict_proba(X), dtype=np.float64))
        return {"log_proba": log_proba, "classes": plain(model.classes_)}

    def losses(self, predictions: Predictions, y: Array) -> Array:
        classes = predictions["classes"]
        return LogLoss().row_values(_truth_of_classes(y, classes), _shown(predictions, classes))

    def constant_losses(self, y_train: Array, y: Array) -> Array:
        classes = np.unique(plain(y_train))
        training, truth = (_truth_of_classes(labels, classes) for labels in (y_train, y))
        return LogLoss().row_values(truth, constant_prediction(training, truth))

    def extras(
        self,
        predictions: Predictions,
        y: Array,
        level: float,
        *,
        y_train: Array,
        groups: Codes | None = None,
    ) -> dict[str, Any]:
        """How many rows had probability 0, and the metrics on rows of the task's classes."""
        impossible = self.losses(predictions, y) >= -LOG_FLOOR
        found: dict[str, Any] = {"impossible_rows": int(impossible.sum())}
        if self.task is None:
            return found
        classes = np.array(self.task.classes)
        code = places(y, classes)
        known = code >= 0
        shown = Prediction.of_classes(_shown(predictions, classes).log_p[known, : len(classes)])
        training, truth = (
            Truth(codes, None, self.task.classes, self.task.kind)
            for codes in (places(y_train, classes), code[known])
        )
        groups = None if groups is None else groups[known]
        return found | {"measures": _measures(self.task, training, truth, shown, level, groups)}


@final
@dataclass(frozen=True)
class ErrorRateScorer(TaskScorer):
    """The share of wrong labels, for classifiers that give no probabilities."""

    name = "error rate"
    highest = 1.0

    def predictions(self, model: Any, X: Any) -> Predictions:
        return {"labels": plain(model.predict(X))}

    def losses(self, predictions: Predictions, y: Array) -> Array:
        return (predictions["labels"] != plain(y)).astype(np.float64)

    def constant_losses(self, y_train: Array, y: Array) -> Array:
        classes, code = np.unique(plain(y_train), return_inverse=True)
        shares = class_log_shares(code, np.ones(len(code)), len(classes))
        return (plain(y) != classes[shares.argmax()]).astype(np.float64)

    def interval(self, losses: Array, level: float, groups: Codes | None = None) -> Ends:
        n = losses.size if groups is None else effective_rows(losses, groups, level)
        return wilson(float(np.mean(losses)), n, level)

    def gain_interval(
        self, losses: Array, constant: Array, level: float, groups: Codes | None = None
    ) -> Ends:
        return matched_interval(constant - losses, level, groups)


class NumberScorer(TaskScorer):
    """Losses of predicted numbers."""

    @abstractmethod
    def prediction(self, predictions: Predictions, y: Array) -> Prediction:
        """The predictions in the form that metrics read."""

    def extras(
        self,
        predictions: Predictions,
        y: Array,
        level: float,
        *,
        y_train: Array,
        groups: Codes | None = None,
    ) -> dict[str, Any]:
        """The metrics of the task that the predictions suit."""
        if self.task is None:
            return {}
        kind, shown = self.task.kind, self.prediction(predictions, y)
        training, truth = (_truth_of_numbers(values, kind) for values in (y_train, y))
        return {"measures": _measures(self.task, training, truth, shown, level, groups)}


@final
@dataclass(frozen=True)
class SquaredErrorScorer(NumberScorer):
    """(y − ŷ)²."""

    name = "mean squared error"

    def predictions(self, model: Any, X: Any) -> Predictions:
        return {"mean": np.asarray(model.predict(X), dtype=np.float64).ravel()}

    def prediction(self, predictions: Predictions, y: Array) -> Prediction:
        return Prediction.of_numbers(predictions["mean"])

    def losses(self, predictions: Predictions, y: Array) -> Array:
        return RMSE().row_values(_truth_of_numbers(y), self.prediction(predictions, y))

    def constant_losses(self, y_train: Array, y: Array) -> Array:
        training, truth = _truth_of_numbers(y_train), _truth_of_numbers(y)
        return RMSE().row_values(truth, constant_prediction(training, truth))


@final
@dataclass(frozen=True)
class DensityScorer(NumberScorer):
    """−log p(y | x); what the model denies costs ``IMPOSSIBLE``."""

    task: Task  # a density is of one kind of target

    name = "negative log-likelihood"
    highest = IMPOSSIBLE

    @property
    def lowest(self) -> float:  # type: ignore[override]  # read-only is enough
        """A density may be above 1; the probability of a count may not."""
        return 0.0 if self.task.kind == "count" else -inf

    def predictions(self, model: Any, X: Any) -> Predictions:
        spread = predictive_family(model)
        assert spread is not None, "scorer_of chose by it"
        mean = np.asarray(model.predict(X), dtype=np.float64).ravel()
        return {"mean": mean, "family": np.array([_written(spread)])}

    def prediction(self, predictions: Predictions, y: Array) -> Prediction:
        mean, spread = predictions["mean"], _read(str(predictions["family"][0]))
        y = np.asarray(y, dtype=np.float64)
        log_density = spread.log_density(y, mean, counts=self.task.kind == "count")
        return Prediction.of_numbers(mean, _finite(log_density))

    def losses(self, predictions: Predictions, y: Array) -> Array:
        shown = self.prediction(predictions, y)
        return -LogLikelihood().row_values(_truth_of_numbers(y, self.task.kind), shown)

    def constant_losses(self, y_train: Array, y: Array) -> Array:
        training, truth = (_truth_of_numbers(values, self.task.kind) for values in (y_train, y))
        constant = constant_prediction(training, truth)
        return -_finite(LogLikelihood().row_values(truth, constant))


SCORERS: Mapping[str, Callable[[Any], Scorer]] = {  # of a task, or of None
    scorer.name: scorer
    for scorer in (LogLossScorer, ErrorRateScorer, SquaredErrorScorer, DensityScorer)
}


def plain(values: Any) -> Array:
    """Text as NumPy's own text, so that no object array is ever written to a file."""
    array = np.asarray(values)
    return array.astype(np.str_) if array.dtype.kind == "O" else array


def places(y: Array, classes: Array) -> Codes:
    """Each label's place among the classes; −1 where it is none of them."""
    place = {label: k for k, label in enumerate(classes.tolist())}
    return np.array([place.get(label, -1) for label in plain(y).tolist()], dtype=np.int64)


def _truth_of_classes(y: Array, classes: Array) -> Truth:
    """Labels by their place among the classes; all others are one more class, the last."""
    code = places(y, classes)
    return Truth(np.where(code < 0, len(classes), code), None, (*classes.tolist(), None))


def _shown(predictions: Predictions, classes: Array) -> Prediction:
    """log p of each class, and at the end the floor for labels that are none of them."""
    known = predictions["log_proba"]
    log_proba = np.full((len(known), len(classes) + 1), LOG_FLOOR)
    log_proba[:, places(predictions["classes"], classes)] = np.maximum(known, LOG_FLOOR)
    return Prediction.of_classes(log_proba)


def _truth_of_numbers(y: Array, kind: TargetKind = "real") -> Truth:
    return Truth(np.asarray(y, dtype=np.float64), kind=kind)


def _finite(log_density: Array) -> Array:
    return np.where(np.isfinite(log_density), log_density, -IMPOSSIBLE)


def _measures(
    task: Task,
    training: Truth,
    truth: Truth,
    shown: Prediction,
    level: float,
    groups: Codes | None,
) -> dict[str, Any]:
    """Each metric: value, ends and best constant; what is not finite is left out."""
    found: dict[str, Any] = {}
    for metric in metrics_for(task.kind):
        if not metric.suits(shown):
            continue
        value, low, high, constant = metric.estimate(
            training, truth, shown, level=level, groups=groups
        )
        if np.isfinite((value, low, high)).all():
            ends = {"value": float(value), "low": float(low), "high": float(high)}
            found[metric.name] = {
                **ends,
                "constant": float(constant) if np.isfinite(constant) else None,
            }
    return found


def _written(spread: PredictiveFamily) -> str:
    response = spread.response
    own: dict[str, Any] = asdict(response) if is_dataclass(response) else {}
    return json.dumps(
        {"name": response.name, "own": own, "dispersion": spread.dispersion}, sort_keys=True
    )


def _read(text: str) -> PredictiveFamily:
    found = json.loads(text)
    response = type(RESPONSES[found["name"]])(**found["own"])
    return PredictiveFamily(response, found["dispersion"])
