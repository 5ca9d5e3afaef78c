"""Gaussian features with diagonal or spherical covariance, for each of K components.

    log p(x | k) = −½ Σ_j [ log 2πv_kj + (x_j − m_kj)² / v_kj ]

The statistics are centred moments, merged by Chan's update: raw moments lose all precision when the
mean is large.

    n_k = Σ_i r_ik        m_kj = Σ_i r_ik x_ij / n_k        S_kj = Σ_i r_ik (x_ij − m_kj)²

A missing cell is summed out, so each feature has its own n.  The divisor of the variance is n (the
maximum of the likelihood) or n − 1.  A floor is a maximum, not an addition:
v_kj ← max(v_kj, floor · v_j, u_j²/12), where v_j is the variance of the feature over all components
and u_j the unit of its values (``responsibility``); that of one feature does not affect another.

A feature that is constant in all examples has variance 0 in every component.  It is left out: the
density is that of the other features, whatever value a new example has there.

References
----------
Chan, Golub & LeVeque, Algorithms for computing the sample variance, 1983, eq. 2.1.
Fraley & Raftery, Bayesian regularization for normal mixture estimation and model-based
clustering, J. Classification 2007, §3 (the strong prior of a mixture).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, final

import numpy as np

from likely._typing import Array, Matrix
from likely.caching import cached_property
from likely.distributions.base import (
    SMALLEST_SHARE,
    STRONG_SHARE,
    Distribution,
    LinearForm,
    Statistics,
    Takes,
    pooled_mean,
)
from likely.distributions.parameters import (
    component_rows,
    refuse_other_shape,
    refuse_parameters,
)
from likely.distributions.priors import GaussianPrior, refuse_other_prior
from likely.distributions.responsibility import (
    Labels,
    Responsibility,
    distinct_values,
    for_loop,
    observed_sums,
    rounding_variance,
    united,
)
from likely.errors import BadCell, InvalidInput
from likely.numerics.cholesky import ROUNDING
from likely.numerics.moments import variance_beyond_rounding
from likely.output.formatting import short_number

LOG_2PI = float(np.log(2 * np.pi))
HARDLY = 1e-6  # × the variance over all components: a component that hardly varies
SMALLEST_VARIANCE = 1e-300  # a variance of exactly 0 has no logarithm


@final
@dataclass(frozen=True, eq=False)
class DiagonalMoments(Statistics):
    """Per component and feature: weight n, mean m and scatter Σ r (x − m)²."""

    saved_before: ClassVar = {"values": None}  # what files of earlier versions lack

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

    def prior_statistics(self, family: Any, alpha: Any, shape: tuple[int, int]) -> Any:
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
        own, pseudo = self.scatter[:, used], prior.scatter[:, used]
        if (pseudo >= STRONG_SHARE * whole[used]).all():
            return ()
        if family.spherical:  # one variance for all columns
            own, pseudo = own.sum(axis=1, keepdims=True), pseudo.sum(axis=1, keepdims=True)
            flat = own < np.maximum(pseudo, SMALLEST_SHARE * whole.sum())
        else:
            flat = own < np.maximum(pseudo, SMALLEST_SHARE * whole[used])
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
    if isinstance(responsibility, Labels) and responsibility.pays_to_compile(X.size):
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


@final
@dataclass(frozen=True)
class DiagonalFamily:
    """Independent Gaussian features.

    ``spherical`` shares one variance among the features of a component.
    """

    spherical: bool = False
    ddof: int = 0  # 0 divides by n, 1 by n − 1
    floor: float = 0.0  # × the variance of the feature over all components; 0 is no floor at all
    shrinkage: float = 0.0  # towards the component's average variance
    prior: GaussianPrior | None = None

    smoothed: ClassVar[bool] = False
    coded: ClassVar[bool] = False
    takes: ClassVar[Takes] = Takes(sparse=False)

    def __post_init__(self) -> None:
        refuse_other_prior(self.prior)

    def check(self, X: Matrix) -> None:
        """Refuse a sparse X, whose zeros would have to be filled in."""
        if not isinstance(X, np.ndarray):
            what = "a sparse matrix" if "sparse" in type(X).__module__ else type(X).__name__
            raise InvalidInput(
                f"Gaussian features must be a dense array; found {what}. Call X.toarray() (or "
                "np.asarray), or use the multinomial or Poisson event model for counts."
            )

    def statistics(self, X: Matrix, responsibility: Responsibility) -> DiagonalMoments:
        moments = diagonal_moments(X, responsibility)
        if self.floor and isinstance(responsibility, Labels):
            return replace(moments, values=distinct_values(X, responsibility))
        return moments

    def pseudo_statistics(
        self, alpha: float, shape: tuple[int, int], *, scale: Array | float = 1.0
    ) -> DiagonalMoments:
        """An inverse-Gamma prior: ``alpha`` pseudo-observations whose variance is ``scale``."""
        scatter = np.broadcast_to(alpha * np.asarray(scale, dtype=float), shape)
        return DiagonalMoments(np.zeros((shape[0], 1)), np.zeros(shape), scatter, alpha)

    def leave_one_out(self, statistics: DiagonalMoments, alpha: float) -> float:
        return 0.0  # nothing is smoothed

    def from_statistics(self, statistics: DiagonalMoments) -> "DiagonalGaussian":
        """m and v = scatter / (n − ddof), no lower than the floor."""
        scatter, pooled = statistics.scatter, statistics.pooled_variance()
        weight, used = np.broadcast_to(statistics.weight, scatter.shape), pooled > 0
        divisor, fallback = weight + statistics.degrees - self.ddof, pooled  # of too few examples
        if self.spherical and used.any():
            scatter, divisor = (
                np.broadcast_to(each[:, used].mean(axis=1, keepdims=True), each.shape)
                for each in (scatter, divisor)
            )
            fallback = pooled[used].mean()
        fallback = np.broadcast_to(fallback, scatter.shape).copy()
        variance = np.divide(scatter, divisor, out=fallback, where=divisor > 0)
        if not self.spherical:
            variance = variance_beyond_rounding(variance, statistics.mean)
        average = variance.mean(axis=1, keepdims=True, where=used) if used.any() else 0.0
        variance = (1 - self.shrinkage) * variance + self.shrinkage * average
        lowest = np.maximum(self._lowest(statistics), SMALLEST_VARIANCE)
        if self.spherical:
            lowest = lowest.max(initial=SMALLEST_VARIANCE)
        variance = np.where(used, np.maximum(variance, lowest), 0.0)
        mean = located(statistics.mean, weight)
        return DiagonalGaussian.trusted(mean, variance, self.spherical)

    def _lowest(self, statistics: DiagonalMoments) -> Array:
        """The floor of each feature's variance, (n_features,)."""
        lowest = self.floor * statistics.pooled_variance()
        return np.maximum(lowest, rounding_variance(statistics.values)) if self.floor else lowest


def located(mean: Array, weight: Array) -> Array:
    """The means; for a component without examples, the mean of all components together."""
    if (weight > 0).all():
        return mean
    weight = np.broadcast_to(weight, mean.shape)
    return np.where(weight > 0, mean, pooled_mean(weight * mean, weight, default=0.0))


@final
@dataclass(frozen=True, eq=False)
class DiagonalGaussian(Distribution):
    """Independent Gaussian features per component."""

    mean: Array  # (n_components, n_features)
    variance: Array  # (n_components, n_features), positive; 0 in features that are left out
    spherical: bool = False

    parameters_are: ClassVar[str] = "mean ± standard deviation"

    def __post_init__(self) -> None:
        mean = component_rows("DiagonalGaussian", "mean", self.mean)
        variance = component_rows("DiagonalGaussian", "variance", self.variance)
        refuse_other_shape("DiagonalGaussian", ("mean", "variance"), mean, variance)
        refuse_parameters("DiagonalGaussian", "mean", mean, np.isfinite(mean), "finite")
        good = ((variance > 0) | ~variance.any(axis=0)) & (variance < np.inf)
        refuse_parameters("DiagonalGaussian", "variance", variance, good, "finite and above 0")
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "variance", variance)

    @property
    def n_parameters(self) -> int:
        each = int(np.count_nonzero(self.used))
        spreads = min(each, 1) if self.spherical else each
        return self.n_components * (each + spreads)

    @cached_property
    def used(self) -> Array:
        """Which features vary, (n_features,); the others are left out."""
        return np.asarray(self.variance.any(axis=0))

    def own_family(self) -> DiagonalFamily:
        return DiagonalFamily(self.spherical)

    @property
    def covariance(self) -> Array:
        """The covariances as full matrices, (n_components, n_features, n_features)."""
        return np.stack([np.diag(v) for v in self.variance])

    def log_density(self, X: Matrix) -> Array:
        DiagonalFamily().check(X)
        if not self.used.all():
            mean, variance = self.mean[:, self.used], self.variance[:, self.used]
            own = DiagonalGaussian.trusted(mean, variance, self.spherical)
            return own.log_prob(X[:, self.used])
        out = np.empty((len(X), self.n_components))
        for k in range(self.n_components):
            z = (X - self.mean[k]) / np.sqrt(self.variance[k])
            out[:, k] = np.einsum("ij,ij->i", z, z) + np.sum(LOG_2PI + np.log(self.variance[k]))
        out *= -0.5
        gaps = np.isnan(out).any(axis=1)
        if gaps.any():
            out[gaps] = self.contributions(X[gaps]).sum(axis=1)
        return out

    def log_likelihood_of(self, statistics: DiagonalMoments) -> float:
        variance = np.where(self.used, self.variance, 1.0)
        n = statistics.weight
        squares = statistics.scatter + n * (statistics.mean - self.mean) ** 2
        logs = (n * LOG_2PI) + (n + statistics.degrees) * np.log(variance)
        return -0.5 * float(np.sum((logs + squares / variance)[:, self.used]))

    def contributions(self, X: Matrix) -> Array:
        z = np.asarray(X, dtype=float)[:, :, None] - self.mean.T
        variance, left_out = np.where(self.used, self.variance, 1.0).T, ~self.used[:, None]
        with np.errstate(over="ignore"):  # far from a very narrow component: −inf
            squares = (z / np.sqrt(variance)) ** 2
        terms = -0.5 * (LOG_2PI + np.log(variance) + squares)
        return np.where(np.isnan(z) | left_out, 0.0, terms)

    def linear_form(self) -> LinearForm:
        """Linear in (x, x²): weights m/v and −1/(2v)."""
        variance = np.where(self.used, self.variance, 1.0)
        coef = [np.where(self.used, each, 0.0) for each in (self.mean / variance, -0.5 / variance)]
        constant = -0.5 * (LOG_2PI + np.log(variance) + self.mean**2 / variance)
        constant = constant.sum(axis=1, where=self.used)
        return LinearForm(np.concatenate(coef, axis=1), constant, "x, x²")

    @property
    def event(self) -> str:
        return "gaussian"

    def values_of(self, feature: int) -> dict[str, Array]:
        return {"mean": self.mean[:, feature], "variance": self.variance[:, feature]}

    def parameters_of(self, feature: int, labels: Sequence[str] = ()) -> tuple[str, ...]:
        deviation = np.sqrt(self.variance[:, feature])
        return spreads_in_words(self.mean[:, feature], deviation)

    def joint_shape(self) -> tuple[int, int]:
        return 1, int(np.count_nonzero(self.used))

    def left_out(self) -> Array:
        return ~self.used

    def hardly_varying(self, log_mixing: Array) -> Array:
        """Features with a tiny variance in some component, relative to that over all components."""
        share = np.exp(log_mixing)[:, None]
        mean = np.sum(share * self.mean, axis=0)
        whole = np.sum(share * (self.variance + (self.mean - mean) ** 2), axis=0)
        return np.asarray((self.variance.min(axis=0) < HARDLY * whole) & self.used)

    def sample(self, component: Array, rng: np.random.Generator) -> Array:
        z = rng.standard_normal((len(component), self.n_features))
        return self.mean[component] + np.sqrt(self.variance[component]) * z


def spreads_in_words(location: Array, scale: Array) -> tuple[str, ...]:
    """``5.01 ± 0.35``, for each component."""
    pairs = zip(location, scale, strict=True)
    return tuple(f"{short_number(m, 3)} ± {short_number(s, 2)}" for m, s in pairs)


def normal_cdf(z: Array) -> Array:
    """Φ(z), the probability below z under N(0, 1), elementwise."""
    from scipy.special import ndtr

    return ndtr(np.asarray(z, dtype=float))


def normal_quantile(p: Array) -> Array:
    """Φ⁻¹(p), the z with probability p below it; ±inf at 0 and 1."""
    from scipy.special import ndtri

    return ndtri(np.asarray(p, dtype=float))
