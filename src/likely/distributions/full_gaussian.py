"""Gaussians with full covariance, one per component or one that all share (tied).

    log p(x | k) = −½ [ d log 2π + log|Σ_k| + (x − m_k)ᵀ Σ_k⁻¹ (x − m_k) ]

The statistics are centred moments, merged by Chan's update.  With one Σ for all components
the quadratic term is shared, and the posterior is logistic (tied) in x:

    log p(k | x) = xᵀ Σ⁻¹ m_k − ½ m_kᵀ Σ⁻¹ m_k + log π_k + const

No direction v of a column varies less than values that are rounded to its unit u do
(``responsibility``): where vᵀΣv < vᵀFv, F = diag(u²/12), Σ is raised to it.

An inverse-Wishart prior adds to the scatter and to its divisor.  Missing cells need
expectations (``full_moments``): the plain statistics need complete rows.

References
----------
Bishop, Pattern Recognition and Machine Learning, §4.2.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, final

import numpy as np

from likely._typing import Array, Matrix
from likely.caching import cached_property
from likely.distributions.base import Distribution, FusedExpectation, LinearForm
from likely.distributions.full_moments import (
    MOST_FEATURES,
    Completed,
    ExpectedSums,
    FullMoments,
    GappyRows,
    completed,
    expected_moments,
    full_moments,
    gappy_sums,
    whitened_sums,
)
from likely.distributions.gaussian import LOG_2PI, DiagonalFamily, DiagonalGaussian, located
from likely.distributions.parameters import component_rows, numbers, refuse_parameters
from likely.distributions.priors import GaussianPrior, refuse_other_prior
from likely.distributions.responsibility import (
    Labels,
    Responsibility,
    distinct_values,
    grid_variance,
)
from likely.errors import InvalidInput
from likely.numerics.additive import FAST_CELLS
from likely.numerics.cholesky import InverseRoot, inverse_root, unit_diagonal
from likely.numerics.moments import covariance_at_least, covariance_beyond_rounding
from likely.special import logsumexp, softmax

FAST_GAPPY_CELLS = 10_000  # fewer than ``FAST_CELLS``: the readable step is slower with gaps
OFF_RANGE = 1e-8  # relative to x and the mean: what rounding may leave across a singular Σ
SYMMETRY = 1e-10  # relative: what rounding may leave between a covariance and its transpose


@final
@dataclass(frozen=True)
class FullFamily:
    """Gaussians with full covariance matrices; ``tied`` shares one among the components."""

    saved_before: ClassVar = {"rounded": False}  # what files of earlier versions lack

    tied: bool = False
    ddof: int = 0  # 0 divides by n, 1 by n − 1 (tied: by n − K)
    shrinkage: float = 0.0  # towards a multiple of the identity, Σ ← (1 − s)Σ + s (tr Σ / d) I
    prior: GaussianPrior | None = None
    rounded: bool = False  # whether Σ is at least that of rounding to the units of the features

    floor: ClassVar[float] = 0.0
    smoothed: ClassVar[bool] = False
    coded: ClassVar[bool] = False

    def __post_init__(self) -> None:
        refuse_other_prior(self.prior)

    def check(self, X: Matrix) -> None:
        DiagonalFamily().check(X)

    def statistics(self, X: Matrix, responsibility: Responsibility) -> FullMoments:
        moments = full_moments(X, responsibility, tied=self.tied)
        if self.rounded and isinstance(responsibility, Labels):
            return replace(moments, values=distinct_values(X, responsibility))
        return moments

    def pseudo_statistics(
        self, alpha: float, shape: tuple[int, int], *, scale: Array | float = 1.0
    ) -> FullMoments:
        """An inverse-Wishart prior: ``alpha`` pseudo-observations whose variance is ``scale``."""
        d = shape[1]
        psi = np.diag(np.broadcast_to(alpha * np.asarray(scale, dtype=float), d))
        n_matrices = 1 if self.tied else shape[0]
        scatter = np.broadcast_to(psi, (n_matrices, d, d))
        return FullMoments(np.zeros((shape[0], 1)), np.zeros(shape), scatter, alpha)

    def leave_one_out(self, statistics: FullMoments, alpha: float) -> float:
        return 0.0  # nothing is smoothed

    def from_statistics(self, statistics: FullMoments) -> "FullGaussian":
        """m_k and Σ_k = scatter / (n_k − ddof), no lower than the variance of rounding."""
        weight = statistics.weight
        if self.tied:
            divisor = weight.sum(keepdims=True) - self.ddof * len(weight) + statistics.degrees
        else:
            divisor = weight - self.ddof + statistics.degrees
        positive = np.where(divisor > 0, divisor, 1.0)[:, :, None]
        size = np.abs(statistics.mean)
        sizes = size.max(axis=0, keepdims=True) if self.tied else size
        pairs = zip(statistics.scatter / positive, sizes, strict=True)
        covariance = np.stack([covariance_beyond_rounding(*pair) for pair in pairs])
        lowest = np.broadcast_to(grid_variance(statistics.values), size.shape[1])
        if self.rounded and lowest.any():
            covariance = np.stack([covariance_at_least(each, lowest) for each in covariance])
        if self.shrinkage:
            used = np.einsum("kjj->j", covariance) > 0  # constant columns stay so
            average = np.trace(covariance, axis1=1, axis2=2)[:, None, None] / max(used.sum(), 1)
            target = average * np.diag(used.astype(float))
            covariance = (1 - self.shrinkage) * covariance + self.shrinkage * target
        return FullGaussian.trusted(located(statistics.mean, weight), covariance)


@final
@dataclass(frozen=True, eq=False)
class FullGaussian(Distribution):
    """A Gaussian per component; one covariance matrix for all of them is a tied model."""

    mean: Array  # (n_components, n_features)
    covariance: Array  # (n_components, d, d), or (1, d, d) when tied

    parameters_are: ClassVar[str] = DiagonalGaussian.parameters_are

    def __post_init__(self) -> None:
        mean = component_rows("FullGaussian", "mean", self.mean)
        refuse_parameters("FullGaussian", "mean", mean, np.isfinite(mean), "finite")
        covariance = numbers("FullGaussian", "covariance", self.covariance)
        _refuse_shapes(mean, covariance)
        for k, matrix in enumerate(covariance):
            _refuse_indefinite(matrix, f"Covariance {k}")
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "covariance", covariance)

    @classmethod
    def from_covariance(cls, mean: Array, covariance: Array) -> Self:
        """Members with the given parameters; each Σ must be symmetric and positive definite.

        ``mean`` is (d,) or (n_components, d); ``covariance`` is (d, d), (1, d, d) when tied,
        or one matrix per component.  The plain constructor also takes a singular Σ, and uses it on
        its range.
        """
        mean = np.atleast_2d(np.asarray(mean, dtype=float))
        covariance = np.asarray(covariance, dtype=float)
        covariance = covariance[None] if covariance.ndim == 2 else covariance
        _refuse_shapes(mean, covariance)
        for k, matrix in enumerate(covariance):
            _refuse_singular(matrix, f"Covariance {k}")
        return cls(mean, covariance)

    @property
    def tied(self) -> bool:
        return len(self.covariance) < len(self.mean)

    @property
    def n_parameters(self) -> int:
        d = int(np.count_nonzero(~self.left_out()))
        return self.n_components * d + len(self.covariance) * d * (d + 1) // 2

    def own_family(self) -> FullFamily:
        return FullFamily(self.tied)

    @property
    def event(self) -> str:
        return "gaussian"

    def margins(self) -> DiagonalGaussian:
        variance = np.array([np.diag(covariance) for covariance in self.covariance])
        return DiagonalGaussian(self.mean, np.broadcast_to(variance, self.mean.shape))

    def values_of(self, feature: int) -> dict[str, Array]:
        return self.margins().values_of(feature)

    def parameters_of(self, feature: int, labels: Sequence[str] = ()) -> tuple[str, ...]:
        return self.margins().parameters_of(feature)

    def joint_shape(self) -> tuple[int, int]:
        return 1, int(np.count_nonzero(~self.left_out()))

    def left_out(self) -> Array:
        return np.asarray(np.einsum("kjj->j", self.covariance) == 0)

    @cached_property
    def factors(self) -> tuple[InverseRoot, ...]:
        """One per component; a tied model repeats its own."""
        own = [inverse_root(covariance) for covariance in self.covariance]
        return tuple(own * self.n_components if self.tied else own)

    @property
    def singular(self) -> bool:
        """Whether some covariance has no inverse on the columns that are not constant."""
        rank = np.count_nonzero(~self.left_out())
        return any(f.rank < rank for f in self.factors)

    def log_prob(self, X: Any) -> Array:
        """log p(x_i | k); of a singular Σ the density on its range, and −inf off it."""
        X = self._rows(X)
        out, used = super().log_prob(X), ~self.left_out()
        for k, factor in enumerate(self.factors):
            null = factor.null[used]  # columns that are left out have any value
            if null.any():
                scale, mean = factor.scale[used], self.mean[k, used]
                size = (np.abs(X[:, used]) + np.abs(mean)) / scale
                off = np.abs(((X[:, used] - mean) / scale) @ null)
                out[(off > OFF_RANGE * (size @ np.abs(null))).any(axis=1), k] = -np.inf
        return out

    def log_density(self, X: Matrix) -> Array:
        DiagonalFamily().check(X)
        out = np.empty((len(X), self.n_components))
        for k, factor in enumerate(self.factors):
            z = np.dot(X - self.mean[k], factor.root)
            constant = factor.rank * LOG_2PI + factor.log_determinant
            out[:, k] = -0.5 * (np.einsum("ij,ij->i", z, z) + constant)
        gaps = np.isnan(out).any(axis=1)
        if gaps.any():
            out[gaps] = self._completed(GappyRows.of(X[gaps])).log_prob
        return out

    def log_score(self, X: Matrix) -> Array:
        """log p(x | k), without the quadratic term that the components of a tied model share."""
        if not self.tied or not np.isfinite(X).all():
            return self.log_density(X)
        centre = self.mean.mean(axis=0)  # (x − c) keeps the digits of data far from 0
        coef, intercept = self._linear_about(centre)
        return np.dot(X - centre, coef.T) + intercept

    def expected_statistics(self, family: Any, X: Matrix, responsibility: Responsibility) -> Any:
        if np.isfinite(X).all():
            return family.statistics(X, responsibility)
        r = responsibility.dense() if isinstance(responsibility, Labels) else responsibility
        gappy = GappyRows.of(X)
        moments = FullMoments(*expected_moments(self.mean, self._completed(gappy), gappy, r))
        return moments.pooled() if family.tied else moments

    def fused_expectation(
        self, family: Any, X: Matrix, log_mixing: Array, weight: Array | None
    ) -> FusedExpectation | None:
        """The whole E step where cells are missing, or by a compiled loop for large blocks."""
        if np.isnan(X).any():
            return self._gappy_expectation(family, X, log_mixing, weight)
        if X.size < FAST_CELLS or self.n_features > MOST_FEATURES or self.singular:
            return None
        found = whitened_sums(self.mean, self.factors, X, log_mixing, weight)
        return None if found is None else _fused(found, family)

    def _gappy_expectation(
        self, family: Any, X: Matrix, log_mixing: Array, weight: Array | None
    ) -> FusedExpectation | None:
        """Densities and moments from one completion of the rows; None for impossible rows."""
        if X.size >= FAST_GAPPY_CELLS:
            found = gappy_sums(self.mean, self._matrices(), self.factors, X, log_mixing, weight)
            if found is not None:
                return _fused(found, family)
        gappy = GappyRows.of(X)
        rows = self._completed(gappy)
        log_joint = log_mixing + rows.log_prob
        evidence = logsumexp(log_joint, axis=1)
        if not np.isfinite(evidence).all():
            return None
        r = softmax(log_joint, axis=1)
        if weight is not None:
            r *= weight[:, None]
            evidence = evidence * weight
        moments = FullMoments(*expected_moments(self.mean, rows, gappy, r))
        statistics = moments.pooled() if family.tied else moments
        return FusedExpectation(r.sum(axis=0), statistics, float(evidence.sum()))

    def expected_rows(self, X: Matrix, log_mixing: Array) -> Matrix:
        """E[x | observed cells], where ``log_mixing`` are the components' log-probabilities."""
        rows = self._completed(GappyRows.of(X))
        share = softmax(log_mixing + rows.log_prob, axis=1)
        return np.dot(share, self.mean) + np.einsum("nk,knj->nj", share, rows.deviation)

    def _completed(self, gappy: GappyRows) -> Completed:
        return completed(self.mean, self._matrices(), self.factors, gappy)

    def log_likelihood_of(self, statistics: FullMoments) -> float:
        out = 0.0
        tied = len(statistics.scatter) < self.n_components
        for k, factor in enumerate(self.factors):
            n = float(statistics.weight[k, 0])
            delta = np.dot(statistics.mean[k] - self.mean[k], factor.root)
            out += n * (factor.rank * LOG_2PI + factor.log_determinant + float(delta @ delta))
            if not tied or k == 0:
                W = factor.root
                out += float(np.sum(np.dot(statistics.scatter[k], W) * W))
                out += statistics.degrees * factor.log_determinant
        return -0.5 * out

    def contributions(self, X: Matrix) -> Array:
        """log p(x_j | x_1 … x_{j−1}, k): the chain rule, in the order of the features.

        A missing cell has no share, and those after it are not conditioned on it.
        """
        if self.singular:
            raise InvalidInput(
                "A covariance matrix is singular, so its density does not split into one term per "
                "feature; an invertible one was expected. Use shrinkage or a diagonal covariance."
            )
        from scipy.linalg import solve_triangular

        out, used = np.zeros((len(X), self.n_features, self.n_components)), ~self.left_out()
        patterns, group = np.unique(np.isnan(X), axis=0, return_inverse=True)
        for g, gaps in enumerate(patterns):
            rows, seen = np.flatnonzero(group.ravel() == g), np.flatnonzero(~gaps & used)
            for k, covariance in enumerate(self._matrices()):
                root = np.linalg.cholesky(covariance[np.ix_(seen, seen)])
                distance = X[np.ix_(rows, seen)] - self.mean[k, seen]
                z = solve_triangular(root, distance.T, lower=True).T if seen.size else distance
                terms = -0.5 * (z**2 + LOG_2PI) - np.log(np.diag(root))
                out[rows[:, None], seen, k] = terms
        return out

    def centred_contributions(self, X: Matrix) -> tuple[Array, Array]:
        """For a tied model, weight times distance from the mean of the classes."""
        if not self.tied:
            return super().centred_contributions(X)
        centre = self.mean.mean(axis=0)
        coef, intercept = self._linear_about(centre)
        if np.isnan(X).any():
            raise InvalidInput(
                "Features of a tied Gaussian are correlated, so the evidence of a row with a "
                "missing cell cannot be split among them. Use complete rows."
            )
        return (X - centre)[:, :, None] * coef.T, intercept

    def linear_form(self) -> LinearForm:
        """Weights Σ⁻¹ m_k, bias −½ m_kᵀ Σ⁻¹ m_k: only of a tied model."""
        if not self.tied and self.n_components > 1:
            return super().linear_form()
        return LinearForm(*self._linear_about(np.zeros(self.n_features)), "x")

    def sample(self, component: Array, rng: np.random.Generator) -> Array:
        z = rng.standard_normal((len(component), self.n_features))
        out = np.empty_like(z)
        for k, covariance in enumerate(self._matrices()):
            rows = np.asarray(component) == k
            values, vectors = np.linalg.eigh(covariance)
            out[rows] = self.mean[k] + np.dot(z[rows], (vectors * np.sqrt(np.maximum(values, 0))).T)
        return out

    def _linear_about(self, centre: Array) -> tuple[Array, Array]:
        W = self.factors[0].root
        white = np.dot(self.mean - centre, W)
        return np.dot(white, W.T), -0.5 * np.einsum("kj,kj->k", white, white)

    def _matrices(self) -> Array:
        return np.broadcast_to(self.covariance, (self.n_components, *self.covariance.shape[1:]))


def _fused(found: ExpectedSums, family: FullFamily) -> FusedExpectation:
    moments = FullMoments(found.weight[:, None], found.mean, found.scatter)
    statistics = moments.pooled() if family.tied else moments
    return FusedExpectation(found.weight, statistics, found.log_likelihood)


def _refuse_shapes(mean: Array, covariance: Array) -> None:
    n_components, d = mean.shape
    if covariance.shape not in {(1, d, d), (n_components, d, d)}:
        raise InvalidInput(
            f"The covariances have shape {covariance.shape}; expected (1, {d}, {d}) or "
            f"({n_components}, {d}, {d}). Give one matrix for all components, or one for each."
        )


def _refuse_asymmetric(matrix: Array, name: str) -> None:
    scale = np.sqrt(np.abs(np.diag(matrix)))
    rounding = SYMMETRY * np.multiply.outer(scale, scale)
    if not (np.abs(matrix - matrix.T) <= rounding).all():
        gap = np.abs(matrix - matrix.T).max()
        raise InvalidInput(
            f"{name} is not symmetric: cells across the diagonal differ by {gap:.3g}; a covariance "
            "must equal its transpose. Pass (S + S.T) / 2."
        )


def _refuse_indefinite(matrix: Array, name: str) -> None:
    """Refuse a matrix that gives some direction a negative variance."""
    _refuse_asymmetric(matrix, name)
    smallest = np.linalg.eigvalsh(unit_diagonal(matrix)[1]).min(initial=0.0)
    if smallest < -SYMMETRY * len(matrix):
        raise InvalidInput(
            f"{name} is not positive semidefinite: the smallest eigenvalue of its correlations is "
            f"{smallest:.3g}; none may be below 0. Add a multiple of the identity."
        )


def _refuse_singular(matrix: Array, name: str) -> None:
    """Refuse a covariance that is not positive definite."""
    _refuse_asymmetric(matrix, name)
    if not (np.diag(matrix) > 0).all() or inverse_root(matrix).rank < len(matrix):
        smallest = np.linalg.eigvalsh(matrix).min()
        raise InvalidInput(
            f"{name} is not positive definite: its smallest eigenvalue is {smallest:.3g}; all must "
            "be above 0. Add a multiple of the identity, or drop columns that repeat others."
        )
