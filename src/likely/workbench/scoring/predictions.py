"""Predictions of a fitted model for the rows of a table, as input for metrics.

classes    log p(k | x) in the order of the task; a class that the fit had not seen has p = 0
numbers    E[y | x] and log p(y | x), which for counts is of the count itself

Only the density of numbers needs the observed values: ``predict_features`` returns all that can be
recorded before a label is read, and ``with_density`` adds the rest.  Beside predictions there are
intervals, for y, for a mean, or for the probability of a class:

linear, GLM, additive     quantiles of y, with the uncertainty of its mean
two classes, linear       an interval for the probability of the second class
other models of numbers   quantiles of their predictive density, at parameters treated as known
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from likely._typing import Array, Codes
from likely.additive.additive_model import AdditiveModel
from likely.errors import InvalidInput
from likely.generative.base import FittedComponents
from likely.inputs.bounded_rows import counting_bounded
from likely.inputs.foreign_models import new_spread, predictive_family
from likely.inputs.tables import names_in_fit
from likely.kinds import CLASS_KINDS, TargetKind
from likely.likelihoods.predictive import PredictiveDistribution, PredictiveFamily
from likely.linear.glm import GLM
from likely.linear.regression import LinearRegression
from likely.linear.response_predictions import check_interval_of
from likely.metrics.base import Metric
from likely.metrics.prediction import Prediction, Truth
from likely.metrics.registry import METRICS, metric_for
from likely.names import has_method
from likely.workbench.data.task import Task
from likely.workbench.models.model_inside import unprepared
from likely.workbench.preparation.prepared import Prepared

if TYPE_CHECKING:
    import pyarrow as pa

NOTHING: Mapping[str, Any] = MappingProxyType({})  # no further arguments of a prediction
KNOWN = (
    "The intervals are those of the predictive distribution of {}, whose parameters are treated as "
    "known; those of LinearRegression, GLM and AdditiveModel include their uncertainty."
)


class PredictionIntervals(NamedTuple):
    """The intervals of a model: what they are called, and what to know about them."""

    model: Any
    names: tuple[str, str]
    of: str  # "y", "mean" or "density"
    remark: str = ""

    def values(self, table: Any, level: float, given: Mapping[str, Any] = NOTHING) -> Array:
        """The lower and the upper end of each row, (n, 2)."""
        if self.of == "density":
            family = predictive_family(self.model)
            assert family is not None  # else there are no intervals
            mean = np.asarray(self.model.predict(table, **given), dtype=float)
            return PredictiveDistribution(family.response, mean, family.dispersion).interval(level)
        return np.asarray(self.model.predict_interval(table, level, **given, of=self.of))


def truth_of(task: Task, table: "pa.Table", weight: Array | None = None) -> Truth:
    """The true values of the rows of a table; a row without a target is refused."""
    known = task.known(table)
    if not known.all():
        row = int((~known).argmax())
        raise InvalidInput(
            f"Column {task.target!r} has no value, or an unknown class, in row {row} (counted from "
            "0); a score needs the observed value. Leave such rows out."
        )
    y = task.codes(table) if task.has_classes else task.numbers(table)
    return Truth(y, weight, task.classes, task.kind, with_zeros=task.with_zeros)


def predict_for(
    model: Any, task: Task, table: "pa.Table", given: Mapping[str, Any] = NOTHING
) -> Prediction:
    """The predictions for the table's rows; a density needs the target column.

    ``given`` are further arguments of its prediction: the offset or exposure of each row.
    """
    found = predict_features(model, task, features_of(model, task, table), given)
    family = None if task.has_classes else predictive_family(model)
    if family is None or task.target not in table.column_names:
        return found
    return with_density(found, family, task.numbers(table), task)


def predict_features(
    model: Any, task: Task, features: Any, given: Mapping[str, Any] = NOTHING
) -> Prediction:
    """The predictions for rows of which no label is known, without a density of numbers.

    A classifier without probabilities has labels only.  ``features`` are of the kind of table or
    array that the model was fitted to.  Nothing is warned of: a score is of all rows.
    """
    with counting_bounded():
        if task.has_classes and not has_probabilities(model):
            return Prediction.of_labels(predict_labels(model, task, features, given))
        if task.has_classes:
            return _classes(model, task, features, given)
        mean = np.asarray(model.predict(features, **given), dtype=np.float64).ravel()
        spread = new_spread(model, features)
    _refuse_nan(model, mean, "mean")
    return replace(Prediction.of_numbers(mean), spread=spread)


def predict_labels(
    model: Any, task: Task, features: Any, given: Mapping[str, Any] = NOTHING
) -> Codes:
    """The code of each predicted class, for a model without probabilities."""
    place = {label: k for k, label in enumerate(task.classes)}
    labels = np.asarray(model.predict(features, **given)).tolist()
    return np.array([place[label] for label in labels])


def with_density(
    prediction: Prediction, family: PredictiveFamily, y: Array, of: Task | Truth
) -> Prediction:
    """The prediction of numbers with log p(y | x) of the true values, on the scale of a task."""
    mean, s, counts = prediction.means, prediction.spread, of.kind == "count"
    density = family.log_density(y, mean, s, counts=counts, with_zeros=of.with_zeros)
    return replace(Prediction.of_numbers(mean, density), spread=s)


def features_of(model: Any, task: Task, table: "pa.Table") -> "pa.Table":
    """The columns that the model was fitted on; without names, all but the target."""
    names = names_in_fit(model)
    if names is None:
        return table.select([name for name in table.column_names if name != task.target])
    return table.select(list(names))


def probability_labels(model: Any) -> list[Any]:
    """The meaning of the columns of ``predict_proba``: classes, or the numbers of components.

    A model of numbers has none.
    """
    if is_classifier(model):
        return list(model.classes_.tolist())
    return model.component_labels() if isinstance(model, FittedComponents) else []


def _classes(model: Any, task: Task, features: Any, moved: Mapping[str, Any]) -> Prediction:
    given = _log_proba(model, features, moved)
    place = {label: k for k, label in enumerate(task.classes)}
    labels = model.classes_.tolist()
    unknown = [label for label in labels if label not in place]
    if unknown:
        raise InvalidInput(
            f"The model knows a class {unknown[0]!r} that the task does not; its classes are "
            f"{', '.join(map(repr, task.classes[:10]))}. Fit it to the same target."
        )
    log_proba = np.full((len(given), len(task.classes)), -np.inf)
    log_proba[:, [place[label] for label in labels]] = given
    return Prediction.of_classes(
        log_proba, tuple(label for label in task.classes if label not in labels)
    )


def has_probabilities(model: Any) -> bool:
    """Whether a classifier has probabilities."""
    return any(has_method(model, name) for name in ("predict_log_proba", "predict_proba"))


def gives_density(model: Any) -> bool:
    """Whether a model of numbers, fitted or not, has a density of the target."""
    inner = unprepared(model)
    if isinstance(inner, Pipeline):
        return gives_density(inner.steps[-1][1])
    searched = inner.get_params(deep=False) if has_method(inner, "get_params") else {}
    if "param_grid" in searched or "param_distributions" in searched:
        return gives_density(searched["estimator"])
    return has_method(inner, "predictive_family")


def metric_of_models(
    kind: TargetKind, metric: Any, models: Mapping[str, Any]
) -> tuple[Metric, tuple[str, ...]]:
    """The metric that orders models, and a note where it is not the usual one.

    The usual metric needs a density or probabilities.  Where no model has one, as may be of
    estimators of other libraries, and no metric was given, it is the root mean squared error or
    the accuracy.
    """
    main = metric_for(kind, metric)
    able = has_probabilities if kind in CLASS_KINDS else gives_density
    if metric is not None or not models or any(map(able, models.values())):
        return main, ()
    other = METRICS["accuracy" if kind in CLASS_KINDS else "rmse"]
    note = (
        f"{', '.join(models)}: {lacks(kind)}, which {main.title} needs, so the metric is "
        f"{other.title}."
    )
    return other, (note,)


def lacks(kind: TargetKind) -> str:
    """What a model of another library may not have."""
    return "no predict_proba" if kind in CLASS_KINDS else "no density of the target"


def _refuse_nan(model: Any, values: Array, what: str) -> None:
    """Refuse predictions that are not numbers, such as those of a row without neighbours."""
    wrong = np.isnan(values)
    if wrong.any():
        n_rows = int(wrong.reshape(len(wrong), -1).any(axis=1).sum())
        raise InvalidInput(
            f"{type(unprepared(model)).__name__} predicted NaN as the {what} of {n_rows} of "
            f"{len(values)} rows; a number was expected for every row. Change its settings, or use "
            "another model."
        )


def _log_proba(model: Any, features: Any, given: Mapping[str, Any]) -> Array:
    with np.errstate(divide="ignore"):  # log 0, also inside of scikit-learn
        if has_method(model, "predict_log_proba"):
            found = np.asarray(model.predict_log_proba(features, **given), dtype=np.float64)
        else:
            proba = np.asarray(model.predict_proba(features, **given), dtype=np.float64)
            found = np.asarray(np.log(proba))
    _refuse_nan(model, found, "log-probability")
    return found


def prediction_intervals(model: Any, of: str = "auto") -> PredictionIntervals:
    """The intervals of a fitted model; one that has none is refused with the reason.

    ``of`` is what ``predict_interval`` takes: y or its mean; by default y, where it is a number.
    """
    check_interval_of(of)
    inner = model.model_ if isinstance(model, Prepared) else model
    if is_classifier(model):
        known = has_method(model, "predict_interval")
        if not known or vars(inner).get("inference_", True) is None:
            _refuse(inner, "has no interval for its probabilities; a logistic regression has one")
        if of == "y":
            _refuse(inner, "predicts a class, which has no interval; its probability has one")
        label = model.classes_.tolist()[1]
        return PredictionIntervals(model, (f"p_{label}_low", f"p_{label}_high"), "mean")
    names, family = ("low", "high"), predictive_family(model)
    additive = isinstance(inner, AdditiveModel)
    linear = inner.linear_ if additive else inner
    if additive or (isinstance(linear, LinearRegression | GLM) and linear.inference_ is not None):
        zero_or_one = isinstance(linear, GLM) and linear.likelihood_.response.has_trials
        if of == "mean" or (zero_or_one and of == "auto"):
            return PredictionIntervals(model, names, "mean")
        if family is not None:
            return PredictionIntervals(model, names, "y")
    if of == "mean":
        _refuse(inner, "has no standard errors, and so no interval for its mean; a GLM has one")
    if family is None or family.response.has_trials:
        _refuse(inner, "has no predictive distribution of numbers; a GLM has one")
    return PredictionIntervals(model, names, "density", KNOWN.format(type(inner).__name__))


def _refuse(model: Any, why: str) -> NoReturn:
    raise InvalidInput(f"{type(model).__name__} {why}. Leave the interval out.")
