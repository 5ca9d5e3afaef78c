"""``METRICS``, the list of metrics by name, and those that suit a task, the main one first."""

from likely.evaluate.metrics.base import Metric
from likely.evaluate.metrics.calibration import CalibrationError
from likely.evaluate.metrics.classes import Brier, LogLoss
from likely.evaluate.metrics.confusion import F1, Accuracy, BalancedAccuracy, Kappa, MacroF1
from likely.evaluate.metrics.numbers import (
    MAE,
    RMSE,
    Deviance,
    DevianceExplained,
    GammaDeviance,
    LogLikelihood,
    PoissonDeviance,
    SquaredDeviance,
)
from likely.evaluate.metrics.ordinal import RankedProbability, RankError
from likely.evaluate.metrics.ranking import AUC, AveragePrecision
from likely.evaluate.task import Kind, Task
from likely.names import lookup

METRICS: dict[str, Metric] = {  # those of one task in the order in which tables show them
    metric.name: metric
    for metric in (
        LogLoss(),
        RankedProbability(),
        Brier(),
        AUC(),
        AUC(exact=False),
        AveragePrecision(),
        AveragePrecision(exact=False),
        Accuracy(),
        BalancedAccuracy(),
        F1(),
        MacroF1(),
        Kappa(),
        RankError(),
        CalibrationError(),
        LogLikelihood(),
        Deviance(PoissonDeviance()),
        Deviance(GammaDeviance()),
        DevianceExplained(PoissonDeviance()),
        DevianceExplained(GammaDeviance()),
        RMSE(),
        MAE(),
        DevianceExplained(SquaredDeviance()),
    )
}


def metric_named(name: str | Metric) -> Metric:
    return lookup("metric", name, METRICS)


def metrics_for(task: Task | Kind, *, in_memory: bool = True) -> list[Metric]:
    """The metrics of a task, the main one first: log loss of classes, log-likelihood of numbers.

    ``in_memory=False`` takes the approximate form where the exact one keeps every row.
    """
    kind = task.kind if isinstance(task, Task) else task
    replaced = {
        metric.name.removesuffix("-approximate")
        for metric in METRICS.values()
        if metric.approximate
    }
    return [
        metric
        for metric in METRICS.values()
        if kind in metric.tasks
        and (not metric.approximate if in_memory else metric.name not in replaced)
    ]
