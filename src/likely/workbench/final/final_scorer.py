"""How sealed rows are scored: by one loss, and by every metric of the task, as all other rows are.

    classes    log loss; for models without probabilities the error rate
    numbers    negative log-likelihood; mean squared error for models without a density, and
               with a judge that needs non-negative losses

Predictions are recorded before a label is read, so a family is stored with the means.  When
labels are known, both become input for metrics, and ``score_of`` does the rest.

Weights, offsets and exposures of a seal are used as for held-out rows: weights in
every metric, offsets and exposures in the best constant.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast, final

import numpy as np

from likely._typing import Array, Codes
from likely.inputs.foreign_models import predictive_family
from likely.kinds import TargetKind
from likely.likelihoods.predictive import PredictiveFamily
from likely.metrics import Prediction, Truth, constant_prediction, metrics_for, score_of
from likely.metrics.registry import LOSSES, MeanLoss
from likely.numerics.intervals import n_groups_of
from likely.sealing.final_score import Predictions, Scorer
from likely.sealing.folder import SealFolder
from likely.sealing.judges import JUDGES
from likely.workbench.data.roles import Roles
from likely.workbench.data.task import Task, task_of_fit
from likely.workbench.models.model_inside import link_of
from likely.workbench.scoring.predictions import (
    has_probabilities,
    predict_features,
    predict_labels,
    truth_of,
    with_density,
)

if TYPE_CHECKING:
    import pyarrow as pa

ERROR_RATE, DENSITY = LOSSES["error-rate"], LOSSES["negative-log-likelihood"]


@final
@dataclass(frozen=True)
class TaskScorer(Scorer):
    """The scorer of a task by a loss."""

    task: Task
    loss: MeanLoss
    seal: SealFolder | None = None  # whose rows have weights, offsets or exposures
    link: str = "identity"  # on whose scale offsets change the best constant

    @property
    def name(self) -> str:
        return self.loss.name

    def described(self) -> dict[str, Any]:
        task = self.task
        known: dict[str, Any] = {"kind": task.kind, "target": task.target, "order": task.order}
        if task.with_zeros:
            known["zeros"] = task.zeros
        moved = {} if self.seal is None else {"link": self.link}
        return {"name": self.name, "task": {**known, "classes": task.classes}, **moved}

    def estimated_loss(self, measures: Mapping[str, float]) -> float | None:
        """The loss by cross-validation, from the values of metrics by name."""
        value = measures.get(self.loss.metric.name)
        return None if value is None else self.loss.of_metric(value)

    def predictions(
        self, model: Any, X: Any, *, offset: Any = None, exposure: Any = None
    ) -> Predictions:
        columns = {"offset": offset, "exposure": exposure}
        given = {role: column for role, column in columns.items() if column is not None}
        if self.loss is ERROR_RATE:
            return {"labels": predict_labels(model, self.task, X, given)}
        found = predict_features(model, self.task, X, given)
        if self.task.has_classes:
            return {"log_proba": found.log_p}
        family = predictive_family(model) if self.loss is DENSITY else None
        if family is None:
            return {"mean": found.means}
        written = json.dumps(family.to_json(), sort_keys=True)
        known = {"mean": found.means, "family": np.array([written])}
        return known if found.spread is None else {**known, "spread": found.spread}

    def losses(self, predictions: Predictions, y: Array) -> Array:
        (truth,) = self._truths((y, KeyedRows()))
        return _prediction(predictions, truth).losses(truth)

    def constant_loss(self, y: Array) -> float:
        (truth,) = self._truths((y, self._training_rows()))
        score = score_of([self.loss.metric], truth, None, constant_prediction(truth, truth))
        return self.loss.of(score.main).value

    def score(
        self,
        predictions: Predictions,
        y: Array,
        *,
        y_train: Array,
        level: float,
        groups: Codes | None = None,
    ) -> dict[str, Any]:
        sealed = KeyedRows() if self.seal is None else KeyedRows.of(self.seal, self.seal.features)
        training, truth = self._truths((y_train, self._training_rows()), (y, sealed))
        groups = None if groups is None else groups[sealed.counted]
        predicted = _prediction(sealed.counted_of(predictions), truth)
        constant = constant_prediction(training, truth)
        metrics = metrics_for(truth.kind)
        score = score_of(metrics, truth, predicted, constant, groups=groups, level=level)
        record = score.to_json()
        return {
            **self.loss.of(score.estimates[self.loss.metric.name]).to_json(),
            **{key: record[key] for key in ("gain", "gain_interval", "measures")},
            "impossible_rows": predicted.n_impossible(truth),
            "rows": len(truth.y),
            "groups": None if groups is None else n_groups_of(groups),
        }

    def _training_rows(self) -> "KeyedRows":
        return KeyedRows() if self.seal is None else KeyedRows.of(self.seal, self.seal.train)

    def _truths(self, *parts: "tuple[Array, KeyedRows]") -> list[Truth]:
        """The true values; classes that are unknown to the model come after its own."""
        import pyarrow as pa

        task, labels = self.task, [y[rows.counted] for y, rows in parts]
        tables = [pa.table({task.target: y}) for y in labels]
        if task.has_classes:
            found = {label for y in labels for label in y.tolist()}
            unknown = sorted(found.difference(task.classes), key=str)
            if unknown:
                task = replace(task, kind="classes", classes=(*task.classes, *unknown))
        return [
            self._moved(truth_of(task, table, rows.weight), rows)
            for table, (_, rows) in zip(tables, parts, strict=True)
        ]

    def _moved(self, truth: Truth, rows: "KeyedRows") -> Truth:
        if rows.offset is None or self.task.has_classes:
            return truth
        return truth.moved_by(rows.offset, self.link)


class KeyedRows(NamedTuple):
    """Weights and offsets of rows, if any."""

    counted: Any = slice(None)  # the rows of a weight above 0
    weight: Array | None = None  # of these
    offset: Array | None = None

    @classmethod
    def of(cls, seal: SealFolder, table: "pa.Table") -> "KeyedRows":
        roles = Roles(**seal.manifest.roles)
        weight, offset = roles.weights(table), roles.offsets(table)
        counted = slice(None) if weight is None else np.flatnonzero(weight > 0)
        return cls(
            counted,
            None if weight is None else weight[counted],
            None if offset is None else offset[counted],
        )

    def counted_of(self, predictions: Predictions) -> Predictions:
        """The predictions of the rows that count; a family is of all rows."""
        return {
            name: array if name == "family" else array[self.counted]
            for name, array in predictions.items()
        }


def scorer_for(
    model: Any,
    seal: SealFolder,
    *,
    kind: TargetKind | None = None,
    order: Sequence[Any] | None = None,
) -> TaskScorer:
    """The scorer of a model that was fitted to the training part of a seal.

    ``kind`` and ``order`` are those that it was trained with, where the seal has others.
    """
    manifest = seal.manifest
    task = task_of_fit(
        model,
        seal.train,
        manifest.target,
        kind=kind or cast("TargetKind | None", manifest.kind),
        order=order or manifest.order,
    )
    loss = _loss_for(task, model, manifest.judge)
    return (
        TaskScorer(task, loss, seal, link_of(model)) if manifest.roles else TaskScorer(task, loss)
    )


def scorer_from(described: Mapping[str, Any], seal: SealFolder) -> TaskScorer | None:
    """The scorer that a commit of the seal describes; None if it was a custom one."""
    loss, known = LOSSES.get(described["name"]), described.get("task")
    if loss is None or known is None:
        return None
    order = None if known["order"] is None else tuple(known["order"])
    classes, zeros = tuple(known["classes"]), known.get("zeros", 0.0)
    task = Task(known["kind"], known["target"], classes, order, zeros=zeros)
    if "link" not in described:
        return TaskScorer(task, loss)
    return TaskScorer(task, loss, seal, described["link"])


def _loss_for(task: Task, model: Any, judge: str) -> MeanLoss:
    if task.has_classes:
        return LOSSES["log-loss"] if has_probabilities(model) else ERROR_RATE
    exact = JUDGES[judge] is None
    return DENSITY if exact and predictive_family(model) else LOSSES["mean-squared-error"]


def _prediction(predictions: Predictions, truth: Truth) -> Prediction:
    """The recorded predictions, as input for metrics."""
    if "labels" in predictions:
        return Prediction.of_labels(predictions["labels"])
    if "log_proba" in predictions:
        log_proba = predictions["log_proba"]
        n_strangers = len(truth.classes) - log_proba.shape[1]
        padded = np.pad(log_proba, ((0, 0), (0, n_strangers)), constant_values=-np.inf)
        return Prediction.of_classes(padded)
    found = replace(Prediction.of_numbers(predictions["mean"]), spread=predictions.get("spread"))
    if "family" not in predictions:
        return found
    family = PredictiveFamily.from_json(json.loads(str(predictions["family"][0])))
    return with_density(found, family, truth.y, truth)
