"""Intervals beside predictions: for y, for a mean, or for the probability of a class.

LinearRegression, GLM     quantiles of y, with the uncertainty of its mean
two classes, linear       an interval for the probability of the second class
other models of numbers   quantiles of their predictive density, at parameters treated as known
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

import numpy as np
from sklearn.base import is_classifier

from likely._typing import Array
from likely.errors import InvalidInput
from likely.likelihoods.predictive import PredictiveDistribution
from likely.linear.glm import GLM
from likely.linear.regression import LinearRegression
from likely.linear.response_predictions import check_interval_of
from likely.names import has_method
from likely.workbench.models.model_inside import predictive_family
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.scoring.predictions import NOTHING

KNOWN = (
    "The intervals are those of the predictive distribution of {}, whose parameters are treated as "
    "known; the intervals of LinearRegression and GLM include their uncertainty."
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


def prediction_intervals(model: Any, of: str = "auto") -> PredictionIntervals:
    """The intervals of a fitted model; one that has none is refused with the reason.

    ``of`` is what ``predict_interval`` takes: y or its mean; by default y, where it is a number.
    """
    check_interval_of(of)
    inner = model.model_ if isinstance(model, Prepared) else model
    if is_classifier(model):
        if not has_method(model, "predict_interval") or inner.inference_ is None:
            _refuse(inner, "has no interval for its probabilities; a logistic regression has one")
        if of == "y":
            _refuse(inner, "predicts a class, which has no interval; its probability has one")
        label = model.classes_.tolist()[1]
        return PredictionIntervals(model, (f"p_{label}_low", f"p_{label}_high"), "mean")
    names, family = ("low", "high"), predictive_family(model)
    if isinstance(inner, LinearRegression | GLM) and inner.inference_ is not None:
        zero_or_one = isinstance(inner, GLM) and inner.likelihood_.response.has_trials
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
