"""Metrics of predicted numbers, on densities and on means.

    log-likelihood        mean log p(yᵢ | xᵢ), where a density of 0 costs 745 nats
    deviance              mean d(yᵢ, μᵢ), of the Poisson for counts, of the gamma for amounts
    deviance explained    1 − Σ d(yᵢ, μᵢ) / Σ d(yᵢ, ȳ)        R² where d is (y − μ)²
    RMSE, MAE             √ mean (y − μ)²,  mean |y − μ|

ȳ is the mean of the scored rows, as in scikit-learn.  d(y, ȳ) is linear in y and one function of
y, so its sum, and the variance of the ratio by the delta method, need only joint moments of the
rows.  As ȳ minimises Σ d(y, ȳ), its estimation has no effect to first order.

References
----------
Cochran, Sampling Techniques, 3rd ed., §6.4 (the variance of a ratio).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf, log, nan, sqrt
from typing import final

import numpy as np
from scipy.special import xlogy

from likely._typing import Array
from likely.intervals import Ends, about_mean_with_surprise
from likely.kinds import NUMBER_KINDS, TargetKind
from likely.metrics.base import MeanOfRows, Metric
from likely.metrics.prediction import Prediction, Truth
from likely.metrics.surprise import RowValues
from likely.moments import Moments


@final
@dataclass(frozen=True)
class LogLikelihood(MeanOfRows):
    """Nats per row, of a density for measurements and of a mass for counts."""

    name, title, better, tasks = "log-likelihood", "log-likelihood per row", "higher", NUMBER_KINDS
    needs_density = True
    lowest = -inf

    def row_values(self, truth: Truth, prediction: Prediction) -> Array:
        assert prediction.log_density is not None, "ask Metric.suits first"
        return prediction.log_density

    def interval(self, statistics: RowValues, level: float = 0.95) -> Ends:
        """The lower end allows for one more bad row; the upper one for none."""
        worst = statistics.gain_ends(level)[0]
        return worst, statistics.moments.ends(level)[1]

    def bounds(self, kind: TargetKind) -> Ends:
        """A density may be above 1; the probability of a count may not."""
        return -inf, 0.0 if kind == "count" else inf


@final
@dataclass(frozen=True)
class RMSE(MeanOfRows):
    """The root of the mean squared error."""

    name, title, better, tasks = "rmse", "root mean squared error", "lower", NUMBER_KINDS

    def row_values(self, truth: Truth, prediction: Prediction) -> Array:
        return np.square(truth.y - prediction.means)

    def value(self, statistics: RowValues) -> float:
        return sqrt(statistics.first)

    def interval(self, statistics: RowValues, level: float = 0.95) -> Ends:
        low, high = statistics.loss_ends(level)
        return sqrt(max(low, 0.0)), sqrt(high)


@final
@dataclass(frozen=True)
class MAE(MeanOfRows):
    """The mean absolute error."""

    name, title, better, tasks = "mae", "mean absolute error", "lower", NUMBER_KINDS

    def row_values(self, truth: Truth, prediction: Prediction) -> Array:
        return np.abs(truth.y - prediction.means)

    def of_constant(self, constant: Prediction) -> Prediction:
        """The median, which has the smallest absolute error; the mean where offsets move it."""
        middle = constant.means if constant.median is None else constant.median
        return Prediction.of_numbers(middle)


class UnitDeviance(ABC):
    """d(y, μ) of one family, and d(y, ȳ) as a₀ + a₁y + a₂t(y)."""

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    @abstractmethod
    def tasks(self) -> frozenset[TargetKind]: ...

    @property
    def explained(self) -> tuple[str, str]:
        """Name and title of the share of the deviance that is explained."""
        return f"{self.name}-deviance-explained", f"{_titled(self.name)} deviance explained"

    @abstractmethod
    def of(self, y: Array, mean: Array) -> Array:
        """d(y, μ); inf where the mean is not valid for the family."""

    @abstractmethod
    def statistic(self, y: Array) -> Array:
        """t(y)."""

    @abstractmethod
    def about(self, mean: float) -> tuple[float, float, float]:
        """a₀, a₁ and a₂ at ȳ = ``mean``."""

    def null(self, moments: Moments) -> float:
        """The mean of d(y, ȳ), from the moments of (…, y, t)."""
        constant, along_y, along_t = self.about(float(moments.mean[1]))
        return constant + along_y * float(moments.mean[1]) + along_t * float(moments.mean[2])


@final
@dataclass(frozen=True)
class SquaredDeviance(UnitDeviance):
    """(y − μ)²."""

    name = "gaussian"
    tasks = NUMBER_KINDS
    explained = ("r2", "R²")

    def of(self, y: Array, mean: Array) -> Array:
        return np.square(y - mean)

    def statistic(self, y: Array) -> Array:
        return np.square(y)

    def about(self, mean: float) -> tuple[float, float, float]:
        return mean * mean, -2 * mean, 1.0

    def null(self, moments: Moments) -> float:
        return float(moments.scatter[1, 1]) / moments.n  # centred: it does not cancel


@final
@dataclass(frozen=True)
class PoissonDeviance(UnitDeviance):
    """2 (y log y/μ − y + μ)."""

    name = "poisson"
    tasks = frozenset({"count"})

    def of(self, y: Array, mean: Array) -> Array:
        valid = (mean > 0) | ((mean == 0) & (y == 0))
        inside = np.where(mean > 0, mean, 1.0)
        loss = 2 * (xlogy(y, y / inside) - y + np.where(valid, np.maximum(mean, 0.0), 0.0))
        return np.where(valid, loss, inf)

    def statistic(self, y: Array) -> Array:
        return np.asarray(2 * xlogy(y, y))

    def about(self, mean: float) -> tuple[float, float, float]:
        return (2 * mean, -2 * (1 + log(mean)), 1.0) if mean > 0 else (0.0, 0.0, 1.0)


@final
@dataclass(frozen=True)
class GammaDeviance(UnitDeviance):
    """2 (y/μ − 1 − log y/μ)."""

    name = "gamma"
    tasks = frozenset({"positive"})

    def of(self, y: Array, mean: Array) -> Array:
        ratio = y / np.where(mean > 0, mean, 1.0)
        return np.where(mean > 0, 2 * (ratio - 1 - np.log(ratio)), inf)

    def statistic(self, y: Array) -> Array:
        return np.asarray(-2 * np.log(y))

    def about(self, mean: float) -> tuple[float, float, float]:
        return 2 * log(mean) - 2, 2 / mean, 1.0


@final
@dataclass(frozen=True)
class Deviance(MeanOfRows):
    """The mean deviance of one family."""

    family: UnitDeviance

    better = "lower"

    @property
    def name(self) -> str:
        return f"{self.family.name}-deviance"

    @property
    def title(self) -> str:
        return f"{_titled(self.family.name)} deviance per row"

    @property
    def tasks(self) -> frozenset[TargetKind]:
        return self.family.tasks

    def row_values(self, truth: Truth, prediction: Prediction) -> Array:
        return self.family.of(truth.y, prediction.means)


@final
@dataclass(frozen=True)
class DevianceExplained(Metric):
    """The share of the deviance around the mean that the predictions explain."""

    family: UnitDeviance

    better = "higher"

    @property
    def name(self) -> str:
        return self.family.explained[0]

    @property
    def title(self) -> str:
        return self.family.explained[1]

    @property
    def tasks(self) -> frozenset[TargetKind]:
        return self.family.tasks

    def summary(self, truth: Truth, prediction: Prediction) -> RowValues:
        y = truth.y
        columns = (self.family.of(y, prediction.means), y, self.family.statistic(y))
        return RowValues.of(np.column_stack(columns), truth.weights)

    def likeness(self, truth: Truth, prediction: Prediction) -> Array:
        return self.family.of(truth.y, prediction.means)

    def value(self, statistics: RowValues) -> float:
        null = self.family.null(statistics.moments) if statistics.n else nan
        return 1 - statistics.first / null if null > 0 else nan

    def interval(self, statistics: RowValues, level: float = 0.95) -> Ends:
        """Both ends allow for one more row like the worst, or like those farthest from the mean."""
        rows = statistics.moments
        null = self.family.null(rows) if rows.n else nan
        if not (null > 0 and np.isfinite(rows.mean).all()):
            return -inf, 1.0
        ratio = rows.first / null
        _, along_y, along_t = self.family.about(float(rows.mean[1]))
        slope = np.array([1.0, -ratio * along_y, -ratio * along_t])
        scatter = float(slope @ rows.scatter @ slope)
        extreme = np.vstack([statistics.most[0], statistics.least[1], statistics.most[1]])
        beyond = np.dot(extreme - rows.mean, slope)  # rows that one more may be like
        low = -about_mean_with_surprise(0.0, scatter, rows.n, float(beyond.max()), level)[1]
        high = -about_mean_with_surprise(0.0, scatter, rows.n, float(beyond.min()), level)[0]
        return 1 - ratio + low / null, min(1 - ratio + high / null, 1.0)


def _titled(family: str) -> str:
    """The name as in a sentence: only Poisson keeps its capital, because it is a person's name."""
    return "Poisson" if family == "poisson" else family
