"""Parameters as one vector θ and as a model stores them: coefficients and intercepts.

    θ = [W b], row by row        one row for each predictor: its coefficients, then its constants

A predictor has an intercept for its constant, none, or the thresholds of ordered classes.  The
reference class of a softmax has no row; its coefficients are 0.
"""

from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput


class Parameters(NamedTuple):
    """Coefficients and intercepts as a model stores them."""

    coef: Array
    intercept: Any  # of ordered classes, the thresholds; 0 where there is none


@final
@dataclass(frozen=True)
class Packing:
    """The shapes of both forms."""

    coef_shape: tuple[int, ...]
    intercept_shape: tuple[int, ...]
    n_constants: int = 1  # of a predictor: its intercept, none, or thresholds
    reference: int | None = None  # the class without a row of θ

    @property
    def n_predictors(self) -> int:
        """Rows of coefficients, the reference included."""
        return self.coef_shape[0] if len(self.coef_shape) == 2 else 1

    @property
    def size(self) -> int:
        """The length of θ."""
        rows = self.n_predictors - (self.reference is not None)
        return rows * (self.coef_shape[-1] + self.n_constants)

    def pack(self, coef: Any, intercept: Any = 0.0) -> Array:
        """θ = [W b]."""
        W = self._filled("coef", coef, self.coef_shape).reshape(self.n_predictors, -1)
        b = self._filled("intercept", intercept, self.intercept_shape)
        if not self.n_constants and b.any():
            raise InvalidInput(
                f"intercept={intercept!r} was given; this model has none. Leave it out, or use "
                "fit_intercept=True."
            )
        rows = np.column_stack([W, b.reshape(self.n_predictors, -1)[:, : self.n_constants]])
        if self.reference is not None:
            rows = np.delete(rows - rows[self.reference], self.reference, axis=0)
        return np.ravel(rows)

    def unpack(self, theta: Any) -> Parameters:
        """W and b, in the shapes in which a model stores them."""
        rows = self.checked(theta).reshape(-1, self.coef_shape[-1] + self.n_constants)
        if self.reference is not None:
            rows = np.insert(rows, self.reference, 0.0, axis=0)
        coef, constants = np.split(rows, [self.coef_shape[-1]], axis=1)
        if not self.n_constants:
            constants = np.zeros(self.intercept_shape)
        intercept = np.array(constants).reshape(self.intercept_shape)
        return Parameters(np.array(coef).reshape(self.coef_shape), intercept[()])

    def checked(self, theta: Any) -> Array:
        """θ as numbers, of the right length."""
        values = np.asarray(theta, dtype=np.float64)
        if values.shape != (self.size,):
            raise InvalidInput(
                f"The parameters have shape {values.shape}; expected ({self.size},), as pack("
                "coef, intercept) returns them. Flatten them row by row: theta.ravel()."
            )
        return values

    def _filled(self, name: str, given: Any, shape: tuple[int, ...]) -> Array:
        values = np.asarray(given, dtype=np.float64)
        if values.ndim == 0 and not values:
            return np.zeros(shape)
        if self.n_predictors == 2 and 2 * values.size == prod(shape):
            values = np.outer([-0.5, 0.5], values)  # of two classes a model stores w₁ − w₀
        if values.size == prod(shape):
            return values.reshape(shape)
        raise InvalidInput(
            f"{name} has shape {values.shape}; expected {shape}. Give it as the fitted model has "
            f"it in {name}_."
        )
