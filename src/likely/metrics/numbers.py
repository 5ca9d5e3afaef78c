"""Metrics of predicted numbers, on densities and on means.

    log-likelihood        mean log p(yᵢ | xᵢ), where a density of 0 costs 745 nats
    deviance              mean d(yᵢ, μᵢ), of the Poisson for counts, of the gamma for amounts
    deviance explained    1 − Σ d(yᵢ, μᵢ) / Σ d(yᵢ, λeᵢ)      R² where d is (y − μ)²
    RMSE, MAE             √ mean (y − μ)²,  mean |y − μ|

e is the exposure of a row, 1 without one, and λ the rate that minimises Σ d(yᵢ, λeᵢ): of rows
without exposures their mean ȳ, as in scikit-learn.  Of (y − μ)², an offset is taken from y first.
d(y, λe) is linear in three numbers a, b and t of a row, so its sum, and the variance of the ratio
by the delta method, need only joint moments of the rows.  As λ is at the minimum, its estimation
has no effect to first order.

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
from likely.kinds import NUMBER_KINDS, TargetKind
from likely.metrics.base import MeanOfRows, Metric
from likely.metrics.prediction import Prediction, RowValues, Truth
from likely.numerics.intervals import Ends, about_mean_with_surprise
from likely.numerics.moments import Moments


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
    """d(y, μ) of one family, and d(y, λe) as c₁a + c₂t + c₃b, of three numbers of a row."""

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
    def terms(self, y: Array, exposure: Array, offset: Array | float) -> tuple[Array, Array, Array]:
        """a, t and b of each row; λ = Σa/Σb."""

    @abstractmethod
    def about(self, rate: float) -> tuple[float, float, float]:
        """c₁, c₂ and c₃ at this λ."""

    def slopes(self, moments: Moments) -> Array:
        """(c₁, c₂, c₃), from the moments of (…, a, t, b)."""
        return np.array(self.about(float(moments.mean[1] / moments.mean[3])))

    def null(self, moments: Moments) -> float:
        """The mean of d(y, λe), from the moments of (…, a, t, b)."""
        return float(self.slopes(moments) @ moments.mean[1:])


@final
@dataclass(frozen=True)
class SquaredDeviance(UnitDeviance):
    """(y − μ)²."""

    name = "gaussian"
    tasks = NUMBER_KINDS
    explained = ("r2", "R²")

    def of(self, y: Array, mean: Array) -> Array:
        return np.square(y - mean)

    def terms(self, y: Array, exposure: Array, offset: Array | float) -> tuple[Array, Array, Array]:
        rest = y - offset
        return rest * exposure, np.square(rest), np.square(exposure)

    def about(self, rate: float) -> tuple[float, float, float]:
        return -2 * rate, 1.0, rate * rate

    def null(self, moments: Moments) -> float:
        if moments.scatter[3, 3] == 0:  # of one exposure: centred, it does not cancel
            return float(moments.scatter[1, 1] / moments.mean[3]) / moments.n
        return super().null(moments)


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

    def terms(self, y: Array, exposure: Array, offset: Array | float) -> tuple[Array, Array, Array]:
        return y, np.asarray(2 * xlogy(y, y / exposure)), exposure

    def about(self, rate: float) -> tuple[float, float, float]:
        return (-2 * (1 + log(rate)), 1.0, 2 * rate) if rate > 0 else (0.0, 1.0, 0.0)


@final
@dataclass(frozen=True)
class GammaDeviance(UnitDeviance):
    """2 (y/μ − 1 − log y/μ)."""

    name = "gamma"
    tasks = frozenset({"positive"})

    def of(self, y: Array, mean: Array) -> Array:
        ratio = y / np.where(mean > 0, mean, 1.0)
        return np.where(mean > 0, 2 * (ratio - 1 - np.log(ratio)), inf)

    def terms(self, y: Array, exposure: Array, offset: Array | float) -> tuple[Array, Array, Array]:
        ratio = y / exposure
        return ratio, np.asarray(-2 * np.log(ratio)), np.ones(len(y))

    def about(self, rate: float) -> tuple[float, float, float]:
        return 2 / rate, 1.0, 2 * log(rate) - 2


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
    """The share of the deviance around the mean, or a constant rate, that is explained."""

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
        exposure = np.ones(len(y)) if truth.exposure is None else truth.exposure
        offset = 0.0 if truth.offset is None else truth.offset
        columns = (self.family.of(y, prediction.means), *self.family.terms(y, exposure, offset))
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
        slope = np.array([1.0, *(-ratio * self.family.slopes(rows))])
        scatter = float(slope @ rows.scatter @ slope)
        extreme = np.vstack([statistics.most[0], statistics.least[1], statistics.most[1]])
        beyond = np.dot(extreme - rows.mean, slope)  # rows that one more may be like
        low = -about_mean_with_surprise(0.0, scatter, rows.n, float(beyond.max()), level)[1]
        high = -about_mean_with_surprise(0.0, scatter, rows.n, float(beyond.min()), level)[0]
        return 1 - ratio + low / null, min(1 - ratio + high / null, 1.0)


def _titled(family: str) -> str:
    """The name as in a sentence: only Poisson keeps its capital, because it is a person's name."""
    return "Poisson" if family == "poisson" else family
