"""Scores of a model beside those of the best constant, from parts that add.

    mean ± 1.96 standard errors of the rows' values        95 %, by the normal approximation
    explained = 1 − mean of the model / mean of the constant

The interval of a share explained is that of a ratio of means, by the delta method.

References
----------
Cochran, Sampling Techniques, 3rd ed., §6.4 (the variance of a ratio).
"""

from dataclasses import dataclass
from math import inf, isfinite, nan, sqrt
from typing import NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.additive import Additive

Z95 = 1.959963984540054  # the normal quantile of 97.5 %


@final
@dataclass(frozen=True)
class Mean(Additive):
    """A mean with its standard error, from parts; a weight of 2 is the row twice."""

    n: float
    mean: float
    scatter: float  # Σ w (x − mean)²

    @classmethod
    def of(cls, values: Array, weight: Array | None = None) -> "Mean":
        weight = np.ones(len(values)) if weight is None else weight
        n = float(weight.sum())
        mean = float(np.dot(weight, values)) / n
        scatter = float(np.dot(weight, (values - mean) ** 2)) if isfinite(mean) else inf
        return cls(n, mean, scatter)

    def __add__(self, other: "Mean") -> "Mean":
        n = self.n + other.n
        gap = other.mean - self.mean
        if not isfinite(gap):  # the gap from an infinite mean says nothing
            return Mean(n, (self.n * self.mean + other.n * other.mean) / n, inf)
        return Mean(
            n,
            self.mean + gap * other.n / n,
            self.scatter + other.scatter + gap * gap * self.n * other.n / n,
        )

    @property
    def interval(self) -> tuple[float, float]:
        return self.mean - self.half_width, self.mean + self.half_width

    @property
    def half_width(self) -> float:
        """1.96 standard errors."""
        return _half_width(self.scatter, self.n)


class Estimate(NamedTuple):
    """A number and its 95 % interval."""

    value: float
    interval: tuple[float, float]


@final
@dataclass(frozen=True, eq=False)
class Compared(Additive):
    """One measure of the rows, by the model and by the best constant."""

    model: Mean
    baseline: Mean
    excess: Mean  # of the constant over the model, row by row

    @classmethod
    def of(cls, model: Array, baseline: Array, weight: Array | None = None) -> "Compared":
        return cls(
            Mean.of(model, weight), Mean.of(baseline, weight), Mean.of(baseline - model, weight)
        )

    def __add__(self, other: "Compared") -> "Compared":
        return Compared(
            self.model + other.model, self.baseline + other.baseline, self.excess + other.excess
        )

    def explained(self) -> Estimate:
        """1 − model/constant: the share of the constant's loss that the model avoids."""
        if self.baseline.mean <= 0:
            return Estimate(nan, (nan, nan))
        ratio = self.model.mean / self.baseline.mean
        together = (self.model.scatter + self.baseline.scatter - self.excess.scatter) / 2
        scatter = self.model.scatter - 2 * ratio * together + ratio**2 * self.baseline.scatter
        half = _half_width(max(scatter, 0.0), self.model.n) / self.baseline.mean
        return Estimate(1 - ratio, (1 - ratio - half, 1 - ratio + half))


@final
@dataclass(frozen=True, eq=False)
class Scores(Additive):
    """Of held-out rows, by measure."""

    measures: dict[str, Compared]
    rows: int
    left_out: int = 0  # rows whose class the fit had not seen

    def __add__(self, other: "Scores") -> "Scores":
        return Scores(
            {name: own + other.measures[name] for name, own in self.measures.items()},
            self.rows + other.rows,
            self.left_out + other.left_out,
        )

    def __getitem__(self, measure: str) -> Compared:
        return self.measures[measure]


def _half_width(scatter: float, n: float) -> float:
    if n < 2 or not isfinite(scatter):
        return inf
    return Z95 * sqrt(scatter / (n - 1) / n)
