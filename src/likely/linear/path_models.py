"""What a path of penalties asks of each linear model: its rows, its pulls, its held-out deviance.

    slope_i = ∂nll_i/∂η_i        curvature_i = ∂²nll_i/∂η_i², expected

To let another model walk a path, write one ``PathModel`` and list it in ``PATH_MODELS``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.data.block import Block
from likely.errors import InvalidInput
from likely.linear.glm import GLM
from likely.linear.logistic import LogisticRegression
from likely.linear.ordinal import OrdinalRegression
from likely.linear.ordinal_fitting import open_ordered
from likely.linear.reading import Beside, LinearRows, open_linear
from likely.linear.regression import LinearRegression
from likely.linear.softmax import SoftmaxRegression, open_classes
from likely.linear.strengths import is_penalised
from likely.opening import check_response
from likely.special import log_softmax
from likely.validate import codes_among


class Slopes(NamedTuple):
    """Of the rows of a block, one column per predictor that the penalty reaches."""

    slope: Array  # (n, K)
    curvature: Array  # (n,), the mean over predictors


@final
@dataclass(frozen=True)
class PathModel:
    """How one model is read; every function takes the model first."""

    open: Callable[[Any, Any, Any, Any], LinearRows]  # X, y, weights
    slopes: Callable[[Any, Block], Slopes]  # of a fitted model
    deviance: Callable[[Any, Any, Any], Array]  # X, y: one number a row
    intercepts: Callable[[Any], Array]  # what is beside coef_


def path_model(model: Any) -> PathModel:
    """That of the model's class, or of the class it extends."""
    for kind in type(model).__mro__:
        if kind in PATH_MODELS:
            return PATH_MODELS[kind]
    raise InvalidInput(
        f"model is {type(model).__name__}; a path of penalties is for "
        f"{', '.join(kind.__name__ for kind in PATH_MODELS)}. Use one of them."
    )


def _open_numbers(model: Any, X: Any, y: Any, weight: Any) -> LinearRows:
    reference = not is_penalised(model.l1, model.l2)
    return open_linear(model, X, y, Beside(weight), target="number", reference=reference)


def _open_two_classes(model: Any, X: Any, y: Any, weight: Any) -> LinearRows:
    reference = not is_penalised(model.l1, model.l2)
    return open_linear(model, X, y, Beside(weight), target="class", reference=reference)


def _predictor(model: Any, block: Block) -> Array:
    """η, (n, K) or (n,)."""
    eta = block.X.matmat(np.ascontiguousarray(model.coef_.T)) + model.intercept_
    return np.asarray(eta)


def _gaussian_slopes(model: Any, block: Block) -> Slopes:
    residual = _predictor(model, block) - block.target
    return Slopes(residual[:, None], np.ones(block.n_rows))


def _likelihood_slopes(model: Any, block: Block) -> Slopes:
    eta = np.reshape(_predictor(model, block), -1)
    _, slope, curvature = model.likelihood_.derivatives(block.target, eta)
    return Slopes(slope[:, None], curvature)


def _softmax_slopes(model: Any, block: Block) -> Slopes:
    """p_k − 1[y = k]; a reference class has no weights to pull on."""
    eta = _predictor(model, block)
    if len(model.classes_) == 2:
        eta = np.column_stack([np.zeros(len(eta)), eta])
    probability = np.exp(log_softmax(eta, axis=1))
    slope = probability - np.eye(len(model.classes_))[block.target]
    if model.reference is not None:
        slope = slope[:, model.classes_ != model.reference]
    return Slopes(slope, (probability * (1 - probability)).mean(axis=1))


def _ordinal_slopes(model: Any, block: Block) -> Slopes:
    eta, thresholds = _predictor(model, block), model.thresholds_
    slope = model.likelihood_.derivatives(block.target, eta, thresholds).slope
    return Slopes(slope[:, None], model.likelihood_.information(eta, thresholds).eta)


def squared_errors(model: Any, X: Any, y: Any) -> Array:
    """(y − μ)²."""
    mean = model.predict(X)
    return np.asarray((check_response(y, n_rows=len(mean), estimator=model) - mean) ** 2)


def _response_deviance(model: Any, X: Any, y: Any) -> Array:
    mean = model.predict(X)
    y = check_response(y, n_rows=len(mean), estimator=model)
    return np.asarray(model.likelihood_.response.deviance(y, mean))


def _class_deviance(model: Any, X: Any, y: Any) -> Array:
    """−2 log p(y | x)."""
    log_proba = model.predict_log_proba(X)
    codes = codes_among(y, model.classes_, n_rows=len(log_proba))
    return np.asarray(-2 * log_proba[np.arange(len(codes)), codes])


def _intercepts(model: Any) -> Array:
    return np.asarray(model.intercept_)


def _thresholds(model: Any) -> Array:
    return np.asarray(model.thresholds_)


PATH_MODELS: dict[type, PathModel] = {
    LinearRegression: PathModel(_open_numbers, _gaussian_slopes, squared_errors, _intercepts),
    GLM: PathModel(_open_numbers, _likelihood_slopes, _response_deviance, _intercepts),
    LogisticRegression: PathModel(
        _open_two_classes, _likelihood_slopes, _class_deviance, _intercepts
    ),
    SoftmaxRegression: PathModel(open_classes, _softmax_slopes, _class_deviance, _intercepts),
    OrdinalRegression: PathModel(open_ordered, _ordinal_slopes, _class_deviance, _thresholds),
}
