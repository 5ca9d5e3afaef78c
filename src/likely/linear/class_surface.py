"""What every fitted model of log-linear classes answers, from log p(k | x) alone.

An abstract surface: it holds no state and no parameter.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from likely._typing import Array
from likely.inputs.labels import codes_among
from likely.solvers.minimise import Solution


class ClassProbabilities(ABC):
    """Classes with a normalised score."""

    classes_: Array
    solution_: Solution

    @abstractmethod
    def predict_log_proba(self, X: Any) -> Array:
        """log p(k | x), (n, n_classes)."""

    @property
    def n_iter_(self) -> int:
        """Steps of the search."""
        return max(1, self.solution_.n_iter)

    def predict_proba(self, X: Any) -> Array:
        """p(k | x), (n, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> Array:
        """The most probable class of each row."""
        most_probable = self.predict_log_proba(X).argmax(axis=1)
        return self.classes_[most_probable]

    def log_likelihood(self, X: Any, y: Any) -> float:
        """Σ_i log p(y_i | x_i)."""
        log_proba = self.predict_log_proba(X)
        codes = codes_among(y, self.classes_, n_rows=len(log_proba))
        return float(log_proba[np.arange(len(codes)), codes].sum())
