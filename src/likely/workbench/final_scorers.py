"""How sealed rows are scored: by the main metric of the task, with the others beside it.

    classes    −log p(y | x)
    numbers    −log p(y | x) of the model's family about its mean; under a judge that needs losses
               from 0 up, and for models without a density, the squared error

What a model says is written down before a label is opened, so a family is kept with the means.
"""

import json
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, is_dataclass
from math import inf
from typing import TYPE_CHECKING, Any, cast, final

import numpy as np

from likely._typing import Array, Codes
from likely.kinds import TargetKind
from likely.likelihoods.responses import RESPONSES
from likely.metrics import metrics_for
from likely.metrics.baseline import best_level
from likely.metrics.prediction import Prediction, Truth
from likely.sealing.judges import JUDGES
from likely.sealing.manifest import Manifest
from likely.sealing.scoring import SCORERS, LogLoss, Predictions, Scorer, places
from likely.special import LOG_FLOOR
from likely.workbench.predictions import Spread, spread_of
from likely.workbench.task import Task, task_of
from likely.workbench.task_for_models import suits_of, task_for_models

if TYPE_CHECKING:
    import pyarrow as pa

LOG_LIKELIHOOD = "negative log-likelihood"
IMPOSSIBLE = 745.0  # −log of the least number above 0: what the model denies costs this


def scorer_of(task: Task, model: Any, judge: str) -> Scorer:
    """The scorer of a fitted model under a judge."""
    if task.has_classes:
        return ClassScorer(task)
    if spread_of(model) is None or not JUDGES[judge].exact:
        return NumberScorer(task, SCORERS["mean squared error"])
    return DensityScorer(task)


def scorer_at_seal(simple: Scorer, model: Any, train: "pa.Table", manifest: Manifest) -> Scorer:
    """The scorer of a model that was fitted to the training part of a seal.

    ``simple`` is what the model alone asks for: a classifier without probabilities keeps it, and a
    model of numbers is never scored by classes.  Else the kind is what the seal says.
    """
    if simple.name == "error rate":
        return simple
    target, kind = manifest.target, cast("TargetKind | None", manifest.kind)
    task = task_for_models(train, target, suits_of(model), kind=kind, order=manifest.order)
    if simple.name == "log loss":
        task = _with_classes(task, model)
    elif task.has_classes:
        task = task_of(train, target, kind="real")
    return scorer_of(task, model, manifest.judge)


def scorer_from(described: Mapping[str, Any]) -> Scorer | None:
    """The scorer that ``described`` tells of."""
    told = described["task"]
    order = None if told["order"] is None else tuple(told["order"])
    task = Task(told["kind"], told["target"], tuple(told["classes"]), order)
    if described["name"] == LOG_LIKELIHOOD:
        return DensityScorer(task)
    if described["name"] == ClassScorer.name:
        return ClassScorer(task)
    inner = SCORERS.get(described["name"])
    return None if inner is None else NumberScorer(task, inner)


def _with_classes(task: Task, model: Any) -> Task:
    """A classifier's task has classes, also where the target's values look like amounts."""
    if task.has_classes:
        return task
    labels = tuple(np.asarray(model.classes_).tolist())
    return Task("binary" if len(labels) == 2 else "classes", task.target, labels)


def _described(scorer: Scorer, task: Task) -> dict[str, Any]:
    told = {"kind": task.kind, "target": task.target, "order": task.order}
    return {"name": scorer.name, "task": {**told, "classes": task.classes}}


def promised_by(scorer: Scorer, measures: Mapping[str, float]) -> float | None:
    """What cross-validation said, by the names of metrics, as a loss of the scorer."""
    if scorer.name == LOG_LIKELIHOOD:
        return -measures["log-likelihood"] if "log-likelihood" in measures else None
    if scorer.name == "mean squared error":
        return measures["rmse"] ** 2 if "rmse" in measures else None
    return measures.get("log-loss") if scorer.name == LogLoss.name else None


class WithMetrics(Scorer):
    """Another scorer, with the metrics of a task beside it."""

    task: Task
    inner: Scorer

    def predictions(self, model: Any, X: Any) -> Predictions:
        return self.inner.predictions(model, X)

    def losses(self, predictions: Predictions, y: Array) -> Array:
        return self.inner.losses(predictions, y)

    def constant_losses(self, y_train: Array, y: Array) -> Array:
        return self.inner.constant_losses(y_train, y)

    def described(self) -> dict[str, Any]:
        return _described(self, self.task)

    @abstractmethod
    def extras(
        self,
        predictions: Predictions,
        y: Array,
        level: float,
        *,
        y_train: Array,
        groups: Codes | None = None,
    ) -> dict[str, Any]:
        """The other metrics of the task."""


@final
@dataclass(frozen=True)
class ClassScorer(WithMetrics):
    """Log loss, and all metrics of classes."""

    task: Task
    name = LogLoss.name
    highest = LogLoss.highest

    @property
    def inner(self) -> Scorer:  # type: ignore[override]  # read-only is enough
        return SCORERS[self.name]

    def extras(
        self,
        predictions: Predictions,
        y: Array,
        level: float,
        *,
        y_train: Array,
        groups: Codes | None = None,
    ) -> dict[str, Any]:
        found = dict(self.inner.extras(predictions, y, level, y_train=y_train))
        classes = np.array(self.task.classes)
        code, place = places(y, classes), places(predictions["classes"], classes)
        known = code >= 0
        log_proba = np.full((len(y), len(classes)), LOG_FLOOR)
        log_proba[:, place] = np.maximum(predictions["log_proba"], LOG_FLOOR)
        seen = Truth(places(y_train, classes), None, self.task.classes, self.task.kind)
        truth = Truth(code[known], None, self.task.classes, self.task.kind)
        shown = Prediction.of_classes(log_proba).rows(known)
        groups = None if groups is None else groups[known]
        told = _measures(self.task, seen, truth, shown, level, groups)
        return found | {"measures": told}


@final
@dataclass(frozen=True)
class NumberScorer(WithMetrics):
    """Another scorer of numbers, with all metrics that need no density."""

    task: Task
    inner: Scorer

    @property
    def name(self) -> str:  # type: ignore[override]  # read-only is enough
        return self.inner.name

    def extras(
        self,
        predictions: Predictions,
        y: Array,
        level: float,
        *,
        y_train: Array,
        groups: Codes | None = None,
    ) -> dict[str, Any]:
        shown = Prediction.of_numbers(predictions["mean"])
        return _extras_of_numbers(self.task, y_train, y, shown, level, groups)


@final
@dataclass(frozen=True)
class DensityScorer(Scorer):
    """−log p(y | x), and all metrics of numbers."""

    task: Task
    name = LOG_LIKELIHOOD
    highest = IMPOSSIBLE

    @property
    def lowest(self) -> float:  # type: ignore[override]  # read-only is enough
        """A density may be above 1; the probability of a count may not."""
        return 0.0 if self.task.kind == "count" else -inf

    def predictions(self, model: Any, X: Any) -> Predictions:
        spread = spread_of(model)
        assert spread is not None, "scorer_of chose by it"
        mean = np.asarray(model.predict(X), dtype=np.float64).ravel()
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

    def described(self) -> dict[str, Any]:
        return _described(self, self.task)

    def extras(
        self,
        predictions: Predictions,
        y: Array,
        level: float,
        *,
        y_train: Array,
        groups: Codes | None = None,
    ) -> dict[str, Any]:
        shown = Prediction.of_numbers(predictions["mean"], -self.losses(predictions, y))
        return _extras_of_numbers(self.task, y_train, y, shown, level, groups)


def _extras_of_numbers(
    task: Task,
    y_train: Array,
    y: Array,
    shown: Prediction,
    level: float,
    groups: Codes | None,
) -> dict[str, Any]:
    seen, truth = (
        Truth(np.asarray(values, dtype=np.float64), kind=task.kind) for values in (y_train, y)
    )
    return {"measures": _measures(task, seen, truth, shown, level, groups)}


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
        told = metric.estimate(training, truth, shown, level=level, groups=groups)
        if np.isfinite(told[:3]).all():
            found[metric.name] = {
                name: float(x) if np.isfinite(x) else None for name, x in told._asdict().items()
            }
    return found


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
