"""Centred moments of independent Gaussian features: weight, mean and scatter of each component.

    n_k = Σ_i r_ik        m_kj = Σ_i r_ik x_ij / n_k        S_kj = Σ_i r_ik (x_ij − m_kj)²

References
----------
Chan, Golub & LeVeque, Algorithms for computing the sample variance, 1983, eq. 2.1.
Fraley & Raftery, Bayesian regularization for normal mixture estimation and model-based
clustering, J. Classification 2007, §3 (the strong prior of a mixture).
"""

from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np

from likely._typing import Array, Matrix
from likely.distributions.base import SMALLEST_SHARE, STRONG_SHARE, Statistics, pooled_mean
from likely.distributions.resolution import united
from likely.distributions.responsibility import (
    FAST_CELLS,
    Labels,
    Responsibility,
    for_loop,
    observed_sums,
)
from likely.errors import BadCell
from likely.numerics.cholesky import ROUNDING
from likely.numerics.moments import variance_beyond_rounding

SMALLEST_VARIANCE = 1e-300  # a variance of exactly 0 has no logarithm


@final
@dataclass(frozen=True, eq=False)
class DiagonalMoments(Statistics):
    """Per component and feature: weight n, mean m and scatter Σ r (x − m)²."""

    weight: Array  # (n_components, 1), or (n_components, n_features) where cells are missing
    mean: Array  # (n_components, n_features)
    scatter: Array  # (n_components, n_features)
    degrees: float = 0.0  # of a prior: they divide the scatter but do not move the mean
    values: Array | None = None  # distinct ones, (m, n_features), where a floor needs them

    def __add__(self, other: Self) -> Self:
        weight, mean, between = merged_means(self.weight, self.mean, other.weight, other.mean)
        scatter = self.scatter + other.scatter + between * (other.mean - self.mean) ** 2
        degrees, values = self.degrees + other.degrees, united(self.values, other.values)
        return type(self)(weight, mean, scatter, degrees, values)

    def scaled(self, factor: float) -> Self:
        weight, scatter, degrees = self.weight, self.scatter, self.degrees
        return replace(
            self, weight=factor * weight, scatter=factor * scatter, degrees=factor * degrees
        )

    def pooled_variance(self) -> Array:
        """The variance of all examples together, (n_features,)."""
        weight = np.broadcast_to(self.weight, self.mean.shape)
        total = np.maximum(weight.sum(axis=0), SMALLEST_VARIANCE)
        mean = (weight * self.mean).sum(axis=0) / total
        between = (weight * (self.mean - mean) ** 2).sum(axis=0)
        variance = (self.scatter.sum(axis=0) + between) / total
        return variance_beyond_rounding(variance, np.abs(self.mean).max(axis=0, initial=0.0))

    def own_variance(self) -> Array:
        """The variance of each component, (n_components, n_features)."""
        weight = np.maximum(self.weight, SMALLEST_VARIANCE)
        return variance_beyond_rounding(self.scatter / weight, self.mean)

    def imagined(self, family: Any, alpha: Any, shape: tuple[int, int]) -> Any:
        own = family.pseudo_statistics(alpha, shape, scale=self.pooled_variance())
        return self._with_prior(family, own, shape)

    def component_prior(
        self, family: Any, n_components: int, alpha: Any, strength: float, *, strong: bool
    ) -> Any:
        scale = self.pooled_variance()  # 0 for a constant column: no component learns from it
        d = len(scale)
        if strong:  # Fraley & Raftery: ν = d + 2, and the volume shared among the components
            strength, scale = float(d + 2), scale / n_components ** (2 / d)
        own = family.pseudo_statistics(strength, (n_components, d), scale=scale)
        return self._with_prior(family, own, (n_components, d))

    def _with_prior(self, family: Any, own: Any, shape: tuple[int, int]) -> Any:
        """``own``, and the pseudo-observations of the prior of the family."""
        if family.prior is None:
            return own
        n, strength = family.prior.mean, family.prior.variance
        rows = family.pseudo_statistics(strength, shape, scale=self.pooled_variance())
        weight = np.broadcast_to(self.weight, self.mean.shape)
        mean = np.broadcast_to(pooled_mean(weight * self.mean, weight, default=0.0), shape)
        return own + replace(rows, weight=np.full((shape[0], 1), n), mean=mean)

    def collapsed(self, family: Any, prior: "DiagonalMoments") -> tuple[int, ...]:
        """Components without variance in a column in which all rows vary."""
        if len(self.mean) < 2:
            return ()
        weight = np.broadcast_to(self.weight, self.mean.shape)
        whole = self.pooled_variance() * weight.sum(axis=0)
        used = whole > 0
        own, imagined = self.scatter[:, used], prior.scatter[:, used]
        if (imagined >= STRONG_SHARE * whole[used]).all():
            return ()
        if family.spherical:  # one variance for all columns
            own, imagined = own.sum(axis=1, keepdims=True), imagined.sum(axis=1, keepdims=True)
            flat = own < np.maximum(imagined, SMALLEST_SHARE * whole.sum())
        else:
            flat = own < np.maximum(imagined, SMALLEST_SHARE * whole[used])
        return tuple(np.flatnonzero(flat.any(axis=1) & (weight.max(axis=1) > 0)).tolist())


def merged_means(
    weight: Array, mean: Array, other_weight: Array, other_mean: Array
) -> tuple[Array, Array, Array]:
    """n_A + n_B, the joint mean, and n_A n_B / (n_A + n_B)."""
    total = weight + other_weight
    share = np.divide(
        np.broadcast_to(other_weight, total.shape),
        total,
        out=np.zeros(total.shape),
        where=total > 0,
    )
    return total, mean + share * (other_mean - mean), weight * share


def diagonal_moments(X: Matrix, responsibility: Responsibility) -> DiagonalMoments:
    """Centred moments of one block, in two passes over it while it is in the cache."""
    if isinstance(responsibility, Labels) and X.size >= FAST_CELLS:
        moments = _moments_by_label(X, responsibility)
        if np.isfinite(moments.scatter).all():
            refuse_extremes(X, moments.scatter)
            return moments
    sums, weight = observed_sums(responsibility, X)
    mean = np.divide(
        sums, weight, out=np.zeros(sums.shape), where=np.broadcast_to(weight > 0, sums.shape)
    )
    r = responsibility.dense() if isinstance(responsibility, Labels) else responsibility
    X = np.asarray(X, dtype=float)
    missing = np.isnan(X)
    first, second = np.zeros(mean.shape), np.zeros(mean.shape)
    with np.errstate(over="ignore", invalid="ignore"):  # looked at below
        for k in range(len(mean)):
            apart = np.where(missing, 0.0, X - mean[k])
            first[k], second[k] = np.dot(r[:, k], apart), np.dot(r[:, k], apart**2)
    refuse_extremes(X, second)
    return _about_corrected_mean(weight, mean, first, second)


def _about_corrected_mean(
    weight: Array, mean: Array, first: Array, second: Array
) -> DiagonalMoments:
    """Moments from Σ r d and Σ r d², where d is the deviation from a mean with rounding."""
    there = np.broadcast_to(weight > 0, mean.shape)
    shift = np.divide(first, weight, out=np.zeros(mean.shape), where=there)
    with np.errstate(over="ignore", invalid="ignore"):  # refused by the caller
        scatter = np.maximum(second - shift * first, 0.0)
    return DiagonalMoments(weight, mean + shift, scatter)


def refuse_extremes(X: Array, scatter: Array) -> None:
    """Refuse squares that overflow or underflow; ``scatter`` has features on its last axis."""
    if not np.isfinite(scatter).all():
        column = int(np.argwhere(~np.isfinite(scatter))[0][-1])
        raise BadCell(
            "the column holds numbers whose squares overflow (beyond about 1e150). "
            "Divide it by a constant.",
            row=0,
            column=column,
        )
    small = np.flatnonzero(
        np.abs(scatter).max(axis=tuple(range(scatter.ndim - 1))) < SMALLEST_VARIANCE
    )
    for column in small.tolist():
        x = X[:, column][~np.isnan(X[:, column])]
        gap = np.ptp(x) if len(x) else 0.0
        if ROUNDING * np.abs(x).max(initial=0.0) < gap < np.sqrt(SMALLEST_VARIANCE):
            raise BadCell(
                "the column holds numbers whose squares underflow (differences below about "
                "1e-150). Multiply it by a constant.",
                row=0,
                column=column,
            )


def _moments_by_label(X: Matrix, labels: Labels) -> DiagonalMoments:
    from likely.fast.counts import centred_powers_by_label, sum_by_label

    X, codes, weights = for_loop(X), for_loop(labels.codes, np.int64), for_loop(labels.weights())
    mean = np.zeros((labels.n_components, X.shape[1]))
    first, second = np.zeros_like(mean), np.zeros_like(mean)
    weight = sum_by_label(X, codes, weights, mean)[:, None]
    np.divide(mean, weight, out=mean, where=weight > 0)
    centred_powers_by_label(X, codes, weights, mean, first, second)
    return _about_corrected_mean(weight, mean, first, second)
