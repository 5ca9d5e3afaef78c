"""What a path of penalties needs from a linear model: rows, gradients, held-out deviance.

    slope_i = ∂nll_i/∂η_i        curvature_i = ∂²nll_i/∂η_i², expected

To use another model in a path, extend ``PathModel``.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from likely._typing import Array
from likely.data.block import Block
from likely.errors import InvalidInput
from likely.formatting import all_listed
from likely.inputs.coding import new_rows
from likely.inputs.labels import codes_among
from likely.inputs.numbers import check_offset, check_response
from likely.inputs.rows import RowExtras
from likely.likelihoods.base import Likelihood
from likely.linear.coding import LinearRows


class PathSlopes(NamedTuple):
    """Slopes of the loss for the rows of a block, one column per penalised predictor."""

    slope: Array  # (n, K)
    curvature: Array  # (n,), the mean over predictors


class PathRows(NamedTuple):
    """Data as the caller gave them; the other arguments are arrays, names, or None."""

    X: Any
    y: Any
    weight: Any = None
    offset: Any = None
    exposure: Any = None

    @property
    def moved(self) -> dict[str, Any]:
        """The offset and the exposure, where they were given."""
        return given(offset=self.offset, exposure=self.exposure)

    @property
    def extras(self) -> RowExtras:
        """The arguments other than X and y, as estimators take them."""
        return RowExtras(self.weight, self.offset, self.exposure)

    def fit(self, model: Any) -> Any:
        return model.fit(self.X, self.y, self.weight, **self.moved)


class PathModel(ABC):
    """The contract of a model that a path of penalties can fit; it has no state."""

    path_takes: ClassVar[tuple[str, ...]] = ()  # of "offset" and "exposure"
    coef_: Array
    intercept_: Any

    @abstractmethod
    def open_path(self, rows: PathRows) -> LinearRows:
        """Internal: the rows, checked as ``fit`` checks them and cut into blocks."""

    @abstractmethod
    def path_slopes(self, block: Block) -> PathSlopes:
        """Internal: the slopes of a block's rows, after a fit."""

    @abstractmethod
    def path_deviance(self, block: Block) -> Array:
        """Internal: the deviance of a block's rows after a fit, one number per row."""

    def path_intercepts(self) -> Array:
        """Internal: the intercept or the thresholds."""
        return np.asarray(self.intercept_)

    def path_predictor(self, block: Block) -> Array:
        """Internal: η, (n, K) or (n,); with an offset there is one predictor."""
        eta = block.X.matmat(np.ascontiguousarray(self.coef_.T)) + self.intercept_
        return np.asarray(eta) if block.offset is None else np.reshape(eta, -1) + block.offset

    def check_offsets(self, **offsets: Any) -> None:
        """Internal: refuse an offset or an exposure that the model does not take."""
        for name in given(**offsets):
            if name not in self.path_takes:
                raise InvalidInput(
                    f"{name} was given; {type(self).__name__} takes "
                    f"{all_listed(self.path_takes) or 'neither offset nor exposure'}. "
                    "Leave it out."
                )


def likelihood_slopes(likelihood: Likelihood, block: Block, eta: Array) -> PathSlopes:
    """The slopes of a model with one predictor, η, by its likelihood."""
    _, slope, curvature = likelihood.derivatives(block.target, np.reshape(eta, -1))
    return PathSlopes(slope[:, None], curvature)


def held_block(model: Any, opened: LinearRows, rows: PathRows) -> Block:
    """Held-out rows, encoded once like the training rows."""
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


def check_path_model(model: Any) -> PathModel:
    """The model, refused unless a path of penalties can fit it."""
    if isinstance(model, PathModel):
        return model
    raise InvalidInput(
        f"model is {type(model).__name__}; a path of penalties is for LinearRegression, GLM, "
        "LogisticRegression, SoftmaxRegression and OrdinalRegression. Use one of them."
    )
