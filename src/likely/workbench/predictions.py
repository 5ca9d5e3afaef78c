"""What a fitted model says of the rows of a table, in the form that metrics read.

    classes    log p(k | x) in the order of the task, from log 2⁻⁵² up: a class that the fit had not
               seen has that floor, which is also the one of a sealed score
    numbers    E[y | x] and log p(y | x)

For counts a log p(y | x) is of the count itself: a Gaussian model is given the mass that it puts
between y − ½ and y + ½, since a density is no rival of a probability.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, final

import numpy as np
from scipy.special import log_ndtr

from likely._typing import Array
from likely.errors import InvalidInput
from likely.likelihoods.base import Response
from likely.likelihoods.gaussian import Gaussian
from likely.metrics.prediction import Prediction, Truth
from likely.special import LOG_FLOOR
from likely.workbench.task import Task

if TYPE_CHECKING:
    import pyarrow as pa

NOTHING: Mapping[str, Any] = MappingProxyType({})  # no further arguments of a prediction
INSIDE = ("model_", "estimator_", "best_estimator_")  # where wrappers keep what they fitted


@final
@dataclass(frozen=True)
class Spread:
    """The family of y about its mean."""

    response: Response
    dispersion: float

    def log_density(self, y: Array, mean: Array, *, counts: bool) -> Array:
        """log p(y | μ); −inf where the family has no such mean."""
        if counts and isinstance(self.response, Gaussian):
            return log_mass(y, mean, np.sqrt(self.dispersion))
        low, high = self.response.means
        valid = (mean > low) & (mean < high)
        inside = np.where(valid, mean, 1.0)
        return np.where(valid, self.response.log_prob(y, inside, self.dispersion), -np.inf)


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
    """What the model says of the table's rows; the density needs the target's column in it.

    ``given`` are further arguments of its prediction: the offset or exposure of each row.
    """
    features = features_of(model, task, table)
    if task.has_classes:
        return _classes(model, task, features, given)
    mean = np.asarray(model.predict(features, **given), dtype=np.float64)
    spread = spread_of(model)
    if spread is None or task.target not in table.column_names:
        return Prediction.of_numbers(mean)
    y = task.numbers(table)
    return Prediction.of_numbers(mean, spread.log_density(y, mean, counts=task.kind == "count"))


def features_of(model: Any, task: Task, table: "pa.Table") -> "pa.Table":
    """The columns that the model was fitted on; without names, all but the target."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [name for name in table.column_names if name != task.target]
    return table.select([str(name) for name in names])


def spread_of(model: Any) -> Spread | None:
    """The fitted family and dispersion, also inside of wrappers; None where there is none."""
    response = getattr(model, "response_", None)
    if response is not None:
        return _usable(response, float(model.dispersion_))
    likelihood = getattr(model, "likelihood_", None)
    if likelihood is not None:
        return _usable(likelihood.response, float(model.dispersion_))
    variance = getattr(model, "variance_", None)
    if variance is not None:
        return _usable(Gaussian(), float(variance))
    for name in INSIDE:
        inner = getattr(model, name, None)
        if inner is not None:
            return spread_of(inner)
    steps = getattr(model, "steps", None)  # of a scikit-learn pipeline: the last is the model
    return spread_of(steps[-1][1]) if isinstance(steps, list) and steps else None


def moved_by(model: Any, truth: Truth, offset: Array) -> Truth:
    """The truth of rows whose means are moved by offsets on the scale of the model's link.

    They multiply the mean under the log link and are added to it under the identity; under other
    links a constant cannot follow them.
    """
    likelihood = getattr(model, "likelihood_", None)
    link = "identity" if likelihood is None else likelihood.link.name
    if link == "log":
        return replace(truth, exposure=np.exp(offset))
    return replace(truth, offset=offset) if link == "identity" else truth


def log_mass(y: Array, mean: Array, deviation: float | Array) -> Array:
    """log of what N(mean, deviation²) puts between y − ½ and y + ½."""
    low, high = (y - 0.5 - mean) / deviation, (y + 0.5 - mean) / deviation
    right = low > 0  # mirrored: differences of the upper tail would cancel
    low, high = np.where(right, -high, low), np.where(right, -low, high)
    top, bottom = log_ndtr(high), log_ndtr(low)
    return np.asarray(top + np.log(-np.expm1(bottom - top)))


def _usable(response: Response, dispersion: float) -> Spread | None:
    return Spread(response, dispersion) if 0 < dispersion < np.inf else None


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
