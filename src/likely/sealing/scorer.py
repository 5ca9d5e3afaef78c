"""The contract of a scorer of sealed rows: predictions first, and labels only after them.

    score = (1/n) Σ_i loss_i        interval: Student's, inside of the loss's range
    gain = (1/n) Σ_i (loss_i of the best constant − loss_i), row by row, with its own interval

Rows of one group are not independent: intervals are then cluster-robust (``likely.intervals``).
Which losses there are, sealing does not know: the workbench has the scorers of each task.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from math import inf
from typing import Any

from likely._typing import Array, Codes
from likely.intervals import Ends, mean_interval

Predictions = dict[str, Array]  # arrays of numbers, Booleans or text


class Scorer(ABC):
    """How predictions are made and compared with labels; lower losses are better."""

    name: str  # in the ledger, and in the sentence
    lowest: float = 0.0  # that a loss can be, and the mean of losses too
    highest: float = inf

    @abstractmethod
    def predictions(self, model: Any, X: Any) -> Predictions:
        """The predictions of the model for the rows."""

    @abstractmethod
    def losses(self, predictions: Predictions, y: Array) -> Array:
        """One number per row; not negative, if it is to work under ladder and thresholdout."""

    @abstractmethod
    def constant_losses(self, y_train: Array, y: Array) -> Array:
        """The losses of the best prediction that ignores the features."""

    def interval(self, losses: Array, level: float, groups: Codes | None = None) -> Ends:
        """Where the mean loss would be on other rows, or groups, of the kind."""
        return mean_interval(losses, level, groups, lowest=self.lowest, highest=self.highest)

    def gain_interval(
        self, losses: Array, constant: Array, level: float, groups: Codes | None = None
    ) -> Ends:
        """The interval of the mean loss of the constant less that of the model, row by row."""
        return mean_interval(constant - losses, level, groups)

    def extras(
        self,
        predictions: Predictions,
        y: Array,
        level: float,
        *,
        y_train: Array,
        groups: Codes | None = None,
    ) -> Mapping[str, Any]:
        """Further numbers for the ledger, as JSON; kept only where the exact score may be shown."""
        return {}

    def described(self) -> Mapping[str, Any]:
        """The facts from which the scorer can be made again, as JSON; a commit holds them."""
        return {"name": self.name}
