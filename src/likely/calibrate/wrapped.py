"""Estimators inside estimators: copies that are fitted, and what they know about the columns."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import indexable
from sklearn.utils.validation import has_fit_parameter

from likely._typing import Array
from likely.errors import InvalidInput
from likely.inputs.tables import n_rows_of, rows_at

ABOUT_COLUMNS = ("n_features_in_", "feature_names_in_")


def countable(X: Any) -> tuple[Any, int]:
    """X in a form whose rows can be taken, and their number; the rest the inner checks."""
    (rows,) = indexable(X)
    n_rows = n_rows_of(rows)
    if n_rows == 0:
        raise InvalidInput(
            "Found array with 0 sample(s) while a minimum of 2 is required: X has no row to learn "
            "from. Pass rows of at least two classes."
        )
    return rows, n_rows


def fitted_copy(estimator: Any, X: Any, y: Array, weight: Array | None, rows: Array) -> Any:
    """A clone, fitted to these rows; weights are passed only where they were given."""
    if not np.array_equal(rows, np.arange(len(y))):
        X, y = rows_at(X, rows), y[rows]
        weight = None if weight is None else weight[rows]
    if weight is None:
        return clone(estimator).fit(X, y)
    if not has_fit_parameter(estimator, "sample_weight"):
        raise InvalidInput(
            f"sample_weight was given, and {type(estimator).__name__}.fit does not take it; every "
            "estimator inside must. Leave it out, or use an estimator that takes it."
        )
    return clone(estimator).fit(X, y, sample_weight=weight)


def take_columns(outer: Any, inner: Any) -> None:
    """The number and names of columns, where the fitted inner estimator knows them."""
    for name in ABOUT_COLUMNS:
        value = getattr(inner, name, None)
        if value is not None:
            setattr(outer, name, value)
