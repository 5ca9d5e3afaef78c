"""``LOSSES``: the mean loss of rows, by name, and the metric from which it is computed.

    log-loss                   itself
    negative-log-likelihood    −ℓ, of the log-likelihood ℓ per row
    mean-squared-error         RMSE²
    error-rate                 1 − accuracy

A sealed test set is scored by a loss, because its judges need scores for which lower is better.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

from likely.intervals import Estimate
from likely.metrics.base import Metric
from likely.metrics.classes import Accuracy, LogLoss
from likely.metrics.numbers import RMSE, LogLikelihood


@final
@dataclass(frozen=True)
class MeanLoss:
    """The mean of ``Prediction.losses``."""

    name: str
    metric: Metric
    of_metric: Callable[[float], float]  # monotone

    def of(self, found: Estimate) -> Estimate:
        """The loss, its interval and the loss of the constant, from those of the metric."""
        value, *ends, constant = map(self.of_metric, found)
        return Estimate(value, min(ends), max(ends), constant)


LOSSES: Mapping[str, MeanLoss] = {
    loss.name: loss
    for loss in (
        MeanLoss("log-loss", LogLoss(), lambda value: value),
        MeanLoss("negative-log-likelihood", LogLikelihood(), lambda value: -value),
        MeanLoss("mean-squared-error", RMSE(), lambda value: value**2),
        MeanLoss("error-rate", Accuracy(), lambda value: 1 - value),
    )
}
