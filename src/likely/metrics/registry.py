"""``METRICS``, the list of metrics by name, and those that suit a task, the main one first."""

from collections.abc import Callable

from likely.errors import InvalidInput, UnknownName
from likely.kinds import IN_WORDS, TARGET_KINDS, TargetKind
from likely.metrics.base import Metric
from likely.metrics.calibration import CalibrationError
from likely.metrics.callables import CallableMetric, function_at
from likely.metrics.classes import (
    F1,
    Accuracy,
    BalancedAccuracy,
    Brier,
    Kappa,
    LogLoss,
    MacroF1,
    RankedProbability,
    RankError,
)
from likely.metrics.numbers import (
    MAE,
    RMSE,
    Deviance,
    DevianceExplained,
    GammaDeviance,
    LogLikelihood,
    PoissonDeviance,
    SquaredDeviance,
)
from likely.metrics.ranking import AUC, AveragePrecision
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


SHOWN_NEXT: dict[TargetKind, tuple[str, ...]] = {  # shown next to the main metric
    "binary": ("accuracy",),
    "classes": ("accuracy",),
    "ordinal": ("ranked-probability", "accuracy"),
    "count": ("poisson-deviance-explained", "r2"),
    "positive": ("r2",),
    "real": ("r2",),
}


def metric_named(metric: str | Metric | Callable[..., float]) -> Metric:
    """A metric by its name, by the import path of a function, or as the function itself."""
    if isinstance(metric, str) and metric not in METRICS and "." in metric:
        return CallableMetric.of(function_at(metric), metric)
    if callable(metric) and not isinstance(metric, Metric):
        return CallableMetric.of(metric)
    return lookup("metric", metric, METRICS)


def metric_for(kind: TargetKind, metric: str | Metric | Callable[..., float] | None) -> Metric:
    """The metric, if it suits the kind of target; the main one if none was given."""
    suited = metrics_for(kind)
    if metric is None:
        return suited[0]
    found = metric_named(metric)
    if kind not in found.tasks:
        raise InvalidInput(
            f"{found.name} is not a metric of targets with {IN_WORDS[kind]}. Choose one of "
            f"{', '.join(each.name for each in suited)}."
        )
    return found


def metrics_for(kind: TargetKind, *, in_memory: bool = True) -> list[Metric]:
    """The metrics of a kind of target, the main one first.

    ``in_memory=False`` takes the approximate form where the exact one keeps every row.
    """
    if kind not in TARGET_KINDS:
        raise UnknownName("kind of target", kind, TARGET_KINDS)
    suited = [metric for metric in METRICS.values() if kind in metric.tasks]
    summarised = {type(metric) for metric in suited if metric.approximate}
    return [
        metric
        for metric in suited
        if metric.approximate == (not in_memory and type(metric) in summarised)
    ]
