"""What a classifier with normalised scores answers: probabilities, labels, log-likelihoods."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from likely._typing import Array
from likely.inputs.labels import accuracy, codes_among
from likely.inputs.numbers import check_weight
from likely.inputs.tables import own_columns


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
