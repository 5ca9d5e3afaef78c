"""``METRICS``, the list of metrics by name, and those that suit a task, the main one first."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from inspect import Parameter, signature
from math import inf, nan, sqrt
from typing import Literal, cast, final

import numpy as np

from likely._typing import Array, Codes
from likely.errors import InvalidInput, UnknownName
from likely.kinds import IN_WORDS, TARGET_KINDS, TargetKind
from likely.metrics.base import Better, Metric
from likely.metrics.calibration import CalibrationError
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
from likely.metrics.prediction import Prediction, RowValues, Truth
from likely.metrics.ranking import AUC, AveragePrecision
from likely.names import lookup
from likely.numerics.additive import Additive
from likely.numerics.intervals import Ends, Estimate, clipped, student_quantile

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
    if metric is None:
        return main_metric(kind)
    found = metric_named(metric)
    if kind not in found.tasks:
        raise InvalidInput(
            f"{found.name} is not a metric of targets with {IN_WORDS[kind]}. Choose one of "
            f"{', '.join(each.name for each in metrics_for(kind))}."
        )
    return found


def main_metric(kind: TargetKind) -> Metric:
    """The metric by which models are ordered if no other is given: the first of the kind."""
    if kind not in TARGET_KINDS:
        raise UnknownName("kind of target", kind, TARGET_KINDS)
    return next(each for each in METRICS.values() if kind in each.tasks)


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


# ── Any function of the observed and the predicted values, as a metric ────────────────────────────
#     f(y, ŷ) → a number        y labels or numbers; ŷ the most probable label, or the mean
#
# like the functions of ``sklearn.metrics``.  ``takes="probabilities"`` gives ŷ as the probability
# of the second of two classes, or as one column per class.  Which values are better is taken from
# the name, by scikit-learn's convention: of ``…_error``, ``…_loss`` and ``…_deviance`` the lower
# ones, of any other name the higher ones.  The attributes ``better`` and ``takes`` of the function
# override that.
#
# Only the values of such a function are known.  Where it is the mean of its values for single rows,
# as an absolute error is, its interval is that of the built-in metrics: Student's, of the rows or
# of the groups.  Of any other function, and of more than ``MOST_ALONE`` rows, the interval is
# computed by the jackknife: the rows are put into G blocks (whole groups of rows that belong
# together), and with θ₍g₎ the value without block g,
#
#     θ̂ ± t_{G−1} √((G − 1)/G Σ_g (θ₍g₎ − θ̄)²)
#
# It is infinite on both sides where a value without a block does not exist.
#
# References
# ----------
# Kott (2001), The delete-a-group jackknife, J. Official Statistics 17.

MOST_ALONE = 2_000  # rows that are scored one by one
SAME = 1e-9  # relative: a mean of the values of rows, up to rounding
BLOCKS = 20  # of the jackknife: t has 19 degrees of freedom, 7 % above the normal quantile
LOWER = ("_error", "_loss", "_deviance")  # endings of names in scikit-learn: lower is better
Takes = Literal["predictions", "probabilities"]


@final
@dataclass(frozen=True, eq=False)
class KeptRows(Additive):
    """The rows themselves, because no shorter summary is known."""

    truth: Truth
    prediction: Prediction

    def __add__(self, other: "KeptRows") -> "KeptRows":
        return KeptRows(
            Truth.joined([self.truth, other.truth]),
            Prediction.joined([self.prediction, other.prediction]),
        )

    def rows(self, index: Array) -> "KeptRows":
        return KeptRows(self.truth.rows(index), self.prediction.rows(index))


@final
@dataclass(frozen=True)
class CallableMetric(Metric):
    """A function f(y, ŷ) that scores predictions; ``better`` says which values are better."""

    function: Callable[..., float]
    name: str = ""
    better: Better = "higher"
    takes: Takes = "predictions"

    @classmethod
    def of(cls, function: Callable[..., float], name: str | None = None) -> "CallableMetric":
        """The function under its own name, or under the path that it was imported by."""
        own = str(getattr(function, "__name__", type(function).__name__))
        usual = "lower" if own.endswith(LOWER) else "higher"
        better = cast(Better, getattr(function, "better", usual))
        takes = cast(Takes, getattr(function, "takes", "predictions"))
        return cls(function, own if name is None else name, better, takes)

    @property
    def title(self) -> str:
        return self.name.rpartition(".")[2].replace("_", " ")

    @property
    def tasks(self) -> frozenset[TargetKind]:
        return frozenset(TARGET_KINDS)

    def summary(self, truth: Truth, prediction: Prediction) -> KeptRows:
        return KeptRows(truth, prediction)

    def value(self, statistics: KeptRows) -> float:
        truth, prediction = statistics.truth, statistics.prediction
        if not len(truth.y):
            return nan
        weight = {} if truth.weight is None else {"sample_weight": truth.weight}
        if weight and not self._takes_weight():
            raise InvalidInput(
                f"Rows have weights, and the metric {self.name} takes no sample_weight; a function "
                "f(y, prediction, sample_weight) was expected. Add that argument, choose another "
                "metric, or leave the weight out."
            )
        y = np.asarray(truth.classes)[truth.y] if truth.classes else truth.y
        found = self.function(y, self._predicted(truth, prediction), **weight)
        try:
            return float(found)
        except (TypeError, ValueError):
            raise InvalidInput(
                f"The metric {self.name} returned {found!r}; one number was expected. Return the "
                "score of all rows."
            ) from None

    def _takes_weight(self) -> bool:
        try:
            found = signature(self.function).parameters
        except ValueError:  # of compiled code that does not say
            return True
        return "sample_weight" in found or any(
            each.kind is Parameter.VAR_KEYWORD for each in found.values()
        )

    def _predicted(self, truth: Truth, prediction: Prediction) -> Array:
        if prediction.log_proba is None:
            return prediction.means
        if self.takes == "predictions":
            return np.asarray(truth.classes)[prediction.predicted]
        probability = np.exp(prediction.log_p)
        return np.asarray(probability[:, 1] if probability.shape[1] == 2 else probability)

    def interval(self, statistics: KeptRows, level: float = 0.95) -> Ends:
        values = self._row_values(statistics)
        if values is None:
            return self._jackknife(statistics, np.arange(len(statistics.truth.y)), level)
        return self._about_mean(RowValues.of(values, statistics.truth.weights), level)

    def clustered_interval(
        self, truth: Truth, prediction: Prediction, groups: Codes, level: float = 0.95
    ) -> Ends:
        rows = self.summary(truth, prediction)
        values = self._row_values(rows)
        if values is None:
            _, place = np.unique(groups, return_inverse=True)
            return self._jackknife(rows, place, level)
        found = RowValues.of_groups(values, truth.weights, groups)
        return self._about_mean(found, level)

    def _about_mean(self, values: RowValues, level: float) -> Ends:
        """The interval of a mean of rows, with room for one more bad row.

        The mean of numbers that are not negative is none either.
        """
        ends = values.loss_ends(level)
        if self.better == "higher":
            ends = values.gain_ends(level)[0], values.moments.ends(level)[1]
        return clipped(ends, 0.0 if values.least[0, 0] >= 0 else -inf, inf)

    def _row_values(self, rows: KeptRows) -> Array | None:
        """The value of each row alone, (n,), where the function is their mean; else None."""
        n = len(rows.truth.y)
        if not 2 <= n <= MOST_ALONE:
            return None
        halves = [np.arange(first, n, 2) for first in range(2)]
        alone = [np.array([row]) for row in range(n)]
        for parts in (halves, alone):  # the first costs little, and few other functions pass it
            values = self._values_of_parts(rows, parts)
            if values is None:
                return None
        return values

    def _values_of_parts(self, rows: KeptRows, parts: list[Array]) -> Array | None:
        """The values of parts of the rows, if that of all rows is their mean by weight."""
        try:
            values = np.array([self.value(rows.rows(part)) for part in parts])
        except (ValueError, ArithmeticError, LookupError, TypeError):  # undefined for a part
            return None
        weight = rows.truth.weights
        mean = np.average(values, weights=[weight[part].sum() for part in parts])
        here = self.value(rows)
        size = max(abs(here), float(np.abs(values).mean()))
        return values if abs(mean - here) <= SAME * size else None

    def _jackknife(self, rows: KeptRows, unit: Codes, level: float) -> Ends:
        """The jackknife interval; units are put into the blocks in turn."""
        block = unit % BLOCKS
        n_blocks = len(np.unique(block))
        if n_blocks < 2:
            return -inf, inf
        try:
            without = np.array([self.value(rows.rows(block != b)) for b in range(n_blocks)])
        except ValueError:  # undefined without a block, as of rows of one class
            return -inf, inf
        half = student_quantile(level, n_blocks - 1) * sqrt((n_blocks - 1) * float(np.var(without)))
        here = self.value(rows)
        return (here - half, here + half) if np.isfinite(half + here) else (-inf, inf)


def function_at(path: str) -> Callable[..., float]:
    """The function that an import path names: ``sklearn.metrics.accuracy_score``."""
    module, _, name = path.rpartition(".")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise InvalidInput(
            f"The metric {path} cannot be imported ({error}); a function of an installed module, "
            "or of one in this folder, was expected. Check its path."
        ) from None
    if not callable(found):
        raise InvalidInput(
            f"The metric {path} is {found!r}; a function of the observed and the predicted values "
            "was expected. Name a function."
        )
    return cast(Callable[..., float], found)


# ── ``LOSSES``: the mean loss of rows, by name, and the metric from which it is computed ──────────
#     log-loss                   itself
#     negative-log-likelihood    −ℓ, of the log-likelihood ℓ per row
#     mean-squared-error         RMSE²
#     error-rate                 1 − accuracy
#
# A sealed test set is scored by a loss, because its judges need scores for which lower is better.


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
