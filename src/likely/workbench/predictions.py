"""Predictions of a fitted model for the rows of a table, in the form that metrics read.

classes    log p(k | x) in the order of the task, from log 2⁻⁵² up: a class that the fit had not
           seen has that floor, which is also the one of a sealed score
numbers    E[y | x] and log p(y | x), which for counts is of the count itself
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline

from likely._typing import Array
from likely.errors import InvalidInput
from likely.likelihoods.predictive import PredictiveFamily
from likely.metrics.prediction import Prediction, Truth
from likely.special import LOG_FLOOR
from likely.workbench.constant import Constant
from likely.workbench.task import Task

if TYPE_CHECKING:
    import pyarrow as pa

NOTHING: Mapping[str, Any] = MappingProxyType({})  # no further arguments of a prediction


@runtime_checkable
class Predictive(Protocol):
    """A model of numbers that knows their density about the mean that it predicts."""

    def predictive_family(self) -> PredictiveFamily | None: ...


def truth_of(task: Task, table: "pa.Table", weight: Array | None = None) -> Truth:
    """What happened in the rows of a table; a row without a target is refused."""
    known = task.known(table)
    if not known.all():
        row = int((~known).argmax())
        raise InvalidInput(
            f"Column {task.target!r} has no value, or an unknown class, in row {row + 1}; a score "
            "needs to know what happened. Leave such rows out."
        )
    y = task.codes(table) if task.has_classes else task.numbers(table)
    return Truth(y, weight, task.classes, task.kind)


def predict_for(
    model: Any, task: Task, table: "pa.Table", given: Mapping[str, Any] = NOTHING
) -> Prediction:
    """The predictions for the table's rows; a density needs the target's column in it.

    ``given`` are further arguments of its prediction: the offset or exposure of each row.
    """
    features = features_of(model, task, table)
    if task.has_classes:
        return _classes(model, task, features, given)
    mean = np.asarray(model.predict(features, **given), dtype=np.float64)
    family = predictive_family(model)
    if family is None or task.target not in table.column_names:
        return Prediction.of_numbers(mean)
    y = task.numbers(table)
    return Prediction.of_numbers(mean, family.log_density(y, mean, counts=task.kind == "count"))


def features_of(model: Any, task: Task, table: "pa.Table") -> "pa.Table":
    """The columns that the model was fitted on; without names, all but the target."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [name for name in table.column_names if name != task.target]
    return table.select([str(name) for name in names])


def predictive_family(model: Any) -> PredictiveFamily | None:
    """The density of y about the predicted mean; None where a model has none.

    A pipeline and a search of scikit-learn have that of the model inside.
    """
    if isinstance(model, Predictive):
        return model.predictive_family()
    if isinstance(model, Pipeline):
        return predictive_family(model.steps[-1][1])
    return predictive_family(model.best_estimator_) if isinstance(model, BaseSearchCV) else None


def link_of(model: Any) -> str:
    """The link on whose scale offsets move the mean; the identity where a model has none."""
    while "model_" in vars(model):  # of a preparation, and of a path of penalties
        model = model.model_
    if isinstance(model, Constant):
        return model.link_
    likelihood = vars(model).get("likelihood_")
    return "identity" if likelihood is None else str(likelihood.link.name)


def _classes(model: Any, task: Task, features: "pa.Table", beside: Mapping[str, Any]) -> Prediction:
    given = _log_proba(model, features, beside)
    place = {label: k for k, label in enumerate(task.classes)}
    labels = model.classes_.tolist()
    strangers = [label for label in labels if label not in place]
    if strangers:
        raise InvalidInput(
            f"The model knows a class {strangers[0]!r} that the task does not; its classes are "
            f"{', '.join(map(repr, task.classes[:10]))}. Fit it to the same target."
        )
    log_proba = np.full((len(given), len(task.classes)), LOG_FLOOR)
    log_proba[:, [place[label] for label in labels]] = np.maximum(given, LOG_FLOOR)
    return Prediction.of_classes(
        log_proba, tuple(label for label in task.classes if label not in labels)
    )


def _log_proba(model: Any, features: "pa.Table", given: Mapping[str, Any]) -> Array:
    in_logs = getattr(model, "predict_log_proba", None)
    if in_logs is not None:
        return np.asarray(in_logs(features, **given), dtype=np.float64)
    if getattr(model, "predict_proba", None) is None:
        name = type(getattr(model, "model", model)).__name__  # of Prepared: what it prepares for
        raise InvalidInput(
            f"{name} has no predict_proba; scores are of probabilities. Calibrate it: "
            f"PlattScaling({name}())."
        )
    with np.errstate(divide="ignore"):
        proba = np.asarray(model.predict_proba(features, **given), dtype=np.float64)
        return np.asarray(np.log(proba))
