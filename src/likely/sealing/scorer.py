"""The contract of a scorer of sealed rows: predictions first, and labels only after them.

Sealing does not depend on any metric: it is given a scorer.  The exact
score is computed only if the judge of the seal reveals it; other judges use losses.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from likely._typing import Array, Codes

REQUIRED = {"value": (), "interval": (2,), "baseline": ()}  # of a score: the shape of each
Predictions = dict[str, Array]  # arrays of numbers, Booleans or text


class Scorer(ABC):
    """How predictions are made and compared with labels; lower losses are better."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the loss, in the ledger and in the text."""

    @abstractmethod
    def predictions(
        self, model: Any, X: Any, *, offset: Any = None, exposure: Any = None
    ) -> Predictions:
        """The predictions of the model for the rows, with their offsets and exposures, if any."""

    @abstractmethod
    def losses(self, predictions: Predictions, y: Array) -> Array:
        """One number per row; not negative, if it is to work under ladder and thresholdout."""

    @abstractmethod
    def constant_loss(self, y: Array) -> float:
        """The mean loss of the best prediction of these labels that ignores the features."""

    @abstractmethod
    def score(
        self,
        predictions: Predictions,
        y: Array,
        *,
        y_train: Array,
        level: float,
        groups: Codes | None = None,
    ) -> Mapping[str, Any]:
        """The exact score, as JSON.

        Required: ``value`` (the mean loss), ``interval`` (its two ends) and ``baseline`` (the mean
        loss of the best constant of the training labels).  Optional: ``gain`` with
        ``gain_interval``, ``measures`` and ``impossible_rows``.  Rows of one of the ``groups`` are
        not independent.
        """

    def described(self) -> Mapping[str, Any]:
        """The facts from which the scorer can be made again, as JSON; a commit holds them."""
        return {"name": self.name}


def keys_missing(score: Mapping[str, Any]) -> list[str]:
    """The required keys that are missing in the score of a scorer, or have another shape."""
    return [key for key, shape in REQUIRED.items() if np.shape(score.get(key, [])) != shape]
