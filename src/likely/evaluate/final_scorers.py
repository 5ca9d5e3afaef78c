"""How sealed rows are scored: by the main metric of the task, with the others beside it.

    classes    −log p(y | x)
    numbers    −log p(y | x) of the model's family about its mean; under a judge that needs losses
               from 0 up, and for models without a density, the squared error

What a model says is written down before a label is opened, so a family is kept with the means.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.evaluate.baseline import best_level
from likely.evaluate.metrics import metrics_for
from likely.evaluate.metrics.base import Prediction, Truth
from likely.evaluate.predicting import Spread, spread_of
from likely.evaluate.task import Task
from likely.likelihoods.responses import RESPONSES
from likely.sealing.judges import JUDGES
from likely.sealing.scoring import SCORERS, Predictions, Scorer, places

LOG_LIKELIHOOD = "negative log-likelihood"
IMPOSSIBLE = 745.0  # −log of the least number above 0: what the model denies costs this


def scorer_of(task: Task, model: Any, judge: str) -> Scorer:
    """The scorer of a fitted model under a judge."""
    if task.has_classes:
        return ClassScorer(task)
    if spread_of(model) is None or not JUDGES[judge].exact:
        return NumberScorer(task, SCORERS["mean squared error"])
    return DensityScorer(task)


def promised_by(scorer: Scorer, measures: Mapping[str, float]) -> float | None:
    """What cross-validation said, by the names of metrics, as a loss of the scorer."""
    if scorer.name == LOG_LIKELIHOOD:
        return -measures["log-likelihood"] if "log-likelihood" in measures else None
    if scorer.name == "mean squared error":
        return measures["rmse"] ** 2 if "rmse" in measures else None
    return measures.get("log-loss")


@final
@dataclass(frozen=True)
class ClassScorer(Scorer):
    """Log loss, and all metrics of classes."""

    task: Task
    name = "log loss"

    def predictions(self, model: Any, X: Any) -> Predictions:
        return SCORERS[self.name].predictions(model, _features(model, X))

    def losses(self, predictions: Predictions, y: Array) -> Array:
        return SCORERS[self.name].losses(predictions, y)

    def constant_losses(self, y_train: Array, y: Array) -> Array:
        return SCORERS[self.name].constant_losses(y_train, y)

    def extras(self, predictions: Predictions, y: Array, level: float) -> dict[str, Any]:
        found = dict(SCORERS[self.name].extras(predictions, y, level))
        classes = np.array(self.task.classes)
        code, place = places(y, classes), places(predictions["classes"], classes)
        known = code >= 0
        log_proba = np.full((len(y), len(classes)), -np.inf)
        log_proba[:, place] = predictions["log_proba"]
        truth = Truth(code[known], None, self.task.classes, self.task.kind)
        shown = Prediction.of_classes(log_proba).rows(known)
        return found | {"measures": _measures(self.task, truth, shown, level)}


@final
@dataclass(frozen=True)
class NumberScorer(Scorer):
    """Another scorer of numbers, with all metrics that need no density."""

    task: Task
    inner: Scorer

    @property
    def name(self) -> str:  # type: ignore[override]  # read-only is enough
        return self.inner.name

    def predictions(self, model: Any, X: Any) -> Predictions:
        return self.inner.predictions(model, _features(model, X))

    def losses(self, predictions: Predictions, y: Array) -> Array:
        return self.inner.losses(predictions, y)

    def constant_losses(self, y_train: Array, y: Array) -> Array:
        return self.inner.constant_losses(y_train, y)

    def extras(self, predictions: Predictions, y: Array, level: float) -> dict[str, Any]:
        return {"measures": _of_numbers(self.task, y, predictions["mean"], level)}


@final
@dataclass(frozen=True)
class DensityScorer(Scorer):
    """−log p(y | x), and all metrics of numbers."""

    task: Task
    name = LOG_LIKELIHOOD

    def predictions(self, model: Any, X: Any) -> Predictions:
        spread = spread_of(model)
        assert spread is not None, "scorer_of chose by it"
        mean = np.asarray(model.predict(_features(model, X)), dtype=np.float64).ravel()
        return {"mean": mean, "family": np.array([_written(spread)])}

    def losses(self, predictions: Predictions, y: Array) -> Array:
        spread = _read(str(predictions["family"][0]))
        y = np.asarray(y, dtype=np.float64)
        counts = self.task.kind == "count"
        return _finite(-spread.log_density(y, predictions["mean"], counts=counts))

    def constant_losses(self, y_train: Array, y: Array) -> Array:
        y_train = np.asarray(y_train, dtype=np.float64)
        level = best_level(self.task.kind, y_train, np.ones(len(y_train)))
        return _finite(-level.log_density(np.asarray(y, dtype=np.float64)))

    def extras(self, predictions: Predictions, y: Array, level: float) -> dict[str, Any]:
        return {"measures": _of_numbers(self.task, y, predictions["mean"], level)}


def _of_numbers(task: Task, y: Array, mean: Array, level: float) -> dict[str, Any]:
    truth = Truth(np.asarray(y, dtype=np.float64), kind=task.kind)
    return _measures(task, truth, Prediction.of_numbers(mean), level)


def _measures(task: Task, truth: Truth, shown: Prediction, level: float) -> dict[str, Any]:
    """Each metric beside the main one: value and ends; what is not finite is left out."""
    found: dict[str, Any] = {}
    for metric in metrics_for(task):
        if not metric.suits(shown):
            continue
        statistics = metric.statistics(truth, shown)
        ends = [metric.value(statistics), *metric.interval(statistics, level)]
        if np.isfinite(ends).all():
            names = ("value", "low", "high")
            found[metric.name] = dict(zip(names, map(float, ends), strict=True))
    return found


def _features(model: Any, X: Any) -> Any:
    """The columns that the model was fitted on."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return X
    names = [str(name) for name in names]
    return X.select(names) if hasattr(X, "select") else X[names]


def _finite(losses: Array) -> Array:
    return np.where(np.isfinite(losses), losses, IMPOSSIBLE)


def _written(spread: Spread) -> str:
    response = spread.response
    own: dict[str, Any] = asdict(response) if is_dataclass(response) else {}
    return json.dumps(
        {"name": response.name, "own": own, "dispersion": spread.dispersion}, sort_keys=True
    )


def _read(text: str) -> Spread:
    found = json.loads(text)
    response = type(RESPONSES[found["name"]])(**found["own"])
    return Spread(response, found["dispersion"])
