"""Starts that the user gives to a mixture: labels or soft rows of X, or fitted parameters.

labels y_i ∈ {0, …, K − 1}        r_ik = [y_i = k]        soft rows: r_ik as they are
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import NotFittedError, check_is_fitted

from likely._typing import Array
from likely.data.schema import Schema
from likely.errors import InvalidInput


def kept_rows(sample_weight: Any) -> Array | None:
    """Which rows have weight, where weights are given row by row; the others are absent."""
    if sample_weight is None or isinstance(sample_weight, str):
        return None
    weight = np.asarray(sample_weight)
    return None if weight.ndim == 0 else weight > 0


def soft_rows(start: Any, n_components: int, n_rows: int, kept: Array | None) -> Array:
    """Responsibilities (n_rows, n_components) from labels or soft rows, checked."""
    rows = _array(start)
    if kept is not None and len(rows) == len(kept):
        rows = rows[kept]
    if len(rows) != n_rows:
        raise InvalidInput(
            f"start has {len(rows)} rows and X has {n_rows}; labels and soft rows are one per "
            "row of X. Give as many, or parameters instead."
        )
    soft = _indicators(rows, n_components) if rows.ndim == 1 else _shares(rows, n_components)
    empty = np.flatnonzero(soft.sum(axis=0) == 0)
    if empty.size:
        raise InvalidInput(
            f"start gives component {empty[0]} no row; every one of the {n_components} "
            "components needs some. Ask for fewer components, or give it rows."
        )
    return soft


def given_array(
    start: Mapping[str, Any], name: str, shape: tuple[int, ...], *, positive: bool = False
) -> Array:
    """One entry of a mapping as finite numbers of that shape; axes of length 1 may be left out."""
    try:
        found = np.asarray(start[name], dtype=float)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"start[{name!r}] is not an array of numbers; shape {shape} was expected. Give numbers."
        ) from None
    long = [n for n in found.shape if n != 1]
    if long != [n for n in shape if n != 1]:
        raise InvalidInput(
            f"start[{name!r}] has shape {found.shape}; {shape} was expected, for n_components "
            "and the columns of X. Make them agree."
        )
    wrong = ~np.isfinite(found) | (positive & (found <= 0))
    if wrong.any():
        expected = "positive numbers were" if positive else "finite numbers were"
        raise InvalidInput(
            f"start[{name!r}] holds {found[wrong][0]:g}; {expected} expected. Mend it."
        )
    return found.reshape(shape)


def check_fitted_start(start: Any, *, n_features: int) -> None:
    """Refuse a model that is not fitted, or was fitted to other columns."""
    kind = type(start).__name__
    try:
        check_is_fitted(start)
    except NotFittedError:
        raise InvalidInput(
            f"start is a {kind} that is not fitted; its components were expected. Fit it first."
        ) from None
    if start.n_features_in_ != n_features:
        raise InvalidInput(
            f"start is a {kind} of {start.n_features_in_} columns and X has {n_features}; they "
            "must agree. Fit it to the same columns."
        )


def same_categories(one: Schema, other: Schema) -> bool:
    """Whether codes mean the same in both."""
    pairs = zip(one.categories, other.categories, strict=True)
    return one.as_codes == other.as_codes and all(
        a is None or b is None or np.array_equal(a, b) for a, b in pairs
    )


def refuse_other_starts(start: Any, expected: str) -> None:
    """Refuse an estimator, or a mapping, that this mixture cannot begin from."""
    if callable(getattr(start, "fit", None)) or isinstance(start, Mapping):
        raise InvalidInput(
            f"start is a {type(start).__name__}; labels, soft rows or {expected} were expected. "
            "Give one of these; any classifier's labels are model.predict(X)."
        )


def _array(start: Any) -> Array:
    try:
        rows = np.asarray(start)
        found = f"{rows.ndim} dimensions"
    except ValueError:  # rows of different lengths
        rows, found = np.empty(()), "rows of different lengths"
    if rows.ndim not in (1, 2):
        raise InvalidInput(
            f"start is a {type(start).__name__} with {found}; labels (n,) or soft rows "
            "(n, n_components) of X were expected, or a fitted mixture. Give one of these."
        )
    return rows


def _indicators(labels: Array, n_components: int) -> Array:
    """Labels 0, …, K − 1 as one-hot rows."""
    advice = "np.unique(labels, return_inverse=True)[1] makes such labels of any others."
    expected = f"labels are whole numbers from 0 to {n_components - 1}, for n_components"
    if labels.dtype.kind not in "biuf":
        shown = repr(labels.tolist()[0]) if len(labels) else "nothing"
        raise InvalidInput(f"start holds {shown}; {expected}={n_components}. {advice}")
    bad = ~((labels >= 0) & (labels < n_components) & (labels == np.floor(labels)))
    if bad.any():
        row = int(bad.argmax())
        raise InvalidInput(
            f"start holds {labels[row]:g} at row {row}; {expected}={n_components}. {advice}"
        )
    return np.eye(n_components)[labels.astype(np.intp)]


def _shares(rows: Array, n_components: int) -> Array:
    """Soft rows as numbers, none negative or missing."""
    if rows.shape[1] != n_components:
        raise InvalidInput(
            f"start has {rows.shape[1]} components; n_components is {n_components}. "
            "Give one column per component."
        )
    if rows.dtype.kind not in "biuf":
        raise InvalidInput(
            f"start holds {rows.ravel().tolist()[0]!r}; soft rows are numbers, 0 or more. "
            "Give the probability of each component."
        )
    soft = rows.astype(float)
    bad = ~((soft >= 0) & (soft < np.inf)).all(axis=1)
    if bad.any():
        row = int(bad.argmax())
        raise InvalidInput(
            f"start holds {soft[row].tolist()} at row {row}; soft rows are finite and 0 or more. "
            "Mend the row."
        )
    return soft
