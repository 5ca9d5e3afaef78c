"""Feature functions f(x, y) of examples and labels, as the array F[n, y, j].

    F[i, k, j] = f_j(x_i, label_k)

A feature function is called once per label with all rows, and returns one number per row, or
one for all.  ``by_row`` makes such a function out of one that sees a single row.

>>> import numpy as np
>>> def long_and_noun(X, label):
...     return (X[:, 0] > 3) * (label == "noun")
>>> X = np.array([[2.0], [5.0]])
>>> feature_array([long_and_noun], X, np.array(["noun", "verb"]))[:, :, 0]
array([[0., 0.],
       [1., 0.]])
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput

FeatureFunction = Callable[[Any, Any], Any]  # (all rows, a label) → one number per row


@final
@dataclass(frozen=True)
class ByRow:
    """A function of one row and a label, called for every row."""

    function: Callable[[Any, Any], float]

    def __call__(self, X: Any, label: Any) -> Array:
        return np.array([self.function(row, label) for row in np.asarray(X)], dtype=np.float64)


def by_row(function: Callable[[Any, Any], float]) -> ByRow:
    """A feature function from f(row, label) → number."""
    return ByRow(function)


def feature_array(features: Sequence[FeatureFunction], X: Any, classes: Array) -> Array:
    """F, of shape (n_rows, n_classes, n_features)."""
    check_features(features)
    labels = classes.tolist()
    out = np.empty((len(X), len(labels), len(features)))
    for j, function in enumerate(features):
        for k, label in enumerate(labels):
            out[:, k, j] = _values(function, j, X, label)
    return out


def check_feature_array(estimator: Any, X: Any, *, reset: bool) -> Array:
    """X as F[n, y, j], finite numbers; its last axis is remembered."""
    try:
        F = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"X, as features F[n, y, j], must hold numbers; {error}. Pass an array of three axes."
        ) from error
    known = F.shape[-1] if reset else estimator.n_features_in_
    if F.ndim != 3 or F.shape[2] != known or not F.size:
        raise InvalidInput(
            f"X has shape {F.shape}; the features F[n, y, j] of {known} weights were expected. "
            "Pass one number for each row, label and feature."
        )
    if not np.isfinite(F).all():
        row, label, j = np.argwhere(~np.isfinite(F))[0]
        raise InvalidInput(
            f"X[{row}, {label}, {j}] is {F[row, label, j]}; a feature must be finite. "
            "Fix it, or drop the row."
        )
    estimator.n_features_in_ = known
    return F


def check_features(features: Any) -> None:
    """Refuse anything but a list of functions."""
    is_list = isinstance(features, Sequence) and not isinstance(features, str)
    if not is_list or not features or not all(callable(each) for each in features):
        raise InvalidInput(
            f"features is {features!r}; a list of one or more functions f(X, label) was expected. "
            "Leave it None for indicators, or pass the array F[n, y, j] as X."
        )


def _values(function: FeatureFunction, j: int, X: Any, label: Any) -> Array:
    values = np.asarray(function(X, label), dtype=np.float64)
    if values.ndim > 1 or (values.ndim == 1 and len(values) != len(X)):
        raise InvalidInput(
            f"Feature {j} gave an array of shape {values.shape} for label {label!r}; X has "
            f"{len(X)} rows. Return one number per row or one for all, or wrap a function of a "
            "single row in by_row."
        )
    if not np.isfinite(values).all():
        raise InvalidInput(
            f"Feature {j} is not finite for label {label!r}; a weight can multiply only finite "
            "numbers. Fix the function, or clip what it returns."
        )
    return values
