"""The best constant: the model that uses the distribution of the target and no feature.

    classes     p(k) = share of class k        ordinal alike
    real        N(ȳ, s²); of amounts of which some are exactly 0, that or a Tweedie with mean ȳ
    positive    gamma, log-normal, inverse Gaussian or Gaussian with mean ȳ: the likeliest
    count       negative binomial with mean ȳ, α by maximum likelihood (at α = 0 the Poisson), or
                the masses of N(ȳ, s²) at whole numbers, of a gamma or a log-normal where none is
                0, and of a Tweedie where some are 0 and others large: the likeliest

Where rows have exposures eᵢ, the mean of a row is λeᵢ; where they have offsets oᵢ, it is λ + oᵢ.
Means and dispersions are those of a GLM of the family without columns: Σwy/Σw, and
Pearson's χ²/(n − 1).  A log-normal has the mean ȳ too, and the σ that is likeliest around it.  The
families are those of the models that are tried: a Poisson constant on overdispersed counts, or a
gamma on amounts with a heavier tail, would lose to any model with the right spread or family,
whatever its columns.
"""

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from likely._typing import Array, Codes
from likely.data.labels import LARGE
from likely.kinds import TargetKind
from likely.likelihoods.base import Response
from likely.likelihoods.gamma import Gamma
from likely.likelihoods.gaussian import Gaussian
from likely.likelihoods.inverse_gaussian import InverseGaussian
from likely.likelihoods.log_normal import LogNormal
from likely.likelihoods.negative_binomial import NegativeBinomial
from likely.likelihoods.predictive import log_prob_of
from likely.likelihoods.tweedie import Tweedie
from likely.metrics.prediction import Prediction, Truth
from likely.objectives.overdispersion import estimated_shape

FAMILIES: dict[TargetKind, tuple[Response, ...]] = {
    "count": (NegativeBinomial(), Gaussian()),
    "positive": (Gamma(), LogNormal(), InverseGaussian(), Gaussian()),
}
LEAST_SPREAD = 1e-12  # of the mean square: rows that are all equal still have a density


@final
@dataclass(frozen=True)
class Level:
    """One distribution for every row."""

    response: Response
    mean: float  # of a row with exposure 1
    dispersion: float = 1.0
    counts: bool = False  # whether whole numbers have masses
    with_zeros: bool = False  # whether exact zeros have

    def log_density(
        self, y: Array, exposure: Array | None = None, offset: Array | float = 0.0
    ) -> Array:
        mean = self.mean * (np.ones(len(y)) if exposure is None else exposure) + offset
        log_prob = log_prob_of(self.response, counts=self.counts, with_zeros=self.with_zeros)
        with np.errstate(divide="ignore"):  # a mean of 0 denies every count but 0
            return np.asarray(log_prob(y, mean, self.dispersion))


@final
@dataclass(frozen=True, eq=False)
class BestConstant:
    """The best constant for some rows, which can predict others."""

    log_share: Array | None = None  # (n_classes,), −inf where a class does not occur
    level: Level | None = None  # of numbers
    median: float | None = None  # of numbers that nothing moves

    @classmethod
    def of(cls, training: Truth, response: Response | None = None) -> "BestConstant":
        """The best constant for rows whose weight is above 0.

        ``response`` is the family of numbers, if not the usual one of their kind.
        """
        if training.weight is not None:
            training = training.rows(training.weight > 0)
        y, weight = training.y, training.weights
        if training.classes:
            return cls(class_log_shares(y, weight, len(training.classes)))
        if training.offset is not None:  # a shifted amount or count is any number
            level = best_level("real", y - training.offset, weight, response)
            return cls(level=replace(level, with_zeros=training.with_zeros))
        exposure = np.ones(len(y)) if training.exposure is None else training.exposure
        zeros = training.with_zeros
        level = best_rate(training.kind, y, weight, exposure, response, with_zeros=zeros)
        if training.exposure is not None:
            return cls(level=level)
        return cls(level=level, median=weighted_median(y, weight))

    def prediction(self, truth: Truth) -> Prediction:
        """The prediction for these rows; a class that was not seen has the smallest probability."""
        n = len(truth.y)
        if self.log_share is not None:
            return Prediction.of_classes(np.tile(self.log_share, (n, 1)))
        assert self.level is not None, "classes or numbers"
        if truth.offset is not None:
            density = self.level.log_density(truth.y, offset=truth.offset)
            return Prediction.of_numbers(self.level.mean + truth.offset, density)
        exposure = np.ones(n) if truth.exposure is None else truth.exposure
        median = None if self.median is None else np.full(n, self.median)
        density = self.level.log_density(truth.y, exposure)
        return Prediction.of_numbers(self.level.mean * exposure, density, median)


def constant_prediction(training: Truth, truth: Truth) -> Prediction:
    """The prediction of the training rows' best constant for each row of ``truth``."""
    return BestConstant.of(training).prediction(truth)


def class_log_shares(codes: Codes, weight: Array, n_classes: int) -> Array:
    """log p(k) of the weighted rows; −inf where a class does not occur."""
    total = np.bincount(codes, weights=weight, minlength=n_classes)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(total / total.sum()))


def best_level(
    kind: TargetKind, y: Array, weight: Array, response: Response | None = None
) -> Level:
    """The constant of a task about numbers."""
    return best_rate(kind, y, weight, np.ones(len(y)), response)


def best_rate(
    kind: TargetKind,
    y: Array,
    weight: Array,
    exposure: Array,
    response: Response | None = None,
    *,
    with_zeros: bool = False,
) -> Level:
    """The constant rate λ of rows whose means are in proportion to their exposures, μᵢ = λ eᵢ.

    ``response`` is the family, if not the likeliest of the usual ones of the kind.
    """
    families = usual_families(kind, y, with_zeros) if response is None else (response,)
    counts = kind == "count"
    levels = [
        replace(_rate(family, y, weight, exposure), counts=counts, with_zeros=with_zeros)
        for family in families
    ]
    if len(levels) == 1:
        return levels[0]
    return max(levels, key=lambda level: float(np.dot(weight, level.log_density(y, exposure))))


def usual_families(kind: TargetKind, y: Array, with_zeros: bool = False) -> tuple[Response, ...]:
    """The families of the models that are tried for these values."""
    found = FAMILIES.get(kind, (Gaussian(),))
    if kind == "real" and with_zeros:
        return (*found, Tweedie())
    if kind == "count" and y.min() > 0:
        return (*found, Gamma(), LogNormal())
    return (*found, Tweedie()) if kind == "count" and y.max() >= LARGE else found


def _rate(family: Response, y: Array, weight: Array, exposure: Array) -> Level:
    """The rate and the spread of one family."""
    level = float(np.dot(weight, y)) / float(np.dot(weight, exposure))
    family, dispersion = family_around(family, y, level * exposure, weight)
    return Level(family, level, dispersion)


def family_around(family: Response, y: Array, mean: Array, weight: Array) -> tuple[Response, float]:
    """A family with its shape and its dispersion, estimated around given means."""
    family = estimated_shape(family, y, mean, weight)
    if family.dispersion_is_known:
        return family, 1.0
    n = float(weight.sum())
    square = float(np.dot(weight, np.square(mean))) / n
    pearson = float(np.dot(weight, np.square(y - mean) / family.variance(mean)))
    least = LEAST_SPREAD * max(1.0, square) / float(family.variance(np.sqrt(square)))
    return family, max(pearson / max(n - 1, 1.0), least)


def weighted_median(y: Array, weight: Array) -> float:
    """The weighted median: half of the weight is at or below it; a midpoint where two tie."""
    order = np.argsort(y, kind="stable")
    y, below = y[order], np.cumsum(weight[order])
    half = below[-1] / 2
    low, high = np.searchsorted(below, half, "left"), np.searchsorted(below, half, "right")
    return float(y[low] + y[min(high, len(y) - 1)]) / 2
