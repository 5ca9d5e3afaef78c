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
from likely.inputs.labels import codes_among
from likely.inputs.numbers import check_offset, check_response
from likely.inputs.rows import RowExtras
from likely.likelihoods.bernoulli import log_probabilities
from likely.linear.coding import LinearRows, new_rows, open_linear
from likely.linear.glm import GLM
from likely.linear.logistic import LogisticRegression
from likely.linear.ordinal import OrdinalRegression
from likely.linear.ordinal_fitting import open_ordered
from likely.linear.regression import LinearRegression
from likely.linear.softmax import SoftmaxRegression, open_classes
from likely.linear.surface import mean_within
from likely.special import log_softmax


class PathSlopes(NamedTuple):
    """Slopes of the loss for the rows of a block, one column per penalised predictor."""

    slope: Array  # (n, K)
    curvature: Array  # (n,), the mean over predictors


class PathRows(NamedTuple):
    """Data as the caller gave them; what is beside X and y is an array, a name, or None."""

    X: Any
    y: Any
    weight: Any = None
    offset: Any = None
    exposure: Any = None

    @property
    def moved(self) -> dict[str, Any]:
        """The offset and the exposure, where they were given."""
        return given(offset=self.offset, exposure=self.exposure)

    def fit(self, model: Any) -> Any:
        return model.fit(self.X, self.y, self.weight, **self.moved)


@final
@dataclass(frozen=True)
class PathModel:
    """How one model is read; every function takes the model first."""

    open: Callable[[Any, Any, Any, Any, Any, Any], LinearRows]  # the fields of PathRows
    slopes: Callable[[Any, Block], PathSlopes]  # of a fitted model
    deviance: Callable[[Any, Block], Array]  # of a fitted model, one number a row
    intercepts: Callable[[Any], Array]  # what is beside coef_
    takes: tuple[str, ...] = ()  # of "offset" and "exposure"

    def check(self, model: Any, **beside: Any) -> None:
        """Refuse what the model does not take."""
        for name in given(**beside):
            if name not in self.takes:
                raise InvalidInput(
                    f"{name} was given; {type(model).__name__} takes "
                    f"{' and '.join(self.takes) or 'neither offset nor exposure'}. Leave it out."
                )


def held_block(model: Any, opened: LinearRows, rows: PathRows) -> Block:
    """Rows that are held out, read once as the model reads the others."""
    X = new_rows(model, opened.coding, rows.X)
    if len(opened.classes):
        y = codes_among(rows.y, opened.classes, n_rows=X.n_rows)
    else:
        y = check_response(rows.y, n_rows=X.n_rows, estimator=model)
    moved = np.broadcast_to(check_offset(rows.offset, rows.exposure, n_rows=X.n_rows), X.n_rows)
    return Block(X, y, offset=moved if rows.moved else None)


def given(*, offset: Any = None, exposure: Any = None) -> dict[str, Any]:
    """The arguments that were given: offset, exposure or both."""
    both = {"offset": offset, "exposure": exposure}
    return {name: value for name, value in both.items() if value is not None}


def path_model(model: Any) -> PathModel:
    """How a model is fitted along a path, by its class or the class it extends."""
    for kind in type(model).__mro__:
        if kind in PATH_MODELS:
            return PATH_MODELS[kind]
    raise InvalidInput(
        f"model is {type(model).__name__}; a path of penalties is for "
        f"{', '.join(kind.__name__ for kind in PATH_MODELS)}. Use one of them."
    )


def _open_numbers(
    model: Any, X: Any, y: Any, weight: Any, offset: Any, exposure: Any
) -> LinearRows:
    extras, penalties = RowExtras(weight, offset, exposure), (model.l1, model.l2)
    return open_linear(model, X, y, extras, target="number", penalties=penalties)


def _open_two_classes(
    model: Any, X: Any, y: Any, weight: Any, offset: Any, exposure: Any
) -> LinearRows:
    extras, penalties = RowExtras(weight, offset, exposure), (model.l1, model.l2)
    return open_linear(model, X, y, extras, target="class", penalties=penalties)


def _open_classes(model: Any, X: Any, y: Any, weight: Any, *_: Any) -> LinearRows:
    return open_classes(model, X, y, weight)


def _open_ordered(model: Any, X: Any, y: Any, weight: Any, *_: Any) -> LinearRows:
    return open_ordered(model, X, y, weight)


def _predictor(model: Any, block: Block) -> Array:
    """η, (n, K) or (n,); a block with an offset has one predictor."""
    eta = block.X.matmat(np.ascontiguousarray(model.coef_.T)) + model.intercept_
    return np.asarray(eta) if block.offset is None else np.reshape(eta, -1) + block.offset


def _class_predictors(model: Any, block: Block) -> Array:
    """η of every class, (n, K); of two, that of the first is 0."""
    eta = _predictor(model, block)
    return np.column_stack([np.zeros(len(eta)), eta]) if len(model.classes_) == 2 else eta


def _gaussian_slopes(model: Any, block: Block) -> PathSlopes:
    residual = _predictor(model, block) - block.target
    return PathSlopes(residual[:, None], np.ones(block.n_rows))


def _likelihood_slopes(model: Any, block: Block) -> PathSlopes:
    eta = np.reshape(_predictor(model, block), -1)
    _, slope, curvature = model.likelihood_.derivatives(block.target, eta)
    return PathSlopes(slope[:, None], curvature)


def _softmax_slopes(model: Any, block: Block) -> PathSlopes:
    """p_k − 1[y = k]; a reference class has no weights to pull on."""
    probability = np.exp(log_softmax(_class_predictors(model, block), axis=1))
    slope = probability - np.eye(len(model.classes_))[block.target]
    if model.reference is not None:
        slope = slope[:, model.classes_ != model.reference]
    return PathSlopes(slope, (probability * (1 - probability)).mean(axis=1))


def _ordinal_slopes(model: Any, block: Block) -> PathSlopes:
    eta, thresholds = _predictor(model, block), model.thresholds_
    slope = model.likelihood_.derivatives(block.target, eta, thresholds).slope
    return PathSlopes(slope[:, None], model.likelihood_.information(eta, thresholds).eta)


def _squared_errors(model: Any, block: Block) -> Array:
    """(y − μ)²."""
    return np.asarray((block.target - np.reshape(_predictor(model, block), -1)) ** 2)


def _response_deviance(model: Any, block: Block) -> Array:
    mean = mean_within(model.likelihood_, np.reshape(_predictor(model, block), -1))
    return np.asarray(model.likelihood_.response.deviance(block.target, mean))


def _logistic_deviance(model: Any, block: Block) -> Array:
    """−2 log p(y | x)."""
    eta = np.reshape(_predictor(model, block), -1)
    of_zero, of_one = log_probabilities(model.likelihood_, eta)
    return np.asarray(-2 * np.where(block.target, of_one, of_zero))


def _softmax_deviance(model: Any, block: Block) -> Array:
    log_proba = log_softmax(_class_predictors(model, block), axis=1)
    return np.asarray(-2 * log_proba[np.arange(block.n_rows), block.target])


def _ordinal_deviance(model: Any, block: Block) -> Array:
    eta = np.reshape(_predictor(model, block), -1)
    log_proba = model.likelihood_.log_probability(eta, model.thresholds_)
    return np.asarray(-2 * log_proba[np.arange(block.n_rows), block.target])


def _intercepts(model: Any) -> Array:
    return np.asarray(model.intercept_)


def _thresholds(model: Any) -> Array:
    return np.asarray(model.thresholds_)


PATH_MODELS: dict[type, PathModel] = {
    LinearRegression: PathModel(
        _open_numbers, _gaussian_slopes, _squared_errors, _intercepts, ("offset",)
    ),
    GLM: PathModel(
        _open_numbers, _likelihood_slopes, _response_deviance, _intercepts, ("offset", "exposure")
    ),
    LogisticRegression: PathModel(
        _open_two_classes, _likelihood_slopes, _logistic_deviance, _intercepts, ("offset",)
    ),
    SoftmaxRegression: PathModel(_open_classes, _softmax_slopes, _softmax_deviance, _intercepts),
    OrdinalRegression: PathModel(_open_ordered, _ordinal_slopes, _ordinal_deviance, _thresholds),
}
