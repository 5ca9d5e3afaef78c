"""Moments of full Gaussians: of complete rows, and by a compiled loop.

    n_k = Σ_i r_ik        m_k = Σ_i r_ik x_i / n_k        S_k = Σ_i r_ik (x_i − m_k)(x_i − m_k)ᵀ

The E and M sums of a mixture also have a fast form in the whitened space.  A compiled loop sums n,
a = Σ r z and B = Σ r z zᵀ (``fast/mixture``), centred on the means of the last step:

    z = Wᵀ(x − m),   W Wᵀ = Σ⁻¹        m' = m + Rᵀā,   S' = Rᵀ (B − n ā āᵀ) R,   R = W⁻¹

References
----------
Chan, Golub & LeVeque, Algorithms for computing the sample variance, 1983.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, final

import numpy as np

from likely._typing import Array
from likely.distributions.base import CLEARLY, SMALLEST_SHARE, STRONG_SHARE, Statistics
from likely.distributions.diagonal_moments import DiagonalMoments, merged_means, refuse_extremes
from likely.distributions.gaussian import LOG_2PI
from likely.distributions.resolution import united
from likely.distributions.responsibility import (
    Labels,
    Responsibility,
    for_loop,
    refuse_infinity,
    totals,
    weighted_sums,
)
from likely.errors import MissingCells
from likely.numerics.cholesky import InverseRoot, inverse_root
from likely.numerics.moments import covariance_beyond_rounding

MOST_FEATURES = 64  # beyond, BLAS on whole blocks is as fast as the compiled loop


@final
@dataclass(frozen=True, eq=False)
class FullMoments(Statistics):
    """Weight n_k, mean m_k and scatter Σ_i r_ik (x_i − m_k)(x_i − m_k)ᵀ.

    ``scatter`` has one matrix per component, or one that sums over them (tied).
    """

    weight: Array  # (n_components, 1)
    mean: Array  # (n_components, n_features)
    scatter: Array  # (n_components, d, d), or (1, d, d) when tied
    degrees: float = 0.0  # of a prior: they divide the scatter but do not move the mean
    values: Array | None = None  # distinct ones, (m, n_features), where a floor needs them

    def __add__(self, other: Self) -> Self:
        weight, mean, between = merged_means(self.weight, self.mean, other.weight, other.mean)
        delta = other.mean - self.mean
        moved = (between * delta)[:, :, None] * delta[:, None, :]
        if len(self.scatter) < len(moved):
            moved = moved.sum(axis=0, keepdims=True)
        scatter = self.scatter + other.scatter + moved
        degrees, values = self.degrees + other.degrees, united(self.values, other.values)
        return type(self)(weight, mean, scatter, degrees, values)

    def scaled(self, factor: float) -> Self:
        weight, scatter, degrees = self.weight, self.scatter, self.degrees
        return replace(
            self, weight=factor * weight, scatter=factor * scatter, degrees=factor * degrees
        )

    def without_covariances(self) -> DiagonalMoments:
        scatter = np.diagonal(self.scatter, axis1=1, axis2=2)
        return DiagonalMoments(self.weight, self.mean, scatter, values=self.values)

    def imagined(self, family: Any, alpha: Any, shape: tuple[int, int]) -> Any:
        return self.without_covariances().imagined(family, alpha, shape)

    def pooled(self) -> Self:
        """These moments with one scatter that sums over the components."""
        scatter = self.scatter.sum(axis=0, keepdims=True)
        return replace(self, scatter=scatter)

    def collapsed(self, family: Any, prior: "FullMoments") -> tuple[int, ...]:
        """Components without variance in a direction in which all rows vary."""
        if len(self.scatter) < 2:
            return ()
        total = self._total_scatter()
        used = self.without_covariances().pooled_variance() > 0
        if not used.any():
            return ()
        units = np.sqrt(np.multiply.outer(np.diag(total)[used], np.diag(total)[used]))
        whole = total[np.ix_(used, used)] / units
        flat = np.zeros(len(self.mean), dtype=bool)
        for k, own in enumerate(self.scatter):
            share = float(np.mean(np.diag(prior.scatter[k])[used] / np.diag(total)[used]))
            if share >= STRONG_SHARE:
                return ()
            share = max(share, SMALLEST_SHARE)
            values, vectors = np.linalg.eigh(own[np.ix_(used, used)] / units)
            narrow = vectors[:, values < share]
            spread = np.einsum("jv,jl,lv->v", narrow, whole, narrow)
            flat[k] = bool((spread >= CLEARLY * share).any())
        return tuple(np.flatnonzero(flat & (self.weight[:, 0] > 0)).tolist())

    def plane(self) -> tuple[int, int] | None:
        n = float(self.weight.sum())
        size = np.abs(self.mean).max(axis=0)
        whole = covariance_beyond_rounding(self._total_scatter() / n, size)
        rank, n_varying = inverse_root(whole).rank, int(np.count_nonzero(np.diag(whole)))
        return (rank, n_varying) if rank < n_varying else None

    def _total_scatter(self) -> Array:
        """T: within the components, and between their means."""
        centre = np.sum(self.weight * self.mean, axis=0) / self.weight.sum()
        between = np.dot((self.weight * (self.mean - centre)).T, self.mean - centre)
        return np.asarray(self.scatter.sum(axis=0) + between)


def full_moments(X: Array, responsibility: Responsibility, *, tied: bool = False) -> FullMoments:
    """Centred moments of one block of complete rows."""
    X = np.asarray(X, dtype=float)
    weight = totals(responsibility)[:, None]
    with np.errstate(invalid="ignore", over="ignore"):  # looked at below
        sums = weighted_sums(responsibility, X)
    if not np.isfinite(sums).all():
        refuse_infinity(X)
        _refuse_gaps(X)
    mean = np.divide(sums, weight, out=np.zeros(sums.shape), where=weight > 0)
    with np.errstate(over="ignore", invalid="ignore"):  # looked at below
        if isinstance(responsibility, Labels):
            first, scatter = _centred_by_label(X, responsibility, mean, tied=tied)
        else:
            centred = [_centred_sums(X - m, r) for m, r in zip(mean, responsibility.T, strict=True)]
            first, scatter = (np.stack(each) for each in zip(*centred, strict=True))
            scatter = scatter.sum(axis=0, keepdims=True) if tied else scatter
    refuse_extremes(X, np.einsum("kjj->kj", scatter))
    shift = np.divide(first, weight, out=np.zeros(mean.shape), where=weight > 0)
    moved = shift[:, :, None] * first[:, None, :]  # of a mean that was off by rounding
    scatter = scatter - (moved.sum(axis=0, keepdims=True) if tied else moved)
    return FullMoments(weight, mean + shift, scatter)


def _centred_sums(centred: Array, r: Array) -> tuple[Array, Array]:
    """Σ r d, (d,), and Σ r d dᵀ, (d, d), of deviations d."""
    return np.dot(r, centred), np.dot(centred.T, centred * r[:, None])


def _refuse_gaps(X: Array) -> None:
    column = np.nonzero(np.isnan(X))[1]
    if len(column):
        raise MissingCells(
            f"Full covariances need complete rows; found NaN in column {int(column[0])}. "
            "Fill it, or use expected_statistics of a fitted distribution."
        )


def _centred_by_label(X: Array, labels: Labels, mean: Array, *, tied: bool) -> tuple[Array, Array]:
    """Σ w d by component, (K, d), and Σ w d dᵀ, (K or 1, d, d), of deviations d from its mean."""
    weight = labels.weights()
    if tied:
        known = labels.codes >= 0
        here = Labels(labels.codes[known], labels.n_components, weight[known])
        centred = X[known] - mean[here.codes]
        return weighted_sums(here, centred), _centred_sums(centred, weight[known])[1][None]
    first, second = np.zeros(mean.shape), np.zeros((*mean.shape, mean.shape[1]))
    for k in range(labels.n_components):
        rows = labels.codes == k
        first[k], second[k] = _centred_sums(X[rows] - mean[k], weight[rows])
    return first, second


class ExpectedSums(NamedTuple):
    """N_k, the new means and scatters, and Σ w log p(x)."""

    weight: Array  # N, (n_components,)
    mean: Array  # (n_components, d)
    scatter: Array  # (n_components, d, d)
    log_likelihood: float


def whitened_sums(
    mean: Array,
    factors: tuple[InverseRoot, ...],
    X: Array,
    log_mixing: Array,
    weight: Array | None,
) -> ExpectedSums | None:
    """One pass over a block; None where a cell is missing or a factor is not triangular."""
    from likely.fast.mixture import full_gaussian_expectation

    n_components, d = mean.shape
    if any(factor.rank < d for factor in factors):
        return None
    W = np.stack([factor.root for factor in factors])
    if np.tril(W, -1).any():
        return None
    log_determinant = np.array([factor.log_determinant for factor in factors])
    count, first = np.zeros(n_components), np.zeros((n_components, d))
    second = np.zeros((n_components, d, d))
    log_likelihood = full_gaussian_expectation(
        for_loop(X),
        np.ones(len(X)) if weight is None else for_loop(weight),
        for_loop(mean),
        W,
        log_mixing - 0.5 * (d * LOG_2PI + log_determinant),
        count,
        first,
        second,
    )
    if not np.isfinite(log_likelihood):
        return None
    return _turned_back(mean, W, count, first, second, log_likelihood)


def _turned_back(
    mean: Array, W: Array, count: Array, first: Array, second: Array, log_likelihood: float
) -> ExpectedSums:
    from scipy.linalg.lapack import dtrtri

    there = count[:, None] > 0
    shift = np.divide(first, count[:, None], out=np.zeros_like(first), where=there)
    new_mean, scatter = np.empty_like(first), np.empty_like(second)
    for k in range(len(count)):
        root = dtrtri(W[k], lower=0)[0]  # W is triangular, of unit diagonal up to scales
        centred = np.triu(second[k]) + np.triu(second[k], 1).T
        centred -= count[k] * np.multiply.outer(shift[k], shift[k])
        new_mean[k] = mean[k] + np.dot(shift[k], root)
        scatter[k] = np.dot(root.T, np.dot(centred, root))
    return ExpectedSums(count, new_mean, scatter, log_likelihood)
