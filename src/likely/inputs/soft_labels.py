"""Soft labels: a row of probabilities for each example, in place of its class.

    t_ik ≥ 0,  Σ_k t_ik = 1        one-hot rows are the labels themselves

An example with soft labels is K examples of hard ones, each with the part t_ik of its weight.
The columns of a frame are named by their classes; those of an array are the classes 0, 1, ….

What a classifier with normalised scores answers: probabilities, labels, log-likelihoods.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from likely._typing import Array, Codes
from likely.errors import InvalidInput
from likely.inputs.estimators import countable
from likely.inputs.tables import as_frame, finite_numbers, is_frame, own_columns, rows_at
from likely.inputs.targets import accuracy, check_weight, codes_among, refuse_other_length
from likely.output.formatting import listed

SUM_ROUNDING = 1e-6  # how far a row of soft labels may sum from 1: float32 shares do


class HardRows(NamedTuple):
    """Examples with one class each."""

    X: Any
    codes: Codes
    weight: Array | None


def check_soft(y: Array, start: int = 0) -> None:
    """Refuse rows that are no probabilities; ``start`` is the number of the first."""
    wrong = (y < 0).any(axis=1) | (np.abs(y.sum(axis=1) - 1) > SUM_ROUNDING)
    if wrong.any():
        i = int(wrong.argmax())
        raise InvalidInput(
            f"Row {start + i} of y is {y[i].tolist()}; soft labels are probabilities, at least 0 "
            "and 1 in sum. Divide each row by its sum, or give one label per row."
        )


def soft_classes(y: Any) -> Array:
    """The class of each column: its name in a frame, its position in an array."""
    y = as_frame(y)
    if not is_frame(y):
        return np.arange(np.shape(y)[1])
    import narwhals.stable.v2 as nw

    names = nw.from_native(y, eager_only=True).columns
    return np.array(names, dtype=None if len(set(map(type, names))) == 1 else object)


def soft_numbers(y: Any) -> Array:
    """Soft labels of an array or a frame as float64; finite."""
    return finite_numbers(y, "y")


def soft_of_classes(y: Any, classes: Array) -> Array:
    """Soft labels with a column for each class, in the order of ``classes``; checked."""
    if np.shape(y)[1] != len(classes):
        raise InvalidInput(
            f"y has soft labels of {np.shape(y)[1]} classes; there are {len(classes)}: "
            f"{listed(list(map(str, classes.tolist())))}. Give a column for each."
        )
    soft = soft_numbers(y)[:, _places(y, classes)]
    check_soft(soft)
    return soft


def soft_total(y: Any, values: Array, classes: Array) -> Array:
    """Σ_k t_ik v_ik of each row, where −∞ · 0 is 0; (n,).

    The columns of a frame are matched with ``classes`` by their names.
    """
    if np.shape(y) != values.shape:
        raise InvalidInput(
            f"y has shape {np.shape(y)}; expected {values.shape}: soft labels, a column for each "
            "class in the order of classes_. Give one probability for each, or the labels."
        )
    soft = soft_of_classes(y, classes)
    return np.multiply(soft, values, where=soft > 0, out=np.zeros(values.shape)).sum(axis=1)


def _places(y: Any, classes: Array) -> list[int]:
    """Where the column of each class is."""
    found, expected = (list(map(str, each.tolist())) for each in (soft_classes(y), classes))
    if found == list(map(str, range(len(classes)))):  # columns without names
        return list(range(len(classes)))
    if sorted(found) != sorted(expected):
        raise InvalidInput(
            f"y has the columns {listed(found)}; the classes {listed(expected)} were expected. "
            "Rename the columns, or give an array in the order of classes_."
        )
    return [found.index(name) for name in expected]


def hard_rows(X: Any, y: Any, sample_weight: Any, *, calibrate: str | None = None) -> HardRows:
    """Each example once for every class that it may have, with that part of its weight.

    A model that calibrates on held-out rows takes one-hot rows only.
    """
    X, sample_weight = own_columns(X, sample_weight)
    X, n_rows = countable(X)
    soft = soft_numbers(y)
    refuse_other_length(soft, n_rows)
    check_soft(soft)
    weight = check_weight(sample_weight, n_rows=n_rows)
    empty = np.flatnonzero(~(soft > 0).any(axis=0))
    if empty.size:
        raise InvalidInput(
            f"Column {empty[0]} of y is 0 in every row; a class needs examples. Leave the column "
            "out, or give one."
        )
    row, code = np.nonzero(soft)
    if len(row) == n_rows and (soft[row, code] == 1).all():
        return HardRows(X, code, weight)
    if calibrate is not None:
        raise InvalidInput(
            f"calibrate={calibrate!r} was given with soft labels; held-out rows need one class for "
            "each row. Leave calibrate out, or give labels."
        )
    part = soft[row, code] if weight is None else soft[row, code] * weight[row]
    return HardRows(rows_at(X, row), code, part)


class ClassProbabilities(ABC):
    """Classes with a normalised score."""

    classes_: Array

    @abstractmethod
    def predict_log_proba(self, X: Any) -> Array:
        """log p(k | x), (n, n_classes)."""

    def predict_proba(self, X: Any) -> Array:
        """p(k | x), (n, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> Array:
        """The most probable class of each row."""
        most_probable = self.predict_log_proba(X).argmax(axis=1)
        return self.classes_[most_probable]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy: the share of the rows, by weight, whose label is predicted."""
        return accuracy(self, X, y, sample_weight)

    def log_likelihoods(self, X: Any, y: Any) -> Array:
        """log p(y_i | x_i) of each row."""
        X, y = own_columns(X, y)
        log_proba = self.predict_log_proba(X)
        codes = codes_among(y, self.classes_, n_rows=len(log_proba))
        return log_proba[np.arange(len(codes)), codes]

    def log_likelihood(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Σ_i w_i log p(y_i | x_i)."""
        X, y, sample_weight = own_columns(X, y, sample_weight)
        each = self.log_likelihoods(X, y)
        weight = check_weight(sample_weight, n_rows=len(each))
        if weight is None:
            return float(each.sum())
        present = weight > 0  # 0 · −∞ is nan
        return float(np.dot(weight[present], each[present]))
