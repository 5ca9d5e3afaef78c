"""What every calibrated classifier does: score, calibrate, and answer in probabilities."""

from abc import ABC, abstractmethod
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array, Codes
from likely.calibrate.scores import Scores, out_of_fold, scores_of
from likely.calibrate.wrapped import countable, fitted_copy, take_columns
from likely.description import Description, Fact, NamedTable, describe
from likely.inputs.folds import check_folds, folds_of, refuse_single_rows
from likely.inputs.labels import classes_of, codes_among, label_array, refuse_one_class
from likely.inputs.numbers import check_weight, required
from likely.inputs.tables import own_columns, refuse_file, rows_at

PREFIT = "prefit"


class Scaling(ClassifierMixin, BaseEstimator, ABC):
    """A map from scores to probabilities on top of a classifier; each map is one final class."""

    estimator: Any
    cv: Any
    classes_: Array
    estimator_: Any

    @abstractmethod
    def _calibrate(self, scores: Scores, codes: Codes, weight: Array) -> None:
        """Learn the map from scores and the classes they should have told."""

    @abstractmethod
    def _log_proba(self, scores: Scores) -> Array:
        """log p(k | scores), (n, K)."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the estimator, unless it is fitted, and the map from its scores of unseen rows."""
        refuse_file(X, type(self).__name__)
        X, y, sample_weight = own_columns(X, y, sample_weight)
        X, n_rows = countable(X)
        y = label_array(required(y, self))
        classes_of(y, n_rows=n_rows)
        weight = check_weight(sample_weight, n_rows=n_rows)
        present = np.arange(len(y)) if weight is None else np.flatnonzero(weight)
        if isinstance(self.cv, str) and self.cv == PREFIT:
            self._fit_map_alone(X, y, weight, present)
        else:
            advice = "Use 5, or fit the estimator first."
            check_folds(self.cv, otherwise='"prefit"', advice=advice)
            self._fit_both(X, y, weight, present)
        take_columns(self, self.estimator_)
        return self

    def _fit_map_alone(self, X: Any, y: Array, weight: Array | None, present: Array) -> None:
        check_is_fitted(self.estimator)
        self.estimator_ = self.estimator
        self.classes_ = self.estimator_.classes_
        refuse_one_class(self.classes_, self)
        codes = codes_among(y[present], self.classes_)
        scores = scores_of(self.estimator_, rows_at(X, present))
        self._calibrate(scores, codes, _weights_of(present, weight))

    def _fit_both(self, X: Any, y: Array, weight: Array | None, present: Array) -> None:
        self.classes_, known = classes_of(y[present])
        refuse_one_class(self.classes_, self)
        codes = np.full(len(y), -1)
        codes[present] = known
        if isinstance(self.cv, int | np.integer):
            otherwise = 'calibrate a fitted estimator with cv="prefit"'
            refuse_single_rows(codes, self.classes_, otherwise=otherwise)
        folds = [fold for fold in folds_of(self.cv, X, y, codes=codes) if len(fold[1])]
        learn = partial(fitted_copy, self.estimator, X, y, weight)
        self.estimator_ = learn(present)  # first: a complaint about a row counts the caller's rows
        scores, scored = out_of_fold(learn, X, folds=folds, n_classes=len(self.classes_))
        self._calibrate(scores, codes[scored], _weights_of(scored, weight))

    def describe(self) -> Description:
        """The map from scores to probabilities, then the classifier that has the scores."""
        check_is_fitted(self)
        inner = describe(self.estimator_)
        return Description(
            f"{type(self).__name__} of {type(self.estimator_).__name__}",
            fit=self._facts(),
            tables=self._curves(),
            parts=(inner,),
        )

    def _facts(self) -> tuple[Fact, ...]:
        """Numbers that the map consists of."""
        return ()

    def _curves(self) -> tuple[NamedTable, ...]:
        """A map of each class."""
        return ()

    def _curved_classes(self) -> list[str]:
        """The classes that have a map of their own: of two, the second."""
        labels = [str(label) for label in self.classes_.tolist()]
        return labels[1:] if len(labels) == 2 else labels

    def predict_log_proba(self, X: Any) -> Array:
        """log p(k | x), (n, n_classes)."""
        check_is_fitted(self)
        return self._log_proba(scores_of(self.estimator_, X))

    def predict_proba(self, X: Any) -> Array:
        """p(k | x), (n, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> Array:
        """The most probable class of each row."""
        most_probable = self.predict_log_proba(X).argmax(axis=1)
        return self.classes_[most_probable]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        of_estimator = get_tags(self.estimator)
        tags.input_tags = of_estimator.input_tags
        tags.classifier_tags.multi_class = of_estimator.classifier_tags.multi_class
        return tags


def log_odds(log_proba: Array) -> Array:
    """log p(1 | x) − log p(0 | x) of two classes, (n,); of more, log p(k | x) itself."""
    return log_proba[:, 1] - log_proba[:, 0] if log_proba.shape[1] == 2 else log_proba


def _weights_of(rows: Array, weight: Array | None) -> Array:
    return np.ones(len(rows)) if weight is None else weight[rows]
