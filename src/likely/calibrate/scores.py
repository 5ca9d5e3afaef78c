"""The scores of any classifier, and how rows are scored by a model that has not seen them.

    decision_function         s_k(x) as it is; of two classes, s = (0, f(x))
    predict_log_proba         s_k(x) = log p(k | x)
    predict_proba             its logarithm

The first that the classifier has is used.  A class that is said to be impossible is given the
log-probability ``SURELY_NOT``: one error would otherwise cost infinitely much, at any calibration.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.inputs.folds import FoldRows
from likely.inputs.tables import rows_at
from likely.special import logsumexp

SURELY_NOT = float(np.log(np.finfo(np.float64).eps))  # about −36: 0, as far as a sum to 1 can tell
RESPONSES = ("decision_function", "predict_log_proba", "predict_proba")


@final
@dataclass(frozen=True, eq=False)
class Scores:
    """One score a class, (n, K), on the scale of logs."""

    values: Array
    kind: Literal["decision", "log-probability"]

    def against_rest(self) -> Array:
        """f(x), one column for two classes; for more, a column for each class against the rest.

        A log-probability becomes the log-odds; a decision is taken as it is.
        """
        if self.values.shape[1] == 2:
            return self.values[:, [1]] - self.values[:, [0]]
        if self.kind == "decision":
            return self.values
        rest = [np.delete(self.values, k, axis=1) for k in range(self.values.shape[1])]
        return self.values - np.stack([logsumexp(others, axis=1) for others in rest], axis=1)


def scores_of(estimator: Any, X: Any) -> Scores:
    """The scores of a fitted classifier, its classes in their order."""
    name = next((name for name in RESPONSES if callable(getattr(estimator, name, None))), None)
    if name is None:
        raise InvalidInput(
            f"{type(estimator).__name__} has none of {', '.join(RESPONSES)}; one is needed to "
            "calibrate. Use a classifier that scores its classes."
        )
    with np.errstate(divide="ignore"):  # log 0
        values = np.asarray(getattr(estimator, name)(X), dtype=np.float64)
        values = np.log(values) if name == "predict_proba" else values
    if values.ndim == 1:
        values = np.stack([np.zeros(len(values)), values], axis=1)
    _check_scores(values, estimator, name)
    if name == "decision_function":
        return Scores(values, "decision")
    return Scores(_possible(values), "log-probability")


def _check_scores(values: Array, estimator: Any, name: str) -> None:
    n_classes = len(estimator.classes_)
    if values.shape[1] != n_classes:
        raise InvalidInput(
            f"{name} of {type(estimator).__name__} has {values.shape[1]} columns; expected "
            f"{n_classes}, one a class. Ask it for scores of one class against the rest."
        )
    bad = np.isnan(values) | (values == np.inf)
    if name == "decision_function":
        bad |= np.isinf(values)
    if bad.any():
        row = int(np.argwhere(bad)[0, 0])
        raise InvalidInput(
            f"{name} of {type(estimator).__name__} is {values[bad][0]} at row {row}; expected "
            "finite scores. Fix the row, or the classifier."
        )


def _possible(log_proba: Array) -> Array:
    """Impossible classes as the least probable of their row, and no more probable than rounding."""
    impossible = np.isneginf(log_proba)
    if not impossible.any():
        return log_proba
    least = np.min(log_proba, axis=1, keepdims=True, where=~impossible, initial=SURELY_NOT)
    return np.where(impossible, least, log_proba)


def out_of_fold(
    learn: Callable[[Array], Any], X: Any, *, folds: FoldRows, n_classes: int
) -> tuple[Scores, Array]:
    """The scores of each fold's rows by a model of the others, and which rows they are.

    ``learn`` fits a new model to the rows it is given.
    """
    parts = []
    for others, fold in folds:
        model = learn(others)
        if len(model.classes_) != n_classes:
            raise InvalidInput(
                f"A fold leaves {len(model.classes_)} classes to learn from; expected all "
                f"{n_classes}. Use fewer or stratified folds: cv=5, say."
            )
        parts.append(scores_of(model, rows_at(X, fold)))
    scores = Scores(np.concatenate([part.values for part in parts]), parts[0].kind)
    return scores, np.concatenate([fold for _, fold in folds])
